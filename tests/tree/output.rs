//! What `engram tree` makes of a tree: a page, a game with variations, a book, records of a learning file.

use std::{collections::HashMap, fs, process::Command};

use engram::{
    book::Book,
    eval::fingerprint,
    position::Position,
    tree::{Access, Advice, ForSides, PlayedLine, Tree, TreeSearch},
};
use serde_json::{Value, json};
use shakmaty::{Color, KnownOutcome, Outcome};
use tempfile::TempDir;

use super::{after, moves, search, search_by};
use crate::common::{
    browser::{self, Browser, FOREIGN, NARROW, WIDE},
    command, finish, flat, has_python_chess, home,
    learn::records,
};

const WHITE: ForSides = ForSides { white: true, black: false };

/// A tree of White in which two lines reach one position, `t.db` in a folder.
fn tree() -> (TempDir, Tree) {
    let folder = home();
    let mut tree = Tree::open(&folder.path().join("t.db"), Access::Create).expect("a tree");
    tree.add_root(&Position::default(), WHITE).expect("written");
    search(&mut tree, "", 12, &[(30, "e2e4 e7e5"), (25, "g1f3 b8c6"), (20, "a2a3 e7e5"), (-80, "g2g4 d7d5")]);
    search(&mut tree, "e2e4", 11, &[(-31, "e7e5 g1f3"), (-45, "c7c5 g1f3 d7d6")]);
    search(&mut tree, "e2e4 e7e5", 10, &[(31, "g1f3 b8c6"), (10, "f1c4 g8f6")]);
    search(&mut tree, "e2e4 e7e5 g1f3", 10, &[(-31, "b8c6 f1b5"), (-50, "d7d6 d2d4")]);
    search(&mut tree, "g1f3", 11, &[(-25, "b8c6 e2e4")]);
    search(&mut tree, "g1f3 b8c6", 11, &[(25, "e2e4 e7e5")]);
    search(&mut tree, "g1f3 b8c6 e2e4", 11, &[(-25, "e7e5 f1b5")]);
    search(&mut tree, "e2e4 e7e5 g1f3 b8c6", 14, &[(33, "f1b5 a7a6 b5a4"), (28, "f1c4 f8c5")]);
    let start = Position::default();
    let lost = Outcome::Known(KnownOutcome::Decisive { winner: Color::Black });
    let game = PlayedLine { start: &start, moves: &moves(&start, "e2e4 c7c5 b1c3"), outcome: lost };
    tree.add_line(&game, WHITE, Some(1)).expect("written");
    (folder, tree)
}

/// Runs `engram tree t.db …`: standard output, standard error and exit code.
fn run(folder: &TempDir, arguments: &[&str]) -> (String, String, i32) {
    finish(command(folder).args(["tree", "t.db"]).args(arguments))
}

fn succeed(folder: &TempDir, arguments: &[&str]) -> String {
    let (out, err, code) = run(folder, arguments);
    assert_eq!(code, 0, "{err}");
    out
}

/// The rows of the table of moves, without the expected lines.
fn rows(browser: &Browser) -> Value {
    browser.run(
        "return [...document.querySelectorAll('.replies:not([hidden]) tbody tr')].map((row) => \
         [...row.cells].slice(0, -1).map((cell) => cell.textContent.trim()).join('|'))",
    )
}

/// Types moves into the field for them.
fn type_moves(browser: &Browser, words: &str) {
    browser.press(&["m"]);
    let keys: Vec<String> = words.chars().map(String::from).collect();
    browser.press(&keys.iter().map(String::as_str).chain(["Enter", "Escape"]).collect::<Vec<_>>());
}

