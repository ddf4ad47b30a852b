//! The study of openings and of lost games, between games.
//!
//! The first positions of games recur most often, even against an opponent that varies its play. From each of them, and
//! from each position in which a game left what is known, a tree grows that the engine plays from.
//!
//! A lost game is searched backwards from its end, with far more nodes than it was played with, until a position is
//! found in which another move holds. The results are learned: the positions with their principal variations, and for the
//! position before each of them, with the opponent to move, the score of the reply played in the game. Records
//! against earlier moves are replaced by marks that lead to the move that holds.

use std::{
    path::{Path, PathBuf},
    sync::{RwLock, RwLockReadGuard},
    time::Instant,
};

use thiserror::Error;

use super::{blocking::BlockingEngine, learn_state::LearnOptions};
use crate::{
    files,
    learn::{
        FileError, LearnFile, LearnedScore, Origin, Record, Ring,
        game::{GameEnd, Line, PlayedGame, RESULT},
        games::{self, LearnedGame},
        policy::{Conditions, Known, LearningMode, PositionFinding, Rules},
        session::{Live, Recorder, Root},
    },
    locks::read,
    position::Position,
    search::Limits,
    tree::{Access, Job, PositionView, Tree, TreeError, TreeSearch},
    types::{Depth, PackedMove, PositionKey, Score, ScoredLine, SearchResult},
};

/// A score of at least this, in printed centipawns, holds.
const HOLDS: i32 = 0;
/// Searches of an opening and of positions below it, together as long as those of four positions of a game.
const OPENING_SEARCHES: u64 = 20;
const SHARE: u64 = 5;
/// MiB of the transposition table for the searches of a study.
const HASH: usize = 64;

/// The tree of the openings, beside its learning file; if that is a symbolic link, beside its target.
pub fn study_tree(learn_file: &Path) -> PathBuf {
    files::with_suffix(files::target_of(learn_file), ".tree")
}

/// A study cannot go on.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Because of the learning file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Because of the tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// A learning file whose openings and lost games are studied.
pub struct Study {
    pub(super) searcher: BlockingEngine,
    file: LearnFile,
    ring: RwLock<Ring>,
    tree: Option<Tree>,
}

/// The result of the study of an opening or of a game.
#[derive(Clone, Debug, Default)]
pub struct Studied {
    /// The last position of the game in which another move holds, and the result of its search.
    pub found: Option<(Position, SearchResult)>,
    /// Positions searched.
    pub positions: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Is the study complete, not interrupted?
    pub is_finished: bool,
}

impl Study {
    /// Default number of nodes for each position of a lost game; for an opening four times as many.
    pub const DEFAULT_NODES: u64 = 1_000_000;

    /// A study of the games of a writable file, with `nodes` nodes for each position.
    pub fn new(file: LearnFile, ring: RwLock<Ring>, nodes: u64) -> Study {
        let mut searcher = BlockingEngine::new(nodes);
        // If memory is short a smaller table is used.
        let _ = searcher.engine.set_hash(HASH);
        Study { searcher, file, ring, tree: None }
    }

    /// The tree, made if it is missing.
    fn tree(&mut self) -> Result<&mut Tree, TreeError> {
        match &mut self.tree {
            Some(tree) => Ok(tree),
            none => Ok(none.insert(Tree::open(&study_tree(self.file.path()), Access::Create)?)),
        }
    }

    /// The openings below which the tree has not grown enough, those nearest to the beginning of the game first.
    ///
    /// # Errors
    /// The tree cannot be written.
    pub fn openings(&mut self) -> Result<Vec<Position>, StudyError> {
        let mut openings: Vec<Record> = self.ring().iter().map(|(_, record)| record).collect();
        openings.retain(|record| record.origin == Origin::Opening);
        if openings.is_empty() {
            return Ok(Vec::new());
        }
        openings.sort_by_key(|record| record.game_ply);
        let tree = self.tree()?;
        tree.add_openings(&openings)?;
        let mut left = Vec::new();
        for position in openings.iter().filter_map(|record| record.position().ok()) {
            if tree.searches_below(&position)?.is_some_and(|searches| searches < OPENING_SEARCHES) {
                left.push(position);
            }
        }
        Ok(left)
    }

