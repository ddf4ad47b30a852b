//! The desk at which learning works: the open file, what is known from it, and the game being played.

use std::{path::Path, sync::Arc};

use super::{
    learning::learned,
    records::{memory, record, with},
};
use crate::{
    learn::{
        self, Flags, News, Origin, Record, Store, Written,
        game::{Game, Line},
        policy::{self, Conditions, Known, Lesson, Mode, Outcome, Rules, Search, Silence, Trigger},
        recall::{Memory, Recall},
        variation,
    },
    position::Position,
    search::Ending,
    tt::{Learned, Table},
    types::{Depth, PackedMove, PositionKey},
};

/// More records than the file holds by so many, and those that fell out of the ring are looked for.
const OVERDUE: usize = 1024;

/// Where the file stands.
#[derive(Default)]
pub(super) enum State {
    /// Not wanted yet.
    #[default]
    Closed,
    /// A thread with this number is at it.
    Opening(u64),
    /// In use.
    Open(Opened),
    /// Not to be had; why, until that was told.
    Failed(Option<String>),
}

/// A file in use.
pub(super) struct Opened {
    store: Store,
    pub recall: Recall,
    /// How many records the user was told of.
    told: Option<usize>,
}

impl Opened {
    /// Opens the file and reads it once. May take as long as the disk does.
    pub fn open(file: &Path, read_only: bool) -> Result<Opened, String> {
        let mode = if read_only { learn::Mode::Read } else { learn::Mode::Write };
        let store = Store::open(file, mode).map_err(|error| error.to_string())?;
        let mut opened = Opened { store, recall: Recall::default(), told: None };
        opened.catch_up();
        Ok(opened)
    }

    /// Takes in what is new in the file. Gives back the positions that are not known any more.
    fn catch_up(&mut self) -> Vec<PositionKey> {
        let mut gone = Vec::new();
        let news = self.store.read_forward();
        let ring = self.store.live();
        match news {
            News::Nothing => return gone,
            News::Since(told) if self.recall.len() < ring.len() + OVERDUE => {
                for (_, record) in ring.since(told) {
                    match memory(&record) {
                        Some(memory) => self.recall.insert(&record.setup, memory),
                        None => gone.extend(self.recall.remove(record.key).then_some(record.key)),
                    }
                }
            }
            News::Since(_) | News::Everything => {
                let before = std::mem::take(&mut self.recall);
                self.recall.reserve(ring.len());
                for (_, record) in ring.iter() {
                    if let Some(memory) = memory(&record) {
                        self.recall.insert(&record.setup, memory);
                    }
                }
                gone.extend(before.keys().filter(|&key| self.recall.get(key).is_none()));
            }
        }
        gone
    }
}

/// The root of a search, and the rules it began under.
pub(super) struct Root {
    pub position: Position,
    pub line: Line,
    pub rules: Rules,
    pub conditions: Conditions,
}

/// A search that began before the file was open.
pub(super) struct Late {
    pub root: Position,
    pub table: Arc<Table>,
    pub mode: Mode,
    pub fuzz: i32,
}

/// File, knowledge and game.
#[derive(Default)]
pub(super) struct Desk {
    pub state: State,
    game: Game,
    /// The rules of its last search.
    rules: Option<Rules>,
    /// The drops that the end of the game may confirm.
    drops: Vec<Record>,
    /// Learned while the file was being opened.
    waiting: Vec<Record>,
    /// What the search that is on wants of the file as soon as it is open.
    pub late: Option<Late>,
    /// Number of the thread that opened last.
    ticket: u64,
}

impl Desk {
    /// If nobody is at the file yet: the number of the thread that may open it now.
    pub fn begin_opening(&mut self) -> Option<u64> {
        if !matches!(self.state, State::Closed) {
            return None;
        }
        self.ticket += 1;
        self.state = State::Opening(self.ticket);
        Some(self.ticket)
    }

