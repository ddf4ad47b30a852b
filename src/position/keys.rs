//! Incremental hash keys.
//!
//! The numbers are Polyglot's (through shakmaty's [`ZobristValue`]). As that format defines, the en-passant file is
//! hashed if a pawn stands beside the one that moved two squares, whether the capture is legal or not. The format does not
//! say with which of two rooks on one side of the king a player may castle (in Chess960): if it is not the outermost,
//! the right is hashed with the rook's file.

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, EnPassantMode, Move, Piece, Position as _, Role, Square,
    zobrist::{Zobrist64, ZobristValue},
};

use crate::types::{MaterialKey, NonPawnKey, PawnKey, PositionKey};

/// All keys of one position.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Keys {
    /// The whole position.
    pub position: PositionKey,
    /// Pawns of both sides.
    pub pawns: PawnKey,
    /// Pieces other than pawns, by colour (black, white as `Color as usize`), kings included.
    pub non_pawns: [NonPawnKey; 2],
    /// Counts of pieces.
    pub material: MaterialKey,
}

pub(super) fn piece_key(square: Square, piece: Piece) -> u64 {
    Zobrist64::zobrist_for_piece(square, piece).0
}

pub(super) fn turn_key() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

/// What each piece of a kind adds to the material key, so that the key depends only on the counts. Odd, so that only a
/// count of 0 adds nothing.
fn material_step(piece: Piece) -> u64 {
    piece_key(Square::A1, piece) | 1
}

fn en_passant_key(chess: &Chess) -> u64 {
    chess
        .ep_square(EnPassantMode::PseudoLegal)
        .map_or(0, |square| Zobrist64::zobrist_for_en_passant_file(square.file()).0)
}

fn castling_key(chess: &Chess) -> u64 {
    let mut key = 0;
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            if let Some(rook) = chess.castles().rook(color, side) {
                let right = Zobrist64::zobrist_for_castling_right(color, side).0;
                key ^= right.rotate_left(if is_outermost(chess, color, side, rook) {
                    0
                } else {
                    8 + u32::from(rook.file())
                });
            }
        }
    }
    key
}

/// Does no other rook of `color` stand beyond `rook` on its first rank, on this side of the king?
fn is_outermost(chess: &Chess, color: Color, side: CastlingSide, rook: Square) -> bool {
    let rooks = chess.board().by_piece(Role::Rook.of(color)) & Bitboard::from(rook.rank());
    let beyond = |other: Square| side.is_king_side() == (other > rook) && other != rook;
    !rooks.into_iter().any(beyond)
}

impl Keys {
    /// Computes every key from the board.
    pub fn from_scratch(chess: &Chess) -> Keys {
        let mut keys = Keys::default();
        for (square, piece) in chess.board() {
            keys.place(square, piece);
        }
        keys.position ^= castling_key(chess) ^ en_passant_key(chess);
        if chess.turn() == Color::White {
            keys.position ^= turn_key();
        }
        keys
    }

    /// The position key without its en-passant part.
    pub fn without_en_passant(key: PositionKey, chess: &Chess) -> PositionKey {
        key ^ en_passant_key(chess)
    }

    /// The keys after `m` led from `before` to `after`.
    pub fn after(&self, m: Move, before: &Chess, after: &Chess) -> Keys {
        let mut keys = *self;
        let us = before.turn();
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                if let Some(captured) = capture {
                    keys.remove(to, captured.of(!us));
                }
                match promotion {
                    None => keys.relocate(from, to, role.of(us)),
                    Some(promoted) => {
                        keys.remove(from, role.of(us));
                        keys.place(to, promoted.of(us));
                    }
                }
            }
            Move::EnPassant { from, to } => {
                keys.remove(Square::from_coords(to.file(), from.rank()), Role::Pawn.of(!us));
                keys.relocate(from, to, Role::Pawn.of(us));
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                keys.relocate(king, side.king_to(us), Role::King.of(us));
                keys.relocate(rook, side.rook_to(us), Role::Rook.of(us));
            }
            Move::Put { .. } => {}
        }
        keys.position ^= turn_key() ^ en_passant_key(before) ^ en_passant_key(after);
        // In Chess960 a move of another rook can make that with the right the outermost.
        if before.castles().castling_rights() != after.castles().castling_rights()
            || before.castles().mode().is_chess960()
        {
            keys.position ^= castling_key(before) ^ castling_key(after);
        }
        keys
    }

    /// The position key after `m`, assuming a plain move that changes no castling or en-passant rights. It is right for
    /// most moves, which is enough for prefetching.
    pub fn after_plain_move(&self, m: Move, us: Color) -> PositionKey {
        let Move::Normal { role, from, capture, to, .. } = m else { return self.position };
        let taken = capture.map_or(0, |captured| piece_key(to, captured.of(!us)));
        self.position ^ (turn_key() ^ piece_key(from, role.of(us)) ^ piece_key(to, role.of(us)) ^ taken)
    }

    /// The keys after a null move.
    pub fn after_null(&self, before: &Chess) -> Keys {
        let mut keys = *self;
        keys.position ^= turn_key() ^ en_passant_key(before);
        keys
    }

    fn place(&mut self, square: Square, piece: Piece) {
        self.toggle(square, piece);
        self.material.0 = self.material.0.wrapping_add(material_step(piece));
    }

    fn remove(&mut self, square: Square, piece: Piece) {
        self.toggle(square, piece);
        self.material.0 = self.material.0.wrapping_sub(material_step(piece));
    }

    fn relocate(&mut self, from: Square, to: Square, piece: Piece) {
        self.toggle(from, piece);
        self.toggle(to, piece);
    }

    fn toggle(&mut self, square: Square, piece: Piece) {
        let bits = piece_key(square, piece);
        self.position ^= bits;
        if piece.role == Role::Pawn {
            self.pawns ^= bits;
        } else {
            self.non_pawns[piece.color as usize] ^= bits;
        }
    }
}
