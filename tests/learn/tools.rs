//! `engram learn` as a user types it.

use std::{collections::BTreeSet, fs, path::Path, process::Stdio};

use engram::learn::{Flags, Record, exchange, record::CAPACITY};
use serde_json::Value;

use crate::common::{self, browser::FOREIGN, command, finish, fixture, home, json, learn};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const OPEN: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
const CASTLE: &str = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4";
const SHUFFLED: &str = "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1";

/// Runs `engram learn` in `home`: what it prints, what it complains of, and its exit code.
fn tool(home: &tempfile::TempDir, arguments: &[&str]) -> (String, String, i32) {
    finish(command(home).arg("learn").args(arguments))
}

/// The same where it must go well.
fn well(home: &tempfile::TempDir, arguments: &[&str]) -> String {
    let (stdout, stderr, code) = tool(home, arguments);
    assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
    stdout
}

fn some_advice(home: &tempfile::TempDir) {
    well(home, &["advise", START, "e4", "25"]);
    well(home, &["advise", OPEN, "Nf3"]);
    well(home, &["advise", CASTLE, "O-O", "-mate8"]);
    well(home, &["advise", SHUFFLED, "O-O", "+win12"]);
}

#[test]
fn advice_is_kept_where_the_user_keeps_data() {
    let home = home();
    some_advice(&home);
    let found: Vec<_> = walk(home.path());
    assert!(found.iter().any(|name| name.ends_with("learn-1.bin")), "{found:?}");
    let shown = well(&home, &["show", OPEN]);
    assert!(shown.contains("Nf3") && shown.contains("advice"), "{shown}");
    let listed = well(&home, &["list"]);
    assert_eq!(listed.lines().count(), 6, "{listed}");
    let header = listed.lines().next().unwrap_or_default();
    assert!(header.contains("learned (UTC)") && header.contains("cp, side to move"), "{header}");
    // Advice is neither as deep as its worth nor searched.
    assert!(!listed.contains(" 100 "), "{listed}");
    assert!(
        listed.contains("e4 ") && listed.contains("-mate8") && listed.ends_with("4 records\n"),
        "{listed}"
    );
    // After 1.e4 e5 the start position is two plies back: only what lies after it is shown.
    let after =
        json(&well(&home, &["show", "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2", "--json"]));
    assert_eq!(after["record"], Value::Null);
    let stats = json(&well(&home, &["stats", "--json"]));
    assert_eq!((&stats["records"], &stats["origins"]["advice"]), (&Value::from(4), &Value::from(4)));
    assert!(well(&home, &["stats"]).contains("room for 8188 more"));
    assert!(well(&home, &["verify"]).starts_with("4 live records, 0 of them inconsistent"));
}

fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn export_import_export_gives_identical_bytes() {
    let home = home();
    some_advice(&home);
    let first = well(&home, &["export"]);
    assert_eq!(first.lines().count(), 4);
    fs::write(home.path().join("text"), &first).unwrap();
    assert_eq!(well(&home, &["import", "text", "--file", "other"]), "4 records added, 0 already known\n");
    assert_eq!(well(&home, &["export", "--file", "other"]), first);
    assert_eq!(well(&home, &["import", "text", "--file", "other"]), "0 records added, 4 already known\n");
    well(&home, &["export", "out", "--file", "other"]);
    assert_eq!(fs::read_to_string(home.path().join("out")).unwrap(), first);
    let (_, stderr, code) = tool(&home, &["export", "out", "--file", "other"]);
    assert!(code == 1 && stderr.contains("out"), "an existing file is not overwritten: {stderr}");
}

