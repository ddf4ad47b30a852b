//! Play from a tree (`TreeFile`): its move is preferred as one that a far deeper search has chosen, and its positions go
//! into the transposition table before a search, as records of the learning file do.

use std::path::Path as FilePath;

use shakmaty::Move;

use super::{
    Engine,
    records::{moves_to_uci, widened_entry},
};
use crate::{
    learn::policy::Known,
    search::{Failure, Limits, Notice, Preference, Preferences},
    tree::{Access, KnownPosition, Tree, TreeError},
    types::Depth,
};

/// Positions of the tree that go into the table before a search.
const IN_TABLE: usize = 32;

impl Engine {
    /// Plays from the tree in this file from the next search on; from none without a path. Waits for a running search.
    ///
    /// # Errors
    /// The file is no tree; the tree before stays in use.
    pub fn set_tree_file(&mut self, path: Option<&FilePath>) -> Result<(), TreeError> {
        self.wait();
        let tree = path.map(|path| Tree::open(path, Access::Read)).transpose()?;
        if let Some(tree) = &tree {
            self.say(Notice::Tree { path: tree.path().to_owned(), searches: tree.searches()? });
        }
        self.tree = tree;
        Ok(())
    }

    /// The preference for the tree's move in the current position, which is said. In analysis nothing is preferred.
    pub(super) fn tree_preferences(&mut self, limits: &Limits, analysis: bool) -> Preferences {
        let Some(tree) = &self.tree else { return Preferences::default() };
        if self.strength_limits.is_limited() || !limits.search_moves.is_empty() || limits.mate.is_some() {
            return Preferences::default();
        }
        match self.tree_move(tree, analysis) {
            Ok(Some((m, depth, notice))) => {
                self.say(notice);
                let preference = (m, Preference::Studied(depth));
                Preferences(if analysis { Vec::new() } else { vec![preference] })
            }
            Ok(None) => Preferences::default(),
            Err(error) => {
                self.say(Notice::Failed(Failure::Tree, error.to_string()));
                self.tree = None;
                Preferences::default()
            }
        }
    }

    /// The best move of the tree that repeats no position of the game, its depth, and what is said of it.
    fn tree_move(&self, tree: &Tree, analysis: bool) -> Result<Option<(Move, Depth, Notice)>, TreeError> {
        let Some(view) = tree.look(&self.root)? else { return Ok(None) };
        let mut path = self.path.clone();
        // A repetition is a draw whatever the tree says of the position.
        let best = view.considered().find(|(view, _)| !path.would_repeat(&self.root.play(view.m)));
        let Some((best, score)) = best else { return Ok(None) };
        let line = moves_to_uci(&tree.expected(&self.root, &[best.m])?, &self.root);
        if !analysis {
            let fuzz = self.learning.options.fuzz;
            let known = tree.known_near(&self.root, IN_TABLE)?;
            self.table.insert_learned(known.into_iter().map(|KnownPosition { key, score, depth, best }| {
                widened_entry(key, Known { lower: score, upper: score, depth, best }, 0, fuzz)
            }));
        }
        let notice = Notice::TreeMove { line, score, depth: best.depth };
        Ok(Some((best.m, best.depth, notice)))
    }
}
