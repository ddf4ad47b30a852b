use shakmaty::{Bitboard, Move};

use super::history::MoveIndex;
use crate::types::{PackedMove, Score};

/// What the search remembers of one ply of the present line.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The corrected static evaluation; [`Score::NONE`] in check.
    pub evaluation: Score,
    /// The move being searched from here, for continuation history.
    pub moved: MoveIndex,
    /// The same move in full; none for a null move.
    pub played: Option<Move>,
    /// The move left out by a singular search.
    pub excluded: PackedMove,
    /// A quiet move that refuted a sibling.
    pub killer: PackedMove,
    /// Squares that the opponent attacks.
    pub threats: Bitboard,
    /// The place of that move in the order, from 1; 0 for a null move.
    pub number: usize,
    /// The reduction of the move being searched, in 1024ths of a ply.
    pub reduction: i32,
    /// Cutoffs among the children of this ply so far.
    pub cutoffs: u8,
    /// Was the node searched a ply less deep for a draw of another path?
    pub drawn_elsewhere: bool,
    /// Double extensions in the line to here.
    pub double_extensions: u8,
    /// Did the table or the window mark this node as one of a principal variation?
    pub was_pv: bool,
}

impl Default for Frame {
    fn default() -> Frame {
        Frame {
            evaluation: Score::NONE,
            moved: MoveIndex::default(),
            played: None,
            excluded: PackedMove::NONE,
            killer: PackedMove::NONE,
            threats: Bitboard::EMPTY,
            number: 0,
            reduction: 0,
            cutoffs: 0,
            drawn_elsewhere: false,
            double_extensions: 0,
            was_pv: false,
        }
    }
}
