//! The pipeline of learning: searches and games in, records out. Pure: no file, and no clock except for the time
//! of a record. The engine, `learn import` and the recovery of games of a killed process all use it.
//!
//! ```text
//! root, result of the search --> search_ended --> drops, roots, positions of the principal variation
//! end of a game              --> game_ended   --> confirmed drops, outcomes of moves
//! ```

use shakmaty::{Color, Move, Position as _};

use super::{
    game::{GameEnd, GameSearch, Line, PlayedGame},
    policy::{
        self, Conditions, Known, LearningMode, NotLearned, PositionFinding, RootFinding, Trigger, is_valid_at,
    },
    record::{Flags, Origin, Record, game_ply},
    score::LearnedScore,
    stamp,
};
use crate::{
    position::Position,
    types::{Depth, PackedMove, Ply, PositionKey, Score, SearchResult},
};

/// A game whose first search comes after more plies than this is one that another process began: few books are so long.
const LATEST_OPENING: u16 = 30;
/// The most positions of a principal variation that are learned.
const LONGEST_LINE: usize = 6;

/// Looks up the live record of a position.
pub type Live<'a> = dyn Fn(PositionKey) -> Option<Record> + 'a;

/// The root of a search.
#[derive(Clone, Debug)]
pub struct Root {
    /// The position.
    pub position: Position,
    /// Where the game began, and the moves that led here.
    pub line: Line,
    /// The conditions under which the search began.
    pub conditions: Conditions,
    /// Was it searched in the tree that is played from?
    pub in_tree: bool,
}

/// What was learned from a search.
#[derive(Clone, Debug, Default)]
pub struct LearnOutcome {
    /// The records to append.
    pub records: Vec<Record>,
    /// Why the root is among them, if its score dropped.
    pub drop: Option<Trigger>,
    /// The search as a part of its game.
    pub search: Option<GameSearch>,
}

/// Makes records, compared with the live ones.
pub struct Recorder<'a> {
    /// Looks up the live records.
    pub live: &'a Live<'a>,
    /// The evaluation on which the scores are based.
    pub evaluation_id: u16,
}

