//! Text by others: EPD lines, lines of a learning file's export, the protocol's answers, PGN files.

use engram::{
    book,
    cli::{
        analyse::epd,
        pgn::{Annotation, Comment, Game, Games, write_game},
    },
    learn::{LearnedScore, exchange},
    protocol::Message,
};

pub const WORDS: &[&str] = &[
    "bm",
    "am",
    "id",
    "c8",
    "c9",
    "ce",
    "dm",
    "acd",
    "key",
    "move",
    "lower",
    "upper",
    "depth",
    "clock",
    "origin",
    "flags",
    "ply",
    "since",
    "nodes",
    "evaluation",
    "session",
    "time",
    "9c",
    "drop",
    "advice",
    "-",
    "Nf3",
    "O-O",
    "e8=Q+",
    "\"x\"",
    "hmvc 99;",
    "fmvn 4294967295;",
    "w KQkq -",
    "#5",
    "option",
    "type spin",
    "info",
    "bestmove",
    "score cp",
    "string",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let fixtures = concat!(include_str!("../../data/tasks.epd"), include_str!("../../data/perft.epd"));
    let mut seeds: Vec<Vec<u8>> = fixtures.lines().map(|line| line.as_bytes().to_vec()).collect();
    let other = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - key 463b96181691fc9c; move e2e4; lower 10; upper 30; depth 12; clock 0; origin drop; flags -; ply 0; since 0; nodes 15; evaluation 1; session e46a0000; time 1766000000;",
        "8/8/1p1k4/p1p2p2/P1P1pP2/1P2P3/4K3/8 w - - 12 50 bm Kd2; ce 25; acd 20; id \"fortress\";",
        "4k3/P7/8/8/8/8/8/4K3 w - - bm a8=Q+; dm 9;",
        "info depth 5 seldepth 9 multipv 1 score cp 31 upperbound wdl 100 800 100 nodes 1234 nps 1 hashfull 0 tbhits 0 time 3 pv e2e4 e7e5",
        "option name PathHash type combo default draws var off var full",
        "bestmove e7e8q ponder a1b1",
    ];
    seeds.extend(other.map(|text| text.as_bytes().to_vec()));
    seeds
}

pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(50) {
        if let Ok(record) = epd::EpdRecord::read(line, 1) {
            let legal = record.position.legal_moves();
            assert!(record.best.iter().chain(&record.avoid).all(|m| legal.contains(m)), "{line}");
            assert!(record.points.iter().all(|(m, _)| legal.contains(m)), "{line}");
        }
        if let Ok(Some(record)) = exchange::parse_line(line, 7, 8) {
            let written = exchange::line(&record).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(exchange::parse_line(&written, 9, 10), Ok(Some(record)), "{line}");
        }
        if let Ok(message) = line.parse::<Message>() {
            let written = message.to_string();
            let again = written.parse::<Message>().unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(again.to_string(), written, "{line}");
        }
        if let Ok(score) = line.parse::<LearnedScore>() {
            assert_eq!(score.to_string().parse(), Ok(score), "{line}");
        }
    }
}

pub const PGN_WORDS: &[&str] = &[
    "[Event \"a\"]",
    "[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]",
    "[Variant \"Chess960\"]",
    "[SetUp \"1\"]",
    "[Result \"1-0\"]",
    "1.",
    "1...",
    "e4",
    "O-O",
    "O-O-O",
    "a8=Q#",
    "Nbd7",
    "e7e8q",
    "--",
    "Z0",
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "$1",
    "$256",
    "!?",
    "*",
    "1-0",
    "1/2-1/2",
    "0-1",
    "\u{bd}-\u{bd}",
    "\u{feff}",
    "\\\"",
    "]",
    "Sf3",
    "e2-e4",
    "+-",
    "+--",
    "~",
    "=/&",
    "<=>",
    "♦",
    "resigns",
    "ed5",
    "0-0",
    "½",
    "1:0",
    "12.5s",
    "$4294967296",
    "\n\n",
    "e.p.",
    "\r",
    "[Event \"",
    "[%eval 0.1]",
];

pub fn pgn_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [
        "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 2. Nf3 {a comment} Nc6 (2... d6 3. d4 (3. Bc4 $1)) 3. Bb5! a6 *\n\n[Event \"b\"]\n\n1. d4 ; rest\n1... d5 1/2-1/2\n",
        "[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1\"]\n\n1. e4 e5 2. d3 *\n",
        "% escaped\n[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. a8=Q+ Kd7 2. Qa7+ 1-0\n",
        "1. e2e4 e7e5 2. e1e2 *",
        "; by hand\r[White \"x\"]\r\r1. Ng1-f3 Nf6+- (1... Sf6 1-0\r) 2.c4= ; {a)\r2... e5 1/2\r",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    seeds.push(include_bytes!("../../data/games.pgn").to_vec());
    seeds
}

pub fn run_pgn(bytes: &[u8]) {
    let mut builder = book::Builder::default();
    for game in Games::new(bytes).take(50) {
        // UTF-16 is refused as a whole.
        let Ok(game) = game else { break };
        let Ok(game) = game else { continue };
        let mut position = game.start.clone();
        for &m in &game.moves {
            assert!(position.legal_moves().contains(&m));
            builder.add(&position, m, 1);
            position = position.play(m);
        }
        assert_eq!(game.annotations.len(), game.moves.len());
        same_again(&game);
    }
    let entries = builder.finish(book::BookLimits { min_games: 1, min_score: 0.0 });
    assert!(entries.is_sorted_by_key(|entry| entry.key));
}

/// What was read is read the same after it was written.
fn same_again(game: &Game) {
    let annotations = std::iter::once(&game.preface).chain(&game.annotations);
    let comments: Vec<Comment> =
        annotations.map(|said| said.iter().map(Annotation::to_string).collect()).collect();
    let written = write_game(game, &game.tags, &comments);
    let again: Vec<_> =
        Games::new(written.as_bytes()).map(|game| game.expect("memory can be read")).collect();
    let [Ok(again)] = again.as_slice() else { panic!("{again:?} of {written}") };
    assert_eq!((&again.moves, &again.outcome), (&game.moves, &game.outcome), "{written}");
    assert_eq!((&again.tags, &again.preface), (&game.tags, &game.preface), "{written}");
    assert_eq!(again.annotations, game.annotations, "{written}");
}
