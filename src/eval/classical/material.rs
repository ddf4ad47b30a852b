//! Material: piece values, imbalance, phase, endgame scale, and known endgames. All of these depend only on the
//! counts of pieces and are kept in a small table by [`MaterialKey`].

use shakmaty::{Bitboard, Color, Role};

use super::{
    endgame::{self, Counts, Endgame},
    geometry::{Black, Side, White},
    kpk,
    pair::{FULL_SCALE, MIDDLEGAME, Pair},
    trace::{NoTrace, ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};
use crate::{
    position::Position,
    types::{MaterialKey, Score, spread},
};

/// The terms that depend on the counts of pieces.
#[derive(Copy, Clone, Debug, Default)]
pub struct MaterialEntry {
    key: MaterialKey,
    /// Piece values and imbalance from White's point of view.
    pub score: Pair,
    /// 0 (endgame) to [`MIDDLEGAME`].
    pub phase: u8,
    /// For each colour as the stronger side, the scale of an endgame advantage, of [`FULL_SCALE`].
    pub scale: [u8; 2],
    /// A known endgame and its stronger side.
    pub endgame: Option<(Endgame, Color)>,
}

/// A small table of [`MaterialEntry`], one per thread.
#[derive(Clone, Debug)]
pub struct MaterialTable {
    entries: Vec<MaterialEntry>,
}

const INDEX_BITS: u32 = 12;

impl MaterialTable {
    /// An empty table. Whoever makes it has time: what known endgames need is computed now, not on a game's clock.
    pub fn new() -> MaterialTable {
        kpk::prepare();
        MaterialTable { entries: vec![MaterialEntry::default(); 1 << INDEX_BITS] }
    }

    /// Clears the table.
    pub fn clear(&mut self) {
        self.entries.fill(MaterialEntry::default());
    }

    /// The entry of this material, computed if it is not in the table. (Two kings make the key non-zero, so an empty
    /// entry matches no position.)
    #[inline]
    pub fn probe<T: Tracer>(&mut self, position: &Position, tracer: &mut T) -> MaterialEntry {
        let key = position.keys().material;
        let slot = (spread(key.0) >> (64 - INDEX_BITS)) as usize;
        let entry = &mut self.entries[slot];
        if T::LISTENS || entry.key != key {
            *entry = analyse(position, tracer);
        }
        *entry
    }

    /// The evaluation of a known endgame for the side to move; none for other positions.
    #[inline]
    pub fn known_endgame(&mut self, position: &Position) -> Option<Score> {
        let (endgame, strong) = self.probe(position, &mut NoTrace).endgame?;
        let white = Score(endgame::evaluate(endgame, strong, position)).clamp_evaluation();
        Some(if position.turn() == Color::White { white } else { -white })
    }
}

/// Is it a known endgame, which no network evaluates?
pub fn is_known_endgame(position: &Position) -> bool {
    endgame::recognise(&counts(position)).is_some()
}

/// Counts the pieces.
pub fn counts(position: &Position) -> Counts {
    let board = position.board();
    let sides: [Bitboard; 2] = [board.black(), board.white()];
    sides.map(|side| Role::ALL.map(|role| (side & board.by_role(role)).count() as i32))
}

#[cold]
fn analyse<T: Tracer>(position: &Position, tracer: &mut T) -> MaterialEntry {
    let counts = counts(position);
    let mut sum = ScoreSum::new(tracer);
    side::<White, T>(&counts, &mut sum);
    side::<Black, T>(&counts, &mut sum);
    let [_, knights, bishops, rooks, queens, _] =
        std::array::from_fn::<i32, 6, _>(|role| counts[0][role] + counts[1][role]);
    MaterialEntry {
        key: position.keys().material,
        score: sum.total,
        phase: (knights + bishops + 2 * rooks + 4 * queens).min(MIDDLEGAME) as u8,
        scale: [scale(&counts, 0), scale(&counts, 1)],
        endgame: endgame::recognise(&counts),
    }
}

/// The value of one side's pieces. Absurd material is limited so that a [`Pair`] cannot overflow.
fn side<S: Side, T: Tracer>(counts: &Counts, sum: &mut ScoreSum<T>) {
    const LIMIT: i32 = 15_000;
    let w = &WEIGHTS;
    let ours = &counts[S::ME];
    let (mut mg, mut eg) = (0, 0);
    for (worth, &n) in w.material.iter().zip(ours) {
        mg += worth.mg() * n;
        eg += worth.eg() * n;
    }
    sum.add_value::<S>(Term::Material, Pair::new(mg.min(LIMIT), eg.min(LIMIT)));
    if ours[2] >= 2 {
        sum.add::<S>(Term::BishopPair, &w.bishop_pair, 1);
    }
    imbalance::<S, T>(counts, sum);
}

/// Imbalance: how much more or less pieces are worth together with others, a second-degree polynomial in their
/// numbers (L. Kaufman, The Evaluation of Material Imbalances, 1999, found such dependences in master games).
fn imbalance<S: Side, T: Tracer>(counts: &Counts, sum: &mut ScoreSum<T>) {
    const MOST: i32 = 10;
    let [ours, theirs] = [S::ME, S::YOU].map(|side| counts[side].map(|n| n.min(MOST)));
    let (mut mg, mut eg) = (0, 0);
    let mut add = |weight: &Pair, sixteenths: i32| {
        mg += weight.mg() * sixteenths;
        eg += weight.eg() * sixteenths;
    };
    let mut own = WEIGHTS.imbalance_own.iter();
    let mut their = WEIGHTS.imbalance_their.iter();
    for a in 0..5 {
        own.by_ref().take(a + 1).zip(ours).for_each(|(weight, n)| add(weight, ours[a] * n));
        their.by_ref().take(a).zip(theirs).for_each(|(weight, n)| add(weight, ours[a] * n));
    }
    const LIMIT: i32 = 3_000;
    let limited = |sum: i32| (sum / 16).clamp(-LIMIT, LIMIT);
    sum.add_value::<S>(Term::Imbalance, Pair::new(limited(mg), limited(eg)));
}

/// Rough value of the pieces without pawns in the endgame, for judging winning chances.
fn pieces(counts: &[i32; 6]) -> i32 {
    3 * (counts[1] + counts[2]) + 5 * counts[3] + 9 * counts[4]
}

/// The scale of an endgame advantage of `strong`. Without pawns an extra minor piece does not win; with one pawn the
/// defender may give a piece for it.
fn scale(counts: &Counts, strong: usize) -> u8 {
    let (ours, theirs) = (&counts[strong], &counts[1 - strong]);
    let (lead, weak) = (pieces(ours) - pieces(theirs), pieces(theirs));
    match ours[0] {
        0 if pieces(ours) <= 3 => 0,
        0 if lead <= 3 => {
            if weak <= 3 {
                6
            } else {
                14
            }
        }
        // Two knights alone do not mate.
        0 if ours[1] == 2 && pieces(ours) == 6 => 4,
        1 if lead <= 0 && weak > 0 => 44,
        // The defender may give a piece for the last pawn, and the rest does not win.
        1 if lead <= 3 && weak >= 3 => 46,
        _ => FULL_SCALE as u8,
    }
}
