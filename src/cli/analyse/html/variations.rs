//! The variations of a game for the page's script.

use serde::Serialize;

use super::data::{LineData, ScoreData, comments, lines, uci};
use crate::cli::{
    analyse::{
        annotate::without_commands,
        report::Judged,
        variations::{Variation, VariationLine},
    },
    pgn::{Annotation, glyph},
};

/// A variation, as the script walks it.
#[derive(Default, Serialize)]
pub struct VariationData {
    moves: String,
    /// The moves as people read them, with the signs of the input.
    san: String,
    /// Number of moves before it, and text.
    comments: Vec<(usize, String)>,
    /// The result at its end, if one is written there.
    #[serde(skip_serializing_if = "String::is_empty")]
    result: String,
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

/// Variations, by the number (from 1) of the move that they replace.
pub fn all(list: &[Variation]) -> Vec<(usize, VariationData)> {
    list.iter().map(|variation| (variation.ply, data(variation))).collect()
}

fn data(variation: &Variation) -> VariationData {
    let Some(line) = &variation.line else {
        return VariationData { text: Some(readable(&variation.text)), ..VariationData::default() };
    };
    let VariationLine { game, positions, findings, moves, variations } = line;
    let word = |(m, annotations): (&Judged, &Vec<Annotation>)| format!("{}{}", m.san, signs(annotations));
    let after = || positions.iter().zip(findings).skip(1);
    let found = line.is_searched().then(|| FoundData {
        scores: moves.iter().map(|m| ScoreData::new(m.score)).collect(),
        depths: after().map(|(_, finding)| finding.depth).collect(),
        lines: after().map(|(position, finding)| lines(position, finding)).collect(),
    });
    VariationData {
        moves: uci(&game.moves),
        san: moves.iter().zip(&game.annotations).map(word).collect::<Vec<_>>().join(" "),
        comments: comments(game),
        result: game.written_result.clone(),
        variations: all(variations),
        text: None,
        found,
    }
}

/// The signs of a move as they stand behind it, such as `!?`.
pub fn signs<'a>(annotations: impl IntoIterator<Item = &'a Annotation>) -> String {
    let sign = |annotation: &Annotation| match annotation {
        Annotation::Nag(nag) => sign_behind(*nag),
        _ => None,
    };
    annotations.into_iter().filter_map(sign).collect()
}

/// The sign of a glyph behind a move: but for a judgement of the move after a space, at which no line ends, because many look
/// like a part of the move.
fn sign_behind(nag: u32) -> Option<String> {
    let space = if nag > 6 { "\u{a0}" } else { "" };
    glyph::sign(nag).map(|sign| format!("{space}{sign}"))
}

/// The text of a variation as people read it: no braces and commands, signs in place of their numbers.
fn readable(text: &str) -> String {
    let mut readable = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (moves, after) = rest.split_once('{').unwrap_or((rest, ""));
        let mut parts = moves.split(" $");
        readable.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let sign = part[..digits].parse().ok().and_then(sign_behind);
            readable.extend([sign.as_deref().unwrap_or_default(), &part[digits..]]);
        }
        let (comment, after) = after.split_once('}').unwrap_or((after, ""));
        readable.push_str(&without_commands(comment, "[%"));
        rest = after;
    }
    readable.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").replace(" )", ")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{analyse::variations::of_game, json, pgn::Games};

    /// The variations of a game, as the page has them.
    fn page_json(text: &str) -> String {
        let game = Games::new(text.as_bytes()).next().unwrap().unwrap().unwrap();
        json(&all(&of_game(&game, &game.positions())))
    }

    #[test]
    fn variations_are_read_with_what_is_in_them() {
        assert_eq!(
            page_json(
                "1. e4 (1. d4 {Queen's pawn} 1... d5 $5 $14 $146 $99 (1... Nf6) 2. c4) e5 (1... c5 {[%eval 0.3]} 1/2-1/2) *"
            ),
            "[[1,{\"moves\":\"d2d4 d7d5 c2c4\",\"san\":\"d4 d5!?\u{a0}⩲\u{a0}N c4\",\"comments\":[[1,\"Queen's pawn\"]],\
             \"variations\":[[2,{\"moves\":\"g8f6\",\"san\":\"Nf6\",\"comments\":[],\"variations\":[]}]]}],\
             [2,{\"moves\":\"c7c5\",\"san\":\"c5\",\"comments\":[],\"result\":\"1/2-1/2\",\"variations\":[]}]]"
        );
        assert_eq!(page_json("1. e4 $6 (1. d4 d5 {Engram +0.35}) *"), "[]", "an earlier analysis");
    }

    #[test]
    fn what_is_no_line_of_moves_stays_text() {
        let text = |said: &str| {
            format!("\"comments\":[],\"variations\":[],\"text\":\"{said}\"}}]]").replace('\n', "")
        };
        for (said, shown) in [
            ("1. d4 Z0 2. c4", "1. d4 Z0 2. c4"),
            ("{only a word}", "only a word"),
            ("1. e5", "1. e5"),
            ("1. d4 $5 $14 {[%eval 0.3] so} -- (1... d5 $1 {[%clk 1]})", "1. d4!?\u{a0}⩲ so -- (1... d5!)"),
        ] {
            let found = page_json(&format!("1. e4 ({said}) *"));
            assert!(found.ends_with(&text(shown)), "{found}");
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
