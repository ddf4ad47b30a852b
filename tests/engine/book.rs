//! Opening books: the format is read as other programs write it, broken files are refused, the engine plays
//! from a book and learns, and `engram book` makes books that can be read.
//!
//! Public books and the answers of another reader lie in `../shared/data/polyglot`; tests that need them say
//! so where they are missing.

use std::{fs, path::Path};

use engram::{
    book::{Book, BookEntry, BookError, to_bytes},
    position::Position,
};
use shakmaty::CastlingMode;

use crate::common::{Engine, files, home, position, refused, run, shared};

fn rows(name: &str) -> Option<Vec<Vec<String>>> {
    let text = fs::read_to_string(shared(&format!("polyglot/{name}"))?).ok()?;
    Some(text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
fn every_book_is_read_as_another_reader_reads_it() {
    let Some(rows) = rows("expected-moves.tsv") else { return };
    let mut checked = 0;
    for chunk in rows.chunk_by(|a, b| a[..2] == b[..2]) {
        let book = Book::open(&shared(&format!("polyglot/{}.bin", chunk[0][0])).unwrap()).unwrap();
        let position = position(&chunk[0][1]);
        let mut found: Vec<(String, u32, u32)> = book
            .moves(&position)
            .iter()
            .map(|m| (m.book_move.to_uci(CastlingMode::Standard).to_string(), m.weight, m.learn))
            .collect();
        let number = |text: &str| text.parse::<u32>().unwrap();
        let mut expected: Vec<(String, u32, u32)> =
            chunk.iter().map(|row| (row[3].clone(), number(&row[4]), number(&row[5]))).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{} {}", chunk[0][0], chunk[0][1]);
        checked += found.len();
    }
    assert_eq!(checked, 363);
}

#[test]
fn underpromotion_and_castling_are_decoded() {
    let Some(path) = shared("polyglot/lasker-trap.bin") else { return };
    // Lasker's trap: the pawn takes on g1 and becomes a knight.
    let trap = position("rnbqk1nr/ppp2ppp/8/4P3/1BP5/8/PP2KpPP/RN1Q1BNR b kq - 1 7");
    let moves = Book::open(&path).unwrap().moves(&trap);
    assert_eq!(moves.len(), 1);
    assert_eq!(moves[0].book_move.to_uci(CastlingMode::Standard).to_string(), "f2g1n");

    let castling = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let folder = home();
    let file = folder.path().join("castling.bin");
    // King takes rook, as the format has it, and the king's two steps, as some write it.
    for (raw, name) in [(0o0407, "e1g1"), (0o0406, "e1g1"), (0o0400, "e1c1"), (0o0402, "e1c1")] {
        fs::write(&file, to_bytes(&[BookEntry { key: castling.key().0, raw, weight: 1, learn: 0 }])).unwrap();
        let moves = Book::open(&file).unwrap().moves(&castling);
        assert_eq!(moves.len(), 1, "{raw:o}");
        assert_eq!(moves[0].book_move.to_uci(CastlingMode::Standard).to_string(), name);
    }
    // An illegal move is no book move.
    fs::write(&file, to_bytes(&[BookEntry { key: castling.key().0, raw: 0o0455, weight: 1, learn: 0 }]))
        .unwrap();
    assert!(Book::open(&file).unwrap().moves(&castling).is_empty());
}

#[test]
fn broken_files_are_refused() {
    let folder = home();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let entry = |key| BookEntry { key, raw: 0o1434, weight: 1, learn: 0 };
    let descending = to_bytes(&[entry(3), entry(2), entry(1)]);
    assert!(matches!(Book::open(&file("empty", b"")), Err(BookError::Length(_, 0))));
    assert!(matches!(Book::open(&file("odd", &[0; 33])), Err(BookError::Length(_, 33))));
    assert!(matches!(Book::open(&file("order", &descending)), Err(BookError::Order { .. })));
    assert!(matches!(Book::open(folder.path()), Err(BookError::Unreadable { .. })));
    assert!(matches!(Book::open(&folder.path().join("none")), Err(BookError::Unreadable { .. })));
    let text = "a text file that happens to have a length that sixteen divides!!".repeat(16);
    assert_eq!(text.len() % 16, 0);
    assert!(matches!(Book::open(&file("text", text.as_bytes())), Err(BookError::Order { .. })));

    // Huge, sparse or full of zeros.
    let sparse = |name: &str, length: u64| {
        let path = file(name, &descending[..16]);
        fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        path
    };
    assert!(matches!(Book::open(&file("zeros", &[0; 16 * 300])), Err(BookError::Repeats(_, 1))));
    assert!(matches!(Book::open(&sparse("sparse", 1 << 26)), Err(BookError::Order(..))));
    assert!(
        matches!(Book::open(&sparse("huge", 1 << 40)), Err(BookError::Large(_, length)) if length == 1 << 40)
    );

    // The program says so in one sentence, and the engine keeps the book it has.
    let path = file("bad.bin", &[7; 20]);
    let (_, stderr, code) = run(&["book", "stats", path.to_str().unwrap()]);
    assert_eq!((code, stderr.lines().count()), (1, 1), "{stderr}");
    let mut engine = Engine::with(&["OwnBook value true"]);
    let said = engine.answer(&format!("setoption name BookFile value {}", path.display()));
    assert!(said.len() == 1 && said[0].contains("not a Polyglot book"), "{said:?}");
    assert!(said[0].ends_with("; BookFile stays as it was"), "{said:?}");
    let (_, lines) = engine.search("startpos", "go movetime 1000");
    assert!(lines.is_empty(), "the book inside still answers: {lines:?}");
    engine.quit();
}

#[test]
fn the_engine_plays_from_its_book_and_leaves_it() {
    let mut engine = Engine::ready();
    let (_, lines) = engine.search("startpos", "go depth 1");
    assert!(!lines.is_empty(), "the book is off by default");
    engine.send("setoption name OwnBook value true");
    engine.send("setoption name BookBestMove value true");
    let (m, lines) = engine.best("go wtime 1000 btime 1000");
    assert_eq!((m.as_str(), lines.len()), ("e2e4", 0));
    engine.send("setoption name BookBestMove value false");
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        seen.insert(engine.best("go depth 1").0);
    }
    assert!(seen.contains("e2e4") && seen.contains("d2d4"), "{seen:?}");
    // Analysis, and a choice of moves, are searched.
    engine.send("go infinite");
    engine.send("stop");
    assert!(!engine.best_move().1.is_empty());
    assert!(!engine.best("go depth 1 searchmoves a2a3").1.is_empty());
    // A position of another start is looked up as well, but not beyond the depth.
    engine.send("setoption name BookDepth value 2");
    engine.send("position startpos moves e2e4 e7e5");
    assert!(!engine.best("go depth 1").1.is_empty());
    engine.send("setoption name BookDepth value 20");
    assert!(engine.best("go depth 1").1.is_empty());
    engine.send("setoption name UCI_AnalyseMode value true");
    assert!(!engine.best("go depth 1").1.is_empty());
    engine.send("setoption name UCI_AnalyseMode value false");
    engine.send("position startpos moves h2h4 h7h5 h1h3");
    assert!(!engine.best("go depth 1").1.is_empty());
    engine.quit();
}

/// Plays a game of a book of two entries to its end: White's moves come from the engine.
fn play(engine: &mut Engine, moves: &str, last: &str) {
    engine.send("ucinewgame");
    let (first, lines) = engine.search("startpos", "go depth 1");
    assert!(lines.is_empty() && moves.starts_with(&first), "{first} {lines:?}");
    engine.send(&format!("position startpos moves {moves}"));
    assert_eq!(engine.best("go depth 2").0, last);
    engine.send("ucinewgame");
    engine.sync();
}

#[test]
fn results_move_the_choice_and_the_book_is_never_written() {
    let folder = home();
    let file = folder.path().join("two.bin");
    let key = Position::default().key().0;
    // 1. e4 is a little heavier than 1. d4.
    let book = to_bytes(&[
        BookEntry { key, raw: 0o1434, weight: 11, learn: 99 },
        BookEntry { key, raw: 0o1333, weight: 10, learn: 99 },
    ]);
    fs::write(&file, &book).unwrap();

    let mut engine = Engine::with(&[
        "OwnBook value true",
        "BookBestMove value true",
        &format!("BookFile value {}", file.display()),
    ]);
    let copies = engine.home().join("engram/books");

    for (option, off, on) in [("BookLearning", "false", "true"), ("Skill Level", "19", "20")] {
        engine.send(&format!("setoption name {option} value {off}"));
        play(&mut engine, "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6", "h5f7");
        assert!(!copies.exists(), "nothing is learned with {option} {off}");
        engine.send(&format!("setoption name {option} value {on}"));
    }

    // A mate on the board is a win; then positions in which we are mated next are losses.
    play(&mut engine, "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6", "h5f7");
    let copy = fs::read_dir(&copies).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read(&copy).unwrap()[12..16], [0, 1, 0, 2], "one game, two half points");
    assert_eq!(fs::read(&copy).unwrap()[28..32], [0, 0, 0, 0], "foreign learn fields are not believed");

    engine.send("ucinewgame");
    for _ in 0..2 {
        engine.send("position startpos");
        assert_eq!(engine.best("go depth 1").0, "e2e4");
        // The queen is gone for a pawn, and two searches say so.
        let lost = "position startpos moves e2e4 e7e5 d1h5 b8c6 h5f7 e8f7";
        for moves in ["", " d2d3 d7d6"] {
            engine.send(&format!("{lost}{moves}"));
            engine.best("go depth 6");
        }
        engine.send("ucinewgame");
        engine.sync();
    }
    let learned = &fs::read(&copy).unwrap()[12..16];
    assert_eq!(learned, [0, 3, 0, 2], "two losses more");
    engine.send("position startpos");
    assert_eq!(engine.best("go depth 1").0, "d2d4", "the lost opening is avoided");
    assert_eq!(fs::read(&file).unwrap(), book, "the book itself is as it was");
    engine.quit();
}

