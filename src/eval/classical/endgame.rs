//! Known endgames, recognised by the counts of pieces, with evaluations of their own: the general terms do not help to
//! mate a bare king, and do not show that some material is not enough to win.

use shakmaty::{Bitboard, Color, Role, Square};

use super::kpk;
use crate::{position::Position, types::Score};

/// Counts of pieces by colour (black, white) and role (pawn 0 to king 5).
pub type Counts = [[i32; 6]; 2];

/// A known endgame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Endgame {
    /// Neither side can expect to win.
    Drawn,
    /// More than enough to mate against a bare king.
    BareKing,
    /// Bishop and knight against a bare king: mate in a corner of the bishop's colour only.
    BishopKnight,
    /// Pawn against a bare king.
    Pawn,
    /// Queen against pawn.
    QueenPawn,
    /// Queen against rook.
    QueenRook,
    /// Two knights against a pawn.
    TwoKnights,
}

const WIN: i32 = Score::KNOWN_WIN.0;

/// Recognises a known endgame and its stronger side.
pub fn recognise(counts: &Counts) -> Option<(Endgame, Color)> {
    one_sided(counts, Color::White).or_else(|| one_sided(counts, Color::Black))
}

fn one_sided(counts: &Counts, strong: Color) -> Option<(Endgame, Color)> {
    let [pawns, knights, bishops, rooks, queens, _] = counts[strong as usize];
    let weak = &counts[strong.other() as usize][..5];
    let endgame = match ([pawns, knights, bishops, rooks, queens], weak) {
        ([0, n, b, 0, 0], &[0, m, c, 0, 0]) if n + b <= 1 && m + c <= 1 => Endgame::Drawn,
        ([0, 2, 0, 0, 0], [0, 0, 0, 0, 0]) => Endgame::Drawn,
        ([0, 1, 1, 0, 0], [0, 0, 0, 0, 0]) => Endgame::BishopKnight,
        ([1, 0, 0, 0, 0], [0, 0, 0, 0, 0]) => Endgame::Pawn,
        ([_, n, b, r, q], [0, 0, 0, 0, 0]) if q + r > 0 || b >= 2 || n >= 3 || (b >= 1 && n >= 1) => {
            Endgame::BareKing
        }
        ([0, 0, 0, 0, 1], [1, 0, 0, 0, 0]) => Endgame::QueenPawn,
        ([0, 0, 0, 0, 1], [0, 0, 0, 1, 0]) => Endgame::QueenRook,
        ([0, 2, 0, 0, 0], [1, 0, 0, 0, 0]) => Endgame::TwoKnights,
        _ => return None,
    };
    Some((endgame, strong))
}

/// The pieces of a known endgame, turned so that the stronger side is White.
struct Pieces<'p> {
    position: &'p Position,
    strong: Color,
    king: Square,
    weak_king: Square,
}

impl Pieces<'_> {
    fn seen(&self, square: Square) -> Square {
        if self.strong.is_white() { square } else { square.flip_vertical() }
    }

    /// The first piece of a role and colour.
    fn find(&self, color: Color, role: Role) -> Square {
        let found = self.position.board().by_piece(role.of(color)).first();
        self.seen(found.unwrap_or(Square::A1))
    }

    fn strong_to_move(&self) -> bool {
        self.position.turn() == self.strong
    }

    /// How far the kings are apart: 0 to 6.
    fn apart(&self) -> i32 {
        self.king.distance(self.weak_king) as i32 - 1
    }
}

/// The score of a known endgame, from White's point of view.
#[cold]
pub fn evaluate(endgame: Endgame, strong: Color, position: &Position) -> i32 {
    let board = position.board();
    let king_of = |color: Color| {
        let square = board.king_of(color).unwrap_or(Square::A1);
        if strong.is_white() { square } else { square.flip_vertical() }
    };
    let pieces = Pieces { position, strong, king: king_of(strong), weak_king: king_of(!strong) };
    let score = match endgame {
        Endgame::Drawn => 0,
        Endgame::BareKing => bare_king(&pieces),
        Endgame::BishopKnight => bishop_knight(&pieces),
        Endgame::Pawn => pawn(&pieces),
        Endgame::QueenPawn => queen_pawn(&pieces),
        Endgame::QueenRook => 420 + 12 * edge(pieces.weak_king) - 14 * pieces.apart(),
        // Only a blockaded pawn lets the knights mate instead of stalemating, which is rare.
        Endgame::TwoKnights => 2 * edge(pieces.weak_king) - 4,
    };
    if strong.is_white() { score } else { -score }
}

/// How far from the centre: 0 to 6.
fn edge(square: Square) -> i32 {
    let (file, rank) = (square.file() as i32, square.rank() as i32);
    let from_middle = |n: i32| if n < 4 { 3 - n } else { n - 4 };
    from_middle(file) + from_middle(rank)
}

/// Drives the king to the edge, and brings ours near.
fn bare_king(pieces: &Pieces) -> i32 {
    let board = pieces.position.board();
    let ours = board.by_color(pieces.strong);
    let bishops = board.bishops() & ours;
    let one_colour =
        (bishops & Bitboard::LIGHT_SQUARES).is_empty() || (bishops & Bitboard::DARK_SQUARES).is_empty();
    let only_bishops = (ours & !board.kings() & !board.bishops() & !board.pawns()).is_empty();
    let pawns = board.pawns().count() as i32;
    let force = 9 * (ours & board.queens()).count() as i32
        + 5 * (ours & board.rooks()).count() as i32
        + 3 * (ours & (board.bishops() | board.knights())).count() as i32
        + pawns;
    let drive = 30 * edge(pieces.weak_king) - 24 * pieces.apart();
    match (only_bishops && one_colour, pawns) {
        (true, 0) => 0,
        // Bishops of one colour need a pawn to win, which may be a wrong rook pawn.
        (true, _) => 20 + 40 * pawns + drive / 4,
        _ => (WIN + 100 * force + drive).min(WIN * 4),
    }
}

fn bishop_knight(pieces: &Pieces) -> i32 {
    let bishop = pieces.find(pieces.strong, Role::Bishop);
    let king = if bishop.is_light() { pieces.weak_king.flip_horizontal() } else { pieces.weak_king };
    // 7 in the corners a1 and h8, 0 on the other long diagonal.
    let right_corner = (7 - king.file() as i32 - king.rank() as i32).abs();
    WIN + 300 + 50 * right_corner + 8 * edge(pieces.weak_king) - 24 * pieces.apart()
}

fn pawn(pieces: &Pieces) -> i32 {
    let pawn = pieces.find(pieces.strong, Role::Pawn);
    if !kpk::is_win(pieces.king, pawn, pieces.weak_king, pieces.strong_to_move()) {
        return 0;
    }
    600 + 30 * pawn.rank() as i32 - 4 * pieces.king.distance(pawn) as i32
}

/// The queen wins, except against a rook's or bishop's pawn on its seventh rank with the king beside it.
fn queen_pawn(pieces: &Pieces) -> i32 {
    let pawn = pieces.find(!pieces.strong, Role::Pawn);
    let stalemate_file = matches!(pawn.file() as i32, 0 | 2 | 5 | 7);
    let apart = pieces.king.distance(pawn) as i32;
    if stalemate_file && pawn.rank() as i32 == 1 && pieces.weak_king.distance(pawn) <= 1 && apart > 3 {
        return 60 - 5 * apart;
    }
    900 - 12 * apart
}
