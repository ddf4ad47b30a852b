//! Learning, as the engine carries it: records from the file to the table before a search, what the search
//! taught to the file before its move is announced.
//!
//! The file is opened in place when the user's program asks whether the engine is ready, at the latest by the first
//! search: a disk that hangs delays `readyok`, as it would with a log file. Once it is open, the look for news and the
//! writing of a record are calls to the system of microseconds; what has to wait for a lock is the work of a thread.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use shakmaty::{Move, Position as _};

#[cfg(feature = "fleet")]
use crate::fleet::{LearningShare, ServerAddress};
use crate::{
    eval::Evaluation,
    learn::{
        self, Origin, Record, Store, Written,
        game::Line,
        journal::{self, Journal},
        outcome,
        policy::{self, Conditions, Known, Mode, Rules, Trigger},
        session::{Found, Live, Root, Session},
    },
    position::{Path, Position},
    search::{
        ADVICE_DEPTH, ADVICE_MARGIN, Ending, Event, EventSink, Limits, OnEnd, Preference, Preferences,
        Resumed, Strength, best_line,
    },
    tt::{Learned, ScoreWindow, Table},
    types::{Bound, Depth, Score},
};

/// A record of another evaluation is believed as if it had been searched so much shallower, and its window is
/// wider by so many halves. Measured: such a score is as far from the truth as one of our own two plies
/// shallower, and its error is 1.4 times that of our own at the same depth (benches/notes/learning.md).
const FOREIGN_DEPTH: i32 = 2;
const FOREIGN_FUZZ_HALVES: i32 = 3;

/// What the engine holds of learning.
pub(super) struct Learning {
    pub rules: Rules,
    /// How much wider than found a window is believed, in printed centipawns.
    pub fuzz: i32,
    /// Which evaluation the searches use.
    evaluation: Evaluation,
    /// Is more to be said of each search?
    pub debug: bool,
    read_only: bool,
    /// As the user named it.
    file: Option<PathBuf>,
    /// Where it is otherwise.
    default_file: Option<PathBuf>,
    /// The server through which the file is shared with other machines.
    #[cfg(feature = "fleet")]
    server: Option<ServerAddress>,
    /// Was it said that a limited engine has no memory?
    limit_told: bool,
    memory: Arc<Mutex<Memory>>,
    sink: Arc<EventSink>,
}

/// The file and the games being played: used by the engine, and at the end of a search by its thread.
#[derive(Default)]
struct Memory {
    file: State,
    /// What the next search is to say.
    messages: Vec<String>,
    session: Session,
}

#[derive(Default)]
enum State {
    /// Not wanted yet.
    #[default]
    Closed,
    /// In use.
    Open(Opened),
    /// Not to be had.
    Failed,
}

/// A file in use.
struct Opened {
    store: Store,
    #[cfg(feature = "fleet")]
    share: Option<LearningShare>,
    journal: Option<Journal>,
    /// How many records the user was told of.
    told: Option<usize>,
}

/// What a search gets from learning.
#[derive(Default)]
pub(super) struct Lessons {
    /// The move to look at first.
    pub first_move: Option<Move>,
    /// The moves that are preferred.
    pub preferences: Preferences,
    /// To be called with what the search found.
    pub on_end: Option<Box<OnEnd>>,
}

/// What there is while an option is set.
pub(super) struct Present<'a> {
    /// The last position and the moves that led to it, if they were played.
    pub last: Option<(&'a Position, &'a Line)>,
    pub table: &'a Table,
}

/// A search that is about to begin.
pub(super) struct Beginning<'a> {
    pub root: &'a Position,
    pub line: &'a Line,
    pub path: &'a Path,
    pub limits: &'a Limits,
    pub table: &'a Table,
    /// Is the engine to play below its strength?
    pub limited_strength: bool,
    /// Is it no move of a game that is thought about?
    pub analysis: bool,
    pub strength: Strength,
}

impl Learning {
    /// Learning that is off.
    pub fn new(rules: Rules, fuzz: i32, sink: Arc<EventSink>) -> Learning {
        Learning {
            rules,
            fuzz,
            evaluation: Evaluation::default(),
            debug: false,
            read_only: false,
            file: None,
            default_file: None,
            #[cfg(feature = "fleet")]
            server: None,
            limit_told: false,
            memory: Arc::default(),
            sink,
        }
    }

