//! A FEN, and a walk from it: `FEN\n` and one byte for each move. What is a position can be searched.

use std::cell::RefCell;

use engram::{
    engine::blocking::BlockingEngine,
    eval::classical::{Caches, evaluate},
    learn::{Origin, Record},
    position::Position,
    types::{PackedMove, Score},
    uci::translate::parse_fen,
};
use shakmaty::{CastlingMode, Position as _};

pub const WORDS: &[&str] = &[
    "KQkq",
    "HAha",
    "AHah",
    "-",
    "w",
    "b",
    "e3",
    "d6",
    "a6",
    "8",
    "k",
    "K",
    "PPPPPPPP",
    "pppppppp",
    "QQQQQQQQ",
    "rnbqkbnr",
    "RNBQKBNR",
    "p2p2p2",
    "0 1",
    "99 100",
    "100 1",
    "150 4000000000",
];

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n\x03\x05\x12\x07\x20",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\n\x01\x02\x03\x04",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1\n\x07\x09",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3\n\x10",
        "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1\n\x00\x01",
        "QQQQkQQQ/8/8/8/8/8/8/4K3 b - - 0 1\n",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1\n\x00",
        "8/8/4k3/8/8/3BN3/8/4K3 w - - 99 120\n\x01\x01\x02",
        "nqnbrkbr/1ppppp1p/p7/6p1/6P1/P6P/1PPPPP2/NQNBRKBR w HEhe - 1 9\n\x08",
        "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1\n\x00\x00\x00",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

thread_local! {
    static PLAYER: RefCell<BlockingEngine> = RefCell::new({
        let mut player = BlockingEngine::new(200);
        player.engine.set_hash(1).expect("a megabyte");
        player
    });
    static CACHES: RefCell<Caches> = RefCell::new(Caches::new(1));
}

fn play(player: &mut BlockingEngine, position: &Position) {
    let best = player.search(position, &[]).expect("no moves").best;
    let legal = position.legal_moves();
    match best {
        Some(m) => assert!(legal.contains(&m), "{m} in {}", position.fen()),
        None => assert!(legal.is_empty(), "no move in {}", position.fen()),
    }
}

pub fn run(bytes: &[u8]) {
    let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let Ok(fen) = str::from_utf8(&bytes[..line]) else { return };
    for chess960 in [false, true] {
        let Ok(mut position) = parse_fen(fen, chess960) else { continue };
        check(&position);
        for &byte in bytes[line..].iter().skip(1).take(40) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position = position.play(moves[usize::from(byte) % moves.len()]);
            check(&position);
        }
        PLAYER.with_borrow_mut(|player| play(player, &position));
    }
}

fn check(position: &Position) {
    let fen = position.fen();
    let again = Position::from_chess(position.chess().clone());
    assert_eq!(again.keys(), position.keys(), "{fen}");
    let mode = position.chess().castles().mode();
    let read = parse_fen(&fen, mode == CastlingMode::Chess960).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.key(), position.key(), "{fen}");
    let score = CACHES.with_borrow_mut(|caches| evaluate(position, caches));
    assert_eq!(score, evaluate(&again, &mut Caches::new(1)), "{fen}");
    assert_eq!(score, score.clamp_evaluation(), "{fen}");
    assert!(score > -Score::INFINITE, "{fen}");
    for &m in &position.legal_moves() {
        assert_eq!(position.unpack(PackedMove::pack(m)), Some(m), "{fen}");
    }
    if let Some(null) = position.null_move() {
        assert_eq!(null.keys(), Position::from_chess(null.chess().clone()).keys(), "{fen}");
    }
    if let Ok(record) = Record::new(position, Origin::Drop) {
        let unpacked = record.position().unwrap_or_else(|error| panic!("{fen}: {error}"));
        assert_eq!(unpacked.key(), position.key(), "{fen}");
    }
}
