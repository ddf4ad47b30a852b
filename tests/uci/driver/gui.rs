//! The GUI: what it sends, and what it checks in the answers.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use engram::position::Position;

use super::model::{Search, notation, random_position};
use crate::common::{Engine, TIMEOUT, random::Random};

/// Lines that set an option which costs nothing.
const OPTIONS: [&str; 46] = [
    "Hash value 1",
    "Hash value 2",
    "Hash value 9",
    "Hash value 32",
    "Hash value 0",
    "Hash value x",
    "Clear Hash",
    "Threads value 1",
    "Threads value 2",
    "Threads value 3",
    "Threads value -1",
    "MultiPV value 1",
    "MultiPV value 3",
    "MultiPV value 256",
    "PawnHash value 1",
    "PawnHash value 3",
    "Ponder value true",
    "Move Overhead value 0",
    "Move Overhead value 30",
    "nodestime value 0",
    "nodestime value 50",
    "NeverClearHash value true",
    "NeverClearHash value false",
    "PathHash value off",
    "PathHash value draws",
    "PathHash value full",
    "PathHash value nonsense",
    "Learning value off",
    "Learning value drop",
    "Learning value all",
    "LearnMinDepth value 1",
    "LearnFile value a.learn",
    "LearnFile value ",
    "LearnReadOnly value true",
    "LearnReadOnly value false",
    "HashFile value a.hash",
    "HashFile value ",
    "HashFile value /nowhere/at/all",
    "OwnBook value true",
    "OwnBook value false",
    "UCI_ShowWDL value true",
    "UCI_AnalyseMode value true",
    "UCI_AnalyseMode value false",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "SyzygyPath value /nowhere",
];

const JUNK: [&str; 11] = [
    "",
    "hello",
    "position",
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position startpos moves e2e5",
    "position startpos moves e2e4 e7e5 e1e3",
    "go dpeth 4",
    "setoption",
    "setoption name Nonsense value 1",
    "\u{1F980} crab",
    "debug maybe",
];

pub struct Gui {
    pub engine: Engine,
    random: Random,
    position: Position,
    chess960: bool,
    /// Searches without an answer, oldest first.
    open: VecDeque<Search>,
    /// Searches begun.
    pub searches: usize,
    /// How long `readyok` took during searches.
    pub latencies: Vec<Duration>,
    /// What was said lately, newest last: `>` sent, `<` heard, by the GUI as it acted on it.
    talk: VecDeque<String>,
}

/// So that the allocator gives back what the engine gives back: glibc keeps an arena for each thread that ever ran,
/// and once a large block was freed, takes those of its size from a heap that gives nothing back below what is in
/// use. Both look like a leak and are none.
fn quiet_engine() -> Engine {
    #[cfg(unix)]
    let mut engine = Engine::start_after("export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072");
    #[cfg(not(unix))]
    let mut engine = Engine::start();
    engine.send("uci");
    engine.expect("uciok");
    engine
}

impl Gui {
    pub fn new(seed: u64) -> Gui {
        let mut gui = Gui {
            engine: quiet_engine(),
            random: Random(seed),
            position: Position::default(),
            chess960: false,
            open: VecDeque::new(),
            searches: 0,
            latencies: Vec::new(),
            talk: VecDeque::new(),
        };
        gui.send("setoption name Hash value 4");
        gui.send("setoption name HashFileSize value 1");
        gui
    }

    fn send(&mut self, line: &str) {
        self.note('>', line);
        self.engine.send(line);
    }

    fn note(&mut self, direction: char, line: &str) {
        self.talk.push_back(format!("{direction} {line}"));
        if self.talk.len() > 300 {
            self.talk.pop_front();
        }
    }

    fn fail(&mut self, what: &str) -> ! {
        let talk = self.talk.make_contiguous().join("\n");
        panic!("{what}\n{} searches are open; what was said:\n{talk}", self.open.len());
    }

    /// Does something.
    pub fn act(&mut self) {
        match self.random.below(20) {
            0..=2 => self.set_position(),
            3..=7 => self.go(),
            8 | 9 => self.send("stop"),
            10 => self.ponder(),
            11 => self.is_ready(),
            12..=14 => self.set_option(),
            15 => {
                let line = self.random.pick(&[
                    "ucinewgame",
                    "ponderhit",
                    "d",
                    "eval",
                    "uci",
                    "debug off",
                    "perft 1",
                ]);
                self.send(line);
            }
            16 => {
                let line = self.random.pick(&JUNK);
                self.send(line);
            }
            17 => {
                let time = Duration::from_micros(self.random.next() % 8000);
                while let Some(line) = self.engine.line_within(time) {
                    self.hear(&line);
                }
            }
            18 => self.chess960(),
            _ => self.wait_for_answers(),
        }
        // What has come by itself.
        while let Some(line) = self.engine.line_within(Duration::ZERO) {
            self.hear(&line);
        }
        if self.open.len() > 6 {
            self.wait_for_answers();
        }
        if self.engine.seen.len() > 4000 {
            self.engine.seen.clear();
        }
    }

    fn set_position(&mut self) {
        let (line, position) = random_position(&mut self.random, self.chess960);
        self.position = position;
        self.send(&line);
    }

