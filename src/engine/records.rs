//! Converts records for a search: into table entries and preferred moves.

use shakmaty::{Color, Move, Position as _, uci::UciMove};

use super::game::BegunSearch;
use crate::{
    learn::{
        Origin, Record, Ring,
        game::RESULT,
        policy::{FOREIGN_DEPTH, Known},
    },
    notice::Notice,
    position::{Position, PositionPath},
    search::{Preference, Preferences, Strength},
    tt::{Learned, ScoreWindow},
    types::{Depth, PositionKey, Score},
};

/// The window of a record of another evaluation is widened by a factor of 1.5. Measured: the error of such a score is 1.4
/// times that of our own at the same depth (benches/notes/learning.md).
const FOREIGN_FUZZ_HALVES: i32 = 3;

/// The greatest depth of a learned entry: more than any search asks for, and little enough to be used at other
/// fifty-move clocks than that of the record. Advice and mates have greater depths.
const MAX_LEARNED_DEPTH: Depth = Depth(60);

/// The table entry of a record for searches with this evaluation, its window widened by `fuzz` printed centipawns on
/// each side; none if the record contradicts itself. A record without a score has only a move, which protects nothing:
/// its depth is 1.
pub fn learned_entry(record: &Record, evaluation_id: u16, fuzz: i32) -> Option<Learned> {
    let mut known = Known::of(record)?;
    if !known.is_bounded() {
        known.depth = Depth(1);
    }
    let is_foreign = record.is_foreign_to(evaluation_id);
    Some(widened_entry(record.key, known, u32::from(record.halfmoves), is_foreign, fuzz))
}

/// The table entry of what is known of a position, its window widened by `fuzz` printed centipawns on each side, because
/// the score of a search is an estimate. Absent bounds stay absent; draws, mates and tablebase results are exact. If the
/// score comes from another evaluation (`is_foreign`), the window is wider and the depth less.
pub(super) fn widened_entry(
    key: PositionKey,
    known: Known,
    halfmoves: u32,
    is_foreign: bool,
    fuzz: i32,
) -> Learned {
    let Known { lower, upper, depth, best } = known;
    let (fuzz, depth) = match is_foreign {
        true => (fuzz * FOREIGN_FUZZ_HALVES / 2, depth - FOREIGN_DEPTH),
        false => (fuzz, depth),
    };
    let widened = |score: Score, by: i32| {
        let is_exact = score == Score::ZERO || score.0.abs() > Score::MAX_EVALUATION.0;
        if is_exact { score } else { (score + Score::from_centipawns(by).0).clamp_evaluation() }
    };
    Learned {
        key,
        best,
        window: ScoreWindow { lower: widened(lower, -fuzz), upper: widened(upper, fuzz) },
        depth: depth.clamp(Depth(1), MAX_LEARNED_DEPTH),
        halfmoves,
    }
}

/// The same in a search with contempt: a draw score becomes the contempt score, because scores are stored without
/// contempt (Scherzer, Scherzer and Tjaden 1990). `turn` is the side to move in the entry's position.
pub(super) fn with_contempt(
    mut learned: Learned,
    strength: &Strength,
    root: &Position,
    turn: impl FnOnce() -> Option<Color>,
) -> Learned {
    let ScoreWindow { lower, upper } = &mut learned.window;
    if strength.contempt != 0
        && (*lower == Score::ZERO || *upper == Score::ZERO)
        && let Some(turn) = turn()
    {
        let draw = strength.draw(turn, root);
        [lower, upper].into_iter().filter(|bound| **bound == Score::ZERO).for_each(|bound| *bound = draw);
        if learned.window.lower > learned.window.upper {
            learned.window = ScoreWindow::exactly(draw);
        }
    }
    learned
}

/// The moves advised in this position.
pub(super) fn advised(record: &Record, root: &Position) -> Vec<Move> {
    record.advised().filter_map(|m| root.unpack(m)).collect()
}

impl BegunSearch {
    /// Is none of the advised moves played?
    pub fn overruled(&self, best: Option<&Move>) -> Option<Notice> {
        let BegunSearch { root, advised, .. } = self;
        let best = best.filter(|best| !advised.is_empty() && !advised.contains(best))?;
        let best = best.to_uci(root.position.chess().castles().mode());
        Some(Notice::AdviceOverruled { advised: moves_to_uci(advised, &root.position), best })
    }
}

/// The moves in UCI notation.
pub(super) fn moves_to_uci(moves: &[Move], root: &Position) -> Vec<UciMove> {
    moves.iter().map(|m| m.to_uci(root.chess().castles().mode())).collect()
}