impl Recorder<'_> {
    /// Learns from a search that has ended, and adds it to its game.
    pub fn search_ended(&self, game: &mut PlayedGame, root: &Root, result: &SearchResult) -> LearnOutcome {
        let Root { position, line, conditions, in_tree } = root;
        let earlier = game.earlier(line, position.turn());
        let known = self.comparable(position).and_then(|live| Known::of(&live));
        let mut outcome = LearnOutcome::default();
        let mut drop = None;
        match policy::decide(conditions, result, earlier, known.as_ref()) {
            Ok(finding) => {
                outcome.records = self.records_of(root, result, &finding);
                if finding.trigger != Trigger::EveryRoot {
                    drop = self.root(root, result, &finding);
                    outcome.drop = (!outcome.records.is_empty()).then_some(finding.trigger);
                }
            }
            // The score dropped here in an earlier game and does again: the end of this game decides what it is worth.
            Err(NotLearned::Known)
                if (self.live)(position.key()).is_some_and(|live| live.origin == Origin::Drop) =>
            {
                let again = policy::decide(conditions, result, earlier, None).ok();
                drop = again.and_then(|finding| self.root(root, result, &finding));
            }
            Err(reason) => log::debug!("nothing learned: {reason:?}"),
        }
        let never = policy::never_learned(conditions, result);
        if let Some((depth, score)) = policy::comparison_score(result)
            && never.is_none_or(NotLearned::shows_the_score)
        {
            let (position, line) = (position.clone(), line.clone());
            let (teaches, in_tree) = (never.is_none(), *in_tree);
            let mode = position.chess().castles().mode();
            let announced = result.line.first().map(|m| m.to_uci(mode));
            let search = GameSearch { position, line, depth, score, announced, teaches, drop, in_tree };
            game.searched(&conditions.rules, search.clone());
            if conditions.rules.mode == LearningMode::Drop && !conditions.analysis {
                let earlier = game.before(&search.line, search.side());
                outcome.records.extend(self.opening(earlier, conditions.rules.min_depth));
            }
            outcome.search = Some(search);
        }
        outcome
    }

    /// The records of a game that `winner` has won: the drops of the side that lost are confirmed, the outcomes of moves
    /// are learned.
    pub fn game_ended(&self, game: &PlayedGame, winner: Color) -> Vec<Record> {
        let mut records = Vec::new();
        for drop in game.drops(!winner) {
            // The same drop may have been found deeper in an earlier game, which was not lost.
            let is_deeper = |live: &Record| {
                live.is_suspicion() && live.depth > drop.depth && is_valid_at(live, drop.halfmoves.into())
            };
            let found = (self.live)(drop.key).filter(is_deeper).unwrap_or_else(|| drop.clone());
            let flags = Flags { confirmed: true, ..found.flags };
            let Record { game_ply, session, .. } = *drop;
            records.push(Record { flags, game_ply, session, time: stamp::now(), ..found });
        }
        for (side, end) in [(winner, GameEnd::Won), (!winner, GameEnd::Lost)] {
            let is_wanted = |outcome: &PositionFinding| {
                outcome.known.is_bounded() || (self.live)(outcome.position.key()).is_none()
            };
            let outcomes = game.outcomes(side, end).into_iter().filter(is_wanted);
            records.extend(outcomes.filter_map(|outcome| self.if_new(&outcome, Origin::Outcome, 1)));
        }
        // That an earlier game was won by a move of the loser counts no more.
        for (position, best) in game.replies(!winner) {
            let was_won = (self.live)(position.key()).is_some_and(|live| live.is_of_won_game());
            if was_won && records.iter().all(|record| record.key != position.key()) {
                let (lower, upper) = (-Score::INFINITE, Score::INFINITE);
                let known = Known { lower, upper, depth: Depth(1), best };
                records.extend(self.record(&position, &known, Origin::Outcome, 1));
            }
        }
        records.retain(|record| self.may_replace(record));
        // A drop that a lost game confirmed is forgotten once it comes again in a game that is won.
        let known = game.drops(winner).filter_map(|drop| (self.live)(drop.key));
        let confirmed = known.filter(|live| live.origin == Origin::Drop && live.flags.confirmed);
        records.extend(confirmed.map(|live| live.tombstone(stamp::now())));
        records
    }

    /// What a study finds of a position that was not the root, whatever is known of it already, except advice.
    pub fn position(&self, finding: &PositionFinding, nodes: u64) -> Option<Record> {
        let record = self.record(&finding.position, &finding.known, Origin::Study, nodes)?;
        Some(Record { since_root: finding.since_root, ..record }).filter(|record| self.may_replace(record))
    }

    /// Records of the root, and in an analysis of the positions of its principal variation.
    fn records_of(&self, root: &Root, result: &SearchResult, finding: &RootFinding) -> Vec<Record> {
        let Some(record) = self.root(root, result, finding) else { return Vec::new() };
        let Known { lower, upper, depth, .. } = finding.known;
        let Conditions { rules, analysis, .. } = root.conditions;
        let mut records = vec![record];
        if rules.mode == LearningMode::All && analysis && lower == upper {
            let line = main_line(&root.position, &result.line, lower, depth, rules.min_depth);
            let new = |finding: &PositionFinding| self.if_new(finding, Origin::EveryRoot, result.nodes);
            records.extend(line.iter().filter_map(new));
        }
        records.retain(|record| self.may_replace(record));
        records
    }

    /// The record of the root of a search; none if the position does not fit into a record.
    fn root(&self, root: &Root, result: &SearchResult, finding: &RootFinding) -> Option<Record> {
        let every_root = root.conditions.rules.mode == LearningMode::All;
        let origin = if every_root { Origin::EveryRoot } else { Origin::Drop };
        self.record(&root.position, &finding.known, origin, result.nodes)
    }

    /// A record of the last of the `earlier` searches of a game, latest first, if it was the first of the game or
    /// followed one whose root the tree has, so that the tree grows from there: these positions recur most often, even
    /// against an opponent that varies its play. None if its score dropped, or if more is known of it than the outcome of a
    /// game or an unconfirmed drop. A single search, as of a test suite, begins no game, and neither does one after more
    /// than [`LATEST_OPENING`] plies.
    fn opening<'a>(
        &self,
        mut earlier: impl Iterator<Item = &'a GameSearch>,
        min_depth: Depth,
    ) -> Option<Record> {
        let first = earlier.next()?;
        let is_new = (self.live)(first.position.key()).is_none_or(|live| live.is_suspicion());
        if !is_new
            || first.in_tree
            || !first.teaches
            || first.drop.is_some()
            || first.depth < min_depth
            || !earlier.next().map_or(game_ply(&first.position) <= LATEST_OPENING, |before| before.in_tree)
        {
            return None;
        }
        let (lower, upper) = (-Score::INFINITE, Score::INFINITE);
        let known = Known { lower, upper, depth: Depth::ZERO, best: PackedMove::NONE };
        self.record(&first.position, &known, Origin::Opening, 1)
    }

    /// A record of a position that was not the root, unless it is known already.
    fn if_new(&self, finding: &PositionFinding, origin: Origin, nodes: u64) -> Option<Record> {
        let PositionFinding { position, since_root, known } = finding;
        let live = self.comparable(position).and_then(|live| Known::of(&live));
        if live.is_some_and(|live| policy::covers(&live, known)) {
            return None;
        }
        Some(Record { since_root: *since_root, ..self.record(position, known, origin, nodes)? })
    }

    fn record(&self, position: &Position, known: &Known, origin: Origin, nodes: u64) -> Option<Record> {
        let blank = Record::new(position, origin).ok()?;
        Some(Record {
            best: known.best,
            lower: LearnedScore::from_score(known.lower),
            upper: LearnedScore::from_score(known.upper),
            depth: u8::try_from(known.depth.get()).unwrap_or(u8::MAX),
            flags: Flags { confirmed: origin == Origin::Outcome, ..blank.flags },
            log2_nodes: nodes.max(1).ilog2() as u8,
            evaluation_id: self.evaluation_id,
            session: stamp::session(),
            time: stamp::now(),
            ..blank
        })
    }

    /// The live record of a position, if it was found with the same fifty-move clock or far from the limit.
    fn comparable(&self, position: &Position) -> Option<Record> {
        (self.live)(position.key()).filter(|live| is_valid_at(live, position.halfmoves()))
    }

    /// May this record replace the live one?
    fn may_replace(&self, new: &Record) -> bool {
        (self.live)(new.key).is_none_or(|live| policy::may_replace(new, &live, self.evaluation_id))
    }
}

