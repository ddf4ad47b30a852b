//! Trees: grown, shown, played from, by the real binary; killed, shared, full and damaged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use engram::{
    Position,
    tree::{Access, ForSides, Tree},
};
use tempfile::TempDir;

use super::search;
use crate::common::{self, Engine, command, finish, info_strings, is_full, until};

struct Place {
    home: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { home: common::home() }
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("t.db")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.home);
        command.args(["tree", "t.db"]).args(arguments);
        command
    }

    /// Runs `engram tree t.db …` and gives its standard output.
    fn run(&self, arguments: &[&str]) -> String {
        let (out, err, code) = finish(&mut self.command(arguments));
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}: {out}");
        out
    }

    /// Runs it and gives the sentence with which it fails.
    fn fails(&self, arguments: &[&str]) -> String {
        let (out, err, code) = finish(&mut self.command(arguments));
        assert_eq!(code, 1, "{arguments:?}: {out}{err}");
        assert!(err.lines().count() == 1 && !err.contains("panic"), "{err}");
        err
    }

    fn grower(&self, nodes: &str) -> Child {
        let mut command = self.command(&["grow", "--threads", "2", "--nodes", nodes]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    fn searched(&self) -> u64 {
        Tree::open(&self.file(), Access::Read).and_then(|tree| tree.size()).expect("readable").searched
    }
}

fn sides() -> ForSides {
    ForSides { white: true, black: true }
}

/// A tree in which a search to depth 40 has found these moves at the start.
fn tree_with(path: &Path, moves: &[(i32, &str)]) {
    let mut tree = Tree::open(path, Access::Create).expect("a tree");
    tree.add_root(&Position::default(), sides()).expect("written");
    search(&mut tree, "", 40, moves);
}

#[test]
fn a_process_that_opens_a_tree_again_keeps_its_locks() {
    // POSIX takes all locks of a process from a file when that process closes any handle of it.
    let place = Place::new();
    let mut tree = Tree::open(&place.file(), Access::Create).expect("made");
    drop(Tree::open(&place.file(), Access::Read).expect("a tree"));
    // Whoever closes the file last removes the log that `tree` still writes to.
    place.run(&["focus"]);
    tree.add_root(&Position::default(), sides()).expect("written");
    place.run(&["show"]);
}

#[test]
fn a_tree_grows_and_shows_what_it_found() {
    let place = Place::new();
    assert!(place.run(&["add", "startpos", "e4", "c5"]).contains("the tree for White and Black has"));
    let added = place.run(&["add", "startpos", "e4", "c5", "--for", "black"]);
    assert!(added.contains("the tree for Black has 1 position, "), "a slip is corrected: {added}");
    let grown = place.run(&["grow", "--positions", "12", "--nodes", "3000", "--threads", "2"]);
    assert!(grown.contains("12 searches in ") && grown.contains("for Black: "), "{grown}");
    let shown = place.run(&["show"]);
    assert!(shown.contains("Sicilian Defense") && shown.contains(" below; "), "{shown}");
    assert!(shown.contains(" (UTC)\n"), "{shown}");
    let rows = |text: &str| text.lines().count();
    assert_eq!(rows(&shown), rows(&place.run(&["show", "e4", "c5"])), "the only root is shown");
    assert!(place.run(&["check"]).contains("is sound"));
    assert!(place.fails(&["show", "d4"]).contains("not in the tree"));
    assert!(place.fails(&["show", "e5"]).contains("e5"));
    assert!(place.run(&["exclude", "e4", "c5", "Nf3"]).contains("Nf3 is excluded"));
    assert!(place.run(&["show"]).contains("excluded"));
    assert!(place.fails(&["exclude", "d4"]).contains("not in the tree"));
    assert!(
        place.fails(&["add", "t.db"]).contains("would overwrite the input"),
        "it is not read beside SQLite"
    );
    assert!(place.run(&["focus", "e4", "c5"]).contains("here alone"));
    // Nothing is left where the game is over.
    let mate = ["f3", "e5", "g4", "Qh4#"];
    place.run(&[&["add"], &mate[..], &["--for", "both"]].concat());
    place.run(&[&["focus"], &mate[..]].concat());
    let grown = place.run(&["grow", "--nodes", "100"]);
    assert!(grown.contains("nothing is left to search below the focus"), "{grown}");
}

#[test]
fn a_tree_for_one_side_stays_one() {
    let place = Place::new();
    place.run(&["add", "e4", "c6", "--for", "black"]);
    let add = ["add", "e4", "c6", "d4", "d5", "e5"];
    let added = place.run(&add);
    assert!(added.contains("; the tree for Black has"), "{added}");
    assert!(place.run(&["prefer", "e4", "c6", "d4", "d5", "e5", "Bf5"]).contains("Bf5 is preferred"));
    let added = place.run(&[&add[..], &["--for", "both"]].concat());
    assert!(added.contains("; the tree for White and Black has"), "{added}");
}

#[test]
fn games_are_added_once_and_those_of_one_player() {
    let place = Place::new();
    let pgn = "[White \"Ada\"]\n[Black \"Bob\"]\n[Result \"0-1\"]\n\n1. e4 c5 2. Nf3 d6 0-1\n\n\
               [White \"Cid\"]\n[Black \"Dan\"]\n[Result \"1-0\"]\n\n1. d4 d5 1-0\n";
    fs::write(place.home.path().join("games.pgn"), pgn).expect("a file");
    let refused = place.fails(&["add", "games.pgn", "--player", "Nobody"]);
    assert!(refused.contains("no game has a player Nobody; there are Ada; Bob; Cid; Dan"), "{refused}");
    assert!(place.fails(&["add", "none.bin"]).contains("none.bin"));
    fs::write(place.home.path().join("text.bin"), "no book").expect("a file");
    place.fails(&["add", "startpos", "text.bin"]);
    fs::create_dir(place.home.path().join("empty")).expect("made");
    assert!(place.fails(&["add", "empty"]).contains("is a folder without .pgn"));
    let refused = place.fails(&["add", ".", "--player", "Nobody"]);
    assert!(refused.contains("no game has a player Nobody"), "{refused}");
    assert!(!place.file().exists(), "nothing was made");
    let added = place.run(&["add", "games.pgn", "--player", "ada", "--for", "black"]);
    assert!(
        added.contains("0 positions added (1 game with the other side, 1 game of other players)"),
        "{added}"
    );
    let added = place.run(&["add", "games.pgn", "--player", "ada"]);
    assert!(added.contains("5 positions added (1 game, 1 game of other players)"), "{added}");
    assert!(place.run(&["add", "games.pgn"]).contains("2 positions added (1 game, 1 game known before)"));
    let shown = place.run(&["show"]);
    assert!(shown.contains("not searched yet"), "{shown}");
}

#[test]
fn variations_are_added_with_their_game() {
    let place = Place::new();
    let pgn = "[White \"Ada\"]\n[Black \"Bob\"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3 *\n\n\
               [White \"Cid\"]\n[Black \"Dan\"]\n\n1. d4 d5 (1... Nf6) *\n";
    fs::write(place.home.path().join("games.pgn"), pgn).expect("a file");
    let added = place.run(&["add", "games.pgn", "--player", "ada", "--plies", "3"]);
    assert!(added.contains("7 positions added (1 game, 1 game of other players, 2 variations)"), "{added}");
    let again = place.run(&["add", "games.pgn", "--player", "ada"]);
    assert!(again.contains("1 position added (1 game known before, 1 game of other players, 2 v"), "{again}");
    let shown = place.run(&["show", "e4", "c5"]);
    assert!(shown.contains("\nNf3 ") && shown.contains("\nc3 ") && shown.contains(" 1 +0 -0"), "{shown}");
}

#[test]
fn a_book_for_one_side_is_added() {
    let place = Place::new();
    let pgn = "1. e4 e5 2. Nf3 Nc6 1/2-1/2\n\n1. e4 c5 2. c3 1/2-1/2\n";
    fs::write(place.home.path().join("games.pgn"), pgn).expect("a file");
    for side in ["white", "black"] {
        let make = ["book", "make", "games.pgn", "--color", side, "-o", "side.bin", "--force"];
        let (_, err, code) = finish(command(&place.home).args(make));
        assert_eq!(code, 0, "{err}");
        let (out, err, code) = finish(command(&place.home).args(["book", "stats", "side.bin"]));
        assert!(code == 0 && out.contains("6 positions can be reached"), "{side}: {out}{err}");
        let tree = format!("{side}.db");
        let (out, err, code) = finish(command(&place.home).args(["tree", &tree, "add", "side.bin"]));
        assert!(code == 0 && out.contains("6 positions added; "), "{side}: {out}{err}");
    }
}

#[test]
fn a_player_is_named_by_whole_words() {
    let place = Place::new();
    let game = |white: &str, black: &str| {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"1-0\"]\n\n1. e4 c5 1-0\n\n")
    };
    let pgn = [game("Bo", "Kim"), game("Al", "Kimura"), game("Cy", "Kim, Bo")].concat();
    fs::write(place.home.path().join("games.pgn"), pgn).expect("a file");
    let added = place.run(&["add", "games.pgn", "--player", "kim"]);
    assert!(added.contains("(2 games, 1 game of other players)"), "{added}");
    let added = place.run(&["add", "games.pgn", "--player", "Bo Kim"]);
    assert!(
        added.contains("(1 game known before, 2 games of other players); the tree for Black has"),
        "{added}"
    );
}

