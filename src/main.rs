//! The program: reads the command line, starts the logger, runs the subcommand or the UCI session, and returns the exit
//! code.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use directories::ProjectDirs;
use engram::{
    cli, learn,
    processor::explain_illegal_instructions,
    tt::file::limits_are_errors,
    uci::{DebugLog, Places, printable},
};

/// Called before anything else, even std's own start, which link-time optimisation compiles for the same processor as
/// the rest of the program.
#[cfg(target_os = "linux")]
#[used]
#[allow(unsafe_code)]
// SAFETY: libc calls the functions of this section with three arguments or with none, and on every ABI of Linux a C
// function may ignore those passed. This one needs nothing that is initialised later.
#[unsafe(link_section = ".init_array")]
static BEFORE_ALL: extern "C" fn() = explain_illegal_instructions;

fn main() -> ExitCode {
    #[cfg(not(target_os = "linux"))]
    explain_illegal_instructions();
    let arguments = cli::CommandLine::parse();
    limits_are_errors();
    match cli::run(arguments, DebugLog::install(), places()) {
        Ok(cli::Completion::Complete) => ExitCode::SUCCESS,
        Ok(cli::Completion::Partial) => ExitCode::from(cli::PARTIAL),
        Err(error) => {
            // If standard error is closed as well, the error is lost.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "engram: {}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// The default places of files: the user's data directory, which is writable wherever a GUI starts the engine. Only the
/// program asks the system for it, not the library.
fn places() -> Places {
    let folder = match std::env::var_os("APPDATA") {
        // On Windows the environment variable, so that it can be overridden; elsewhere the directory of the system.
        Some(folder) if cfg!(windows) => Some(PathBuf::from(folder).join("engram")),
        _ => ProjectDirs::from("", "", "engram").map(|folders| folders.data_dir().to_owned()),
    };
    let learn_file = folder.as_ref().map(|folder| folder.join(learn::FILE_NAME));
    Places { learn_file, data_folder: folder }
}
