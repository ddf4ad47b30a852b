//! `engram hash`: hash files without an engine.

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::{CliError, date};
use crate::{
    eval,
    tt::file::{self, HashFileError, LAYOUT, Map, Survey},
    uci::Output,
};

/// Sizes that the option `HashFileSize` takes too.
const SIZES: std::ops::RangeInclusive<u64> = 1..=262_144;

/// The hash file commands.
#[derive(Debug, Subcommand)]
pub enum HashTask {
    /// Show the header and statistics of a file.
    ///
    /// How full it is, how many entries are exact or belong to principal variations, from how many roots an
    /// analysis can resume, and how many entries there are of each depth and age. The
    /// age is counted in generations: a new one begins when an engine opens the file, and at `ucinewgame`. Engines may be
    /// using it.
    Info {
        /// The file.
        file: PathBuf,
    },
    /// Check every entry of a file.
    ///
    /// Each entry has a checksum. An entry that fails it (torn by a power failure, or overwritten) is never used
    /// by an engine, and is replaced by the next one stored there. Exit code 1 if there are any.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Resize a file.
    ///
    /// A new file is filled with the most valuable entries (by depth, principal variation and age) and
    /// replaces the old one. A few may be lost even in a larger file. No engine may be using it.
    Resize {
        /// The file.
        file: PathBuf,
        /// The new size in MiB.
        #[arg(value_parser = clap::value_parser!(u64).range(SIZES))]
        mib: u64,
    },
    /// Copy a file, in another size if wanted.
    ///
    /// Only valid entries are copied. Engines may be using the file; entries written meanwhile may be missing. Missing
    /// folders of the copy are created.
    Copy {
        /// The file.
        file: PathBuf,
        /// The copy, which must not exist.
        to: PathBuf,
        /// Size of the copy in MiB; as the file if not given.
        #[arg(value_parser = clap::value_parser!(u64).range(SIZES))]
        mib: Option<u64>,
    },
    /// Clear a file. From then on it belongs to the built-in network, even if it was written with another evaluation.
    ///
    /// `PathHash` and `Syzygy50MoveRule`, for which it was made, stay. No engine may be using it; the button `Clear
    /// Hash` of an engine leaves the file alone.
    Clear {
        /// The file.
        file: PathBuf,
    },
}

/// Runs the task.
pub(super) fn run(task: HashTask, output: &Output) -> Result<(), CliError> {
    match task {
        HashTask::Info { file } => info(&file, output)?,
        HashTask::Check { file } => {
            let survey = Map::look(&file)?.survey();
            let Survey { places, entries, empty, damaged, .. } = survey;
            output.line(format_args!(
                "{entries} good entries, {damaged} damaged, {empty} of {places} places empty"
            ));
            if damaged > 0 {
                let path = file.display();
                return Err(CliError::Task(format!(
                    "{path} has {damaged} damaged entries, which no engine uses; `engram hash copy` leaves them out"
                )));
            }
        }
        HashTask::Resize { file, mib } => {
            let entries = file::resize(&file, mib as usize)?;
            output.line(format_args!("{}: {mib} MiB, {entries} entries", file.display()));
        }
        HashTask::Copy { file, to, mib } => {
            let entries = Map::look(&file)?.copy(&to, mib.map(|mib| mib as usize))?;
            output.line(format_args!("{}: {entries} entries", to.display()));
        }
        HashTask::Clear { file } => {
            file::clear(&file, eval::fingerprint())?;
            output.line(format_args!("{}: empty", file.display()));
        }
    }
    Ok(())
}

fn info(path: &Path, output: &Output) -> Result<(), HashFileError> {
    let map = Map::look(path)?;
    let header = map.header();
    let survey = map.survey();
    let per_cent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let ours = if header.evaluation == eval::fingerprint() { "this engine's" } else { "another engine's" };
    let (bytes, ways) = file::DIMENSIONS;
    output.line(format_args!("file         {}", path.display()));
    output.line(format_args!("layout       {LAYOUT}, {bytes} bytes an entry, {ways} in a cluster"));
    output.line(format_args!("size         {} MiB, {} entries", header.file_size() >> 20, survey.places));
    output.line(format_args!("evaluation   {:04x} ({ours})", header.evaluation));
    output.line(format_args!("path hash    {}", header.path_mode));
    let counts = if header.fifty_rule { "counts" } else { "does not count" };
    output.line(format_args!("tablebases   the fifty-move rule {counts}"));
    output.line(format_args!("id           {:016x}, made {} (UTC)", header.file_id, date(header.created)));
    output.line(format_args!("generation   {}", map.generation()));
    let Survey { places, entries, iterations, focus, damaged, .. } = survey;
    output.line(format_args!("full         {:.1} %, {entries} entries", per_cent(entries, places)));
    output.line(format_args!("exact or PV  {focus} ({:.1} %)", per_cent(focus, entries)));
    output.line(format_args!("roots        {iterations} from which an analysis resumes"));
    output.line(format_args!("damaged      {damaged}"));
    output.line("depth        entries");
    for (depth, count) in &survey.depths {
        output.line(format_args!("{depth:>12} {count:>8}"));
    }
    output.line("age          entries");
    for (age, count) in &survey.ages {
        output.line(format_args!("{age:>12} {count:>8}"));
    }
    Ok(())
}