    /// Sets what is learned. What is in the table is swept.
    pub fn set_mode(&mut self, mode: Mode, present: &Present<'_>) {
        if mode == self.rules.mode {
            return;
        }
        self.rules.mode = mode;
        if mode == Mode::Off {
            self.reopen(present);
        } else if let State::Open(opened) = &mut self.memory().file {
            present.table.unlearn(opened.store.live().keys());
            opened.told = None;
        }
    }

    /// Sets the file, none for the default one, which the next search opens. What is in the table is swept. If it
    /// is that file already and can be used, nothing happens: match runners say all options again before each
    /// game, when the one before has not been learned from yet.
    pub fn set_file(&mut self, file: Option<PathBuf>, present: &Present<'_>) {
        if file != self.file || matches!(self.memory().file, State::Failed) {
            self.file = file;
            self.reopen(present);
        }
    }

    /// Sets where the file is if the user names none.
    pub fn set_default_file(&mut self, file: PathBuf, present: &Present<'_>) {
        self.default_file = Some(file);
        self.reopen(present);
    }

    /// Sets which evaluation the searches use.
    pub fn set_evaluation(&mut self, evaluation: Evaluation, present: &Present<'_>) {
        self.evaluation = evaluation;
        self.reopen(present);
    }

    /// Reads and uses the file only.
    pub fn set_read_only(&mut self, read_only: bool, present: &Present<'_>) {
        if read_only != self.read_only {
            self.read_only = read_only;
            self.reopen(present);
        }
    }

    /// Sets the server through which the file is shared, none to share it no longer.
    #[cfg(feature = "fleet")]
    pub fn set_server(&mut self, server: Option<ServerAddress>, present: &Present<'_>) {
        if server != self.server {
            self.server = server;
            self.reopen(present);
        }
    }

    /// Lets go of the file, after the game was learned from as far as it has come: its lessons belong there.
    fn reopen(&mut self, present: &Present<'_>) {
        let mut memory = self.memory();
        memory.end_game(present.last);
        if let State::Open(opened) = &memory.file {
            present.table.unlearn(opened.store.live().keys());
        }
        memory.close(&*self.sink);
    }

    /// A game is over, `last` its last position and the moves that led there, if they were played: learns from its
    /// result, and has everything synced soon.
    pub fn end_game(&self, last: Option<(&Position, &Line)>) {
        self.memory().end_game(last);
    }

    /// Opens a file that is there, since a search is to come.
    pub fn prepare(&self) {
        if self.wanted().is_some_and(|file| file.exists()) {
            self.open(&mut self.memory());
        }
    }

    /// The file, if something is to be learned.
    fn wanted(&self) -> Option<&PathBuf> {
        let file = self.file.as_ref().or(self.default_file.as_ref());
        file.filter(|_| self.rules.mode != Mode::Off)
    }

    /// Opens the file, one that is missing too, and learns from games whose processes were killed.
    fn open(&self, memory: &mut Memory) {
        let (Some(file), State::Closed) = (self.wanted(), &memory.file) else { return };
        memory.session = Session::new(self.evaluation.fingerprint());
        let mode = if self.read_only { learn::Mode::Read } else { learn::Mode::Write };
        memory.file = match Store::open(file, mode) {
            Err(error) => {
                memory.messages.push(format!("nothing is learned: {error}"));
                State::Failed
            }
            Ok(store) => {
                let opened = Opened {
                    #[cfg(feature = "fleet")]
                    share: self
                        .server
                        .as_ref()
                        .filter(|_| !store.is_read_only())
                        .map(|server| LearningShare::start(server.clone(), file.clone())),
                    store,
                    journal: None,
                    told: None,
                };
                if !opened.store.is_read_only() {
                    let live: &Live<'_> = &|key| opened.store.live().get(key);
                    match journal::take_over(file, &self.rules, &memory.session, live) {
                        Ok(records) if records.is_empty() => {}
                        Ok(records) => {
                            let count = counted(records.len(), "record");
                            memory
                                .messages
                                .push(format!("learning: {count} of games whose engines were killed"));
                            opened.append(records);
                        }
                        Err(error) => log::debug!("games of killed engines cannot be looked for: {error}"),
                    }
                }
                State::Open(opened)
            }
        };
    }

