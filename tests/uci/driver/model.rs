//! What the GUI knows: a position, how its moves are written, and what a search of it may answer.

use engram::{position::Position, uci::translate::parse_fen};
use shakmaty::{CastlingMode, Move, Position as _, uci::UciMove};

use crate::common::random::Random;

const FENS: [&str; 8] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/1p1k4/p1p2p2/P1P1pP2/1P2P3/4K3/8 w - - 90 80",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
    "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 99 70",
];

/// A command that sets a position, and the position.
pub fn random_position(random: &mut Random, chess960: bool) -> (String, Position) {
    let (mut line, mut position) = match random.below(3) {
        0 => {
            let fen = random.pick(&FENS);
            (format!("position fen {fen}"), parse_fen(fen, chess960).expect("a position"))
        }
        _ => {
            let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
            ("position startpos".to_owned(), parse_fen(fen, chess960).expect("a position"))
        }
    };
    let plies = random.below(60);
    for ply in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = moves[random.below(moves.len())];
        line += if ply == 0 { " moves " } else { " " };
        line += &m.to_uci(notation(&position, chess960)).to_string();
        position = position.play(m);
    }
    (line, position)
}

pub fn notation(position: &Position, chess960: bool) -> CastlingMode {
    if chess960 { CastlingMode::Chess960 } else { position.chess().castles().mode() }
}

/// A search that is not answered yet.
pub struct Search {
    pub position: Position,
    /// The moves that may be answered; all if empty.
    pub moves: Vec<Move>,
    /// Does it end only when it is told to?
    pub waits: bool,
}

fn legal(position: &Position, text: &str) -> Option<Move> {
    text.parse::<UciMove>().ok()?.to_move(position.chess()).ok()
}

impl Search {
    /// What is wrong with the words behind `bestmove`, if anything is.
    pub fn objection(&self, words: &[&str]) -> Option<String> {
        let fen = self.position.fen();
        let (best, ponder) = match words {
            [best] => (*best, None),
            [best, "ponder", ponder] => (*best, Some(*ponder)),
            _ => return Some("it is not `bestmove MOVE [ponder MOVE]`".to_owned()),
        };
        if !self.position.has_legal_move() {
            return (best != "0000" && best != "(none)").then(|| format!("there is no move in {fen}"));
        }
        let Some(m) = legal(&self.position, best) else {
            return Some(format!("{best} is not legal in {fen}"));
        };
        if !self.moves.is_empty() && !self.moves.contains(&m) {
            return Some(format!("{best} is not one of searchmoves in {fen}"));
        }
        let child = self.position.play(m);
        let ponder = ponder.filter(|ponder| legal(&child, ponder).is_none());
        ponder.map(|ponder| format!("{ponder} is not legal after {best} in {fen}"))
    }

    /// The first move of a line that is not legal.
    pub fn objection_to_line<'a>(&self, moves: impl Iterator<Item = &'a str>) -> Option<String> {
        let mut position = self.position.clone();
        for text in moves {
            match legal(&position, text) {
                Some(m) => position = position.play(m),
                None => return Some(format!("{text} is not legal in {}", position.fen())),
            }
        }
        None
    }
}