/// The preferences for root moves: by the outcomes of the games in which they were played, and by studies, for the best
/// move found and for the moves that lead there. None for a move that repeats a position of `path`, since the game won from
/// there continued differently and the third occurrence is a draw, nor for one near the fifty-move limit.
pub(super) fn preferences(ring: &Ring, root: &Position, path: &PositionPath) -> Preferences {
    let studied = |record: &Record| Preference::Studied(Depth(i32::from(record.depth)));
    let study = ring.get(root.key()).filter(|record| record.origin == Origin::Study);
    let best = study.as_ref().and_then(|study| root.unpack(study.best));
    let mut path = path.clone();
    let mut of = |m: Move| {
        let position = root.play(m);
        if path.is_near_draw(&position) {
            return None;
        }
        let after = ring.get(position.key());
        let found = study.as_ref().filter(|_| best == Some(m));
        let preference = after.and_then(|record| match (record.origin, record.lower.is_none()) {
            // A game won with the studied move only confirms it, and one lost before the study is what was studied.
            (Origin::Outcome, is_won) if found.is_some_and(|study| is_won || study.time >= record.time) => {
                None
            }
            // The record is from the opponent's side: a lower bound if the game was lost, an upper one if it was won.
            (Origin::Outcome, _) => {
                let score = record.lower.centipawns().or(record.upper.centipawns())?;
                Some(Preference::Outcome(-score * 1000 / RESULT))
            }
            (Origin::Study, true) if record.upper.is_none() => Some(studied(&record)),
            _ => None,
        });
        Some((m, preference.or(found.map(studied))?))
    };
    Preferences(root.legal_moves().iter().filter_map(|&m| of(m)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::{LearnedScore, exchange},
        types::Ply,
    };

    #[test]
    fn no_move_is_preferred_near_the_fifty_move_limit() {
        let preferred = |clock: u32| {
            let fen = format!("4k3/pppp4/8/8/8/8/PPPPB3/4K3 w - - {clock} 80");
            let root = Position::from_fen(&fen).expect("legal");
            let mut study = Record::new(&root, Origin::Study).expect("the position fits");
            study.best = crate::types::PackedMove::pack(root.legal_move("e1f2").expect("legal"));
            let folder = tempfile::tempdir().expect("a folder");
            let (mut file, ring, _) = crate::learn::LearnFile::open_or_create(&folder.path().join("l.bin"))
                .expect("a learning file");
            let ring = std::sync::RwLock::new(ring);
            file.merge(&ring, &[study]).expect("written");
            preferences(&ring.read().expect("whole"), &root, &PositionPath::new(&root)).0.len()
        };
        assert_eq!([97, 98, 99].map(preferred), [1, 0, 0]);
    }

    #[test]
    fn windows_are_widened_where_scores_are_estimates() {
        let window = |lower, upper| {
            let record = Record {
                lower: LearnedScore::from_score(lower),
                upper: LearnedScore::from_score(upper),
                evaluation_id: 7,
                ..Record::new(&Position::default(), Origin::EveryRoot).expect("the position fits")
            };
            let ScoreWindow { lower, upper } = learned_entry(&record, 7, 20)?.window;
            Some((lower, upper))
        };
        let cp = Score::from_centipawns;
        let (mate, infinite) = (Score::mate_in(Ply(5)), Score::INFINITE);
        let wider = cp(20).0;
        let rows = [
            ((cp(-50), cp(-30)), (cp(-50) - wider, cp(-30) + wider)),
            ((-infinite, cp(10)), (-infinite, cp(10) + wider)),
            ((cp(-10), infinite), (cp(-10) - wider, infinite)),
            ((Score::ZERO, Score::ZERO), (Score::ZERO, Score::ZERO)),
            ((mate, mate), (mate, mate)),
        ];
        for ((lower, upper), expected) in rows {
            assert_eq!(window(lower, upper), Some(expected), "{lower:?} {upper:?}");
        }
        assert_eq!(window(cp(10), cp(-10)), None, "it contradicts itself");
    }

    #[test]
    fn a_record_without_a_score_is_a_shallow_entry() {
        let record = Record::new(&Position::default(), Origin::Study).expect("the position fits");
        let depth = |record: Record| learned_entry(&record, 0, 20).expect("an entry").depth;
        assert_eq!(depth(Record { depth: 30, ..record.clone() }), Depth(1));
        let upper = LearnedScore::from_centipawns(10);
        assert_eq!(depth(Record { depth: 30, upper, ..record }), Depth(30));
    }

    #[test]
    fn advice_counts_fully_whatever_evaluates() {
        let score = LearnedScore::from_centipawns(50);
        let moves = ["e4", "d4", "c4"].into_iter();
        let mut record = exchange::advice(&Position::default(), moves, Some(score)).expect("advice");
        record.depth = 20;
        for evaluation_id in [0, 7, record.also[1].bits()] {
            let learned = learned_entry(&record, evaluation_id, 20).expect("an entry");
            assert_eq!(learned.depth, Depth(20));
            assert_eq!(learned.window.lower, Score::from_centipawns(50) - Score::from_centipawns(20).0);
        }
    }
}
