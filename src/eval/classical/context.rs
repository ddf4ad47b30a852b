//! The facts that several terms need, computed once for each position: attack maps, pins, king rings.

use shakmaty::{Bitboard, Board, CastlingSide, Color, Position as _, Role, Square, attacks};

use super::{
    geometry::{Black, Side, White, count, king_ring},
    pawn_entry::ClassicalPawns,
    squares::Flip,
};
use crate::position::{Position, blockers};

/// How one side attacks the other's king.
#[derive(Copy, Clone, Debug, Default)]
pub struct KingAttack {
    /// Pieces that attack the ring: knights, bishops, rooks, queens.
    pub attackers: [i32; 4],
    /// Attacks on squares next to the king.
    pub hits: i32,
}

/// One position as the terms see it. Arrays are indexed by colour: black, white.
pub struct Context<'p> {
    /// The pieces.
    pub board: &'p Board,
    /// The pawn hash entry.
    pub pawns: &'p ClassicalPawns,
    /// Middlegame values of the king shelters, each from its own side's point of view.
    pub shelter: [i32; 2],
    /// Pairs of pawns that block each other.
    pub rams: i32,
    /// All pieces.
    pub occupied: Bitboard,
    /// Pieces by colour.
    pub pieces: [Bitboard; 2],
    /// The kings.
    pub king: [Square; 2],
    /// The view of each side's pieces with their own and with the enemy king on files e to h.
    pub views: [[Flip; 2]; 2],
    /// Pieces that are pinned to their own king.
    pub pinned: [Bitboard; 2],
    /// Squares that count as mobility.
    pub area: [Bitboard; 2],
    /// The king ring: squares around the king.
    pub ring: [Bitboard; 2],
    /// Attacked squares by role (pawn 0 to king 5).
    pub by_role: [[Bitboard; 6]; 2],
    /// Attacked squares.
    pub attacked: [Bitboard; 2],
    /// Squares attacked at least twice.
    pub twice: [Bitboard; 2],
    /// The attack of each side on the other's king.
    pub king_attack: [KingAttack; 2],
    /// 0 (endgame) to [`super::pair::MIDDLEGAME`].
    pub phase: i32,
    /// May each side still castle?
    pub castles: [bool; 2],
    /// The side to move.
    pub turn: Color,
}

impl<'p> Context<'p> {
    /// The maps that need no piece attacks: pawns, kings, pins, areas. The rest is filled in by
    /// [`super::mobility::score_minors_and_rooks`].
    #[inline]
    pub fn new(
        position: &'p Position,
        pawns: &'p ClassicalPawns,
        shelter: [i32; 2],
        phase: i32,
    ) -> Context<'p> {
        let board = position.board();
        let castles = position.chess().castles();
        let king = [Color::Black, Color::White].map(|c| board.king_of(c).unwrap_or(Square::A1));
        let mut context = Context {
            board,
            pawns,
            shelter,
            rams: count(White::push(pawns.pawns[White::ME]) & pawns.pawns[Black::ME]),
            occupied: board.occupied(),
            pieces: [board.black(), board.white()],
            king,
            views: [
                [Flip::new::<Black>(king[Black::ME]), Flip::new::<Black>(king[White::ME])],
                [Flip::new::<White>(king[White::ME]), Flip::new::<White>(king[Black::ME])],
            ],
            pinned: [Bitboard::EMPTY; 2],
            area: [Bitboard::EMPTY; 2],
            ring: [Bitboard::EMPTY; 2],
            by_role: [[Bitboard::EMPTY; 6]; 2],
            attacked: [Bitboard::EMPTY; 2],
            twice: [Bitboard::EMPTY; 2],
            king_attack: [KingAttack::default(); 2],
            phase,
            castles: [Color::Black, Color::White]
                .map(|c| CastlingSide::ALL.iter().any(|&s| castles.has(c, s))),
            turn: position.turn(),
        };
        context.prepare::<White>();
        context.prepare::<Black>();
        context
    }

    #[inline]
    fn prepare<S: Side>(&mut self) {
        let pawns = self.pawns.pawns[S::ME];
        let king = self.king[S::ME];
        let by_pawns = S::pawn_attacks(pawns);
        let by_king = attacks::king_attacks(king);
        self.by_role[S::ME][Role::Pawn as usize - 1] = by_pawns;
        self.by_role[S::ME][Role::King as usize - 1] = by_king;
        self.attacked[S::ME] = by_pawns | by_king;
        let twice_by_pawns = S::double_pawn_attacks(pawns);
        self.twice[S::ME] = twice_by_pawns | (by_pawns & by_king);

        let their_pawns = S::Them::pawn_attacks(self.pawns.pawns[S::YOU]);
        let stuck = pawns & (S::Them::push(self.occupied) | S::ranks(0b0000_0110));
        self.area[S::ME] = !(stuck | Bitboard::from(king) | their_pawns);
        self.ring[S::ME] = king_ring(king) & !twice_by_pawns;
        self.pinned[S::ME] = blockers(self.board, king, self.pieces[S::YOU]) & self.pieces[S::ME];
    }

    /// Our pieces of a role.
    #[inline]
    pub fn ours<S: Side>(&self, role: Role) -> Bitboard {
        self.board.by_role(role) & self.pieces[S::ME]
    }

    /// Squares that our pieces of a role attack.
    #[inline]
    pub fn by<S: Side>(&self, role: Role) -> Bitboard {
        self.by_role[S::ME][role as usize - 1]
    }
}
