//! The variations of a game. The reader keeps them as text; each is read as a game that begins where it leaves its own.

use shakmaty::Move;

use super::{annotate::is_better_line, marks::Marks, pool::Finding, report::Judged};
use crate::{
    cli::pgn::{Annotation, Game, Games},
    position::Position,
    uci::translate,
};

/// Variations nested deeper than this stay text.
const DEEPEST: usize = 16;

/// A variation.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The number (from 1) of the move that it replaces.
    pub ply: usize,
    /// Its text.
    pub text: String,
    /// What the text says; `None` if it is no line of moves.
    pub line: Option<VariationLine>,
}

/// The moves of a variation.
#[derive(Clone, Debug)]
pub struct VariationLine {
    /// Its moves and annotations.
    pub game: Game,
    /// Its positions, one more than moves. The first is that in which it leaves its game.
    pub positions: Vec<Position>,
    /// The finding of each position; empty if they were not searched.
    pub findings: Vec<Finding>,
    /// Its moves, without judgements.
    pub moves: Vec<Judged>,
    /// The variations in it.
    pub variations: Vec<Variation>,
}

/// A variation among all of its game.
pub struct SearchedVariation<'a> {
    /// Its number, from 1: each variation comes before those in it.
    pub number: usize,
    /// The number of the variation that it leaves; `None` for the game.
    pub parent: Option<usize>,
    /// The number of moves from the beginning of the game to its first position.
    pub ply: usize,
    /// Its moves.
    pub line: &'a VariationLine,
}

impl VariationLine {
    /// Was it searched?
    pub fn is_searched(&self) -> bool {
        !self.findings.is_empty()
    }
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
    let moves = unjudged(&game, &positions, &[]);
    let variations = nested(&game, &positions, depth + 1);
    Some(VariationLine { game, positions, findings: Vec::new(), moves, variations })
}

/// The moves of a variation: no second search confirms a judgement on them.
fn unjudged(game: &Game, positions: &[Position], findings: &[Finding]) -> Vec<Judged> {
    let moves = Judged::all(&Marks::new(positions, &game.moves, findings, &[]));
    moves.into_iter().map(|m| Judged { judgement: None, ..m }).collect()
}

/// Gives the variations of a line with these `findings` what was `found` after their moves, each before those in it. One
/// that could not be searched has nothing.
pub fn put_findings(
    list: &mut [Variation],
    findings: &[Finding],
    found: &mut impl Iterator<Item = Vec<Finding>>,
) {
    for (line, ply) in list.iter_mut().filter_map(|one| Some((one.line.as_mut()?, one.ply))) {
        let after = found.next().unwrap_or_default();
        if !after.is_empty() {
            let start = findings.get(ply - 1).cloned().unwrap_or_default();
            line.findings = [vec![start], after].concat();
            line.moves = unjudged(&line.game, &line.positions, &line.findings);
        }
        put_findings(&mut line.variations, &line.findings, found);
    }
}

/// The variations of a game that were searched.
pub fn searched(list: &[Variation]) -> Vec<SearchedVariation<'_>> {
    numbered(list).into_iter().filter(|one| one.line.is_searched()).collect()
}

/// The variations of a game that are lines of moves, searched or not, each before those in it.
fn numbered(list: &[Variation]) -> Vec<SearchedVariation<'_>> {
    fn add<'a>(
        list: &'a [Variation],
        parent: Option<usize>,
        before: usize,
        all: &mut Vec<SearchedVariation<'a>>,
    ) {
        for (line, ply) in list.iter().filter_map(|one| Some((one.line.as_ref()?, before + one.ply - 1))) {
            let number = all.len() + 1;
            all.push(SearchedVariation { number, parent, ply, line });
            add(&line.variations, Some(number), ply, all);
        }
    }
    let mut all = Vec::new();
    add(list, None, 0, &mut all);
    all
}

/// A variation to be searched: the moves that lead to its end from the start of the game.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The start of the game.
    pub start: Position,
    /// The moves, of the game at first.
    pub moves: Vec<Move>,
    /// How many of them are not its own.
    pub before: usize,
}

impl Branch {
    /// The variations `list` of a game, each before those in it.
    pub fn all(game: &Game, list: &[Variation]) -> Vec<Branch> {
        let mut found: Vec<Branch> = Vec::new();
        for SearchedVariation { parent, ply, line, .. } in numbered(list) {
            let left = parent.map_or(&game.moves, |parent| &found[parent - 1].moves);
            let moves = [&left[..ply], &line.game.moves].concat();
            found.push(Branch { start: game.start.clone(), moves, before: ply });
        }
        found
    }
}
