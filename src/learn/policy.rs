//! Decides what is remembered: pure functions, without file or clock.
//!
//! [`LearningMode::Drop`] combines two ideas. Crafty (Hyatt) remembers the position where the score drops from one move
//! of the game to the next: an earlier evaluation was wrong. Slate does the same within one search, when a deeper
//! iteration scores lower than a shallower one. [`LearningMode::All`] is that of Bebe (Scherzer, Scherzer and Tjaden
//! 1990): every root is remembered.
//!
//! Any later search may rely on a record. So nothing is learned from a search that was restricted, or whose score is
//! valid only in this game: see [`NotLearned`] for the complete list. An engine of limited strength neither learns nor uses
//! what was learned; it asks nothing here.

use super::{
    record::{Origin, Record},
    score::LearnedScore,
};
use crate::{
    position::Position,
    types::{Bound, Depth, FIFTY_MOVE_MARGIN, PackedMove, Score, SearchResult},
};

/// A score of at most this, in printed centipawns, is lost: a further drop is not learned.
pub(super) const LOST: i32 = -200;
/// A search may be this many plies shallower than the one it is compared with.
const DEPTH_SLACK: i32 = 2;
/// The depth of a record of another evaluation is reduced by this many plies. Measured: such a score is as inaccurate as
/// one of our own two plies shallower (benches/notes/learning.md).
pub const FOREIGN_DEPTH: i32 = 2;

/// What is learned.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum LearningMode {
    /// Nothing is learned and nothing is used.
    #[default]
    Off,
    /// Where the score drops.
    Drop,
    /// Every root.
    All,
}

/// The thresholds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What is learned.
    pub mode: LearningMode,
    /// A fall of this many printed centipawns is a drop.
    pub drop: i32,
    /// A shallower search is not learned from.
    pub min_depth: Depth,
}

/// The conditions under which a search began.
#[derive(Copy, Clone, Debug)]
pub struct Conditions {
    /// What is learned.
    pub rules: Rules,
    /// The search was not made to play a move.
    pub analysis: bool,
    /// Why the search is not learned from, if it is not.
    pub not_learned: Option<NotLearned>,
}

/// The previous search of the same game.
#[derive(Copy, Clone, Debug)]
pub struct Earlier {
    /// Its depth.
    pub depth: Depth,
    /// Its score, for the side that moved there.
    pub score: Score,
    /// Plies by which the list of moves has grown since.
    pub plies: usize,
}

/// What is known about a position: the bounds of its score, their depth, and the best move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The score is at least this.
    pub lower: Score,
    /// The score is at most this.
    pub upper: Score,
    /// Depth of the search.
    pub depth: Depth,
    /// The best move.
    pub best: PackedMove,
}

impl Known {
    /// The content of a record; none for a tombstone, or if no score is within the bounds.
    pub fn of(record: &Record) -> Option<Known> {
        let known = Known {
            lower: record.lower.to_score(),
            upper: record.upper.to_score(),
            depth: Depth(i32::from(record.depth)),
            best: record.best,
        };
        let is_possible =
            known.lower <= known.upper && known.lower < Score::INFINITE && known.upper > -Score::INFINITE;
        (record.is_live() && is_possible).then_some(known)
    }

    /// Is the score bounded?
    pub fn is_bounded(&self) -> bool {
        self.lower > -Score::INFINITE || self.upper < Score::INFINITE
    }
}

/// Something to remember about a position that was not the root.
#[derive(Clone, Debug)]
pub struct PositionFinding {
    /// The position.
    pub position: Position,
    /// Plies from the root of the search.
    pub since_root: u8,
    /// What is known of it.
    pub known: Known,
}

/// Could the search of a record reach the fifty-move limit? Then the record is valid only for its clock.
pub fn is_near_counter(record: &Record) -> bool {
    u32::from(record.halfmoves) + u32::from(record.depth) + FIFTY_MOVE_MARGIN as u32 >= 100
}

/// Is a record valid at this fifty-move clock?
pub fn is_valid_at(record: &Record, halfmoves: u32) -> bool {
    u32::from(record.halfmoves) == halfmoves || !is_near_counter(record)
}

