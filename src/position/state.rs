//! The position itself: a copy of shakmaty's with its keys and the pieces that give check.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, File, Move, MoveList, Position as _,
    PositionError, PositionErrorKinds, Rank, Role, Setup,
    fen::{Epd, Fen},
    uci::UciMove,
};

use super::keys::Keys;
use crate::types::{PackedMove, PositionKey};

/// A legal position with its keys.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    keys: Keys,
    /// The pieces that give check: needed several times at each node.
    checkers: Bitboard,
}

impl Default for Position {
    fn default() -> Position {
        Position::from_chess(Chess::default())
    }
}

/// No position of a game has more than 218 moves, and shakmaty's list of moves holds 270: room for castling, and for what
/// captures may open.
const MOST_MOVES: usize = 256;

/// At least as many moves as a side may have, without castling.
fn most_moves(board: &Board, color: Color) -> usize {
    let own = board.by_color(color);
    let of_pieces =
        (own & !board.pawns()).into_iter().map(|square| (board.attacks_from(square) & !own).count());
    let pawns = board.pawns() & own;
    let promoting = pawns & Bitboard::from(color.fold_wb(Rank::Seventh, Rank::Second));
    // Two steps and two captures, or as many promotions to four pieces of one step and two captures.
    of_pieces.sum::<usize>() + 4 * pawns.count() + 8 * promoting.count()
}

impl Position {
    /// Wraps a position of shakmaty, computing the keys from scratch.
    pub fn from_chess(chess: Chess) -> Position {
        Position { keys: Keys::from_scratch(&chess), checkers: chess.checkers(), chess }
    }

