//! Who won a game that was not played to its end: one rule for every part of the program.

use shakmaty::{ByColor, Color};

use super::Score;

/// A score of at least this size, in printed centipawns, decides a game if it comes often enough.
const DECIDED: i32 = 500;
/// So many scores in a row.
const IN_A_ROW: i32 = 2;

/// The scores of a game so far, and who won it by them.
///
/// A game is won when every side that reports scores has seen it won by five pawns twice in a row, or when the last score
/// is proven (a mate, or a tablebase result). There players resign and referees adjudicate: five printed pawns are won
/// in more than 99 of 100 games, and a single score may be the error of one search. Learning and book learning know the
/// scores of one side, the referees of `learn prove` and of the games for training those of both, who then must agree.
#[derive(Copy, Clone, Debug, Default)]
pub struct Verdict {
    /// How often in a row each side saw White win, or Black if negative; none if it has reported nothing.
    runs: ByColor<Option<i32>>,
    proven: Option<Color>,
}

impl Verdict {
    /// Adds a score of the side to move.
    pub fn push(&mut self, turn: Color, score: Score) {
        let white = score.relative_to(turn);
        let towards = if white.centipawns().abs() < DECIDED { 0 } else { white.0.signum() };
        let run = self.runs[turn].unwrap_or(0);
        self.runs[turn] = Some(if towards * run > 0 { run + towards } else { towards });
        self.proven = white.is_decisive().then_some(Color::from_white(white.is_win()));
    }

    /// The side that won.
    pub fn winner(&self) -> Option<Color> {
        let runs = || self.runs.iter().flatten();
        let agreed = |sign: i32| runs().next().is_some() && runs().all(|&run| run * sign >= IN_A_ROW);
        let by_scores = || Color::ALL.into_iter().find(|winner| agreed(winner.fold_wb(1, -1)));
        self.proven.or_else(by_scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn who_reports_must_see_it_twice() {
        use Color::{Black, White};
        let cp = Score::from_centipawns;
        type Row<'a> = (&'a str, &'a [(Color, Score)], Option<Color>);
        let rows: [Row<'_>; 10] = [
            ("nothing known", &[], None),
            ("one bad score", &[(White, cp(0)), (White, cp(-600))], None),
            ("two bad scores", &[(White, cp(-500)), (White, cp(-500))], Some(Black)),
            ("the last one better", &[(White, cp(-600)), (White, cp(-600)), (White, cp(-499))], None),
            ("two good scores", &[(Black, cp(900)), (Black, cp(500))], Some(Black)),
            ("mated", &[(White, cp(0)), (White, Score::mated_in(Ply(3)))], Some(Black)),
            ("mating", &[(Black, Score::mate_in(Ply(4)))], Some(Black)),
            (
                "one still hopes",
                &[(White, cp(600)), (Black, cp(-300)), (White, cp(600)), (Black, cp(-600))],
                None,
            ),
            (
                "both agree",
                &[(White, cp(600)), (Black, cp(-600)), (White, cp(600)), (Black, cp(-600))],
                Some(White),
            ),
            ("it turned", &[(White, cp(600)), (White, cp(-600)), (White, cp(-600))], Some(Black)),
        ];
        for (name, scores, expected) in rows {
            let mut verdict = Verdict::default();
            scores.iter().for_each(|&(turn, score)| verdict.push(turn, score));
            assert_eq!(verdict.winner(), expected, "{name}");
        }
    }
}
