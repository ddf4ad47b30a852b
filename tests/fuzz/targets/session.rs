//! A UCI session in this process: lines in, lines out. Each `go` gets one answer, each `isready` a `readyok`.

use std::{
    io::{self, BufRead, Read, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use engram::{
    eval::net::Network,
    position::{PathHash, Position},
    protocol::{Command, Message},
    uci::{DebugLog, Interrupt, Output, Places, Session, Tools, decoded},
};

pub const WORDS: &[&str] = &[
    "uci",
    "isready",
    "ucinewgame",
    "position",
    "startpos",
    "fen",
    "moves",
    "go",
    "infinite",
    "ponder",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "searchmoves",
    "stop",
    "ponderhit",
    "setoption",
    "name",
    "value",
    "Hash",
    "Threads",
    "MultiPV",
    "Clear Hash",
    "UCI_Chess960",
    "PathHash",
    "UCI_LimitStrength",
    "UCI_Elo",
    "Contempt",
    "OwnBook",
    "nodestime",
    "true",
    "false",
    "debug",
    "on",
    "off",
    "register",
    "d",
    "eval",
    "perft",
    "bench",
    "help",
    "quit",
    "<empty>",
    "e2e4",
    "e7e8q",
    "0000",
];

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "uci\nisready\nucinewgame\nposition startpos moves e2e4 e7e5\ngo nodes 300\nisready\nquit\n",
        "setoption name Hash value 2\nsetoption name Threads value 2\nposition startpos\ngo infinite\nisready\nstop\n",
        "position fen 8/8/8/3k4/3p4/3K4/8/8 w - - 98 60\ngo ponder wtime 100 btime 100\nponderhit\ngo depth 3\n",
        "setoption name MultiPV value 3\nsetoption name UCI_ShowWDL value true\nposition fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1\ngo depth 3 searchmoves e8c8 e8g8\n",
        "setoption name UCI_Chess960 value true\nposition fen 1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1\ngo nodes 200\nd\neval\n",
        "debug on\nregister name x code y\ngo movetime 5\ngo mate 2\nsetoption name Clear Hash\nsetoption name PathHash value full\ngo nodes 50\n",
        "setoption name nodestime value 100\ngo wtime 1000 btime 1000 winc 10 binc 10 movestogo 5\nsetoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 1500\nsetoption name Contempt value 20\ngo nodes 100\n",
        "setoption name OwnBook value true\nposition startpos\ngo nodes 10\nsetoption name UCI_AnalyseMode value true\ngo infinite\nsetoption name Hash value 1\nposition startpos moves d2d4\ngo infinite\nstop\nucinewgame\ngo depth 1\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// What a fuzzer can do to the machine instead of the engine is left out: memory, threads, files, hours.
fn is_harmless(command: &Command) -> bool {
    let Command::SetOption { name, value } = command else { return true };
    let value = value.as_deref().unwrap_or_default().trim();
    let at_most = |most: u64| value.parse::<u64>().map_or(true, |number| number <= most);
    match name.to_ascii_lowercase().as_str() {
        "hash" | "threads" | "pawnhash" => at_most(3),
        "hashfile" | "debug log file" | "learnfile" | "bookfile" | "syzygypath" => value.is_empty(),
        _ => true,
    }
}

struct NoTools;

impl Tools for NoTools {
    fn bench(&self, _: Option<u64>, _: PathHash, _: &Output, _: &Interrupt) {}
    fn eval(&self, position: &Position, _: Arc<Network>, output: &Output) {
        output.line(engram::eval::classical::trace(position));
    }
    fn perft(&self, _: &Position, _: u64, _: &Output, _: &Interrupt) {}
}

/// What the session says.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()).expect("text")
    }

    /// Answers to `go`.
    fn answers(&self) -> usize {
        self.text().lines().filter(|line| line.starts_with("bestmove ")).count()
    }
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The input: the script, then a `stop` until every `go` is answered, then its end.
struct Script {
    text: io::Cursor<Vec<u8>>,
    heard: Heard,
    searches: usize,
    deadline: Instant,
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Script {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.text.position() == self.text.get_ref().len() as u64 && self.heard.answers() < self.searches {
            // A ponder search that nobody stops would wait for ever, as it should.
            thread::sleep(Duration::from_micros(200));
            self.text = io::Cursor::new(b"stop\n".to_vec());
            assert!(Instant::now() < self.deadline, "a search is not answered: {}", self.heard.text());
        }
        self.text.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.text.consume(count);
    }
}

pub fn run(bytes: &[u8]) {
    let mut script = Vec::new();
    let (mut searches, mut ready, mut quits) = (0, 0, false);
    for line in bytes.split(|&byte| byte == b'\n' || byte == b'\r').take(60) {
        if let Ok(mut command) = decoded(line.to_vec()).parse::<Command>() {
            if let Command::Go(go) = &mut command {
                // What is not understood is not written again.
                go.unknown.clear();
            }
            let written = command.to_string();
            assert_eq!(written.parse::<Command>().as_ref(), Ok(&command), "{written}");
            if !is_harmless(&command) {
                continue;
            }
            searches += usize::from(matches!(command, Command::Go(_)));
            ready += usize::from(matches!(command, Command::IsReady));
            quits = matches!(command, Command::Quit);
        }
        script.extend_from_slice(line);
        script.push(b'\n');
        if quits {
            break;
        }
    }
    let heard = Heard::default();
    let expected = if quits { 0 } else { searches };
    let deadline = Instant::now() + Duration::from_secs(60);
    let input = Script { text: io::Cursor::new(script), heard: heard.clone(), searches: expected, deadline };
    let output = Output::new(heard.clone());
    Session::new(NoTools, output, DebugLog::default(), Places::default()).run(input);
    let text = heard.text();
    assert_eq!(text.lines().filter(|&line| line == "readyok").count(), ready, "{text}");
    let answers = heard.answers();
    assert!(if quits { answers <= searches } else { answers == searches }, "{answers}/{searches}: {text}");
    for line in text.lines().filter(|line| ["info", "bestmove", "option"].iter().any(|w| line.starts_with(w)))
    {
        assert!(line.parse::<Message>().is_ok(), "{line}");
    }
}
