use std::fmt;

use thiserror::Error;

use crate::types::{MAX_PLY, Ply, Score, quote};

/// A score in a record, from the point of view of the side to move in the record's position.
///
/// ```text
///  -32768   -32000+n      -31000+n      -30000 .. 30000   31000-n     32000-n    32767
///  no lower mated in n    tablebase     printed           tablebase   mate in n  no upper
///  bound    plies         loss in n     centipawns        win in n    plies      bound
/// ```
/// `n` counts plies from the position, 0 to 999. The centipawns are those that the engine prints (100 are an
/// even chance to win), so that a record outlives a change of the internal scale.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LearnedScore(i16);

const MATE: i16 = 32_000;
const TABLEBASE: i16 = 31_000;
const PLIES: i16 = 999;
const MAX_CENTIPAWNS: i16 = 30_000;

enum ScoreKind {
    None,
    Mate(i16),
    Tablebase(i16),
    Centipawns,
}

impl LearnedScore {
    /// No lower bound.
    pub const NO_LOWER: LearnedScore = LearnedScore(i16::MIN);
    /// No upper bound.
    pub const NO_UPPER: LearnedScore = LearnedScore(i16::MAX);

    /// From stored bits.
    pub const fn from_bits(bits: i16) -> Option<LearnedScore> {
        let known = bits == i16::MIN || bits == i16::MAX || bits.unsigned_abs() <= MATE as u16;
        if known { Some(LearnedScore(bits)) } else { None }
    }

    /// The stored bits.
    pub const fn bits(self) -> i16 {
        self.0
    }

    /// Printed centipawns, at most 30,000 either way.
    pub fn from_centipawns(centipawns: i32) -> LearnedScore {
        let most = i32::from(MAX_CENTIPAWNS);
        LearnedScore(centipawns.clamp(-most, most) as i16)
    }

    /// The side to move mates, or is mated, in this number of plies.
    pub fn mate(plies: u16, wins: bool) -> LearnedScore {
        LearnedScore::signed(MATE - (plies.min(PLIES as u16) as i16), wins)
    }

    fn signed(size: i16, positive: bool) -> LearnedScore {
        LearnedScore(if positive { size } else { -size })
    }

    /// A score of the search with the position at its root. Infinite scores become absent bounds.
    pub fn from_score(score: Score) -> LearnedScore {
        let winning = score > Score::ZERO;
        if score.0.abs() >= Score::INFINITE.0 {
            return if winning { LearnedScore::NO_UPPER } else { LearnedScore::NO_LOWER };
        }
        if let Some(plies) = score.mate_plies() {
            return LearnedScore::mate(plies.unsigned_abs() as u16, winning);
        }
        if score.is_decisive() {
            let plies = (Score::tablebase_win(Ply::ROOT).0 - score.0.abs()).clamp(0, i32::from(PLIES)) as i16;
            return LearnedScore::signed(TABLEBASE - plies, winning);
        }
        LearnedScore::from_centipawns(score.centipawns())
    }

    /// The score for a search with the position at its root; infinite for an absent bound. A mate or tablebase result
    /// further away than a search can represent becomes the furthest one.
    pub fn to_score(self) -> Score {
        let far = |plies: i16| Ply(plies.clamp(0, MAX_PLY as i16) as u16);
        let size = match self.kind() {
            ScoreKind::None => Score::INFINITE,
            ScoreKind::Mate(plies) => Score::mate_in(far(plies)),
            ScoreKind::Tablebase(plies) => Score::tablebase_win(far(plies)),
            ScoreKind::Centipawns => return Score::from_centipawns(i32::from(self.0)).clamp_evaluation(),
        };
        if self.0 > 0 { size } else { -size }
    }

    /// Printed centipawns; none for proven results and absent bounds.
    pub fn centipawns(self) -> Option<i32> {
        matches!(self.kind(), ScoreKind::Centipawns).then_some(i32::from(self.0))
    }