#[test]
fn forgetting_wants_a_yes_and_is_remembered() {
    let home = home();
    some_advice(&home);
    well(&home, &["export", "before"]);
    let would = well(&home, &["forget", "--below", "1. e4 e5"]);
    assert!(would.ends_with("3 records would be forgotten; add --yes to do it\n"), "{would}");
    assert_eq!(json(&well(&home, &["stats", "--json"]))["records"], 4);
    let did = well(&home, &["forget", "--below", OPEN, "--yes"]);
    assert!(did.ends_with("3 records forgotten\n"), "{did}");
    assert_eq!(json(&well(&home, &["stats", "--json"]))["records"], 1);
    // An older text does not bring it back; new advice does.
    let said = well(&home, &["import", "before"]);
    assert!(
        said.starts_with(
            "0 records added, 1 already known\n3 records skipped: forgotten here after it was learned"
        ),
        "{said}"
    );
    let counts = json(&well(&home, &["import", "before", "--json"]));
    assert_eq!((&counts["known"], &counts["forgotten"]), (&1.into(), &3.into()), "{counts}");
    assert!(well(&home, &["import", "before", "--file", "again"]).starts_with("4 records added"));
    fs::write(home.path().join("new.epd"), format!("{CASTLE} bm d3;\n")).unwrap();
    for _ in 0..2 {
        assert_eq!(well(&home, &["import", "new.epd"]), "1 record added, 0 already known\n");
        well(&home, &["forget", "--position", CASTLE, "--yes"]);
    }
    well(&home, &["advise", OPEN, "Nc3"]);
    assert!(well(&home, &["show", OPEN]).contains("Nc3"));
    for filter in [["--origin", "advice"], ["--position", START]] {
        assert!(well(&home, &["forget", filter[0], filter[1]]).contains("would be forgotten"));
    }
    assert!(well(&home, &["forget", "--origin", "drop"]).starts_with("no record matches"));
    assert!(well(&home, &["forget", "--all", "--yes"]).ends_with("2 records forgotten\n"));
    assert_eq!(json(&well(&home, &["stats", "--json"]))["records"], 0);
    assert_eq!(well(&home, &["export"]), "");
    well(&home, &["import", "new.epd", "--file", "x"]);
    fs::write(home.path().join("x.tree"), "").unwrap();
    let did = well(&home, &["forget", "--all", "--yes", "--file", "x"]);
    assert!(did.contains("1 record forgotten\n") && did.contains("x.tree stays"), "{did}");
}

#[test]
fn two_files_become_one_in_either_direction() {
    let home = home();
    for (file, fen, best) in [("a", START, "e4"), ("a", OPEN, "Nf3"), ("b", START, "d4"), ("b", CASTLE, "d3")]
    {
        well(&home, &["advise", fen, best, "--file", file]);
    }
    fs::copy(home.path().join("a"), home.path().join("a2")).unwrap();
    let one = well(&home, &["merge", "b", "--file", "a"]);
    let other = well(&home, &["merge", "a2", "--file", "b"]);
    let is_said = [one, other].map(|said| said.contains("advice for 1 position was earlier"));
    assert!(is_said[0] != is_said[1], "one of the two pieces of advice is the later one");
    let sorted = |file| {
        let text = well(&home, &["export", "--file", file]);
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("a"), sorted("b"));
    assert_eq!(sorted("a").len(), 3);
    assert_eq!(well(&home, &["merge", "a", "--file", "a"]), "0 records added, 3 already known\n");
}

