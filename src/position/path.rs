//! The line of positions from the last irreversible move to the present one.
//!
//! A repetition inside the search is a draw at once: if one side could force the position again, it can
//! force it a third time. A repetition of a position of the *game* is a draw only when it is the third
//! occurrence, since the opponent has shown once already that he may deviate.

use super::Position;
use crate::types::{Ply, PositionKey};

/// How the present position repeats an earlier one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The earlier occurrence lies inside the search.
    InSearch,
    /// Two earlier occurrences, the nearer of them in the game.
    InGame,
}

#[derive(Copy, Clone, Debug)]
struct Step {
    key: PositionKey,
    /// How many plies back a repetition may lie: none across a capture, pawn move or null move.
    reversible: u16,
}

/// The positions of game and search, oldest first, the present one last.
#[derive(Clone, Debug, Default)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// A path that starts (and stands) at `position`.
    pub fn new(position: &Position) -> Path {
        let mut path = Path::default();
        path.push(position);
        path
    }

    /// Appends the position after a move.
    pub fn push(&mut self, position: &Position) {
        let reversible = match self.steps.last() {
            Some(last) if position.halfmoves() > 0 => last.reversible.saturating_add(1),
            _ => 0,
        };
        self.steps.push(Step { key: position.repetition_key(), reversible });
    }

    /// Appends the position after a null move: nothing before it can be repeated.
    pub fn push_null(&mut self, position: &Position) {
        self.steps.push(Step { key: position.repetition_key(), reversible: 0 });
    }

    /// Takes the last position back.
    pub fn pop(&mut self) {
        self.steps.pop();
    }

    /// Forgets positions that can never be repeated, keeping the game's path short.
    pub fn trim(&mut self) {
        let keep = self.steps.last().map_or(0, |step| usize::from(step.reversible) + 1);
        let excess = self.steps.len().saturating_sub(keep);
        self.steps.drain(..excess);
    }

    /// Does the present position, `ply` plies from the root, repeat an earlier one in a way that draws?
    pub fn repetition(&self, ply: Ply) -> Option<Repetition> {
        let (last, earlier) = self.steps.split_last()?;
        let mut seen_in_game = false;
        for back in (4..=usize::from(last.reversible)).step_by(2) {
            let index = earlier.len().checked_sub(back)?;
            if earlier[index].key != last.key {
                continue;
            }
            if back < ply.index() {
                return Some(Repetition::InSearch);
            }
            if seen_in_game {
                return Some(Repetition::InGame);
            }
            seen_in_game = true;
        }
        None
    }

    /// Has a position that can still be repeated occurred twice? Then what follows is not what it would be in
    /// another game: a third time is a draw.
    pub fn has_repeated(&self) -> bool {
        let Some(last) = self.steps.last() else { return false };
        let first = self.steps.len().saturating_sub(usize::from(last.reversible) + 1);
        let steps = &self.steps[first..];
        steps.iter().enumerate().any(|(index, step)| steps[..index].iter().any(|other| other.key == step.key))
    }

    /// How often the present position has occurred, this time included.
    pub fn occurrences(&self) -> usize {
        let Some((last, earlier)) = self.steps.split_last() else { return 0 };
        let reachable = usize::from(last.reversible).min(earlier.len());
        1 + earlier[earlier.len() - reachable..].iter().filter(|step| step.key == last.key).count()
    }
}