/// Three games that begin alike, without `ucinewgame` in between: the engine mates, and loses twice.
#[test]
fn a_game_counts_in_the_book_though_the_next_begins_without_a_word() {
    let folder = home();
    let file = folder.path().join("one.bin");
    let entry = BookEntry { key: Position::default().key().0, raw: 0o1434, weight: 1, learn: 0 };
    fs::write(&file, to_bytes(&[entry])).unwrap();
    let mut engine = Engine::with(&[
        "OwnBook value true",
        &format!("BookFile value {}", file.display()),
        "Learning value off",
    ]);
    let games: [&[&str]; 3] = [
        &["e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 a2a3 a7a6"],
        &["e2e4 c7c5 d1h5 g8f6 h5f7 e8f7", "e2e4 c7c5 d1h5 g8f6 h5f7 e8f7 d2d3 d7d6"],
        &["e2e4 d7d6 d1h5 g8f6 h5f7 e8f7", "e2e4 d7d6 d1h5 g8f6 h5f7 e8f7 d2d3 b8c6"],
    ];
    for lines in games {
        assert_eq!(engine.search("startpos", "go depth 1").0, "e2e4");
        for moves in lines {
            engine.search(&format!("startpos moves {moves}"), "go depth 6");
        }
    }
    engine.send("ucinewgame");
    engine.sync();
    let copy = fs::read_dir(engine.home().join("engram/books")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read(&copy).unwrap()[12..16], [0, 3, 0, 2], "three games, two half points");
    engine.quit();
}

