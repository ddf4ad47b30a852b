//! The positions of a tree, the nearest to its roots first.

use std::collections::{HashMap, HashSet, VecDeque};

use shakmaty::Color;

use super::{
    MoveView, PositionView, Tree, TreeError,
    graph::{self, Key},
    notation::key_of,
};
use crate::{
    position::Position,
    types::{Depth, PackedMove, PositionKey, Score},
};

/// What the tree says of a searched position, as a transposition table has it.
#[derive(Copy, Clone, Debug)]
pub struct KnownPosition {
    /// Its key.
    pub key: PositionKey,
    /// The side to move.
    pub turn: Color,
    /// Its score for the side to move, backed up.
    pub score: Score,
    /// Depth of the search that the score comes from, and the plies to its position.
    pub depth: Depth,
    /// The best move.
    pub best: PackedMove,
    /// The [evaluation](Tree::evaluation_id) that the score comes from.
    pub evaluation_id: u16,
}

impl Tree {
    /// The searched positions nearest to one, which comes first, `most` of them at most.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn known_near(&self, position: &Position, most: usize) -> Result<Vec<KnownPosition>, TreeError> {
        self.reading(|tree| {
            let query = "SELECT e.child FROM edges e JOIN nodes n ON n.key = e.child \
                         WHERE e.parent = ? AND n.score IS NOT NULL ORDER BY n.score";
            let mut after = tree.connection.prepare_cached(query)?;
            let mut queue = VecDeque::from([key_of(position)]);
            let mut seen: HashSet<Key> = queue.iter().copied().collect();
            let mut known = Vec::new();
            while let Some(key) = queue.pop_front() {
                let Some(node) = graph::node(&tree.connection, key)? else { continue };
                let best = node.standing.best.zip(Position::from_fen(&node.fen));
                if let Some(m) = best.and_then(|(uci, position)| position.legal_move(&uci))
                    && let Some(score) = node.standing.score
                {
                    known.push(KnownPosition {
                        key: PositionKey(key as u64),
                        turn: node.turn,
                        score,
                        depth: node.standing.depth,
                        best: PackedMove::pack(m),
                        evaluation_id: tree.evaluation_of(key)?,
                    });
                }
                if seen.len() < most {
                    for child in after.query_map([key], |row| row.get(0))? {
                        let child = child?;
                        if seen.len() < most && seen.insert(child) {
                            queue.push_back(child);
                        }
                    }
                }
            }
            Ok(known)
        })
    }
}

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
