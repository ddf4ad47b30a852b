use std::{
    io::{self, BufReader, IsTerminal},
    process,
    sync::Arc,
    thread,
    time::Duration,
};

use super::{bench, eval, perft};
use crate::{
    eval::net::Network,
    position::{PathHash, Position},
    processor::on_interrupt,
    uci::{DebugLog, Interrupt, Output, Places, Session, Tools},
};

/// A session that has not ended so long after a signal hangs, for example because nobody reads its output.
const HANGS_AFTER: Duration = Duration::from_secs(10);

/// Runs a UCI session on the standard streams.
pub(super) fn run(output: &Output, debug_log: DebugLog, places: Places) {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        output.line(format_args!(
            "Engram {version}, a UCI chess engine: type `help` for the commands, `go` to search, `quit` to leave."
        ));
    }
    let session = Session::new(Subcommands, output.clone(), debug_log, places);
    let quit = session.quit_handle();
    // Some programs end engines by signals: the game must still be learned from.
    let handled = on_interrupt(move || {
        quit();
        thread::sleep(HANGS_AFTER);
        process::exit(1);
    });
    if let Err(error) = handled {
        log::warn!(
            "the handler for Ctrl-C cannot be installed ({error}): an interrupt ends the engine before the game is learned from"
        );
    }
    session.run(BufReader::new(io::stdin()));
}

/// The subcommands as conveniences of a UCI session.
struct Subcommands;

impl Tools for Subcommands {
    fn bench(&self, depth: Option<u64>, path_hash: PathHash, output: &Output, interrupt: &Interrupt) {
        bench::print(depth.unwrap_or(bench::DEFAULT_DEPTH), path_hash, output, interrupt);
    }

    fn eval(&self, position: &Position, network: Arc<Network>, output: &Output) {
        output.line(eval::explanation(position, network));
    }

    fn perft(&self, position: &Position, depth: u64, output: &Output, interrupt: &Interrupt) {
        perft::print(position, depth, true, output, interrupt);
    }
}
