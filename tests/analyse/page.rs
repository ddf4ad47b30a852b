//! The page of `engram analyse --html`: what is in it, and how it works in a browser, wide and narrow.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engram::position::Position;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Move, fen::Fen, san::San};
use tempfile::TempDir;

use crate::common::{
    browser::{self, Browser, FOREIGN, NARROW, WIDE},
    command, files, finish, fixture, flat, home,
    random::Random,
    run, succeed,
};

/// The page of an input, and the folder that it lies in.
fn page_of(input: &str, more: &[&str]) -> (TempDir, PathBuf) {
    let folder = home();
    let page = folder.path().join("page.html");
    let arguments = [&["analyse", input, "--html", page.to_str().unwrap(), "--hash", "4"], more].concat();
    let (_, err, code) = run(&arguments);
    assert!(code == 0 || code == 3, "{err}");
    (folder, page)
}

/// How the JSON of a game or position begins in a page, and that of its row in the tables.
const BLOCK: &str = "<script class=\"block\" type=\"application/json\">";
const ROW: &str = "<script class=\"row\" type=\"application/json\">";

/// All JSON in a page that begins so.
fn all(html: &str, begin: &str) -> Vec<Value> {
    let json = |rest: &str| serde_json::from_str(rest.split_once("</script>").expect("an end").0);
    html.split(begin).skip(1).map(|rest| json(rest).expect("JSON")).collect()
}

/// The first block of a page.
fn first_block(html: &str) -> Value {
    all(html, BLOCK).swap_remove(0)
}

#[test]
fn the_page_is_whole_and_can_load_nothing() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "8"]);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    assert!(html.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"), "policy");
    for foreign in FOREIGN {
        // What a game says, and what is copied to embed the page.
        let html = html.replace("<img src=", "").replace("<iframe src=", "");
        assert!(!html.contains(foreign), "{foreign}");
    }
    let (games, rows) = (all(&html, BLOCK), all(&html, ROW));
    assert_eq!((games.len(), rows.len()), (4, 4));
    let game = &games[0];
    assert_eq!(game["times"], json!([0.0, 0.0, 4.0, 2.0, 2.0, 21.0, 2.0]));
    assert_eq!(game["comments"], json!([[0, "Before the first move."], [3, "Where to?"]]));
    assert_eq!(rows[0]["players"][1]["title"], "FM");
    let verdicts = game["verdicts"].as_array().unwrap();
    let blunder = verdicts.iter().find(|verdict| verdict[0] == 6).expect("3... Nf6 is judged");
    assert_eq!(blunder[1], "blunder");
    let text = blunder[2].as_str().unwrap();
    assert!(text.starts_with("3... Nf6 is a blunder: it allows mate in 1, and 3... "), "{text}");
    for (ply, lines) in game["lines"].as_array().unwrap().iter().enumerate() {
        assert_eq!(lines.as_array().unwrap().is_empty(), ply == 7, "each position but the mate has its line");
    }
    let (_folder, page) = page_of(&fixture("tasks.epd"), &["--depth", "4", "--multipv", "2"]);
    let html = fs::read_to_string(&page).unwrap();
    let rows = all(&html, ROW);
    assert_eq!((rows.len(), &rows[0]["solved"]), (4, &json!(true)));
    assert_eq!(first_block(&html)["lines"][0].as_array().unwrap().len(), 2);
    let (_folder, page) = page_of("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", &[]);
    assert_eq!(first_block(&fs::read_to_string(&page).unwrap())["scores"], json!([[1, "#"]]), "a mate");
}

#[test]
fn the_page_says_what_the_other_outputs_say() {
    let (_folder, path) = files();
    let (page, pgn, lines) = (path("page.html"), path("out.pgn"), path("out.jsonl"));
    let arguments =
        ["analyse", &fixture("page.pgn"), "--depth", "6", "--html", &page, "--pgn", &pgn, "--json", &lines];
    assert_eq!(run(&arguments).2, 0);
    let html = fs::read_to_string(page).unwrap();
    let (pgn, lines) = (fs::read_to_string(pgn).unwrap(), fs::read_to_string(lines).unwrap());
    let (blocks, rows) = (all(&html, BLOCK), all(&html, ROW));
    let number = lines.lines().count();
    assert!(number > 0 && (blocks.len(), rows.len()) == (number, number));
    for ((game, row), line) in blocks.iter().zip(rows).zip(lines.lines()) {
        let json = serde_json::from_str::<Value>(line).unwrap();
        assert!(pgn.contains(game["pgn"].as_str().unwrap()), "{game}");
        for (side, name) in ["white", "black"].into_iter().enumerate() {
            assert_eq!(row["players"][side]["accuracy"], json["accuracy"][name]);
            assert_eq!(row["players"][side]["name"], json[name]);
        }
        let moves = json["moves"].as_array().unwrap();
        for (ply, m) in moves.iter().enumerate() {
            if let Some(centipawns) = m["score"]["cp"].as_i64() {
                assert_eq!(game["scores"][ply + 1], centipawns);
            }
        }
    }
}

