//! `engram analyse` as it is used: positions, tasks, games, broken input, interruption, every output.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

use engram::position::Position;
use serde_json::Value;
use shakmaty::CastlingMode;
use tempfile::TempDir;

use crate::common::{command, files, fixture, flat, home, json, refused, run, shared, succeed, until};

#[test]
fn a_position_shows_its_best_lines() {
    let fen = ["6k1/5ppp/8/8/8/8/5PPP/R5K1", "w", "-", "-", "0", "1"];
    let out = succeed(&[&["analyse"], &fen[..], &["--depth", "6", "--multipv", "2"]].concat());
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[2].contains("#1") && lines[2].contains("a1a8") && lines[2].contains("1. Ra8#"), "{out}");
    assert_eq!(lines.iter().filter(|line| line.contains("  1. ")).count(), 2, "{out}");

    let (out, _, code) = run(&["analyse", "startpos", "--nodes", "2000", "--json", "-", "--threads", "1"]);
    let json = json(&out);
    assert_eq!(code, 0);
    assert!(json["nodes"].as_u64().unwrap() >= 1900 && json["lines"][0]["score"]["cp"].is_i64(), "{json}");

    let (out, _, _) = run(&["analyse", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"]);
    assert!(out.contains("stalemate"), "{out}");
}

#[test]
fn tasks_are_checked_and_counted() {
    let file = fixture("tasks.epd");
    let (out, err, code) = run(&["analyse", &file, "--depth", "8"]);
    assert_eq!(code, 3, "one line cannot be used");
    assert!(err.contains("line 5 is skipped") && err.contains("bm Qa8"), "{err}");
    let row = |id: &str| out.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("{out}"));
    assert!(row("back rank").contains(" ok ") && row("back rank").contains("Ra8#"));
    assert!(row("impossible to solve").contains(" failed "));
    assert!(row("impossible to solve").ends_with("  am Ra8#"), "what it should have been: {out}");
    assert!(row("promotion").contains(" ok "));
    assert!(!row("no task").contains(" ok "));
    assert!(out.contains("solved 2 of 3") && out.contains(" of 10"), "{out}");

    let (out, _, _) = run(&["analyse", &file, "--depth", "8", "--json", "-"]);
    let tasks: Vec<Value> = out.lines().map(json).collect();
    assert_eq!(tasks.len(), 4, "in the order of the file");
    assert_eq!(tasks[0]["solved"], true);
    assert!(tasks[0]["solved_after_ms"].is_u64() && tasks[1]["solved_after_ms"].is_null());
    assert_eq!(tasks[2]["most_points"], 10);
    assert!(tasks[3]["solved"].is_null());

    let folder = home();
    let mate = folder.path().join("mate.epd");
    fs::write(&mate, "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1; id \"mate\";\n").expect("a file");
    let (out, _, _) = run(&["analyse", mate.to_str().unwrap(), "--depth", "8", "--json", "-"]);
    let json = json(&out);
    assert!(json["solved"] == true && json["solved_after_ms"].is_u64(), "{json}");
}

#[test]
fn games_are_annotated_and_broken_ones_are_named() {
    let folder = home();
    let pgn = folder.path().join("out.pgn");
    let file = fixture("games.pgn");
    let (out, err, code) = run(&["analyse", &file, "--depth", "8", "--pgn", pgn.to_str().unwrap()]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("game 2 (line 10)") && err.contains("3. Nc6 is not a legal move"), "{err}");
    assert!(
        out.contains("game 1: Careful, A. - Hasty \"B.\" 1-0, C20 King's Pawn Game: Wayward Queen Attack"),
        "{out}"
    );
    assert!(out.contains("accuracy") && out.contains("3... Nf6??"), "{out}");

    let text = fs::read_to_string(&pgn).unwrap();
    let flat = flat(&text);
    assert!(flat.contains("[Black \"Hasty \\\"B.\\\"\"]") && flat.contains("[ECO \"C20\"]"), "{text}");
    assert!(flat.contains("[WhiteAccuracy \"") && flat.contains("[Annotator \"Engram "), "{text}");
    assert!(flat.contains("1. e4 {[%eval ") && !flat.contains("9.99"), "{text}");
    assert!(flat.contains("{the best by test}"), "what the game said itself stays: {text}");
    assert!(flat.contains("(2... g6 3. Qxe5+ {wins a pawn})"), "{text}");
    assert!(flat.contains("3... Nf6 $4 {[%eval #1]} (3... "), "{text}");
    assert!(flat.contains("4. Qxf7# 1-0"), "the end of the game has no evaluation: {text}");
    assert!(flat.contains("[FEN \"4k2r/8/8/8/8/8/4PPP1/4K1R1 w Gk - 0 1\"]"), "{text}");
    assert!(flat.contains("1. O-O {[%eval "), "{text}");
    assert!(text.lines().all(|line| line.len() < 81), "{text}");

    // What was written can be read again, and says the same.
    let again = folder.path().join("again.pgn");
    succeed(&["analyse", pgn.to_str().unwrap(), "--depth", "8", "--pgn", again.to_str().unwrap()]);
    let moves = |text: &str| text.matches("[%eval").count();
    assert_eq!(moves(&fs::read_to_string(&again).unwrap()), moves(&text));
}