    /// Brings what is known into the table, and prepares to learn from the search.
    pub fn begin(&mut self, search: &Beginning<'_>) -> Lessons {
        if self.wanted().is_none() {
            return Lessons::default();
        }
        if search.limited_strength {
            if !std::mem::replace(&mut self.limit_told, true) {
                self.say("learning: an engine of limited strength uses no memory and adds none".to_owned());
            }
            return Lessons::default();
        }
        let mut memory = self.memory();
        self.open(&mut memory);
        for message in std::mem::take(&mut memory.messages) {
            self.say(message);
        }
        memory.leave_games(search.line, search.analysis);
        let State::Open(opened) = &mut memory.file else { return Lessons::default() };
        opened.store.read_forward();
        search.table.unlearn(opened.store.take_gone());
        for message in opened.messages(self.rules.mode) {
            self.say(message);
        }
        let ring = opened.store.live();
        let relevant = ring.relevant(search.root, search.table.learned_share());
        let in_reach = relevant.len();
        let used = relevant.iter().filter(|record| {
            record.origin != Origin::Outcome && policy::is_used(self.rules.mode, record.is_suspicion())
        });
        let evaluation_id = self.evaluation.fingerprint();
        let brought = search.table.teach(used.filter_map(|record| {
            let learned = lesson(record, evaluation_id, self.fuzz)?;
            Some(with_contempt(learned, record, &search.strength, search.root))
        }));
        if self.debug {
            self.say(format!(
                "learning: {} in reach, {brought} new in the table",
                counted(in_reach, "record")
            ));
        }
        let known = ring.get(search.root.key());
        let advised = known.as_ref().map(|record| advised(record, search.root)).unwrap_or_default();
        if !advised.is_empty() {
            self.say(format!("learning: advised here: {}", names(&advised, search.root)));
        }
        let known = known.filter(|record| policy::is_used(self.rules.mode, record.is_suspicion()));
        let first_move = known.and_then(|record| search.root.unpack(record.best));
        let preferences = match advised.is_empty() {
            false => Preferences(advised.iter().map(|&m| (m, Preference::Advised)).collect()),
            true if search.analysis => Preferences::default(),
            true => outcomes(&ring, search.root),
        };
        drop(ring);
        drop(memory);
        Lessons { first_move, preferences, on_end: Some(self.on_end(search, advised)) }
    }

    /// What an analysis of this root came to that was learned, if it has a move and is true at the end of `path`.
    pub fn resumed(&self, root: &Position, path: &Path) -> Option<Resumed> {
        let memory = self.memory();
        let State::Open(opened) = &memory.file else { return None };
        let ring = opened.store.live();
        let evaluation_id = self.evaluation.fingerprint();
        let searched = |key| ring.get(key).filter(|record| record.is_search_with(evaluation_id));
        let record = searched(root.key()).filter(|record| record.depth > 0)?;
        let window = lesson(&record, evaluation_id, 0)?.at_root(path)?;
        let (score, bound) = match window.exact() {
            Some(score) => (score, Bound::Exact),
            None => (window.lower, Bound::Lower),
        };
        if bound == Bound::Lower && window.upper < Score::INFINITE || score == -Score::INFINITE {
            return None;
        }
        let (depth, first) = (Depth(i32::from(record.depth)), root.unpack(record.best)?);
        let line = best_line(root, first, depth, |key| Some(searched(key)?.best));
        Some(Resumed { depth, score, bound, line })
    }

    fn on_end(&self, search: &Beginning<'_>, advised: Vec<Move>) -> Box<OnEnd> {
        let (memory, sink) = (Arc::clone(&self.memory), Arc::clone(&self.sink));
        let root = Root {
            position: search.root.clone(),
            line: search.line.clone(),
            rules: self.rules,
            conditions: Conditions {
                search_moves: !search.limits.search_moves.is_empty(),
                mate: search.limits.mate.is_some(),
                repetition: search.path.has_repeated(),
                analysis: search.analysis,
                ..Conditions::default()
            },
        };
        let draw = search.strength.draw(search.root, search.root);
        Box::new(move |ending| {
            let mut messages = Vec::new();
            if ending.learned_cutoffs > 0 {
                let cutoffs = counted(ending.learned_cutoffs as usize, "cutoff");
                messages.push(format!("learning: {cutoffs} of this search"));
            }
            messages.extend(overruled(&advised, ending, &root.position));
            messages.extend(locked(&memory).search_ended(&root, ending, draw));
            for message in messages {
                sink(Event::Message(message));
            }
        })
    }

    fn say(&self, message: String) {
        (self.sink)(Event::Message(message));
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        locked(&self.memory)
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        self.memory().close(&*self.sink);
    }
}

impl Memory {
    /// The games that a search at the end of `line` does not go on with are over.
    fn leave_games(&mut self, line: &Line, analysis: bool) {
        self.end(|session, live| session.leave_games(line, analysis, live));
    }

