//! The state of a node: its kind, its window, and the facts on which its steps decide.

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
/// A node with an open window, which may become part of the principal variation.
pub struct PvNode;
/// A node with a null window: its search only decides whether its score reaches beta.
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
    /// The window that contains every score.
    pub const FULL: Window = Window { alpha: Score(-Score::INFINITE.0), beta: Score::INFINITE };

    /// The window that only tests whether the score is above `alpha`.
    pub fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window from the opponent's side.
    pub fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// The expected result of a null-window node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Some move should reach beta.
    Cut,
    /// No move should raise alpha; also used for PV nodes.
    All,
}

impl Expect {
    /// The expectation for the children.
    pub fn flip(self) -> Expect {
        match self {
            Expect::Cut => Expect::All,
            Expect::All => Expect::Cut,
        }
    }
}

/// The facts about a node on which its steps decide.
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
    /// The best estimate of the score: the static evaluation, clamped to the table's score window.
    pub eval: Score,
    /// Is the static evaluation better than at the side's last turn? In the move loop also if it is at least beta.
    pub improving: bool,
    /// Is or was this a PV node, here or in an earlier search?
    pub was_pv: bool,
    /// Can the side to move draw by repeating an earlier position?
    pub upcoming_repetition: bool,
    pub tt_hit: Option<Hit>,
    pub tt_move: Option<Move>,
    /// The table's bounds of the score, if they hold on this path.
    pub tt_window: Option<ScoreWindow>,
    /// The bounds of the score proven by tablebases, and those from the learning file.
    pub tb_window: Option<ScoreWindow>,
    pub learned_window: Option<ScoreWindow>,
    /// The move excluded by a singular search.
    pub excluded: PackedMove,
}

impl Node<'_> {
    /// Is the table's move a capture or queen promotion?
    pub fn tt_move_is_noisy(&self) -> bool {
        self.tt_move.is_some_and(is_noisy)
    }
}

/// The three evaluations of a position; all [`Score::NONE`], or none, in check.
#[derive(Copy, Clone, Debug)]
pub struct NodeEval {
    /// The uncorrected evaluation, as the table stores it.
    pub raw_eval: Option<Score>,
    /// The same after correction history and fifty-move damping.
    pub static_eval: Score,
    /// The same clamped to the table's bounds of the score.
    pub eval: Score,
}

impl NodeEval {
    /// A position in check is not evaluated.
    pub const IN_CHECK: NodeEval = NodeEval { raw_eval: None, static_eval: Score::NONE, eval: Score::NONE };
}
