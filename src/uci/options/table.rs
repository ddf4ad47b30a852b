//! The options, one row each: name, default, range, and setter.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use super::row::{UciOption, about, button, check, combo, spin, text};
#[cfg(feature = "tune")]
use crate::search::PARAMETERS;
use crate::{
    engine::{ELO_RANGE, Engine, EngineSettings, EvaluationKind, FULL_SKILL, LearnOptions},
    learn::policy::LearningMode,
    position::PathHash,
    search::NodeRate,
    syzygy::MAX_PIECES,
    types::Depth,
    uci::translate::opponent_name,
};

const LEARNING: [(&str, LearningMode); 3] =
    [("off", LearningMode::Off), ("drop", LearningMode::Drop), ("all", LearningMode::All)];
const EVALUATION: [(&str, EvaluationKind); 2] =
    [("classical", EvaluationKind::Classical), ("network", EvaluationKind::Network)];
const OVERHEAD: i64 = EngineSettings::DEFAULT_MOVE_OVERHEAD.as_millis() as i64;
const MIN_DEPTH: i64 = LearnOptions::DEFAULT_MIN_DEPTH.get() as i64;
const DROP: i64 = LearnOptions::DEFAULT_DROP as i64;
const FUZZ: i64 = LearnOptions::DEFAULT_FUZZ as i64;
const ELO: (i64, i64) = (ELO_RANGE.0 as i64, ELO_RANGE.1 as i64);
const SKILL: i64 = FULL_SKILL as i64;
const MAX_PROBE_PIECES: i64 = MAX_PIECES as i64;
const HASH: i64 = Engine::DEFAULT_HASH as i64;
const HASH_FILE_SIZE: i64 = Engine::DEFAULT_HASH_FILE_SIZE as i64;
const PAWN_HASH: i64 = Engine::DEFAULT_PAWN_HASH as i64;

const ABOUT: &str = concat!(
    "Engram ",
    env!("CARGO_PKG_VERSION"),
    " by the Engram developers, a chess engine that remembers, GPL-3.0-or-later"
);

