//! Learning, as the engine carries it: records from the file to the table before a search, what the search
//! taught to the file before its move is announced.
//!
//! Nothing here waits for a lock. The file is opened by a thread of its own, as soon as the user's program asks
//! whether the engine is ready, at the latest at the first search; what takes longer than [`PATIENCE`] comes while
//! the search is on. Once it is open, the look for news and the writing of a record are calls to the system of
//! microseconds, made at once: what a search taught is in the file when its move is announced. So a disk that hangs
//! keeps back the move.

use std::{
    path::{Path as FilePath, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::{
    desk::{Desk, Late, Opened, Opening, Root, State},
    teacher::{PORTION, Teacher},
};
use crate::{
    learn::{
        game::Line,
        policy::{self, Conditions, Known, Mode, Rules},
        recall::Memory,
    },
    position::{Path, Position},
    search::{Event, EventSink, Limits, OnEnd, Resumed, best_line},
    tt::{Learned, ScoreWindow, Table},
    types::{Bound, Depth, Score},
};

/// How long a search waits for what the file says.
const PATIENCE: Duration = Duration::from_millis(2);
/// How long the end of the program waits for the file, if there is something to write.
const PARTING: Duration = Duration::from_millis(500);
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
    read_only: bool,
    /// As the user named it.
    file: Option<PathBuf>,
    /// Where it is otherwise.
    default_file: Option<PathBuf>,
    desk: Arc<Office>,
    teacher: Teacher,
}

/// The desk, and the bell that rings when the file lies on it.
#[derive(Default)]
struct Office {
    desk: Mutex<Desk>,
    opened: Condvar,
}

/// What a search gets from learning.
#[derive(Default)]
pub(super) struct Lessons {
    /// The move to look at first.
    pub first_move: Option<Move>,
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
    pub table: &'a Arc<Table>,
    pub sink: &'a Arc<EventSink>,
    /// Is the engine to play below its strength?
    pub limited_strength: bool,
    /// Is it no move of a game that is thought about?
    pub analysis: bool,
    /// Are draws not counted as draws?
    pub contempt: bool,
}

impl Learning {
    /// Learning that is off.
    pub fn new(rules: Rules, fuzz: i32) -> Learning {
        Learning {
            rules,
            fuzz,
            read_only: false,
            file: None,
            default_file: None,
            desk: Arc::default(),
            teacher: Teacher::default(),
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
        } else {
            self.teacher.dismiss();
            let mut desk = self.desk();
            desk.sweep(present.table);
            desk.announce_again();
        }
    }

    /// Sets the file, none for the default one, which the next search opens. What is in the table is swept. If it
    /// is that file already and can be used, nothing happens: match runners say all options again before each
    /// game, when the one before has not been learned from yet.
    pub fn set_file(&mut self, file: Option<PathBuf>, present: &Present<'_>) {
        if file != self.file || matches!(self.desk().state, State::Failed(_)) {
            self.file = file;
            self.reopen(present);
        }
    }

    /// Sets where the file is if the user names none.
    pub fn set_default_file(&mut self, file: PathBuf, present: &Present<'_>) {
        self.default_file = Some(file);
        self.reopen(present);
    }

    /// Reads and uses the file only.
    pub fn set_read_only(&mut self, read_only: bool, present: &Present<'_>) {
        if read_only != self.read_only {
            self.read_only = read_only;
            self.reopen(present);
        }
    }

    /// Lets go of the file, after the game was learned from as far as it has come: its lessons belong there.
    fn reopen(&mut self, present: &Present<'_>) {
        self.teacher.dismiss();
        let mut desk = self.desk();
        desk.end_game(present.last);
        desk.sweep(present.table);
        desk.close();
    }

    /// A game is over, `last` its last position and the moves that led there, if they were played: learns from its
    /// result, and has everything synced soon.
    pub fn end_game(&self, last: Option<(&Position, &Line)>) {
        self.desk().end_game(last);
    }

    /// Has a file that is there opened in the background, since a search is to come, and waits for that as long
    /// as `patience`.
    pub fn prepare(&self, patience: Duration) {
        if let Some(file) = self.wanted() {
            self.open(file);
            drop(wait(&self.desk, self.desk(), patience));
        }
    }

    /// The file, if something is to be learned.
    fn wanted(&self) -> Option<&PathBuf> {
        let file = self.file.as_ref().or(self.default_file.as_ref());
        file.filter(|_| self.rules.mode != Mode::Off)
    }

    /// Brings what is known into the table, and prepares to learn from the search.
    pub fn begin(&mut self, search: &Beginning<'_>) -> Lessons {
        let Some(file) = self.wanted() else { return Lessons::default() };
        let deadline = Instant::now() + PATIENCE;
        self.desk().want();
        self.open(file);
        self.teacher.dismiss();
        let (mode, fuzz) = (self.rules.mode, self.fuzz);
        let mut desk = wait(&self.desk, locked(&self.desk.desk), PATIENCE);
        desk.leave_games(search.line, search.analysis);
        let gone = desk.catch_up();
        search.table.unlearn(gone);
        for message in desk.messages(mode) {
            (search.sink)(Event::Message(message));
        }
        let mut lessons = Lessons { first_move: None, on_end: Some(self.on_end(search)) };
        match &desk.state {
            State::Open(opened) => {
                let learned = learned(opened, search.root, search.table, mode, fuzz);
                self.teacher.teach(search.table, learned, deadline);
                let known = opened.recall.get(search.root.key());
                let known = known.filter(|memory| policy::is_used(mode, memory.suspicion));
                lessons.first_move = known.and_then(|memory| search.root.unpack(memory.known.best));
            }
            State::Opening => {
                let (root, table) = (search.root.clone(), Arc::clone(search.table));
                desk.late = Some(Late { root, table, mode, fuzz });
            }
            State::Closed | State::Failed(_) => {}
        }
        lessons
    }

    /// What an analysis of this root came to that was learned, if it has a move and is true at the end of `path`.
    pub fn resumed(&self, root: &Position, path: &Path) -> Option<Resumed> {
        let desk = self.desk();
        let memory = desk.searched(root.key()).filter(|memory| memory.known.depth > 0)?;
        let window = lesson(memory, 0).at_root(path)?;
        let (score, bound) = match window.exact() {
            Some(score) => (score, Bound::Exact),
            None => (window.lower, Bound::Lower),
        };
        if bound == Bound::Lower && window.upper < Score::INFINITE || score == -Score::INFINITE {
            return None;
        }
        let Known { depth, best, .. } = memory.known;
        let first = root.unpack(best)?;
        let line = best_line(root, first, depth, |key| Some(desk.searched(key)?.known.best));
        Some(Resumed { depth, score, bound, line })
    }

    /// Has the file opened in the background, if it is not yet; one that is missing, if a search wants it.
    fn open(&self, file: &FilePath) {
        let mut desk = self.desk();
        let Some(ticket) = desk.begin_opening() else { return };
        let (file, read_only, office) = (file.to_owned(), self.read_only, Arc::clone(&self.desk));
        let started = thread::Builder::new().name("learn-open".to_owned()).spawn(move || {
            // Here too, the disk may take its time.
            if !file.exists() && locked(&office.desk).leaves_missing(ticket) {
                office.opened.notify_all();
                return;
            }
            let opened = Opened::open(&file, read_only);
            let mut desk = locked(&office.desk);
            let Opening { taught, unwanted } = desk.finish_opening(ticket, opened);
            let sweeps = desk.sweeps();
            drop(desk);
            office.opened.notify_all();
            drop(unwanted);
            if let Some((table, learned)) = taught {
                // In portions, so that nobody who comes to the desk waits.
                for portion in learned.chunks(PORTION) {
                    let desk = locked(&office.desk);
                    if !desk.may_teach(sweeps) {
                        return;
                    }
                    table.teach(portion.iter().copied());
                }
            }
        });
        if let Err(error) = started {
            desk.finish_opening(ticket, Err(format!("no thread to open the learning file ({error})")));
        }
    }

    fn on_end(&self, search: &Beginning<'_>) -> Box<OnEnd> {
        let (desk, sink) = (Arc::clone(&self.desk), Arc::clone(search.sink));
        let root = Root {
            position: search.root.clone(),
            line: search.line.clone(),
            rules: self.rules,
            conditions: Conditions {
                search_moves: !search.limits.search_moves.is_empty(),
                mate: search.limits.mate.is_some(),
                repetition: search.path.has_repeated(),
                limited_strength: search.limited_strength,
                contempt: search.contempt,
                analysis: search.analysis,
                ..Conditions::default()
            },
        };
        Box::new(move |ending| {
            let messages = locked(&desk.desk).conclude(&root, ending);
            for message in messages {
                sink(Event::Message(message));
            }
        })
    }

    /// Held by a search thread only while it concludes.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        locked(&self.desk.desk)
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        // What was learned before the file was open is worth waiting for, as long as `quit` may take.
        let office = Arc::clone(&self.desk);
        let waited = office.opened.wait_timeout_while(self.desk(), PARTING, |desk| desk.is_waiting());
        waited.unwrap_or_else(PoisonError::into_inner).0.close();
    }
}

