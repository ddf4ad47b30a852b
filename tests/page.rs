//! The page of `engram analyse --html`: what is in it, and how it works in a browser, wide and narrow.

#[path = "common/browser.rs"]
mod browser;
mod common;
#[path = "common/random.rs"]
mod random;

use std::{fs, path::PathBuf};

use browser::Browser;
use common::{fixture, home, run};
use engram::position::Position;
use random::Random;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, EnPassantMode, Move, fen::Fen, san::San};
use tempfile::TempDir;

const WIDE: (u32, u32) = (1280, 900);
const NARROW: (u32, u32) = (400, 800);

/// The page of an input, and the folder that it lies in.
fn page_of(input: &str, more: &[&str]) -> (TempDir, PathBuf) {
    let folder = home();
    let page = folder.path().join("page.html");
    let arguments = [&["analyse", input, "--html", page.to_str().unwrap(), "--hash", "4"], more].concat();
    let (_, err, code) = run(&arguments);
    assert!(code == 0 || code == 3, "{err}");
    (folder, page)
}

/// The JSON in a block of a page.
fn block(html: &str, id: &str) -> Value {
    let begin = format!("<script id=\"{id}\" type=\"application/json\">");
    let (_, rest) = html.split_once(&begin).unwrap_or_else(|| panic!("no block {id}"));
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn the_page_is_whole_and_can_load_nothing() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "8"]);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    assert!(html.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"), "policy");
    for foreign in
        [" src=\"", "@import", "url(http", "<link", "fetch(", "XMLHttpRequest", "innerHTML", "eval("]
    {
        let html = html.replace("<img src=", "");
        assert!(!html.contains(foreign), "{foreign}");
    }
    let index = block(&html, "index");
    assert_eq!(index["title"], "page.pgn");
    assert_eq!(index["games"].as_array().unwrap().len(), 4);
    let game = block(&html, "block1");
    assert_eq!(game["times"], json!([0.0, 0.0, 4.0, 2.0, 2.0, 21.0, 2.0]));
    assert_eq!(game["comments"], json!([[0, "Before the first move."], [3, "Where to?"]]));
    assert_eq!(game["players"][1]["title"], "FM");
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
    assert_eq!(block(&html, "index")["positions"].as_array().unwrap().len(), 4);
    assert_eq!(block(&html, "block1")["solved"], true);
    assert_eq!(block(&html, "block1")["lines"][0].as_array().unwrap().len(), 2);
    let (_folder, page) = page_of("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", &[]);
    assert_eq!(block(&fs::read_to_string(&page).unwrap(), "block1")["scores"], json!([[1, "#"]]), "a mate");
}

