//! `engram analyse` for other programs: CSV tables and SQLite databases.

use std::{fs, path::Path};

use rusqlite::{Connection, types::FromSql};

use crate::common::{command, files, finish, fixture, home, refused, run};

const HEAD: &str = "file,game,white,black,result,opening,id,ply,variation,parent,fen,played,played_uci,chances_lost,judgement,\
                    depth,nodes,ms,rank,cp,mate,win,draw,loss,best,pv,solved,solved_after_ms,points";

#[test]
fn every_line_of_every_position_is_a_row() {
    let (out, err, code) =
        run(&["analyse", &fixture("games.pgn"), "--depth", "6", "--multipv", "2", "--csv", "-"]);
    assert_eq!(code, 3, "one game is broken: {err}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), HEAD);
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a sound row")).collect();
    let column = |name: &str| HEAD.split(',').position(|head| head == name).unwrap();
    let of = |row: &csv::StringRecord, name: &str| row.get(column(name)).unwrap().to_owned();
    assert!(rows.iter().any(|row| of(row, "black") == "Hasty \"B.\""), "quotes in names: {out}");
    let blunder = rows.iter().find(|row| of(row, "judgement") == "blunder" && of(row, "played") == "Nf6");
    let blunder = blunder.unwrap_or_else(|| panic!("{out}"));
    assert_eq!(
        (of(blunder, "ply"), of(blunder, "played_uci"), of(blunder, "rank")),
        ("5".into(), "g8f6".into(), "1".into())
    );
    let mate = rows.iter().find(|row| of(row, "ply") == "6" && of(row, "rank") == "1").unwrap();
    assert_eq!(
        (of(mate, "mate"), of(mate, "cp"), of(mate, "win")),
        ("1".into(), String::new(), "1000".into())
    );
    assert_eq!((of(mate, "best"), of(mate, "pv")), ("Qxf7#".into(), "h5f7".into()));
    assert!(rows.iter().filter(|row| of(row, "game") == "1").any(|row| of(row, "rank") == "2"));
    assert!(rows.iter().all(|row| of(row, "id").is_empty() && of(row, "solved").is_empty()));

    let (out, _, _) = run(&["analyse", &fixture("tasks.epd"), "--depth", "4", "--csv", "-"]);
    assert!(out.starts_with(HEAD), "{out}");
    assert_eq!(out.matches(HEAD).count(), 1);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let results = reader.records().map(|row| {
        let row = row.expect("a sound row");
        assert_eq!(of(&row, "solved_after_ms").is_empty(), of(&row, "solved") != "true", "{out}");
        ["id", "solved", "points"].map(|name| of(&row, name)).join(" ")
    });
    assert_eq!(
        results.collect::<Vec<_>>(),
        ["back rank true ", "impossible to solve false ", "promotion true 10", "no task  "]
    );
}

#[test]
fn no_line_is_better_than_the_one_before_it() {
    let (out, err, code) =
        run(&["analyse", &fixture("opera.pgn"), &fixture("kept.pgn"), "--depth", "4", "--csv", "-"]);
    assert_eq!(code, 0, "{err}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let score = |row: &csv::StringRecord| {
        let mate = row[20].parse::<i32>().map(|moves| if moves > 0 { i32::MAX } else { -i32::MAX });
        Some((row[18].parse::<u32>().ok()?, row[19].parse().or(mate).ok()?))
    };
    let rows: Vec<(u32, i32)> =
        reader.records().filter_map(|row| score(&row.expect("a sound row"))).collect();
    assert!(rows.iter().any(|&(rank, _)| rank == 2), "{out}");
    assert!(rows.windows(2).all(|pair| pair[1].0 == 1 || pair[0].1 >= pair[1].1), "{out}");
}

const STUDY: &str =
    "[Event \"study\"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) (1... e6) 2. Nf3 *\n";

#[test]
fn variations_have_rows_of_their_own() {
    let (_folder, path) = files();
    let (study, csv, json) = (path("study.pgn"), path("out.csv"), path("out.jsonl"));
    fs::write(&study, STUDY).unwrap();
    let analyse = |more: &[&str]| {
        let (_, err, code) =
            run(&[&["analyse", &study, "--depth", "3", "--csv", &csv, "--json", &json, "--force"], more]
                .concat());
        assert_eq!(code, 0, "{err}");
        let mut reader = csv::Reader::from_path(&csv).unwrap();
        let rows = reader.records().map(|row| row.expect("a sound row"));
        // Of each row the ply, the variation, the one it leaves, and the move.
        let told = rows.map(|row| format!("{} {}<{} {}", &row[7], &row[8], &row[9], &row[11]));
        let game: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
        (told.collect::<Vec<_>>(), game["variations"].clone())
    };
    let game = ["0 < e4", "1 < e5", "2 < Nf3", "3 < "];
    assert_eq!(analyse(&[]), (game.map(str::to_owned).to_vec(), serde_json::Value::Null));

    let (rows, json) = analyse(&["--variations"]);
    let first = ["1 1< c5", "2 1< Nf3", "3 1< d6", "4 1< "];
    let rest = ["2 2<1 Nc3", "3 2<1 Nc6", "4 2<1 ", "1 3< e6", "2 3< "];
    assert_eq!(rows, [&game[..], &first, &rest].concat());
    let variations: Vec<String> = json.as_array().unwrap().iter().map(told).collect();
    assert_eq!(variations, ["1 null 1: c5 Nf3 d6", "2 1 2: Nc3 Nc6", "3 null 1: e6"]);
    let first = &json[1]["moves"][0];
    assert!(first["lines"][0]["pv"][0].is_string() && first["chances_lost"].is_number(), "{json}");

    /// Number, the variation that it leaves, ply and moves of a variation in JSON.
    fn told(variation: &serde_json::Value) -> String {
        let moves = variation["moves"].as_array().unwrap().iter();
        let moves: Vec<&str> = moves.map(|m| m["san"].as_str().unwrap()).collect();
        let [number, parent, ply] = ["variation", "parent", "ply"].map(|name| &variation[name]);
        format!("{number} {parent} {ply}: {}", moves.join(" "))
    }
}

#[test]
fn a_game_has_the_number_that_it_has_in_its_file() {
    let (_folder, path) = files();
    let game = "[Event \"cup\"]\n[Date \"2026.11.25\"]\n\n1. e4 *\n\n";
    let broken = "[Event \"x\"]\n\n1. e5 *\n\n";
    let placed = "[Event \"?\"]\n[Date \"????.??.??\"]\n[Variant \"Chess960\"]\n\
                  [FEN \"4k2r/8/8/8/8/8/4PPP1/4K1R1 w Gk - 0 1\"]\n\n1. O-O *\n";
    let (one, two) = (path("one.pgn"), path("two.pgn"));
    fs::write(&one, format!("{game}{broken}{placed}")).unwrap();
    fs::write(&two, format!("{broken}{game}")).unwrap();
    let expected = [(&one, 1), (&one, 3), (&two, 2)];
    let (json, csv, html) = (path("out.jsonl"), path("out.csv"), path("out.html"));
    let outputs = ["--depth", "1", "--json", &json, "--csv", &csv, "--html", &html];
    let (out, err, code) = run(&[&["analyse", &one, &two], &outputs[..]].concat());
    assert_eq!(code, 3, "{err}");
    let text = |path: &str| fs::read_to_string(path).unwrap();
    let games: Vec<serde_json::Value> =
        text(&json).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for ((file, number), game) in expected.into_iter().zip(&games) {
        assert!(out.contains(&format!("{file}: game {number}: ")), "{out}");
        assert_eq!((game["file"].as_str(), game["game"].as_u64()), (Some(file.as_str()), Some(number)));
        assert!(text(&csv).contains(&format!("\n{file},{number},")), "{}", text(&csv));
        let name = file.rsplit('/').next().unwrap();
        assert!(text(&html).contains(&format!("\"number\":{number},\"file\":\"{name}\"")));
    }
    assert_eq!((&games[0]["event"], &games[0]["date"]), (&"cup".into(), &"2026.11.25".into()));
    for name in ["fen", "chess960"] {
        assert!(games[0].get(name).is_none() && games[1].get(name).is_some(), "{games:?}");
    }
    assert!(games[1].get("event").is_none() && games[1].get("date").is_none(), "{games:?}");
    let castled = (&games[1]["chess960"], &games[1]["fen"], &games[1]["moves"][0]["uci"]);
    let fen = "4k2r/8/8/8/8/8/4PPP1/4K1R1 w Kk - 0 1";
    assert_eq!(castled, (&true.into(), &fen.into(), &"e1g1".into()), "the rook is on g1");
}

/// The answer of a database.
fn asked<T: FromSql>(file: &Path, sql: &str) -> T {
    Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_database_holds_games_positions_and_lines() {
    let folder = home();
    let name = if cfg!(windows) { "out.db" } else { "file:out.db" };
    let file = folder.path().join(name);
    let analyse = |input: &str, more: &[&str]| {
        let arguments = ["analyse", input, "--depth", "6", "--multipv", "2", "--sqlite", name];
        finish(command(&folder).args(arguments).args(more))
    };
    let (_, err, code) = analyse(&fixture("games.pgn"), &[]);
    assert_eq!(code, 3, "{err}");
    let number = |sql: &str| asked::<i64>(&file, sql);
    let text = |sql: &str| asked::<String>(&file, sql);
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    assert_eq!(number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(number("SELECT count(*) FROM games"), 3);
    assert_eq!(text("SELECT black FROM games WHERE id = 1"), "Hasty \"B.\"");
    assert_eq!(text("SELECT group_concat(number) FROM games WHERE file LIKE '%games.pgn'"), "1,3,4");
    let worst = "SELECT played FROM positions JOIN games ON game = games.id \
                 WHERE games.id = 1 ORDER BY chances_lost DESC LIMIT 1";
    assert_eq!(text(worst), "Nf6");
    let best = "SELECT best FROM lines JOIN positions ON position = positions.id WHERE mate = 1 AND game = 1";
    assert_eq!(text(best), "Qxf7#");
    assert_eq!(number("SELECT count(*) FROM lines WHERE win + draw + loss <> 1000"), 0);
    assert!(number("SELECT count(*) FROM lines WHERE rank = 2") > 5);

    let (_, err, code) = analyse(&fixture("tasks.epd"), &[]);
    assert!(code == 1 && err.contains("--force"), "{err}");
    assert_eq!(analyse(&fixture("tasks.epd"), &["--force"]).2, 3);
    let names = "SELECT count(*) FROM positions WHERE game IS NULL AND name NOT NULL AND file NOT NULL";
    assert_eq!(number(names), 4, "another run replaces the file");
    let results = "SELECT group_concat(name || solved, ', ') FROM positions WHERE points = 10 OR NOT solved";
    assert_eq!(text(results), "impossible to solve0, promotion1");
    let study = folder.path().join("study.pgn");
    fs::write(&study, STUDY).unwrap();
    assert_eq!(analyse(study.to_str().unwrap(), &["--variations", "--force"]).2, 0);
    let moves =
        "SELECT group_concat(played, ' ') FROM positions WHERE variation = 2 AND parent = 1 AND ply >= 2";
    assert_eq!(text(moves), "Nc3 Nc6");
    fs::remove_file(&file).unwrap();
    refused(&["analyse", "startpos", "--depth", "1", "--sqlite", "-"], "name a file");
}
