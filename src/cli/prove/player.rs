//! A UCI engine as a process.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command as Process, Stdio},
    thread,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, unbounded};
use shakmaty::uci::UciMove;
use thiserror::Error;

use crate::{
    cli::{CliError, complain},
    protocol::{Command, Go, Info, Message, OptionDeclaration, ScoreValue},
    types::Bound,
};

/// How long an engine may take to start, to get ready, and to exit.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// After this long the user is told what is waited for.
const NOTICE_AFTER: Duration = Duration::from_secs(5);
/// The value of a mate in centipawns where scores are compared.
const MATE: i32 = 30_000;

/// The option that makes an engine play Chess960.
pub(super) const CHESS960: &str = "UCI_Chess960";

/// How to start an engine.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
    /// Names and values.
    pub options: Vec<(String, String)>,
}

impl Program {
    /// A command line: a program, or a program and arguments, separated by spaces.
    pub fn parse(command: &str) -> Program {
        let whole =
            Program { path: PathBuf::from(command.trim()), arguments: Vec::new(), options: Vec::new() };
        let mut words = command.split_whitespace();
        match words.next() {
            Some(first) if !whole.path.exists() => {
                let arguments = words.map(str::to_owned).collect();
                Program { path: PathBuf::from(first), arguments, ..whole }
            }
            _ => whole,
        }
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or(self.path.as_os_str());
        stem.display().to_string()
    }
}

/// How an engine fails to answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum EngineFailure {
    /// The process ended, or its output.
    #[error("crashed")]
    Crashed,
    /// No move came within the timeout.
    #[error("hangs")]
    Hung,
}

/// The answer to `go`.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineAnswer {
    pub best: Option<UciMove>,
    /// The last exact score, in centipawns for the engine; a mate counts 300 pawns.
    pub score: Option<i32>,
    /// The depth of that score.
    pub depth: u64,
    pub time: Duration,
    /// Its `info string` messages.
    pub texts: Vec<String>,
}

/// A running engine. It is killed when dropped.
pub(super) struct EnginePlayer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<(Instant, Message)>,
    name: String,
}

