//! Winning chances, and the judgement of moves: `?!`, `?` and `??` by the bounds of Lichess (lichess.org, `Advice.scala` of its
//! source), `!` and `!!` by our own.
//!
//! A move is bad by the winning chances that it gives away; a forced mate is all of them, or none. Where the game was as good
//! as lost before it, or is as good as won after it, it is an inaccuracy at most. That is not Lichess's rule, but engines do
//! not agree how much worse a lost position has become, and a move that still wins loses no game. As on Lichess it is an
//! inaccuracy at least if it misses a forced mate or allows one.
//!
//! A move is good if it is the only one: the best move, which the search preferred to another only after a while, and
//! every other move gives away at least [`ONLY_MOVE`] percent. If it also sacrifices material, it is brilliant. Recaptures,
//! captures of a piece that gives check, moves of a named opening and moves in a game that is as good as lost are not
//! praised.

use crate::{cli::pgn::glyph, types::Score};

/// Centipawns into winning chances: a logistic curve with this slope, fitted to human games by the Lichess
/// project (lichess.org/page/accuracy, 2022). A pawn is about 59 %, three pawns 75 %.
const SLOPE: f64 = 0.003_682_08;
/// Larger scores are clamped to this, in centipawns.
const MAX_JUDGED_SCORE: i32 = 1000;

/// Winning chances, in percent, that every other move gives away if one is the only move.
pub const ONLY_MOVE: f64 = 10.0;
/// Winning chances, in percent, that a mistake gives away at least.
pub const MISTAKE: f64 = 10.0;
/// With winning chances below this, in percent, a side is as good as lost, and with as many less than 100 as good as
/// winning. What it then gives away is no more than an inaccuracy.
pub const DECIDED: f64 = 25.0;

/// How good or bad a move is, the worst last.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveJudgement {
    /// The only move, and a sacrifice.
    Brilliant,
    /// The only move.
    Good,
    /// Gives away at least 5 of 100 winning chances.
    Inaccuracy,
    /// At least 10 of 100.
    Mistake,
    /// At least 15 of 100.
    Blunder,
}

impl MoveJudgement {
    /// The judgement on a move by the scores before and after it, both for the side that moved; `None` if it is not bad.
    pub fn of(before: Score, after: Score) -> Option<MoveJudgement> {
        let is_mate = before.is_mate() || after.is_mate();
        let (before, after) = (chances(before), chances(after));
        let is_decided = before < DECIDED || after > 100.0 - DECIDED;
        let worst = if is_decided { MoveJudgement::Inaccuracy } else { MoveJudgement::Blunder };
        // Ten pawns are nearly as much as a mate, and as little as being mated.
        let least = (is_mate && before > after).then_some(MoveJudgement::Inaccuracy);
        MoveJudgement::of_loss(before - after).map(|judgement| judgement.min(worst)).max(least)
    }

    /// The judgement on a loss of winning chances, in percent.
    fn of_loss(loss: f64) -> Option<MoveJudgement> {
        match loss {
            15.0.. => Some(MoveJudgement::Blunder),
            MISTAKE.. => Some(MoveJudgement::Mistake),
            5.0.. => Some(MoveJudgement::Inaccuracy),
            _ => None,
        }
    }

    /// Does it find fault with the move?
    pub fn is_bad(self) -> bool {
        self >= MoveJudgement::Inaccuracy
    }

    /// The numeric annotation glyph of the PGN standard.
    pub fn nag(self) -> u32 {
        self.names().0
    }

    /// The glyph as text, such as `?!`.
    pub fn glyph(self) -> &'static str {
        glyph::sign(self.nag()).unwrap_or_default()
    }

    /// The word.
    pub fn word(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (u32, &'static str) {
        match self {
            MoveJudgement::Brilliant => (3, "brilliant"),
            MoveJudgement::Good => (1, "good"),
            MoveJudgement::Inaccuracy => (6, "inaccuracy"),
            MoveJudgement::Mistake => (2, "mistake"),
            MoveJudgement::Blunder => (4, "blunder"),
        }
    }
}