    /// Builds a position for analysis. Too much material and impossible checks are accepted, because people analyse
    /// such positions; a missing king, a capturable king or more moves than a list holds are not.
    ///
    /// # Errors
    /// All errors that shakmaty finds, if one of them is not tolerated.
    pub fn from_setup(setup: Setup, mode: CastlingMode) -> Result<Position, PositionErrorKinds> {
        if Color::ALL.into_iter().any(|color| most_moves(&setup.board, color) > MOST_MOVES) {
            return Err(PositionErrorKinds::TOO_MUCH_MATERIAL);
        }
        setup
            .position::<Chess>(mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .map(Position::from_chess)
            .map_err(|error| error.kinds())
    }

    /// The position of a FEN, if it is one, castling as its rights require.
    pub fn from_fen(fen: &str) -> Option<Position> {
        let setup = fen.parse::<Fen>().ok()?.into_setup();
        let mode = Position::castling_mode(fen, &setup);
        Position::from_setup(setup, mode).ok()
    }

    /// How a FEN, read as `setup`, castles: as in Chess960 if its rights name the files of rooks (Shredder-FEN) or cannot be
    /// standard, unless those of one side are [void](Position::void_rights).
    pub fn castling_mode(fen: &str, setup: &Setup) -> CastlingMode {
        let rights = fen.split([' ', '_']).filter(|field| !field.is_empty()).nth(2).unwrap_or_default();
        if rights.contains(|letter: char| letter.is_ascii_alphabetic() && !"KQkq".contains(letter)) {
            return CastlingMode::Chess960;
        }
        let is_standard = Position::void_rights(setup).is_some();
        if is_standard { CastlingMode::Standard } else { CastlingMode::detect(setup) }
    }

    /// The side whose castling rights are void if they are written `KQkq`: where all rooks stand in the corners and the king
    /// of one side alone on the e-file, the rights of the other are what board editors leave behind.
    pub fn void_rights(setup: &Setup) -> Option<Color> {
        let is_on_e = |color: Color| {
            let may_castle = (setup.castling_rights & color.backrank()).any();
            setup.board.king_of(color).filter(|_| may_castle).map(|king| king.file() == File::E)
        };
        let (white, black) = (is_on_e(Color::White)?, is_on_e(Color::Black)?);
        let is_left_behind = white != black && setup.castling_rights.is_subset(Bitboard::CORNERS);
        is_left_behind.then(|| Color::from_white(black))
    }

    /// Castling rights with the files of all rooks (Shredder-FEN).
    pub fn rights_by_file(setup: &Setup) -> String {
        let rooks = |color: Color| (setup.castling_rights & color.backrank()).into_iter().rev();
        let white = rooks(Color::White).map(|rook| rook.file().upper_char());
        white.chain(rooks(Color::Black).map(|rook| rook.file().char())).collect()
    }

    /// The position of shakmaty.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// The board.
    pub fn board(&self) -> &Board {
        self.chess.board()
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Plies since the last capture or pawn move, at most 255: a FEN may have any number, and no rule counts so far.
    pub fn halfmoves(&self) -> u32 {
        self.chess.halfmoves().min(u8::MAX.into())
    }

    /// All incremental keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The key for tables and books.
    pub fn key(&self) -> PositionKey {
        self.keys.position
    }

    /// The key for repetitions: like [`Position::key`], but an en-passant square counts only if the capture is legal,
    /// as in the laws of chess.
    pub fn repetition_key(&self) -> PositionKey {
        if self.chess.pseudo_legal_ep_square().is_some() && self.chess.legal_ep_square().is_none() {
            return Keys::without_en_passant(self.keys.position, &self.chess);
        }
        self.keys.position
    }

    /// The pieces that give check.
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Is the side to move in check?
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// All legal moves.
    pub fn legal_moves(&self) -> MoveList {
        self.chess.legal_moves()
    }

    /// The move of a text in UCI notation, if it is legal.
    pub fn legal_move(&self, uci: &str) -> Option<Move> {
        uci.parse::<UciMove>().ok()?.to_move(&self.chess).ok()
    }

    /// Is there a legal move?
    pub fn has_legal_move(&self) -> bool {
        !self.chess.legal_moves().is_empty()
    }

    /// The child after a legal move.
    #[must_use]
    pub fn play(&self, m: Move) -> Position {
        let mut chess = self.chess.clone();
        chess.play_unchecked(m);
        let keys = self.keys.after(m, &self.chess, &chess);
        Position { checkers: chess.checkers(), chess, keys }
    }

    /// The moves of a line that begins here, if they are legal.
    pub fn line(&self, moves: &[UciMove]) -> Option<Vec<Move>> {
        let mut position = self.clone();
        let play = |uci: &UciMove| {
            let m = uci.to_move(&position.chess).ok()?;
            position = position.play(m);
            Some(m)
        };
        moves.iter().map(play).collect()
    }

    /// This position and those after each of `moves`, which are legal.
    #[must_use]
    pub fn along(&self, moves: &[Move]) -> Vec<Position> {
        let mut positions = vec![self.clone()];
        for &m in moves {
            positions.push(positions[positions.len() - 1].play(m));
        }
        positions
    }

    /// The position with the other side to move; `None` if passing is not possible (in check, or if the result would
    /// not be a legal position).
    #[must_use]
    pub fn null_move(&self) -> Option<Position> {
        let chess = self.chess.clone().swap_turn().ok()?;
        let keys = self.keys.after_null(&self.chess);
        Some(Position { chess, keys, checkers: Bitboard::EMPTY })
    }

    /// The pieces of `color` other than king and pawns.
    pub fn non_pawn_material(&self, color: Color) -> Bitboard {
        let board = self.board();
        board.by_color(color) & !board.pawns() & !board.kings()
    }

    /// Has `color` any [non-pawn material](Position::non_pawn_material)? Without it zugzwang is common.
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        self.non_pawn_material(color).any()
    }

    /// The material of both sides in points: pawn 1, minor piece 3, rook 5, queen 9; 78 at the start.
    pub fn material_points(&self) -> u32 {
        let board = self.board();
        let minors = (board.knights() | board.bishops()).count();
        let (rooks, queens) = (board.rooks().count(), board.queens().count());
        (board.pawns().count() + 3 * minors + 5 * rooks + 9 * queens) as u32
    }

    /// Is mate impossible, by any sequence of moves?
    pub fn is_insufficient_material(&self) -> bool {
        let board = self.board();
        (board.pawns() | board.rooks_and_queens()).is_empty() && self.chess.is_insufficient_material()
    }

    /// The move of stored bits, if it is legal here.
    pub fn unpack(&self, packed: PackedMove) -> Option<Move> {
        let (from, to) = (packed.from(), packed.to());
        let board = self.board();
        let role = board.role_at(from)?;
        let ours = board.by_color(self.turn());
        if packed.is_none() || !ours.contains(from) {
            return None;
        }
        let m = if role == Role::King && ours.contains(to) {
            Move::Castle { king: from, rook: to }
        } else if role == Role::Pawn && from.file() != to.file() && board.role_at(to).is_none() {
            Move::EnPassant { from, to }
        } else {
            Move::Normal { role, from, capture: board.role_at(to), to, promotion: packed.promotion() }
        };
        self.is_legal(m).then_some(m)
    }

    /// The position as FEN.
    pub fn fen(&self) -> String {
        format!("{} {} {}", self.epd(), self.halfmoves(), self.chess.fullmoves())
    }

    /// The first four fields of the FEN, which [`Position::from_fen`] reads as this position, with the same key. The castling
    /// rights are `KQkq`, with the file of an inner rook (X-FEN), or where these letters would be void, the files of all
    /// rooks (Shredder-FEN). The en-passant square is there if a pawn of the side to move stands beside, pinned or not.
    pub fn epd(&self) -> String {
        let setup = self.chess.to_setup(EnPassantMode::PseudoLegal);
        let epd = Epd::from_position(&self.chess, EnPassantMode::PseudoLegal).to_string();
        if Position::void_rights(&setup).is_none() {
            return epd;
        }
        let fields: Vec<&str> = epd.split(' ').collect();
        format!("{} {} {} {}", fields[0], fields[1], Position::rights_by_file(&setup), fields[3])
    }
}
