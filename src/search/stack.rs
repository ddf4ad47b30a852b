//! The search stack: one entry for each ply of the line being searched. A node reads the entries of its ancestors
//! (their evaluations and moves) and prepares that of its children.

use shakmaty::Move;

use super::history::MoveIndex;
use crate::{
    position::Threats,
    types::{PackedMove, Score},
};

/// The entry of one ply.
#[derive(Clone, Debug)]
pub struct StackEntry {
    /// The corrected static evaluation; [`Score::NONE`] in check.
    pub static_eval: Score,
    /// The move being searched from here; none for a null move.
    pub current_move: Option<Move>,
    /// The same move as continuation history indexes it.
    pub move_index: MoveIndex,
    /// The move excluded by the search that tests it for a singular extension.
    pub excluded: PackedMove,
    /// The quiet move that last caused a cutoff at this ply.
    pub killer: PackedMove,
    /// Did the transposition table have the position?
    pub in_table: bool,
    /// What the opponent attacks.
    pub threats: Threats,
    /// How many moves were picked at this node, the current one included; 0 for a null move.
    pub move_count: usize,
    /// The reduction of the current move, in 1024ths of a ply; 0 while it is searched to full depth.
    pub reduction: i32,
    /// Beta cutoffs at this ply since the parent was entered.
    pub cutoff_count: u8,
    /// Was the node reduced because its table entry depends on a draw on another path (step 12)?
    pub drawn_on_other_path: bool,
    /// Double and triple extensions in the line up to here.
    pub double_extensions: u8,
}

impl Default for StackEntry {
    fn default() -> StackEntry {
        StackEntry {
            static_eval: Score::NONE,
            current_move: None,
            move_index: MoveIndex::default(),
            excluded: PackedMove::NONE,
            killer: PackedMove::NONE,
            in_table: false,
            threats: Threats::default(),
            move_count: 0,
            reduction: 0,
            cutoff_count: 0,
            drawn_on_other_path: false,
            double_extensions: 0,
        }
    }
}
