//! Play from a tree (`TreeFile`, or that of the study beside the learning file): its move is preferred as one that a far
//! deeper search has chosen, and its positions go into the transposition table before a search, as records of the
//! learning file do.

use std::{
    path::{Path as FilePath, PathBuf},
    time::Duration,
};

use shakmaty::Move;

use super::{
    Engine,
    learn_state::FileState,
    records::{moves_to_uci, widened_entry},
    study::study_tree,
};
use crate::{
    files,
    learn::{Origin, policy::Known},
    search::{Failure, Limits, Notice, Preference, Preferences},
    tree::{Access, KnownPosition, PositionView, Tree, TreeError},
};

/// Positions of the tree that go into the table before a search.
const IN_TABLE: usize = 32;
/// How long a tree that another process keeps locked is waited for when it is opened, once a game: Engram's own locks last
/// less.
const OPEN_TIMEOUT: Duration = Duration::from_millis(50);

/// The tree that is played from.
#[derive(Default)]
pub(super) struct PlayedTree {
    /// The one that the user has named.
    named: Option<PathBuf>,
    /// The one that was opened, or could not be used.
    opened: Option<(PathBuf, Option<Tree>)>,
}

/// What the tree says of a root.
#[derive(Default)]
pub(super) struct RootInTree {
    /// Was it searched?
    pub is_known: bool,
    /// The preference for its move, and when that or its score changed last, in seconds since 1970.
    pub preference: Option<(Move, Preference, u64)>,
}

impl Engine {
    /// Plays from the tree in this file from the next search on; without a path from that of the study, if there is one.
    /// Waits for a running search.
    ///
    /// # Errors
    /// The file is no tree; the tree before stays in use.
    pub fn set_tree_file(&mut self, path: Option<&FilePath>) -> Result<(), TreeError> {
        self.wait();
        let open = |path: &FilePath| self.play_from(Tree::open(path, Access::Read)?);
        self.tree.opened = path.map(|path| Ok((path.to_owned(), Some(open(path)?)))).transpose()?;
        self.tree.named = path.map(FilePath::to_owned);
        Ok(())
    }

    fn play_from(&self, tree: Tree) -> Result<Tree, TreeError> {
        tree.never_wait()?;
        self.say(Notice::Tree { path: tree.path().to_owned(), searches: tree.searches()? });
        Ok(tree)
    }

    /// Opens the tree that is played from, if that has changed, and says once a game if it cannot be used.
    fn prepare_tree(&mut self) {
        let wanted = self.tree.named.clone().or_else(|| {
            let path = study_tree(self.learning.wanted()?);
            // While it is being made it is empty.
            files::info_at(&path).is_ok_and(|info| info.length > 0).then_some(path)
        });
        if wanted.as_ref() == self.tree.opened.as_ref().map(|(path, _)| path) {
            return;
        }
        self.tree.opened = wanted.map(|path| {
            let opened = Tree::open_within(&path, Access::Read, OPEN_TIMEOUT);
            let opened = opened.and_then(|tree| self.play_from(tree));
            (path, opened.map_err(|error| self.tree_failed(&error)).ok())
        });
    }

    fn tree_failed(&self, error: &TreeError) {
        self.say(Notice::Failed(Failure::Tree, error.to_string()));
    }

    /// A new game begins: a tree that could not be used, or was locked, is tried again.
    pub(super) fn retry_tree(&mut self) {
        self.tree.opened.take_if(|(_, tree)| tree.is_none());
    }

    /// What the tree says of the current position. In analysis nothing is preferred.
    pub(super) fn look_into_tree(&mut self, limits: &Limits, analysis: bool) -> RootInTree {
        if self.strength_limits.is_limited() || !limits.search_moves.is_empty() || limits.mate.is_some() {
            return RootInTree::default();
        }
        self.prepare_tree();
        let Some((_, Some(tree))) = &self.tree.opened else { return RootInTree::default() };
        let view = tree.look(&self.root).map(|view| view.filter(|view| view.score.is_some()));
        let found = view.and_then(|view| {
            let preference = view.as_ref().map(|view| self.tree_move(tree, view, analysis)).transpose()?;
            Ok(RootInTree { is_known: view.is_some(), preference: preference.flatten() })
        });
        found.unwrap_or_else(|error| {
            self.tree_failed(&error);
            self.tree.opened.iter_mut().for_each(|(_, tree)| *tree = None);
            RootInTree::default()
        })
    }

    /// The best move of the tree that repeats no position of the game, of which is said what the tree says.
    fn tree_move(
        &self,
        tree: &Tree,
        view: &PositionView,
        analysis: bool,
    ) -> Result<Option<(Move, Preference, u64)>, TreeError> {
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
        self.say(Notice::TreeMove { line, score, depth: best.depth });
        Ok((!analysis).then_some((best.m, Preference::Studied(best.depth), view.changed)))
    }

    /// The preference for the tree's move. A game that was lost by it since the study's tree changed counts more.
    pub(super) fn tree_preferences(&self, root: RootInTree) -> Option<Preferences> {
        let (m, preference, changed) = root.preference?;
        let game = self.game();
        let known = match &game.memory.file {
            FileState::Open(open) => open.store.live().get(self.root.play(m).key()),
            FileState::Closed | FileState::Failed => None,
        };
        let is_lost = known.filter(|_| self.tree.named.is_none()).is_some_and(|record| {
            record.origin == Origin::Outcome && !record.lower.is_none() && u64::from(record.time) > changed
        });
        (!is_lost).then(|| Preferences(vec![(m, preference)]))
    }
}
