//! The variations of a game for the page's script.

use std::slice::Iter;

use serde::Serialize;
use shakmaty::Move;

use super::data::{LineData, ScoreData, comments, lines, uci};
use crate::cli::{
    analyse::{
        marks::for_white,
        pool::Finding,
        report::GameReport,
        variations::{self, Variation, VariationLine},
    },
    pgn::{self, Annotation, glyph},
};

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
    /// What was found after each of its moves, if they were searched.
    #[serde(flatten)]
    found: Option<FoundData>,
}

#[derive(Serialize)]
struct FoundData {
    scores: Vec<ScoreData>,
    depths: Vec<i32>,
    lines: Vec<Vec<LineData>>,
}

/// The variations of a game, by the number (from 1) of the move that they replace.
pub fn of_game(report: &GameReport) -> Vec<(usize, VariationData)> {
    let list = variations::of_game(&report.game, &report.positions);
    all(&list, &mut report.branches.iter())
}

fn all(list: &[Variation], branches: &mut Iter<'_, Vec<Finding>>) -> Vec<(usize, VariationData)> {
    list.iter().map(|variation| (variation.ply, data(variation, branches))).collect()
}

/// A variation and those in it, whose findings come next.
fn data(variation: &Variation, branches: &mut Iter<'_, Vec<Finding>>) -> VariationData {
    let Some(VariationLine { game, positions, variations }) = &variation.line else {
        return VariationData { text: Some(variation.text.clone()), ..VariationData::default() };
    };
    let word = |(index, &m): (usize, &Move)| {
        format!("{}{}", pgn::san(&positions[index], m).0, signs(&game.annotations[index]))
    };
    let found = branches.next().map(|findings| {
        let after = || positions[1..].iter().zip(findings);
        FoundData {
            scores: after().map(|(at, finding)| ScoreData::new(for_white(at, finding))).collect(),
            depths: findings.iter().map(|finding| finding.depth).collect(),
            lines: after().map(|(at, finding)| lines(at, finding)).collect(),
        }
    });
    VariationData {
        moves: uci(&game.moves),
        san: game.moves.iter().enumerate().map(word).collect::<Vec<_>>().join(" "),
        comments: comments(game),
        variations: all(variations, branches),
        text: None,
        found,
    }
}

/// The signs of a move, such as `!?`.
fn signs(annotations: &[Annotation]) -> String {
    let sign = |annotation: &Annotation| match annotation {
        Annotation::Nag(nag @ 1..=6) => glyph::sign(*nag),
        _ => None,
    };
    annotations.iter().filter_map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{json, pgn::Games};

    /// The variations of a game, as the page has them.
    fn page_json(text: &str) -> String {
        let game = Games::new(text.as_bytes()).next().unwrap().unwrap().unwrap();
        let list = variations::of_game(&game, &game.positions());
        json(&all(&list, &mut [].iter()))
    }

    #[test]
    fn variations_are_read_with_what_is_in_them() {
        assert_eq!(
            page_json(
                "1. e4 (1. d4 {Queen's pawn} 1... d5 $5 (1... Nf6) 2. c4) e5 (1... c5 {[%eval 0.3]}) *"
            ),
            "[[1,{\"moves\":\"d2d4 d7d5 c2c4\",\"san\":\"d4 d5!? c4\",\"comments\":[[1,\"Queen's pawn\"]],\
             \"variations\":[[2,{\"moves\":\"g8f6\",\"san\":\"Nf6\",\"comments\":[],\"variations\":[]}]]}],\
             [2,{\"moves\":\"c7c5\",\"san\":\"c5\",\"comments\":[],\"variations\":[]}]]"
        );
        assert_eq!(page_json("1. e4 $6 (1. d4 d5 {Engram +0.35}) *"), "[]", "an earlier analysis");
    }

    #[test]
    fn what_is_no_line_of_moves_stays_text() {
        let text = |said: &str| {
            format!("\"comments\":[],\"variations\":[],\"text\":\"{said}\"}}]]").replace('\n', "")
        };
        for said in ["1. d4 Z0 2. c4", "{only a word}", "1. e5"] {
            let found = page_json(&format!("1. e4 ({said}) *"));
            assert!(found.ends_with(&text(said)), "{found}");
        }
        let deep = format!("1. e4 {}{} *", "(1. d4 ".repeat(5000), ")".repeat(5000));
        assert!(page_json(&deep).contains("\"text\":\"1. d4 (1. d4 (1. d4"));
    }

    #[test]
    fn variations_castle_as_in_chess960() {
        let game = "[Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/4P3/2K3R1 w G - 0 1\"]\n\n1. e4 (1. O-O) *";
        assert!(page_json(game).contains("\"moves\":\"c1g1\""), "{}", page_json(game));
    }
}
