//! Every number that the search of a node, the choice of a root move and the clock decide by, with its unit and the
//! range in which it makes sense. The exchange values of pieces are in `position/see.rs`, replacement in the
//! transposition table in `tt/`; sizes of tables, polling intervals and limits of output stand where they are used.
//!
//! Glossary of endings: `_min_depth` and `_max_depth` the remaining depth from which and up to which a step is
//! taken; `_margin` a distance between scores; `_base` and `_step` the two coefficients of a line
//! (`base + step * depth`); `_div` a divisor; `_max` a bound; `_share` a part of 1024.
//!
//! Units: `units` internal units of a score, of which 140 are a printed pawn; `cp` printed centipawns; `ply`; `ply1024` 1024ths of a ply, in which reductions
//! count; `moves`; `hist` points of a history table; `of1024` 1024ths of something; `of1000` thousandths; `times` a
//! plain factor or divisor.
//!
//! Each is a function that returns a constant. In a build with the feature `tune` it is a variable, and a UCI
//! option of the same name, so that a tuner outside can change it between games.

/// A number of thousandths as a factor.
pub fn thousandths(number: i32) -> f64 {
    f64::from(number) / 1000.0
}

/// One ply of reduction.
pub const PLY: i32 = 1024;
/// The whole of which a `_share` is a part.
pub const SHARE: i32 = 1024;

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
                unit: stringify!($unit),
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
    /// What it counts.
    pub unit: &'static str,
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

    /// From this depth on the window is narrow.
    aspiration_min_depth = 4 ply, 1 to 10;
    /// Half width of the first window.
    aspiration_margin = 19 units, 4 to 42;
    /// The half width grows by the squared score divided by this, because large scores vary more.
    aspiration_score_div = 16_000 units, 4_000 to 64_000;
    /// A failed window grows by its half width divided by this.
    aspiration_growth_div = 2 times, 1 to 8;
    /// A half width beyond this is no window any more.
    aspiration_margin_max = 1_000 units, 300 to 3_000;
    /// Each fail high makes the search of the root a ply shallower; at most by this much.
    aspiration_reduction_max = 3 ply, 0 to 6;

    // Static evaluation (worker.rs) and correction history (history/correction.rs).

    /// The static evaluation is damped by the half-move clock divided by this.
    fifty_move_damping = 200 ply, 100 to 600;
    /// Depth from which a result teaches no more than from a shallower one.
    correction_depth_max = 16 ply, 4 to 32;
    /// A result moves the correction by its difference times depth divided by this, before gravity.
    correction_depth_div = 8 ply, 2 to 32;
    /// Largest correction of each table.
    correction_max = 96 units, 32 to 288;
    /// One result moves a table by at most its largest correction divided by this.
    correction_bonus_div = 4 times, 1 to 16;
    /// The sum of the tables is divided by this.
    correction_div = 4 times, 1 to 12;

    // Steps 6 to 12: before the whole-node pruning (node.rs).

    /// A tablebase result is stored with the depth of the node plus this.
    tb_store_depth = 6 ply, 0 to 20;
    /// Hindsight: a move reduced by this much that cost its side nothing is searched deeper.
    hindsight_deeper_reduction = 3072 ply1024, 1024 to 8192;
    /// Hindsight: a move reduced by this much that cost its side much is searched less deep.
    hindsight_shallower_reduction = 1024 ply1024, 512 to 8192;
    /// Hindsight: more than this is much.
    hindsight_margin = 180 units, 60 to 540;
    /// Hindsight: from this depth on a node is searched less deep.
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
    /// A node whose table move is quiet is pruned up to this depth only.
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
    /// How far above beta a capture must come.
    probcut_margin = 190 units, 63 to 570;
    /// How much less far if the side is improving.
    probcut_improving_margin = 50 units, 0 to 150;
    /// Depth of the verifying search below the node's.
    probcut_reduction = 4 ply, 1 to 10;

    // Steps 16 to 19: pruning in the move loop (prune_move.rs). History moves their thresholds.

    /// The reduced depth that the thresholds use grows by a 1024th of a ply for this much history.
    pruning_history_div = 8 hist, 2 to 32;
    /// Captures: what their exchange may lose for each ply.
    see_capture_step = -140 units, -420 to -47;
    /// Captures: the exchange may lose a unit more for this much history.
    see_capture_history_div = 48 hist, 12 to 192;
    /// Late move pruning: moves at depth 0, and more by the squared depth.
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
    /// Quiet moves: what their exchange may lose for each squared ply.
    see_quiet_step = -22 units, -66 to -8;

    // Step 20: singular extensions (extend.rs).

    /// From this depth.
    singular_min_depth = 7 ply, 3 to 13;
    /// How much shallower than the node the stored result may be.
    singular_tt_depth = 3 ply, 1 to 9;
    /// How far below the stored score the others must stay, for each ply of depth.
    singular_step = 2 units, 0 to 6;
    /// That margin is multiplied by this in a null-window node that was a PV node.
    singular_was_pv_factor = 2 times, 1 to 4;
    /// The other moves are searched to the depth divided by this.
    singular_depth_div = 2 times, 1 to 4;
    /// No extensions beyond this many times the depth of the root.
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
    /// Less in a node that is or was a PV node.
    lmr_was_pv = 1024 ply1024, 0 to 3072;
    /// Still less if it is one now.
    lmr_pv = 512 ply1024, 0 to 3072;
    /// More in a node that is expected to fail high.
    lmr_cut_node = 2048 ply1024, 0 to 6144;
    /// Less more if it was a PV node.
    lmr_cut_node_was_pv = 512 ply1024, 0 to 3072;
    /// More if the side is not improving.
    lmr_not_improving = 512 ply1024, 0 to 3072;
    /// More if the table's move is a capture.
    lmr_noisy_tt_move = 1024 ply1024, 0 to 3072;
    /// Less for a move that gives check.
    lmr_gives_check = 1024 ply1024, 0 to 3072;
    /// More if the children had more than this many cutoffs.
    lmr_cutoff_count = 3 moves, 0 to 10;
    /// How much more.
    lmr_cutoffs = 1024 ply1024, 0 to 3072;
    /// Less for the killer.
    lmr_killer = 1024 ply1024, 0 to 3072;
    /// The second search goes a ply deeper if the score is above the best by this ...
    research_deeper_base = 45 units, 15 to 135;
    /// ... and this for each ply.
    research_deeper_step = 2 units, 0 to 6;
    /// It goes a ply less deep if the score is above the best by less than this.
    research_shallower_margin = 9 units, 0 to 27;
    /// The share of a bonus that continuation history gets from the second search.
    research_bonus_share = 512 of1024, 0 to 2048;

    // Step 23: a new best move (moves.rs).

    /// The moves after one that raised alpha are searched a ply less deep above this depth ...
    raised_alpha_min_depth = 2 ply, 1 to 6;
    /// ... and below this one.
    raised_alpha_max_depth = 12 ply, 6 to 24;

    // History tables (history_updates.rs, history/).

    /// Entries lie within plus and minus this.
    history_max = 16_384 hist, 4096 to 30_000;
    /// Bonus at depth 0.
    history_base = -90 hist, -270 to -30;
    /// Bonus for each ply.
    history_step = 190 hist, 63 to 570;
    /// Largest bonus.
    history_bonus_max = 1900 hist, 633 to 5700;
    /// A cutoff this far above beta earns the bonus of a ply more.
    surprise_margin = 90 units, 30 to 270;
    /// The share of a bonus for the continuation history of the move 4 plies before.
    continuation_4_share = 512 of1024, 0 to 1024;
    /// The same of the move 6 plies before.
    continuation_6_share = 256 of1024, 0 to 1024;
    /// The score of a move counts both divided by this.
    continuation_far_div = 2 times, 1 to 4;
    /// The share of a bonus for a quiet table move that cuts off without a search.
    tt_cutoff_bonus_share = 512 of1024, 0 to 2048;
    /// The share of a bonus for the quiet move after which no move raised alpha.
    previous_move_bonus_share = 768 of1024, 0 to 2048;
    /// Evaluation-difference history: bonus for each unit of the difference.
    eval_difference_step = 6 hist, 2 to 18;
    /// Evaluation-difference history: largest bonus.
    eval_difference_max = 900 hist, 300 to 2700;

    // Move ordering (picker.rs).

    /// A capture's rank is its material gain times this, and its history.
    capture_gain_factor = 16 times, 4 to 64;
    /// Rank of a quiet move that gives check and loses little.
    check_bonus = 8000 hist, 0 to 24_000;
    /// What its exchange must win.
    check_exchange = -50 units, -300 to 0;
    /// A knight or bishop that is attacked by a pawn: what it counts to leave, or to enter, such a square.
    threatened_minor = 6000 hist, 0 to 18_000;
    /// A rook that is attacked by a piece worth less.
    threatened_rook = 10_000 hist, 0 to 30_000;
    /// A queen that is attacked by a piece worth less.
    threatened_queen = 16_000 hist, 0 to 48_000;
    /// A capture comes first if its exchange loses no more than its rank divided by this.
    good_capture_div = 32 times, 8 to 128;

    // Quiescence (quiesce.rs).

    /// What a capture must bring beyond alpha after its value.
    qs_futility_margin = 150 units, 50 to 450;
    /// Where the evaluation with that margin does not reach alpha, what an exchange must win.
    qs_futility_exchange = 1 units, -50 to 150;
    /// Captures tried out of check.
    qs_max_moves = 3 moves, 1 to 9;
    /// Moves tried in check before the quiet ones are skipped.
    qs_max_evasions = 2 moves, 1 to 9;
    /// What the exchange of a capture or checking move must win.
    qs_exchange = -10 units, -100 to 50;
    /// The same of an evasion.
    qs_evasion_exchange = -80 units, -240 to -27;
    /// A score above beta is the mean of it and this many times beta.
    qs_beta_weight = 1 times, 0 to 6;

    // What the learning file prefers at the root (preference.rs). Before `advice_min_depth` only advised moves are searched.

    /// From this depth on an advised move competes with the others.
    advice_min_depth = 12 ply, 1 to 40;
    /// By how much another move must then be better than the advised ones.
    advice_margin = 500 cp, 0 to 2000;
    /// What a won game adds to the score of its move in a deep search.
    outcome_bonus = 12 cp, 0 to 100;
    /// What it adds besides for each ply by which the search is shallower than `outcome_depth`: its scores are less exact.
    outcome_step = 240 cp, 0 to 1000;
    /// The depth from which a search is deep.
    outcome_depth = 10 ply, 0 to 30;
    /// What the move that a deeper search found best gains for each ply of the difference.
    studied_step = 100 cp, 0 to 300;
    /// The most that it gains.
    studied_max = 600 cp, 0 to 2000;

    // The vote of the threads (vote.rs).

    /// What a vote counts besides the distance of its score from the lowest.
    vote_score_offset = 14 units, 1 to 42;
    /// A thread that finished this many iterations less than the main thread still has a vote.
    vote_max_lag = 2 ply, 0 to 64;

    // Time management: when no further iteration begins (deepen.rs). Thousandths of the soft limit.

    /// Where all nodes went below other moves than the best.
    time_effort_base = 1900 of1000, 1000 to 3000;
    /// Less by the share of the nodes below the best move.
    time_effort_step = 1400 of1000, 0 to 2800;
    /// Where the best move has just changed.
    time_stability_base = 1350 of1000, 800 to 2500;
    /// Less for each iteration since.
    time_stability_step = 80 of1000, 0 to 240;
    /// Iterations that count.
    time_stability_max = 8 times, 1 to 20;
    /// More for each unit by which the score fell lately.
    time_fall_step = 8 of1000, 0 to 24;
    /// Largest change of the score in one iteration that counts, up and down.
    time_fall_max = 60 units, 20 to 180;
    /// How much of the earlier fall is left after an iteration.
    time_fall_decay = 500 of1000, 0 to 900;
    /// Least factor of the fall.
    time_fall_factor_min = 750 of1000, 300 to 1000;
    /// Largest factor of the fall.
    time_fall_factor_max = 1600 of1000, 1000 to 3000;
    /// A single legal move gets this part of the time.
    time_single_move = 100 of1000, 10 to 1000;

    // Time management: the limits of a move (clock.rs).

    /// Moves that a game without a time control is assumed to last yet.
    time_horizon = 20 moves, 10 to 60;
    /// Share of the increment that the soft limit spends at least.
    time_increment = 750 of1000, 300 to 1000;
    /// The hard limit in soft limits.
    time_hard_factor = 4500 of1000, 1500 to 9000;
    /// The soft limit is at most this share of the time left.
    time_soft_max = 250 of1000, 50 to 500;
    /// The hard limit is at most this share: with little time left a machine's hiccup is longer than a move.
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
