//! The files of the outputs, before and when they are begun.

use std::{
    io::BufWriter,
    path::{Path, PathBuf},
};

use super::{arguments::Analyse, input::AnalysisInput, output::OutputFile, sqlite::Database};
use crate::{
    cli::{CliError, inputs, journal::EarlierRun, refuse_input, refused},
    files::{self, Claim},
    tree::{Access, Tree, TreeError},
    uci::Output,
};

/// The outputs that the arguments name, opened and locked but not changed yet: those that were not there before are
/// removed again if the run is refused.
pub struct Claims(Vec<Destination>);

struct Destination {
    option: &'static str,
    path: PathBuf,
    /// The file; the standard output if there is none.
    file: Option<Claim>,
}

impl Claims {
    /// Opens the outputs, and refuses those that would overwrite the input, one another, the journal, or a file with
    /// content, unless the journal says that it is of an earlier run of this work.
    ///
    /// # Errors
    /// Which, and what to do.
    pub fn open(
        arguments: &Analyse,
        input: &AnalysisInput,
        journal: Option<&EarlierRun>,
    ) -> Result<Claims, CliError> {
        let mut claims = Claims(Vec::new());
        for (option, path) in arguments.outputs() {
            claims.add(option, path, journal)?;
        }
        let files: &[PathBuf] = if let AnalysisInput::Files(files, _) = input { files } else { &[] };
        if let Some(learn) = arguments.learn.as_deref().filter(|_| arguments.write) {
            refuse_input(learn, files)?;
        }
        let inputs = inputs(files.iter().chain(&arguments.learn).chain(&arguments.eco));
        let refused = |path: &Path| {
            let path = path.to_owned();
            move |error| CliError::Refused(path, error)
        };
        if let Ok(standard) = files::standard_output() {
            inputs.exclude(standard.identity).map_err(refused(Path::new("the standard output")))?;
        }
        let is_resumed = journal.is_some_and(EarlierRun::is_there);
        for Destination { path, file, .. } in &claims.0 {
            let Some(file) = file else { continue };
            file.check(&inputs, arguments.force || is_resumed).map_err(refused(path))?;
        }
        Ok(claims)
    }

    fn add(
        &mut self,
        option: &'static str,
        path: &Path,
        journal: Option<&EarlierRun>,
    ) -> Result<(), CliError> {
        let task = |text: String| Err(CliError::Task(text));
        let is_standard = path == Path::new("-");
        if option == "--sqlite" && is_standard {
            return task("a database cannot go to the standard output; name a file".to_owned());
        }
        if option == "--sqlite" {
            match Tree::open(path, Access::Read) {
                Ok(_) => {
                    let path = path.display();
                    return task(format!("{path} has become a tree; name another file, or remove it"));
                }
                // It may be one.
                Err(error @ (TreeError::Version(..) | TreeError::Full(_) | TreeError::Database(..))) => {
                    return task(error.to_string());
                }
                Err(_) => {}
            }
        }
        let there = files::info_at(path).ok().map(|info| info.identity);
        let is_same = |earlier: &&Destination| match &earlier.file {
            Some(file) => there == Some(file.identity()),
            None => is_standard,
        };
        if let Some(Destination { option: other, .. }) = self.0.iter().find(is_same) {
            let path = path.display();
            return task(format!("{other} and {option} both name {path}; give each its own file"));
        }
        if there.is_some() && there == journal.map(EarlierRun::identity) {
            return task(format!(
                "{option} names the file from which this run resumes, {}; name another file",
                path.display()
            ));
        }
        let options = if option == "--sqlite" { files::shared_with_sqlite() } else { files::unshared() };
        let file = (!is_standard).then(|| Claim::open(path, &options));
        let file = file.transpose().map_err(|error| CliError::Refused(path.to_owned(), error))?;
        self.0.push(Destination { option, path: path.to_owned(), file });
        Ok(())
    }

    /// Does one of them go to the standard output?
    pub(super) fn take_standard_output(&self) -> bool {
        self.0.iter().any(|destination| destination.file.is_none())
    }

    /// Takes an output, if there is one.
    fn take(&mut self, option: &str) -> Option<Destination> {
        let index = self.0.iter().position(|destination| destination.option == option)?;
        Some(self.0.swap_remove(index))
    }

    /// Begins a text, if there is one.
    pub(super) fn text(&mut self, option: &str, output: &Output) -> Result<Option<OutputFile>, CliError> {
        let begin = |Destination { path, file, .. }| match file.map(Claim::begin).transpose() {
            Ok(Some(file)) => Ok(OutputFile::File(path, BufWriter::new(file))),
            Ok(None) => Ok(OutputFile::Standard(output.clone())),
            Err(error) => Err(refused(&path, "written")(error)),
        };
        self.take(option).map(begin).transpose()
    }

    /// Begins a database, if there is one.
    pub(super) fn database(&mut self, option: &str) -> Result<Option<Database>, CliError> {
        let Some(Destination { path, file: Some(file), .. }) = self.take(option) else { return Ok(None) };
        Database::begin(path, file).map(Some)
    }
}