#[test]
fn the_page_says_what_the_other_outputs_say() {
    let folder = home();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, pgn, lines) = (path("page.html"), path("out.pgn"), path("out.jsonl"));
    let arguments =
        ["analyse", &fixture("page.pgn"), "--depth", "6", "--html", &page, "--pgn", &pgn, "--json", &lines];
    assert_eq!(run(&arguments).2, 0);
    let html = fs::read_to_string(page).unwrap();
    let (pgn, lines) = (fs::read_to_string(pgn).unwrap(), fs::read_to_string(lines).unwrap());
    for (index, line) in lines.lines().enumerate() {
        let (game, json) =
            (block(&html, &format!("block{}", index + 1)), serde_json::from_str::<Value>(line).unwrap());
        assert!(pgn.contains(game["pgn"].as_str().unwrap()), "{game}");
        for (side, name) in ["white", "black"].into_iter().enumerate() {
            assert_eq!(game["players"][side]["accuracy"], json["accuracy"][name]);
            assert_eq!(game["players"][side]["name"], json[name]);
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
        browser.open(&page, "#1");
        browser.wait_for("document.querySelector('.viewer .board use')");
        assert_eq!(browser.run("return document.title"), "Careful, A. – Hasty \"B.\" · page.pgn");
        assert_fits(&browser, width);
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
        browser.click(".moves li:nth-child(3) a:last-child", 0.3);
        ply(6);
        // On a narrow screen the first click moves the graph: the words above it change.
        browser.click(".graph svg", 0.99);
        browser.click(".graph svg", 0.99);
        ply(7);
        let tip = browser.run("return document.querySelector('.tip:not([hidden])').textContent");
        assert!(tip.as_str().unwrap().starts_with("4. Qxf7#"), "{tip}");
        browser.click(".steps button:nth-child(2)", 0.5);
        ply(6);

        let drawn = browser.run("return document.querySelector('.graph svg').outerHTML");
        assert!(!drawn.as_str().unwrap().contains("NaN"), "{drawn}");

        // The blunder: in words, in two colours, with what was better.
        assert!(
            verdict(&browser).starts_with("?? 3... Nf6 is a blunder: it allows mate in 1"),
            "{}",
            verdict(&browser)
        );
        let count = |selector: &str| {
            browser.run_with("return document.querySelectorAll(arguments[0]).length", json!([selector]))
        };
        assert_eq!((count(".field .arrow.played"), count(".field .arrow.better")), (json!(1), json!(1)));
        assert_eq!((count(".legend .played"), count(".legend .better")), (json!(1), json!(1)));
        assert_eq!(
            browser.run("return document.querySelector('.bar').getAttribute('aria-label')"),
            "Evaluation #1"
        );
        assert_eq!(count(".lines .line"), 2, "both lines of the engine");

        // Along a line and back.
        let board =
            || browser.run("return document.querySelector('.field .board').getAttribute('aria-label')");
        let in_game = board();
        assert!(in_game.as_str().unwrap().starts_with("3... Nf6. White: king e1, queen h5, "), "{in_game}");
        browser.click(".verdict .line button", 0.5);
        assert!(board().as_str().unwrap().starts_with("Line: 3... "), "{}", board());
        browser.press(&["ArrowRight"]);
        assert!(board().as_str().unwrap().starts_with("Line: 4. "), "{}", board());
        browser.press(&["Escape"]);
        assert_eq!(board(), in_game);

        let corner = || browser.run("return document.querySelector('.field .board text').textContent");
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
        let last = html.find(&format!("<script id=\"block{count}\"")).unwrap();
        let index = html.find("<script id=\"index\"").unwrap();
        // Nothing yet, one less than all and half of the last, all but the tables.
        let first = html.find("<script id=\"block1\"").unwrap();
        for (end, found) in [(first, 0), (last + 100, count - 1), (index, count)] {
            let cut = folder.path().join("cut.html");
            fs::write(&cut, &html[..end]).unwrap();
            browser.open(&cut, "");
            browser.wait_for("document.querySelector('main h1')");
            let note = browser.run("return document.querySelector('[role=status]').textContent");
            let said = format!("The analysis had not ended when this page was opened: {found} of its ");
            assert!(note.as_str().unwrap().starts_with(&said), "{note}");
            let rows = "return document.querySelectorAll('[aria-label=Games] tbody tr, [aria-label=Positions] tbody tr').length";
            assert_eq!(browser.run(rows), found);
            assert_fits(&browser, NARROW.0);
            if found > 0 {
                browser.open(&cut, "#1");
                browser.wait_for("document.querySelector('.viewer')");
            }
            assert_eq!(browser.console(), Vec::<String>::new());
        }
        browser.open(&page, "");
        browser.wait_for("document.querySelector('main h1')");
        assert!(browser.run("return document.querySelector('main .note[role=status]')").is_null());
    }
}

/// A game that begins with another position than the usual one has no named opening, even where its positions have names.
#[test]
fn a_game_from_a_position_is_in_no_book() {
    let folder = home();
    let file = folder.path().join("from.pgn");
    let game = "[SetUp \"1\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\"]\n\n\
                1... e5 2. Nf3 Nc6 3. h3 h6 *\n";
    fs::write(&file, game).unwrap();
    let (_folder, page) = page_of(file.to_str().unwrap(), &["--depth", "2"]);
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "#1");
    browser.wait_for("document.querySelector('.viewer')");
    for _ in 0..6 {
        browser.press(&["ArrowRight"]);
        let said = verdict(&browser);
        assert!(!said.contains("book") && !said.contains("null"), "{said}");
    }
}