/// Winning chances of the side to which `score` belongs, in percent (a draw counts half).
pub fn chances(score: Score) -> f64 {
    if score.is_decisive() {
        return if score.0 > 0 { 100.0 } else { 0.0 };
    }
    win_percent(capped(score))
}

/// A score in centipawns, clamped to ten pawns; a mate counts as ten.
pub fn capped(score: Score) -> i32 {
    if score.is_decisive() {
        return MAX_JUDGED_SCORE * score.0.signum();
    }
    score.centipawns().clamp(-MAX_JUDGED_SCORE, MAX_JUDGED_SCORE)
}

/// The winning chances of a score in centipawns.
pub fn win_percent(centipawns: i32) -> f64 {
    100.0 / (1.0 + (-SLOPE * f64::from(centipawns)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn chances_are_fair_and_bounded() {
        assert!((chances(Score::ZERO) - 50.0).abs() < 1e-9);
        for cp in [1, 100, 500, 5000] {
            let sum = chances(Score::from_centipawns(cp)) + chances(Score::from_centipawns(-cp));
            assert!((sum - 100.0).abs() < 1e-9);
        }
        assert!((chances(Score::mate_in(Ply(3))) - 100.0).abs() < 1e-9);
        assert!(chances(Score::mated_in(Ply(2))).abs() < 1e-9);
    }

    #[test]
    fn ten_pawns_are_the_most() {
        assert_eq!(capped(Score::mate_in(Ply(3))), 1000);
        assert_eq!(capped(Score::mated_in(Ply::ROOT)), -1000);
        assert_eq!(capped(Score::from_centipawns(1500)), 1000);
        assert_eq!(capped(Score::from_centipawns(-15)), -15);
    }

    /// The judgement on a move from a score to a score.
    fn judged(before: Score, after: Score) -> &'static str {
        MoveJudgement::of(before, after).map_or("", MoveJudgement::glyph)
    }

    #[test]
    fn judgements_begin_at_their_bounds() {
        let cp = Score::from_centipawns;
        // 50 to 45.4, 44.5, 40.9, 39.1, 35.6, 34.9 percent.
        let rows = [(-50, ""), (-60, "?!"), (-100, "?!"), (-120, "?"), (-161, "?"), (-170, "??"), (90, "")];
        for (after, glyph) in rows {
            assert_eq!(judged(Score::ZERO, cp(after)), glyph, "{after}");
        }
        assert_eq!(judged(cp(1500), cp(1000)), "", "ten pawns are as good as fifteen");
    }

    #[test]
    fn who_is_as_good_as_lost_or_still_as_good_as_winning_makes_no_mistake() {
        let cp = Score::from_centipawns;
        // 25.1 and 24.9 percent before, 74.9 and 75.1 after.
        for (before, after, glyph) in
            [(-297, -900, "??"), (-300, -900, "?!"), (900, 297, "??"), (900, 300, "?!")]
        {
            assert_eq!(judged(cp(before), cp(after)), glyph, "{before}, {after}");
        }
    }

    #[test]
    fn a_forced_mate_is_all_or_nothing() {
        let (mate, mated) = (Score::mate_in(Ply(5)), Score::mated_in(Ply(4)));
        for (before, glyph) in [(0, "??"), (900, "??"), (-297, "??"), (-300, "?!"), (-1000, "?!")] {
            assert_eq!(judged(Score::from_centipawns(before), mated), glyph, "{before}");
            assert_eq!(judged(mate, Score::from_centipawns(-before)), glyph, "{before}");
        }
        assert_eq!(judged(mate, mated), "??");
        assert_eq!(judged(Score::tablebase_win(Ply(9)), mated), "??");
    }

    #[test]
    fn a_mate_that_takes_longer_or_was_there_anyway_is_no_fault() {
        assert_eq!(judged(Score::mate_in(Ply(3)), Score::mate_in(Ply(19))), "");
        assert_eq!(judged(Score::mated_in(Ply(20)), Score::mated_in(Ply(2))), "");
        assert_eq!(judged(Score::from_centipawns(90), Score::mate_in(Ply(3))), "");
        assert_eq!(judged(Score::mated_in(Ply(6)), Score::from_centipawns(-20)), "");
    }
}