#[test]
fn best_moves_of_others_become_advice() {
    let home = home();
    let text = "# a comment\n\
        r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - bm Bb5; ce 31; id \"Spanish\";\n\
        \n\
        6k1/5ppp/8/8/8/8/8/3R2K1 w - - bm #1 Rd8#; acd 3;\n\
        6k1/5ppp/8/8/8/8/8/3R2K1 b - - 5 40 bm 1... h6 1...h5; bm g6;\n";
    fs::write(home.path().join("suite.epd"), text).unwrap();
    assert_eq!(well(&home, &["import", "suite.epd"]), "3 records added, 0 already known\n");
    assert_eq!(well(&home, &["import", "suite.epd"]), "0 records added, 3 already known\n");
    let mate = json(&well(&home, &["show", "6k1/5ppp/8/8/8/8/8/3R2K1 w - - 0 1", "--json"]));
    assert_eq!(mate["record"]["lower"], "+mate1");
    assert_eq!(mate["record"]["move"], "d1d8");
    let advised = well(&home, &["show", "6k1/5ppp/8/8/8/8/8/3R2K1 b - - 5 40"]);
    assert!(["h6", "h5", "g6"].iter().all(|m| advised.contains(m)), "{advised}");
    let bad = format!("{START} bm Ke2;\n{START} bm d4;\nhello\n{OPEN} bm Nf3 Nc3 d4 f4;\n");
    fs::write(home.path().join("bad.epd"), bad).unwrap();
    let (stdout, stderr, code) = tool(&home, &["import", "bad.epd"]);
    assert_eq!((stdout.as_str(), code), ("1 record added, 0 already known\n", 3));
    assert!(stderr.contains("bad.epd: line 1 is skipped") && stderr.contains("Ke2"), "{stderr}");
    assert!(stderr.contains("line 4 is skipped: at most 3 moves"), "{stderr}");
    assert!(stderr.contains("line 3") && stderr.lines().count() == 3, "{stderr}");
    // A mark of the encoding, and a comment and a line in another one.
    let line = b"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 bm c5;\n";
    let bytes = [b"\xef\xbb\xbf", line.as_slice(), b"# M\xfcller\nM\xfcll\n"].concat();
    fs::write(home.path().join("latin.epd"), bytes).unwrap();
    let (stdout, stderr, code) = tool(&home, &["import", "latin.epd"]);
    assert_eq!((stdout.as_str(), code), ("1 record added, 0 already known\n", 3));
    assert!(stderr.contains("line 3") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn quotes_and_unreadable_scores_lose_no_line_and_a_line_may_end_with_cr_alone() {
    let home = home();
    let text = "6k1/5ppp/8/8/8/8/8/3R2K1 w - - id \"x; ce 500; bm Kh1\"; bm Rd8#; ce +M1; acd ?;\r\
        r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - bm Bb5; ce \"125\";\r";
    fs::write(home.path().join("odd.epd"), text).unwrap();
    assert_eq!(well(&home, &["import", "odd.epd"]), "2 records added, 0 already known\n");
    let listed: Vec<Value> = well(&home, &["list", "--json"]).lines().map(json).collect();
    assert_eq!((&listed[0]["move"], &listed[0]["lower"]), (&"d1d8".into(), &Value::Null));
    assert_eq!((&listed[1]["move"], &listed[1]["lower"]), (&"f1b5".into(), &125.into()));
}

#[test]
fn bounds_between_which_no_score_lies_are_refused() {
    let home = home();
    well(&home, &["advise", START, "e4", "30"]);
    let line = well(&home, &["export", "-"]);
    let line = line.lines().find(|line| line.contains("lower 30; upper 30;")).expect("the record");
    for (bounds, what) in [
        ("lower 100; upper -100;", "no score is at least 100 and at most -100"),
        ("lower -inf; upper -inf;", "no score"),
        ("lower +inf; upper +inf;", "no score"),
        ("lower -mate0; upper -mate0;", "odd number of plies"),
        ("lower -inf; upper +inf;", ""),
        ("lower +mate8; upper +inf;", ""),
    ] {
        fs::write(home.path().join("text"), line.replace("lower 30; upper 30;", bounds)).unwrap();
        let (_, stderr, _) = tool(&home, &["import", "text", "--file", "other"]);
        assert!(stderr.contains(what) && stderr.is_empty() == what.is_empty(), "{bounds}: {stderr}");
    }
}

#[test]
fn an_export_can_be_piped_into_an_import() {
    let home = home();
    some_advice(&home);
    well(&home, &["export", "text"]);
    let input = fs::File::open(home.path().join("text")).unwrap();
    let output =
        command(&home).args(["learn", "import", "-", "--file", "other"]).stdin(input).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "4 records added, 0 already known\n");
    assert_eq!(well(&home, &["export", "--file", "other"]), well(&home, &["export"]));
}

#[test]
fn every_advised_move_is_shown() {
    let home = home();
    well(&home, &["advise", START, "e4, d4,Nf3"]);
    for tool in [&["list"][..], &["show", START]] {
        assert!(well(&home, tool).contains(" e4,d4,Nf3 "), "{tool:?}");
    }
    let record = json(&well(&home, &["list", "--json"]));
    assert_eq!((&record["move"], &record["moves"][2]), (&"e2e4".into(), &"g1f3".into()), "{record}");
}

#[test]
fn more_advice_of_a_position_is_added() {
    let home = home();
    well(&home, &["advise", START, "e4", "25"]);
    well(&home, &["advise", START, "d4"]);
    well(&home, &["advise", START, "e4, d4"]);
    let record = json(&well(&home, &["list", "--json"]));
    assert_eq!(record["moves"], serde_json::json!(["e2e4", "d2d4"]), "{record}");
    assert_eq!((&record["lower"], &record["evaluation"]), (&25.into(), &Value::Null), "the score stays");
    // So is that of an EPD, whose lines for a position are one record; what it says already changes nothing.
    let board = START.trim_end_matches(" 0 1");
    fs::write(home.path().join("more.epd"), format!("{board} bm d4;\n{board} bm c4; ce 30;\n")).unwrap();
    for new in [1, 0] {
        let counts = json(&well(&home, &["import", "more.epd", "--json"]));
        assert_eq!((&counts["new"], &counts["known"]), (&new.into(), &(1 - new).into()), "{counts}");
    }
    let record = json(&well(&home, &["list", "--json"]));
    assert_eq!(record["moves"], serde_json::json!(["e2e4", "d2d4", "c2c4"]), "{record}");
    assert_eq!(record["lower"], 30, "a newer score counts");
    let (_, stderr, code) = tool(&home, &["advise", START, "Nf3"]);
    assert!(code == 1 && stderr.contains("at most 3 moves") && stderr.contains("learn forget"), "{stderr}");
    // Nothing is lost in an export.
    well(&home, &["export", "text"]);
    well(&home, &["import", "text", "--file", "other"]);
    assert_eq!(well(&home, &["export"]), well(&home, &["export", "--file", "other"]));
}

#[test]
fn a_right_to_castle_with_another_rook_is_another_position() {
    let home = home();
    let with_right = |right: &str| format!("4k3/8/8/8/8/8/8/RR2K1RR w {right} - 0 1");
    well(&home, &["advise", &with_right("G"), "Kf2"]);
    for (right, found) in [("G", 1), ("H", 0), ("A", 0), ("-", 0)] {
        let listed = well(&home, &["list", "--position", &with_right(right)]);
        assert_eq!(
            listed.lines().last(),
            Some(&*format!("{found} record{}", if found == 1 { "" } else { "s" })),
            "{right}"
        );
    }
}

#[test]
fn records_from_the_far_future_are_left_out() {
    let home = home();
    some_advice(&home);
    let text = well(&home, &["export"]);
    let time =
        |line: &str| line.split_once("; time ").unwrap().1.split(';').next().unwrap().parse::<u32>().unwrap();
    let shifted = |by: u32| {
        let later = |line: &str| {
            line.replace(&format!("time {};", time(line)), &format!("time {};", time(line) + by))
        };
        text.lines().map(later).collect::<Vec<_>>().join("\n")
    };
    for (by, (new, future)) in [(3600, (4, 0)), (100_000_000, (0, 4))] {
        fs::write(home.path().join("text"), shifted(by)).unwrap();
        let counts = json(&well(&home, &["import", "text", "--file", &by.to_string(), "--json"]));
        assert_eq!((&counts["new"], &counts["future"]), (&new.into(), &future.into()), "{counts}");
    }
    let said = well(&home, &["import", "text"]);
    assert!(said.contains("4 records skipped: from more than a day ahead"), "{said}");
}

const PROVE: [&str; 9] = ["prove", "--opponent", "x", "--openings", "text", "--rounds", "1", "--tc", "1+0.1"];

#[test]
fn mistakes_get_one_clear_sentence() {
    let home = home();
    fs::write(home.path().join("text"), "hello").unwrap();
    fs::write(home.path().join("other.bin"), b"\x89ENGRAM\n\x01\0\x40\0").unwrap();
    for (arguments, what) in [
        (&["list"][..], "there is no learning file"),
        (&["list", "--file", "text"], "not a learning file and is left alone"),
        (&["list", "--file", "."], "a directory"),
        (&["advise", START, "e5"], "not legal"),
        (&["advise", "nonsense", "e4"], "or a FEN"),
        (&["forget", "--yes"], "say what to forget"),
        (&["import", "missing"], "missing cannot be read"),
        (&["import", "other.bin"], "add it to yours: `engram learn merge other.bin`"),
        (&["merge", "missing"], "there is no learning file"),
        (&["advise", START, "e4", "--file", "text"], "left alone"),
        (&[&PROVE[..], &["--json"]].concat()[..], "do not apply to prove"),
        (&[&PROVE[..], &["--file", "text"]].concat()[..], "do not apply to prove"),
    ] {
        let (stdout, stderr, code) = tool(&home, arguments);
        assert_eq!((stdout.as_str(), code), ("", 1), "{arguments:?}");
        assert!(stderr.contains(what) && stderr.lines().count() == 1, "{arguments:?}: {stderr}");
    }
    assert_eq!(fs::read(home.path().join("text")).unwrap(), b"hello");
    some_advice(&home);
    for (arguments, what) in [
        (&["list", "--day", "yesterday"][..], "write the day"),
        (&["list", "--since", "2026-02-29"], "write the day"),
        (&["forget", "--session", "+0000001"], "eight hexadecimal digits"),
        (&["list", "--below", "x"], "or a FEN"),
        (&["forget", "--position", "x"], "or a FEN"),
        (&["study", "--minutes", "0.5"], "a whole number of minutes"),
    ] {
        let (_, stderr, code) = tool(&home, arguments);
        assert!(code == 2 && stderr.contains(what), "{arguments:?}: {stderr}");
    }
    let (_, stderr, code) = tool(&home, &["show", "x"]);
    assert!(code == 1 && stderr.contains("or a FEN"), "{stderr}");
    for day in ["1969-01-01", "9999-12-31"] {
        assert_eq!(well(&home, &["list", "--day", day]).lines().last(), Some("0 records"));
    }
    let listed = well(&home, &["list"]);
    // The records may have been made around midnight.
    let day = listed.lines().nth(1).and_then(|row| row.split_whitespace().nth(1)).expect("a day");
    let of_day = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|row| row.split_whitespace().nth(1) == Some(day));
        rows.map(str::to_owned).collect()
    };
    let selected = well(&home, &["list", "--day", day]);
    assert_eq!(of_day(&selected), of_day(&listed));
    assert_eq!(selected.lines().count(), of_day(&listed).len() + 2, "the rows, and a line before and after");
    assert_eq!(tool(&home, &["list", "--day", &day.replace('-', "")]).2, 2);
    assert_eq!(tool(&home, &["advise", START, "e4", "lots"]).2, 2);
    for impossible in ["+mate0", "-mate0", "+mate8", "-mate7"] {
        let (_, stderr, code) = tool(&home, &["advise", START, "e4", impossible]);
        assert!(code == 1 && stderr.contains("odd number of plies"), "{impossible}: {stderr}");
    }
    let (_, stderr, code) = tool(&home, &["advise", START, "e4", "+inf"]);
    assert!(code == 1 && stderr.contains("no score is at least +inf"), "{stderr}");
    let (_, stderr, code) = tool(&home, &["list", "--origin", "x"]);
    assert!(code == 2 && stderr.contains("study, opening"), "{stderr}");
    assert_eq!(well(&home, &["list", "--origin", "opening"]).lines().last(), Some("0 records"));
    assert_eq!(tool(&home, &["forget", "--all", "--below", START]).2, 2);
    assert_eq!(tool(&home, &["forget", "--all", "--opening", "B12"]).2, 2);
}