/// The findings of an analysis about its principal variation: the positions after the moves of `line`, whose root has the exact
/// `score` at `depth`, down to depth `least`, up to the first repetition.
///
/// The score of a root is that of the end of its line, so every position of the line has it too, with a depth reduced
/// by its distance. A later search of the root knows the reply to its best move at once and spends its time on the
/// other moves (as with a persistent hash table: BrainLearn, Houdini's learning file). Draw scores are left out,
/// since they may depend on the path, and those of tablebases, which know the first move alone.
fn main_line(
    root: &Position,
    line: &[Move],
    score: Score,
    depth: Depth,
    least: Depth,
) -> Vec<PositionFinding> {
    let mut findings = Vec::new();
    if score == Score::ZERO || score.is_decisive() && !score.is_mate() {
        return findings;
    }
    let mut position = root.clone();
    let mut seen = vec![root.key()];
    // The best move of the last position on the line is not known.
    for (since_root, pair) in (1..).zip(line.windows(2).take(LONGEST_LINE)) {
        let depth = Depth(depth.get() - i32::from(since_root));
        position = position.play(pair[0]);
        if depth < least || seen.contains(&position.key()) {
            break;
        }
        seen.push(position.key());
        let here = Score(i32::from(score.to_tt(Ply(since_root.into()))));
        let here = if since_root % 2 == 1 { -here } else { here };
        let known = Known { lower: here, upper: here, depth, best: PackedMove::pack(pair[1]) };
        findings.push(PositionFinding { position: position.clone(), since_root, known });
    }
    findings
}

#[cfg(test)]
mod tests;