#[test]
fn a_game_is_looked_at_with_keys_wheel_and_mouse() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "8", "--multipv", "2"]);
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open_viewer(&page, "#1");
        assert_eq!(browser.run("return document.title"), "Careful, A. – Hasty \"B.\" · page.pgn");
        browser.assert_fits(width);
        let ply = |expected: u64| {
            assert_eq!(browser.run("return location.hash"), format!("#1/{expected}"));
            let now = browser.run("return document.querySelectorAll('.moves [aria-current]').length");
            assert_eq!(now, u64::from(expected > 0));
        };
        ply(0);
        assert!(verdict(&browser).contains("Before the first move."), "{}", verdict(&browser));
        browser.press(&["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]);
        ply(2);
        browser.press(&["End"]);
        ply(7);
        assert!(verdict(&browser).starts_with("4. Qxf7# ends the game by mate."), "{}", verdict(&browser));
        browser.press(&["ArrowRight", "Home", "ArrowLeft"]);
        ply(0);
        browser.wheel(".field .board", 120);
        browser.wheel(".field .board", 120);
        browser.wheel(".field .board", -120);
        ply(1);
        browser.click(".moves a[href$='/6']", 0.3);
        ply(6);
        // On a narrow screen the first click moves the graph: the words above it change.
        browser.click(".graph svg", 0.99);
        browser.click(".graph svg", 0.99);
        ply(7);
        let tip = browser.text(".tip:not([hidden])");
        assert!(tip.starts_with("4. Qxf7#"), "{tip}");
        browser.click(".steps button:nth-child(2)", 0.5);
        ply(6);
        let said = browser.text("#said");
        assert!(said.starts_with("3... Nf6, #1. 3... Nf6 is a blunder: "), "{said}");

        let drawn = browser.run("return document.querySelector('.graph svg').outerHTML");
        assert!(!drawn.as_str().unwrap().contains("NaN"), "{drawn}");

        // The blunder: in words, in two colours, with what was better.
        assert!(
            verdict(&browser).starts_with("?? 3... Nf6 is a blunder: it allows mate in 1"),
            "{}",
            verdict(&browser)
        );
        let count = |selector: &str| browser.count(selector);
        assert_eq!((count(".field .arrow.played"), count(".field .arrow.better")), (json!(1), json!(1)));
        assert_eq!((count(".legend .played"), count(".legend .better")), (json!(1), json!(1)));
        assert_eq!(browser.attribute(".bar", "aria-label"), "Evaluation #1");
        assert_eq!(count(".lines .line"), 2, "both lines of the engine");

        // Along a line and back.
        let board = || browser.attribute(".field .board", "aria-label");
        let in_game = board();
        assert!(in_game.as_str().unwrap().starts_with("3... Nf6. White: king e1, queen h5, "), "{in_game}");
        browser.click(".verdict .line button", 0.5);
        assert!(board().as_str().unwrap().starts_with("Line: 3... "), "{}", board());
        browser.press(&["ArrowRight"]);
        assert!(board().as_str().unwrap().starts_with("Line: 4. "), "{}", board());
        browser.press(&["Escape"]);
        assert_eq!(board(), in_game);

        let corner = || browser.text(".field .board text");
        assert_eq!(corner(), "8");
        browser.press(&["f"]);
        assert_eq!(corner(), "1");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn a_page_that_is_opened_before_the_run_has_ended_says_so_and_shows_what_is_there() {
    for (input, count) in [("page.pgn", 4), ("tasks.epd", 4)] {
        let (folder, page) = page_of(&fixture(input), &["--depth", "4"]);
        let html = fs::read_to_string(&page).unwrap();
        let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
        let (first, last) = (html.find(BLOCK).unwrap(), html.rfind(BLOCK).unwrap());
        let (row, footer) = (html.rfind(ROW).unwrap(), html.find("<footer").unwrap());
        let mut unfinished = String::new();
        // Nothing yet, half of the last block, no row of it, half of its row, all but the end.
        for (end, found) in
            [(first, 0), (last + 100, count - 1), (row, count - 1), (row + 100, count - 1), (footer, count)]
        {
            let cut = folder.path().join("cut.html");
            fs::write(&cut, &html[..end]).unwrap();
            browser.open(&cut, "");
            browser.wait_for("document.querySelector('main h1')");
            let note = browser.text("[role=status]");
            let said = format!("The analysis had not ended when this page was opened: {found} of its ");
            assert!(note.starts_with(&said), "{note}");
            let rows = "return document.querySelectorAll('[aria-label=Games] tbody tr, [aria-label=Positions] tbody tr').length";
            assert_eq!(browser.run(rows), found);
            if end == footer && input == "page.pgn" {
                unfinished = browser.text("[aria-label=Games] tbody");
            }
            browser.assert_fits(NARROW.0);
            if found > 0 {
                browser.open(&cut, "#1");
                browser.wait_for("document.querySelector('.viewer')");
            }
            assert_eq!(browser.console(), Vec::<String>::new());
        }
        browser.open(&page, "");
        browser.wait_for("document.querySelector('main h1')");
        assert!(browser.run("return document.querySelector('main .note[role=status]')").is_null());
        if input == "page.pgn" {
            assert_eq!(
                browser.text("[aria-label=Games] tbody"),
                unfinished,
                "number, date, event and all else"
            );
        }
    }
}

#[test]
fn a_game_from_a_position_of_a_book_has_its_opening() {
    let folder = home();
    let file = folder.path().join("from.pgn");
    let game = "[SetUp \"1\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\"]\n\n\
                1... e5 2. Nf3 Nc6 3. h3 h6 *\n";
    fs::write(&file, game).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--depth", "2"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open_viewer(&page, "#1");
    let mut in_book = 0;
    for _ in 0..6 {
        browser.press(&["ArrowRight"]);
        let said = verdict(&browser);
        in_book += usize::from(said.contains("in the book"));
        assert!(!said.contains("null"), "{said}");
    }
    assert_eq!(in_book, 3);
}

#[test]
fn a_visitor_tries_moves_on_the_board() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "8", "--multipv", "2"]);
    for ((width, height), kind) in [(WIDE, "mouse"), (NARROW, "touch")] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open_viewer(&page, "#1/2");
        let drag = |from: &str, to: &str| {
            browser.pointer(kind, &[square(&browser, from), square(&browser, to), square(&browser, to)]);
        };
        let tap = |name: &str| browser.pointer(kind, &[square(&browser, name), square(&browser, name)]);
        let shows = |begin: &str| {
            let found = board(&browser);
            assert!(found.starts_with(begin), "{found} instead of {begin}");
        };
        let count = |selector: &str| browser.count(selector);

        // Tapped: the legal moves of the piece are shown.
        tap("g1");
        assert_eq!((count(".board .target"), count(".board .chosen")), (json!(3), json!(1)));
        tap("g1");
        assert_eq!(count(".board .target"), 0, "put back");
        tap("g1");
        tap("f3");
        shows("Your line: 2. Nf3. White: king e1, queen d1, rooks a1 h1, bishops c1 f1, knights b1 f3,");
        // Dragged; what is not legal changes nothing.
        drag("b8", "c6");
        shows("Your line: 2... Nc6. ");
        drag("f1", "f3");
        drag("g8", "f6");
        shows("Your line: 2... Nc6. ");
        // Typed.
        browser.press(&["m", "d", "5", "Enter"]);
        shows("Your line: 2... Nc6. ");
        assert_eq!(browser.text("#said"), "d5 is not a legal move here");
        browser.run("document.querySelector('.typed input').value = ''");
        browser.press(&["B", "c", "4", "Enter"]);
        shows("Your line: 3. Bc4. ");
        browser.assert_fits(width);

        // Back to the game, and along the line again.
        browser.press(&["Escape", "ArrowLeft", "ArrowLeft"]);
        shows("Your line: 2. Nf3. ");
        browser.press(&["ArrowLeft"]);
        shows("1... e5. ");
        assert_eq!(browser.run("return location.hash"), "#1/2");
        assert_eq!(
            browser.run("return document.querySelector('.path').textContent.trim()"),
            "Your line 2. Nf3 Nc6 3. Bc4"
        );
        browser.click(".path .line button", 0.5);
        shows("Your line: 2. Nf3. ");
        browser.press(&["m", "d", "6", "Enter", "Escape"]);
        assert_eq!(count(".path .line"), 2, "another branch");
        browser.press(&["Escape"]);
        shows("1... e5. ");

        // The game's own move goes on along the game.
        drag("f1", "c4");
        shows("2. Bc4. ");
        assert_eq!(browser.run("return location.hash"), "#1/3");

        // Castling by the rook, where the king may not go by himself.
        browser.open(&page, "#3");
        browser.wait_for("document.title.startsWith('Left')");
        browser.press(&["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"]);
        drag("e1", "g1");
        shows("1. O-O. White: king g1, rook f1,");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn a_pawn_promotes_to_what_is_chosen() {
    let (_folder, page) = page_of("4k3/2P5/8/8/8/8/8/4K3 w - - 0 1", &["--depth", "2"]);
    let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
    browser.open_viewer(&page, "");
    let promote = || {
        browser.pointer("touch", &[square(&browser, "c7"), square(&browser, "c8"), square(&browser, "c8")])
    };
    let names = || {
        browser.run(
            "return [...document.querySelectorAll('.promotion:not([hidden]) button')].map((b) => b.title)",
        )
    };
    promote();
    assert_eq!(names(), json!(["Queen", "Rook", "Bishop", "Knight"]));
    browser.press(&["Escape"]);
    assert_eq!(names(), json!([]));
    promote();
    browser.click(".promotion button:nth-child(3)", 0.5);
    assert!(board(&browser).starts_with("Your line: 1. c8=B. "), "{}", board(&browser));
    assert_eq!(names(), json!([]));
    // Nothing is known of it.
    let lines = browser.text(".lines");
    assert_eq!(lines, "The engine's lines do not reach this position.");
    assert_eq!(browser.run("return document.querySelector('.bar').style.visibility"), "hidden");
}