    /// Grows the tree below an opening, for as long as `goes_on` says.
    ///
    /// # Errors
    /// The tree cannot be written.
    pub fn study_opening(
        &mut self,
        opening: &Position,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Studied, StudyError> {
        let mut studied = Studied::default();
        while self.tree()?.searches_below(opening)?.is_some_and(|searches| searches < OPENING_SEARCHES) {
            let Some(job) = self.tree()?.next_job_below(opening)? else { break };
            let Some(search) = self.search_job(&job, goes_on) else {
                self.tree()?.release(&job)?;
                return Ok(studied);
            };
            self.tree()?.record(&job, &search)?;
            studied.positions += 1;
            studied.nodes += search.nodes;
        }
        studied.is_finished = true;
        Ok(studied)
    }

    /// What the tree has found of an opening, in its words.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub fn in_tree(&mut self, opening: &Position) -> Result<Option<PositionView>, StudyError> {
        Ok(self.tree()?.look(opening)?)
    }

    /// Searches a position of the tree; nothing if that was interrupted.
    fn search_job(&mut self, job: &Job, goes_on: &dyn Fn() -> bool) -> Option<TreeSearch> {
        let begun = Instant::now();
        let searcher = &mut self.searcher;
        searcher.engine.new_game();
        searcher.engine.settings.multi_pv = job.lines;
        let nodes = (searcher.nodes / SHARE).max(1).saturating_mul(job.effort);
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let answer = searcher.search_with(&job.position, &[], limits, goes_on, |_| {});
        searcher.engine.settings.multi_pv = 1;
        let answer = answer.ok().filter(|_| goes_on())?;
        let (depth, nodes) = answer.result.map(|result| (result.depth, result.nodes)).unwrap_or_default();
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(TreeSearch {
            depth,
            nodes,
            millis,
            evaluation_id: self.searcher.engine.evaluation_id(),
            lines: answer.lines,
        })
    }

    /// Puts the position in which another move holds into the tree.
    fn keep(&mut self, root: &Position, result: &SearchResult) -> Result<(), TreeError> {
        let line = ScoredLine { score: result.score, is_drawn: false, moves: result.line.clone() };
        let evaluation_id = self.searcher.engine.evaluation_id();
        let SearchResult { depth, nodes, .. } = *result;
        let search = TreeSearch { depth, nodes, millis: 0, evaluation_id, lines: vec![line] };
        self.tree()?.add_search(root, &search).map(drop)
    }

    /// The games that were lost and not yet studied, newest first; incomplete if `goes_on` returns false.
    pub fn lost_games(&self, goes_on: &dyn Fn() -> bool) -> Vec<LearnedGame> {
        let records: Vec<(u64, Record)> = self.ring().iter().collect();
        let mut games = games::games(&records, goes_on);
        let is_left = |(_, record): &(u64, Record)| record.origin != Origin::Study;
        games.retain(|game| game.outcome == Some(GameEnd::Lost) && game.records.iter().any(is_left));
        games.reverse();
        games
    }

    /// Studies a game as long as `goes_on` returns true. The results up to then are learned.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn study(
        &mut self,
        game: &mut LearnedGame,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Studied, StudyError> {
        let mut studied = Studied::default();
        self.searcher.engine.new_game();
        game.connect();
        for (ply, root) in roots(game).filter(|(_, root)| !self.was_studied(game, root)).collect::<Vec<_>>() {
            let Some(result) = self.search(root, goes_on) else { return Ok(studied) };
            studied.positions += 1;
            studied.nodes += result.nodes;
            let is_found = self.holds(game, ply, root, &result);
            let mut records = self.records(game, ply, root, &result);
            if is_found {
                let marks = self.marks_before(game, ply, result.depth);
                records.retain(|record| marks.iter().all(|mark| mark.key != record.key));
                records.extend(marks);
            }
            self.file.merge(&self.ring, &records)?;
            if is_found {
                self.keep(root, &result)?;
                studied.found = Some((root.clone(), result));
                break;
            }
        }
        self.file.merge(&self.ring, &self.marks_left(game))?;
        studied.is_finished = true;
        Ok(studied)
    }

    /// Searches a position; nothing if that was interrupted.
    fn search(&mut self, root: &Position, goes_on: &dyn Fn() -> bool) -> Option<SearchResult> {
        let limits = Limits { nodes: Some(self.searcher.nodes), ..Limits::default() };
        // Without moves there is no illegal one, so an error cannot occur.
        let found = self.searcher.search_with(root, &[], limits, goes_on, |_| {}).ok();
        found.filter(|_| goes_on())?.result
    }

