//! Winning chances, and the judgement of moves by the chances that they give away.

use crate::types::Score;

/// Centipawns into winning chances: a logistic curve with this slope, fitted to human games by the Lichess
/// project (lichess.org/page/accuracy, 2022). A pawn is about 59 %, three pawns 75 %.
const SLOPE: f64 = 0.003_682_08;
/// Larger scores are clamped to this, in centipawns.
const MAX_JUDGED_SCORE: i32 = 1000;

/// How bad a move is, by the winning chances that it gave away.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveJudgement {
    /// At least 5 of 100.
    Inaccuracy,
    /// At least 10 of 100.
    Mistake,
    /// At least 15 of 100.
    Blunder,
}

impl MoveJudgement {
    /// The judgement on a loss of winning chances, in percent; `None` for a good move.
    pub fn of(loss: f64) -> Option<MoveJudgement> {
        match loss {
            15.0.. => Some(MoveJudgement::Blunder),
            10.0.. => Some(MoveJudgement::Mistake),
            5.0.. => Some(MoveJudgement::Inaccuracy),
            _ => None,
        }
    }

    /// The numeric annotation glyph of the PGN standard.
    pub fn nag(self) -> u8 {
        self.signs().0
    }

    /// The glyph as text, such as `?!`.
    pub fn glyph(self) -> &'static str {
        self.signs().1
    }

    /// The word.
    pub fn word(self) -> &'static str {
        self.signs().2
    }

    fn signs(self) -> (u8, &'static str, &'static str) {
        match self {
            MoveJudgement::Inaccuracy => (6, "?!", "inaccuracy"),
            MoveJudgement::Mistake => (2, "?", "mistake"),
            MoveJudgement::Blunder => (4, "??", "blunder"),
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

/// The same of a score in centipawns.
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

    #[test]
    fn judgements_begin_at_their_bounds() {
        assert_eq!(MoveJudgement::of(4.9), None);
        assert_eq!(MoveJudgement::of(12.0), Some(MoveJudgement::Mistake));
    }
}
