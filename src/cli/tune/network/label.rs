//! `engram tune label`: samples from labelled positions, or samples with another teacher's labels.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::PathBuf,
};

use clap::Args;
use shakmaty::Color;

use super::{
    super::{
        common::{file_error, no_data},
        data::{self, Labelled},
    },
    record::{SIZE, Sample},
    teacher::Teachers,
};
use crate::{
    cli::CliError,
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune label`.
#[derive(Debug, Args)]
pub struct LabelArguments {
    /// Samples, or positions that have a score; those with more than 32 pieces are left out.
    input: PathBuf,
    /// The file of samples to write; it must not be there yet.
    out: PathBuf,
    /// A teacher, as for `sample`; without one the scores that the positions have become their labels, and
    /// positions that are not quiet are left out.
    #[arg(long)]
    teacher: Vec<String>,
    /// Take the positions that are held out of training instead of the others; not of a file of samples.
    #[arg(long)]
    held_out: bool,
}

/// Positions that are labelled together.
const CHUNK: usize = 1 << 14;

/// Reads all positions, labels them and writes them.
pub fn print(arguments: &LabelArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    let input = File::open(&arguments.input).map_err(file_error(&arguments.input))?;
    let has_samples = is_samples(&input).map_err(file_error(&arguments.input))?;
    if has_samples && arguments.held_out {
        let reason = "a file of samples has none; take those of the positions that it was made from";
        return Err(CliError::Task(format!("--held-out: {reason}")));
    }
    let teachers = Teachers::start(&arguments.teacher)?;
    // An existing file, which may be the input, is not overwritten.
    let file = File::create_new(&arguments.out).map_err(file_error(&arguments.out))?;
    let mut labeller =
        Labeller { arguments, teachers, out: BufWriter::new(file), samples: Vec::new(), written: 0 };
    let labelled = if has_samples { labeller.samples(interrupt) } else { labeller.positions(interrupt) };
    let finished = labelled.and_then(|()| labeller.finish());
    let written = labeller.written;
    if written == 0 {
        // Empty, it would only be in the way of the next command.
        let _ = fs::remove_file(&arguments.out);
    }
    finished?;
    if written == 0 && !interrupt.is_requested() {
        return Err(no_data());
    }
    output.line(format_args!("{written} samples"));
    Ok(())
}

/// Does a file hold samples? The first one is read.
pub(super) fn is_samples(mut file: &File) -> io::Result<bool> {
    let mut bytes = [0; SIZE];
    let whole = file.read(&mut bytes)? == SIZE;
    // No text has zero bytes.
    Ok(whole && bytes[SIZE - 3..] == [0; 3] && Sample::from_bytes(&bytes).is_some())
}

/// A labelled position as a sample; `None` where it has no score, or too many pieces.
fn of_label(label: &Labelled) -> Option<Sample> {
    let (score, result) = match label.position.turn() {
        Color::White => (label.score?, label.result),
        Color::Black => (-label.score?, 1.0 - label.result),
    };
    Some(Sample { score: score as i16, result: (2.0 * result) as u8, ..Sample::new(&label.position)? })
}

/// Collects samples and writes them in chunks.
struct Labeller<'a> {
    arguments: &'a LabelArguments,
    teachers: Teachers,
    out: BufWriter<File>,
    samples: Vec<Sample>,
    written: u64,
}

impl Labeller<'_> {
    /// Takes the usable positions of a file.
    fn positions(&mut self, interrupt: &Interrupt) -> Result<(), CliError> {
        let arguments = self.arguments;
        for (number, label) in data::read(&arguments.input)?.enumerate() {
            if interrupt.is_requested() {
                break;
            }
            let usable = label?.filter(|label| !label.noisy || !arguments.teacher.is_empty());
            let usable = usable.filter(|_| data::held_out(number) == arguments.held_out);
            if let Some(sample) = usable.as_ref().and_then(of_label) {
                self.push(sample)?;
            }
        }
        Ok(())
    }

    /// Takes over all samples of a file.
    fn samples(&mut self, interrupt: &Interrupt) -> Result<(), CliError> {
        let failed = file_error(&self.arguments.input);
        let mut file = File::open(&self.arguments.input).map_err(&failed)?;
        let mut bytes = Vec::new();
        while !interrupt.is_requested() {
            bytes.clear();
            if Read::by_ref(&mut file).take((CHUNK * SIZE) as u64).read_to_end(&mut bytes).map_err(&failed)?
                == 0
            {
                break;
            }
            for sample in bytes.as_chunks::<SIZE>().0.iter().filter_map(Sample::from_bytes) {
                self.push(sample)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, sample: Sample) -> Result<(), CliError> {
        self.samples.push(sample);
        if self.samples.len() < CHUNK { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), CliError> {
        self.teachers.label(&mut self.samples)?;
        let failed = file_error(&self.arguments.out);
        for sample in &self.samples {
            self.out.write_all(&sample.to_bytes()).map_err(&failed)?;
        }
        self.written += self.samples.len() as u64;
        self.samples.clear();
        Ok(())
    }

    /// Writes what is left.
    fn finish(&mut self) -> Result<(), CliError> {
        self.write()?;
        self.out.flush().map_err(file_error(&self.arguments.out))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct LabelCommand {
        #[command(flatten)]
        arguments: LabelArguments,
    }

    fn run(words: &[&str]) -> Result<(), CliError> {
        let command = LabelCommand::try_parse_from([&["label"], words].concat()).expect("arguments");
        print(&command.arguments, &Output::new(io::sink()), &Interrupt::default())
    }

    fn label(words: &[&str]) -> Vec<Sample> {
        run(words).expect("samples");
        let bytes = fs::read(words[1]).expect("a file");
        bytes.as_chunks::<SIZE>().0.iter().filter_map(Sample::from_bytes).collect()
    }

    #[test]
    fn scores_become_labels_and_a_teacher_replaces_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let lines = "8/8/4k3/8/8/3K4/3R4/8 b - - 0 1 | 500 | 1.0\n\
            8/8/4k3/8/8/3K4/3R4/8 w - - 0 1 | 510 | 1.0 | d2d8\n\
            8/8/4k3/3r4/8/3K4/3R4/8 w - - 0 1 | 510 | 1.0 | d2d5\n\
            k6r/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/K6R w - - 0 1 | 0 | 0.5\n";
        fs::write(path("positions"), lines).expect("a file");
        let own = label(&[&path("positions"), &path("own")]);
        let found: Vec<_> = own.iter().map(|sample| (sample.score, sample.result)).collect();
        assert_eq!(found, [(-500, 0), (510, 2)], "for the mover, without the capture and what is too large");
        fs::write(path("teacher.sh"), "while read -r line; do [ -z \"$line\" ] || echo 7; done")
            .expect("a script");
        let teacher = format!("--teacher=bash {}", path("teacher.sh"));
        let taught = label(&[&path("positions"), &path("taught"), &teacher]);
        assert_eq!(taught.iter().map(|sample| sample.score).collect::<Vec<_>>(), [7; 3]);
        let again = label(&[&path("own"), &path("again"), &teacher]);
        fs::write(path("other.sh"), "while read -r line; do [ -z \"$line\" ] || echo -21; done")
            .expect("a script");
        let other = format!("--teacher=bash {}", path("other.sh"));
        let mean = label(&[&path("own"), &path("mean"), &teacher, &other]);
        assert_eq!(mean.iter().map(|sample| sample.score).collect::<Vec<_>>(), [-7; 2]);
        assert_eq!(again, own.iter().map(|sample| Sample { score: 7, ..*sample }).collect::<Vec<_>>());

        let line = lines.lines().next().expect("a line");
        fs::write(path("many"), format!("{line}\n").repeat(30 * data::BLOCK)).expect("a file");
        let (trained, held_out) =
            (label(&[&path("many"), &path("most")]), label(&[&path("many"), &path("rest"), "--held-out"]));
        assert!(!held_out.is_empty() && held_out.len().is_multiple_of(data::BLOCK));
        assert_eq!(trained.len() + held_out.len(), 30 * data::BLOCK);
    }

    /// A teacher that answers each position with `answer`, and the empty line too if `also_empty`; then all at once: the
    /// shell's own `printf` writes line by line.
    fn teacher(path: &str, answer: &str, also_empty: bool) -> String {
        let (print, last) = if also_empty { ("env printf", answer) } else { ("printf", "") };
        let script = format!(
            "while read -r line; do
                if [ -n \"$line\" ]; then said+='{answer}\\n'; else {print} \"${{said}}{last}\"; said=; fi
            done"
        );
        fs::write(path, script).expect("a script");
        format!("--teacher=bash {path}")
    }

    #[test]
    fn what_cannot_be_labelled_is_an_error_and_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("games"), "[Event \"Casual game\"]\n\n1. e4 e5 *\n").expect("a file");
        let line = "8/8/4k3/8/8/3K4/3R4/8 b - - 0 1 | 500 | 1.0\n";
        fs::write(path("positions"), line).expect("a file");
        label(&[&path("positions"), &path("samples")]);
        let failed = |input: &str, word: &str| {
            let error = run(&[&path(input), &path("out"), word]).expect_err(word).to_string();
            assert!(!fs::exists(path("out")).expect("a folder"), "{error}");
            error
        };
        assert!(failed("games", "--held-out").contains("no positions"));
        assert!(failed("samples", "--held-out").contains("a file of samples has none"));
        assert!(failed("samples", "--teacher=/no/such/teacher").contains("/no/such/teacher"));
        let twice = teacher(&path("twice.sh"), "7", true);
        assert!(failed("samples", &twice).contains("it answered more than it was asked"));
        let garrulous = teacher(&path("long.sh"), &"x\\n".repeat(50_000), false);
        assert!(failed("samples", &garrulous).contains("not a number"));
        let large = label(&[&path("samples"), &path("large"), &teacher(&path("large.sh"), "40000", false)]);
        assert_eq!(large[0].score, 3000, "a larger score says no more");
    }
}