#[test]
fn what_is_copied_and_linked_is_the_position_shown() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let html = fs::read_to_string(&page).unwrap();
    let Some(browser) = Browser::start(WIDE.0, WIDE.1) else { return };
    browser.open(&page, "#1/1");
    browser.wait_for("document.querySelector('.tools')");
    browser.run(
        "const clipboard = { writeText: async (text) => { window.copied = text; } }; \
         Object.defineProperty(navigator, 'clipboard', { value: clipboard })",
    );
    browser.click(".tools button:nth-child(1)", 0.5);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(browser.run("return window.copied"), fen);
    browser.click(".tools button:nth-child(2)", 0.5);
    assert_eq!(browser.run("return window.copied"), block(&html, "block1")["pgn"]);
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
    let slider = browser.run("return document.querySelector('.graph svg').getAttribute('aria-valuetext')");
    assert!(slider.as_str().unwrap().starts_with("1... e5, "), "{slider}");
    assert!(
        browser
            .run("return document.getElementById('said').textContent")
            .as_str()
            .unwrap()
            .starts_with("1... e5, ")
    );
}

#[test]
fn what_a_game_says_is_never_markup() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<script").count(), 1 + 4 + 1, "the page's own, four games, the index");
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
    browser.open(&page, "#2/1");
    browser.wait_for("document.querySelector('.viewer')");
    let heading = browser.run("return document.querySelector('h1').textContent");
    assert_eq!(
        heading,
        "<b>White</b> & </title> <!--cut--> <!--0–1\"quoted\" 'single' \\u003c ${1} <script>"
    );
    assert!(
        verdict(&browser).contains("</script><script>window.owned = 3</script>"),
        "{}",
        verdict(&browser)
    );
    let facts = browser.run("return document.querySelector('.facts').textContent");
    assert!(facts.as_str().unwrap().contains("<img src=x onerror=\"window.owned = 2\">"), "{facts}");
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
        assert_fits(&browser, width);
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
        let first = || {
            browser
                .run("return document.querySelector('[aria-label=Games] tbody tr').textContent")
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert!(first().starts_with("1Bert"), "{}", first());
        browser.click("[aria-label=Games] thead th", 0.5);
        browser.click("[aria-label=Games] thead th", 0.5);
        assert!(first().starts_with("250Bert"), "{}", first());
        assert_eq!(
            browser.run("return document.querySelector('th[aria-sort]').getAttribute('aria-sort')"),
            "descending"
        );
        let anna = "[...document.querySelectorAll('[aria-label=Players] tbody tr')].find((row) => row.textContent.startsWith('Anna'))";
        let row =
            browser.run(&format!("return [...{anna}.cells].slice(0, 3).map((cell) => cell.textContent)"));
        assert_eq!(row, json!(["Anna", "83", "83/83"]));
        browser.run(&format!("{anna}.querySelector('button').click()"));
        assert_eq!(rows(), 83);
        assert_eq!(browser.run("return document.querySelector('[role=status]').textContent"), "83 games");
        browser.click("[aria-label=Games] tbody tr:first-child .whole", 0.5);
        browser.wait_for("document.querySelector('.viewer')");
        assert_eq!(browser.run("return location.hash"), "#249/0");
        browser.run("history.back()");
        browser.wait_for("document.querySelector('.list')");
        assert_eq!(rows(), 83, "the table is as it was left");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn the_page_is_light_or_dark_as_the_user_prefers() {
    let (_folder, page) = page_of(&fixture("page.pgn"), &["--depth", "4"]);
    let Some(browser) = Browser::start(NARROW.0, NARROW.1) else { return };
    browser.open(&page, "#1/6");
    browser.wait_for("document.querySelector('.viewer')");
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
        browser.prefer(scheme);
        assert_eq!(browser.run(contrasts), json!([]), "{scheme}");
        browser.run("return getComputedStyle(document.body).backgroundColor")
    });
    assert_ne!(grounds[0], grounds[1]);
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
    ];
    for start in starts.iter().cycle().take(30) {
        let fen: Fen = start.parse().unwrap();
        let chess: shakmaty::Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let mut position = Position::from_chess(chess);
        let fen = |position: &Position| {
            Fen::from_position(position.chess(), EnPassantMode::PseudoLegal).to_string()
        };
        let (mut moves, mut fens, mut sans) = (Vec::new(), vec![fen(&position)], Vec::new());
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
            fens.push(fen(&position));
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
        let Some((depth, count)) = counts.filter(|&(_, count)| count <= MOST).last() else { continue };
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
    browser.run("return document.querySelector('.verdict').textContent").as_str().unwrap().to_owned()
}

/// Nothing sticks out to the side.
fn assert_fits(browser: &Browser, width: u32) {
    let found = browser.run("return document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(found <= u64::from(width), "{found} pixels on a screen of {width}");
}