const GAMES: &str = "[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n\
    [Event \"2\"]\n[Result \"0-1\"]\n\n1. e4 c5 2. Nf3 d6 0-1\n\n\
    [Event \"broken\"]\n\n1. e4 e5 2. Ke4 *\n\n\
    [Event \"4\"]\n[Result \"1/2-1/2\"]\n\n1. d4 d5 2. c4 e6 1/2-1/2\n";

#[test]
fn books_are_made_shown_counted_and_merged() {
    let (_folder, path) = files();
    fs::write(path("games.pgn"), GAMES).unwrap();
    let (out, err, code) = run(&["book", "make", &path("games.pgn"), "-o", &path("all.bin")]);
    assert_eq!(code, 3, "a game was skipped: {out} {err}");
    assert!(err.contains("game 3 (line 11)") && err.contains("2. Ke4"), "{err}");
    assert!(out.contains("entries from 3 games, 1 skipped"), "{out}");

    let (out, _, code) = run(&["book", "show", "--book", &path("all.bin")]);
    assert_eq!(run(&["book", "show", &path("all.bin"), "startpos"]), (out.clone(), String::new(), 0));
    assert_eq!(code, 0);
    let (_, err, code) = run(&["book", "show", &path("none.bin")]);
    assert!(code == 1 && err.contains("none.bin") && !err.contains("legal move"), "{err}");
    let weights: Vec<Vec<&str>> = out.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(weights[0][..3], ["e4", "e2e4", "2"]);
    assert_eq!(weights[1][..3], ["d4", "d2d4", "1"]);
    assert!(weights[0].join(" ").ends_with(" B00 King's Pawn Game"), "moves lead to openings: {out}");
    let after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let (out, _, _) = run(&["book", "show", after]);
    assert!(
        out.lines().any(|line| line == "B00 King's Pawn Game") && out.contains("Sicilian Defense"),
        "{out}"
    );

    // BookLimits: two games at least; half of the points at least; White's moves alone; two plies.
    let entries = |name: &str| Book::open(Path::new(&path(name))).unwrap().len();
    let make = |name: &str, options: &[&str]| {
        let (games, file) = (path("games.pgn"), path(name));
        run(&[&["book", "make", &games, "-o", &file], options].concat())
    };
    make("two.bin", &["--min-games", "2"]);
    assert_eq!(entries("two.bin"), 1);
    make("good.bin", &["--min-score", "60"]);
    assert_eq!(entries("good.bin"), 3, "Nf3 of game 1, c5 and d6 of game 2");
    make("white.bin", &["--color", "white", "--depth", "1"]);
    assert_eq!(entries("white.bin"), 2);
    let (_, err, code) = make("none.bin", &["--min-games", "9"]);
    assert!(code == 1 && err.contains("no book was written") && !Path::new(&path("none.bin")).exists());
    let (_, err, code) = make("all.bin", &[]);
    assert!(code == 1 && err.contains("--force"), "{err}");
    assert_eq!(make("all.bin", &["--force"]).2, 3);
    assert_eq!(make("x.bin", &["--min-score", "101"]).2, 2);
    let (_, err, code) = run(&["book", "make", &path("games.pgn"), "-o", "-"]);
    assert!(code == 1 && err.contains("standard output") && err.lines().count() == 1, "{err}");

    let (out, _, code) =
        run(&["book", "merge", &path("white.bin"), &path("two.bin"), "-o", &path("merged.bin")]);
    assert_eq!(code, 0, "{out}");
    let merged = Book::open(Path::new(&path("merged.bin"))).unwrap().moves(&Position::default());
    // One book gives e4 two thirds, the other all: together five sixths.
    let share = f64::from(merged[0].weight) / merged.iter().map(|m| f64::from(m.weight)).sum::<f64>();
    assert!((share - 5.0 / 6.0).abs() < 0.01, "{share}");

    let (out, _, code) = run(&["book", "stats", &path("all.bin")]);
    assert!(code == 0 && out.contains("entries,") && out.contains("reached from the start"), "{out}");
    fs::write(path("round.pgn"), "1. Nf3 Nf6 2. Ng1 Ng8 1/2-1/2").unwrap();
    run(&["book", "make", &path("round.pgn"), "-o", &path("round.bin")]);
    let (out, _, _) = run(&["book", "stats", &path("round.bin")]);
    assert!(out.contains("\n4 positions can be reached") && out.contains("in 3 plies"), "{out}");
    fs::write(path("again.pgn"), "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 1-0").unwrap();
    let (_, err, _) = run(&["book", "make", &path("again.pgn"), "-o", &path("x.bin"), "--min-games", "2"]);
    assert!(err.contains("no book was written"), "a move that comes again is of one game: {err}");
    fs::write(path("lines.pgn"), "1. e4 e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 *").unwrap();
    let make = ["book", "make", &path("lines.pgn"), "-o", &path("lines.bin"), "--force"];
    let (out, _, _) = run(&make);
    assert!(out.contains("3 entries from 1 game, 0 skipped, 2 variations left out"), "{out}");
    let (out, _, _) = run(&[&make[..], &["--variations"]].concat());
    assert!(out.ends_with("6 entries from 1 game, 0 skipped\n"), "{out}");
}