#[test]
fn the_lines_of_the_engine_are_shown_where_they_match() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let page = page_with_mistakes(&page);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open_viewer(&page, "#1/5");
    let shown = || {
        browser.run(
            "return [...document.querySelectorAll('.lines .line')].map((line) => line.textContent.trim())",
        )
    };
    assert_eq!(shown(), json!(["-0.38 3... g6 4. Qf3", "-0.20 3... Qe7 4. Nc3", "+9.00 3... a6"]));
    // Their first move on the board: the rest is shown.
    browser.press(&["m", "g", "6", "Enter"]);
    assert!(board(&browser).starts_with("Your line: 3... g6. "), "{}", board(&browser));
    assert_eq!(shown(), json!(["-0.38 4. Qf3"]));
    assert_eq!(browser.attribute(".bar", "aria-label"), "Evaluation -0.38");
    // The next one by a click on it, and then it is the engine's line.
    browser.click(".lines .line button", 0.5);
    assert!(board(&browser).starts_with("Line: 4. Qf3. "), "{}", board(&browser));
    assert_eq!(browser.text(".lines button.now"), "Qf3");
    // By another order of moves into a position of the game.
    browser.open(&page, "#1/2");
    browser.wait_for("location.hash === '#1/2'");
    browser.press(&["m"]);
    for word in ["Qh5", "Nc6", "Bc4"] {
        type_move(&browser, word);
    }
    assert!(board(&browser).starts_with("Your line: 3. Bc4. "), "{}", board(&browser));
    assert_eq!(shown(), json!(["-0.38 3... g6 4. Qf3", "-0.20 3... Qe7 4. Nc3", "+9.00 3... a6"]));
    browser.press(&["a", "6", "Enter", "Q", "x", "f", "7", "Enter"]);
    assert_eq!(shown(), json!([]));
    assert_eq!(browser.text(".lines"), "Checkmate.");
}

/// The page of the first game with a blunder whose better moves are known, and a move that is praised.
fn page_with_mistakes(page: &Path) -> PathBuf {
    let html = fs::read_to_string(page).unwrap();
    let mut game = first_block(&html);
    game["verdicts"] = json!([
        [3, "good", "2. Bc4 is the only move: the next best, 2. a3, is -0.20."],
        [6, "blunder", "3... Nf6 is a blunder: it allows mate in 1, and 3... g6 was better (-0.4)."],
    ]);
    game["lines"][5] =
        json!([[-38, "g7g6 h5f3", "g6 Qf3"], [-20, "d8e7 b1c3", "Qe7 Nc3"], [900, "a7a6", "a6"],]);
    game["glyphs"] = json!([[6, "!?\u{a0}⩲"]]);
    let (before, rest) = html.split_once(BLOCK).unwrap();
    let (_, after) = rest.split_once("</script>").unwrap();
    let doctored = page.with_file_name("mistakes.html");
    let json = game.to_string().replace('<', "\\u003c");
    fs::write(&doctored, format!("{before}{BLOCK}{json}</script>{after}")).unwrap();
    doctored
}

