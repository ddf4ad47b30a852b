//! What a move was worth: chances to win, losses of them, accuracy.

use crate::types::Score;

/// Centipawns into winning chances: a logistic curve with this slope, fitted to human games by the Lichess
/// project (lichess.org/page/accuracy, 2022). A pawn is about 59 %, three pawns 75 %.
const SLOPE: f64 = 0.003_682_08;
/// Beyond this a larger score changes nothing.
const MOST_CENTIPAWNS: f64 = 1000.0;

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
    /// The judgement on a loss of winning chances, in percent; nothing for a good move.
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
        match self {
            MoveJudgement::Inaccuracy => 6,
            MoveJudgement::Mistake => 2,
            MoveJudgement::Blunder => 4,
        }
    }

    /// The glyph as people write it.
    pub fn glyph(self) -> &'static str {
        match self {
            MoveJudgement::Inaccuracy => "?!",
            MoveJudgement::Mistake => "?",
            MoveJudgement::Blunder => "??",
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            MoveJudgement::Inaccuracy => "inaccuracy",
            MoveJudgement::Mistake => "mistake",
            MoveJudgement::Blunder => "blunder",
        }
    }
}

/// Chances of the side to which `score` belongs to win, in percent (draws count half).
pub fn chances(score: Score) -> f64 {
    if score.is_decisive() {
        return if score.0 > 0 { 100.0 } else { 0.0 };
    }
    let centipawns = f64::from(score.centipawns()).clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS);
    100.0 / (1.0 + (-SLOPE * centipawns).exp())
}

/// Accuracy of a move that lost so many percent of winning chances: 100 for none, falling exponentially
/// (same source).
pub fn accuracy(loss: f64) -> f64 {
    (103.1668 * (-0.043_54 * loss.max(0.0)).exp() - 3.1669).clamp(0.0, 100.0)
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
    fn accuracy_falls_from_a_hundred() {
        assert!(accuracy(0.0) > 99.9);
        assert!(accuracy(10.0) > accuracy(20.0) && accuracy(100.0) < 1.0);
        assert_eq!(MoveJudgement::of(4.9), None);
        assert_eq!(MoveJudgement::of(12.0), Some(MoveJudgement::Mistake));
    }
}
