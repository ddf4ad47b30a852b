//! The study of openings and of lost games, between games.
//!
//! The first positions of games recur most often, even against an opponent that varies its play. They are searched with
//! far more nodes than a move of a game gets, together with the next positions of their main lines, and the moves found
//! are played from then on, as from a book. A game that leaves a main line adds the position in which it does.
//!
//! A lost game is searched backwards from its end, with far more nodes than it was played with, until a position is
//! found in which another move holds. The results are learned: the positions with their main lines, and for the
//! position before each of them, with the opponent to move, the score of the reply played in the game. Records
//! against earlier moves are replaced by marks that lead to the move that holds.

use std::sync::{RwLock, RwLockReadGuard};

use super::{blocking::BlockingEngine, learn_state::LearnOptions};
use crate::{
    learn::{
        FileError, LearnFile, LearnedScore, Origin, Record, Ring,
        game::{GameEnd, Line, PlayedGame, RESULT},
        games::{self, LearnedGame},
        policy::{Conditions, Known, LearningMode, PositionFinding, Rules},
        session::{Live, Recorder, Root},
    },
    locks::read,
    position::Position,
    types::{Depth, PackedMove, Ply, PositionKey, Score, SearchResult},
};

/// A score of at least this, in printed centipawns, holds.
const HOLDS: i32 = 0;
/// Positions of an opening that are searched: itself and the next ones of its main line.
const OPENING_LINE: u64 = 4;
/// MiB of the transposition table for the searches of a study.
const HASH: usize = 64;

/// A learning file whose openings and lost games are studied.
pub struct Study {
    pub(super) searcher: BlockingEngine,
    file: LearnFile,
    ring: RwLock<Ring>,
}

/// The result of the study of an opening or of a game.
#[derive(Clone, Debug, Default)]
pub struct Studied {
    /// The opening, or the last position of the game in which another move holds, and the result of its search.
    pub found: Option<(Position, SearchResult)>,
    /// Positions searched.
    pub positions: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Is the study complete, not interrupted?
    pub is_finished: bool,
}

impl Study {
    /// Default number of nodes for each position.
    pub const DEFAULT_NODES: u64 = 1_000_000;

    /// A study of the games of a writable file, with `nodes` nodes for each position.
    pub fn new(file: LearnFile, ring: RwLock<Ring>, nodes: u64) -> Study {
        let mut searcher = BlockingEngine::new(nodes);
        // If memory is short a smaller table is used.
        let _ = searcher.engine.set_hash(HASH);
        Study { searcher, file, ring }
    }

    /// The openings that no study has searched yet, those nearest to the beginning of the game first.
    pub fn openings(&self) -> Vec<Position> {
        let mut openings: Vec<Record> =
            self.ring().iter().map(|(_, record)| record).filter(Record::is_unsearched).collect();
        openings.sort_by_key(|record| record.game_ply);
        openings.iter().filter_map(|record| record.position().ok()).collect()
    }

    /// Searches an opening and the next positions of its main line with the same side to move, for as long as `goes_on`
    /// says. What was found until then is learned.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn study_opening(
        &mut self,
        opening: &Position,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Studied, FileError> {
        let mut studied = Studied::default();
        self.searcher.engine.new_game();
        let mut position = opening.clone();
        while studied.positions < OPENING_LINE && self.is_unsearched(&position) && position.has_legal_move() {
            let Some(result) = self.search(&position, goes_on) else { return Ok(studied) };
            let mut records = self.searched(&position, &result, &|_| None);
            records.retain(|record| record.key == position.key());
            for record in &mut records {
                record.origin = Origin::Opening;
                // It is newer than games that ended before, also than one whose clock was ahead.
                record.time = record.time.max(self.later_than_known(record.time, record.key));
            }
            self.file.merge(&self.ring, &records)?;
            studied.positions += 1;
            studied.nodes += result.nodes;
            let next = match result.line[..] {
                [best, reply, ..] => Some(position.play(best).play(reply)),
                _ => None,
            };
            studied.found.get_or_insert((position, result));
            let Some(next) = next else { break };
            position = next;
        }
        studied.is_finished = true;
        Ok(studied)
    }

    /// Is nothing known of a position but that a game began here, or what one came to?
    fn is_unsearched(&self, position: &Position) -> bool {
        self.ring()
            .get(position.key())
            .is_none_or(|record| record.is_unsearched() || record.origin == Origin::Outcome)
    }

    /// The games that were lost and not yet studied, newest first; incomplete if `goes_on` returns false.
    pub fn lost_games(&self, goes_on: &dyn Fn() -> bool) -> Vec<LearnedGame> {
        let records: Vec<(u64, Record)> = self.ring().iter().collect();
        let (mut games, _) = games::games(&records, goes_on);
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
    ) -> Result<Studied, FileError> {
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
        // Without moves there is no illegal one, so an error cannot occur.
        let found = self.searcher.search_while(root, &[], goes_on).ok();
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

    /// The records from the search of `root`: of the root with its main line, and of the position before it.
    fn records(&self, game: &LearnedGame, ply: u16, root: &Position, result: &SearchResult) -> Vec<Record> {
        let live = |key| self.ring().get(key);
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
        let root = Root { position: root.clone(), line, conditions };
        self.recorder(live).search_ended(&mut PlayedGame::default(), &root, result).records
    }

    /// The finding of the search after `ply` plies about the position before: the score that the opponent's reply
    /// reaches. None if a reply of another game reaches more.
    fn before(&self, game: &LearnedGame, ply: u16, result: &SearchResult) -> Option<PositionFinding> {
        let earlier = ply.checked_sub(1)?;
        let (position, &reply) = game.positions.get(&earlier).zip(game.moves.get(&earlier))?;
        // A mate is a ply farther away from there.
        let lower = Score::from_tt((-result.score).to_tt(Ply::ROOT), Ply(1));
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
        known.map_or(time, |known| known.time.saturating_add(1))
    }
}

/// The positions in which the side that lost was to move, the last one first.
fn roots(game: &LearnedGame) -> impl Iterator<Item = (u16, &Position)> {
    let positions = game.positions.iter().rev().map(|(&ply, position)| (ply, position));
    positions.filter(|(_, position)| position.turn() == game.side && position.has_legal_move())
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;
    use crate::engine::EvaluationKind;

    #[test]
    fn an_opening_is_studied_whatever_the_clock_said_and_however_short_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut file, ring, _) =
            LearnFile::open_or_create(&folder.path().join("learn.bin")).expect("a learning file");
        let ring = RwLock::new(ring);
        // Mate in one ends the line; the game ended when a clock was years ahead.
        let mate = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1".parse::<Fen>().expect("a position").into_setup();
        let mate = Position::from_setup(mate, CastlingMode::Standard).expect("legal");
        let openings = [Position::default(), mate].map(|position| Record {
            time: u32::MAX - 9,
            ..Record::new(&position, Origin::Opening).expect("it fits")
        });
        file.merge(&ring, &openings).expect("written");
        let mut study = Study::new(file, ring, 2000);
        let positions = study.openings().into_iter().map(|opening| {
            let studied = study.study_opening(&opening, &|| true).expect("written");
            assert!(studied.is_finished && studied.found.is_some());
            studied.positions
        });
        assert_eq!(positions.collect::<Vec<_>>(), [4, 1]);
        assert!(study.openings().is_empty());
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