#[test]
fn a_visitor_learns_from_the_mistakes_of_a_player() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let page = page_with_mistakes(&page);
    for ((width, height), kind) in [(WIDE, "mouse"), (NARROW, "touch")] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open_viewer(&page, "#1");
        let offers =
            browser.run("return [...document.querySelectorAll('.learn button')].map((b) => b.textContent)");
        assert_eq!(offers, json!(["Learn from Black's mistakes (1)"]), "White has made none");
        browser.click(".learn button", 0.5);
        let says =
            |text: &str| assert!(verdict(&browser).contains(text), "{} without {text}", verdict(&browser));
        let choose = |text: &str| {
            browser.press_button(".choices button", text);
        };
        let answer = |word: &str| {
            type_move(&browser, word);
        };
        let count = |selector: &str| browser.count(selector);

        assert_eq!(focused(&browser), "INPUT ", "the answer can be typed");

        // The position before the mistake, from the side of who made it; nothing tells the answer.
        assert!(board(&browser).starts_with("3. Qh5. "), "{}", board(&browser));
        assert_eq!(browser.text(".field .board text"), "1");
        says("3... Nf6?? was played. Find a better move for Black.");
        assert_eq!(
            (count(".field .arrow.played"), count(".field .arrow.better"), count(".lines .line")),
            (json!(1), json!(0), json!(0))
        );
        browser.assert_fits(width);

        // Moves that are not the answer.
        answer("Nf6");
        says("3... Nf6 is what was played. Find a better move.");
        answer("h6");
        says("3... h6 is not in the engine's lines. Try another move.");
        answer("a6");
        says("3... a6 is not good enough (+9.00). Try another move.");
        says("Found 0, 0 shown, 1 to come.");
        assert!(board(&browser).starts_with("3. Qh5. "), "{}", board(&browser));
        // Away and back.
        browser.run("document.activeElement.blur()");
        browser.press(&["ArrowLeft", "ArrowLeft"]);
        assert!(board(&browser).starts_with("2. Bc4. "), "{}", board(&browser));
        let said = browser.text("#said");
        assert!(said.starts_with("2. Bc4, ") && !said.contains("only move"), "{said}");
        choose("Back to the position");
        assert!(board(&browser).starts_with("3. Qh5. "), "{}", board(&browser));
        // Another good one.
        answer("Qe7");
        says("3... Qe7 is good too (-0.20). The engine's move is 3... g6 (-0.38).");
        says("Found 1 (0 on the first try), 0 shown.");
        assert!(board(&browser).starts_with("Line: 3... Qe7. "), "{}", board(&browser));
        assert_eq!(count(".lines .line"), 3, "now all are shown");
        assert_eq!(focused(&browser), "BUTTON Finish");
        choose("Finish");
        says("Found 1 (0 on the first try), 0 shown.");

        // The engine's, on the first try, on the board.
        choose("Once more");
        says("1 of 1");
        let places = ["g7", "g6", "g6"].map(|name| square(&browser, name));
        browser.pointer(kind, &places);
        says("3... g6 is the engine's move (-0.38).");
        says("Found 1 (1 on the first try), 0 shown.");
        choose("Finish");

        choose("Once more");
        choose("Show the answer");
        says("The engine's move is 3... g6 (-0.38).");
        says("Found 0, 1 shown.");
        assert!(board(&browser).starts_with("Line: 3... g6. "), "{}", board(&browser));
        browser.press(&["Escape", "Escape"]);
        assert_eq!(count(".drill"), 0, "ended");

        // Praise has its sign, and no arrow of something better.
        browser.open_viewer(&page, "#1/3");
        browser.run("dispatchEvent(new HashChangeEvent('hashchange'))");
        assert!(verdict(&browser).starts_with("! 2. Bc4 is the only move"), "{}", verdict(&browser));
        assert_eq!((count(".field .arrow"), count(".verdict .line")), (json!(0), json!(0)));
        let named = browser.text(".moves a.now");
        assert!(named.starts_with("Bc4! (good)"), "{named}");
        let named = browser.text(".moves a[href$='/6']");
        assert!(named.starts_with("Nf6!?\u{a0}⩲ ?? (blunder)"), "the author's glyphs and ours: {named}");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn variations_comments_and_clocks_of_the_pgn_are_on_the_page() {
    let folder = home();
    let file = folder.path().join("study.pgn");
    let game = "[TimeControl \"60+1\"]\n\n1. e4 {[%clk 0:01:01]} (1. d4 {Queen's pawn <b>} 1... d5 $5 (1... Nf6 2. c4) 2. c4) \
                (1. c4 $5 {[%eval 0.1] so} Z0) 1... e5 {[%clk 0:00:51.4] Solid.} 2. Nf3 () {[%clk 1:00:02]} *\n";
    let deep = format!("\n[White \"Deep\"]\n\n1. e4 {}{} *\n", "(1. d4 ".repeat(20), ")".repeat(20));
    fs::write(&file, game.to_owned() + &deep).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--depth", "4"]);
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open(&page, "#2");
        browser.wait_for("document.querySelectorAll('.aside button').length === 16");
        browser.open(&page, "#1");
        browser.wait_for("document.title.startsWith('?')");
        let texts = |selector: &str| {
            let script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent.replace(/\\s+/g, ' '))";
            browser.run_with(script, json!([selector]))
        };
        assert_eq!(
            texts(".aside p"),
            json!([
                "(1. d4 Queen's pawn <b> 1... d5!? (1... Nf6 2. c4) 2. c4)",
                "(1. c4!? so Z0)",
                "Solid.",
                "()"
            ])
        );
        assert_eq!(texts(".moves .time"), json!(["1:01 · 0 s", "0:51 · 9.6 s", "1:00:02"]));
        assert_eq!(texts(".moves .gap"), json!(["…"]), "Black's move after it has its own row");
        browser.assert_fits(width);
        browser.press(&["End"]);
        let click = |word: &str| {
            browser.press_button(".aside button", word);
        };
        let shows = |begin: &str| {
            let found = board(&browser);
            assert!(found.starts_with(begin), "{found} instead of {begin}");
        };
        click("d5!?");
        shows("Variation: 1... d5!?. ");
        assert_eq!(texts(".aside [aria-current]"), json!(["d5!?"]));
        browser.press(&["ArrowRight"]);
        shows("Variation: 2. c4. ");
        browser.press(&["ArrowRight", "ArrowLeft", "ArrowLeft"]);
        shows("Variation: 1. d4. ");
        // Its end is where it left the game.
        browser.press(&["ArrowLeft"]);
        shows("Start. ");
        assert_eq!(browser.run("return location.hash"), "#1/0");
        click("Nf6");
        shows("Variation: 1... Nf6. ");
        browser.press(&["Escape", "ArrowRight", "ArrowRight"]);
        assert!(verdict(&browser).ends_with("Solid.9.6 s used, 0:51 left"), "{}", verdict(&browser));
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn the_variations_of_a_study_are_analysed_on_request() {
    let (_folder, path) = files();
    let (study, pgn, again, page) =
        (path("study.pgn"), path("out.pgn"), path("again.pgn"), path("page.html"));
    let games = "1. e4 (1. d4 $1 {Queen's pawn} d5 (1... Nf6 2. c4) 2. c4) (1. c4 Z0) 1... e5 *\n\n\
                 [White \"Fool\"]\n\n1. f3 e5 2. e4 (2. g4 {[%eval 0.00] Oh no.} Qh4#) *\n\n1. d4 d5 *\n";
    fs::write(&study, games).unwrap();
    succeed(&["analyse", &study, "--depth", "5", "--variations", "--html", &page, "--pgn", &pgn]);

    // Each move of a variation has its evaluation, and all else is kept.
    let text = fs::read_to_string(&pgn).unwrap();
    let blank = |text: &str| {
        let mut parts = text.split("{[%eval ");
        let first = parts.next().unwrap().to_owned();
        let rest = parts.map(|part| part.split_once(']').unwrap().1.split_once('}').unwrap());
        flat(&rest.fold(first, |all, (said, after)| all + "{" + said + "}" + after))
    };
    assert!(blank(&text).contains(
        "1. e4 {} (1. d4 $1 {} {Queen's pawn} 1... d5 {} (1... Nf6 {} 2. c4 {}) 2. c4 {}) (1. c4 Z0) 1... e5 {} *"
    ), "{text}");
    assert!(blank(&text).contains("(2. g4 {} {Oh no.} 2... Qh4#)"), "{text}");
    assert_eq!(text.matches("[White ").count(), 1, "three games: {text}");
    assert_eq!(text.matches("[WhiteAccuracy ").count(), 3, "three games: {text}");
    // What was written is read, and replaced.
    succeed(&["analyse", &pgn, "--depth", "5", "--variations", "--pgn", &again]);
    assert_eq!(fs::read_to_string(&again).unwrap(), text);

    let html = fs::read_to_string(&page).unwrap();
    let games = all(&html, BLOCK);
    let queens = &games[0]["variations"][0][1];
    assert_eq!((&queens["moves"], queens["scores"].as_array().unwrap().len()), (&json!("d2d4 d7d5 c2c4"), 3));
    assert_eq!(queens["variations"][0][1]["lines"].as_array().unwrap().len(), 2);
    let mate = &games[1]["variations"][0][1];
    assert_eq!((&mate["scores"][1], &mate["lines"][1]), (&json!([-1, "#"]), &json!([])));

    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open_viewer(Path::new(&page), "#1");
    browser
        .run("[...document.querySelectorAll('.aside button')].find((b) => b.textContent === 'Nf6').click()");
    assert!(board(&browser).starts_with("Variation: 1... Nf6. "), "{}", board(&browser));
    let nested = &queens["variations"][0][1];
    let line = nested["lines"][0][0][2].as_str().unwrap();
    let words = browser.run(
        "return [...document.querySelectorAll('.lines .line button')].map((b) => b.textContent).join(' ')",
    );
    assert_eq!(words, line);
    let score =
        browser.run_with("return 'Evaluation ' + scoreText(arguments[0])", json!([nested["lines"][0][0][0]]));
    assert_eq!(browser.attribute(".bar", "aria-label"), score);
    assert_eq!(browser.console(), Vec::<String>::new());

    // Only on request.
    let (_, _, code) = run(&["analyse", &study, "--depth", "5", "--html", &page, "--force"]);
    assert_eq!(code, 0);
    assert!(first_block(&fs::read_to_string(&page).unwrap())["variations"][0][1]["scores"].is_null());
}