#[test]
fn growing_and_showing_see_a_position_from_the_same_side() {
    let place = Place::new();
    place.run(&["add", "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 b - - 0 1"]);
    let grown = place.run(&["grow", "--positions", "1", "--nodes", "500"]);
    let score = |text: &str| {
        let at = text.find(" at depth").expect("a score");
        text[..at].rsplit([' ', '\n']).next().map(str::to_owned)
    };
    assert_eq!(score(&grown), score(&place.run(&["show"])));
    assert!(grown.contains("for White and Black: "), "{grown}");
}

#[test]
fn a_copy_with_comments_is_the_same_game_and_a_name_is_taken_word_by_word() {
    let place = Place::new();
    let game = "[Event \"A\"]\n[White \"engram\"]\n[Black \"engram-old\"]\n[Result \"0-1\"]\n";
    let file = |name: &str, text: String| fs::write(place.home.path().join(name), text).expect("a file");
    file("a.pgn", format!("{game}\n1. f3 e5 2. g4 Qh4# 0-1\n"));
    file(
        "b.pgn",
        format!("{game}[ECO \"A00\"]\n[Annotator \"Engram\"]\n\n1. f3 {{bad}} e5 2. g4 $4 Qh4# 0-1\n"),
    );
    let added = place.run(&["add", "a.pgn", "--player", "ENGRAM"]);
    assert!(added.contains("5 positions added (1 game)"), "{added}");
    assert!(place.run(&["add", "b.pgn", "--player", "engram"]).contains("(1 game known before)"));
    assert!(place.run(&["grow", "--positions", "1", "--nodes", "100"]).contains("for White: "));
    let shown = place.run(&["show", "f3"]);
    assert!(shown.contains("not searched yet") && shown.contains("1 +1 -0"), "{shown}");
}

