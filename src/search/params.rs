//! Every number that the search of a node, the choice of a root move and the time management depend on, with its unit
//! and the range in which it makes sense. Elsewhere are the exchange values of pieces (`position/see.rs`), replacement
//! in the transposition table (`tt/`), and sizes of tables, polling intervals and limits of output, which are defined
//! where they are used.
//!
//! Glossary of suffixes: `_min_depth` and `_max_depth` the smallest and largest remaining depth at which a step
//! applies; `_margin` a distance between scores; `_base` and `_step` the two coefficients of a line (`base + step *
//! depth`); `_div` a divisor; `_max` a bound; `_share` a part of 1024.
//!
//! Units: `units` internal units of a score, of which 140 are a printed pawn; `cp` printed centipawns; `ply`; `ply1024`
//! 1024ths of a ply, the unit of reductions; `moves`; `hist` points of a history table; `of1024` 1024ths of something;
//! `of1000` thousandths; `times` a plain factor or divisor.
//!
//! Each is a function that returns a constant. In a build with the feature `tune` it is a variable, and a UCI
//! option of the same name, so that an external tuner can change it between games.

/// A number of thousandths as a factor.
pub fn thousandths(number: i32) -> f64 {
    f64::from(number) / 1000.0
}

/// One ply of reduction.
pub const PLY: i32 = 1024;
/// The whole of which a `_share` is a part.
pub const SHARE: i32 = 1024;

