use std::{
    collections::VecDeque,
    io::BufRead,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Instant,
};

use crossbeam::channel::{Receiver, Sender, unbounded};
use shakmaty::{CastlingMode, uci::UciMove};

use super::{
    DebugLog, Interrupt, Output,
    display::{Diagram, HELP, received},
    options::{self, SessionSettings, Target},
    output::without_password,
    reader::{self, ReceivedLine, SessionInput},
    translate,
};
use crate::{
    engine::Engine,
    eval::net::Network,
    learn::policy::LearningMode,
    position::{PathHash, Position},
    protocol::{Command, Go, Message, quote},
    search::Event,
};

/// Commands beyond the protocol, which are also subcommands of the program.
pub trait Tools {
    /// Searches the bench positions in a new engine, with this mode of `PathHash`.
    fn bench(&self, depth: Option<u64>, path_hash: PathHash, output: &Output, interrupt: &Interrupt);
    /// Explains the evaluation of a position.
    fn eval(&self, position: &Position, network: Arc<Network>, output: &Output);
    /// Counts the positions `depth` plies away.
    fn perft(&self, position: &Position, depth: u64, output: &Output, interrupt: &Interrupt);
}

/// The default places of files.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The learning file.
    pub learn_file: Option<PathBuf>,
    /// The folder of all other files.
    pub data_folder: Option<PathBuf>,
}

/// A session with a GUI or a person, from the first line to the last.
pub struct Session<T> {
    engine: Engine,
    tools: T,
    output: Output,
    debug_log: DebugLog,
    settings: SessionSettings,
    sender: Sender<SessionInput>,
    receiver: Receiver<SessionInput>,
    interrupt: Interrupt,
    current: Arc<CurrentSearch>,
    /// Commands received during a search that need an idle engine, oldest first.
    waiting: VecDeque<(Command, Instant)>,
}

/// What the session and the threads that report events know of the current search.
#[derive(Default)]
struct CurrentSearch {
    /// Is castling written as king takes rook?
    chess960_notation: AtomicBool,
    /// Material of the searched position in points, for the printed chances; 0 while `UCI_ShowWDL` is off.
    wdl_material: AtomicU32,
    /// True from `go` until just before its `bestmove` is sent.
    searching: AtomicBool,
}

/// What follows the reason why a `position` is refused.
const POSITION_STAYS: &str = "; the previous position stays";

/// Does the session continue?
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Leave,
}

impl<T: Tools> Session<T> {
    /// A session with a new engine. `places` are the default places of its files.
    pub fn new(tools: T, output: Output, debug_log: DebugLog, places: Places) -> Session<T> {
        let (sender, receiver) = unbounded();
        let current = Arc::<CurrentSearch>::default();
        let sink = {
            let (output, sender, current) = (output.clone(), sender.clone(), Arc::clone(&current));
            move |event: Event| {
                // Relaxed: set before the search began, and starting its threads is a synchronisation.
                let mode = CastlingMode::from_chess960(current.chess960_notation.load(Ordering::Relaxed));
                let finished = matches!(event, Event::Finished { .. });
                if finished {
                    // Before `bestmove` is sent, so that a GUI that reacts at once finds the engine idle. Release: the
                    // notation is read above before the loop may set that of the next search.
                    current.searching.store(false, Ordering::Release);
                }
                let material = current.wdl_material.load(Ordering::Relaxed);
                output.send(&translate::message(&event, mode, (material > 0).then_some(material)));
                if finished || output.is_closed() {
                    // Wakes the session: it ends if the output is closed, and perhaps no further line comes to wake it.
                    // Sending fails only if the session has already ended.
                    let _ = sender.send(SessionInput::SearchFinished);
                }
            }
        };
        let mut engine = Engine::new(Arc::new(sink));
        engine.book.data_folder = places.data_folder;
        engine.set_learning(|learning| {
            learning.rules.mode = LearningMode::Drop;
            learning.default_file = places.learn_file;
        });
        Session {
            engine,
            tools,
            output,
            debug_log,
            settings: SessionSettings::default(),
            sender,
            receiver,
            interrupt: Interrupt::default(),
            current,
            waiting: VecDeque::new(),
        }
    }