#[test]
fn lost_games_are_analysed_and_the_drops_learned() {
    let home = home();
    // Legal's mate: Black takes the queen and is mated; and a game that the player did not lose; the
    // tag says who won where the moves do not.
    let games = "[White \"Legal\"]\n[Black \"Saint Brie\"]\n[Result \"1-0\"]\n\n\
        1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0\n\n\
        [White \"Saint Brie\"]\n[Black \"Somebody\"]\n[Result \"1/2-1/2\"]\n\n1. e4 e5 1/2-1/2\n\n\
        [White \"Saint Brie\"]\n[Black \"Somebody\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# *\n";
    fs::write(home.path().join("games.pgn"), games).unwrap();
    let (_, stderr, code) = tool(&home, &["import", "games.pgn"]);
    assert!(code == 1 && stderr.contains("--player"), "{stderr}");
    let (_, stderr, code) = tool(&home, &["import", "games.pgn", "--player", "Nobody", "--file", "new"]);
    assert!(code == 1 && stderr.contains("no game has a player Nobody; there are Legal; S"), "{stderr}");
    assert!(!home.path().join("new").exists(), "nothing was made");
    let report =
        json(&well(&home, &["import", "games.pgn", "--player", "brie", "--nodes", "20000", "--json"]));
    assert_eq!((&report["games"], &report["lost"], &report["unreadable"]), (&3.into(), &2.into(), &0.into()));
    assert!(report["new"].as_u64().unwrap() > 0, "{report}");
    let listed = well(&home, &["list"]);
    assert!(listed.contains("import") && listed.contains("Black lost"), "{listed}");
    assert!(well(&home, &["verify"]).contains("0 of them inconsistent"));
    let again =
        json(&well(&home, &["import", "games.pgn", "--player", "brie", "--nodes", "20000", "--json"]));
    assert_eq!(again["new"], 0, "what is known already is not learned again");
    // Both games are kept, once, with their own tags.
    let kept = fs::read_to_string(home.path().join("engram/games-1.pgn")).unwrap();
    assert_eq!(kept.matches("[Event \"?\"]").count(), 2, "{kept}");
    assert!(kept.contains("[Black \"Saint Brie\"]") && kept.contains("7. Nd5# 1-0\n"), "{kept}");

    let games = format!("{games}\n[White \"Saint Brie\"]\n\n1. f3 e5 2. g4 Ke4 0-1\n");
    fs::write(home.path().join("games.pgn"), games).unwrap();
    let (out, stderr, code) = tool(&home, &["import", "games.pgn", "--player", "brie", "--nodes", "1000"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(
        stderr.contains("games.pgn: game 4 (line 19) is skipped: 2... Ke4 is not a legal move"),
        "{stderr}"
    );
    assert!(out.contains("4 games, 2 of them lost") && out.contains("1 game skipped"), "{out}");
}

#[test]
fn a_game_that_could_not_be_kept_is_imported_the_next_time() {
    let home = home();
    let game = "[White \"Saint Brie\"]\n[Black \"Somebody\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
    fs::write(home.path().join("games.pgn"), game).unwrap();
    let kept = home.path().join("learn.bin.games.pgn");
    fs::create_dir(&kept).unwrap();
    let import = ["import", "games.pgn", "--player", "brie", "--nodes", "20000", "--file", "learn.bin"];
    let (out, stderr, code) = tool(&home, &import);
    assert!(code == 3 && stderr.contains("game 1 is skipped: "), "{out}{stderr}");
    fs::remove_dir(&kept).unwrap();
    let said = well(&home, &import);
    assert!(said.starts_with("game 1, Saint Brie - Somebody: 1 position learned\n"), "{said}");
    assert_eq!(fs::read_to_string(&kept).unwrap().matches("[Event ").count(), 1);
}

#[test]
fn more_lines_than_a_file_holds_are_taken_in_once() {
    let home = home();
    let records = learn::positions(CAPACITY + 1000, 3);
    let lines: String = (1..)
        .zip(&records)
        .map(|(number, position)| exchange::line(&learn::record(position, number)).expect("a line") + "\n")
        .collect();
    fs::write(home.path().join("records.txt"), lines).unwrap();
    let first = well(&home, &["import", "records.txt"]);
    assert!(first.contains("skipped: a learning file holds at most 65536"), "{first}");
    let again = json(&well(&home, &["import", "records.txt", "--json"]));
    assert_eq!(again["new"], 0, "{again}");
}

#[test]
fn a_full_file_takes_no_room_from_newer_records() {
    let home = home();
    let write = |name: &str, count: usize, seed: u64, first: u32| {
        let lines = (first..).zip(learn::positions(count, seed));
        let lines = lines.map(|(number, position)| exchange::line(&learn::record(&position, number)));
        let lines = lines.map(|line| line.expect("a line") + "\n").collect::<String>();
        fs::write(home.path().join(name), lines).unwrap();
    };
    write("old.txt", CAPACITY, 3, 1);
    write("new.txt", 3000, 4, 1_000_000);
    well(&home, &["import", "old.txt", "--file", "old.bin"]);
    well(&home, &["import", "new.txt", "--file", "new.bin"]);
    let newer = || {
        let all = well(&home, &["export", "--file", "new.bin"]);
        let kept: BTreeSet<String> = all.lines().map(str::to_owned).collect();
        let new = fs::read_to_string(home.path().join("new.txt")).unwrap();
        new.lines().filter(|line| kept.contains(*line)).count()
    };
    let before = newer();
    let merged = json(&well(&home, &["merge", "old.bin", "--file", "new.bin", "--json"]));
    assert!(merged["new"].as_u64() > Some(60_000), "{merged}");
    assert_eq!(newer(), before);
    let again = json(&well(&home, &["merge", "old.bin", "--file", "new.bin", "--json"]));
    assert_eq!(again["new"], 0, "{again}");
}

#[test]
fn why_says_that_advice_decides() {
    let home = home();
    well(&home, &["advise", START, "h4"]);
    let why = well(&home, &["why", START, "--nodes", "5000"]);
    assert!(why.contains("advised here: h2h4") && why.contains("the advice decides"), "{why}");
    let why = json(&well(&home, &["why", START, "--nodes", "5000", "--json"]));
    assert_eq!((&why["changed"], &why["advised"]), (&Value::Bool(true), &Value::Bool(true)), "{why}");
}

#[test]
fn why_names_the_record_that_changes_the_move() {
    let home = home();
    let plain = json(&{
        well(&home, &["advise", CASTLE, "d3"]);
        well(&home, &["why", START, "--nodes", "5000", "--json"])
    });
    assert_eq!((&plain["changed"], &plain["records"]), (&Value::Bool(false), &Value::Array(Vec::new())));
    // The move that it would play is said to lose.
    let best = plain["without"]["move"].as_str().unwrap().to_owned();
    let mut moves = common::Engine::start();
    moves.send(&format!("position startpos moves {best}"));
    let after = moves.fen();
    moves.quit();
    well(&home, &["advise", &after, "e5", "+mate9"]);
    // Something else that may occur, but does not matter.
    well(&home, &["advise", OPEN, "Nf3"]);
    let why = json(&well(&home, &["why", START, "--nodes", "5000", "--json"]));
    assert_eq!(why["changed"], true, "{why}");
    assert_ne!(why["with"]["move"], best.as_str());
    let records = why["records"].as_array().unwrap();
    assert_eq!((records.len(), &records[0]["lower"]), (1, &Value::from("+mate9")), "{why}");
    assert!(well(&home, &["why", START, "--nodes", "5000"]).contains("the move changes because of"));
}

#[test]
fn the_page_shows_every_record_and_needs_nothing_else() {
    let home = home();
    some_advice(&home);
    assert_eq!(well(&home, &["html", "page.html"]), "no lessons; written to page.html\n");
    let page = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    let html = page("page.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>") && html.contains("viewport"));
    assert_eq!(html.matches("<article").count(), 4);
    assert_eq!(html.matches("class=\"board small\"").count(), 4);
    assert_eq!(html.matches("data-better=\"").count(), 4);
    assert!(!html.contains("data-better=\"\""), "every piece of advice names a move");
    assert!(html.contains("<b>Nf3</b> for White</p><p>no score") && html.contains("advice: 4"));
    assert!(html.contains("+0.25") && html.contains("#-4") && html.contains("Chess960"));
    assert!(!html.contains("2<sup>0") && !html.contains("depth"), "nothing was searched");
    for foreign in FOREIGN {
        assert!(!html.contains(foreign), "{foreign}");
    }
    // Newest first, no more than asked for; what is there stays.
    well(&home, &["html", "few.html", "--newest", "1"]);
    let few = page("few.html");
    assert!(few.contains("4k3/8/8/8/8/8/8/1R2K1R1") && few.matches("<article").count() == 1);
    well(&home, &["html", "none.html", "--origin", "drop"]);
    assert!(page("none.html").contains("Nothing has been learned"));
    let (_, stderr, code) = tool(&home, &["html", "few.html"]);
    assert!(code == 1 && stderr.contains("few.html"), "{stderr}");
    assert_eq!(page("few.html"), few);
    // Nor the games beside the file, from which the page is made.
    let games = home.path().join("engram/games-1.pgn");
    fs::write(&games, "1. e4 *\n").unwrap();
    for task in ["html", "export"] {
        let (_, stderr, code) = tool(&home, &[task, "engram/games-1.pgn", "--force"]);
        assert!(code == 1 && stderr.contains("would overwrite the input"), "{task}: {stderr}");
    }
    assert_eq!(fs::read_to_string(&games).unwrap(), "1. e4 *\n");
}

/// After 1. e4 c6 2. d4 d5 3. e5, in the games of `kept.pgn`.
const ADVANCE: &str = "rnbqkbnr/pp2pppp/2p5/3pP3/3P4/8/PPP2PPP/RNBQKBNR b KQkq - 0 3";

/// A GUI plays many games with one process, and a later one passes the position of an earlier lesson.
#[test]
fn a_lesson_is_of_the_game_in_which_it_was_learned() {
    let home = home();
    let lesson = learn::record(&common::position(OPEN), 1);
    let flags = Flags { confirmed: true, ..lesson.flags };
    drop(learn::file_of(&home.path().join("file"), [Record { flags, game_ply: 2, session: 7, ..lesson }]));
    let game = |opponent: &str, result: &str| {
        format!(
            "[Event \"Game of Engram\"]\n[White \"Engram\"]\n[Black \"{opponent}\"]\n[Result \"{result}\"]\n\
             [Session \"00000007\"]\n\n1. e4 e5 2. Nf3 Nc6 {result}\n\n"
        )
    };
    let games = game("Alpha", "0-1") + &game("Beta", "*") + &game("Gamma", "1-0");
    fs::write(home.path().join("file.games.pgn"), games).unwrap();
    for (opponent, count) in [("Alpha", "1 record"), ("Beta", "0 records"), ("Gamma", "0 records")] {
        let listed = well(&home, &["list", "--opponent", opponent, "--file", "file"]);
        assert_eq!(listed.lines().last(), Some(count), "{opponent}: {listed}");
    }
}

#[test]
fn a_lesson_says_what_was_played_what_it_cost_and_what_is_played_now() {
    let home = home();
    well(&home, &["advise", ADVANCE, "h6"]);
    // Two games with one opening, the first lost and the second won, and a draw against another opponent.
    fs::copy(fixture("kept.pgn"), home.path().join("engram/games-1.pgn")).unwrap();
    let lessons = |more: &[&str]| well(&home, &[&["lessons", "--nodes", "2000"], more].concat());
    let all = lessons(&[]);
    let heading =
        "Lost to Stockfish 15.1 as Black on 2026-11-20, Caro-Kann Defense: Advance Variation, Short";
    for expected in [
        heading,
        "  At move 3 I played Bf5 (+0.10, 2 moves later -1.60). Now I play h6 (",
        "), as advised.\n",
        "  The next game with this opening was won (2026-11-21 against Stockfish 15.1).\n",
        " from 1 lost game; without a lesson: 1 other game\n",
    ] {
        assert!(all.contains(expected), "{expected} is not in {all}");
    }
    let line =
        |name: &str| all.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{all}"));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(line("Stockfish 15.1"))[2..4], ["2", "1.0"]);
    assert!(line("Stockfish 15.1").ends_with("+1 =0 -0"), "{all}");
    assert_eq!(words(line("Ethereal"))[1..], ["1", "0.5", "0", "+0", "=0", "-0"]);
    for (filter, found) in [
        (["--opponent", "STOCK"], true),
        (["--opponent", "ethereal"], false),
        (["--opening", "b12"], true),
        (["--opening", "caro-kann"], true),
        (["--opening", "B2"], false),
        (["--colour", "black"], true),
        (["--colour", "white"], false),
        (["--result", "lost"], true),
        (["--result", "won"], false),
        (["--since", "2026-11-20"], true),
        (["--since", "2026-11-21"], false),
    ] {
        assert_eq!(lessons(&filter[..]).contains(heading), found, "{filter:?}");
    }
    assert!(lessons(&["--lost", "0"]).ends_with("1 other game, 1 older lost game not looked at (--lost)\n"));
    let summary = well(&home, &["lessons", "--nodes", "0"]);
    assert!(summary.ends_with("\nnot searched (--nodes 0); without a lesson: 1 other game\n"), "{summary}");
    let report = lessons(&["--json"]);
    let first = json(report.lines().next().unwrap());
    assert_eq!((&first["lessons"][0]["played"], &first["lessons"][0]["now"]), (&"Bf5".into(), &"h6".into()));
    assert_eq!((&first["eco"], &first["next"]), (&"B12".into(), &"won".into()), "{first}");
    // The list shows the moves, and selects by game.
    let listed = well(&home, &["list", "--opponent", "stockfish"]);
    assert!(listed.contains("2. d4 d5 3. e5 (2026-11-21 against Stockfish 15.1)\n1 record\n"), "{listed}");
    assert!(well(&home, &["list", "--fen"]).contains(ADVANCE));
    assert!(well(&home, &["list", "--opponent", "ethereal"]).ends_with("0 records\n"));
    assert!(well(&home, &["stats", "--colour", "white"]).contains("records      0 of"));
    assert!(well(&home, &["forget", "--opening", "B12"]).contains("1 record would be forgotten"));
    assert!(well(&home, &["forget", "--opening", "B2"]).starts_with("no record matches"));
    let (_, stderr, code) = tool(&home, &["list", "--since", "yesterday"]);
    assert!(code == 2 && stderr.contains("2026-01-31"), "{stderr}");
    // On the page the lesson is a board from which the game can be walked.
    well(&home, &["html", "page.html", "--nodes", "2000"]);
    let page = fs::read_to_string(home.path().join("page.html")).unwrap();
    assert!(page.contains(heading) && page.contains("data-at=\"5\"") && page.contains("3... Bf5|4. Nf3|"));
    assert!(page.contains("[White &quot;Stockfish 15.1&quot;]") && !page.contains("belong to no game"));
    assert!(page.contains("data-played=\"c8f5\" data-better=\"h7h6\""), "{page}");
}

#[test]
fn a_source_that_is_not_there_makes_no_learning_file() {
    let home = home();
    let file = home.path().join("new.bin");
    for arguments in [["import", "missing.txt"], ["merge", "missing.bin"]] {
        let (_, error, code) =
            tool(&home, &["--file", file.to_str().expect("UTF-8"), arguments[0], arguments[1]]);
        assert!(code == 1 && error.contains("missing"), "{error}");
        assert!(!file.exists());
    }
    some_advice(&home);
    assert_eq!(well(&home, &["export", "-"]), well(&home, &["export"]));
    assert!(!home.path().join("-").exists());
}

#[test]
fn tools_that_meet_where_no_file_is_yet_wait_for_each_other() {
    let home = home();
    let file = home.path().join("new.bin").to_str().expect("UTF-8").to_owned();
    let positions =
        ["P7", "1P6", "2P5", "3P4", "4P3", "5P2"].map(|row| format!("4k3/8/8/8/{row}/8/8/4K3 w - - 0 1"));
    let children: Vec<_> = positions
        .iter()
        .map(|fen| {
            let arguments = ["learn", "advise", "--file", &file, fen, "Ke2"];
            command(&home)
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("started")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("a child");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(well(&home, &["list", "--file", &file]).matches("advice").count(), 6);
}