    /// Was this position searched by an earlier study of the game that was interrupted?
    fn was_studied(&self, game: &LearnedGame, root: &Position) -> bool {
        let known = self.ring().get(root.key());
        known.is_some_and(|record| {
            record.origin == Origin::Study && record.since_root == 0 && record.session == game.session
        })
    }

    fn ring(&self) -> RwLockReadGuard<'_, Ring> {
        read(&self.ring)
    }

    /// Is the best move not the one played, good enough, and better by the size of a drop?
    fn holds(&self, game: &LearnedGame, ply: u16, root: &Position, result: &SearchResult) -> bool {
        let played = game.moves.get(&ply);
        let after = played.and_then(|&m| self.ring().get(root.play(m).key()));
        let came_to = after.filter(|record| record.origin == Origin::Study).as_ref().and_then(Known::of);
        let came_to = came_to.map_or(-RESULT, |known| -known.lower.centipawns());
        let score = result.score.centipawns();
        result.line.first() != played && score >= HOLDS && score - came_to >= LearnOptions::DEFAULT_DROP
    }

    /// The records from the search of `root`: of the root with its principal variation, and of the position before it.
    fn records(&self, game: &LearnedGame, ply: u16, root: &Position, result: &SearchResult) -> Vec<Record> {
        // What games have left of the position that was studied is replaced.
        let is_replaced = |record: &Record| record.key == root.key() && record.is_of_game();
        let live = |key| self.ring().get(key).filter(|record| !is_replaced(record));
        let mut records = self.searched(root, result, &live);
        let before = self.before(game, ply, result);
        let recorder = self.recorder(&live);
        records.extend(before.and_then(|finding| recorder.position(&finding, result.nodes)));
        records.into_iter().map(|record| self.studied(game, record)).collect()
    }

    fn recorder<'a>(&self, live: &'a Live<'a>) -> Recorder<'a> {
        Recorder { live, evaluation_id: self.searcher.engine.evaluation_id() }
    }

    /// What an analysis of `root` with this result leaves.
    fn searched(&self, root: &Position, result: &SearchResult, live: &Live<'_>) -> Vec<Record> {
        let rules = Rules { mode: LearningMode::All, drop: LearnOptions::DEFAULT_DROP, min_depth: Depth(1) };
        let conditions = Conditions { rules, analysis: true, not_learned: None };
        let line = Line { start: root.fen(), moves: Vec::new() };
        let root = Root { position: root.clone(), line, conditions, in_tree: false };
        self.recorder(live).search_ended(&mut PlayedGame::default(), &root, result).records
    }

    /// The finding of the search after `ply` plies about the position before: the score that the opponent's reply
    /// reaches. None if a reply of another game reaches more.
    fn before(&self, game: &LearnedGame, ply: u16, result: &SearchResult) -> Option<PositionFinding> {
        let earlier = ply.checked_sub(1)?;
        let (position, &reply) = game.positions.get(&earlier).zip(game.moves.get(&earlier))?;
        let lower = (-result.score).one_ply_farther();
        let best = PackedMove::pack(reply);
        let is_better = |known: &Record| {
            let is_bounded = known.origin == Origin::Study && !known.lower.is_none();
            is_bounded && known.best != best && known.lower.to_score() > lower
        };
        if self.ring().get(position.key()).as_ref().is_some_and(is_better) {
            return None;
        }
        let depth = Depth(result.depth.get() + 1);
        let known = Known { lower, upper: Score::INFINITE, depth, best };
        Some(PositionFinding { position: position.clone(), since_root: 1, known })
    }

    /// Removes the records against the moves before `ply`, and marks the positions after them as played before the
    /// move found at `depth`: a drop of the score there was no mistake.
    fn marks_before(&self, game: &LearnedGame, ply: u16, depth: Depth) -> Vec<Record> {
        let earlier = self.live_records(game).filter(|record| record.game_ply < ply);
        let marks = earlier.map(|record| match record.origin {
            Origin::Outcome | Origin::Study => {
                let (lower, upper) = (LearnedScore::NO_LOWER, LearnedScore::NO_UPPER);
                let depth = u8::try_from(depth.get()).unwrap_or(u8::MAX);
                self.studied(game, Record { lower, upper, depth, ..record.clone() })
            }
            _ => record.tombstone(self.later_than_known(game.time, record.key)),
        });
        marks.collect()
    }

    /// The records of the game that its study did not reach, marked as studied too.
    fn marks_left(&self, game: &LearnedGame) -> Vec<Record> {
        let left = self.live_records(game).filter(|record| record.origin != Origin::Study);
        left.map(|record| self.studied(game, record.clone())).collect()
    }

    /// The records of the game that have not been replaced or forgotten since it was read.
    fn live_records<'a>(&'a self, game: &'a LearnedGame) -> impl Iterator<Item = &'a Record> {
        let records = game.records.iter().map(|(_, record)| record);
        records.filter(|record| self.ring().get(record.key).as_ref() == Some(record))
    }

    /// Turns a record into one of the study of this game.
    fn studied(&self, game: &LearnedGame, record: Record) -> Record {
        let time = self.later_than_known(game.time, record.key);
        Record { origin: Origin::Study, session: game.session, time, ..record }
    }

    /// The time of a record: later than the record that it replaces, otherwise `time`. So it is as near to the time of its
    /// game as possible, to which it still belongs.
    fn later_than_known(&self, time: u32, key: PositionKey) -> u32 {
        let known = self.ring().newest_of(key);
        known.map_or(time, |known| time.max(known.time.saturating_add(1)))
    }
}