/// Waits for a file that is being opened.
fn wait<'a>(office: &'a Office, desk: MutexGuard<'a, Desk>, patience: Duration) -> MutexGuard<'a, Desk> {
    let is_opening = |desk: &mut Desk| matches!(desk.state, State::Opening);
    let waited = office.opened.wait_timeout_while(desk, patience, is_opening);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// What a search of `root` can use, the nearest first, as many as the table takes.
pub(super) fn learned(
    opened: &Opened,
    root: &Position,
    table: &Table,
    mode: Mode,
    fuzz: i32,
) -> Vec<Learned> {
    let relevant = opened.recall.relevant(root, table.learned_share()).into_iter();
    relevant.filter(|m| policy::is_used(mode, m.suspicion)).map(|memory| lesson(memory, fuzz)).collect()
}

/// A record as the table takes it, its window wider by `fuzz` printed centipawns.
pub fn lesson(memory: &Memory, fuzz: i32) -> Learned {
    let (fuzz, depth) = match memory.foreign {
        false => (fuzz, memory.known.depth),
        true => (fuzz * FOREIGN_FUZZ_HALVES / 2, memory.known.depth - FOREIGN_DEPTH),
    };
    let (lower, upper) = memory.window(fuzz);
    Learned {
        key: memory.key,
        best: memory.known.best,
        window: ScoreWindow { lower, upper },
        depth: depth.max(Depth(1)),
        halfmoves: u32::from(memory.halfmoves),
    }
}

fn locked(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
