//! The positions of a tree, the nearest to its roots first.

use std::collections::{HashMap, VecDeque};

use super::{MoveView, PositionView, Tree, TreeError};
use crate::position::Position;

/// Walks through the positions, each once, and numbers them from 0, the roots first.
pub struct Nearest<'a> {
    tree: &'a Tree,
    most: usize,
    numbers: HashMap<u64, usize>,
    queue: VecDeque<Position>,
}

impl<'a> Nearest<'a> {
    /// Begins at these positions; `most` positions at most have a number.
    pub fn new(tree: &'a Tree, roots: impl IntoIterator<Item = Position>, most: usize) -> Nearest<'a> {
        let mut nearest = Nearest { tree, most, numbers: HashMap::new(), queue: VecDeque::new() };
        roots.into_iter().for_each(|root| nearest.add(root));
        nearest
    }

    fn add(&mut self, position: Position) {
        let number = self.numbers.len();
        if number < self.most && !self.numbers.contains_key(&position.key().0) {
            self.numbers.insert(position.key().0, number);
            self.queue.push_back(position);
        }
    }

    /// The number of a position that was seen.
    pub fn number(&self, position: &Position) -> Option<usize> {
        self.numbers.get(&position.key().0).copied()
    }

    /// The next position and what is known of it. From then on those after its moves have numbers.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_position(&mut self) -> Result<Option<(Position, PositionView)>, TreeError> {
        let Some(position) = self.queue.pop_front() else { return Ok(None) };
        let view = self.tree.look(&position)?.unwrap_or_else(PositionView::default);
        view.moves.iter().filter(|m| is_in_tree(m)).for_each(|m| self.add(position.play(m.m)));
        Ok(Some((position, view)))
    }
}

/// Is the position after this move in the tree? It is if it was searched, or if a game went there.
fn is_in_tree(view: &MoveView) -> bool {
    view.is_searched || view.games[0] > 0
}
