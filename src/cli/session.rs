use std::{
    io::{self, BufReader, IsTerminal},
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{bench, eval, perft};
use crate::{
    position::{PathHash, Position},
    uci::{DebugLog, Interrupt, Output, Places, Session, Tools},
};

/// Speaks UCI on the standard streams to the end.
pub(super) fn run(output: &Output, debug_log: DebugLog, places: Places) {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        output.line(format_args!(
            "Engram {version}, a UCI chess engine: type `help` for the commands, `go` to search, `quit` to leave."
        ));
    }
    let session = Session::new(Subcommands, output.clone(), debug_log, places);
    let (leave, asked) = (session.leaver(), AtomicBool::new(false));
    // Programs end engines by signals; a game that is ended so is a game all the same.
    let handled = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            // Asked again: something hangs.
            process::exit(1);
        }
        leave();
    });
    if let Err(error) = handled {
        log::warn!("signals end the process at once: {error}");
    }
    session.run(BufReader::new(io::stdin()));
}

/// The subcommands as conveniences of a UCI session.
struct Subcommands;

impl Tools for Subcommands {
    fn bench(&self, depth: Option<u64>, path_hash: PathHash, output: &Output, interrupt: &Interrupt) {
        bench::print(depth.unwrap_or(bench::DEFAULT_DEPTH), path_hash, output, interrupt);
    }

    fn eval(&self, position: &Position, output: &Output) {
        output.line(eval::explanation(position));
    }

    fn perft(&self, position: &Position, depth: u64, output: &Output, interrupt: &Interrupt) {
        perft::print(position, depth, true, output, interrupt);
    }
}
