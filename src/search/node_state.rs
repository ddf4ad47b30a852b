//! What a node is: its kind, its window, and the facts that its steps decide by.

use shakmaty::Move;

use crate::{
    position::{Position, is_noisy},
    tt::{Hit, ScoreWindow},
    types::{Depth, PackedMove, Ply, Score},
};

/// What kind of node is searched, known at compile time.
pub trait NodeKind {
    /// Is the window open?
    const PV: bool;
    /// Is this the root?
    const ROOT: bool;
}

/// The root of the tree.
pub struct RootNode;
/// A node with an open window: it may become a part of the principal variation.
pub struct PvNode;
/// A node with a null window: it is only asked whether it reaches beta.
pub struct NonPvNode;

impl NodeKind for RootNode {
    const PV: bool = true;
    const ROOT: bool = true;
}
impl NodeKind for PvNode {
    const PV: bool = true;
    const ROOT: bool = false;
}
impl NodeKind for NonPvNode {
    const PV: bool = false;
    const ROOT: bool = false;
}

/// The alpha-beta window: a score at or below `alpha` is an upper bound, one at or above `beta` a lower bound.
#[derive(Copy, Clone, Debug)]
pub struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// Every score lies inside.
    pub const FULL: Window = Window { alpha: Score(-Score::INFINITE.0), beta: Score::INFINITE };

    /// Asks only: is the score above `alpha`?
    pub fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// As the opponent sees it.
    pub fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// What a null-window node is expected to do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Some move should reach beta.
    Cut,
    /// No move should raise alpha; also said of PV nodes.
    All,
}

impl Expect {
    /// What is expected of the children.
    pub fn flip(self) -> Expect {
        match self {
            Expect::Cut => Expect::All,
            Expect::All => Expect::Cut,
        }
    }
}

/// The facts about a node that its steps decide by.
pub struct Node<'a> {
    pub position: &'a Position,
    pub ply: Ply,
    pub depth: Depth,
    pub window: Window,
    pub expect: Expect,
    pub in_check: bool,
    /// The evaluation as the table stores it; none in check.
    pub raw_eval: Option<Score>,
    /// The corrected static evaluation; [`Score::NONE`] in check.
    pub static_eval: Score,
    /// The best estimate of the score: the static evaluation, moved into what the table knows.
    pub eval: Score,
    /// Does the side to move stand better than at its last turn? In the move loop also if it stands at beta or above.
    pub improving: bool,
    /// Is or was this a PV node, here or in an earlier search?
    pub was_pv: bool,
    /// Can the side to move repeat an earlier position with a draw?
    pub upcoming_repetition: bool,
    pub tt_hit: Option<Hit>,
    pub tt_move: Option<Move>,
    /// What the table knows about the score, if that holds on this path.
    pub tt_window: Option<ScoreWindow>,
    /// What the tablebases prove about the score, and what was learned about it.
    pub tb_window: Option<ScoreWindow>,
    pub learned_window: Option<ScoreWindow>,
    /// The move that a singular search leaves out.
    pub excluded: PackedMove,
}

impl Node<'_> {
    /// Is the table's move a capture or promotion?
    pub fn tt_move_is_noisy(&self) -> bool {
        self.tt_move.is_some_and(is_noisy)
    }
}

/// The three evaluations of a position; all [`Score::NONE`], or none, in check.
#[derive(Copy, Clone, Debug)]
pub struct NodeEval {
    /// What the evaluation says, and what the table stores.
    pub raw_eval: Option<Score>,
    /// The same after correction history and fifty-move damping.
    pub static_eval: Score,
    /// The same moved into what the table knows about the score.
    pub eval: Score,
}

impl NodeEval {
    /// A position in check is not evaluated.
    pub const IN_CHECK: NodeEval = NodeEval { raw_eval: None, static_eval: Score::NONE, eval: Score::NONE };
}