/// The bar has the number of the sentence, rounded in the same way.
#[test]
fn the_bar_rounds_as_the_sentences_do() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "1"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open_viewer(&page, "#1");
    // The sentences' numbers are in the unit tests of `words.rs`.
    for (score, text) in [
        (json!(93), "+0.9"),
        (json!(-125), "-1.3"),
        (json!(1094), "+10.9"),
        (json!(95), "+1.0"),
        (json!(4), "+0.04"),
        (json!(0), "+0.00"),
        (json!([1, "#3"]), "#3"),
    ] {
        assert_eq!(browser.run_with("return shortScore(arguments[0])", json!([score])), text);
    }
    let bar = browser.text(".bar b");
    let score = first_block(&fs::read_to_string(&page).unwrap())["scores"][0].clone();
    let said = browser.run_with("return shortScore(arguments[0])", json!([score]));
    assert_eq!(bar, said.as_str().unwrap().trim_start_matches('+'));
}

#[test]
fn what_is_copied_and_linked_is_the_position_shown() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let html = fs::read_to_string(&page).unwrap();
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "#1/1");
    browser.wait_for("document.querySelector('.tools')");
    browser.catch_copies();
    browser.click(".tools button:nth-child(1)", 0.5);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(browser.run("return window.copied"), fen);
    browser.click(".tools button:nth-child(2)", 0.5);
    assert_eq!(browser.run("return window.copied"), first_block(&html)["pgn"]);
    let link = browser.run("return document.querySelector('.tools a').href");
    assert_eq!(link, format!("https://lichess.org/analysis/standard/{}", fen.replace(' ', "_")));
    let rel = browser.run("return document.querySelector('.tools a').rel");
    assert_eq!(rel, "noopener noreferrer");
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0, "nothing is loaded");
    browser.open(&page, "#3/2");
    browser.wait_for("document.title.startsWith('Left')");
    let link = browser.run("return document.querySelector('.tools a').href");
    assert_eq!(link, "https://lichess.org/analysis/chess960/5rk1/8/8/8/8/8/4PPP1/5RK1_w_-_-_2_2");
}

#[test]
fn the_board_is_saved_as_a_picture_and_the_page_is_embedded() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "#1/6");
    browser.wait_for("document.querySelector('.tools')");
    browser.catch_copies();
    browser.run(
        "HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }; \
         URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }",
    );
    let press = |text: &str| {
        browser.press_button(".tools button", text);
    };
    press("Save SVG");
    assert_eq!(browser.run("return window.savedAs"), "3-Nf6.svg");
    let svg = browser.run("return window.saved.text()");
    let svg = svg.as_str().unwrap();
    assert!(
        svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.contains("width=\"720\""),
        "{svg}"
    );
    assert!(!svg.contains("var(") && !svg.contains(" class="), "{svg}");
    assert_eq!(svg.matches("<symbol").count(), 12, "the pieces are in it");

    press("Save PNG");
    browser.wait_for("window.savedAs === '3-Nf6.png'");
    // Two empty squares of both colours, and how much the picture has of them.
    let seen = browser.run(
        "return createImageBitmap(window.saved).then((bitmap) => { \
           const context = new OffscreenCanvas(720, 720).getContext('2d', { willReadFrequently: true }); \
           context.drawImage(bitmap, 0, 0); \
           const at = (x, y) => [...context.getImageData(x, y, 1, 1).data]; \
           return [bitmap.width, at(45 + 270, 45 + 270), at(45 + 270, 45 + 180), at(495, 45)]; \
         })",
    );
    assert_eq!(seen[0], 720);
    assert_eq!(seen[1], json!([0xf0, 0xd9, 0xb5, 255]), "d5 is light");
    assert_eq!(seen[2], json!([0xb5, 0x88, 0x63, 255]), "d6 is dark");
    assert_ne!(seen[3], json!([0xb5, 0x88, 0x63, 255]), "a bishop stands on f8");

    press("Copy embed code");
    assert_eq!(
        browser.run("return window.copied"),
        "<iframe src=\"page.html#1/6\" title=\"Careful, A. – Hasty &quot;B.&quot; · page.pgn\" width=\"100%\" \
         height=\"900\"></iframe>"
    );
    assert_eq!(browser.console(), Vec::<String>::new());
    // It works there.
    let around = page.with_file_name("around.html");
    fs::write(&around, browser.run("return window.copied").as_str().unwrap()).unwrap();
    browser.open(&around, "");
    browser.wait_for("document.querySelector('iframe').clientHeight > 800");
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn everything_has_a_name_and_can_be_reached_with_the_keyboard() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "6"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    for (fragment, ready) in [("#1/6", ".viewer"), ("", ".list"), ("#4", ".viewer")] {
        browser.open(&page, fragment);
        browser.wait_for(&format!("document.querySelector('{ready}')"));
        let nameless = browser.run(
            "const name = (e) => e.getAttribute('aria-label') || e.textContent.trim() || e.placeholder; \
             const all = document.querySelectorAll('main a, main button, main input, main [role=img], main [tabindex]'); \
             return [...all].filter((e) => !name(e)).map((e) => e.outerHTML)",
        );
        assert_eq!(nameless, json!([]));
        let unreachable = browser.run(
            "const all = document.querySelectorAll('main a, main button, main input, main [role=slider]'); \
             return [...all].filter((e) => e.tabIndex < 0 || (e.tagName === 'A' && !e.href)).map((e) => e.outerHTML)",
        );
        assert_eq!(unreachable, json!([]));
    }
    assert_eq!(verdict(&browser), "The game has no moves.");
    browser.press(&["ArrowRight", "End", "f"]);
    assert_eq!(browser.console(), Vec::<String>::new());
    browser.open(&page, "#1/6");
    browser.wait_for("document.querySelector('.moves a.now')");
    browser.run("document.querySelector('.moves a').focus()");
    browser.press(&["Enter"]);
    browser.wait_for("location.hash === '#1/1'");
    browser.press(&["ArrowRight"]);
    let focused = browser.run("return document.activeElement.getAttribute('href')");
    assert_eq!(focused, "#1/2", "the focus goes along with the moves");
    let slider = browser.attribute(".graph svg", "aria-valuetext");
    assert!(slider.as_str().unwrap().starts_with("1... e5, "), "{slider}");
    assert!(browser.text("#said").starts_with("1... e5, "));
}