    fn set_option(&mut self) {
        let option = self.random.pick(&OPTIONS);
        self.send(&format!("setoption name {option}"));
    }

    /// Castling is written in another way from the next position on.
    fn chess960(&mut self) {
        self.chess960 = self.random.one_in(2);
        self.send(&format!("setoption name UCI_Chess960 value {}", self.chess960));
        self.set_position();
    }

    fn go(&mut self) {
        let number = self.random.next();
        let (limits, waits) = match self.random.below(13) {
            0 | 1 => (format!("depth {}", 1 + number % 7), false),
            2 | 3 => (format!("nodes {}", 1 + number % 4000), false),
            4 => (format!("movetime {}", 1 + number % 25), false),
            5 => (format!("wtime {} btime {} winc 5 binc 5", number % 300, number % 200), false),
            6 => (format!("wtime {} btime 90 movestogo {}", number % 200, number % 4), false),
            7 => (format!("mate {} nodes 3000", 1 + number % 3), false),
            8 => (format!("infinite depth {}", 1 + number % 5), true),
            9 => (format!("ponder wtime {} btime 100", number % 300), true),
            10 => (format!("depth {} nodes {} movetime 20", 1 + number % 9, 1 + number % 900), false),
            11 => (self.random.pick(&["depth", "depth x", "movetime 0"]).to_owned(), false),
            _ => ("infinite".to_owned(), true),
        };
        let mut line = format!("go {limits}");
        let mut moves = Vec::new();
        if self.random.one_in(5) {
            let legal = self.position.legal_moves();
            moves = legal.iter().copied().filter(|_| self.random.one_in(4)).collect();
            if !moves.is_empty() {
                let mode = notation(&self.position, self.chess960);
                line += " searchmoves";
                moves.iter().for_each(|m| line += &format!(" {}", m.to_uci(mode)));
            }
        }
        self.begin(&line, moves, waits);
    }

    fn begin(&mut self, line: &str, moves: Vec<shakmaty::Move>, waits: bool) {
        self.send(line);
        self.searches += 1;
        self.open.push_back(Search { position: self.position.clone(), moves, waits });
    }

    /// Ponders as a sane GUI does: what follows the hit needs no `stop`.
    fn ponder(&mut self) {
        self.wait_for_answers();
        self.begin("go ponder movetime 5 depth 6", Vec::new(), true);
        std::thread::sleep(Duration::from_micros(self.random.next() % 6000));
        self.send("ponderhit");
        self.open.iter_mut().for_each(|search| search.waits = false);
        self.wait_for_answers();
    }

    fn is_ready(&mut self) {
        let searching = !self.open.is_empty();
        let began = Instant::now();
        self.send("isready");
        loop {
            let line = self.next_line();
            if line == "readyok" {
                break;
            }
            self.hear(&line);
        }
        // Answered meanwhile: then it may have waited for a table as well, as it should.
        if searching && !self.open.is_empty() {
            self.latencies.push(began.elapsed());
        }
    }

    fn next_line(&mut self) -> String {
        match self.engine.line_within(TIMEOUT) {
            Some(line) => line,
            None => self.fail("nothing is said any more"),
        }
    }

    fn wait_for_answers(&mut self) {
        while let Some(search) = self.open.front() {
            if search.waits || self.open.len() > 1 && self.random.one_in(3) {
                self.send("stop");
            }
            let open = self.open.len();
            while self.open.len() == open {
                let line = self.next_line();
                self.hear(&line);
            }
        }
    }

    fn hear(&mut self, line: &str) {
        self.note('<', line);
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["bestmove", answer @ ..] => {
                let Some(search) = self.open.pop_front() else { self.fail("`bestmove` without `go`") };
                if let Some(objection) = search.objection(answer) {
                    self.fail(&format!("{line}: {objection}"));
                }
            }
            ["info", rest @ ..] if rest.first() != Some(&"string") => {
                let Some(search) = self.open.front() else { self.fail(&format!("`{line}` without `go`")) };
                let moves = rest.iter().skip_while(|word| **word != "pv").skip(1).copied();
                if let Some(objection) = search.objection_to_line(moves) {
                    self.fail(&format!("{line}: {objection}"));
                }
            }
            _ => {}
        }
    }

    /// Brings the engine to the state in which its size is compared.
    pub fn tidy_up(&mut self) {
        self.wait_for_answers();
        for option in [
            "Hash value 1",
            "Threads value 1",
            "PawnHash value 1",
            "HashFile value ",
            "Learning value off",
            "OwnBook value false",
            "Clear Hash",
        ] {
            self.send(&format!("setoption name {option}"));
        }
        self.send("ucinewgame");
        self.begin("go depth 1", Vec::new(), false);
        self.wait_for_answers();
        self.is_ready();
    }

    /// Ends the session at once, in one of the ways in which GUIs do.
    pub fn leave(mut self) {
        if self.random.one_in(2) {
            self.go();
        }
        if self.random.one_in(2) {
            self.send("quit");
        } else {
            self.engine.close_input();
        }
        // What is still said is still right.
        while let Some(line) = self.engine.line_within(TIMEOUT) {
            self.hear(&line);
        }
        self.engine.leaves_cleanly();
    }
}
