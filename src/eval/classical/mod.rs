//! The classical evaluation: hand-written terms with the names that chess players use.
//!
//! [`evaluate`] adds up named terms ([`Term`]), each with a middlegame and an endgame value, and blends the two by the
//! phase, that is, the remaining material. Known endgames have evaluations of their own. The order of work:
//!
//! 1. material table: piece values, imbalance, phase, scale, known endgame;
//! 2. pawn hash: structure, passed pawns, attack spans, king shelters;
//! 3. attack maps, and with them the pieces one by one;
//! 4. kings, threats, passed pawns, space, tempo; then initiative, scale and phase.
//!
//! Weights are in `weights/`. Each term is written once, generic over the side (`geometry::Side`) and over
//! the tracer (`trace::Tracer`), so that what [`trace()`] shows is what [`evaluate`] computes.

mod context;
mod endgame;
mod geometry;
mod initiative;
mod king;
mod kpk;
mod material;
mod mobility;
mod pair;
mod passed;
mod pawn_entry;
mod pawns;
mod pieces;
mod scale;
mod shelter;
mod space;
mod squares;
mod threats;
mod trace;
mod weights;

pub use material::is_known_endgame;
pub use trace::{Term, Trace};

pub(super) use self::material::MaterialTable;

use shakmaty::Color;

use self::{
    context::Context,
    geometry::{Black, White},
    pair::{FULL_SCALE, MIDDLEGAME, Pair},
    pawn_entry::ClassicalPawns,
    trace::{Assessment, NoTrace, ScoreSum, Tracer},
    weights::WEIGHTS,
};
use super::pawn_table::PawnTable;
use crate::{position::Position, types::Score};

/// The caches of one thread: the pawn hash and the material table. The result of an evaluation does not depend on
/// them.
#[derive(Clone, Debug)]
pub struct Caches {
    /// The pawn hash.
    pub(super) pawns: PawnTable<ClassicalPawns>,
    /// Results that depend on the counts of pieces alone.
    pub(super) material: MaterialTable,
}

impl Caches {
    /// Empty caches with a pawn hash of at most `pawn_hash_mib` MiB (at least one).
    pub fn new(pawn_hash_mib: usize) -> Caches {
        Caches {
            pawns: PawnTable::new(pawn_hash_mib, ClassicalPawns::default()),
            material: MaterialTable::new(),
        }
    }
}

/// The evaluation of `position` in internal units, a pawn being about 100, from the point of view of the side to move,
/// regardless of half-move clock and repetitions.
pub fn evaluate(position: &Position, caches: &mut Caches) -> Score {
    let white = assess(position, caches, &mut NoTrace).score;
    if position.turn() == Color::White { white } else { -white }
}

/// The contribution of each term of [`evaluate`], as a table.
pub fn trace(position: &Position) -> Trace {
    let mut trace = Trace::new();
    // Empty caches, because terms found in a table are not traced.
    trace.result = assess(position, &mut Caches::new(1), &mut trace);
    trace
}

fn assess<T: Tracer>(position: &Position, caches: &mut Caches, tracer: &mut T) -> Assessment {
    let material = caches.material.probe(position, tracer);
    let phase = i32::from(material.phase);
    if let Some((endgame, strong)) = material.endgame {
        let score = endgame::evaluate(endgame, strong, position);
        tracer.record(Term::Endgame, None, Pair::new(score, score));
        return Assessment { score: Score(score).clamp_evaluation(), phase, scale: FULL_SCALE };
    }

    let entry = caches.pawns.probe(position, T::LISTENS, |found| pawns::analyse(found, tracer));
    let (black, black_shelter) = entry.shelter::<Black, T>(position, tracer);
    let (white, white_shelter) = entry.shelter::<White, T>(position, tracer);
    let mut context = Context::new(position, entry, [black_shelter, white_shelter], phase);
    let mut sum = ScoreSum::new(tracer);
    sum.carry(material.score + entry.score + white - black);

    mobility::score_minors_and_rooks::<White, T>(&mut context, &mut sum);
    mobility::score_minors_and_rooks::<Black, T>(&mut context, &mut sum);
    mobility::score_queens_and_king::<White, T>(&mut context, &mut sum);
    mobility::score_queens_and_king::<Black, T>(&mut context, &mut sum);
    king::danger::<White, T>(&context, &mut sum);
    king::danger::<Black, T>(&context, &mut sum);
    threats::score::<White, T>(&context, &mut sum);
    threats::score::<Black, T>(&context, &mut sum);
    passed::score::<White, T>(&context, &mut sum);
    passed::score::<Black, T>(&context, &mut sum);
    space::score::<White, T>(&context, &mut sum);
    space::score::<Black, T>(&context, &mut sum);
    match context.turn {
        Color::White => sum.add::<White>(Term::Tempo, &WEIGHTS.tempo, 1),
        Color::Black => sum.add::<Black>(Term::Tempo, &WEIGHTS.tempo, 1),
    }
    initiative::score(&context, &mut sum);

    let scale = scale::scale(&context, &material, sum.total);
    Assessment { score: Score(blend(sum.total, phase, scale)).clamp_evaluation(), phase, scale }
}

/// Interpolates between the two values by phase. The scale applies to the endgame value, and to the middlegame value as
/// well if a win is hardly possible.
#[inline]
fn blend(total: Pair, phase: i32, scale: i32) -> i32 {
    let mg = total.mg() * middlegame_scale(phase, scale) / FULL_SCALE;
    let eg = total.eg() * scale / FULL_SCALE;
    (mg * phase + eg * (MIDDLEGAME - phase)) / MIDDLEGAME
}

/// The scale of the middlegame value, of [`FULL_SCALE`].
#[inline]
fn middlegame_scale(phase: i32, scale: i32) -> i32 {
    let hopeless = scale < FULL_SCALE / 2 && phase < MIDDLEGAME / 2;
    if hopeless { scale } else { FULL_SCALE }
}