/// The rules of axe-core, all of them, in every view. It is no part of the project; `AXE` is the path of its script:
/// `npm install --prefix /tmp/axe axe-core; AXE=/tmp/axe/node_modules/axe-core/axe.min.js cargo test --test analyse axe`.
#[test]
fn axe_finds_nothing() {
    let Some(axe) = browser::axe() else { return };
    let (_one, games) = page_of(&fixture("page.pgn"), &["--depth", "6", "--multipv", "2"]);
    let (_other, positions) = page_of(&fixture("tasks.epd"), &["--depth", "4"]);
    let mistakes = page_with_mistakes(&games);
    let cut = games.with_file_name("cut.html");
    let html = fs::read_to_string(&games).unwrap();
    fs::write(&cut, &html[..html.find("<footer").unwrap()]).unwrap();
    let variations = games.with_file_name("variations.html");
    let study = "\"variations\":[[1,{\"moves\":\"d2d4 d7d5\",\"san\":\"d4 d5\",\"comments\":[[1,\"So.\"]],\"variations\":[]}]]";
    fs::write(&variations, html.replacen("\"variations\":[]", study, 1)).unwrap();
    // A page, the place in it, and what is done there: a selector that is clicked, or a word that is typed.
    let views = [
        (&games, "", "", ""),
        (&games, "#1/6", "", ""),
        (&games, "#1/6", ".verdict .line button", ""),
        (&games, "#1/2", "", "Nf3"),
        (&games, "#4", "", ""),
        (&mistakes, "#1/3", ".learn button", ""),
        (&mistakes, "#1/3", ".learn button", "Qe7"),
        (&variations, "#1", ".aside button", ""),
        (&positions, "", "", ""),
        (&positions, "#1", "", ""),
        (&cut, "", "", ""),
    ];
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        for scheme in ["light", "dark"] {
            browser.prefer("prefers-color-scheme", scheme);
            for (page, place, click, word) in views {
                // Another page between: the same one would not be loaded again.
                browser.open(Path::new("/dev/null"), "");
                browser.open(page, place);
                browser.wait_for("document.querySelector('main h1')");
                if !click.is_empty() {
                    browser.click(click, 0.5);
                }
                if !word.is_empty() {
                    type_move(&browser, word);
                }
                let found = browser.run_axe(&axe);
                assert_eq!(
                    found,
                    json!([]),
                    "{}{place} {click} {word}, {width} pixels, {scheme}",
                    page.display()
                );
            }
        }
    }
}

#[test]
fn what_a_game_says_is_never_markup() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<script").count(), 1 + 4 * 2, "the page's own, four games with rows");
    assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
    assert_eq!(html.matches("<!--").count(), 1, "the one about the pieces");
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    for fragment in ["#2/1", ""] {
        browser.open(&page, fragment);
        browser.wait_for("document.querySelector('.viewer, .list')");
        assert!(browser.run("return window.owned").is_null());
        assert_eq!(
            browser.run("return document.querySelectorAll('main b b, main img, main script script').length"),
            0
        );
        assert_eq!(browser.console(), Vec::<String>::new());
    }
    browser.open_viewer(&page, "#2/1");
    let heading = browser.text("h1");
    assert_eq!(
        heading,
        "<b>White</b> & </title> <!--cut--> <!--0–1\"quoted\" 'single' \\u003c ${1} <script>"
    );
    assert!(
        verdict(&browser).contains("</script><script>window.owned = 3</script>"),
        "{}",
        verdict(&browser)
    );
    let facts = browser.text(".facts");
    assert!(facts.contains("<img src=x onerror=\"window.owned = 2\">"), "{facts}");
}