#[test]
fn every_bad_move_of_a_game_is_listed_if_it_is_asked_for() {
    // Morphy at the opera, 1858.
    let game = "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 \
                cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0\n";
    let folder = home();
    let path = folder.path().join("opera.pgn").to_str().unwrap().to_owned();
    fs::write(&path, game).unwrap();
    let listed = |more: &[&str]| {
        let (out, _, _) = run(&[&["analyse", &path, "--depth", "8"], more].concat());
        let count = |word: &str| {
            let before = |line: &str| line.split_once(word)?.0.rsplit(' ').nth(1)?.parse::<usize>().ok();
            out.lines().filter_map(before).sum::<usize>()
        };
        let bad = count("inaccurac") + count("mistake") + count("blunder");
        (out.matches("; better ").count(), bad, count("inaccurac"), out)
    };
    let (short, bad, inaccuracies, out) = listed(&[]);
    assert!(inaccuracies > 0 && short == bad - inaccuracies, "{out}");
    let (all, ..) = listed(&["--all"]);
    assert_eq!(all, bad);
}

#[test]
fn a_game_that_ends_by_repetition_is_a_draw_on_its_last_move() {
    let folder = home();
    let path = folder.path().join("game.pgn").to_str().unwrap().to_owned();
    // White is a queen up, and lets it be a draw.
    let game = "[FEN \"6k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1\"]\n\n\
                1. Qd2 Kf8 2. Qd1 Kg8 3. Qd2 Kf8 4. Qd1 Kg8 1/2-1/2\n";
    fs::write(&path, game).unwrap();
    let (out, _, _) = run(&["analyse", &path, "--depth", "8", "--json", "-"]);
    let json = json(out.lines().next().expect("a game"));
    let moves = json["moves"].as_array().unwrap();
    assert_eq!(moves.last().unwrap()["score"]["cp"], 0, "{out}");
    assert!(moves[0]["score"]["cp"].as_i64().unwrap_or(10_000) > 300, "{out}");
    let (out, _, _) = run(&["analyse", &path, "--depth", "2", "--csv", "-"]);
    let last = out.lines().last().expect("a row");
    assert!(last.contains(",8,") && last.ends_with("0,0,0,,,,,,,,,,,"), "nothing was searched: {last}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let file = fixture("games.pgn");
    let results = ["1", "3"].map(|threads| {
        let (out, _, code) = run(&["analyse", &file, "--depth", "7", "--json", "-", "--threads", threads]);
        assert_eq!(code, 3);
        out
    });
    assert_eq!(results[0].lines().count(), 3);
    assert_eq!(results[0], results[1]);
}

#[test]
fn the_standard_input_is_told_apart() {
    let folder = home();
    let mut answers = Vec::new();
    for text in ["\n\n1. e4 e5 2. Qh5 Ke7 *\n", "# note\n% note\n6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8;\n"]
    {
        let mut child = command(&folder)
            .args(["analyse", "-", "--depth", "4"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        answers.push(String::from_utf8(output.stdout).unwrap());
    }
    assert!(answers[0].contains("game 1: ? - ?") && answers[0].contains("2... Ke7??"), "{}", answers[0]);
    assert!(answers[1].contains("solved 1 of 1"), "{}", answers[1]);
}

#[test]
fn bad_arguments_are_answered_in_one_sentence() {
    for (arguments, expected, code) in [
        (vec!["analyse", "no-such-file.pgn"], "neither a file nor a position", 1),
        (vec!["analyse", "8/8/8/8", "w", "-", "-"], "`8/8/8/8 w - -` is not a FEN", 1),
        (vec!["analyse", "no", "such.pgn"], "neither a file nor a position", 1),
        (vec!["analyse", "position startpos moves e2e4"], "`position startpos moves e2e4` is not a FEN", 1),
        (vec!["analyse", "position startpos moves e2e4"], "two counters, or name a .pgn or .epd file\n", 1),
        (vec!["analyse", "startpos", "e4", "e4"], "PPPP1PPP/RNBQKBNR b KQkq - 0 1\n", 1),
        (vec!["analyse"], "required", 2),
        (vec!["analyse", "startpos", "--depth", "0"], "--depth", 2),
        (vec!["analyse", "startpos", "--eco", "/no/table"], "cannot be read", 1),
        (
            vec!["analyse", "startpos", "--depth", "1", "--json", "/no/folder/out.json"],
            "cannot be written",
            1,
        ),
        (
            vec!["analyse", &fixture("games.pgn"), "--json", "/no/folder/out.json"],
            "engram: /no/folder/out.json.unfinished cannot be written",
            1,
        ),
        (vec!["analyse", &fixture("games.pgn"), "nosuch.pgn"], "`nosuch.pgn` is neither a file", 1),
        (vec!["analyse", "nosuch.pgn", &fixture("games.pgn")], "`nosuch.pgn` is neither a file", 1),
    ] {
        let (_, err, found) = run(&arguments);
        assert_eq!(found, code, "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert!(code == 2 || err.lines().count() == 1, "{err}");
    }
}

/// Two threads analyse games with this limit and are killed after some results, of which the first five are left: the
/// folder, and the command with another output.
fn interrupted(limit: [&str; 2]) -> (TempDir, impl Fn(&str) -> Vec<String>) {
    let (folder, path) = files();
    // Names so long that what is printed does not fit into the pipe: nobody reads it, so the first run cannot end.
    let name = "x".repeat(2000);
    let game = format!(
        "[White \"{name}\"]\n[Black \"{name}\"]\n\n\
         1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 *\n\n"
    );
    fs::write(path("games.pgn"), game.repeat(40)).unwrap();
    let limit = limit.map(str::to_owned);
    let arguments = move |output: &str| {
        let (games, output) = (path("games.pgn"), path(output));
        let fixed = ["analyse", &games, "--hash", "2", "--threads", "2", "--pgn", &output].map(str::to_owned);
        [&fixed[..], &limit].concat()
    };

    let mut child = command(&folder).args(arguments("out.pgn")).stdout(Stdio::piped()).spawn().unwrap();
    let journal = folder.path().join("out.pgn.unfinished");
    let known = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    until("the journal grows", || known() > 20);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success(), "it was interrupted in the middle");

    // In the middle of a stretch of the first game.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.split_inclusive('\n').take(6).collect::<String>()).unwrap();
    (folder, arguments)
}

#[test]
fn interrupted_work_goes_on_where_it_stopped() {
    let (folder, arguments) = interrupted(["--nodes", "200"]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let journal = PathBuf::from(path("out.pgn.unfinished"));

    // Not while another is at it.
    let holder = fs::File::open(&journal).unwrap();
    holder.lock().unwrap();
    let same = arguments("out.pgn");
    refused(&same.iter().map(String::as_str).collect::<Vec<_>>(), "another process");
    drop(holder);

    // A file that is not the interrupted run's own is not overwritten.
    fs::write(path("mine.html"), "mine").unwrap();
    let mut more = arguments("out.pgn");
    more.extend(["--html".to_owned(), path("mine.html")]);
    refused(&more.iter().map(String::as_str).collect::<Vec<_>>(), "differ in: outputs)");
    assert_eq!(fs::read_to_string(path("mine.html")).unwrap(), "mine");

    // Other settings do not go on with it.
    let other: Vec<String> = arguments("out.pgn").iter().map(|a| a.replace("200", "300")).collect();
    refused(&other.iter().map(String::as_str).collect::<Vec<_>>(), "differ in: nodes)");

    // Nor does another input, but the same games in another file do.
    let games = fs::read_to_string(path("games.pgn")).unwrap();
    fs::write(path("games.pgn"), games.clone() + "1. d4 *\n").unwrap();
    refused(&same.iter().map(String::as_str).collect::<Vec<_>>(), "differ in: input)");
    fs::write(path("copy.pgn"), games).unwrap();
    let copy: Vec<String> = same.iter().map(|word| word.replace("games.pgn", "copy.pgn")).collect();
    let (out, err, code) = run(&copy.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("resuming unfinished work"), "{err}");
    assert!(!out.contains("(and 5 results"), "a part of a stretch is of no use");
    assert!(!journal.exists(), "the journal goes when the work is done");
    fs::rename(path("copy.pgn"), path("games.pgn")).unwrap();
    let whole = arguments("whole.pgn");
    assert_eq!(run(&whole.iter().map(String::as_str).collect::<Vec<_>>()).2, 0);
    let games = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert!(games("out.pgn") == games("whole.pgn"), "as if it had not been interrupted");
}

#[test]
fn of_searches_that_end_by_time_each_result_is_used() {
    let (_folder, arguments) = interrupted(["--movetime", "1"]);
    let (out, err, code) = run(&arguments("out.pgn").iter().map(String::as_str).collect::<Vec<_>>());
    assert!(code == 0 && err.contains("resuming unfinished work"), "{err}");
    let summary = out.lines().last().unwrap_or_default();
    assert!(summary.starts_with("595 positions") && summary.contains(" (and 5 results "), "{summary}");
}

#[test]
fn work_interrupted_before_its_first_result_goes_on_too() {
    let (folder, path) = files();
    fs::write(path("one.epd"), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;\n").unwrap();
    let (input, output) = (path("one.epd"), path("out.jsonl"));
    let arguments = ["analyse", &input, "--depth", "3", "--json", &output, "--threads", "1"];
    assert_eq!(run(&arguments).2, 0);
    let whole = fs::read_to_string(&output).unwrap();

    // The same with a depth that is not reached, until its files are there.
    let endless = arguments.map(|argument| if argument == "3" { "60" } else { argument });
    fs::remove_file(&output).unwrap();
    let mut child = command(&folder).args(endless).stdout(Stdio::null()).spawn().unwrap();
    // The output is claimed before that.
    let journal = PathBuf::from(path("out.jsonl.unfinished"));
    let is_begun = || fs::read_to_string(&journal).is_ok_and(|begun| begun.ends_with('\n'));
    until("the journal has a line", is_begun);
    assert!(Path::new(&output).exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = fs::read_to_string(&journal).unwrap();
    assert_eq!(begun.lines().count(), 1, "no position is done");
    fs::write(&journal, begun.replace("\"depth\":60", "\"depth\":3")).unwrap();
    let (_, err, code) = run(&arguments);
    assert_eq!(code, 0, "{err}");
    let without_time = |text: &str| text.split(",\"ms\"").next().unwrap().to_owned();
    assert_eq!(without_time(&fs::read_to_string(&output).unwrap()), without_time(&whole));
}

#[test]
fn after_checkmate_a_move_has_no_score() {
    let folder = home();
    let file = folder.path().join("mate.pgn");
    fs::write(&file, "1. f3 e5 2. g4 Qh4# 0-1\n").unwrap();
    let (out, err, code) = run(&["analyse", file.to_str().unwrap(), "--depth", "3", "--json", "-"]);
    assert_eq!(code, 0, "{err}");
    let json = json(&out);
    assert!(json["moves"][3]["score"].is_null() && json["moves"][2]["score"]["mate"] == -1, "{json}");
}

#[test]
fn mates_by_black_are_counted_like_those_by_white() {
    let folder = home();
    let file = folder.path().join("mates.pgn");
    let game = |fen: &str, moves: &str| format!("[FEN \"{fen}\"]\n[Result \"*\"]\n\n{moves} *\n\n");
    let text = game("7K/8/5k2/8/8/8/8/6r1 w - - 0 1", "1. Kh7 Kf7 2. Kh8 Kf8")
        + &game("6R1/8/8/8/8/5K2/8/7k b - - 0 1", "1... Kh2 2. Kf2 Kh1 3. Kf1");
    fs::write(&file, text).unwrap();
    let (out, err, code) = run(&["analyse", file.to_str().unwrap(), "--depth", "8", "--pgn", "-"]);
    assert_eq!(code, 0, "{err}");
    let evals = |game: &str| -> Vec<String> {
        game.split("[%eval ").skip(1).map(|rest| rest.split(']').next().unwrap().to_owned()).collect()
    };
    let games: Vec<Vec<String>> = out.split("[FEN ").skip(1).map(evals).collect();
    for (ply, moves) in [(0, 3), (2, 1)] {
        assert_eq!(games[0][ply], format!("#-{moves}"), "{out}");
        assert_eq!(games[1][ply], format!("#{moves}"), "{out}");
    }
}

#[test]
fn who_stops_reading_leaves_the_files_to_be_finished() {
    let (folder, path) = files();
    let games = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n".repeat(30);
    fs::write(path("games.pgn"), format!("1. e5 *\n\n{games}")).unwrap();
    let output = path("out.jsonl");
    let closed = || std::io::pipe().unwrap().1;
    let status = command(&folder)
        .args(["analyse", &path("games.pgn"), "--depth", "4", "--json", &output])
        .stdout(closed())
        .stderr(closed())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3), "nobody hears that the first game is skipped");
    assert_eq!(fs::read_to_string(&output).unwrap().lines().count(), 30);
    assert!(!Path::new(&path("out.jsonl.unfinished")).exists());
}

/// The first move of a position's best line.
fn best(json: &str) -> String {
    let json = self::json(json);
    json["lines"][0]["pv"][0].as_str().unwrap_or_else(|| panic!("{json}")).to_owned()
}

#[test]
fn a_learning_file_is_read_and_only_on_demand_written() {
    let (_folder, path) = files();
    let file = path("advice.bin");
    // Whatever is best is said to lose: another move is found.
    let position = ["analyse", "startpos", "--depth", "6", "--threads", "1", "--json", "-"];
    let usual = best(&run(&position).0);
    let start = Position::default();
    let usual_move =
        start.legal_moves().into_iter().find(|m| m.to_uci(CastlingMode::Standard).to_string() == usual);
    let after = start.play(usual_move.expect("a legal move"));
    let reply = after.legal_moves()[0].to_uci(CastlingMode::Standard).to_string();
    succeed(&["learn", "advise", &after.fen(), &reply, "900", "--file", &file]);
    let before = fs::read(&file).unwrap();
    assert_ne!(best(&run(&[&position[..], &["--learn", &file]].concat()).0), usual);
    assert_eq!(fs::read(&file).unwrap(), before, "not a byte is written");

    // Every position of the game but the mate is remembered, once, and what is expected after it.
    let (games, notes) = (path("mate.pgn"), path("notes.bin"));
    fs::write(&games, "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n").unwrap();
    let arguments = ["analyse", &games, "--depth", "6", "--learn", &notes];
    refused(&arguments, "there is no learning file");
    let out = succeed(&[&arguments[..], &["--write"]].concat());
    assert!(out.contains(&format!(" records in {notes}, 0 before")), "{out}");
    let (listed, _, _) = run(&["learn", "list", "--file", &notes, "--json"]);
    assert_eq!(listed.matches("\"since_root\":0").count(), 7, "{listed}");
    let (listed, _, _) = run(&["learn", "list", "--file", &notes]);
    assert!(listed.contains("Qxf7#") && listed.contains("+mate1"), "{listed}");
    let (out, _, _) = run(&arguments);
    assert!(out.contains(" records in") && out.contains("only read"), "{out}");
    assert_eq!(run(&["analyse", &games, "--write"]).2, 2, "nowhere to write");
    refused(&["analyse", &games, "--learn", &games], "is not a learning file");
}

#[test]
fn tablebases_are_asked() {
    let draw = ["analyse", "8/8/8/3kn3/8/8/3K4/7R w - - 0 1", "--depth", "6"];
    if let Some(folder) = shared("syzygy") {
        let out = succeed(&[&draw[..], &["--syzygy", folder.to_str().unwrap()]].concat());
        assert!(out.lines().nth(2).unwrap().trim_start().starts_with("+0.00 "), "rook against knight: {out}");
        let (out, _, _) = run(&draw);
        assert!(
            !out.lines().nth(2).unwrap().trim_start().starts_with("+0.00 "),
            "without it is not known: {out}"
        );
        let both = format!("/no/such/folder:{}", folder.display());
        let (_, err, code) = run(&[&draw[..], &["--syzygy", &both]].concat());
        assert!(code == 0 && err.contains("/no/such/folder cannot be read"), "{err}");
    }
    refused(
        &[&draw[..], &["--syzygy", "/no/such/folder"]].concat(),
        "the tablebase folder /no/such/folder cannot be read",
    );
}