#[test]
fn the_page_is_walked_by_clicks_keys_and_typed_moves() {
    let (folder, mut tree) = tree();
    let start = Position::default();
    tree.advise(&start, moves(&start, "g2g4")[0], Some(Advice::Exclude)).expect("written");
    assert!(succeed(&folder, &["html"]).starts_with("t.html: "));
    let page = folder.path().join("t.html");
    // Part of what pages share is a text to be copied.
    let html = fs::read_to_string(&page).expect("a page").replace("<iframe src=", "");
    for foreign in FOREIGN {
        assert!(!html.contains(foreign), "{foreign}");
    }
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open(&page, "");
        browser.wait_for("document.querySelector('.replies tbody tr')");
        browser.assert_fits(width);
        assert_eq!(
            rows(&browser),
            json!(["e4|+0.33|18||1 +0 −1", "Nf3|+0.33|18||", "a3|+0.20|12||", "g4 excluded|-0.80|12||"])
        );
        assert_eq!(browser.text(".replies tbody tr .expected"), "1... e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4");
        // Each position is found by what stands on the board.
        let lost = "const text = (id) => document.getElementById(id).textContent;
            const graph = new Graph(JSON.parse(text('info')), text('positions'));
            return graph.lines.filter((_, index) => graph.find(graph.position(index)) !== index)";
        assert_eq!(browser.run(lost), json!([]));
        // A click on a row, and keys: back, on, to the end of the expected line.
        browser.click(".replies tbody tr:nth-child(2) td:nth-child(2)", 0.5);
        assert_eq!(browser.run("return location.hash"), "#0/g1f3");
        browser.press(&["ArrowLeft"]);
        assert_eq!(browser.text(".path .now"), "Start");
        browser.press(&["ArrowRight"]);
        assert_eq!(browser.text(".path .now"), "Nf3", "what was taken back comes again");
        browser.press(&["ArrowRight", "ArrowRight", "ArrowRight"]);
        assert_eq!(browser.run("return location.hash"), "#0/g1f3/b8c6/e2e4/e7e5");
        // The other line leads to the same position.
        let facts = browser.text(".verdict");
        assert!(facts.starts_with("+0.33 at depth 14, "), "{facts}");
        type_moves(&browser, "1. e4 e5 2. nf3 nc6");
        assert_eq!(browser.run("return location.hash"), "#0/e2e4/e7e5/g1f3/b8c6");
        assert_eq!(browser.text(".verdict"), facts);
        // So does one by a move that the tree does not have.
        type_moves(&browser, "Nc3");
        assert_eq!(browser.text(".verdict"), "This position is not in the tree.");
        type_moves(&browser, "Nf3 Nc6 d3");
        assert_eq!(rows(&browser), json!([]));
        browser.open(&page, "#0/g1f3/e7e5/e2e4/b8c6");
        browser.wait_for("document.querySelector('.replies tbody tr')");
        assert_eq!(browser.text(".verdict"), facts);
        assert_eq!(rows(&browser), json!(["Bb5|+0.33|14|", "Bc4|+0.28|14|"]));
        browser.press(&["End"]);
        assert_eq!(browser.run("return location.hash"), "#0/g1f3/e7e5/e2e4/b8c6/f1b5/a7a6/b5a4");
        browser.assert_fits(width);
        browser.wheel(".field .board", -120);
        assert_eq!(browser.text(".path .now"), "a6");
        // Back along the path by a click.
        browser.click(".path .line button", 0.5);
        assert_eq!(browser.run("return location.hash"), "#0");
        let colours = ["light", "dark"].map(|scheme| {
            browser.prefer("prefers-color-scheme", scheme);
            browser.run("return getComputedStyle(document.body).backgroundColor")
        });
        assert_ne!(colours[0], colours[1]);
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn a_move_that_does_not_count_is_no_best_move_of_the_page() {
    let (folder, mut tree) = tree();
    let before = after("e2e4 e7e5");
    tree.advise(&before, moves(&before, "h2h4")[0], Some(Advice::Prefer)).expect("written");
    succeed(&folder, &["html"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&folder.path().join("t.html"), "#0/e2e4/e7e5");
    browser.wait_for("document.querySelector('.replies tbody tr')");
    assert_eq!(rows(&browser)[0], json!("h4 preferred|||"));
    browser.press(&["End"]);
    assert_eq!(browser.run("return location.hash"), "#0/e2e4/e7e5", "it was not searched");
    browser.press(&["ArrowLeft", "End"]);
    assert_eq!(browser.run("return location.hash"), "#0/e2e4/e7e5");
}

#[test]
fn the_page_says_what_is_new() {
    let (folder, _tree) = tree();
    succeed(&folder, &["html", "--since", "2026-01-31", "--output", "old.html"]);
    succeed(&folder, &["html", "--since", "2999-01-31", "--output", "future.html"]);
    assert_ne!(run(&folder, &["html", "--since", "31.1.2026", "--output", "x.html"]).2, 0);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&folder.path().join("old.html"), "");
    browser.wait_for("document.querySelector('.changes li')");
    assert_eq!(browser.text(".replies tbody tr .new"), "4 new");
    assert!(
        browser.text(".changes .note").starts_with("Best move or score of 8 positions changed since then")
    );
    assert!(browser.text(".changes li").starts_with("Start position +0.33"), "{}", browser.text(".changes"));
    browser.click(".changes li:nth-child(2) button", 0.1);
    assert_eq!(browser.run("return location.hash"), "#0/e2e4");
    browser.open(&folder.path().join("future.html"), "");
    browser.wait_for("document.querySelector('.changes input').value === '2999-01-31'");
    assert_eq!(browser.run("return document.querySelectorAll('.new, .changes li').length"), 0);
    // Another tree of the same name has visits of its own.
    for place in ["here", "there"] {
        let file = folder.path().join(place).join("t.db");
        fs::create_dir(folder.path().join(place)).expect("made");
        let mut tree = Tree::open(&file, Access::Create).expect("a tree");
        tree.add_root(&Position::default(), WHITE).expect("written");
        let (_, err, code) = finish(
            command(&folder)
                .arg("tree")
                .arg(&file)
                .args(["html", "--output"])
                .arg(file.with_extension("html")),
        );
        assert_eq!(code, 0, "{err}");
        browser.open(&file.with_extension("html"), "");
        browser.wait_for("document.querySelector('.changes .note').textContent");
    }
    assert_eq!(browser.run("return localStorage.length"), 2);
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// The rules of axe-core, all of them; `AXE` is the path of its script, as in `page.rs`.
#[test]
fn axe_finds_nothing() {
    let Some(axe) = browser::axe() else { return };
    let (folder, mut tree) = tree();
    let start = Position::default();
    tree.advise(&start, moves(&start, "g2g4")[0], Some(Advice::Exclude)).expect("written");
    succeed(&folder, &["html", "--since", "2026-01-31"]);
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        for scheme in ["light", "dark"] {
            browser.prefer("prefers-color-scheme", scheme);
            for place in ["", "#0/e2e4", "#0/h2h4"] {
                browser.open(std::path::Path::new("/dev/null"), "");
                browser.open(&folder.path().join("t.html"), place);
                browser.wait_for("document.querySelector('.changes li')");
                let found = browser.run_axe(&axe);
                assert_eq!(found, json!([]), "{place}, {width} pixels, {scheme}");
            }
        }
    }
}

#[test]
fn only_so_many_positions_are_on_the_page_and_it_is_not_overwritten() {
    let (folder, _tree) = tree();
    let said = succeed(&folder, &["html", "--positions", "3"]);
    assert!(said.starts_with("t.html: 3 positions; ") && said.contains(" not shown"), "{said}");
    let page = fs::read_to_string(folder.path().join("t.html")).expect("a page");
    let (_, err, code) = run(&folder, &["html"]);
    assert!(code != 0 && err.contains("--force"), "{err}");
    assert_eq!(fs::read_to_string(folder.path().join("t.html")).expect("a page"), page);
    for file in ["t.db", "t.db-wal", "t.db-shm"] {
        let (_, err, code) = run(&folder, &["html", "--force", "--output", file]);
        assert!(code == 1 && err.contains("would overwrite the input"), "{file}: {err}");
    }
    drop(Tree::open(&folder.path().join("t.db"), Access::Read).expect("still a tree"));
}

#[test]
fn a_game_with_variations_follows_each_position_once() {
    let (folder, _tree) = tree();
    let game = succeed(&folder, &["pgn", "--margin", "20", "--depth", "6"]);
    assert!(game.contains("[UTCDate \"20"), "{game}");
    let movetext = flat(game.split("\n\n").nth(1).expect("moves"));
    assert_eq!(
        movetext,
        "1. e4 {[%eval 0.33] depth 18} (1. Nf3 {[%eval 0.33] depth 18} 1... Nc6 {[%eval 0.33] depth 17} \
         2. e4 {[%eval 0.33] depth 16} 2... e5 {[%eval 0.33] depth 15} {see 1. e4 e5 2. Nf3 Nc6}) \
         (1. a3 {[%eval 0.20] depth 12} 1... e5) \
         1... e5 {[%eval 0.33] depth 17} (1... c5 {[%eval 0.45] depth 11} 2. Nf3 d6) \
         2. Nf3 {[%eval 0.33] depth 16} 2... Nc6 {[%eval 0.33] depth 15} (2... d6 {[%eval 0.50] depth 10} 3. d4) \
         3. Bb5 {[%eval 0.33] depth 14} (3. Bc4 {[%eval 0.28] depth 14} 3... Bc5) 3... a6 *"
    );
    // Ours and another reader find it legal.
    succeed(&folder, &["pgn", "e4", "e5", "--output", "t.pgn"]);
    let (out, err, code) =
        finish(command(&folder).args(["analyse", "t.pgn", "--nodes", "100", "--variations", "--json", "-"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\"Nf3\""), "{out}");
    if has_python_chess() {
        let script = "import chess.pgn, sys; game = chess.pgn.read_game(open(sys.argv[1])); \
                      print(game.errors, game.next().san(), len(game.next().next().variations))";
        let (said, err, code) =
            finish(Command::new("python3").args(["-c", script]).arg(folder.path().join("t.pgn")));
        assert_eq!((said.trim(), code), ("[] Nf3 2", 0), "{err}");
    }
    let (_, err, code) = run(&folder, &["pgn", "h4"]);
    assert!(code != 0 && err.contains("not searched in this tree"), "{err}");
}

#[test]
fn a_book_has_the_good_moves_of_the_side_wanted() {
    let (folder, _tree) = tree();
    assert!(succeed(&folder, &["book", "--output", "w.bin", "--for", "white"]).contains("from 4 positions"));
    let show = |book: &str, fen: &str| {
        let (out, err, code) = finish(command(&folder).args(["book", "show", "--book", book, fen]));
        assert_eq!(code, 0, "{err}");
        let row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[1].to_owned(), words[2].parse::<u32>().expect("a weight"))
        };
        let begin = out.lines().position(|line| line.starts_with("move"));
        out.lines().skip(begin.map_or(usize::MAX, |begin| begin + 1)).map(row).collect::<Vec<_>>()
    };
    let start = Position::default().fen();
    let book = show("w.bin", &start);
    let weight = |wanted: &str| book.iter().find(|(m, _)| m == wanted).map(|&(_, weight)| weight);
    assert_eq!((weight("e2e4"), weight("g1f3")), (Some(65_535), Some(65_535)));
    assert!(weight("a2a3").is_some_and(|weight| (20_000..40_000).contains(&weight)), "{book:?}");
    assert_eq!(weight("g2g4"), None, "it loses too much");
    assert_eq!(show("w.bin", &after("e2e4").fen()), [], "Black's");
    succeed(&folder, &["book", "--output", "b.bin", "--for", "black", "--margin", "0"]);
    assert_eq!(show("b.bin", &after("e2e4").fen()), [("e7e5".to_owned(), 65_535)]);
    let (_, err, code) = run(&folder, &["book", "--output", "b.bin"]);
    assert!(code != 0 && err.contains("--force"), "{err}");
}