/// May `new`, learned by a process with this evaluation, take the place of `live`, the record of the same position?
///
/// Nothing replaces a record of higher [rank](Record::rank), and what is valid only for its fifty-move clock replaces
/// nothing else but outcomes and drops that no result has confirmed. Beyond that, a root that was analysed leaves what
/// games have left and deeper searches, unless it proves a win or a loss. A drop leaves deeper searches. An outcome is no
/// search: it replaces drops and what a study found, but no deeper root and no opening. A study replaces all of them.
pub fn may_replace(new: &Record, live: &Record, evaluation_id: u16) -> bool {
    let foreign = if live.is_foreign_to(evaluation_id) { FOREIGN_DEPTH } else { 0 };
    let is_deeper = live.has_own_depth()
        && is_valid_at(live, new.halfmoves.into())
        && i32::from(live.depth) - foreign > i32::from(new.depth);
    let is_proven = new.lower.to_score().is_win() || new.upper.to_score().is_loss();
    let stays = match new.origin {
        Origin::EveryRoot => !is_proven && (live.is_of_game() || is_deeper),
        Origin::Drop => is_deeper,
        Origin::Outcome => live.is_unsearched() || is_deeper && live.origin == Origin::EveryRoot,
        Origin::Advice | Origin::Import | Origin::Study | Origin::Opening => false,
    };
    let is_clock_known = !is_near_counter(new)
        || is_near_counter(live)
        || live.origin == Origin::Outcome
        || live.is_suspicion();
    new.rank() >= live.rank() && is_clock_known && !stays
}

/// Why something is remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The score dropped since the previous search, two plies earlier (Crafty).
    BetweenMoves,
    /// The score dropped inside the search (Slate).
    InsideSearch,
    /// Every root is remembered (Bebe).
    EveryRoot,
}

/// Why nothing is remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NotLearned {
    /// Learning is off, as it always is in `bench`, `perft` and `eval`.
    Off,
    /// Only some root moves were searched (`searchmoves`): another may be best.
    SearchMoves,
    /// The search was for a mate only.
    Mate,
    /// The position pondered on never arose.
    PonderedInVain,
    /// The score depends on earlier positions of this game.
    Repetition,
    /// By tablebases, won or lost but for the fifty-move counter.
    Cursed,
    /// Fewer than two iterations were finished.
    TooFewIterations,
    /// Shallower than [`Rules::min_depth`].
    TooShallow,
    /// The search has no score.
    NoScore,
    /// Drops are learned from games.
    Analysis,
    /// The score did not drop by enough.
    NoDrop,
    /// A live record already covers it.
    Known,
}

impl NotLearned {
    /// Does the search show nevertheless how the game stands?
    pub fn shows_the_score(self) -> bool {
        !matches!(self, NotLearned::SearchMoves | NotLearned::Mate | NotLearned::PonderedInVain)
    }
}

/// Something to remember about the root.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RootFinding {
    /// Why it is remembered.
    pub trigger: Trigger,
    /// The window, the depth and the move.
    pub known: Known,
}