/// All options, in the order in which `uci` lists them.
#[rustfmt::skip]
pub(super) fn options() -> Vec<UciOption> {
    let options = vec![
        // Before `Hash`: as many threads as search clear the table.
        spin("Threads", 1, 1..=1024, |to, threads: usize| match to.engine.set_threads(threads) {
            started if started == threads => Ok(()),
            started => Err(format!("the system gives no more threads; {started} search")),
        }),
        spin("Hash", HASH, 1..=262_144, |to, mib| to.engine.set_hash(mib)),
        button("Clear Hash", |to| to.engine.clear_hash()),
        text("HashFile", |to, path| to.engine.set_hash_file(file(path))),
        spin("HashFileSize", HASH_FILE_SIZE, 1..=262_144, |to, mib| to.engine.set_hash_file_size(mib)),
        check("NeverClearHash", false, |to, on| to.engine.settings.never_clear_hash = on),
        spin("MultiPV", 1, 1..=256, |to, lines| to.engine.settings.multi_pv = lines),
        // The GUI ponders with `go ponder`; the option only announces the ability.
        check("Ponder", false, |_, _| ()),
        spin("Move Overhead", OVERHEAD, 0..=5000, |to, ms| to.engine.settings.move_overhead = Duration::from_millis(ms)),
        spin("nodestime", 0, 0..=10_000, |to, rate| to.engine.set_node_rate(NonZeroU32::new(rate).map(NodeRate))),
        spin("PawnHash", PAWN_HASH, 1..=1024, |to, mib| to.engine.set_pawn_hash(mib)),
        combo("Evaluation", EvaluationKind::default(), EVALUATION, |to, kind| to.engine.set_evaluation(kind)),
        text("EvalFile", |to, path| to.engine.set_eval_file(file(path).as_deref())
            .map_err(|error| format!("{error}; EvalFile stays as it was"))),
        combo("PathHash", PathHash::default(), PathHash::NAMED, |to, mode| to.engine.set_path_hash(mode)),
        combo("Learning", LearningMode::Drop, LEARNING, |to, mode| to.engine.set_learning(|learning| learning.rules.mode = mode)),
        text("LearnFile", |to, path| to.engine.set_learning(|learning| learning.file = file(path))),
        spin("LearnDrop", DROP, 1..=1000, |to, centipawns| to.engine.set_learning(|learning| learning.rules.drop = centipawns)),
        spin("LearnMinDepth", MIN_DEPTH, 1..=100, |to, plies| to.engine.set_learning(|learning| learning.rules.min_depth = Depth(plies))),
        spin("LearnFuzz", FUZZ, 0..=100, |to, centipawns| to.engine.set_learning(|learning| learning.fuzz = centipawns)),
        #[cfg(feature = "fleet")]
        text("LearnShare", |to, address| to.engine.set_learn_share(address)),
        check("LearnStudy", false, |to, on| to.engine.set_learning(|learning| learning.study = on)),
        check("LearnReadOnly", false, |to, on| to.engine.set_learning(|learning| learning.read_only = on)),
        text("TreeFile", |to, path| to.engine.set_tree_file(file(path).as_deref())
            .map_err(|error| format!("{error}; TreeFile stays as it was"))),
        check("OwnBook", false, |to, on| to.engine.book.enabled = on),
        text("BookFile", |to, path| to.engine.book.set_file(file(path).as_deref())
            .map_err(|error| format!("{error}; BookFile stays as it was"))),
        spin("BookDepth", 20, 1..=200, |to, plies| to.engine.book.depth = plies),
        check("BookBestMove", false, |to, on| to.engine.book.best_move = on),
        check("BookLearning", true, |to, on| to.engine.book.learning = on),
        text("SyzygyPath", |to, folders| to.engine.set_syzygy_path(folders)),
        spin("SyzygyProbeDepth", 1, 1..=100, |to, plies| to.engine.settings.probe_rules.min_depth = Depth(plies)),
        spin("SyzygyProbeLimit", MAX_PROBE_PIECES, 0..=MAX_PROBE_PIECES, |to, pieces| to.engine.settings.probe_rules.max_pieces = pieces),
        check("Syzygy50MoveRule", true, |to, on| to.engine.set_syzygy_fifty(on)),
        spin("Contempt", 0, -100..=100, |to, centipawns| to.engine.set_strength(|strength| strength.contempt = centipawns)),
        check("UCI_LimitStrength", false, |to, on| to.engine.set_strength(|strength| strength.limited = on)),
        spin("UCI_Elo", ELO.0, ELO.0..=ELO.1, |to, elo| to.engine.set_strength(|strength| strength.elo = elo)),
        spin("Skill Level", SKILL, 0..=SKILL, |to, level| to.engine.set_strength(|strength| strength.skill = level)),
        check("UCI_AnalyseMode", false, |to, on| to.engine.set_strength(|strength| strength.analysis = on)),
        check("UCI_Chess960", false, |to, on| to.settings.chess960 = on),
        check("UCI_ShowWDL", false, |to, on| to.settings.show_wdl = on),
        text("UCI_Opponent", |to, opponent| to.engine.set_opponent(opponent_name(opponent))),
        about("UCI_EngineAbout", ABOUT),
        text("Debug Log File", |to, path| to.debug_log.set_path(file(path).as_deref()).map_err(|error| {
            format!("the debug log `{path}` cannot be written: {error}; name another file")
        })),
    ];
    #[cfg(feature = "tune")]
    let options = options.into_iter().chain(parameters()).collect();
    options
}

/// The parameters of the search.
#[cfg(feature = "tune")]
fn parameters() -> impl Iterator<Item = UciOption> {
    PARAMETERS.iter().map(|number| {
        let range = number.low.into()..=number.high.into();
        spin(number.name, number.default.into(), range, |_, value| number.set(value))
    })
}

/// The path in a text; none if it is empty.
fn file(path: &str) -> Option<PathBuf> {
    (!path.is_empty()).then(|| Path::new(path).to_owned())
}