#[test]
fn a_tree_with_several_roots_names_them() {
    let place = Place::new();
    let fens = ["8/8/8/8/8/5k2/5p2/5K2 w - - 0 1", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"];
    for fen in fens {
        place.run(&["add", fen]);
    }
    let said = place.fails(&["show"]);
    assert!(said.contains("begin with one of them") && fens.iter().all(|fen| said.contains(fen)), "{said}");
    assert!(place.run(&["show", fens[0]]).contains("stalemate"));
    let grown = place.run(&["grow", "--positions", "2", "--nodes", "100"]);
    assert!(grown.contains(&format!("for White and Black, from {}: ", fens[1])), "{grown}");
}

#[test]
fn the_beginning_knows_what_was_found_in_a_line_that_was_gone_into() {
    let place = Place::new();
    // Mate in two moves begins with a sacrifice that a search of 60 nodes does not see.
    let fen = "r1b2k1r/ppp1bppp/8/1B1Q4/5q2/2P5/PPP2PPP/R3R1K1 w - - 1 0";
    place.run(&["add", fen, "--for", "white"]);
    place.run(&["grow", "--positions", "1", "--nodes", "60"]);
    let shown = place.run(&["show"]);
    assert!(shown.contains("at depth 1, ") && !shown.contains('#'), "{shown}");
    place.run(&["add", &format!("{fen} Qd8+"), "--for", "white"]);
    place.run(&["focus", fen, "Qd8+"]);
    place.run(&["grow", "--positions", "1", "--nodes", "2000"]);
    let shown = place.run(&["show", fen]);
    assert!(shown.contains("#2 at depth") && shown.contains(", -") && shown.contains("\nQd8+ "), "{shown}");
}

#[test]
fn what_was_analysed_with_a_hash_file_is_taken_in() {
    let place = Place::new();
    let with_file = |name: &str, option: &str| {
        let mut engine = Engine::with(&[option]);
        engine.send("setoption name UCI_AnalyseMode value true");
        engine.send("setoption name HashFileSize value 1");
        engine.send(&format!("setoption name HashFile value {}", place.home.path().join(name).display()));
        engine.sync();
        engine
    };
    let mut engine = with_file("analysis.hash", "Evaluation value classical");
    let mut analyse = |moves: &str| engine.search(&format!("startpos{moves}"), "go depth 7").0;
    analyse("");
    let best = analyse(" moves e2e4 e7e5");
    analyse(&format!(" moves e2e4 e7e5 {best}"));
    analyse(" moves a2a3 a7a6 a3a4");
    engine.quit();
    let added = place.run(&["add", "analysis.hash", "startpos", "e4"]);
    assert_eq!(
        added,
        "3 positions added (2 searches); the tree for White and Black has 3 positions, 2 searched\n"
    );
    // Its best move was searched to depth 7.
    assert!(place.run(&["show", "e4", "e5"]).contains(" at depth 8, "));
    assert!(place.run(&["show", "e4", "e5", &best]).contains(" at depth 7, "));
    assert!(place.fails(&["show", "a3", "a6", "a4"]).contains("not in the tree"));
    assert!(place.run(&["add", "analysis.hash"]).starts_with("0 positions added; "));
    with_file("free.hash", "Syzygy50MoveRule value false").quit();
    let refused = place.fails(&["add", "free.hash"]);
    assert!(refused.contains("written with Syzygy50MoveRule false"), "{refused}");
}

#[test]
fn its_move_is_played_and_in_analysis_only_shown() {
    let place = Place::new();
    tree_with(&place.file(), &[(80, "a2a4"), (30, "e2e4")]);
    let mut engine = Engine::ready();
    let file = place.file();
    let opened = engine.answer(&format!("setoption name TreeFile value {}", file.display()));
    assert!(info_strings(&opened)[0].ends_with(": 1 search"), "{opened:?}");
    let (best, lines) = engine.search("startpos", "go depth 6");
    assert_eq!(
        (best.as_str(), info_strings(&lines).contains(&"tree: cp 80, 40 plies deep: a2a4")),
        ("a2a4", true),
        "{lines:?}"
    );
    engine.send("setoption name UCI_AnalyseMode value true");
    let (best, lines) = engine.best("go depth 6");
    assert!(
        best != "a2a4" && info_strings(&lines).iter().any(|told| told.starts_with("tree: ")),
        "{best}: {lines:?}"
    );
    engine.send("setoption name UCI_AnalyseMode value false");
    engine.send("setoption name TreeFile value");
    let (best, lines) = engine.best("go depth 6");
    assert!(
        best != "a2a4" && !info_strings(&lines).iter().any(|told| told.starts_with("tree")),
        "{best}: {lines:?}"
    );
    engine.quit();
}

#[test]
fn a_move_that_is_left_out_is_not_played_even_if_no_other_is_known() {
    let place = Place::new();
    tree_with(&place.file(), &[(80, "a2a4")]);
    place.run(&["exclude", "a4"]);
    let mut engine = Engine::ready();
    engine.send(&format!("setoption name TreeFile value {}", place.file().display()));
    let (_, lines) = engine.search("startpos", "go depth 4");
    assert!(!info_strings(&lines).iter().any(|told| told.starts_with("tree: ")), "{lines:?}");
    engine.quit();
}

#[test]
fn a_move_that_repeats_a_position_of_the_game_is_not_the_tree_s() {
    let place = Place::new();
    let mut tree = Tree::open(&place.file(), Access::Create).expect("a tree");
    tree.add_root(&Position::default(), sides()).expect("written");
    // The best move of each position leads round.
    for (path, best) in [("", "g1f3"), ("g1f3", "g8f6"), ("g1f3 g8f6", "f3g1"), ("g1f3 g8f6 f3g1", "f6g8")] {
        search(&mut tree, path, 40, &[(90, best)]);
    }
    drop(tree);
    let mut engine = Engine::ready();
    engine.send(&format!("setoption name TreeFile value {}", place.file().display()));
    let (_, lines) = engine.search("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6", "go depth 4");
    assert!(!info_strings(&lines).iter().any(|told| told.starts_with("tree: ")), "{lines:?}");
    let (_, lines) = engine.search("startpos moves g1f3", "go depth 4");
    assert!(info_strings(&lines).iter().any(|told| told.starts_with("tree: ")), "{lines:?}");
    engine.quit();
}

#[test]
fn a_killed_grower_loses_nothing_but_the_searches_under_way() {
    let place = Place::new();
    place.run(&["add", "startpos"]);
    let mut known = 0;
    let kills = if is_full() { 100 } else { 6 };
    for _ in 0..kills {
        let mut grower = place.grower("500");
        until("it grows", || place.searched() >= known + 3);
        let before = place.searched();
        grower.kill().and_then(|()| grower.wait()).expect("a child");
        known = place.searched();
        assert!(known >= before);
        assert!(place.run(&["check"]).contains("is sound"));
    }
}

#[cfg(unix)]
#[test]
fn a_tree_that_is_removed_while_it_grows_is_missed() {
    let place = Place::new();
    place.run(&["add", "startpos"]);
    let mut command = place.command(&["grow", "--threads", "2", "--nodes", "500"]);
    let grower = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("it grows", || place.searched() >= 1);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(place.home.path().join(format!("t.db{suffix}")));
    }
    common::signal(grower.id(), rustix::process::Signal::INT);
    let ended = grower.wait_with_output().expect("a child");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && err.contains("t.db is no longer there"), "{err}");
}