#[test]
fn a_preferred_move_is_in_the_book_before_it_is_searched() {
    let (folder, mut tree) = tree();
    let start = Position::default();
    let m = start.legal_move("b1c3").expect("legal");
    assert!(tree.advise(&start, m, Some(Advice::Prefer)).expect("written"));
    succeed(&folder, &["book", "--output", "w.bin", "--for", "white"]);
    let book = Book::open(&folder.path().join("w.bin")).expect("a book").moves(&start);
    assert_eq!(book.iter().map(|m| (m.book_move, m.weight)).collect::<Vec<_>>(), [(m, 65_535)]);
    for arguments in [&["pgn"][..], &["publish", "learn.bin"]] {
        let (_, err, code) = run(&folder, arguments);
        let said = "no preferred move of 1 position was searched: run `engram tree t.db grow`";
        assert_eq!((err.trim(), code), (said, 0), "{arguments:?}");
    }
}

#[test]
fn a_learning_file_takes_the_tree_and_keeps_what_a_human_said() {
    let (folder, _tree) = tree();
    let learn = |arguments: &[&str]| {
        let (out, err, code) =
            finish(command(&folder).arg("learn").args(arguments).args(["--file", "learn.bin"]));
        assert_eq!(code, 0, "{err}");
        out
    };
    let advised = after("e2e4 e7e5").fen();
    learn(&["advise", &advised, "Nc3"]);
    let said = succeed(&folder, &["publish", "learn.bin"]);
    assert_eq!(said.trim(), "7 positions written to learn.bin, 0 known before, 1 left to human advice");
    let bytes = fs::read(folder.path().join("learn.bin")).expect("a file");
    let again = succeed(&folder, &["publish", "learn.bin"]);
    assert_eq!(again.trim(), "0 positions written to learn.bin, 7 known before, 1 left to human advice");
    assert_eq!(fs::read(folder.path().join("learn.bin")).expect("a file"), bytes, "nothing changed");
    assert!(learn(&["show", &advised]).contains("Nc3"));
    let list = learn(&["list", "--json"]);
    let start = list.lines().last().expect("records");
    assert!(
        start.contains("\"study\"") && start.contains("e4"),
        "the nearest to the start is the newest: {start}"
    );
    // Its scores are those of the tree, not of searches.
    let known = records(&folder.path().join("learn.bin"));
    assert!(known.iter().all(|record| TreeSearch::of_record(record).is_none()), "{known:?}");
    // None of it is a lost game.
    assert!(!learn(&["list"]).contains("lost"));
    let lessons = learn(&["lessons", "--nodes", "100"]);
    assert!(lessons.contains("no lessons") && !lessons.contains("lost"), "{lessons}");
    // A score that changed is written, and a file that is a tree is not.
    let mut tree = Tree::open(&folder.path().join("t.db"), Access::Write).expect("a tree");
    search(&mut tree, "e2e4 e7e5 g1f3 b8c6", 20, &[(50, "f1b5 a7a6 b5a4")]);
    assert!(succeed(&folder, &["publish", "learn.bin"]).starts_with("7 positions written"));
    assert_ne!(run(&folder, &["publish", "t.db"]).2, 0);
}

