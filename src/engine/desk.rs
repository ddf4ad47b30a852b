//! The desk at which learning works: the open file, what is known from it, and the game being played.

use std::{path::Path, sync::Arc};

use shakmaty::{ByColor, Color};

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
    /// The thread that opened last is at it.
    Opening,
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

    /// Writes down what was learned, unless somebody who knows better has said what to play there.
    fn append(&self, record: Record) -> Written {
        if self.recall.get(record.key).is_some_and(|memory| memory.advice) {
            return Written::Never;
        }
        self.store.append(record)
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

/// What one side of the game knows of it.
#[derive(Default)]
struct Side {
    game: Game,
    /// The rules of its last search.
    rules: Option<Rules>,
    /// The drops that the end of the game may confirm.
    drops: Vec<Record>,
}

/// File, knowledge and game.
#[derive(Default)]
pub(super) struct Desk {
    pub state: State,
    /// The game, as each side searched it: whoever analyses, or plays against itself, searches for both.
    sides: ByColor<Side>,
    /// Learned while a file was being opened, with the number of the thread that does.
    waiting: Vec<(u64, Record)>,
    /// Positions that are not known any more, and not taken out of the table yet.
    gone: Vec<PositionKey>,
    /// What the search that is on wants of the file as soon as it is open.
    pub late: Option<Late>,
    /// Does a search want the file, also if there is none yet?
    wanted: bool,
    /// Number of the thread that opened last.
    ticket: u64,
    /// How often the table was swept.
    sweeps: u64,
}

/// What a thread that has opened a file is to do next, without holding the desk.
#[derive(Default)]
pub(super) struct Opening {
    /// What the search that is on is to be taught.
    pub taught: Option<(Arc<Table>, Vec<Learned>)>,
    /// A file that is not wanted any more, to be closed: that may take a while.
    pub unwanted: Option<Opened>,
}

impl Desk {
    /// If nobody is at the file yet: the number of the thread that may open it now.
    pub fn begin_opening(&mut self) -> Option<u64> {
        if !matches!(self.state, State::Closed) {
            return None;
        }
        self.ticket += 1;
        self.state = State::Opening;
        Some(self.ticket)
    }

    /// A search is to come: the file is to be made if there is none.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// There is no file, finds the thread with this number. Is that all, because nobody wants one yet?
    pub fn leaves_missing(&mut self, ticket: u64) -> bool {
        let is_current = self.is_opening(ticket);
        let is_wanted = is_current && self.wanted || self.is_waiting_for(ticket);
        if is_current && !is_wanted {
            self.state = State::Closed;
        }
        !is_wanted
    }

    fn is_waiting_for(&self, ticket: u64) -> bool {
        self.waiting.iter().any(|&(waiting_for, _)| waiting_for == ticket)
    }

    fn is_opening(&self, ticket: u64) -> bool {
        self.ticket == ticket && matches!(self.state, State::Opening)
    }

    /// The thread with this number has done its work; another file may be wanted by now. What was learned for
    /// this one is written in any case.
    pub fn finish_opening(&mut self, ticket: u64, opened: Result<Opened, String>) -> Opening {
        for (_, record) in self.waiting.extract_if(.., |&mut (waiting_for, _)| waiting_for == ticket) {
            if let Ok(opened) = &opened {
                opened.append(record);
            }
        }
        if !self.is_opening(ticket) {
            return Opening { taught: None, unwanted: opened.ok() };
        }
        let late = self.late.take();
        let mut taught = None;
        self.state = match opened {
            Ok(opened) => {
                taught = late.map(|Late { root, table, mode, fuzz }| {
                    let learned = learned(&opened, &root, &table, mode, fuzz);
                    (table, learned)
                });
                State::Open(opened)
            }
            Err(error) => State::Failed(Some(error)),
        };
        Opening { taught, unwanted: None }
    }

    /// Is something to be written as soon as a file is open?
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes in what is new in the file. Gives back the positions that are not known any more.
    pub fn catch_up(&mut self) -> Vec<PositionKey> {
        let mut gone = std::mem::take(&mut self.gone);
        if let State::Open(opened) = &mut self.state {
            gone.extend(opened.catch_up());
        }
        gone
    }

    /// Lets go of the file; what was learned is written first, for at most half a second.
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.late = None;
        self.wanted = false;
    }

    /// Has the next search say again what is used.
    pub fn announce_again(&mut self) {
        if let State::Open(opened) = &mut self.state {
            opened.told = None;
        }
    }

    /// May what was begun after so many sweeps still be brought into the table?
    pub fn may_teach(&self, sweeps: u64) -> bool {
        self.sweeps == sweeps && matches!(self.state, State::Open(_))
    }

    /// How often the table was swept.
    pub fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// Takes everything learned out of the table.
    pub fn sweep(&mut self, table: &Table) {
        self.sweeps += 1;
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
            State::Closed | State::Opening => {}
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
        let color = root.position.turn();
        let is_played = !root.conditions.analysis;
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
        let earlier = self.sides[color].game.earlier(&root.line);
        let decide = |desk: &Desk| {
            policy::decide(&root.rules, &search, earlier, desk.known(root.position.key()).as_ref())
        };
        let mut decided = decide(self);
        if decided.is_ok() {
            // Another process may have come to more meanwhile: what is known there is not replaced by less.
            self.gone = self.catch_up();
            decided = decide(self);
        }
        if policy::never(&root.rules, &search).is_none()
            && let Some((depth, score)) = policy::standing(&search)
        {
            let side = &mut self.sides[color];
            if earlier.is_none() {
                side.drops.clear();
            }
            side.game.searched(&root.position, &root.line, depth, score);
            side.rules = Some(root.rules);
        }
        if let Some((_, score)) = policy::standing(&search)
            && policy::never(&root.rules, &search).is_none_or(|silence| silence == Silence::Repetition)
        {
            self.sides[color].game.stood(&root.line, score, !is_played);
        }
        match decided {
            Ok(lesson) => messages.extend(self.remember(root, ending, lesson)),
            // It fell here before, and again: if this game is lost, that is what will be confirmed.
            Err(Silence::Known) if self.known_as(root.position.key(), |memory| memory.suspicion) => {
                let again = policy::decide(&root.rules, &search, earlier, None).ok();
                self.sides[color].drops.extend(again.and_then(|lesson| record(root, ending, &lesson)));
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

    /// Is the position known, and that of what is known?
    fn known_as(&self, key: PositionKey, is: impl Fn(&Memory) -> bool) -> bool {
        matches!(&self.state, State::Open(opened) if opened.recall.get(key).is_some_and(is))
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
            self.sides[root.position.turn()].drops.push(record.clone());
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
            State::Open(opened) => opened.append(record),
            State::Opening => {
                self.waiting.push((self.ticket, record));
                Written::Queued
            }
            State::Closed | State::Failed(_) => Written::Never,
        }
    }

    /// A search at the end of `line` is to come: the games that it does not go on with are over, and if it is one
    /// of an `analysis`, those that were played.
    pub fn leave_games(&mut self, line: &Line, analysis: bool) {
        for color in Color::ALL {
            let game = &self.sides[color].game;
            if game.is_left_for(line) || analysis && game.is_played() {
                self.end(color, false);
            }
        }
    }

    /// The game is over. `last` is the last position and the moves that led to it, if they were played.
    pub fn end_game(&mut self, last: Option<(&Position, &Line)>) {
        for color in Color::ALL {
            let mated = last.is_some_and(|(root, line)| {
                let is_mate = root.in_check() && !root.has_legal_move();
                is_mate && root.turn() == color && self.sides[color].game.is_mated_after(line)
            });
            self.end(color, mated);
        }
        if let State::Open(opened) = &self.state {
            opened.store.sync();
        }
    }

    /// The game is over as this side searched it: if it was lost, its drops are confirmed, and what it came to is
    /// remembered of its moves.
    fn end(&mut self, color: Color, mated: bool) {
        let Side { game, rules, drops } = std::mem::take(&mut self.sides[color]);
        let Some(outcome) = game.outcome(mated) else { return };
        // Somebody may know better by now.
        self.gone = self.catch_up();
        for record in drops.into_iter().filter(|_| outcome == Outcome::Lost) {
            let known = self.known(record.key);
            if known.is_none_or(|known| known.depth.get() <= i32::from(record.depth)) {
                let flags = Flags { confirmed: true, ..record.flags };
                self.append(Record { flags, time: learn::now(), ..record });
            }
        }
        for judgement in rules.map(|rules| game.judge(outcome, &rules)).unwrap_or_default() {
            self.learned(&judgement.position, &judgement.known, Origin::Outcome, 1, 1);
        }
    }

    /// Remembers what is known of a position that was no root, unless that is known already.
    fn learned(&mut self, position: &Position, known: &Known, origin: Origin, plies: u8, nodes: u64) {
        let key = position.key();
        let said = self.known(key).is_some_and(|live| policy::says(&live, known));
        if said || self.was_searched_beyond(key, known.depth) {
            return;
        }
        let Ok(blank) = Record::new(position, origin) else { return };
        self.append(Record { since_root: plies, ..with(blank, known, nodes) });
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Bound, Score};

    fn opened(file: &Path) -> Result<Opened, String> {
        Opened::open(file, false)
    }

    fn records(file: &Path) -> usize {
        opened(file).expect("a learning file").recall.len()
    }

    #[test]
    fn what_was_learned_while_a_file_was_being_opened_comes_into_that_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for file in [&first, &second] {
            learn::create(&learn::disk::SystemDisk, file).expect("a learning file");
        }
        let mut desk = Desk::default();
        let early = desk.begin_opening().expect("nobody is at it");
        let record = Record::new(&Position::default(), Origin::EveryRoot).expect("a record");
        assert_eq!(desk.append(record), Written::Queued);
        desk.close();
        let late = desk.begin_opening().expect("nobody is at it");
        assert!(desk.finish_opening(late, opened(&second)).unwanted.is_none());
        assert!(desk.is_waiting());
        assert!(!desk.leaves_missing(early), "it is wanted for what waits for it");
        let unwanted = desk.finish_opening(early, opened(&first)).unwanted;
        assert!(unwanted.is_some() && !desk.is_waiting() && matches!(desk.state, State::Open(_)));
        drop(unwanted);
        desk.close();
        assert_eq!((records(&first), records(&second)), (1, 0));
    }

    /// One process searches for both sides: a GUI that analyses, or plays the engine against itself.
    #[test]
    fn the_outcome_is_that_of_the_side_that_searched() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("both");
        learn::create(&learn::disk::SystemDisk, &file).expect("a learning file");
        let mut desk = Desk::default();
        let ticket = desk.begin_opening().expect("nobody is at it");
        desk.finish_opening(ticket, opened(&file));
        let rules = Rules { mode: Mode::Drop, drop: 33, min_depth: Depth(4) };
        let (mut position, mut line) = (Position::default(), Line::default());
        line.start = position.key();
        for (uci, score) in [
            ("e2e4", 20),
            ("e7e5", -20),
            ("f1c4", 60),
            ("b8c6", -60),
            ("d1h5", 100),
            ("a7a6", -550),
            ("a2a3", 550),
            ("g8f6", -700),
            ("h5f7", 700),
        ] {
            let m = uci.parse::<shakmaty::uci::UciMove>().expect("a move");
            let played = m.to_move(position.chess()).expect("legal");
            let score = Score::from_centipawns(score);
            let mut course = policy::Course::default();
            (4..=6).for_each(|depth| course.finished(Depth(depth), score));
            let (position_before, conditions) = (position.clone(), Conditions::default());
            let root = Root { position: position_before, line: line.clone(), rules, conditions };
            desk.conclude(&root, &ending(course, played, score));
            position = position.play(played);
            line.moves.push(m);
        }
        desk.end_game(Some((&position, &line)));
        desk.close();
        let known = opened(&file).expect("a learning file").recall;
        let outcomes: Vec<_> =
            known.keys().filter_map(|key| known.get(key)).filter(|m| m.confirmed).collect();
        let (after_white, after_black): (Vec<&Memory>, Vec<_>) =
            outcomes.into_iter().partition(|memory| memory.game_ply % 2 == 1);
        assert!(!after_white.is_empty() && after_white.iter().all(|memory| memory.known.upper < Score::ZERO));
        assert!(!after_black.is_empty() && after_black.iter().all(|memory| memory.known.lower > Score::ZERO));
    }

    fn ending(course: policy::Course, m: shakmaty::Move, score: Score) -> Ending {
        Ending {
            course,
            line: vec![m],
            score,
            bound: Bound::Exact,
            depth: Depth(6),
            nodes: 1000,
            pondering: false,
            learned_cutoffs: 0,
        }
    }

    #[test]
    fn a_missing_file_is_opened_when_a_search_wants_it() {
        let mut desk = Desk::default();
        let ticket = desk.begin_opening().expect("nobody is at it");
        assert!(desk.leaves_missing(ticket) && matches!(desk.state, State::Closed));
        let ticket = desk.begin_opening().expect("nobody is at it");
        desk.want();
        assert!(!desk.leaves_missing(ticket) && matches!(desk.state, State::Opening));
    }
}