/// What there is to remember about the root.
///
/// # Errors
/// The reason why nothing is remembered.
pub fn decide(
    conditions: &Conditions,
    result: &SearchResult,
    earlier: Option<Earlier>,
    live: Option<&Known>,
) -> Result<RootFinding, NotLearned> {
    if let Some(reason) = never_learned(conditions, result) {
        return Err(reason);
    }
    let rules = &conditions.rules;
    // A resumed analysis continues from its last finished iteration; a fail low in which it was stopped has no move.
    let finished_only = rules.mode == LearningMode::All && conditions.analysis;
    let bound = if finished_only { None } else { fail_low(result) };
    let known = bound.or_else(|| window(result)).ok_or(NotLearned::NoScore)?;
    if known.depth < rules.min_depth {
        return Err(NotLearned::TooShallow);
    }
    let trigger = match rules.mode {
        LearningMode::Off => return Err(NotLearned::Off),
        LearningMode::All => Trigger::EveryRoot,
        // No game confirms it.
        LearningMode::Drop if conditions.analysis => return Err(NotLearned::Analysis),
        LearningMode::Drop => {
            let fell = |from: Score| {
                from.centipawns() > LOST && from.centipawns() - known.upper.centipawns() >= rules.drop
            };
            let before = earlier.filter(|earlier| {
                earlier.plies == 2
                    && earlier.depth >= rules.min_depth
                    && known.depth >= earlier.depth - DEPTH_SLACK
            });
            if before.is_some_and(|earlier| fell(earlier.score)) {
                Trigger::BetweenMoves
            } else if result.iterations.best(rules.min_depth, known.depth).is_some_and(fell) {
                Trigger::InsideSearch
            } else {
                return Err(NotLearned::NoDrop);
            }
        }
    };
    if live.is_some_and(|live| covers(live, &known)) {
        return Err(NotLearned::Known);
    }
    Ok(RootFinding { trigger, known })
}

/// The reason why a search is never learned from, if there is one. Later searches are not compared with it either.
pub fn never_learned(conditions: &Conditions, result: &SearchResult) -> Option<NotLearned> {
    let too_few = || (!result.iterations.are_enough()).then_some(NotLearned::TooFewIterations);
    let off = (conditions.rules.mode == LearningMode::Off).then_some(NotLearned::Off);
    let in_vain = result.pondering.then_some(NotLearned::PonderedInVain);
    let cursed = result.is_cursed.then_some(NotLearned::Cursed);
    in_vain.or(conditions.not_learned).or(off).or(cursed).or_else(too_few)
}

/// Depth and score with which a later search of the game is compared.
pub fn comparison_score(result: &SearchResult) -> Option<(Depth, Score)> {
    fail_low(result)
        .or_else(|| window(result))
        .map(|known| (known.depth, if known.lower > -Score::INFINITE { known.lower } else { known.upper }))
}

/// The result of a search that was stopped inside a fail low: only the upper bound, since its move is the one that
/// failed.
fn fail_low(result: &SearchResult) -> Option<Known> {
    let (depth, upper) = result.iterations.fail_low().filter(|(depth, _)| *depth > result.depth)?;
    Some(Known { lower: -Score::INFINITE, upper, depth, best: PackedMove::NONE })
}

/// The result of any other search.
fn window(result: &SearchResult) -> Option<Known> {
    let SearchResult { score, depth, .. } = *result;
    let open = Score::INFINITE;
    let (lower, upper) = match result.bound {
        Bound::Exact if score.is_decisive() => (score, score),
        Bound::Exact => (score, (score + result.slack).clamp_evaluation()),
        Bound::Lower => (score, open),
        Bound::Upper => (-open, score),
    };
    let best = result.line.first().map_or(PackedMove::NONE, |&m| PackedMove::pack(m));
    (score > -open && score < open).then_some(Known { lower, upper, depth, best })
}

/// Does `live` make `new` superfluous: at least the same depth, the same move, an overlapping window? Scores are
/// compared as records store them, in printed centipawns, which are coarser than internal units.
pub fn covers(live: &Known, new: &Known) -> bool {
    let same_move = live.best == new.best || new.best.is_none();
    let kept = LearnedScore::from_score;
    let overlap = kept(live.lower) <= kept(new.upper) && kept(new.lower) <= kept(live.upper);
    live.depth >= new.depth && same_move && overlap
}

/// Is a record used in this `mode`?
///
/// Scores drop and recover, at a thousand nodes a move a dozen times a game. A drop is a reason to play another move
/// only if the game is lost; used at once, drops of won games make the engine leave winning lines. When every root is
/// remembered the engine is used for analysis, and resumes from all of them.
pub fn is_used(mode: LearningMode, record: &Record) -> bool {
    match mode {
        LearningMode::Off => false,
        LearningMode::Drop => !record.is_suspicion() && !record.is_unsearched(),
        LearningMode::All => !record.is_unsearched(),
    }
}

#[cfg(test)]
mod tests;
