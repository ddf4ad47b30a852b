//! `engram learn prove` as a user runs it: the binary against itself, at so few nodes that a game takes no time.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::common::{self, command, finish, home, until};

/// Positions of our own in which somebody stands better.
const OPENINGS: &str = "\
r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P1B2/2P1PN2/PP1N1PPP/R2QKB1R b KQkq - 0 6
r1bqk2r/pppp1ppp/2n5/2b5/2BPn3/5N2/PP3PPP/RNBQ1RK1 b kq - 0 7
rnbqk2r/pp2ppbp/6p1/2p5/3PP3/2P5/P4PPP/R1BQKBNR w KQkq - 1 8
";

/// The tool in `home`, with the binary as its own, stronger, opponent.
fn prove(home: &TempDir, out: &str, more: &[&str]) -> Command {
    fs::write(home.path().join("openings.epd"), OPENINGS).expect("written");
    let mut command = command(home);
    command.args(["learn", "prove", "--openings", "openings.epd", "--out", out]);
    command.args(["--opponent", env!("CARGO_BIN_EXE_engram"), "--option", "Learning=off"]);
    command.args(["--own-option", "LearnMinDepth=3", "--nodes", "500", "--opponent-nodes", "1500"]);
    if !more.contains(&"--rounds") {
        command.args(["--rounds", "3"]);
    }
    command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What must not depend on how an experiment was run.
fn results(folder: &Path) -> [String; 4] {
    ["results.txt", "rounds.csv", "games.pgn", "score.svg"]
        .map(|name| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[test]
fn an_experiment_is_the_same_interrupted_or_not_and_however_many_games_run_at_once() {
    let home = home();
    // What a user may have in the folder stays.
    fs::create_dir_all(home.path().join("whole/work/mine")).expect("a folder");
    let (stdout, stderr, code) = finish(&mut prove(&home, "whole", &[]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let whole = results(&home.path().join("whole"));
    let [text, rounds, pgn, svg] = &whole;
    assert!(stdout.contains(text.trim_end()), "{stdout}");
    // 3 openings, 2 colours, 3 arms, 3 rounds.
    assert_eq!(pgn.matches("[Event ").count(), 54);
    assert_eq!(rounds.lines().count(), 1 + 9 + 3);
    assert!(svg.starts_with("<svg") && svg.matches("<polyline").count() == 3);
    assert!(text.contains("No crash, illegal move or time loss."), "{text}");
    let facts = |arm: &str| -> Vec<[&str; 3]> {
        let rows = rounds.lines().map(|line| line.split(',').collect::<Vec<_>>());
        // Records, cutoffs, depth.
        rows.filter(|row| row[2] == arm).map(|row| [21, 24, 25].map(|column| row[column])).collect()
    };
    let learned = facts("learn");
    assert!(learned.iter().any(|[records, ..]| *records != "0"), "nothing was learned:\n{rounds}");
    assert!(learned.iter().any(|[_, cutoffs, _]| *cutoffs != "0"), "nothing learned was used:\n{rounds}");
    // Engines without memory play the same games again, one that has learned does not.
    assert_ne!(learned[0], learned[1]);
    assert!(facts("off").iter().all(|row| row[..2] == ["0", "0"]), "{rounds}");
    let off = pgn.split("[Event ").filter(|game| game.contains("\"Engram (off)\""));
    let off: Vec<_> = off.filter_map(|game| game.split_once("\n\n")).map(|(_, moves)| moves).collect();
    assert_eq!(off[..6], off[6..12]);
    let folders = fs::read_dir(home.path().join("whole")).expect("a folder").flatten();
    let folders: Vec<_> =
        folders.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name()).collect();
    assert!(folders == ["work"] && home.path().join("whole/work/mine").exists(), "its files are removed");

    // Killed in the middle, twice, then finished, two games at a time. What it has written beyond that is cut off,
    // in the middle of a line, as a loss of power would leave it: so nothing depends on when it was killed.
    let folder = home.path().join("torn");
    let journal = folder.join("journal.jsonl");
    for games in [7, 20] {
        let mut child = prove(&home, "torn", &["--concurrency", "2", "--rounds", "1000"])
            .spawn()
            .expect("the binary starts");
        let mut text = String::new();
        until("it plays more games", || {
            assert_eq!(child.try_wait().expect("a child"), None, "it plays no more games: {text}");
            text = fs::read_to_string(&journal).unwrap_or_default();
            text.lines().count() > games + 1
        });
        child.kill().expect("it runs");
        child.wait().expect("a child");
        let kept: usize = text.split_inclusive('\n').take(games + 1).map(str::len).sum();
        fs::write(&journal, &text[..kept - 100]).expect("written");
    }
    let (stdout, stderr, code) = finish(&mut prove(&home, "torn", &["--concurrency", "2"]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.starts_with("resuming after "), "{stdout}");
    assert_eq!(results(&folder), whole);

    // Other settings are another experiment.
    let before = fs::read(&journal).expect("a journal");
    let (_, stderr, code) = finish(&mut prove(&home, "torn", &["--seed", "2"]));
    assert_eq!(code, 1);
    assert!(
        stderr.contains("seed") && stderr.contains("--out") && !stderr.contains("unfinished"),
        "{stderr}"
    );
    assert_eq!(fs::read(&journal).expect("a journal"), before);
}

#[test]
fn files_of_others_are_not_overwritten() {
    let home = home();
    for (name, text) in
        [("games.pgn", "mine"), ("journal.jsonl", "{\"mine\":1}\n"), ("journal.jsonl", "mine\n")]
    {
        let folder = home.path().join("taken");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(name), text).expect("written");
        let (_, stderr, code) = finish(&mut prove(&home, "taken", &[]));
        assert!(code == 1 && stderr.contains(name), "{stderr}");
        assert_eq!(fs::read_to_string(folder.join(name)).expect("it is there"), text);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }
    // One that has played nothing gives way to the right one.
    let (_, stderr, code) = finish(&mut prove(&home, "again", &["--option", "Hush=1"]));
    assert!(code == 1 && home.path().join("again/journal.jsonl").exists(), "{stderr}");
    let (_, stderr, code) = finish(&mut prove(&home, "again", &["--take", "1"]));
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn what_cannot_be_played_is_said() {
    let home = home();
    let refused = |more: &[&str], expected: &str| {
        let (_, stderr, code) = finish(&mut prove(&home, "refused", more));
        assert!(code == 1 && stderr.contains(expected), "{more:?}: {code} {stderr}");
    };
    refused(&["--option", "Hush=1"], "has no option Hush");
    fs::write(home.path().join("bad.epd"), "rnbqkbnr/8/8 w - -\n").expect("written");
    let mut command = command(&home);
    command.args(["learn", "prove", "--rounds", "1", "--nodes", "9", "--opponent-nodes", "9"]);
    command.args(["--openings", "bad.epd", "--opponent", "no-such-engine", "--out", "refused-too"]);
    let (_, stderr, code) = finish(&mut command);
    assert!(code == 1 && stderr.contains("line 1 of bad.epd"), "{stderr}");
    for missing in [&["--nodes", "9"][..], &["--tc", "1+0", "--nodes", "9", "--opponent-nodes", "9"]] {
        let mut command = common::command(&home);
        command
            .args(["learn", "prove", "--opponent", "x", "--openings", "bad.epd", "--rounds", "1"])
            .args(missing);
        assert_eq!(finish(&mut command).2, 2, "{missing:?}");
    }
}

/// The command of a script that speaks just enough UCI, and knows more `words`. It need not be executable: some temporary folders forbid that.
#[cfg(unix)]
fn script(home: &TempDir, name: &str, words: &str, answer: &str) -> String {
    let path = home.path().join(name);
    let text = format!(
        "while read -r word rest; do case \"$word\" in\n{words}uci) echo uciok;;\nisready) echo readyok;;\n\
         go) {answer};;\nquit) exit;;\nesac; done\n"
    );
    fs::write(&path, text).expect("written");
    // Commands run in the folder of the script.
    format!("sh {name}")
}

#[cfg(unix)]
#[test]
fn crashes_illegal_moves_and_time_losses_are_what_they_are() {
    for (name, answer, pace, ending) in [
        ("crash", "exit 3", &["--nodes", "50", "--opponent-depth", "1"][..], "crash"),
        ("illegal", "echo bestmove e2e5", &["--nodes", "50", "--opponent-nodes", "1"], "illegal move"),
        ("none", "echo bestmove 0000", &["--nodes", "50", "--opponent-nodes", "1"], "illegal move"),
        ("late", "sleep 6; echo bestmove e2e5", &["--tc", "5+0", "--concurrency", "4"], "time loss"),
    ] {
        let home = home();
        let opponent = script(&home, name, "", answer);
        fs::write(home.path().join("openings.epd"), OPENINGS).expect("written");
        let mut command = command(&home);
        command.args(["learn", "prove", "--openings", "openings.epd", "--take", "1", "--rounds", "1"]);
        command.args(["--arms", "off,learn", "--out", "out", "--opponent", &opponent]).args(pace);
        let (stdout, stderr, code) = finish(&mut command);
        assert_eq!(code, 0, "{stderr}");
        let games = fs::read_to_string(home.path().join("out/games.pgn")).expect("results");
        for game in games.split("[Event ").skip(1) {
            let won = if game.contains("[White \"Engram ") { "1-0" } else { "0-1" };
            for tag in [format!("[Result \"{won}\"]"), format!("[Termination \"{ending}\"]")] {
                assert!(game.contains(&tag), "{name}: {game}");
            }
        }
        assert!(stdout.contains("Engram 0, the opponent 4"), "{stdout}");
    }
}

#[cfg(unix)]
#[test]
fn openings_of_chess960_need_an_opponent_that_plays_it() {
    let home = home();
    fs::write(home.path().join("openings.epd"), "4k3/8/8/8/8/8/4PPPP/1K5R w H -\n").expect("written");
    let answer = "echo bestmove ${castling:-b1g1}";
    let words = "uci) echo option name UCI_Chess960 type check default false; echo uciok;;\n\
                 setoption) [ \"$rest\" = 'name UCI_Chess960 value true' ] && castling=b1h1;;\n";
    let play = |out: &str, opponent: &str| {
        let mut command = command(&home);
        command.args(["learn", "prove", "--openings", "openings.epd", "--rounds", "1", "--arms", "off"]);
        command.args(["--nodes", "50", "--opponent-nodes", "1", "--out", out, "--opponent", opponent]);
        finish(&mut command)
    };
    let (_, stderr, code) = play("refused", &script(&home, "chess", "", answer));
    assert!(code == 1 && stderr.contains("UCI_Chess960, which openings of Chess960 need"), "{stderr}");
    let (_, stderr, code) = play("played", &script(&home, "chess960", words, answer));
    assert_eq!(code, 0, "{stderr}");
    let games = fs::read_to_string(home.path().join("played/games.pgn")).expect("results");
    assert!(games.contains("1. O-O") && games.matches("[Variant \"Chess960\"]").count() == 2, "{games}");
}

#[cfg(unix)]
#[test]
fn the_user_is_told_what_is_waited_for() {
    use std::io::{BufRead, BufReader};
    let home = home();
    // It answers, but not as a UCI engine does.
    fs::write(home.path().join("openings.epd"), OPENINGS).expect("written");
    let mut command = command(&home);
    command.args(["learn", "prove", "--openings", "openings.epd", "--rounds", "1", "--opponent", "cat"]);
    command.args(["--nodes", "9", "--opponent-nodes", "9"]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let said = lines.next().expect("a line").expect("text");
    child.kill().expect("it waits");
    child.wait().expect("a child");
    assert!(said.contains("waiting") && said.contains("cat") && said.contains("`uci`"), "{said}");
}

#[test]
fn without_a_lost_game_nothing_is_said_of_the_next() {
    let home = home();
    let (stdout, stderr, code) =
        finish(&mut prove(&home, "short", &["--rounds", "1", "--arms", "off", "--take", "1"]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("After a lost game off scores - in the next of 0."), "{stdout}");
}

#[test]
fn lost_games_are_studied_in_an_arm_of_their_own() {
    let home = home();
    let arms = ["--arms", "off,study", "--study-nodes", "2000", "--rounds", "2", "--concurrency"];
    let text = |out, games| {
        let (stdout, stderr, code) = finish(&mut prove(&home, out, &[&arms[..], &[games]].concat()));
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        results(&home.path().join(out))
    };
    let one = text("one", "1");
    let after = one[0].lines().find(|line| line.starts_with("After a lost game study scores"));
    assert!(after.is_some_and(|line| line.contains("games were studied with")), "{}", one[0]);
    assert_eq!(text("three", "3"), one, "however many games run at once");
}
