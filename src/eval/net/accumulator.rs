//! Accumulators, computed when they are asked for.
//!
//! Each remembers the board that it was computed for, and another board's is made from it by adding and taking
//! off the pieces in which the two differ. So nothing has to be told about moves, and nothing can be told
//! wrongly: whichever accumulator is at hand will do, a near one costs less. They are kept by ply: at hand are the
//! parent's and the last sibling's, which differ by a move or two. A view with another frame (its king has
//! crossed the middle, or stands in another bucket) is made from the last one with that frame, wherever in the tree that
//! was.

use arrayvec::ArrayVec;
use shakmaty::{Board, Color, Role, Square};

use super::{
    View,
    network::{Network, Units},
    pawns::PawnEntry,
};
use crate::{
    position::Position,
    processor::compiled_for_generations,
    types::{MAX_PLY, Ply, Score},
};

/// Most pieces on a board that is evaluated; of more, only the first ones count.
const MAX_PIECES: usize = 64;

/// The pieces of a board: by colour (black, white) and role (pawn to king).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct PieceSets([[u64; 6]; 2]);

impl PieceSets {
    #[inline(always)]
    fn of(board: &Board) -> PieceSets {
        let colors = [board.black().0, board.white().0];
        PieceSets(colors.map(|color| Role::ALL.map(|role| board.by_role(role).0 & color)))
    }

    /// In how many places two boards differ.
    #[inline(always)]
    fn distance(&self, other: &PieceSets) -> u32 {
        let differing = |color: usize| {
            let pairs = self.0[color].iter().zip(&other.0[color]);
            pairs.map(|(ours, theirs)| (ours ^ theirs).count_ones()).sum::<u32>()
        };
        differing(0) + differing(1)
    }

    /// The pieces that this board has and `other` has not, and those that only `other` has.
    #[inline(always)]
    fn changes(&self, other: &PieceSets) -> Changes {
        let mut changes = Changes::default();
        for color in Color::ALL {
            for role in Role::ALL {
                let index = role as usize - 1;
                let (now, before) = (self.0[color as usize][index], other.0[color as usize][index]);
                let mut rest = now ^ before;
                while rest != 0 {
                    let square = Square::new(rest.trailing_zeros());
                    let list = if now & rest & rest.wrapping_neg() != 0 {
                        &mut changes.added
                    } else {
                        &mut changes.removed
                    };
                    // Both boards together have no more pieces than fit.
                    let _ = list.try_push((color, role, square));
                    rest &= rest - 1;
                }
            }
        }
        changes
    }
}

type List<T> = ArrayVec<T, MAX_PIECES>;

/// In what two boards differ.
#[derive(Default)]
struct Changes {
    added: List<(Color, Role, Square)>,
    removed: List<(Color, Role, Square)>,
}

impl Changes {
    /// Makes an accumulator of a view from that of the other board.
    #[inline(always)]
    fn apply(&self, network: &Network, view: View, from: &Units, to: &mut Units) {
        let inputs = |list: &List<(Color, Role, Square)>| -> List<u16> {
            list.iter().map(|&(color, role, square)| view.input(color, role, square) as u16).collect()
        };
        network.update(from, to, &inputs(&self.added), &inputs(&self.removed));
    }
}

/// The accumulators of both views (black, white) for one board.
#[derive(Clone, Debug)]
struct Slot {
    sums: [Units; 2],
    pieces: PieceSets,
    frames: [u8; 2],
}

/// The accumulator of one view for one board.
#[derive(Clone, Debug)]
struct Anchor {
    sums: Units,
    pieces: PieceSets,
}

compiled_for_generations! {
    /// [`Accumulators::evaluate_here`].
    fn evaluate_on(
        accumulators: &mut Accumulators,
        network: &Network,
        position: &Position,
        pawns: Option<&PawnEntry>,
        ply: Ply,
    ) -> Score {
        accumulators.evaluate_here(network, position, pawns, ply)
    }
}

/// One thread's accumulators.
#[derive(Clone, Debug)]
pub struct Accumulators {
    by_ply: Vec<Slot>,
    /// By view and frame.
    anchors: Vec<Anchor>,
}

impl Accumulators {
    /// Accumulators of empty boards.
    pub fn new(network: &Network) -> Accumulators {
        let empty = network.empty();
        let slot =
            Slot { sums: [empty.clone(), empty.clone()], pieces: PieceSets::default(), frames: [0; 2] };
        let anchor = Anchor { sums: empty.clone(), pieces: PieceSets::default() };
        Accumulators { by_ply: vec![slot; MAX_PLY + 2], anchors: vec![anchor; 2 * View::FRAMES] }
    }

    /// What a position `ply` plies from the root is worth for the side to move.
    #[inline]
    pub fn evaluate(
        &mut self,
        network: &Network,
        position: &Position,
        pawns: Option<&PawnEntry>,
        ply: Ply,
    ) -> Score {
        evaluate_on(network.instructions(), self, network, position, pawns, ply)
    }

    #[inline(always)]
    fn evaluate_here(
        &mut self,
        network: &Network,
        position: &Position,
        pawns: Option<&PawnEntry>,
        ply: Ply,
    ) -> Score {
        let board = position.board();
        let index = ply.index().min(self.by_ply.len() - 1);
        let pieces = PieceSets::of(board);
        let source = self.nearest(&pieces, index);
        let changes = pieces.changes(&self.by_ply[source].pieces);
        for color in [Color::Black, Color::White] {
            let king = board.king_of(color).unwrap_or(Square::A1);
            let (view, side) = (View::new(color, king), color as usize);
            if usize::from(self.by_ply[source].frames[side]) != view.frame() {
                self.turn_to(network, &pieces, view, side, index);
            } else if source < index {
                let (below, above) = self.by_ply.split_at_mut(index);
                changes.apply(network, view, &below[source].sums[side], &mut above[0].sums[side]);
            } else {
                let sums = &mut self.by_ply[index].sums[side];
                let from = sums.clone();
                changes.apply(network, view, &from, sums);
            }
            self.by_ply[index].frames[side] = view.frame() as u8;
        }
        let slot = &mut self.by_ply[index];
        slot.pieces = pieces;
        let turn = position.turn() as usize;
        let count = board.occupied().count() as u32;
        network.output(count, pawns, position.turn(), [&slot.sums[turn], &slot.sums[1 - turn]])
    }

    /// Makes the accumulator of a view with another frame than the one at hand.
    #[inline(always)]
    fn turn_to(&mut self, network: &Network, pieces: &PieceSets, view: View, side: usize, index: usize) {
        let anchor = &mut self.anchors[View::FRAMES * side + view.frame()];
        let sums = &mut self.by_ply[index].sums[side];
        pieces.changes(&anchor.pieces).apply(network, view, &anchor.sums, sums);
        anchor.sums.clone_from(sums);
        anchor.pieces = *pieces;
    }

    /// The accumulator to begin with: the one at this ply or one of the two before.
    #[inline(always)]
    fn nearest(&self, pieces: &PieceSets, index: usize) -> usize {
        let (mut best, mut least) = (index, self.by_ply[index].pieces.distance(pieces));
        for back in 1..=index.min(2) {
            let distance = self.by_ply[index - back].pieces.distance(pieces);
            if distance < least {
                (best, least) = (index - back, distance);
            }
        }
        best
    }
}