#[test]
fn a_root_is_found_by_the_fen_that_is_shown() {
    let folder = home();
    // The pawn d4 is pinned.
    let fen = "8/8/8/8/k2pP2Q/8/8/3K4 b - e3 0 1";
    succeed(&folder, &["add", fen]);
    assert_eq!(succeed(&folder, &["show", fen]).lines().next(), Some(fen));
}

#[test]
fn a_record_says_which_evaluation_its_score_comes_from() {
    let folder = home();
    let mut tree = Tree::open(&folder.path().join("t.db"), Access::Create).expect("a tree");
    tree.add_root(&Position::default(), WHITE).expect("written");
    let other = fingerprint() ^ 1;
    search_by(other, &mut tree, "", 12, &[(30, "e2e4 e7e5"), (25, "d2d4 d7d5")]);
    search_by(other, &mut tree, "d2d4", 12, &[(-25, "d7d5")]);
    search(&mut tree, "e2e4", 12, &[(-40, "e7e5")]);
    let said = succeed(&folder, &["publish", "learn.bin"]);
    assert!(said.contains("human advice; 1 with scores of another evaluation"), "{said}");
    let (list, err, code) = finish(command(&folder).args(["learn", "list", "--json", "--file", "learn.bin"]));
    assert_eq!(code, 0, "{err}");
    let records = list.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let found: HashMap<String, u64> = records
        .map(|record| (record["move"].to_string(), record["evaluation"].as_u64().expect("a number")))
        .collect();
    let expected = [("e2e4", fingerprint()), ("e7e5", fingerprint()), ("d7d5", other)];
    let expected = expected.map(|(best, id)| (format!("\"{best}\""), u64::from(id)));
    assert_eq!(found, HashMap::from(expected), "{list}");
}

#[test]
fn what_begins_nowhere_is_told() {
    let folder = home();
    let mut tree = Tree::open(&folder.path().join("t.db"), Access::Create).expect("a tree");
    search(&mut tree, "e2e4", 11, &[(-31, "e7e5 g1f3")]);
    for arguments in [&["show"][..], &["html"], &["book", "--output", "b.bin"], &["publish", "learn.bin"]] {
        let (_, err, code) = run(&folder, arguments);
        assert!(code != 0 && err.contains("`engram tree t.db add startpos`"), "{err}");
    }
    assert!(!folder.path().join("t.html").exists() && !folder.path().join("b.bin").exists());
    assert!(succeed(&folder, &["pgn", "e4"]).contains("1... e5"), "a position that is named needs no root");
}