/// `share` 1024ths of a number.
pub fn share_of(number: i32, share: i32) -> i32 {
    number * share / SHARE
}

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal $unit:ident, $low:literal to $high:literal;)*) => {
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
    // Aspiration windows (aspirate.rs).

    /// From this depth on the first window is narrow.
    aspiration_min_depth = 4 ply, 1 to 10;
    /// Half width of the first window.
    aspiration_margin = 19 units, 4 to 42;
    /// The half width grows by the squared score divided by this, because large scores vary more.
    aspiration_score_div = 16_000 units, 4_000 to 64_000;
    /// A failed window grows by its half width divided by this.
    aspiration_growth_div = 2 times, 1 to 8;
    /// Beyond this half width the window is opened completely.
    aspiration_margin_max = 1_000 units, 300 to 3_000;
    /// Each fail high makes the next search of the root a ply shallower, up to this many plies.
    aspiration_reduction_max = 3 ply, 0 to 6;

    // Static evaluation (worker.rs) and correction history (history/correction.rs).

    /// The static evaluation is reduced by this fraction of itself: the half-move clock divided by this number.
    fifty_move_damping = 200 ply, 100 to 600;
    /// The weight of a result does not grow beyond this depth.
    correction_depth_max = 16 ply, 4 to 32;
    /// A result changes the correction by its difference times depth divided by this, before gravity.
    correction_depth_div = 8 ply, 2 to 32;
    /// Largest correction of each table.
    correction_max = 96 units, 32 to 288;
    /// One result changes a table by at most its largest correction divided by this.
    correction_bonus_div = 4 times, 1 to 16;
    /// The sum of the tables is divided by this.
    correction_div = 4 times, 1 to 12;

    // Steps 6 to 12: before the whole-node pruning (node.rs).

    /// A tablebase result is stored with the depth of the node plus this.
    tb_store_depth = 6 ply, 0 to 20;
    /// Hindsight: a move reduced by at least this is searched deeper if it improved its side's static evaluation.
    hindsight_deeper_reduction = 3072 ply1024, 1024 to 8192;
    /// Hindsight: a move reduced by at least this is searched less deep if its side's static evaluation fell by more
    /// than `hindsight_margin`.
    hindsight_shallower_reduction = 1024 ply1024, 512 to 8192;
    /// See `hindsight_shallower_reduction`.
    hindsight_margin = 180 units, 60 to 540;
    /// Hindsight: only from this depth on is a node searched less deep.
    hindsight_min_depth = 2 ply, 1 to 8;
    /// Internal iterative reduction: from this depth.
    iir_min_depth = 4 ply, 1 to 10;
    /// The reduction of a node that is drawn on another path: from this depth.
    drawn_path_min_depth = 2 ply, 1 to 8;

    // Step 13: reverse futility pruning.

    /// Up to this depth.
    rfp_max_depth = 8 ply, 4 to 14;
    /// Margin for each ply.
    rfp_margin = 78 units, 26 to 234;
    /// How much less margin an improving side needs.
    rfp_improving_margin = 64 units, 21 to 192;
    /// A node with a quiet table move is pruned only up to this depth.
    rfp_quiet_tt_move_max_depth = 4 ply, 0 to 14;
    /// The score is the mean of the evaluation and this many times beta.
    rfp_beta_weight = 2 times, 0 to 6;

    // Step 14: null move pruning.

    /// From this depth.
    nmp_min_depth = 3 ply, 1 to 9;
    /// How far below beta the static evaluation may be at depth 0 (negative: above).
    nmp_static_base = -160 units, -480 to 0;
    /// How much further below beta for each ply.
    nmp_static_step = 20 units, 0 to 60;
    /// Reduction at depth 0.
    nmp_base = 5 ply, 1 to 10;
    /// Plies of depth for which the reduction grows by one.
    nmp_depth_div = 3 ply, 2 to 8;
    /// Units above beta for which the reduction grows by one.
    nmp_eval_div = 190 units, 63 to 570;
    /// Largest reduction for the evaluation.
    nmp_eval_max = 4 ply, 1 to 10;
    /// From this depth a cutoff is verified by a search without null moves; at any depth if the side has one piece.
    nmp_verify_min_depth = 14 ply, 10 to 20;
    /// The share of the verifying depth for which null moves are off.
    nmp_verify_share = 768 of1024, 256 to 1024;

    // Step 15: ProbCut.

    /// From this depth.
    probcut_min_depth = 5 ply, 1 to 11;
    /// How far above beta a capture must score.
    probcut_margin = 100 units, 33 to 300;
    /// How much less if the side is improving.
    probcut_improving_margin = 25 units, 0 to 75;
    /// Depth of the verifying search below the node's.
    probcut_reduction = 4 ply, 1 to 10;

    // Steps 16 to 19: pruning in the move loop (prune_move.rs). Their thresholds depend on history.

    /// The reduced depth that the thresholds use grows by a 1024th of a ply for this much history.
    pruning_history_div = 8 hist, 2 to 32;
    /// Captures: what the exchange may lose, for each ply.
    see_capture_step = -140 units, -420 to -46;
    /// Captures: the exchange may lose a unit more for this much history.
    see_capture_history_div = 34 hist, 9 to 137;
    /// Late move pruning: the number of the first quiet move that is left out at depth 0; the squared depth is added.
    lmp_base = 4 moves, 1 to 10;
    /// Late move pruning: divisor of the number of moves if the side is not improving.
    lmp_not_improving_div = 2 times, 1 to 4;
    /// Futility: up to this reduced depth.
    futility_max_depth = 9 ply, 5 to 15;
    /// Futility: margin at depth 0.
    futility_base = 95 units, 31 to 285;
    /// Futility: margin for each ply.
    futility_step = 95 units, 31 to 285;
    /// Futility: the margin grows by a unit for this much history.
    futility_history_div = 160 hist, 40 to 640;
    /// History pruning: up to this reduced depth.
    history_pruning_max_depth = 5 ply, 1 to 11;
    /// History pruning: threshold for each ply.
    history_pruning_step = -3400 hist, -10_200 to -1134;
    /// Quiet moves: what the exchange may lose, times the squared reduced depth.
    see_quiet_step = -31 units, -92 to -11;

    // Step 20: singular extensions (extend.rs).

    /// From this depth.
    singular_min_depth = 7 ply, 3 to 13;
    /// How much shallower than the node the stored result may be.
    singular_tt_depth = 3 ply, 1 to 9;
    /// Below the smallest depth a table move is extended if the static evaluation is this far below alpha.
    singular_shallow_margin = 36 units, 0 to 300;
    /// How far below the stored score the other moves must stay, for each ply of depth.
    singular_step = 1 units, 0 to 6;
    /// That margin is multiplied by this in a null-window node that was a PV node.
    singular_was_pv_factor = 2 times, 1 to 4;
    /// The other moves are searched to the depth divided by this.
    singular_depth_div = 2 times, 1 to 4;
    /// No extensions beyond a ply of this many times the depth of the iteration.
    extension_ply_factor = 2 times, 1 to 4;
    /// Double extension: how much further below the others must stay.
    double_margin = 18 units, 6 to 54;
    /// Triple extension of a quiet move: how much further below they must stay.
    triple_margin = 90 units, 30 to 270;
    /// Maximum number of double extensions in a line.
    double_max = 12 moves, 0 to 40;
    /// Negative extension where the stored score reaches beta, in a PV node.
    negative_extension_pv = 1 ply, 0 to 3;
    /// The same in a null-window node.
    negative_extension = 2 ply, 0 to 4;
    /// Negative extension of a move in an expected cut node that is not singular.
    negative_extension_cut_node = 1 ply, 0 to 3;

    // Step 21: late move reductions (reduce.rs), and the second search of a reduced move (moves.rs).

    /// From this depth.
    lmr_min_depth = 2 ply, 1 to 5;
    /// From this move on; one later at the root.
    lmr_min_moves = 2 moves, 1 to 5;
    /// Reduction at depth 1 and move 1.
    lmr_base = 820 ply1024, 273 to 2460;
    /// Coefficient of ln(depth) * ln(move_count).
    lmr_step = 470 ply1024, 156 to 1410;
    /// The reduction falls by a ply for this much history.
    lmr_history_div = 14_000 hist, 4666 to 42_000;
    /// The history of a capture is multiplied by this.
    lmr_capture_history_factor = 2 times, 1 to 6;
    /// Reduced less in a node that is or was a PV node.
    lmr_was_pv = 1024 ply1024, 0 to 3072;
    /// Reduced still less if it is one now.
    lmr_pv = 512 ply1024, 0 to 3072;
    /// Reduced more in a node that is expected to fail high.
    lmr_cut_node = 2048 ply1024, 0 to 6144;
    /// Taken off `lmr_cut_node` if the node is or was a PV node.
    lmr_cut_node_was_pv = 512 ply1024, 0 to 3072;
    /// Reduced more if the side is not improving.
    lmr_not_improving = 512 ply1024, 0 to 3072;
    /// Reduced more if the table's move is a capture or queen promotion.
    lmr_noisy_tt_move = 1024 ply1024, 0 to 3072;
    /// Reduced less if the move gives check.
    lmr_gives_check = 1024 ply1024, 0 to 3072;
    /// Reduced by `lmr_cutoffs` more if the children had more than this many cutoffs.
    lmr_cutoff_count = 3 moves, 0 to 10;
    /// See `lmr_cutoff_count`.
    lmr_cutoffs = 1024 ply1024, 0 to 3072;
    /// Reduced less if the move is the killer.
    lmr_killer = 1024 ply1024, 0 to 3072;
    /// The second search is a ply deeper if the score exceeds the best one by more than this ...
    research_deeper_base = 45 units, 15 to 135;
    /// ... plus this for each ply.
    research_deeper_step = 2 units, 0 to 6;
    /// It is a ply shallower if the score exceeds the best one by less than this.
    research_shallower_margin = 9 units, 0 to 27;
    /// The share of a bonus that continuation history gets from the second search.
    research_bonus_share = 512 of1024, 0 to 2048;

    // Step 23: a new best move (moves.rs).

    /// The moves after one that raised alpha are searched a ply less deep above this depth ...
    raised_alpha_min_depth = 2 ply, 1 to 6;
    /// ... and below this one.
    raised_alpha_max_depth = 12 ply, 6 to 24;

    // History tables (history_updates.rs, history/).

    /// Entries stay within plus and minus this.
    history_max = 16_384 hist, 4096 to 30_000;
    /// Bonus at depth 0.
    history_base = -90 hist, -270 to -30;
    /// Bonus for each ply.
    history_step = 190 hist, 63 to 570;
    /// Largest bonus.
    history_bonus_max = 1900 hist, 633 to 5700;
    /// A cutoff this far above beta earns the bonus of one more ply of depth.
    surprise_margin = 90 units, 30 to 270;
    /// The share of butterfly history that is left in the next search.
    butterfly_kept_share = 768 of1024, 0 to 1024;
    /// The share of a bonus for the continuation history of the move 4 plies before.
    continuation_4_share = 512 of1024, 0 to 1024;
    /// The same of the move 6 plies before.
    continuation_6_share = 256 of1024, 0 to 1024;
    /// Both are divided by this in the score of a move.
    continuation_far_div = 2 times, 1 to 4;
    /// The share of a bonus for a quiet table move that cuts off without a search.
    tt_cutoff_bonus_share = 512 of1024, 0 to 2048;
    /// The share of a bonus for the previous quiet move, if no move after it raised alpha.
    previous_move_bonus_share = 768 of1024, 0 to 2048;
    /// Evaluation-difference history: bonus for each unit of the difference.
    eval_difference_step = 6 hist, 2 to 18;
    /// Evaluation-difference history: largest bonus.
    eval_difference_max = 900 hist, 300 to 2700;

    // Move ordering (picker.rs).

    /// The score of a capture is its material gain times this, plus its history.
    capture_gain_factor = 11 times, 3 to 46;
    /// Bonus of a quiet move that gives check and loses little.
    check_bonus = 8000 hist, 0 to 24_000;
    /// What the exchange of such a move must win.
    check_exchange = -70 units, -420 to 0;
    /// Bonus of a knight or bishop for leaving a square that a pawn attacks, and malus for moving to one.
    threatened_minor = 6000 hist, 0 to 18_000;
    /// The same for a rook and squares attacked by a piece worth less.
    threatened_rook = 10_000 hist, 0 to 30_000;
    /// The same for a queen.
    threatened_queen = 16_000 hist, 0 to 48_000;
    /// A capture comes before the quiet moves if its exchange loses no more than its score divided by this.
    good_capture_div = 23 times, 6 to 91;

    // Quiescence (quiesce.rs).

    /// Added to the evaluation and the gain of a capture, which together must exceed alpha.
    qs_futility_margin = 150 units, 50 to 450;
    /// What the exchange of a capture must win if the evaluation plus that margin does not exceed alpha.
    qs_futility_exchange = 1 units, -70 to 210;
    /// Captures tried when not in check.
    qs_max_moves = 3 moves, 1 to 9;
    /// Moves tried in check before the quiet ones are skipped.
    qs_max_evasions = 2 moves, 1 to 9;
    /// What the exchange of a capture must win.
    qs_exchange = -14 units, -140 to 70;
    /// The same of an evasion.
    qs_evasion_exchange = -112 units, -336 to -38;
    /// A score above beta becomes the mean of it and this many times beta.
    qs_beta_weight = 1 times, 0 to 6;

    // What the learning file prefers at the root (preference.rs). Before `advice_min_depth` only advised moves are
    // searched.

    /// From this depth on an advised move competes with the others.
    advice_min_depth = 12 ply, 1 to 40;
    /// From then on another move is played if it is better than the advised ones by more than this.
    advice_margin = 500 cp, 0 to 2000;
    /// A move whose games were won is preferred if it is within this margin of the best, in a search of at least
    /// `outcome_depth`; one whose games were lost is avoided likewise.
    outcome_margin = 12 cp, 0 to 100;
    /// The margin of won games grows by this for each ply by which the search is shallower, since its scores are less
    /// reliable, up to `won_max`: about a pawn at depth 6.
    won_step = 22 cp, 0 to 300;
    /// See `won_step`.
    won_max = 100 cp, 0 to 1000;
    /// The same for lost games: what lost must be left even by a search that sees no reason.
    lost_step = 240 cp, 0 to 1000;
    /// See `outcome_margin`.
    outcome_depth = 10 ply, 0 to 30;
    /// Bonus of a move that a deeper study found best, for each ply of the difference.
    studied_step = 100 cp, 0 to 300;
    /// Largest bonus of a studied move.
    studied_max = 600 cp, 0 to 2000;

    // The vote of the threads (vote.rs).

    /// Added to the difference between a thread's score and the lowest; the vote's weight is proportional to the sum.
    vote_score_offset = 14 units, 1 to 42;
    /// A thread may be at most this many iterations behind the main thread to have a vote.
    vote_max_lag = 2 ply, 0 to 64;

    // Time management: when no further iteration begins (deepen.rs). Thousandths of the soft limit.

    /// Factor if no nodes were spent below the best move.
    time_effort_base = 1900 of1000, 1000 to 3000;
    /// That factor falls by this times the share of nodes below the best move.
    time_effort_step = 1400 of1000, 0 to 2800;
    /// Factor if the best move has just changed.
    time_stability_base = 1350 of1000, 800 to 2500;
    /// That factor falls by this for each iteration since.
    time_stability_step = 80 of1000, 0 to 240;
    /// At most this many iterations are counted.
    time_stability_max = 8 times, 1 to 20;
    /// The factor of a falling score grows by this for each unit.
    time_fall_step = 8 of1000, 0 to 24;
    /// A change of the score in one iteration counts up to this, up and down.
    time_fall_max = 60 units, 20 to 180;
    /// How much of the earlier fall is left after an iteration.
    time_fall_decay = 500 of1000, 0 to 900;
    /// Smallest factor for the fall.
    time_fall_factor_min = 750 of1000, 300 to 1000;
    /// Largest factor for the fall.
    time_fall_factor_max = 1600 of1000, 1000 to 3000;
    /// A single legal move, or one that a far deeper search found best, gets this fraction of the time.
    time_single_move = 100 of1000, 10 to 1000;

    // Time management: the limits of a move (clock.rs).

    /// Moves that a game is assumed to last, if there is no next time control.
    time_horizon = 20 moves, 10 to 60;
    /// The soft limit spends at least this share of the increment.
    time_increment = 750 of1000, 300 to 1000;
    /// Share of the time left that is budgeted at least, whatever the overhead of the coming moves.
    time_budget_min = 250 of1000, 0 to 500;
    /// The hard limit is the soft limit times this.
    time_hard_factor = 4500 of1000, 1500 to 9000;
    /// The soft limit is at most this share of the time left.
    time_soft_max = 250 of1000, 50 to 500;
    /// The hard limit is at most this share of the time left: near the end a delay of the system may exceed a move.
    time_hard_max = 400 of1000, 100 to 700;
    /// The soft limit's share at the last move before the time control.
    time_last_move_soft_max = 700 of1000, 300 to 900;
    /// The hard limit's share there.
    time_last_move_hard_max = 850 of1000, 300 to 950;
    /// The soft limit is never scaled below this ...
    time_scale_min = 50 of1000, 10 to 500;
    /// ... or above this.
    time_scale_max = 10_000 of1000, 2000 to 20_000;
}
