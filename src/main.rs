//! The program: reads the command line, starts the logger, does what was asked, says how it went.

use std::process::ExitCode;

use clap::Parser;
use engram::{cli, uci::DebugLog};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match cli::run(arguments, DebugLog::install()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed as well; then there is nobody to tell.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "engram: {error}");
            ExitCode::FAILURE
        }
    }
}