#[test]
fn two_growers_search_each_position_once() {
    let place = Place::new();
    place.run(&["add", "startpos"]);
    place.run(&["grow", "--positions", "1", "--nodes", "500"]);
    let growers: Vec<Child> = (0..2)
        .map(|_| {
            let mut command =
                place.command(&["grow", "--positions", "20", "--nodes", "500", "--threads", "2"]);
            command.stdout(Stdio::null()).spawn().expect("it starts")
        })
        .collect();
    for mut grower in growers {
        assert!(grower.wait().expect("a child").success());
    }
    let database = rusqlite::Connection::open(place.file()).expect("a database");
    let count = |query: &str| database.query_row(query, [], |row| row.get::<_, i64>(0)).expect("a number");
    assert_eq!(count("SELECT count(*) FROM positions"), 41, "all searches are there");
    assert_eq!(count("SELECT count(*) FROM claims"), 0);
    let doubles = "SELECT count(*) FROM (SELECT p.fen, count(l.rank) AS lines FROM positions p JOIN lines l \
                   ON l.position = p.id GROUP BY p.id) GROUP BY fen, lines HAVING count(*) > 1";
    let doubles = database.prepare(doubles).and_then(|mut query| query.exists([])).expect("readable");
    assert!(!doubles, "the same position with as many lines");
    assert!(place.run(&["check"]).contains("is sound"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_growth_with_a_sentence_and_loses_nothing() {
    let place = Place::new();
    place.run(&["add", "startpos"]);
    place.run(&["grow", "--positions", "10", "--nodes", "500"]);
    let known = place.searched();
    let limit = fs::metadata(place.file()).expect("a file").len() / 512;
    let line = format!("trap '' XFSZ; ulimit -f {limit}; exec $E tree t.db grow --positions 500 --nodes 500");
    let (out, err, code) = common::shell(&place.home, &line);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.lines().count() == 1 && err.contains("t.db"), "{err}");
    assert!(place.searched() >= known);
    assert!(place.run(&["check"]).contains("is sound"));
}

#[cfg(unix)]
#[test]
fn who_may_write_to_a_new_tree_is_for_the_umask_to_say() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (_, err, code) = common::shell(&place.home, "umask 002; $E tree t.db add startpos");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(fs::metadata(place.file()).expect("a file").permissions().mode() & 0o777, 0o664);
}

#[test]
fn a_damaged_tree_is_told_and_nothing_panics() {
    let place = Place::new();
    place.run(&["add", "startpos"]);
    place.run(&["grow", "--positions", "30", "--nodes", "500"]);
    let sound = fs::read(place.file()).expect("a file");
    let mut told = 0;
    let pages = (1..sound.len() / 4096).step_by(5);
    let count = pages.len();
    for page in pages {
        let mut damaged = sound.clone();
        damaged[page * 4096..page * 4096 + 600].fill(0xA5);
        fs::write(place.file(), damaged).expect("written");
        let (_, err, code) = finish(&mut place.command(&["check"]));
        assert!(!err.contains("panic"), "{err}");
        told += usize::from(code == 1);
        for arguments in [&["show"][..], &["grow", "--positions", "2", "--nodes", "300"]] {
            let (_, err, code) = finish(&mut place.command(arguments));
            assert!((code == 0 || code == 1) && !err.contains("panic"), "page {page}: {err}");
        }
    }
    assert!(2 * told >= count, "{told} of {count} pages");
}

#[test]
fn what_is_no_tree_is_refused_and_left_alone() {
    let place = Place::new();
    fs::write(place.file(), "1. e4 *\n").expect("a file");
    for arguments in [&["show"][..], &["add", "startpos"], &["grow"], &["check"]] {
        assert!(place.fails(arguments).contains("not a tree"));
    }
    assert_eq!(fs::read(place.file()).expect("a file"), b"1. e4 *\n");
    fs::remove_file(place.file()).expect("removed");
    let database = rusqlite::Connection::open(place.file()).expect("a database");
    database.execute("CREATE TABLE notes (text)", []).expect("a table of another program");
    drop(database);
    let before = fs::read(place.file()).expect("a database");
    assert!(place.fails(&["add", "startpos"]).contains("a database of another program"));
    assert_eq!(fs::read(place.file()).expect("a database"), before);
    fs::remove_file(place.file()).expect("removed");
    assert!(place.fails(&["grow"]).contains("engram tree"));
    assert!(!place.file().exists());
    let mut engine = Engine::ready();
    let lines = engine.answer("setoption name TreeFile value /nowhere/t.db");
    assert!(info_strings(&lines)[0].contains("there is no tree /nowhere/t.db"), "{lines:?}");
    assert!(lines[0].ends_with("; TreeFile stays as it was"), "{lines:?}");
    engine.quit();
}

#[test]
fn an_archive_of_analysed_games_is_a_tree() {
    let place = Place::new();
    let games = common::fixture("games.pgn");
    let mut analyse = command(&place.home);
    analyse.args(["analyse", &games, "--depth", "6", "--multipv", "2", "--sqlite", "t.db"]);
    let (_, err, code) = finish(&mut analyse);
    assert!(code == 0 || code == 3, "{err}");
    for task in ["show", "grow", "focus"] {
        assert!(place.fails(&[task]).contains("has no tree yet"), "only `add` makes a tree of it");
    }
    let added = place.run(&["add", "startpos"]);
    assert!(added.contains("searched") && place.searched() > 3, "{added}");
    let after_mistake = place.run(&["show", "e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6"]);
    assert!(after_mistake.contains("Qxf7#"), "the moves of the game lead there: {after_mistake}");
    let shown = place.run(&["show"]);
    assert!(shown.contains("by its own search"), "{shown}");
    place.run(&["grow", "--positions", "3", "--nodes", "500"]);
    let database = rusqlite::Connection::open(place.file()).expect("a database");
    let games: i64 =
        database.query_row("SELECT count(*) FROM games", [], |row| row.get(0)).expect("a number");
    assert!(games > 0, "the archive is still there");
    drop(database);
    let (_, err, code) = finish(analyse.arg("--force"));
    assert!(code == 1 && err.contains("t.db has become a tree"), "{err}");
    assert!(place.searched() > 3);
}
