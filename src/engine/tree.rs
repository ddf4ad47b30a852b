//! Play from a tree (`TreeFile`, or that of the study beside the learning file): its move is preferred as one that a far
//! deeper search has chosen, and its positions go into the transposition table before a search, as records of the
//! learning file do.

use std::{
    collections::HashMap,
    path::{Path as FilePath, PathBuf},
    time::Duration,
};

use shakmaty::Move;

use super::{
    Engine,
    records::{moves_to_uci, widened_entry, with_contempt},
    study::study_tree,
};
use crate::{
    files::{self, Identity},
    learn::{Origin, policy::Known},
    notice::{Failure, Notice},
    search::{Limits, Preference, Preferences},
    tree::{Access, KnownPosition, PositionView, Tree, TreeError},
    types::{Depth, PositionKey},
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
    opened: Option<(TreeFile, Option<Tree>)>,
    /// Its positions that went into the table for the last search, and the depths of their entries.
    pub(super) in_table: HashMap<PositionKey, Depth>,
}

/// The file of a tree, by what is at its path: it may be replaced while it is in use.
#[derive(PartialEq)]
struct TreeFile {
    path: PathBuf,
    identity: Option<Identity>,
}

impl TreeFile {
    fn at(path: PathBuf) -> TreeFile {
        TreeFile { identity: files::info_at(&path).ok().map(|info| info.identity), path }
    }
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
        let open = |path: &FilePath| {
            let file = TreeFile::at(path.to_owned());
            Ok((file, Some(self.play_from(Tree::open(path, Access::Read)?)?)))
        };
        self.tree.opened = path.map(open).transpose()?;
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
        let wanted = wanted.map(TreeFile::at);
        if wanted.as_ref() == self.tree.opened.as_ref().map(|(file, _)| file) {
            return;
        }
        // The old one is closed first: SQLite's locks are the process's.
        self.tree.opened = None;
        self.tree.opened = wanted.map(|file| {
            let opened = Tree::open_within(&file.path, Access::Read, OPEN_TIMEOUT);
            let opened = opened.and_then(|tree| self.play_from(tree));
            (file, opened.map_err(|error| self.tree_failed(&error)).ok())
        });
    }

    fn tree_failed(&self, error: &TreeError) {
        self.say(Notice::Failed(Failure::Tree, error.to_string()));
    }

    /// A new game begins: a tree that could not be used, or was locked, is tried again.
    pub(super) fn retry_tree(&mut self) {
        self.tree.opened.take_if(|(_, tree)| tree.is_none());
    }

    /// What the tree says of the current position. In analysis nothing is preferred, and no score of the tree is used:
    /// those that went into the table for the search before are removed first.
    pub(super) fn look_into_tree(&mut self, limits: &Limits, analysis: bool) -> RootInTree {
        self.table.unlearn(self.tree.in_table.drain().map(|(key, _)| key));
        if self.strength_limits.is_limited() || !limits.search_moves.is_empty() || limits.mate.is_some() {
            return RootInTree::default();
        }
        self.prepare_tree();
        let Some((_, Some(tree))) = &self.tree.opened else { return RootInTree::default() };
        let view = tree.look(&self.root).map(|view| view.filter(|view| view.score.is_some()));
        let mut in_table = HashMap::new();
        let found = view.and_then(|view| {
            let preference =
                view.as_ref().map(|view| self.tree_move(tree, view, analysis)).transpose()?.flatten();
            if preference.is_some() {
                in_table = self.insert_tree(tree)?;
            }
            Ok(RootInTree { is_known: view.is_some(), preference })
        });
        self.tree.in_table = in_table;
        found.unwrap_or_else(|error| {
            self.tree_failed(&error);
            self.tree.opened.iter_mut().for_each(|(_, tree)| *tree = None);
            RootInTree::default()
        })
    }

    /// The best move of the tree, of which is said what the tree says. None if it may draw by repetition or by the fifty-move
    /// rule, of which the tree knows nothing: then the search decides.
    fn tree_move(
        &self,
        tree: &Tree,
        view: &PositionView,
        analysis: bool,
    ) -> Result<Option<(Move, Preference, u64)>, TreeError> {
        let best = view.considered().next();
        let best = best.filter(|(best, _)| !self.path.clone().is_near_draw(&self.root.play(best.m)));
        let Some((best, score)) = best else { return Ok(None) };
        let line = moves_to_uci(&tree.expected(&self.root, &[best.m])?, &self.root);
        self.say(Notice::TreeMove { line, score, depth: best.depth });
        Ok((!analysis).then_some((best.m, Preference::Studied(best.depth), view.changed)))
    }

    /// Inserts the positions of the tree near the current one into the table. Returns the keys and depths of the entries.
    fn insert_tree(&self, tree: &Tree) -> Result<HashMap<PositionKey, Depth>, TreeError> {
        let (evaluation_id, strength) = (self.evaluation_id(), self.strength_limits.strength());
        let entry = |found: KnownPosition| {
            let KnownPosition { key, turn, score, depth, best, evaluation_id: of_score } = found;
            let known = Known { lower: score, upper: score, depth, best };
            let fuzz = self.learning.options.fuzz;
            let entry = widened_entry(key, known, 0, of_score != evaluation_id, fuzz);
            with_contempt(entry, &strength, &self.root, || Some(turn))
        };
        let entries: Vec<_> = tree.known_near(&self.root, IN_TABLE)?.into_iter().map(entry).collect();
        self.table.insert_learned(entries.iter().copied());
        Ok(entries.iter().map(|entry| (entry.key, entry.depth)).collect())
    }

    /// The preference for the tree's move. A game that was lost by it since the study's tree changed counts more.
    pub(super) fn tree_preferences(&self, root: RootInTree) -> Option<Preferences> {
        let (m, preference, changed) = root.preference?;
        let game = self.game();
        let file = game.memory.file.as_ref();
        let known = file.and_then(|open| open.store.live().get(self.root.play(m).key()));
        let is_lost = known.filter(|_| self.tree.named.is_none()).is_some_and(|record| {
            record.origin == Origin::Outcome && !record.lower.is_none() && u64::from(record.time) > changed
        });
        (!is_lost).then(|| Preferences(vec![(m, preference)]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        tree::{ForSides, TreeSearch},
        types::{Score, ScoredLine},
    };

    #[test]
    fn a_move_that_may_draw_is_not_preferred_nor_is_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        tree(&path, "g1f3");
        let start = crate::position::Position::default();
        let line = |cp, uci| ScoredLine {
            score: Score::from_centipawns(cp),
            is_drawn: false,
            moves: vec![start.legal_move(uci).expect("a move")],
        };
        let lines = vec![line(50, "g1f3"), line(-90, "g2g4")];
        let search = TreeSearch { depth: Depth(31), lines, ..TreeSearch::default() };
        let mut written = Tree::open(&path, Access::Write).expect("a tree");
        assert!(written.add_search(&start, &search).expect("written"));
        drop(written);
        let mut engine = Engine::new(Arc::new(|_| {}));
        engine.set_learning(|options| options.rules.mode = crate::learn::policy::LearningMode::Off);
        engine.set_tree_file(Some(&path)).expect("a tree");
        let mut preferred = |clock: u32, moves: &[&str]| {
            let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {clock} 80");
            let start = crate::position::Position::from_fen(&fen).expect("legal");
            let moves: Vec<_> = moves.iter().map(|uci| uci.parse().expect("a move")).collect();
            engine.set_position(start, &moves).expect("legal");
            let preference = engine.look_into_tree(&Limits::default(), false).preference;
            preference.map(|(m, ..)| m.to_uci(shakmaty::CastlingMode::Standard).to_string())
        };
        let knight = Some("g1f3".to_owned());
        assert_eq!(preferred(97, &[]), knight);
        assert_eq!(preferred(98, &[]), None, "Black's next move draws");
        assert_eq!(preferred(0, &["g1h3", "g8f6", "h3g1", "f6g8"]), knight, "the position after it is new");
        assert_eq!(preferred(0, &["g1f3", "g8f6", "f3g1", "f6g8"]), None);
    }

    /// A tree with one search of the start position, which has chosen `uci`.
    fn tree(path: &FilePath, uci: &str) {
        let start = crate::position::Position::default();
        let mut tree = Tree::open(path, Access::Create).expect("a tree");
        tree.add_root(&start, ForSides { white: true, black: true }).expect("written");
        let moves = vec![start.legal_move(uci).expect("a move")];
        let line = ScoredLine { score: Score::from_centipawns(50), is_drawn: false, moves };
        let search = TreeSearch { depth: Depth(30), lines: vec![line], ..TreeSearch::default() };
        tree.add_search(&start, &search).expect("written");
    }

    #[test]
    fn scores_of_the_tree_are_in_the_table_for_one_search_and_never_in_analysis() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        tree(&path, "e2e4");
        let mut engine = Engine::new(Arc::new(|_| {}));
        engine.set_learning(|options| options.rules.mode = crate::learn::policy::LearningMode::Off);
        engine.set_tree_file(Some(&path)).expect("a tree");
        let is_in_table = |engine: &mut Engine, analysis| {
            engine.look_into_tree(&Limits::default(), analysis);
            engine.table.probe(engine.root.key()).is_some_and(|hit| hit.learned)
        };
        assert_eq!([false, true].map(|analysis| is_in_table(&mut engine, analysis)), [true, false]);
        assert!(is_in_table(&mut engine, false));
        engine.set_tree_file(None).expect("none");
        assert!(!is_in_table(&mut engine, false));
    }

    #[test]
    fn draws_and_scores_of_another_evaluation_count_as_those_of_records_do() {
        let entry = |printed, other: u16| {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("t.db");
            let mut engine = Engine::new(Arc::new(|_| {}));
            let start = crate::position::Position::default();
            let moves = vec![start.legal_move("e2e4").expect("a move")];
            let line = ScoredLine { score: Score::from_centipawns(printed), is_drawn: false, moves };
            let evaluation_id = engine.evaluation_id() ^ other;
            let search =
                TreeSearch { depth: Depth(30), evaluation_id, lines: vec![line], ..TreeSearch::default() };
            let mut tree = Tree::open(&path, Access::Create).expect("a tree");
            tree.add_root(&start, ForSides { white: true, black: true }).expect("written");
            tree.add_search(&start, &search).expect("written");
            engine.set_learning(|options| options.rules.mode = crate::learn::policy::LearningMode::Off);
            engine.set_strength(|limits| limits.contempt = 100);
            engine.set_tree_file(Some(&path)).expect("a tree");
            engine.look_into_tree(&Limits::default(), false);
            let hit = engine.table.probe(start.key()).expect("an entry");
            let window = hit.window(&engine.path, crate::types::Ply::ROOT).expect("a window");
            (hit.depth.get(), [window.lower, window.upper].map(Score::centipawns))
        };
        assert_eq!(entry(50, 0), (30, [30, 70]));
        assert_eq!(entry(50, 1), (28, [20, 80]));
        assert_eq!(entry(0, 0), (30, [-100, -100]));
    }

    #[cfg(unix)]
    #[test]
    fn a_tree_that_is_replaced_is_opened_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("t.db"), folder.path().join("u.db"));
        tree(&path, "e2e4");
        tree(&other, "d2d4");
        let mut engine = Engine::new(Arc::new(|_| {}));
        engine.set_learning(|options| options.rules.mode = crate::learn::policy::LearningMode::Off);
        engine.set_tree_file(Some(&path)).expect("a tree");
        let mut preferred = || {
            let (m, ..) = engine.look_into_tree(&Limits::default(), false).preference.expect("a move");
            m.to_uci(shakmaty::CastlingMode::Standard).to_string()
        };
        assert_eq!(preferred(), "e2e4");
        std::fs::rename(&other, &path).expect("replaced");
        assert_eq!(preferred(), "d2d4");
    }
}
