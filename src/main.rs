//! The program: reads the command line, starts the logger, does what was asked, says how it went.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use directories::ProjectDirs;
use engram::{cli, learn, uci::DebugLog};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match cli::run(arguments, DebugLog::install(), learn_file()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed as well; then there is nobody to tell.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "engram: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The learning file of a user who names none: in the data directory, which can be written wherever a GUI
/// starts the engine. Only here is that known; the library is told.
fn learn_file() -> Option<PathBuf> {
    let folder = match std::env::var_os("APPDATA") {
        // What the variable says, so that it can be said otherwise; the system is asked elsewhere.
        Some(folder) if cfg!(windows) => PathBuf::from(folder).join("engram"),
        _ => ProjectDirs::from("", "", "engram")?.data_dir().to_owned(),
    };
    Some(folder.join(learn::FILE_NAME))
}
