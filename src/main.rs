//! The program: reads the command line, starts the logger, does what was asked, says how it went.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use directories::ProjectDirs;
use engram::{
    cli, learn,
    processor::explain_illegal_instructions,
    tt::file::limits_are_errors,
    uci::{DebugLog, Places, printable},
};

/// Called before anything else, std's own start included, which link-time optimisation compiles for the same processor
/// as everything here.
#[cfg(target_os = "linux")]
#[used]
#[allow(unsafe_code)]
// SAFETY: the linker calls what it finds in this section as functions of this kind, and this one needs nothing that is
// initialised later.
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
            // Standard error may be closed as well; then there is nobody to tell.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "engram: {}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Where files are kept if no option names a place: in the data directory, which can be written wherever
/// a GUI starts the engine. Only here is that known; the library is told.
fn places() -> Places {
    let folder = match std::env::var_os("APPDATA") {
        // What the variable says, so that it can be said otherwise; the system is asked elsewhere.
        Some(folder) if cfg!(windows) => Some(PathBuf::from(folder).join("engram")),
        _ => ProjectDirs::from("", "", "engram").map(|folders| folders.data_dir().to_owned()),
    };
    let learn_file = folder.as_ref().map(|folder| folder.join(learn::FILE_NAME));
    Places { learn_file, data_folder: folder }
}
