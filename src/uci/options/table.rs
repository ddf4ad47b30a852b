//! The table of options.

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Kind, OptionError, Row};
use crate::{
    book::Choice,
    engine::{ELO_RANGE, Engine},
    learn::policy::Mode,
    position::PathHash,
    search::NodeRate,
    syzygy::MAX_MEN,
    types::Depth,
};

pub(super) static OPTIONS: &[Row] = &[
    Row {
        name: "Hash",
        kind: Kind::Spin {
            default: Engine::DEFAULT_HASH,
            min: 1,
            max: 262_144,
            set: |target, mib| {
                target.engine.set_hash(mib).map_err(|error| OptionError::Failed(error.to_string()))
            },
        },
    },
    Row { name: "Clear Hash", kind: Kind::Button { press: |target| target.engine.clear_hash_and_file() } },
    // Empty: in RAM alone.
    Row {
        name: "HashFile",
        kind: Kind::Text {
            default: "",
            set: |target, path| {
                target.engine.set_hash_file((!path.is_empty()).then(|| PathBuf::from(path)));
                Ok(())
            },
        },
    },
    Row {
        name: "HashFileSize",
        kind: Kind::Spin {
            default: Engine::DEFAULT_HASH_FILE_SIZE,
            min: 1,
            max: 262_144,
            set: |target, mib| {
                target.engine.set_hash_file_size(mib);
                Ok(())
            },
        },
    },
    Row {
        name: "NeverClearHash",
        kind: Kind::Check { default: false, set: |target, on| target.engine.set_never_clear_hash(on) },
    },
    Row {
        name: "Threads",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 1024,
            set: |target, threads| {
                let started = target.engine.set_threads(threads);
                let fewer =
                    || OptionError::Failed(format!("the system gives no more threads; {started} search"));
                (started == threads).then_some(()).ok_or_else(fewer)
            },
        },
    },
    Row {
        name: "MultiPV",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
            set: |target, lines| {
                target.engine.set_multi_pv(lines);
                Ok(())
            },
        },
    },
    // The GUI ponders with `go ponder`; the option only tells it that it may.
    Row { name: "Ponder", kind: Kind::Check { default: false, set: |_, _| {} } },
    Row {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: Engine::DEFAULT_MOVE_OVERHEAD.as_millis() as usize,
            min: 0,
            max: 5000,
            set: |target, ms| {
                target.engine.set_move_overhead(Duration::from_millis(ms as u64));
                Ok(())
            },
        },
    },
    Row {
        name: "nodestime",
        kind: Kind::Spin {
            default: 0,
            min: 0,
            max: 10_000,
            set: |target, rate| {
                target.engine.set_node_rate(NonZeroU32::new(rate as u32).map(NodeRate));
                Ok(())
            },
        },
    },
    Row {
        name: "PawnHash",
        kind: Kind::Spin {
            default: Engine::DEFAULT_PAWN_HASH,
            min: 1,
            max: 1024,
            set: |target, mib| {
                target.engine.set_pawn_hash(mib).map_err(|error| OptionError::Failed(error.to_string()))
            },
        },
    },
    Row {
        name: "PathHash",
        kind: Kind::Combo {
            default: || PathHash::default().name(),
            values: || PathHash::NAMED.iter().map(|(name, _)| *name).collect(),
            set: |target, value| {
                if let Some(mode) = PathHash::from_name(value) {
                    target.engine.set_path_hash(mode);
                }
            },
        },
    },
    Row {
        name: "Learning",
        kind: Kind::Combo {
            default: || "drop",
            values: || vec!["off", "drop", "all"],
            set: |target, value| {
                target.engine.set_learning(match value {
                    "all" => Mode::All,
                    "drop" => Mode::Drop,
                    _ => Mode::Off,
                });
            },
        },
    },
    // Empty: in the user's data directory.
    Row {
        name: "LearnFile",
        kind: Kind::Text {
            default: "",
            set: |target, path| {
                target.engine.set_learn_file((!path.is_empty()).then(|| PathBuf::from(path)));
                Ok(())
            },
        },
    },
    Row {
        name: "LearnDrop",
        kind: Kind::Spin {
            default: Engine::DEFAULT_LEARN_DROP as usize,
            min: 1,
            max: 1000,
            set: |target, centipawns| {
                target.engine.set_learn_drop(centipawns as i32);
                Ok(())
            },
        },
    },
    Row {
        name: "LearnMinDepth",
        kind: Kind::Spin {
            default: Engine::DEFAULT_LEARN_MIN_DEPTH.get() as usize,
            min: 1,
            max: 100,
            set: |target, plies| {
                target.engine.set_learn_min_depth(Depth(plies as i32));
                Ok(())
            },
        },
    },
    Row {
        name: "LearnFuzz",
        kind: Kind::Spin {
            default: Engine::DEFAULT_LEARN_FUZZ as usize,
            min: 0,
            max: 100,
            set: |target, centipawns| {
                target.engine.set_learn_fuzz(centipawns as i32);
                Ok(())
            },
        },
    },
    Row {
        name: "LearnReadOnly",
        kind: Kind::Check { default: false, set: |target, on| target.engine.set_learn_read_only(on) },
    },
    Row {
        name: "OwnBook",
        kind: Kind::Check { default: false, set: |target, on| target.engine.set_own_book(on) },
    },
    Row {
        name: "BookFile",
        kind: Kind::Text {
            default: "",
            set: |target, path| {
                let file = (!path.is_empty() && path != "<empty>").then(|| Path::new(path));
                let kept = |error| OptionError::Failed(format!("{error}; the book before stays"));
                target.engine.set_book_file(file).map_err(kept)
            },
        },
    },
    Row {
        name: "BookDepth",
        kind: Kind::Spin {
            default: 20,
            min: 1,
            max: 200,
            set: |target, plies| {
                target.engine.set_book_depth(plies);
                Ok(())
            },
        },
    },
    Row {
        name: "BookBestMove",
        kind: Kind::Check {
            default: false,
            set: |target, on| {
                target.engine.set_book_choice(if on { Choice::Best } else { Choice::Weighted });
            },
        },
    },
    Row {
        name: "BookLearning",
        kind: Kind::Check { default: true, set: |target, on| target.engine.set_book_learning(on) },
    },
    Row {
        name: "SyzygyPath",
        kind: Kind::Text {
            default: "",
            set: |target, list| {
                target.engine.set_syzygy_path(list);
                Ok(())
            },
        },
    },
    Row {
        name: "SyzygyProbeDepth",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 100,
            set: |target, plies| {
                target.engine.probe_rules_mut().min_depth = plies as i32;
                Ok(())
            },
        },
    },
    Row {
        name: "SyzygyProbeLimit",
        kind: Kind::Spin {
            default: MAX_MEN,
            min: 0,
            max: MAX_MEN,
            set: |target, men| {
                target.engine.probe_rules_mut().max_men = men;
                Ok(())
            },
        },
    },
    Row {
        name: "Syzygy50MoveRule",
        kind: Kind::Check { default: true, set: |target, on| target.engine.probe_rules_mut().fifty = on },
    },
    Row {
        name: "Contempt",
        kind: Kind::Signed {
            default: 0,
            min: -100,
            max: 100,
            set: |target, centipawns| target.engine.set_contempt(centipawns),
        },
    },
    Row {
        name: "UCI_LimitStrength",
        kind: Kind::Check { default: false, set: |target, on| target.engine.set_limit_strength(on) },
    },
    Row {
        name: "UCI_Elo",
        kind: Kind::Spin {
            default: ELO_RANGE.0 as usize,
            min: ELO_RANGE.0 as usize,
            max: ELO_RANGE.1 as usize,
            set: |target, elo| {
                target.engine.set_elo(elo as u32);
                Ok(())
            },
        },
    },
    Row {
        name: "UCI_AnalyseMode",
        kind: Kind::Check { default: false, set: |target, on| target.engine.set_analyse_mode(on) },
    },
    Row {
        name: "UCI_Chess960",
        kind: Kind::Check { default: false, set: |target, on| target.settings.chess960 = on },
    },
    Row {
        name: "UCI_ShowWDL",
        kind: Kind::Check { default: false, set: |target, on| target.settings.show_wdl = on },
    },
    Row {
        name: "Debug Log File",
        kind: Kind::Text {
            default: "",
            set: |target, path| {
                let file = (!path.is_empty()).then(|| Path::new(path));
                target.debug_log.set_path(file).map_err(|error| {
                    OptionError::Failed(format!(
                        "the debug log `{path}` cannot be written ({error}); name a file in a folder that exists"
                    ))
                })
            },
        },
    },
];
