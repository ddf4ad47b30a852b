//! Accumulators, computed on demand.
//!
//! Each stores the board for which it was computed, and that of another board is made from it by adding and
//! subtracting the pieces in which the two differ. So it need not be updated with moves: any accumulator can be the
//! source, a similar one is cheaper. They are kept by ply: usually the source is the parent's or the last sibling's,
//! which differ by a move or two. A view with another frame (its king has crossed the middle, or is in another
//! bucket) has other inputs: its accumulator is made from the last one with that frame, anywhere in the tree.

use std::array;

use shakmaty::{Color, Square};

use super::{
    View,
    difference::{BoardCode, Difference},
    network::{Network, Units},
    pawns::PawnEntry,
};
use crate::{
    position::Position,
    processor::compiled_for_generations,
    types::{MAX_PLY, Ply, Score},
};

/// The accumulators of both views (black, white) for one board.
#[derive(Clone, Debug)]
struct Slot {
    sums: [Units; 2],
    board: BoardCode,
    frames: [usize; 2],
}

/// The accumulator of one view for one board.
#[derive(Clone, Debug)]
struct Anchor {
    sums: Units,
    board: BoardCode,
}

compiled_for_generations! {
    /// The index of the accumulators for a board, which are made if there are none.
    fn slot_for(accumulators: &mut Accumulators, network: &Network, position: &Position, ply: Ply) -> usize {
        let index = ply.index().min(accumulators.by_ply.len() - 1);
        let code = BoardCode::new(position.board());
        let (source, distance) = accumulators.nearest(&code, index);
        if distance == 0 {
            // The board is that of the parent after a null move, or prepared.
            return source;
        }
        accumulators.update(network, position, code, source, index);
        index
    }
}

/// One thread's accumulators.
#[derive(Clone, Debug)]
pub struct Accumulators {
    by_ply: Vec<Slot>,
    /// By view and frame.
    anchors: [[Anchor; View::FRAMES]; 2],
}

impl Accumulators {
    /// Accumulators of empty boards.
    pub fn new(network: &Network) -> Accumulators {
        let empty = network.empty();
        let slot = Slot { sums: [empty.clone(), empty.clone()], board: BoardCode::default(), frames: [0; 2] };
        let anchor = Anchor { sums: empty.clone(), board: BoardCode::default() };
        let anchors = array::from_fn(|_| array::from_fn(|_| anchor.clone()));
        Accumulators { by_ply: vec![slot; MAX_PLY + 2], anchors }
    }

    /// The evaluation of a position `ply` plies from the root for the side to move.
    #[inline]
    pub fn evaluate(&mut self, network: &Network, position: &Position, pawns: &PawnEntry, ply: Ply) -> Score {
        let slot = slot_for(network.instructions(), self, network, position, ply);
        let sums = &self.by_ply[slot].sums;
        let turn = position.turn() as usize;
        let count = position.board().occupied().count() as u32;
        network.output(count, pawns, position.turn(), [&sums[turn], &sums[1 - turn]])
    }

    /// Makes the accumulators of a position, so that its evaluation finds them.
    #[inline]
    pub fn prepare(&mut self, network: &Network, position: &Position, ply: Ply) {
        slot_for(network.instructions(), self, network, position, ply);
    }

    /// Makes the accumulators of `index` from those of `source`.
    #[inline(always)]
    fn update(
        &mut self,
        network: &Network,
        position: &Position,
        code: BoardCode,
        source: usize,
        index: usize,
    ) {
        let difference = Difference::new(&self.by_ply[source].board, &code);
        for color in [Color::Black, Color::White] {
            let king = position.board().king_of(color).unwrap_or(Square::A1);
            let (view, side) = (View::new(color, king), color as usize);
            if self.by_ply[source].frames[side] != view.frame() {
                self.turn_to(network, &code, view, side, index);
            } else if source < index {
                let (below, above) = self.by_ply.split_at_mut(index);
                network.update(view, Some(&below[source].sums[side]), &mut above[0].sums[side], &difference);
            } else {
                network.update(view, None, &mut self.by_ply[index].sums[side], &difference);
            }
            self.by_ply[index].frames[side] = view.frame();
        }
        self.by_ply[index].board = code;
    }

    /// Makes the accumulator of a view whose frame differs from that of the source.
    #[inline(always)]
    fn turn_to(&mut self, network: &Network, code: &BoardCode, view: View, side: usize, index: usize) {
        let anchor = &mut self.anchors[side][view.frame()];
        let sums = &mut self.by_ply[index].sums[side];
        network.update(view, Some(&anchor.sums), sums, &Difference::new(&anchor.board, code));
        anchor.sums.clone_from(sums);
        anchor.board = *code;
    }

    /// The accumulator to use as source, and its distance: the parent's, the grandparent's or the last one at this ply.
    #[inline(always)]
    fn nearest(&self, code: &BoardCode, index: usize) -> (usize, u32) {
        let mut best = index.saturating_sub(1);
        let mut least = self.by_ply[best].board.distance(code);
        for other in [index.saturating_sub(2), index] {
            let distance = self.by_ply[other].board.distance(code);
            if distance < least {
                (best, least) = (other, distance);
            }
        }
        (best, least)
    }
}
