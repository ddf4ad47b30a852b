//! The program: reads the command line, starts the logger, does what was asked, says how it went.

use std::process::ExitCode;

use clap::Parser;
use directories::ProjectDirs;
use engram::{cli, uci::DebugLog};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    let folders = ProjectDirs::from("", "", "engram");
    let data_folder = folders.map(|folders| folders.data_dir().to_owned());
    match cli::run(arguments, DebugLog::install(), data_folder) {
        Ok(cli::Outcome::Complete) => ExitCode::SUCCESS,
        Ok(cli::Outcome::Partial) => ExitCode::from(cli::PARTIAL),
        Err(error) => {
            // Standard error may be closed as well; then there is nobody to tell.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "engram: {error}");
            ExitCode::FAILURE
        }
    }
}
