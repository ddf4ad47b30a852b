//! Every number that the search decides by, in one place.
//!
//! Glossary of suffixes: `_DEPTH` plies of remaining depth; `_MARGIN` centipawns; `_BASE` and `_STEP` the
//! two coefficients of a line (`base + step * depth`); `_DIV` a divisor; `_MAX` a bound. Reductions count in
//! 1024ths of a ply.

/// One ply of reduction.
pub const PLY: i32 = 1024;

/// Aspiration: half width of the first window.
pub const ASPIRATION_MARGIN: i32 = 14;
/// Aspiration: from this depth on the window is narrow.
pub const ASPIRATION_MIN_DEPTH: i32 = 4;

/// Reverse futility: up to this depth.
pub const RFP_MAX_DEPTH: i32 = 8;
/// Reverse futility: margin for each ply.
pub const RFP_MARGIN: i32 = 78;
/// Reverse futility: how much less margin an improving side needs.
pub const RFP_IMPROVING_MARGIN: i32 = 64;

/// Razoring: up to this depth.
pub const RAZOR_MAX_DEPTH: i32 = 3;
/// Razoring: margin at depth 0 and for each ply.
pub const RAZOR_BASE: i32 = 180;
/// Razoring: margin for each ply.
pub const RAZOR_STEP: i32 = 210;

/// Null move: from this depth.
pub const NMP_MIN_DEPTH: i32 = 3;
/// Null move: reduction at depth 0.
pub const NMP_BASE: i32 = 4;
/// Null move: one ply more reduction for so many plies of depth.
pub const NMP_DEPTH_DIV: i32 = 4;
/// Null move: one ply more reduction for so many centipawns above beta.
pub const NMP_EVAL_DIV: i32 = 190;
/// Null move: at most so many plies for the evaluation.
pub const NMP_EVAL_MAX: i32 = 4;
/// Null move: from this depth a cutoff is verified by a search without null moves.
pub const NMP_VERIFY_MIN_DEPTH: i32 = 14;

/// Internal iterative reduction: from this depth.
pub const IIR_MIN_DEPTH: i32 = 4;

/// ProbCut: from this depth.
pub const PROBCUT_MIN_DEPTH: i32 = 5;
/// ProbCut: how far above beta a capture must come.
pub const PROBCUT_MARGIN: i32 = 190;
/// ProbCut: depth of the verifying search below the node's.
pub const PROBCUT_REDUCTION: i32 = 4;

/// Late move pruning: moves at depth 0.
pub const LMP_BASE: i32 = 4;
/// Futility of quiet moves: up to this reduced depth.
pub const FUTILITY_MAX_DEPTH: i32 = 9;
/// Futility of quiet moves: margin at depth 0.
pub const FUTILITY_BASE: i32 = 95;
/// Futility of quiet moves: margin for each ply.
pub const FUTILITY_STEP: i32 = 95;
/// History pruning: up to this reduced depth.
pub const HISTORY_PRUNING_MAX_DEPTH: i32 = 5;
/// History pruning: threshold for each ply.
pub const HISTORY_PRUNING_STEP: i32 = -3400;
/// Exchange pruning of quiet moves: centipawns for each squared ply.
pub const SEE_QUIET_STEP: i32 = -22;
/// Exchange pruning of captures: centipawns for each ply.
pub const SEE_CAPTURE_STEP: i32 = -140;

/// Singular extension: from this depth.
pub const SINGULAR_MIN_DEPTH: i32 = 7;
/// Singular extension: the stored result may be so much shallower.
pub const SINGULAR_TT_DEPTH: i32 = 3;
/// Singular extension: so far below the stored score the others must stay, for each ply.
pub const SINGULAR_STEP: i32 = 2;
/// Double extension: so much further below they must stay.
pub const DOUBLE_MARGIN: i32 = 18;
/// Triple extension of quiet moves: so much further below they must stay.
pub const TRIPLE_MARGIN: i32 = 90;
/// At most so many double extensions in a line.
pub const DOUBLE_MAX: u8 = 12;

/// Late move reduction: reduction of quiet moves at depth and number 1.
pub const LMR_BASE: i32 = 820;
/// Late move reduction: coefficient of ln(depth) * ln(number).
pub const LMR_STEP: i32 = 470;
/// Late move reduction: one ply for so much history.
pub const LMR_HISTORY_DIV: i32 = 14000;

/// Quiescence: what a capture must bring beyond alpha after its value.
pub const QS_FUTILITY_MARGIN: i32 = 150;
/// Quiescence: captures tried without check.
pub const QS_MAX_MOVES: usize = 3;

/// Quiescence: what the exchange of a capture or checking move must win.
pub const QS_EXCHANGE: i32 = -10;
/// Quiescence: the same of an evasion.
pub const QS_EVASION_EXCHANGE: i32 = -80;
/// History: bonus at depth 0.
pub const HISTORY_BASE: i32 = -90;
/// History: bonus for each ply.
pub const HISTORY_STEP: i32 = 190;
/// History: largest bonus.
pub const HISTORY_BONUS_MAX: i32 = 1900;
/// Butterfly history of the opponent's last move: for each centipawn that the evaluation changed.
pub const REPLY_STEP: i32 = 6;
/// Butterfly history of the opponent's last move: at most so much for the evaluation.
pub const REPLY_MAX: i32 = 900;
/// History: a cutoff so far above beta counts as one ply deeper.
pub const SURPRISE_MARGIN: i32 = 90;
