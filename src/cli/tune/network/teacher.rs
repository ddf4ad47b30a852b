//! The teacher: any program that reads one FEN a line and answers one number a line, the centipawns of the side to
//! move, at the latest when it reads an empty line.

use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::record::Sample;

/// Positions asked at a time: their answers fit into a pipe, so there is no deadlock.
const BATCH: usize = 4096;
/// Larger scores, in centipawns, show no more than that a position is won.
const LIMIT: i32 = 3000;

/// A running teacher.
pub struct Teacher {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Teacher {
    /// Starts `command`, a program and its arguments.
    pub fn start(command: &str) -> io::Result<Teacher> {
        let mut words = command.split_whitespace();
        let program = words.next().ok_or_else(|| io::Error::other("no program is named"))?;
        let mut process =
            Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("it has no standard streams");
        let questions = Some(process.stdin.take().ok_or_else(missing)?);
        let answers = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        Ok(Teacher { process, questions, answers })
    }

    /// Sets the score of each sample.
    pub fn label(&mut self, samples: &mut [Sample]) -> io::Result<()> {
        let questions = self.questions.as_mut().ok_or_else(|| io::Error::other("it has ended"))?;
        let (mut text, mut line) = (String::new(), String::new());
        for batch in samples.chunks_mut(BATCH) {
            text.clear();
            batch.iter().for_each(|sample| sample.write_fen(&mut text));
            let _ = writeln!(text);
            questions.write_all(text.as_bytes())?;
            questions.flush()?;
            for sample in batch {
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
                sample.score = score.clamp(-LIMIT, LIMIT) as i16;
            }
        }
        Ok(())
    }
}

impl Drop for Teacher {
    fn drop(&mut self) {
        // It ends at the end of its input.
        self.questions = None;
        let _ = self.process.wait();
    }
}