#[test]
fn many_games_are_a_table_that_is_sorted_and_sifted() {
    let folder = home();
    let file = folder.path().join("many.pgn");
    let game = |number: usize| {
        let (white, result) = (["Anna", "Bert", "Carl"][number % 3], ["1-0", "0-1", "1/2-1/2"][number % 3]);
        format!(
            "[White \"{white}\"]\n[Black \"Player {number}\"]\n[Date \"2026.01.{:02}\"]\n\n1. e4 c5 {result}\n\n",
            number % 28 + 1
        )
    };
    fs::write(&file, (1..=250).map(game).collect::<String>()).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--nodes", "10"]);
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open(&page, "");
        browser.wait_for("document.querySelector('.list')");
        browser.assert_fits(width);
        let rows = || {
            browser
                .run("return document.querySelectorAll('[aria-label=Games] tbody tr').length")
                .as_u64()
                .unwrap()
        };
        assert!((100..250).contains(&rows()), "only what is seen is drawn: {}", rows());
        browser.wait_for(
            "(document.querySelector('.more').scrollIntoView(), \
             document.querySelectorAll('[aria-label=Games] tbody tr').length === 250)",
        );
        let first = || browser.text("[aria-label=Games] tbody tr");
        assert!(first().starts_with("1Bert"), "{}", first());
        browser.click("[aria-label=Games] thead th", 0.5);
        browser.click("[aria-label=Games] thead th", 0.5);
        assert!(first().starts_with("250Bert"), "{}", first());
        assert_eq!(browser.attribute("th[aria-sort]", "aria-sort"), "descending");
        let anna = "[...document.querySelectorAll('[aria-label=Players] tbody tr')].find((row) => row.textContent.startsWith('Anna'))";
        let row =
            browser.run(&format!("return [...{anna}.cells].slice(0, 3).map((cell) => cell.textContent)"));
        assert_eq!(row, json!(["Anna", "83", "83/83"]));
        browser.run(&format!("{anna}.querySelector('button').click()"));
        assert_eq!(rows(), 83);
        assert_eq!(browser.text("[role=status]"), "83 games");
        browser.click("[aria-label=Games] tbody tr:first-child .whole", 0.5);
        browser.wait_for("document.querySelector('.viewer')");
        assert_eq!(browser.run("return location.hash"), "#249/0");
        browser.run("history.back()");
        browser.wait_for("document.querySelector('.list')");
        assert_eq!(rows(), 83, "the table is as it was left");
        assert_eq!(focused(&browser), "H1 many.pgn");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn names_are_told_apart_and_fit() {
    let folder = home();
    let file = folder.path().join("names.pgn");
    let long = "Anna-Maria".repeat(12);
    let players = [("Kim", "Tal"), ("Kimura", "Kim"), ("Kim, Bo", "Italian"), ("Zed", "Zed"), ("x", &long)];
    let game = |(white, black)| format!("[White \"{white}\"]\n[Black \"{black}\"]\n\n1. e4 e5 1-0\n\n");
    fs::write(&file, players.map(game).concat()).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--nodes", "10"]);
    let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
    browser.open(&page, "");
    browser.wait_for("document.querySelector('.list')");
    browser.assert_fits(NARROW.0);
    let count = || browser.text(".sift [role=status]");
    browser.press_button("[aria-label=Players] button.plain", "Kim");
    assert_eq!(count(), "2 games");
    let typed = |words: &str| {
        let script = "const search = document.querySelector('.sift input'); search.value = arguments[0]; \
                      search.dispatchEvent(new Event('input'))";
        browser.run_with(script, json!([words]));
        count()
    };
    assert_eq!(typed("Tal"), "1 game", "not Italian");
    assert_eq!(typed("kim, b"), "1 game");
    assert_eq!(typed("kim"), "3 games");
    assert_eq!(typed(""), "5 games");
    let zed = browser.run(
        "const row = [...document.querySelectorAll('[aria-label=Players] tbody tr')].find((row) => row.textContent.startsWith('Zed')); \
         return [...row.cells].slice(0, 3).map((cell) => cell.textContent)",
    );
    assert_eq!(zed, json!(["Zed", "1", "0/0"]), "a game against itself");
    // A ply is a whole number.
    browser.open_viewer(&page, "#5/1.5");
    assert_eq!(browser.run("return location.hash"), "#5/1");
    browser.assert_fits(NARROW.0);
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn a_page_is_printed_whole() {
    let folder = home();
    let file = folder.path().join("print.pgn");
    let moves: String =
        (0..40).map(|pair| format!("{}. Nf3 Nf6 {}. Ng1 Ng8 ", 2 * pair + 1, 2 * pair + 2)).collect();
    let others = "[White \"x\"]\n\n1. e4 e5 *\n\n".repeat(150);
    fs::write(&file, format!("{moves}*\n\n{others}")).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--nodes", "10"]);
    for (width, height) in [WIDE, NARROW] {
        let Some(browser) = Browser::start(width, height) else { return };
        browser.open(&page, "");
        browser.wait_for("document.querySelector('.list')");
        browser.print();
        assert_eq!(browser.count("[aria-label=Games] tbody tr"), 151);
        browser.open_viewer(&page, "#1");
        let hidden = "return ['.moves', '.lines'].map((name) => document.querySelector(name)) \
                      .filter((e) => e.scrollHeight > e.clientHeight + 1).map((e) => e.className)";
        let height = "return document.querySelector('.side').clientHeight >= document.querySelector('.moves').clientHeight";
        browser.print();
        assert_eq!(browser.run(hidden), json!([]));
        assert!(width == NARROW.0 || browser.run(height) == true, "nothing lies over the moves");
        assert_eq!(browser.run("return getComputedStyle(document.querySelector('.steps')).display"), "none");
    }
}

#[test]
fn the_page_is_light_or_dark_as_the_user_prefers() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
    browser.open_viewer(&page, "#1/6");
    // Text and what is behind it, by the contrast that the Web Content Accessibility Guidelines ask for.
    let contrasts = "
        const light = (color) => {
          const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (element) => {
          for (let e = element; e; e = e.parentElement) {
            const color = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$|\\//.test(color) && !color.startsWith('color')) return color;
          }
        };
        return [...document.querySelectorAll('main p, main a, main small, main button, main h3, main td, main .glyph, main .counts span')]
          .filter((e) => e.textContent.trim() && e.getClientRects().length)
          .map((e) => [light(getComputedStyle(e).color), light(ground(e)), e.className + ' ' + e.textContent])
          .map(([a, b, text]) => [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text])
          .filter(([contrast]) => contrast < 4.5)";
    let grounds = ["light", "dark"].map(|scheme| {
        browser.prefer("prefers-color-scheme", scheme);
        assert_eq!(browser.run(contrasts), json!([]), "{scheme}");
        browser.run("return getComputedStyle(document.body).backgroundColor")
    });
    assert_ne!(grounds[0], grounds[1]);
    // In a theme of high contrast what is current is still seen.
    browser.prefer("forced-colors", "active");
    let behind = |selector: &str| {
        browser.run(&format!("return getComputedStyle(document.querySelector('{selector}')).backgroundColor"))
    };
    assert_ne!(behind(".moves a.now"), behind("body"));
    assert_ne!(behind(".disc.white"), behind(".disc.black"));
}

/// The script plays moves as the rules want it: positions of random games, with castling of every kind.
#[test]
fn positions_on_the_page_are_those_of_the_rules() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "1"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "");
    let mut random = Random(26);
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1",
        "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b GBgb - 5 20",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k1rr/8/8/8/8/8/8/R1R1K2R w HCga - 0 1",
        "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R w HAha - 0 1",
    ];
    for start in starts.iter().cycle().take(30) {
        let fen: Fen = start.parse().unwrap();
        let chess: shakmaty::Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let mut position = Position::from_chess(chess);
        let (mut moves, mut fens, mut sans) = (Vec::new(), vec![position.fen()], Vec::new());
        for ply in 0..120 {
            let legal = position.legal_moves();
            let named = |&m: &Move| (uci(m), San::from_move(position.chess(), m).to_string());
            // The legal moves and their names, now and then: the script is slow.
            if ply % 20 == 0 || legal.is_empty() {
                let mut expected: Vec<(String, String)> = legal.iter().map(named).collect();
                expected.sort();
                sans.push((ply, expected));
            }
            if legal.is_empty() {
                break;
            }
            let m = legal[random.below(legal.len())];
            moves.push(uci(m));
            position = position.play(m);
            fens.push(position.fen());
        }
        let found = browser.run_with(
            "return walk(readFen(arguments[0]), arguments[1]).map(writeFen)",
            json!([start, moves]),
        );
        assert_eq!(found, json!(fens), "{moves:?}");
        for (ply, expected) in sans {
            let found = browser.run_with(
                "const position = readFen(arguments[0]); \
                 const named = (move) => [move, sanOf(position, move).replace(/[+#]$/, '')]; \
                 return legalMoves(position).sort().map(named)",
                json!([fens[ply]]),
            );
            assert_eq!(found, json!(expected), "{}", fens[ply]);
        }
    }
}

