//! Learning, as the engine carries it: records from the file to the table before a search, what the search
//! taught to the file before its move is announced.
//!
//! Nothing here waits for a lock or a disk. The file is opened by a thread of its own at the first search
//! that may use it; if that takes longer than [`OPENING_PATIENCE`], the search begins without, and a later one
//! finds it open.

use std::{
    path::{Path as FilePath, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use crossbeam::channel::{Receiver, bounded};
use shakmaty::Move;

use super::desk::{Desk, Opened, Root, State};
use crate::{
    learn::{
        game::Line,
        policy::{self, Conditions, Mode, Rules},
        recall::Memory,
    },
    position::{Path, Position},
    search::{Event, Limits, OnEnd, Sink},
    tt::{Learned, ScoreWindow, Table},
    types::Depth,
};

/// How long the first search waits for the file. A full one takes 5 ms.
const OPENING_PATIENCE: Duration = Duration::from_millis(100);
/// A record of another evaluation is believed as if it had been searched so much shallower, and its window is
/// so many times wider.
const FOREIGN_DEPTH: i32 = 2;
const FOREIGN_FUZZ: i32 = 2;

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
    desk: Arc<Mutex<Desk>>,
}

/// What a search gets from learning.
#[derive(Default)]
pub(super) struct Lessons {
    /// The move to look at first.
    pub first_move: Option<Move>,
    /// To be called with what the search found.
    pub on_end: Option<Box<OnEnd>>,
}

/// A search that is about to begin.
pub(super) struct Beginning<'a> {
    pub root: &'a Position,
    pub line: &'a Line,
    pub path: &'a Path,
    pub limits: &'a Limits,
    pub table: &'a Table,
    pub sink: &'a Arc<Sink>,
    /// Is the engine to play below its strength?
    pub limited_strength: bool,
    /// Are draws not counted as draws?
    pub contempt: bool,
}

impl Learning {
    /// Learning that is off.
    pub fn new(rules: Rules, fuzz: i32) -> Learning {
        Learning { rules, fuzz, read_only: false, file: None, default_file: None, desk: Arc::default() }
    }

    /// Sets what is learned. What is in the table is swept.
    pub fn set_mode(&mut self, mode: Mode, table: &Table) {
        if mode != self.rules.mode {
            self.rules.mode = mode;
            let mut desk = self.desk();
            desk.sweep(table);
            match mode {
                Mode::Off => desk.close(),
                Mode::Drop | Mode::All => desk.announce_again(),
            }
        }
    }

    /// Sets the file, none for the default one, which the next search opens. What is in the table is swept.
    pub fn set_file(&mut self, file: Option<PathBuf>, table: &Table) {
        self.file = file;
        self.reopen(table);
    }

    /// Sets where the file is if the user names none.
    pub fn set_default_file(&mut self, file: PathBuf, table: &Table) {
        self.default_file = Some(file);
        self.reopen(table);
    }

    /// Reads and uses the file only.
    pub fn set_read_only(&mut self, read_only: bool, table: &Table) {
        self.read_only = read_only;
        self.reopen(table);
    }

    fn reopen(&self, table: &Table) {
        let mut desk = self.desk();
        desk.sweep(table);
        desk.close();
    }

    /// A game is over, at the end of `line`: learns from its result, and has everything synced soon.
    pub fn end_game(&self, root: &Position, line: &Line) {
        self.desk().end_game(root, line);
    }

    /// Brings what is known into the table, and prepares to learn from the search.
    pub fn begin(&self, search: &Beginning<'_>) -> Lessons {
        let file = self.file.as_ref().or(self.default_file.as_ref());
        let (Some(file), true) = (file, self.rules.mode != Mode::Off) else { return Lessons::default() };
        let mut desk = self.desk();
        if matches!(desk.state, State::Closed) {
            desk.state = self.start_opening(file);
            desk.settle(OPENING_PATIENCE);
        }
        desk.settle(Duration::ZERO);
        let gone = desk.catch_up();
        search.table.unlearn(gone);
        for message in desk.messages(self.rules.mode) {
            (search.sink)(Event::Message(message));
        }
        let mut lessons = Lessons { first_move: None, on_end: Some(self.on_end(search)) };
        if let State::Open(Opened { recall, .. }) = &desk.state {
            let used = |memory: &&Memory| policy::is_used(self.rules.mode, memory.suspicion);
            let relevant = recall.relevant(search.root, search.table.learned_share());
            search.table.teach(relevant.into_iter().filter(used).map(|memory| lesson(memory, self.fuzz)));
            let known = recall.get(search.root.key()).filter(used);
            lessons.first_move = known.and_then(|memory| search.root.unpack(memory.known.best));
        }
        lessons
    }

    /// Opens the file now, for searches that no clock hurries.
    pub fn open(&self, patience: Duration) {
        let Some(file) = self.file.as_ref().or(self.default_file.as_ref()) else { return };
        let mut desk = self.desk();
        if matches!(desk.state, State::Closed) {
            desk.state = self.start_opening(file);
        }
        desk.settle(patience);
    }

    fn start_opening(&self, file: &FilePath) -> State {
        let (file, read_only) = (file.to_owned(), self.read_only);
        let (done, opening): (_, Receiver<_>) = bounded(1);
        let started = thread::Builder::new().name("learn-open".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = done.send(Opened::open(&file, read_only));
        });
        match started {
            Ok(_) => State::Opening(opening),
            Err(error) => State::Failed(Some(format!("no thread to open the learning file ({error})"))),
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
                ..Conditions::default()
            },
        };
        Box::new(move |ending| {
            let messages = locked(&desk).conclude(&root, ending);
            for message in messages {
                sink(Event::Message(message));
            }
        })
    }

    /// Held by a search thread only while it concludes.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        locked(&self.desk)
    }
}

/// A record as the table takes it, its window wider by `fuzz` printed centipawns.
pub fn lesson(memory: &Memory, fuzz: i32) -> Learned {
    let (fuzz, depth) = match memory.foreign {
        false => (fuzz, memory.known.depth),
        true => (fuzz * FOREIGN_FUZZ, memory.known.depth - FOREIGN_DEPTH),
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
