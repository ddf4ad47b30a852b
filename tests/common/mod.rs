//! The real binary as tests use it: started in a folder of its own, spoken to over pipes.
#![allow(dead_code)]

pub mod browser;
pub mod learn;
pub mod random;
#[cfg(all(feature = "fleet", unix))]
pub mod server;
pub mod sim_disk;

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

// A test program need not use all of them.
#[allow(unused_imports)]
pub use random::{cases, is_full, seed};

use engram::{
    Position,
    protocol::{Info, Message, ScoreValue},
    uci::translate::parse_fen,
};
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Long enough for a loaded machine; nothing passes by waiting for it.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// A command that runs the binary with every folder of the user in `home`.
pub fn command(home: &TempDir) -> Command {
    command_of(env!("CARGO_BIN_EXE_engram"), home)
}

/// Runs a line of a shell in a folder, with the engine as `$E`: standard output, standard error and exit code.
#[cfg(unix)]
pub fn shell(home: &TempDir, line: &str) -> (String, String, i32) {
    // Its path may have spaces.
    let line = line.replace("$E", "\"$E\"");
    finish(command_of("sh", home).args(["-c", &line]).env("E", env!("CARGO_BIN_EXE_engram")))
}

fn command_of(program: &str, home: &TempDir) -> Command {
    let mut command = Command::new(program);
    for variable in ["HOME", "XDG_DATA_HOME", "APPDATA"] {
        command.env(variable, home.path());
    }
    command.env_remove("RUST_LOG").env_remove("CLICOLOR_FORCE").current_dir(home.path());
    command
}

/// A folder of its own for one test.
pub fn home() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A folder of its own for one test, and the paths of files in it.
pub fn files() -> (TempDir, impl Fn(&str) -> String) {
    let folder = home();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name).to_str().unwrap().to_owned())
}

/// Runs a subcommand that must go well and complain of nothing: its standard output.
pub fn succeed(arguments: &[&str]) -> String {
    let (out, err, code) = run(arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}: {out}");
    out
}

/// Runs a subcommand that must fail with a sentence that contains `text`.
pub fn refused(arguments: &[&str], text: &str) {
    let (_, err, code) = run(arguments);
    assert!(code == 1 && err.contains(text), "{arguments:?}: {code} {err}");
}

/// Runs a subcommand to its end: standard output, standard error and exit code.
pub fn run(arguments: &[&str]) -> (String, String, i32) {
    let home = home();
    finish(command(&home).args(arguments))
}

/// Runs a command to its end: standard output, standard error and exit code.
pub fn finish(command: &mut Command) -> (String, String, i32) {
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

/// A position of standard chess.
pub fn position(fen: &str) -> Position {
    parse_fen(fen, false).unwrap_or_else(|error| panic!("{error}"))
}

/// A position of Chess960, which those of standard chess are too.
pub fn chess960(fen: &str) -> Position {
    parse_fen(fen, true).unwrap_or_else(|error| panic!("{error}"))
}

/// Is there python-chess, a reader by others? If not, that is said.
pub fn has_python_chess() -> bool {
    let import = Command::new("python3").args(["-c", "import chess.pgn"]).output();
    let is_there = import.is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: there is no python3 with chess");
    }
    is_there
}

/// A file of `tests/data`.
pub fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).to_str().unwrap().to_owned()
}

/// What lies in `../shared/data`; where it does not, that is said.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// A text in JSON.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a subcommand that must go well prints, in JSON.
pub fn json_of(arguments: &[&str]) -> Value {
    json(&succeed(arguments))
}

/// A text with single spaces.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of the `info string` lines.
pub fn info_strings(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("info string ")).collect()
}

/// The reports of a search that have a score.
pub fn reports(lines: &[String]) -> Vec<Info> {
    let report = |line: &String| match line.parse() {
        Ok(Message::Info(info)) if info.score.is_some() => Some(info),
        _ => None,
    };
    lines.iter().filter_map(report).collect()
}

/// The last of them.
pub fn last_report(lines: &[String]) -> Info {
    reports(lines).pop().unwrap_or_else(|| panic!("no score in {lines:#?}"))
}

/// The score of the last of them.
pub fn last_score(lines: &[String]) -> ScoreValue {
    last_report(lines).score.expect("a score").value
}

/// A learning file that is not there yet, and its folder.
pub fn learn_file() -> (TempDir, PathBuf) {
    let folder = home();
    let path = folder.path().join("learn.bin");
    (folder, path)
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + 5 * TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a process.
#[cfg(unix)]
pub fn signal(id: u32, signal: Signal) {
    let process = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(process, signal).expect("the signal is sent");
}

/// Is this signal ignored here, and so by every program that is started here (`nohup`, `&`)? If so, that is said.
#[cfg(unix)]
pub fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let is_ignored = ignored.unwrap_or(0) >> (signal.as_raw() - 1) & 1 == 1;
    if is_ignored {
        eprintln!("skipped: {signal:?}, which whoever started this test wants to be ignored");
    }
    is_ignored
}

/// A running engine.
pub struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Everything read so far.
    pub seen: Vec<String>,
    home: TempDir,
}

impl Engine {
    /// Starts the binary; nothing is sent yet.
    pub fn start() -> Engine {
        let home = home();
        let command = command(&home);
        Engine::spawn(home, command)
    }

    /// Starts the binary from a shell that has run `setup` before, for instance `ulimit -n 16`.
    #[cfg(unix)]
    pub fn start_after(setup: &str) -> Engine {
        let home = home();
        let mut shell = command_of("sh", &home);
        shell.args(["-c", &format!("{setup}; exec \"$0\""), env!("CARGO_BIN_EXE_engram")]);
        Engine::spawn(home, shell)
    }