    /// Can this be the score of a position with a legal move? A side mates after an odd number of plies and is mated after
    /// an even one; 999 stands for any number beyond.
    pub fn is_possible(self) -> bool {
        match self.kind() {
            ScoreKind::Mate(plies) => plies == PLIES || plies > 0 && (plies % 2 != 0) == (self.0 > 0),
            _ => true,
        }
    }

    /// Is there no bound?
    pub fn is_none(self) -> bool {
        matches!(self.kind(), ScoreKind::None)
    }

    fn kind(self) -> ScoreKind {
        match self.0 {
            i16::MIN | i16::MAX => ScoreKind::None,
            value if value.abs() > TABLEBASE => ScoreKind::Mate(MATE - value.abs()),
            value if value.abs() > MAX_CENTIPAWNS => ScoreKind::Tablebase(TABLEBASE - value.abs()),
            _ => ScoreKind::Centipawns,
        }
    }
}

/// `-20`, `+mate7` and `-mate8` (plies), `+win12` and `-win12` (tablebase, plies), `+inf` and `-inf`.
impl fmt::Display for LearnedScore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 > 0 { '+' } else { '-' };
        match self.kind() {
            ScoreKind::None => write!(formatter, "{sign}inf"),
            ScoreKind::Mate(plies) => write!(formatter, "{sign}mate{plies}"),
            ScoreKind::Tablebase(plies) => write!(formatter, "{sign}win{plies}"),
            ScoreKind::Centipawns => write!(formatter, "{}", self.0),
        }
    }
}

/// A score that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a score; write centipawns (-35), +mate7, -mate8, +win12, -win12, +inf or -inf")]
pub struct ParseScoreError(pub String);

impl std::str::FromStr for LearnedScore {
    type Err = ParseScoreError;

    fn from_str(text: &str) -> Result<LearnedScore, ParseScoreError> {
        let wrong = || ParseScoreError(quote(text, 40));
        let (positive, size) = match text.split_at_checked(1) {
            Some(("+", size)) => (true, size),
            Some(("-", size)) => (false, size),
            _ => (true, text),
        };
        let number = |digits: &str, most: i16| match digits.parse::<i16>() {
            // `parse` would accept a second sign.
            Ok(value) if value <= most && digits.starts_with(|c: char| c.is_ascii_digit()) => Ok(value),
            _ => Err(wrong()),
        };
        let value = match size {
            "inf" if positive => return Ok(LearnedScore::NO_UPPER),
            "inf" => return Ok(LearnedScore::NO_LOWER),
            _ => match (size.strip_prefix("mate"), size.strip_prefix("win")) {
                (Some(digits), _) => MATE - number(digits, PLIES)?,
                (_, Some(digits)) => TABLEBASE - number(digits, PLIES)?,
                _ => number(size, MAX_CENTIPAWNS)?,
            },
        };
        Ok(LearnedScore::signed(value, positive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_score_survives_text() {
        for bits in i16::MIN..=i16::MAX {
            let Some(score) = LearnedScore::from_bits(bits) else { continue };
            assert_eq!(score.to_string().parse(), Ok(score), "{bits}");
        }
        for wrong in ["", "+", "x", "1.5", "30001", "mate", "+mate1000", "+mate-1", "++3", "win", "infinite"]
        {
            assert!(wrong.parse::<LearnedScore>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_score_of_a_search_survives_the_record() {
        let last = Ply(MAX_PLY as u16);
        let mut scores = vec![Score::INFINITE, Score::ZERO];
        for ply in [Ply::ROOT, Ply(1), Ply(7), last] {
            scores.extend([Score::mate_in(ply), Score::tablebase_win(ply)]);
        }
        let printed = (0..3000).map(|cp| Score::from_centipawns(cp * 10));
        scores.extend(printed.take_while(|&score| score <= Score::MAX_EVALUATION));
        for score in scores.iter().flat_map(|&score| [score, -score]) {
            assert_eq!(LearnedScore::from_score(score).to_score(), score, "{score:?}");
        }
    }

    #[test]
    fn bits_that_mean_nothing_are_no_score() {
        for bits in [i16::MIN + 1, -32_001, 32_001, i16::MAX - 1] {
            assert_eq!(LearnedScore::from_bits(bits), None);
        }
    }
}
