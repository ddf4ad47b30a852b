//! Every number that the search decides by, in one place.
//!
//! Glossary of endings: `_depth` plies of remaining depth; `_margin` centipawns; `_base` and `_step` the two
//! coefficients of a line (`base + step * depth`); `_div` a divisor; `_max` a bound. Reductions count in 1024ths
//! of a ply.
//!
//! Each is a function that returns a constant. In a build with the feature `tune` it is a variable, and a UCI
//! option of the same name, so that a tuner outside can change it between games.

/// One ply of reduction.
pub const PLY: i32 = 1024;

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal, $low:literal to $high:literal;)*) => {
        $(
            $(#[doc = $doc])+
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub const fn $name() -> i32 {
                $default
            }

            $(#[doc = $doc])+
            #[cfg(feature = "tune")]
            pub fn $name() -> i32 {
                // Relaxed: changed only between searches.
                values::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals)]
        mod values {
            use std::sync::atomic::AtomicI32;
            $(pub(super) static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        /// All of them, for a tuner.
        #[cfg(feature = "tune")]
        pub static PARAMETERS: &[Parameter] = &[
            $(Parameter {
                name: stringify!($name),
                default: $default,
                low: $low,
                high: $high,
                value: &values::$name,
            },)*
        ];
    };
}

/// A number that can be changed.
#[cfg(feature = "tune")]
pub struct Parameter {
    /// The name of the option.
    pub name: &'static str,
    /// What the engine plays with.
    pub default: i32,
    /// The least that makes sense.
    pub low: i32,
    /// The most that makes sense.
    pub high: i32,
    value: &'static std::sync::atomic::AtomicI32,
}

#[cfg(feature = "tune")]
impl Parameter {
    /// Changes it, from the next search on.
    pub fn set(&self, value: i32) {
        self.value.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

parameters! {
    /// Aspiration: half width of the first window.
    aspiration_margin = 14, 4 to 42;
    /// Aspiration: from this depth on the window is narrow.
    aspiration_min_depth = 4, 1 to 10;
    /// Reverse futility: up to this depth.
    rfp_max_depth = 8, 4 to 14;
    /// Reverse futility: margin for each ply.
    rfp_margin = 78, 26 to 234;
    /// Reverse futility: how much less margin an improving side needs.
    rfp_improving_margin = 64, 21 to 192;
    /// Razoring: up to this depth.
    razor_max_depth = 3, 1 to 9;
    /// Razoring: margin at depth 0 and for each ply.
    razor_base = 180, 60 to 540;
    /// Razoring: margin for each ply.
    razor_step = 210, 70 to 630;
    /// Null move: from this depth.
    nmp_min_depth = 3, 1 to 9;
    /// Null move: reduction at depth 0.
    nmp_base = 4, 1 to 10;
    /// Null move: one ply more reduction for so many plies of depth.
    nmp_depth_div = 4, 2 to 8;
    /// Null move: one ply more reduction for so many centipawns above beta.
    nmp_eval_div = 190, 63 to 570;
    /// Null move: at most so many plies for the evaluation.
    nmp_eval_max = 4, 1 to 10;
    /// Null move: from this depth a cutoff is verified by a search without null moves.
    nmp_verify_min_depth = 14, 10 to 20;
    /// Internal iterative reduction: from this depth.
    iir_min_depth = 4, 1 to 10;
    /// ProbCut: from this depth.
    probcut_min_depth = 5, 1 to 11;
    /// ProbCut: how far above beta a capture must come.
    probcut_margin = 190, 63 to 570;
    /// ProbCut: depth of the verifying search below the node's.
    probcut_reduction = 4, 1 to 10;
    /// Late move pruning: moves at depth 0.
    lmp_base = 4, 1 to 10;
    /// Futility of quiet moves: up to this reduced depth.
    futility_max_depth = 9, 5 to 15;
    /// Futility of quiet moves: margin at depth 0.
    futility_base = 95, 31 to 285;
    /// Futility of quiet moves: margin for each ply.
    futility_step = 95, 31 to 285;
    /// History pruning: up to this reduced depth.
    history_pruning_max_depth = 5, 1 to 11;
    /// History pruning: threshold for each ply.
    history_pruning_step = -3400, -10200 to -1134;
    /// Exchange pruning of quiet moves: centipawns for each squared ply.
    see_quiet_step = -22, -66 to -8;
    /// Exchange pruning of captures: centipawns for each ply.
    see_capture_step = -140, -420 to -47;
    /// Singular extension: from this depth.
    singular_min_depth = 7, 3 to 13;
    /// Singular extension: the stored result may be so much shallower.
    singular_tt_depth = 3, 1 to 9;
    /// Singular extension: so far below the stored score the others must stay, for each ply.
    singular_step = 2, 0 to 6;
    /// Double extension: so much further below they must stay.
    double_margin = 18, 6 to 54;
    /// Triple extension of quiet moves: so much further below they must stay.
    triple_margin = 90, 30 to 270;
    /// At most so many double extensions in a line.
    double_max = 12, 0 to 40;
    /// Late move reduction: reduction of quiet moves at depth and number 1.
    lmr_base = 820, 273 to 2460;
    /// Late move reduction: coefficient of ln(depth) * ln(number).
    lmr_step = 470, 156 to 1410;
    /// Late move reduction: one ply for so much history.
    lmr_history_div = 14000, 4666 to 42000;
    /// Quiescence: what a capture must bring beyond alpha after its value.
    qs_futility_margin = 150, 50 to 450;
    /// Quiescence: captures tried without check.
    qs_max_moves = 3, 1 to 9;
    /// Quiescence: what the exchange of a capture or checking move must win.
    qs_exchange = -10, -100 to 50;
    /// Quiescence: the same of an evasion.
    qs_evasion_exchange = -80, -240 to -27;
    /// History: bonus at depth 0.
    history_base = -90, -270 to -30;
    /// History: bonus for each ply.
    history_step = 190, 63 to 570;
    /// History: largest bonus.
    history_bonus_max = 1900, 633 to 5700;
    /// Butterfly history of the opponent's last move: for each centipawn that the evaluation changed.
    reply_step = 6, 2 to 18;
    /// Butterfly history of the opponent's last move: at most so much for the evaluation.
    reply_max = 900, 300 to 2700;
    /// History: a cutoff so far above beta counts as one ply deeper.
    surprise_margin = 90, 30 to 270;
}