    fn end_game(&mut self, last: Option<(&Position, &Line)>) {
        self.end(|session, live| session.end_game(last, live));
        if let State::Open(opened) = &self.file {
            opened.store.sync();
        }
    }

    /// Writes what the end of games teaches.
    fn end(&mut self, end: impl FnOnce(&mut Session, &Live<'_>) -> Vec<Record>) {
        let State::Open(opened) = &mut self.file else {
            self.session = Session::default();
            return;
        };
        // Somebody may know better by now.
        opened.store.read_forward();
        let records = end(&mut self.session, &|key| opened.store.live().get(key));
        opened.append(records);
        if let Some(journal) = opened.journal.as_mut().filter(|_| !self.session.is_playing()) {
            journal.clear();
        }
    }

    /// Learns from a search that has ended. Gives back what the user should be told.
    fn search_ended(&mut self, root: &Root, ending: &Ending, draw: Score) -> Option<String> {
        let State::Open(opened) = &mut self.file else { return None };
        opened.store.read_forward();
        let conditions = Conditions { pondered_in_vain: ending.pondering, ..root.conditions };
        let root = &Root { conditions, ..root.clone() };
        let found = Found {
            course: &ending.course.without_contempt(draw),
            line: &ending.line,
            score: if ending.score == draw { Score::ZERO } else { ending.score },
            bound: ending.bound,
            slack: ending.slack,
            depth: ending.depth,
            nodes: ending.nodes,
        };
        let taught = self.session.search_ended(root, &found, &|key| opened.store.live().get(key));
        if let Some(turn) = taught.turn.filter(|_| !root.conditions.analysis) {
            opened.take_down(root, &turn);
        }
        let written = opened.append(taught.records);
        let trigger = taught.drop?;
        let when = if trigger == Trigger::InsideSearch { "during the search" } else { "since the last move" };
        let waits = match written {
            Written::Now => "",
            Written::Queued => "; it waits until the file is free",
            Written::Never => return None,
        };
        Some(format!("learning: this position, the score fell {when}{waits}"))
    }

    /// Lets go of the file; what was learned is written first, for at most half a second.
    fn close(&mut self, sink: &EventSink) {
        let State::Open(opened) = std::mem::take(&mut self.file) else { return };
        for message in opened.other_messages() {
            sink(Event::Message(message));
        }
        let path = opened.store.path().display().to_string();
        let lost = opened.store.close();
        if lost > 0 {
            let lost = counted(lost, "record");
            let message = format!(
                "learning: {lost} could not be written to {path}: another process holds its lock, or it cannot be written"
            );
            sink(Event::Message(message));
        }
    }
}

impl Opened {
    /// Writes records down, and says what became of the one that fared worst.
    fn append(&self, records: Vec<Record>) -> Written {
        records.into_iter().map(|record| self.store.append(record)).max().unwrap_or(Written::Now)
    }

    /// Takes down a search of a game that is going on, in case the process is killed.
    fn take_down(&mut self, root: &Root, turn: &learn::session::PlayedTurn) {
        if self.store.is_read_only() {
            return;
        }
        let journal = match &mut self.journal {
            Some(journal) => Ok(journal),
            none => Journal::beside(self.store.path()).map(|journal| none.insert(journal)),
        };
        if let Err(error) = journal.and_then(|journal| journal.write(root, turn)) {
            log::debug!("the game in progress cannot be taken down: {error}");
        }
    }

    /// What the user should be told before a search: what is used, then only what changed.
    fn messages(&mut self, mode: Mode) -> Vec<String> {
        let mut messages = Vec::new();
        let count = self.store.live().len();
        let records = counted(count, "record");
        match self.told.replace(count) {
            None => {
                let mode = if mode == Mode::All { "all" } else { "drop" };
                messages.push(format!("learning {mode}: {records} in {}", self.store.path().display()));
            }
            Some(before) if before != count => {
                messages.push(format!("learning: {records} now, {before} before"))
            }
            Some(_) => {}
        }
        messages.extend(self.other_messages());
        messages
    }

