//! The variations of a game. The reader keeps them as text; each is read as a game that begins where it leaves its own.

use shakmaty::Move;

use super::annotate::is_better_line;
use crate::{
    cli::pgn::{Annotation, Game, Games},
    position::Position,
    uci::translate,
};

/// Variations nested deeper than this stay text.
const DEEPEST: usize = 16;

/// A variation.
pub struct Variation {
    /// The number (from 1) of the move that it replaces.
    pub ply: usize,
    /// Its text.
    pub text: String,
    /// What the text says; `None` if it is no line of moves.
    pub line: Option<VariationLine>,
}

/// The moves of a variation.
pub struct VariationLine {
    /// Its moves and annotations.
    pub game: Game,
    /// Its positions, one more than moves.
    pub positions: Vec<Position>,
    /// The variations in it.
    pub variations: Vec<Variation>,
}

/// The variations of a game with these `positions`. Lines of an earlier analysis are none.
pub fn of_game(game: &Game, positions: &[Position]) -> Vec<Variation> {
    nested(game, positions, 0)
}

fn nested(game: &Game, positions: &[Position], depth: usize) -> Vec<Variation> {
    let mut found = Vec::new();
    for (index, annotations) in game.annotations.iter().enumerate() {
        for annotation in annotations {
            if let Annotation::Variation(text) = annotation
                && !is_better_line(text)
            {
                let line = read(text, &positions[index], depth);
                found.push(Variation { ply: index + 1, text: text.clone(), line });
            }
        }
    }
    found
}

/// Reads a variation that leaves its game in `start`.
fn read(text: &str, start: &Position, depth: usize) -> Option<VariationLine> {
    if depth >= DEEPEST {
        return None;
    }
    let is_chess960 = translate::notation(start, false).is_chess960();
    let variant = if is_chess960 { "[Variant \"Chess960\"]\n" } else { "" };
    let pgn = format!("{variant}[FEN \"{}\"]\n\n{text}\n", start.fen());
    let game = Games::new(pgn.as_bytes()).next()?.ok()?.ok()?;
    if game.moves.is_empty() {
        return None;
    }
    let positions = game.positions();
    let variations = nested(&game, &positions, depth + 1);
    Some(VariationLine { game, positions, variations })
}

/// A variation to be searched: its moves, and those that lead there from the start of the game.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The start of the game.
    pub start: Position,
    /// The moves before it.
    pub before: Vec<Move>,
    /// Its moves.
    pub moves: Vec<Move>,
}

impl Branch {
    /// The variations of a game, each before those in it.
    pub fn all(game: &Game) -> Vec<Branch> {
        let mut found = Vec::new();
        Branch::add(&of_game(game, &game.positions()), game, &[], &game.moves, &mut found);
        found
    }

    /// Adds the variations of a line of `moves`, to which the moves `before` lead.
    fn add(list: &[Variation], game: &Game, before: &[Move], moves: &[Move], found: &mut Vec<Branch>) {
        for (line, ply) in list.iter().filter_map(|one| Some((one.line.as_ref()?, one.ply))) {
            let before = [before, &moves[..ply - 1]].concat();
            let branch =
                Branch { start: game.start.clone(), before: before.clone(), moves: line.game.moves.clone() };
            found.push(branch);
            Branch::add(&line.variations, game, &before, &line.game.moves, found);
        }
    }
}