    /// The thread with this number has done its work; another file may be wanted by now. Gives back what the
    /// search that is on is to be taught.
    pub fn finish_opening(
        &mut self,
        ticket: u64,
        opened: Result<Opened, String>,
    ) -> Option<(Arc<Table>, Vec<Learned>)> {
        if !matches!(self.state, State::Opening(current) if current == ticket) {
            return None;
        }
        let late = self.late.take();
        match opened {
            Ok(opened) => {
                for record in self.waiting.drain(..) {
                    opened.store.append(record);
                }
                let taught = late.map(|Late { root, table, mode, fuzz }| {
                    let learned = learned(&opened, &root, &table, mode, fuzz);
                    (table, learned)
                });
                self.state = State::Open(opened);
                taught
            }
            Err(error) => {
                self.state = State::Failed(Some(error));
                None
            }
        }
    }

    /// Is something to be written as soon as the file is open?
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Opening(_)) && !self.waiting.is_empty()
    }

    /// Takes in what is new in the file. Gives back the positions that are not known any more.
    pub fn catch_up(&mut self) -> Vec<PositionKey> {
        match &mut self.state {
            State::Open(opened) => opened.catch_up(),
            _ => Vec::new(),
        }
    }

    /// Lets go of the file; what was learned is written first, for at most half a second.
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.late = None;
    }

    /// Has the next search say again what is used.
    pub fn announce_again(&mut self) {
        if let State::Open(opened) = &mut self.state {
            opened.told = None;
        }
    }

    /// Takes everything learned out of the table.
    pub fn sweep(&self, table: &Table) {
        if let State::Open(opened) = &self.state {
            table.unlearn(opened.recall.keys());
        }
    }

    /// What the user should be told before a search: what is used, then only what changed.
    pub fn messages(&mut self, mode: Mode) -> Vec<String> {
        let mut messages = Vec::new();
        match &mut self.state {
            State::Open(Opened { store, recall, told }) => {
                let records = counted(recall.len(), "record");
                match told.replace(recall.len()) {
                    None => {
                        let mode = match mode {
                            Mode::All => "all",
                            _ => "drop",
                        };
                        let path = store.path().display();
                        messages.push(format!("learning {mode}: {records} in {path}"));
                    }
                    Some(before) if before != recall.len() => {
                        messages.push(format!("learning: {records} now, {before} before"));
                    }
                    Some(_) => {}
                }
                messages.extend(store.take_messages());
            }
            State::Failed(error) => {
                messages.extend(error.take().map(|error| format!("nothing is learned: {error}")));
            }
            State::Closed | State::Opening(_) => {}
        }
        messages
    }

    /// Learns from a search that has ended. Gives back what the user should be told.
    pub fn conclude(&mut self, root: &Root, ending: &Ending) -> Vec<String> {
        self.late = None;
        let mut messages = Vec::new();
        if ending.learned_cutoffs > 0 {
            messages.push(format!(
                "learning: {} of this search",
                counted(ending.learned_cutoffs as usize, "cutoff")
            ));
        }
        let conditions = Conditions { pondered_in_vain: ending.pondering, ..root.conditions };
        let search = Search {
            course: &ending.course,
            conditions,
            line: 1,
            depth: ending.depth,
            score: ending.score,
            bound: ending.bound,
            best: ending.line.first().map_or(PackedMove::NONE, |&m| PackedMove::pack(m)),
        };
        let earlier = self.game.earlier(&root.line);
        let decided = policy::decide(&root.rules, &search, earlier, self.known(root.position.key()).as_ref());
        if policy::never(&root.rules, &search).is_none()
            && let Some((depth, score)) = policy::standing(&search)
        {
            if earlier.is_none() {
                self.drops.clear();
            }
            self.game.searched(&root.position, root.line.clone(), depth, score);
            self.rules = Some(root.rules);
        }
        if let Some((_, score)) = policy::standing(&search)
            && policy::never(&root.rules, &search).is_none_or(|silence| silence == Silence::Repetition)
        {
            self.game.stood(&root.line, score);
        }
        match decided {
            Ok(lesson) => messages.extend(self.remember(root, ending, lesson)),
            // It fell here before, and again: if this game is lost, that is what will be confirmed.
            Err(Silence::Known) if self.is_suspicion(root.position.key()) => {
                let again = policy::decide(&root.rules, &search, earlier, None).ok();
                self.drops.extend(again.and_then(|lesson| record(root, ending, &lesson)));
            }
            Err(silence) => log::debug!("nothing learned: {silence:?}"),
        }
        messages
    }

    fn known(&self, key: PositionKey) -> Option<Known> {
        match &self.state {
            State::Open(opened) => opened.recall.get(key).map(|memory| memory.known),
            _ => None,
        }
    }

    /// What a search of this root with our evaluation came to.
    pub fn searched(&self, key: PositionKey) -> Option<&Memory> {
        let State::Open(opened) = &self.state else { return None };
        opened.recall.get(key).filter(|memory| memory.searched && !memory.foreign)
    }

    /// Did a search with our evaluation come to more than `depth` here? What the line of another root says, or a
    /// shallower analysis (of several lines, or told to stop there), does not replace that.
    fn was_searched_beyond(&self, key: PositionKey, depth: Depth) -> bool {
        self.searched(key).is_some_and(|memory| memory.known.depth > depth)
    }

    fn is_suspicion(&self, key: PositionKey) -> bool {
        match &self.state {
            State::Open(opened) => opened.recall.get(key).is_some_and(|memory| memory.suspicion),
            _ => false,
        }
    }

    fn remember(&mut self, root: &Root, ending: &Ending, lesson: Lesson) -> Option<String> {
        let record = record(root, ending, &lesson)?;
        let origin = record.origin;
        if root.conditions.analysis
            && origin == Origin::EveryRoot
            && self.was_searched_beyond(record.key, lesson.known.depth)
        {
            return None;
        }
        if origin == Origin::Drop {
            self.drops.push(record.clone());
        }
        let written = self.append(record);
        let Known { lower, upper, depth, .. } = lesson.known;
        if origin == Origin::EveryRoot && root.conditions.analysis && lower == upper {
            let least = root.rules.min_depth;
            for station in variation::stations(&root.position, &ending.line, lower, depth, least) {
                self.learned(
                    &station.position,
                    &station.known,
                    Origin::EveryRoot,
                    station.plies,
                    ending.nodes,
                );
            }
        }
        (written != Written::Never && origin == Origin::Drop).then(|| match lesson.trigger {
            Trigger::InsideSearch => "learning: this position, the score fell during the search".to_owned(),
            _ => "learning: this position, the score fell since the last move".to_owned(),
        })
    }

    fn append(&mut self, record: Record) -> Written {
        match &self.state {
            State::Open(opened) => opened.store.append(record),
            State::Opening(_) => {
                self.waiting.push(record);
                Written::Queued
            }
            State::Closed | State::Failed(_) => Written::Never,
        }
    }

    /// The game is over: if it was lost, its drops are confirmed, and what it came to is remembered of its moves.
    /// Everything is synced soon.
    pub fn end_game(&mut self, root: &Position, line: &Line) {
        let mated = root.in_check() && !root.has_legal_move() && self.game.is_mated_after(line);
        let game = std::mem::take(&mut self.game);
        let outcome = game.outcome(mated);
        for record in std::mem::take(&mut self.drops) {
            // Unless somebody knows better by now.
            let known = self.known(record.key);
            if outcome == Some(Outcome::Lost)
                && known.is_none_or(|known| known.depth.get() <= i32::from(record.depth))
            {
                let flags = Flags { confirmed: true, ..record.flags };
                self.append(Record { flags, time: learn::now(), ..record });
            }
        }
        if let (Some(outcome), Some(rules)) = (outcome, self.rules.take()) {
            for judgement in game.judge(outcome, &rules) {
                self.learned(&judgement.position, &judgement.known, Origin::Outcome, 1, 1);
            }
        }
        if let State::Open(opened) = &self.state {
            opened.store.sync();
        }
    }

    /// Remembers what is known of a position that was no root, unless that is known already.
    fn learned(&mut self, position: &Position, known: &Known, origin: Origin, plies: u8, nodes: u64) {
        let key = position.key();
        let said = self.known(key).is_some_and(|live| policy::says(&live, known));
        if said || origin == Origin::EveryRoot && self.was_searched_beyond(key, known.depth) {
            return;
        }
        let Ok(blank) = Record::new(position, origin) else { return };
        self.append(Record { since_root: plies, ..with(blank, known, nodes) });
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