/// The script finds the legal moves: the numbers of `perft.epd` as far as it counts them in a moment.
#[test]
fn the_page_counts_the_moves_that_perft_counts() {
    const MOST: u64 = 5000;
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "1"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "");
    let text = fs::read_to_string(fixture("perft.epd")).unwrap();
    let mut counted = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (fen, counts) = line.split_once(';').unwrap();
        let counts = counts.split(';').filter_map(|field| {
            let (depth, count) = field.trim().strip_prefix('D')?.split_once(' ')?;
            Some((depth.parse::<u32>().ok()?, count.parse::<u64>().ok()?))
        });
        let Some((depth, count)) = counts.rev().find(|&(_, count)| count <= MOST) else { continue };
        let found = browser.run_with(
            "const perft = (position, depth) => { \
               const moves = legalMoves(position); \
               if (depth === 1) return moves.length; \
               return moves.reduce((sum, move) => sum + perft(play(position, move), depth - 1), 0); \
             }; \
             return perft(readFen(arguments[0]), arguments[1])",
            json!([fen.trim(), depth]),
        );
        assert_eq!(found, count, "depth {depth} of {fen}");
        counted += 1;
    }
    assert!(counted > 40, "{counted}");
}

#[test]
fn a_typed_move_is_read_as_people_write_it() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "1"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "");
    for (fen, word, expected) in [
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "0-0", json!(["e1h1"])),
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "o-o-o", json!(["e1a1"])),
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "e1g1", json!(["e1h1"])),
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "E4", json!(["e2e4"])),
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "Ra1-d1", json!(["a1d1"])),
        ("4k3/8/8/8/8/8/4P3/R3K2R w KQ - 0 1", "e5", json!([])),
        ("4k3/8/8/8/8/2n5/1P6/B3K3 w - - 0 1", "bxc3", json!(["b2c3"])),
        ("4k3/8/8/8/8/2n5/8/B3K3 w - - 0 1", "bc3", json!(["a1c3"])),
        ("3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "cxd8=Q+", json!(["c7d8q"])),
        ("3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c8n", json!(["c7c8n"])),
        ("4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1", "Nd2", json!([])),
        ("4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1", "Nbd2", json!(["b1d2"])),
    ] {
        let found =
            browser.run_with("return movesMeant(readFen(arguments[0]), arguments[1])", json!([fen, word]));
        assert_eq!(found, expected, "{word} in {fen}");
    }
}

/// A move as the page writes it: castling is king takes rook.
fn uci(m: Move) -> String {
    m.to_uci(CastlingMode::Chess960).to_string()
}

/// The sentence about the move that is shown.
fn verdict(browser: &Browser) -> String {
    browser.text(".verdict")
}

/// The name of the element that has the focus, and its text.
fn focused(browser: &Browser) -> Value {
    browser.run("const { tagName, textContent } = document.activeElement; return `${tagName} ${textContent}`")
}

/// Types a move into the field for it.
fn type_move(browser: &Browser, word: &str) {
    browser.run("document.querySelector('.typed input').focus()");
    let keys: Vec<String> = word.chars().map(String::from).chain(["Enter".to_owned()]).collect();
    browser.press(&keys.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The board in words: what is shown and where the pieces are.
fn board(browser: &Browser) -> String {
    browser.attribute(".field .board", "aria-label").as_str().unwrap().to_owned()
}

/// The middle of a square, on the screen.
fn square(browser: &Browser, name: &str) -> Value {
    browser.place(".field .board", 0.5);
    browser.run_with(
        "const flipped = document.querySelector('.field .board text').textContent === '1'; \
         const [x, y] = corner(squareOf(arguments[0]), flipped); \
         const box = document.querySelector('.field .board').getBoundingClientRect(); \
         return [x, y].map((at, axis) => Math.round([box.left, box.top][axis] + ((at + 22.5) * box.width) / 360))",
        json!([name]),
    )
}

#[test]
fn a_game_on_the_page_of_lessons_can_be_walked() {
    let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
    let home = home();
    let advance = "rnbqkbnr/pp2pppp/2p5/3pP3/3P4/8/PPP2PPP/RNBQKBNR b KQkq - 0 3";
    let tool = |arguments: &[&str]| assert_eq!(finish(command(&home).arg("learn").args(arguments)).2, 0);
    tool(&["advise", advance, "h6"]);
    fs::copy(fixture("kept.pgn"), home.path().join("engram/games-1.pgn")).unwrap();
    tool(&["html", "page.html", "--nodes", "2000"]);
    browser.open(&home.path().join("page.html"), "");
    browser.wait_for("document.querySelector('.walk output')");
    let shown = || {
        let said = "const game = document.querySelector('.game article'); return [game.querySelector('output').textContent, \
                    game.querySelectorAll('.board use[href=\"#bB\"]').length, game.querySelectorAll('.arrow').length]";
        browser.run(said)
    };
    assert_eq!(shown(), serde_json::json!(["the lesson", 2, 2]));
    browser.click(".walk button:nth-child(2)", 0.5);
    assert_eq!(shown(), serde_json::json!(["after 3... Bf5", 2, 0]));
    browser.click(".walk button:nth-child(1)", 0.5);
    browser.click(".walk button:nth-child(1)", 0.5);
    assert_eq!(shown(), serde_json::json!(["after 2... d5", 2, 0]));
    let label = browser.attribute(".game article .board", "aria-label");
    let label = label.as_str().unwrap();
    assert!(label.starts_with("after 2... d5. White: king e1, queen d1, "), "{label}");
    // At the beginning the button stays, and with it the focus.
    (0..5).for_each(|_| browser.click(".walk button:nth-child(1)", 0.5));
    assert_eq!((shown(), focused(&browser)), (json!(["the start", 2, 0]), json!("BUTTON ◀")));
    browser.click(".walk button:nth-child(3)", 0.5);
    assert_eq!(shown(), serde_json::json!(["the lesson", 2, 2]));
    browser.assert_fits(NARROW.0);
    assert_eq!(browser.console(), Vec::<String>::new());
}