#[test]
fn weights_of_one_move_add_up_and_a_book_without_any_is_not_merged() {
    let (_folder, path) = files();
    let start = Position::default();
    let entry = |raw, weight| BookEntry { key: start.key().0, raw, weight, learn: 0 };
    let (e4, d4) = (0o1434, 0o1333);
    fs::write(path("twice.bin"), to_bytes(&[entry(e4, 65_535), entry(e4, 65_535), entry(d4, 65_535)]))
        .unwrap();
    let moves = Book::open(Path::new(&path("twice.bin"))).unwrap().moves(&start);
    assert_eq!(moves.iter().map(|m| m.weight).collect::<Vec<_>>(), [131_070, 65_535]);
    fs::write(path("zero.bin"), to_bytes(&[entry(e4, 0)])).unwrap();
    refused(
        &["book", "merge", &path("zero.bin"), &path("zero.bin"), "-o", &path("merged.bin")],
        "no book was written",
    );
    assert!(!Path::new(&path("merged.bin")).exists());
}

#[test]
fn the_book_inside_is_made_of_the_lines_beside_it() {
    let folder = home();
    let made = folder.path().join("made.bin");
    let books = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
    let (out, err, code) =
        run(&["book", "make", books.join("lines.pgn").to_str().unwrap(), "-o", made.to_str().unwrap()]);
    assert_eq!(code, 0, "{out} {err}");
    assert_eq!(fs::read(&made).unwrap(), fs::read(books.join("engram.bin")).unwrap());
    let book = Book::own();
    assert!(book.check(&made).is_ok() && book.len() > 1000);
}
