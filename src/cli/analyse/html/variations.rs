//! The variations of a game. The reader keeps them as text; each is read as a game that begins where it leaves its own.

use serde::Serialize;
use shakmaty::Move;

use super::data::{comments, uci};
use crate::{
    cli::{
        analyse::annotate::is_better_line,
        pgn::{self, Annotation, Game, Games},
    },
    position::Position,
    uci::translate,
};

/// Variations nested deeper than this are shown as text.
const DEEPEST: usize = 16;

/// A variation, as the script walks it.
#[derive(Default, Serialize)]
pub struct VariationData {
    moves: String,
    /// The moves as people read them, with the signs of the input.
    san: String,
    /// Number of moves before it, and text.
    comments: Vec<(usize, String)>,
    /// Variations in it, with the number (from 1) of the move that they replace.
    variations: Vec<(usize, VariationData)>,
    /// In place of all that, what cannot be read as moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The variations of a game with these `positions`, by the number (from 1) of the move that they replace. Lines of an
/// earlier analysis are none.
pub fn of_game(game: &Game, positions: &[Position]) -> Vec<(usize, VariationData)> {
    nested(game, positions, 0)
}

fn nested(game: &Game, positions: &[Position], depth: usize) -> Vec<(usize, VariationData)> {
    let mut found = Vec::new();
    for (index, annotations) in game.annotations.iter().enumerate() {
        for annotation in annotations {
            if let Annotation::Variation(text) = annotation
                && !is_better_line(text)
            {
                found.push((index + 1, read(text, &positions[index], depth)));
            }
        }
    }
    found
}

/// Reads a variation that leaves its game in `start`.
fn read(text: &str, start: &Position, depth: usize) -> VariationData {
    let variant =
        if translate::notation(start, false).is_chess960() { "[Variant \"Chess960\"]\n" } else { "" };
    let pgn = format!("{variant}[FEN \"{}\"]\n\n{text}\n", start.fen());
    let game = (depth < DEEPEST).then(|| Games::new(pgn.as_bytes()).next()).flatten();
    match game {
        Some(Ok(Ok(game))) if !game.moves.is_empty() => {
            let positions = game.positions();
            let word = |(index, &m): (usize, &Move)| {
                let san = pgn::san(&positions[index], m).0;
                format!("{san}{}", signs(&game.annotations[index]))
            };
            VariationData {
                moves: uci(&game.moves),
                san: game.moves.iter().enumerate().map(word).collect::<Vec<_>>().join(" "),
                comments: comments(&game),
                variations: nested(&game, &positions, depth + 1),
                text: None,
            }
        }
        _ => VariationData { text: Some(text.to_owned()), ..VariationData::default() },
    }
}

/// The signs of a move, such as `!?`.
fn signs(annotations: &[Annotation]) -> String {
    let sign = |annotation: &Annotation| match annotation {
        Annotation::Nag(1) => "!",
        Annotation::Nag(2) => "?",
        Annotation::Nag(3) => "!!",
        Annotation::Nag(4) => "??",
        Annotation::Nag(5) => "!?",
        Annotation::Nag(6) => "?!",
        _ => "",
    };
    annotations.iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::json;

    /// The variations of a game, as the page has them.
    fn told(text: &str) -> String {
        let game = Games::new(text.as_bytes()).next().unwrap().unwrap().unwrap();
        json(&of_game(&game, &game.positions()))
    }

    #[test]
    fn variations_are_read_with_what_is_in_them() {
        assert_eq!(
            told("1. e4 (1. d4 {Queen's pawn} 1... d5 $5 (1... Nf6) 2. c4) e5 (1... c5 {[%eval 0.3]}) *"),
            "[[1,{\"moves\":\"d2d4 d7d5 c2c4\",\"san\":\"d4 d5!? c4\",\"comments\":[[1,\"Queen's pawn\"]],\
             \"variations\":[[2,{\"moves\":\"g8f6\",\"san\":\"Nf6\",\"comments\":[],\"variations\":[]}]]}],\
             [2,{\"moves\":\"c7c5\",\"san\":\"c5\",\"comments\":[],\"variations\":[]}]]"
        );
        assert_eq!(told("1. e4 $6 (1. d4 d5 {Engram +0.35}) *"), "[]", "an earlier analysis");
    }

    #[test]
    fn what_is_no_line_of_moves_stays_text() {
        let text = |said: &str| {
            format!("\"comments\":[],\"variations\":[],\"text\":\"{said}\"}}]]").replace('\n', "")
        };
        for said in ["1. d4 Z0 2. c4", "{only a word}", "1. e5"] {
            let found = told(&format!("1. e4 ({said}) *"));
            assert!(found.ends_with(&text(said)), "{found}");
        }
        let deep = format!("1. e4 {}{} *", "(1. d4 ".repeat(5000), ")".repeat(5000));
        assert!(told(&deep).contains("\"text\":\"1. d4 (1. d4 (1. d4"));
    }

    #[test]
    fn variations_castle_as_in_chess960() {
        let game = "[Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/4P3/2K3R1 w G - 0 1\"]\n\n1. e4 (1. O-O) *";
        assert!(told(game).contains("\"moves\":\"c1g1\""), "{}", told(game));
    }
}
