use super::Score;

/// The chances of win, draw and loss for a score, by the material on the board.
///
/// A logistic model: the chance to win is `1 / (1 + exp((a - x) / b))` for a score `x`, the chance to lose that of
/// `-x`. `a`, the score that wins every second game, and `b` depend linearly on the material. Fitted to self-play
/// games (`engram tune wdl`).
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ChanceModel {
    /// `a` in internal units: at [`ChanceModel::TYPICAL`] material, and more for each point of material.
    pub even: [f64; 2],
    /// `b`, likewise.
    pub spread: [f64; 2],
}

impl ChanceModel {
    /// Material of a typical middlegame, in points.
    pub const TYPICAL: f64 = 58.0;

    /// The model for the printed chances. The score that wins every second game at typical material is the printed pawn
    /// (fitted to 300 self-play games of the network, 20,000 nodes a move: 136 internal units).
    pub const PRINTED: ChanceModel =
        ChanceModel { even: [EVEN, -0.014 * EVEN], spread: [0.53 * EVEN, 0.0031 * EVEN] };

    /// The chances of win, draw and loss, which add up to 1. `material` of both sides is in points: pawn 1,
    /// minor piece 3, rook 5, queen 9.
    pub fn chances(&self, score: Score, material: u32) -> [f64; 3] {
        if score.is_decisive() {
            return if score.0 > 0 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        }
        let more = f64::from(material.clamp(10, 78)) - ChanceModel::TYPICAL;
        let at = |[typical, growth]: [f64; 2]| (typical + growth * more).max(1.0);
        let (even, spread) = (at(self.even), at(self.spread));
        let logistic = |x: f64| 1.0 / (1.0 + ((even - x) / spread).exp());
        let (win, loss) = (logistic(f64::from(score.0)), logistic(f64::from(-score.0)));
        [win, (1.0 - win - loss).max(0.0), loss]
    }

    /// The chances of win, draw and loss as they are printed, in per mille; `is_drawn`: it is a proven draw.
    pub fn wdl(score: Score, is_drawn: bool, material: u32) -> [u16; 3] {
        if is_drawn { [0, 1000, 0] } else { ChanceModel::PRINTED.per_mille(score, material) }
    }

    /// The same as [`ChanceModel::chances`] in per mille.
    pub fn per_mille(&self, score: Score, material: u32) -> [u16; 3] {
        // Rounded separately, both could be half a per mille too much.
        let [win, _, loss] = self.chances(score, material).map(|chance| (1000.0 * chance).round() as u16);
        let loss = loss.min(1000 - win);
        [win, 1000 - win - loss, loss]
    }
}

const EVEN: f64 = Score::UNITS_PER_PAWN as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn chances_add_up_and_grow_with_the_score() {
        let model = ChanceModel::PRINTED;
        for material in [0, 10, 32, 58, 78, 500] {
            let mut last = 0;
            for score in -4000..=4000 {
                let [win, draw, loss] = model.per_mille(Score(score), material);
                assert_eq!(win + draw + loss, 1000);
                assert_eq!(model.per_mille(Score(-score), material), [loss, draw, win]);
                assert!(win >= last);
                last = win;
            }
        }
    }

    #[test]
    fn a_printed_pawn_wins_every_second_game() {
        let [win, ..] = ChanceModel::PRINTED.per_mille(Score::from_centipawns(100), 58);
        assert!((499..=501).contains(&win), "{win}");
        assert_eq!(ChanceModel::PRINTED.per_mille(Score::mate_in(Ply(3)), 58), [1000, 0, 0]);
        assert_eq!(ChanceModel::PRINTED.per_mille(Score::mated_in(Ply(4)), 20), [0, 0, 1000]);
    }
}