/// The positions in which the side that lost was to move, the last one first.
fn roots(game: &LearnedGame) -> impl Iterator<Item = (u16, &Position)> {
    let positions = game.positions.iter().rev().map(|(&ply, position)| (ply, position));
    positions.filter(|(_, position)| position.turn() == game.side && position.has_legal_move())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EvaluationKind;

    #[test]
    fn the_tree_grows_below_each_opening_and_takes_in_what_an_old_study_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut file, ring, _) =
            LearnFile::open_or_create(&folder.path().join("learn.bin")).expect("a learning file");
        let ring = RwLock::new(ring);
        let position = |fen| Position::from_fen(fen).expect("legal");
        // A mate in one leaves nothing to search below it; an old study searched the third one to depth 20, a position that
        // no line of the others leads to.
        let mate = position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
        let old = position("rnbqkbnr/ppppppp1/7p/8/8/P7/1PPPPPPP/RNBQKBNR w KQkq - 0 2");
        let record = |position| Record::new(position, Origin::Opening).expect("it fits");
        let m = old.legal_moves().into_iter().next().expect("a move");
        let score = LearnedScore::from_centipawns(50);
        let searched =
            Record { best: PackedMove::pack(m), depth: 20, lower: score, upper: score, ..record(&old) };
        file.merge(&ring, &[record(&Position::default()), record(&mate), searched]).expect("written");
        let mut study = Study::new(file, ring, 5000);
        let openings = study.openings().expect("a tree");
        assert_eq!(openings.len(), 3);
        let own = study.in_tree(&old).expect("readable").expect("there").own;
        assert_eq!(own, Some(Score::from_centipawns(50)));
        for opening in openings {
            let studied = study.study_opening(&opening, &|| true).expect("written");
            // Besides these the opening itself is searched again, with more lines, if its moves disappoint.
            let expected = match opening.key() {
                key if key == mate.key() => 1..=1,
                key if key == old.key() => 19..=24,
                _ => 20..=25,
            };
            assert!(studied.is_finished && expected.contains(&studied.positions), "{}", studied.positions);
        }
        assert!(study.openings().expect("readable").is_empty());
    }

    #[test]
    fn what_a_study_finds_is_of_the_time_of_its_game() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut file, ring, _) =
            LearnFile::open_or_create(&folder.path().join("learn.bin")).expect("a learning file");
        let ring = RwLock::new(ring);
        let known = Record::new(&Position::default(), Origin::Opening).expect("it fits");
        file.merge(&ring, &[Record { time: 1_700_000_000, ..known.clone() }]).expect("written");
        let study = Study::new(file, ring, 1);
        for (game, expected) in [(1_600_000_000, 1_700_000_001), (1_795_000_000, 1_795_000_000)] {
            assert_eq!(study.later_than_known(game, known.key), expected);
        }
    }

    #[test]
    fn a_study_evaluates_as_the_engine_that_plays() {
        let search = |mut searcher: BlockingEngine| {
            let answer = searcher.search(&Position::default(), &[]).expect("no move is illegal");
            answer.result.expect("a search").score
        };
        let classical = || {
            let mut searcher = BlockingEngine::new(500);
            searcher.engine.set_evaluation(EvaluationKind::Classical);
            searcher
        };
        let mut student = BlockingEngine::new(500);
        student.engine.evaluate_as(classical().engine.evaluation.clone(), None);
        assert_eq!(search(student), search(classical()));
        assert_ne!(search(classical()), search(BlockingEngine::new(500)));
    }
}