    fn spawn(home: TempDir, mut command: Command) -> Engine {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Engine { child, stdin, lines, seen: Vec::new(), home }
    }

    /// Starts the binary with the folders of a user who has had other engines running.
    pub fn start_at(home: &TempDir) -> Engine {
        Engine::spawn(self::home(), command(home))
    }

    /// Starts the binary and waits for `uciok`.
    pub fn ready() -> Engine {
        let mut engine = Engine::start();
        engine.send("uci");
        engine.expect("uciok");
        engine
    }

    /// The same with options, such as `Hash value 2`.
    pub fn with(options: &[&str]) -> Engine {
        let mut engine = Engine::ready();
        options.iter().for_each(|option| engine.send(&format!("setoption name {option}")));
        engine
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The folder in which the engine runs.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Sends one line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
        self.send_bytes(b"\n");
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the engine reads");
    }

    /// The next line, or none if none comes within `patience` or the output has ended.
    pub fn line_within(&mut self, patience: Duration) -> Option<String> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                self.seen.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Reads up to and including the first line that begins with `prefix`. All lines read come back.
    pub fn expect(&mut self, prefix: &str) -> Vec<String> {
        let deadline = Instant::now() + TIMEOUT;
        let mut read = Vec::new();
        while let Some(line) = self.line_within(deadline.saturating_duration_since(Instant::now())) {
            let found = line.starts_with(prefix);
            read.push(line);
            if found {
                return read;
            }
        }
        panic!("no line `{prefix}…` came; all that came: {:#?}", self.seen);
    }

    /// Sends `line`; the lines that come before the answer to an `isready` sent after it.
    pub fn answer(&mut self, line: &str) -> Vec<String> {
        self.send(line);
        self.sync()
    }

    /// Sends `isready`; the lines that come before `readyok`.
    pub fn sync(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.expect("readyok");
        lines.pop();
        lines
    }

    /// Begins a search of a position, such as `startpos moves e2e4`.
    pub fn begin(&mut self, position: &str, go: &str) {
        self.send(&format!("position {position}"));
        self.send(go);
    }

    /// Searches a position, such as `startpos moves e2e4`: its move, and the lines before it.
    pub fn search(&mut self, position: &str, go: &str) -> (String, Vec<String>) {
        self.begin(position, go);
        self.best_move()
    }

    /// Sends `stop` and waits for the `bestmove`: its move, and the lines before it.
    pub fn stop(&mut self) -> (String, Vec<String>) {
        self.best("stop")
    }

    /// Sends `line` and waits for the `bestmove`: its move, and the lines before it.
    pub fn best(&mut self, line: &str) -> (String, Vec<String>) {
        self.send(line);
        self.best_move()
    }

    /// Waits for the `bestmove`: its move, and the lines before it.
    pub fn best_move(&mut self) -> (String, Vec<String>) {
        let mut lines = self.expect("bestmove ");
        let last = lines.pop().unwrap_or_default();
        (last.split_whitespace().nth(1).unwrap_or_default().to_owned(), lines)
    }

    /// Searches shallowly, which teaches nothing, until an `info string` before the move contains `text`: what
    /// the learning file's own threads do is seen when they have come to it.
    pub fn search_until_told(&mut self, text: &str) -> String {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            self.send("position startpos");
            let (_, lines) = self.best("go depth 1");
            if let Some(said) = info_strings(&lines).into_iter().find(|said| said.contains(text)) {
                return said.to_owned();
            }
        }
        panic!("`{text}` was never said; all that came: {:#?}", self.seen);
    }

    /// A search without an end is under way: reads up to and including the line of the iteration to `depth`, and says
    /// `isready` `turns` times, each of which gives the search a turn. No `bestmove` comes.
    pub fn searches_on(&mut self, depth: &str, turns: usize) {
        let mut lines = self.expect(&format!("info depth {depth} seldepth "));
        for _ in 0..turns {
            lines.append(&mut self.sync());
        }
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "too early: {lines:?}");
    }

    /// The FEN that `d` shows.
    pub fn fen(&mut self) -> String {
        let lines = self.answer("d");
        let fen = lines.iter().find_map(|line| line.strip_prefix("Fen: "));
        fen.unwrap_or_else(|| panic!("no FEN in {lines:?}")).to_owned()
    }

    /// Ends the input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Kills the process, as a GUI does, and gives back what it had still said.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().and_then(|()| self.child.wait()).expect("a child");
        // The pipe's other end is closed now, so this ends.
        self.lines.iter().collect()
    }

    /// Waits for the process to end by itself: its status and what it wrote to standard error.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let leaves = format!("the engine leaves; it said {:#?}", self.seen);
        until(&leaves, || self.child.try_wait().expect("a child").is_some());
        let mut stderr = String::new();
        let pipe = self.child.stderr.take();
        pipe.map(|mut pipe| std::io::Read::read_to_string(&mut pipe, &mut stderr));
        (self.child.wait().expect("a child"), stderr)
    }

    /// Sends `quit` and checks that the engine leaves cleanly and silently.
    pub fn quit(mut self) {
        self.send("quit");
        self.leaves_cleanly();
    }

    /// Checks that the engine leaves with exit code 0 and without a word on standard error.
    pub fn leaves_cleanly(self) {
        let (status, stderr) = self.wait();
        assert!(status.success() && stderr.is_empty(), "{status}: {stderr}");
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both fail where the process has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