    /// Ends the session from another thread, as `quit` does.
    pub fn quit_handle(&self) -> impl Fn() + Send + 'static + use<T> {
        let (sender, interrupt) = (self.sender.clone(), self.interrupt.clone());
        move || reader::quit(&sender, &interrupt)
    }

    /// Runs until `quit`, the end of `input`, or a closed output; then a running search is stopped and awaited.
    /// Commands queued behind it are carried out first, and dropped if the output is closed.
    pub fn run(mut self, input: impl BufRead + Send + 'static) {
        let (sender, interrupt) = (self.sender.clone(), self.interrupt.clone());
        // Not joined: when the session is over it may still be waiting for a line.
        let reader = move || reader::read(input, &sender, &interrupt);
        if let Err(error) = thread::Builder::new().name("input".to_owned()).spawn(reader) {
            self.output.say(format_args!("no thread can be started to read the input ({error}); leaving"));
            return;
        }
        while let Ok(input) = self.receiver.recv() {
            self.catch_up();
            let flow = match input {
                SessionInput::Line(line) => self.handle_line(*line),
                SessionInput::SearchFinished => Flow::Continue,
                SessionInput::End => {
                    self.finish_waiting();
                    Flow::Leave
                }
            };
            if flow == Flow::Leave || self.output.is_closed() {
                break;
            }
        }
        self.engine.stop();
        self.engine.wait();
    }

    fn handle_line(&mut self, ReceivedLine { text, command, read_at }: ReceivedLine) -> Flow {
        // Logged here and not by the reader, so that a log opened by one line contains all lines after it.
        log::debug!(target: "uci", "< {}", without_password(&text));
        match command {
            Ok(command) => {
                if self.engine.settings.debug {
                    self.output.say(received(&command));
                }
                self.handle(command, read_at)
            }
            Err(error) => {
                let is_position = text.split_whitespace().next() == Some("position");
                let stays = if is_position { POSITION_STAYS } else { "" };
                self.output.say(format_args!("{error}{stays}"));
                Flow::Continue
            }
        }
    }

    fn handle(&mut self, command: Command, read_at: Instant) -> Flow {
        // The search may have just ended: queued commands still come first.
        let must_wait = self.is_searching() || !self.waiting.is_empty();
        if must_wait && self.needs_idle_engine(&command) {
            if matches!(command, Command::Go(_)) {
                self.engine.stop();
            }
            self.waiting.push_back((command, read_at));
            return Flow::Continue;
        }
        if command == Command::Stop {
            // Only now, because the request also applies to the commands queued before it.
            self.interrupt.handled();
        }
        match command {
            Command::Uci => self.identify(),
            Command::IsReady => self.is_ready(),
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::UciNewGame => self.engine.new_game(),
            Command::Position { start, moves } => self.set_position(&start, &moves),
            Command::Go(go) => self.go(&go, read_at),
            Command::Stop => self.engine.stop(),
            Command::PonderHit => self.engine.ponder_hit(),
            Command::Debug(on) => self.engine.settings.debug = on,
            Command::Register(words) if words == "later" => {}
            Command::Register(_) => {
                for state in ["checking", "ok"] {
                    self.output.send(&Message::Registration(state.to_owned()));
                }
            }
            Command::Quit => {
                self.finish_waiting();
                return Flow::Leave;
            }
            Command::Show => self.output.line(Diagram(self.engine.position())),
            Command::Eval => self.tools.eval(self.engine.position(), self.engine.network(), &self.output),
            Command::Perft(depth) => {
                self.tools.perft(self.engine.position(), depth, &self.output, &self.interrupt);
            }
            Command::Bench(depth) => {
                self.tools.bench(depth, self.engine.path_hash(), &self.output, &self.interrupt)
            }
            Command::Help => self.output.line(HELP),
        }
        Flow::Continue
    }

    /// Must `command` wait until the search and the commands queued before it are done?
    fn needs_idle_engine(&self, command: &Command) -> bool {
        match command {
            // Errors are reported at once.
            Command::SetOption { name, value } => options::parse(name, value.as_deref()).is_ok(),
            // What comes before it is done when it is answered, as soon as the search that was stopped ends.
            Command::IsReady => !self.waiting.is_empty() && self.engine.is_stopping(),
            // They show the position that was set before them.
            Command::Show | Command::Eval => !self.waiting.is_empty(),
            // If a `go` is queued, they apply to that search.
            Command::Stop | Command::PonderHit => {
                self.waiting.iter().any(|(command, _)| matches!(command, Command::Go(_)))
            }
            Command::UciNewGame
            | Command::Position { .. }
            | Command::Go(_)
            | Command::Perft(_)
            | Command::Bench(_) => true,
            _ => false,
        }
    }

    fn is_searching(&self) -> bool {
        self.current.searching.load(Ordering::Acquire)
    }

    /// Carries out the queued commands in order after the search. Those after the next `go` are queued again.
    fn catch_up(&mut self) {
        if self.is_searching() || self.waiting.is_empty() {
            return;
        }
        for (command, read_at) in std::mem::take(&mut self.waiting) {
            // `quit` is never queued.
            self.handle(command, read_at);
        }
    }

    /// At `quit` and the end of the input: carries out the queued commands and stops each search among them, so that
    /// every `go` has its `bestmove`.
    fn finish_waiting(&mut self) {
        while !self.waiting.is_empty() {
            self.engine.stop();
            self.engine.wait();
            self.catch_up();
        }
    }

    fn is_ready(&mut self) {
        if !self.is_searching() {
            self.engine.open_hash_file();
            self.engine.prepare_learning();
        }
        self.output.send(&Message::ReadyOk);
    }

    fn identify(&self) {
        let name = concat!("Engram ", env!("CARGO_PKG_VERSION"));
        self.output.send(&Message::IdName(name.to_owned()));
        self.output.send(&Message::IdAuthor("the Engram developers".to_owned()));
        for option in options::declarations() {
            self.output.send(&Message::Option(option));
        }
        self.output.send(&Message::UciOk);
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let mut target =
            Target { engine: &mut self.engine, settings: &mut self.settings, debug_log: &self.debug_log };
        let setting = options::parse(name, value).map_err(|error| error.to_string());
        if let Err(error) = setting.and_then(|setting| setting(&mut target)) {
            self.output.say(error);
        }
    }

    fn set_position(&mut self, start: &str, moves: &[UciMove]) {
        let position = translate::parse_fen(start, self.settings.chess960).map_err(|error| error.to_string());
        let set = |position| self.engine.set_position(position, moves).map_err(|error| error.to_string());
        if let Err(error) = position.and_then(set) {
            self.output.say(format_args!("{error}{POSITION_STAYS}"));
        } else if let Some(assumed) = translate::assumed(start, self.settings.chess960) {
            self.output.say(assumed);
        }
    }

    fn go(&mut self, go: &Go, read_at: Instant) {
        let position = self.engine.position();
        let (limits, illegal) = translate::limits(go, position);
        let ignored: Vec<String> =
            go.unknown.iter().cloned().chain(illegal.iter().map(UciMove::to_string)).collect();
        if !ignored.is_empty() {
            self.output.say(format_args!(
                "ignored (not understood, or not legal here): {}",
                quote(&ignored.join(" "))
            ));
        }
        let mode = translate::notation(position, self.settings.chess960);
        self.current.chess960_notation.store(mode.is_chess960(), Ordering::Relaxed);
        let material = if self.settings.show_wdl { position.material_points().max(1) } else { 0 };
        self.current.wdl_material.store(material, Ordering::Relaxed);
        self.current.searching.store(true, Ordering::Relaxed);
        self.engine.go(limits, read_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoTools;

    impl Tools for NoTools {
        fn bench(&self, _: Option<u64>, _: PathHash, _: &Output, _: &Interrupt) {}
        fn eval(&self, _: &Position, _: Arc<Network>, _: &Output) {}
        fn perft(&self, _: &Position, _: u64, _: &Output, _: &Interrupt) {}
    }

    fn session() -> Session<NoTools> {
        Session::new(NoTools, Output::new(std::io::sink()), DebugLog::default(), Places::default())
    }

    fn handle(session: &mut Session<NoTools>, line: &str) {
        session.handle(line.parse().expect("a command"), Instant::now());
    }

    #[test]
    fn a_stop_that_waits_interrupts_what_waits_before_it() {
        let mut session = session();
        session.current.searching.store(true, Ordering::Release);
        handle(&mut session, "perft 12");
        handle(&mut session, "go infinite");
        session.interrupt.request();
        handle(&mut session, "stop");
        assert!(session.interrupt.is_requested());
        session.current.searching.store(false, Ordering::Release);
        session.catch_up();
        assert!(!session.interrupt.is_requested());
        session.engine.wait();
    }

    #[test]
    fn what_comes_when_the_search_has_just_ended_does_not_overtake_what_waited_for_that() {
        let mut session = session();
        session.current.searching.store(true, Ordering::Release);
        handle(&mut session, "position startpos moves e2e4");
        session.current.searching.store(false, Ordering::Release);
        handle(&mut session, "position startpos moves d2d4");
        session.catch_up();
        assert!(session.engine.position().fen().starts_with("rnbqkbnr/pppppppp/8/8/3P4/"));
    }
}
