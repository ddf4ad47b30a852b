//! Teachers: programs that read one FEN a line and answer one number a line, the centipawns of the side to move, at
//! the latest when they read an empty line. What several of them say on average is easier to learn than what one says,
//! and nearer to the truth, because their errors differ.

use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::record::Sample;
use crate::cli::CliError;

/// Positions asked at a time: the questions, of at most 90 bytes, and the answers fit into a pipe of 64 KiB, so neither side
/// waits for the other, whatever a teacher says.
const BATCH: usize = 256;
/// Larger scores, in centipawns, show no more than that a position is won.
const LIMIT: i32 = 3000;

/// Running teachers.
pub struct Teachers(Vec<Teacher>);

impl Teachers {
    /// Starts each of the commands, programs with their arguments.
    pub fn start(commands: &[String]) -> Result<Teachers, CliError> {
        let start = |command: &String| Teacher::start(command).map_err(named(command));
        commands.iter().map(start).collect::<Result<_, _>>().map(Teachers)
    }

    /// Sets the score of each sample to the mean of what the teachers say; without teachers they stay.
    pub fn label(&mut self, samples: &mut [Sample]) -> Result<(), CliError> {
        let mut sums = vec![0; samples.len()];
        for teacher in &mut self.0 {
            teacher.add_scores(samples, &mut sums).map_err(named(&teacher.command))?;
        }
        let count = self.0.len() as i32;
        if count > 0 {
            samples.iter_mut().zip(sums).for_each(|(sample, sum)| sample.score = (sum / count) as i16);
        }
        Ok(())
    }
}

/// An error with the command that it is about.
fn named(command: &str) -> impl Fn(io::Error) -> CliError {
    move |error| CliError::Task(format!("--teacher: {command}: {error}"))
}

/// A running teacher. It ends when its streams are closed, which are dropped before the process.
struct Teacher {
    command: String,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _process: Process,
}

/// A process, which is waited for in the end.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

impl Teacher {
    /// Starts a program by its command line.
    fn start(line: &str) -> io::Result<Teacher> {
        let mut words = line.split_whitespace();
        let program = words.next().ok_or_else(|| io::Error::other("no program is named"))?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for this program, which still has questions; the teacher ends with its input.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let missing = || io::Error::other("it has no standard streams");
        let questions = process.stdin.take().ok_or_else(missing)?;
        let answers = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        Ok(Teacher { command: line.to_owned(), questions, answers, _process: Process(process) })
    }

    /// Adds what it says of each sample.
    fn add_scores(&mut self, samples: &[Sample], sums: &mut [i32]) -> io::Result<()> {
        let (mut text, mut line) = (String::new(), String::new());
        for (batch, sums) in samples.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
            text.clear();
            batch.iter().for_each(|sample| sample.write_fen(&mut text));
            let _ = writeln!(text);
            self.questions.write_all(text.as_bytes())?;
            self.questions.flush()?;
            for sum in sums {
                line.clear();
                if self.answers.read_line(&mut line)? == 0 {
                    return Err(io::Error::other("it ended without an answer"));
                }
                let score: i32 = line.trim().parse().map_err(|_| {
                    io::Error::other(format!(
                        "it answered `{}`, which is not a number of centipawns",
                        line.trim()
                    ))
                })?;
                *sum += score.clamp(-LIMIT, LIMIT);
            }
            // Such as an answer to the empty line: all later ones would belong to other positions.
            if !self.answers.buffer().is_empty() {
                return Err(io::Error::other("it answered more than it was asked"));
            }
        }
        Ok(())
    }
}
