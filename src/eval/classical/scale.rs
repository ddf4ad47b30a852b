//! Endgame scale: how likely an endgame advantage is to win.

use shakmaty::{Bitboard, Color, Role, Square};

use super::{
    context::Context,
    geometry::{Black, KING_SIDE, QUEEN_SIDE, Side, White, count},
    material::MaterialEntry,
    pair::{FULL_SCALE, Pair},
};

/// The scale for the side that is better in the endgame, of [`FULL_SCALE`].
#[inline]
pub fn scale(context: &Context, material: &MaterialEntry, total: Pair) -> i32 {
    let lead = if total.eg() == 0 { total.mg() } else { total.eg() };
    let strong = if lead >= 0 { Color::White } else { Color::Black };
    let by_material = i32::from(material.scale[strong as usize]);
    if by_material < FULL_SCALE / 2 {
        return by_material;
    }
    let by_position = if lead >= 0 { positional::<White>(context) } else { positional::<Black>(context) };
    by_material.min(by_position)
}

fn positional<S: Side>(context: &Context) -> i32 {
    let pawns = context.pawns.pawns[S::ME];
    let board = context.board;
    let pieces = board.occupied() & !board.pawns() & !board.kings();
    if let Some(scale) = wrong_rook_pawn::<S>(context) {
        return scale;
    }
    let [black, white] =
        [Color::Black, Color::White].map(|c| (board.bishops() & board.by_color(c)).single_square());
    if let (Some(black), Some(white)) = (black, white)
        && black.is_light() != white.is_light()
    {
        let passed = count(context.pawns.passed & pawns);
        return if count(pieces) == 2 {
            18 + 6 * passed.min(4)
        } else {
            (34 + 3 * count(pieces & context.pieces[S::ME])).min(56)
        };
    }
    // Rook endings with all pawns on one wing and at most one more are rarely won.
    if pieces == board.rooks()
        && count(pieces) == 2
        && (pieces & context.pieces[S::ME]).single_square().is_some()
    {
        let lead = count(pawns) - count(context.pawns.pawns[S::YOU]);
        let one_wing = (pawns & QUEEN_SIDE).is_empty() || (pawns & KING_SIDE).is_empty();
        let guarded = context.by::<S::Them>(Role::King).intersects(context.pawns.pawns[S::YOU]);
        if lead <= 1 && one_wing && guarded {
            return 36;
        }
    }
    (40 + 6 * count(pawns)).min(FULL_SCALE)
}

/// Wrong rook pawn: all pawns on one edge file, and no pieces except bishops that do not control the promotion
/// square. A draw if the bare defending king is in front of the pawns, almost a draw if he gets there first.
fn wrong_rook_pawn<S: Side>(context: &Context) -> Option<i32> {
    let (ours, theirs) = (context.pawns.pawns[S::ME], context.pawns.pawns[S::YOU]);
    if ours.is_empty() || theirs.any() {
        return None;
    }
    let file = match context.pawns.files[S::ME] {
        0b0000_0001 => 0,
        0b1000_0000 => 7,
        _ => return None,
    };
    let goal = Square::new(if S::US.is_white() { 56 + file } else { file });
    let harmless = if goal.is_light() { Bitboard::DARK_SQUARES } else { Bitboard::LIGHT_SQUARES };
    let pieces = context.pieces[S::ME] & !context.board.pawns() & !context.board.kings();
    if (pieces & !(context.board.bishops() & harmless)).any() {
        return None;
    }
    let defender = context.king[S::YOU].distance(goal) as i32;
    if defender <= 1 {
        return Some(0);
    }
    let tempo = i32::from(context.turn == S::US);
    let steps = ours.into_iter().map(|pawn| 7 - S::rank(pawn) as i32).min().unwrap_or(7);
    let attacker = context.king[S::ME].distance(goal) as i32;
    (defender + tempo <= steps && defender + tempo < attacker).then_some(8)
}