impl EnginePlayer {
    /// Starts an engine and sets its options.
    pub fn start(program: &Program) -> Result<EnginePlayer, CliError> {
        let failed = |error: io::Error| {
            let path = program.path.display();
            CliError::Task(format!(
                "{path} cannot be started ({error}); name a UCI engine, with its folder if it is not in PATH"
            ))
        };
        let mut child = Process::new(&program.path)
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let stdin = child.stdin.take();
        let (sender, lines) = unbounded();
        let stdout = child.stdout.take();
        let mut player = EnginePlayer { child, stdin, lines, name: program.name() };
        // This thread notes the arrival of each line, because the thread of the game may be busy.
        thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || {
                let Some(stdout) = stdout else { return };
                for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                    if let Ok(message) = String::from_utf8_lossy(&line).parse()
                        && sender.send((Instant::now(), message)).is_err()
                    {
                        return;
                    }
                }
            })
            .map_err(failed)?;
        player.send(&Command::Uci);
        let mut known: Vec<OptionDeclaration> = Vec::new();
        player.until("uci", |message| match message {
            Message::Option(option) => {
                known.push(option);
                false
            }
            message => message == Message::UciOk,
        })?;
        for (name, value) in &program.options {
            if !known.iter().any(|option| option.name.eq_ignore_ascii_case(name)) {
                let names: Vec<&str> = known.iter().map(|option| option.name.as_str()).collect();
                let (engine, known) = (&player.name, names.join(", "));
                let needed = if name == CHESS960 { ", which openings of Chess960 need" } else { "" };
                return Err(CliError::Task(format!("{engine} has no option {name}{needed}; it has {known}")));
            }
            player.send(&Command::SetOption { name: name.clone(), value: Some(value.clone()) });
        }
        player.ready()?;
        Ok(player)
    }

    /// Sends a line. A dead engine is noticed when it does not answer.
    pub fn send(&mut self, command: &Command) {
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "{command}").and_then(|()| stdin.flush());
        }
    }

    /// Waits until everything that was sent is done.
    pub fn ready(&mut self) -> Result<(), CliError> {
        self.send(&Command::IsReady);
        self.until("isready", |message| message == Message::ReadyOk)
    }

    fn until(&mut self, asked: &'static str, mut is_it: impl FnMut(Message) -> bool) -> Result<(), CliError> {
        let asked_at = Instant::now();
        let mut timeout = NOTICE_AFTER;
        loop {
            match self.lines.recv_deadline(asked_at + timeout) {
                Ok((_, message)) => {
                    if is_it(message) {
                        return Ok(());
                    }
                }
                Err(error) if error.is_timeout() && timeout == NOTICE_AFTER => {
                    timeout = ANSWER_TIMEOUT;
                    let (name, seconds) = (&self.name, timeout.as_secs());
                    complain(format_args!("waiting up to {seconds} s for {name} to answer `{asked}`"));
                }
                Err(_) => {
                    let text = format!("{} does not answer `{asked}` as a UCI engine does", self.name);
                    return Err(CliError::Task(text));
                }
            }
        }
    }

    /// Starts a search, and waits up to `timeout` for its move.
    pub fn search(
        &mut self,
        position: &Command,
        go: Go,
        timeout: Duration,
    ) -> Result<EngineAnswer, EngineFailure> {
        self.send(position);
        let start = Instant::now();
        self.send(&Command::Go(go));
        let mut answer = EngineAnswer::default();
        loop {
            match self.lines.recv_deadline(start + timeout) {
                Ok((at, Message::BestMove { best, .. })) => {
                    (answer.best, answer.time) = (best, at.saturating_duration_since(start));
                    return Ok(answer);
                }
                Ok((_, Message::Info(info))) => answer.take(info),
                Ok(_) => {}
                Err(error) if error.is_timeout() => return Err(EngineFailure::Hung),
                Err(_) => return Err(EngineFailure::Crashed),
            }
        }
    }

    /// Ends the engine after it has written its files.
    pub fn quit(mut self) {
        self.send(&Command::Quit);
        self.stdin = None;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        // Its output ends when it does.
        while self.lines.recv_deadline(deadline).is_ok() {}
    }
}

impl Drop for EnginePlayer {
    fn drop(&mut self) {
        // Both fail if the process has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl EngineAnswer {
    fn take(&mut self, info: Info) {
        self.texts.extend(info.string);
        if let Some(score) = info.score
            && score.bound == Bound::Exact
            && info.multipv.is_none_or(|line| line == 1)
        {
            self.depth = info.depth.unwrap_or(self.depth);
            self.score = Some(match score.value {
                ScoreValue::Centipawns(value) => value.clamp(-MATE, MATE),
                ScoreValue::Mate(moves) if moves > 0 => MATE,
                ScoreValue::Mate(_) => -MATE,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exact_score_of_the_first_line_counts() {
        let mut answer = EngineAnswer::default();
        for line in [
            "info depth 5 score cp 30 pv e2e4",
            "info depth 6 multipv 2 score cp -90",
            "info depth 7 score cp -200 upperbound",
            "info string learning: 3 cutoffs by learned scores",
        ] {
            match line.parse() {
                Ok(Message::Info(info)) => answer.take(info),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((answer.score, answer.depth, answer.texts.len()), (Some(30), 5, 1));
        let Ok(Message::Info(mated)) = "info depth 9 score mate -2".parse() else { panic!("an info line") };
        answer.take(mated);
        assert_eq!(answer.score, Some(-MATE));
    }

    #[test]
    fn a_command_line_is_a_program_with_arguments() {
        let program = Program::parse("engine-that-is-nowhere --uci 2");
        assert_eq!((program.name().as_str(), program.arguments.len()), ("engine-that-is-nowhere", 2));
        let error = EnginePlayer::start(&program).err().expect("there is none").to_string();
        assert!(error.contains("cannot be started"), "{error}");
    }
}