    /// What the threads at the file have to say.
    fn other_messages(&self) -> Vec<String> {
        #[cfg(feature = "fleet")]
        let shared = self.share.iter().flat_map(LearningShare::take_messages);
        #[cfg(not(feature = "fleet"))]
        let shared = std::iter::empty();
        self.store.take_messages().into_iter().chain(shared).collect()
    }
}

/// A record as the table takes it in searches with the evaluation named, its window wider by `fuzz` printed
/// centipawns; nothing if it contradicts itself.
pub fn lesson(record: &Record, evaluation_id: u16, fuzz: i32) -> Option<Learned> {
    let Known { lower, upper, depth, best } = Known::of(record)?;
    let (fuzz, depth) = match record.evaluation_id == evaluation_id {
        true => (fuzz, depth),
        false => (fuzz * FOREIGN_FUZZ_HALVES / 2, depth - FOREIGN_DEPTH),
    };
    // A search is not that exact. No bound stays none, and draws, mates and tablebase results are exact.
    let widened = |score: Score, by: i32| {
        let is_exact = score == Score::ZERO || score.0.abs() > Score::MAX_EVALUATION.0;
        if is_exact { score } else { (score + Score::from_centipawns(by).0).clamp_evaluation() }
    };
    Some(Learned {
        key: record.key,
        best,
        window: ScoreWindow { lower: widened(lower, -fuzz), upper: widened(upper, fuzz) },
        depth: depth.max(Depth(1)),
        halfmoves: u32::from(record.halfmoves),
    })
}

/// Draws as a player of this style counts them: contempt is no part of what is stored (Scherzer, Scherzer and Tjaden
/// 1990).
fn with_contempt(mut learned: Learned, record: &Record, strength: &Strength, root: &Position) -> Learned {
    if strength.contempt != 0
        && (learned.window.lower == Score::ZERO || learned.window.upper == Score::ZERO)
        && let Ok(position) = record.position()
    {
        let draw = strength.draw(&position, root);
        for bound in [&mut learned.window.lower, &mut learned.window.upper] {
            if *bound == Score::ZERO {
                *bound = draw;
            }
        }
    }
    learned
}

/// The moves that a person advised in this position.
fn advised(record: &Record, root: &Position) -> Vec<Move> {
    record.advised().filter_map(|m| root.unpack(m)).collect()
}

/// Says that none of the advised moves is played, and why.
fn overruled(advised: &[Move], ending: &Ending, root: &Position) -> Option<String> {
    let best = *ending.line.first().filter(|best| !advised.is_empty() && !advised.contains(best))?;
    let names = names(advised, root);
    let reason = format!(
        "mated, or {ADVICE_MARGIN} centipawns worse at depth {ADVICE_DEPTH} or more",
        ADVICE_DEPTH = ADVICE_DEPTH.get()
    );
    Some(format!(
        "learning: not as advised ({names}), but {}: the advice is {reason}",
        self::names(&[best], root)
    ))
}

fn names(moves: &[Move], root: &Position) -> String {
    let mode = root.chess().castles().mode();
    moves.iter().map(|m| m.to_uci(mode).to_string()).collect::<Vec<_>>().join(" ")
}

/// What the games that went on with each move came to.
fn outcomes(ring: &learn::Ring, root: &Position) -> Preferences {
    let outcome = |m: Move| {
        let record = ring.get(root.play(m).key()).filter(|record| record.origin == Origin::Outcome)?;
        // For the opponent: bounded from below if the game was lost, from above if it was won.
        let score = record.lower.centipawns().or(record.upper.centipawns())?;
        Some((m, Preference::Outcome(-score * 1000 / outcome::RESULT)))
    };
    Preferences(root.legal_moves().iter().filter_map(|&m| outcome(m)).collect())
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learn::LearnedScore, types::Ply};

    #[test]
    fn windows_are_widened_where_scores_are_estimates() {
        let window = |lower, upper| {
            let record = Record {
                lower: LearnedScore::from_score(lower),
                upper: LearnedScore::from_score(upper),
                evaluation_id: 7,
                ..Record::new(&Position::default(), Origin::EveryRoot).expect("the position fits")
            };
            let ScoreWindow { lower, upper } = lesson(&record, 7, 20)?.window;
            Some((lower, upper))
        };
        let cp = Score::from_centipawns;
        let (mate, infinite) = (Score::mate_in(Ply(5)), Score::INFINITE);
        let wider = cp(20).0;
        let rows = [
            ((cp(-50), cp(-30)), (cp(-50) - wider, cp(-30) + wider)),
            ((-infinite, cp(10)), (-infinite, cp(10) + wider)),
            ((cp(-10), infinite), (cp(-10) - wider, infinite)),
            ((Score::ZERO, Score::ZERO), (Score::ZERO, Score::ZERO)),
            ((mate, mate), (mate, mate)),
        ];
        for ((lower, upper), expected) in rows {
            assert_eq!(window(lower, upper), Some(expected), "{lower:?} {upper:?}");
        }
        assert_eq!(window(cp(10), cp(-10)), None, "it contradicts itself");
    }
}
