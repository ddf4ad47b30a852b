//! Chess960 and double Chess960 as they are played: every start is understood in both notations, and whole games
//! of the real binary hold nothing but legal moves.

use engram::{position::Position, uci::translate::parse_fen};
use shakmaty::{CastlingMode, Color, Move, Position as _, Square, uci::UciMove};

use crate::common;

/// The first row of a start position by its number, 0 to 959 (R. Scharnagl).
fn row(number: usize) -> [char; 8] {
    let mut row = [' '; 8];
    let put = |row: &mut [char; 8], piece: char, place: usize| {
        let free = (0..8).filter(|&file| row[file] == ' ').nth(place).expect("a free file");
        row[free] = piece;
    };
    let (light, number) = (number % 4, number / 4);
    row[2 * light + 1] = 'B';
    let (dark, number) = (number % 4, number / 4);
    row[2 * dark] = 'B';
    let (queen, knights) = (number % 6, number / 6);
    put(&mut row, 'Q', queen);
    let pairs = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let (first, second) = pairs[knights];
    // The second knight's place counts the first one's as free.
    put(&mut row, 'N', second);
    put(&mut row, 'N', first);
    for piece in ['R', 'K', 'R'] {
        put(&mut row, piece, 0);
    }
    row
}

/// A start in Shredder-FEN and in X-FEN, each side with a row of its own.
fn starts(white: usize, black: usize) -> [String; 2] {
    let (white, black) = (row(white), row(black));
    let files = |row: [char; 8]| -> String {
        (0..8).rev().filter(|&file| row[file] == 'R').map(|file| (b'A' + file as u8) as char).collect()
    };
    let rows = |white: [char; 8], black: [char; 8]| {
        let lower: String = black.iter().collect::<String>().to_lowercase();
        format!("{lower}/pppppppp/8/8/8/8/PPPPPPPP/{}", white.iter().collect::<String>())
    };
    let shredder = format!("{}{}", files(white), files(black).to_lowercase());
    [shredder.as_str(), "KQkq"].map(|rights| format!("{} w {rights} - 0 1", rows(white, black)))
}

#[test]
fn every_start_is_understood_in_both_notations() {
    assert_eq!(row(518).iter().collect::<String>(), "RNBQKBNR");
    let mut rows = std::collections::BTreeSet::new();
    for number in 0..960 {
        rows.insert(row(number));
        // Each row once for White, against each other one somewhere.
        let [shredder, x] = starts(number, (number * 7 + 13) % 960)
            .map(|fen| parse_fen(&fen, true).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!((shredder.key(), shredder.fen()), (x.key(), x.fen()), "start {number}");
        assert_eq!(shredder.chess().castles().castling_rights().count(), 4, "start {number}");
    }
    assert_eq!(rows.len(), 960);
    // X-FEN names an inner rook by its file.
    let inner = parse_fen("4k3/8/8/8/8/8/8/1R1RK2R w HD - 0 1", true).expect("an X-FEN");
    assert_eq!(inner.fen(), parse_fen("4k3/8/8/8/8/8/8/1R1RK2R w KD - 0 1", true).expect("an X-FEN").fen());
}

/// Plays a game of the engine with itself, in which who can castle does; gives back the castling moves.
fn game(engine: &mut common::Engine, fen: &str) -> Vec<String> {
    engine.send("ucinewgame");
    let mut position: Position = parse_fen(fen, true).expect("a start position");
    let (mut moves, mut castled) = (String::new(), Vec::new());
    for _ in 0..160 {
        if !position.has_legal_move() || position.halfmoves() >= 100 || position.is_insufficient_material() {
            break;
        }
        engine.send(&format!("position fen {fen}{moves}"));
        let castling = position.legal_moves().into_iter().filter(|m| m.is_castle());
        let castling: String = castling.map(|m| format!(" {}", m.to_uci(CastlingMode::Chess960))).collect();
        let only = if castling.is_empty() { String::new() } else { format!(" searchmoves{castling}") };
        let (answer, lines) = engine.best(&format!("go nodes 300{only}"));
        assert!(!lines.iter().any(|line| line.contains("illegal")), "{fen}{moves}: {lines:?}");
        let uci: UciMove = answer.parse().unwrap_or_else(|_| panic!("{fen}{moves}: {answer} is not a move"));
        let m =
            uci.to_move(position.chess()).unwrap_or_else(|_| panic!("{fen}{moves}: {answer} is not legal"));
        assert_eq!(m.to_uci(CastlingMode::Chess960).to_string(), answer, "castling is king takes rook");
        if let Move::Castle { king, rook } = m {
            castled.push(format!("{king}{rook}"));
        }
        moves = if moves.is_empty() { format!(" moves {answer}") } else { format!("{moves} {answer}") };
        let (side, after) = (position.turn(), position.play(m));
        if let Move::Castle { king, rook } = m {
            // King and rook stand where castling leaves them, wherever they came from.
            let (king_to, rook_to) =
                if king < rook { (Square::G1, Square::F1) } else { (Square::C1, Square::D1) };
            let own = |square: Square| if side == Color::White { square } else { square.flip_vertical() };
            assert_eq!(after.board().king_of(side), Some(own(king_to)), "{fen}{moves}");
            assert!(after.board().rooks().contains(own(rook_to)), "{fen}{moves}");
        }
        position = after;
    }
    castled
}

#[test]
fn whole_games_hold_nothing_but_legal_moves() {
    let games = if common::is_full() { 100 } else { 8 };
    let mut engine = common::Engine::ready();
    engine.send("setoption name Learning value off");
    engine.send("setoption name UCI_Chess960 value true");
    // Here king and rook change places with the first move.
    let (short, long): (Vec<usize>, Vec<usize>) = (0..960)
        .filter(|&number| row(number)[5..7] == ['K', 'R'] || row(number)[2..4] == ['R', 'K'])
        .partition(|&number| row(number)[5] == 'K');
    for number in 0..games {
        // Chess960, then double Chess960.
        let [white, black] = [&short, &long].map(|rows| rows[number * 137 % rows.len()]);
        let castled = game(&mut engine, &starts(white, white)[0]);
        assert!(castled[..2] == ["f1g1", "f8g8"], "{castled:?}");
        let castled = game(&mut engine, &starts((number * 137 + 11) % 960, black)[1]);
        assert!(castled.contains(&"d8c8".to_owned()), "{castled:?}");
    }
    engine.quit();
}
