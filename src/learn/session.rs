//! The lesson pipeline: the searches of a session go in, records come out. Pure: no file, no clock but the time of a
//! record. The engine, `learn import` and the recovery of games that a killed process left all use it.
//!
//! ```text
//! root, iterations, ending --> search_ended --> drops, roots, positions of the main line
//! end of a game            --> end_game     --> confirmed drops, what the game came to
//! ```

use shakmaty::{ByColor, Color, Move};

use super::{
    Flags, LearnedScore, Origin, Record,
    game::{Game, Line},
    policy::{
        self, Conditions, Course, Known, Lesson, Mode, Outcome, Rules, Search, Silence, Trigger,
        is_near_counter,
    },
    variation,
};
use crate::{
    position::Position,
    types::{Bound, Depth, PackedMove, PositionKey, Score},
};

/// Asks what is live about a position.
pub type Live<'a> = dyn Fn(PositionKey) -> Option<Record> + 'a;

/// The root of a search, and the rules it began under.
#[derive(Clone, Debug)]
pub struct Root {
    /// The position.
    pub position: Position,
    /// Where the game began, and the moves that led here.
    pub line: Line,
    /// What is learned.
    pub rules: Rules,
    /// What may make the search worthless as a lesson.
    pub conditions: Conditions,
}

/// What a search of a root found.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// Its iterations.
    pub course: &'a Course,
    /// The main line.
    pub line: &'a [Move],
    /// Its score.
    pub score: Score,
    /// What the score says.
    pub bound: Bound,
    /// By how much the root may be worth more than the line, because the memory preferred its first move.
    pub slack: i32,
    /// The last iteration that was finished.
    pub depth: Depth,
    /// Nodes searched.
    pub nodes: u64,
}

/// What a search taught.
#[derive(Clone, Debug, Default)]
pub struct Taught {
    /// To be appended.
    pub records: Vec<Record>,
    /// Why the root is among them, if its score fell.
    pub drop: Option<Trigger>,
    /// How the search saw the game.
    pub turn: Option<PlayedTurn>,
}

/// A search of a game, with what the game's end needs to know of it.
#[derive(Clone, Debug)]
pub struct PlayedTurn {
    /// Its depth.
    pub depth: Depth,
    /// Its score, for the side that searched.
    pub score: Score,
    /// Does it teach? Others only tell how the game stood.
    pub teaches: bool,
    /// A drop that the end of the game may confirm.
    pub drop: Option<Record>,
}

/// What one side of the game knows of it.
#[derive(Clone, Debug, Default)]
struct Side {
    game: Game,
    /// The rules of its last search.
    rules: Option<Rules>,
    /// The drops that the end of the game may confirm.
    drops: Vec<Record>,
}

/// The games of a session, as each side searched them: whoever analyses, or plays against itself, searches for both.
#[derive(Clone, Debug, Default)]
pub struct Session {
    evaluation_id: u16,
    sides: ByColor<Side>,
}

impl Session {
    /// A session without a game, whose scores rest on this evaluation.
    pub fn new(evaluation_id: u16) -> Session {
        Session { evaluation_id, ..Session::default() }
    }

    /// Is a game being played?
    pub fn is_playing(&self) -> bool {
        self.sides.iter().any(|side| side.game.is_played())
    }

    /// Learns from a search that has ended.
    pub fn search_ended(&mut self, root: &Root, found: &Found<'_>, live: &Live<'_>) -> Taught {
        let search = Search {
            course: found.course,
            conditions: root.conditions,
            line: 1,
            depth: found.depth,
            score: found.score,
            bound: found.bound,
            slack: found.slack,
            best: found.line.first().map_or(PackedMove::NONE, |&m| PackedMove::pack(m)),
        };
        let key = root.position.key();
        let earlier = self.sides[root.position.turn()].game.earlier(&root.line);
        let writer = Writer { live, evaluation_id: self.evaluation_id };
        let known = writer.comparable(&root.position).and_then(|live| Known::of(&live));
        let mut taught = Taught::default();
        let mut drop = None;
        match policy::decide(&root.rules, &search, earlier, known.as_ref()) {
            Ok(lesson) => {
                taught.records = writer.lessons(root, found, &lesson);
                if lesson.trigger != Trigger::EveryRoot {
                    drop = writer.root(root, found, &lesson);
                    taught.drop = (!taught.records.is_empty()).then_some(lesson.trigger);
                }
            }
            // It fell here before, and again: if this game is lost, that is what will be confirmed.
            Err(Silence::Known) if live(key).is_some_and(|live| live.is_suspicion()) => {
                let again = policy::decide(&root.rules, &search, earlier, None).ok();
                drop = again.and_then(|lesson| writer.root(root, found, &lesson));
            }
            Err(silence) => log::debug!("nothing learned: {silence:?}"),
        }
        let never = policy::never(&root.rules, &search);
        if let Some((depth, score)) = policy::standing(&search)
            && never.is_none_or(|silence| silence == Silence::Repetition)
        {
            let turn = PlayedTurn { depth, score, teaches: never.is_none(), drop };
            self.played(root, &turn);
            taught.turn = Some(turn);
        }
        taught
    }

    /// Takes down a search of a game.
    pub fn played(&mut self, root: &Root, turn: &PlayedTurn) {
        let side = &mut self.sides[root.position.turn()];
        if !side.game.goes_on(&root.line) {
            side.drops.clear();
        }
        if turn.teaches {
            side.game.searched(&root.position, &root.line, turn.depth, turn.score);
            side.rules = Some(root.rules);
        }
        side.game.stood(&root.line, turn.score, root.conditions.analysis);
        side.drops.extend(turn.drop.clone());
    }

    /// A search at the end of `line` is to come: the games that it does not go on with are over, and if it is one of
    /// an `analysis`, those that were played. What they teach.
    pub fn leave_games(&mut self, line: &Line, analysis: bool, live: &Live<'_>) -> Vec<Record> {
        let mut records = Vec::new();
        for color in Color::ALL {
            let game = &self.sides[color].game;
            if game.is_left_for(line) || analysis && game.is_played() {
                records.extend(self.end(color, None, live));
            }
        }
        records
    }

    /// The game is over. `last` is the last position and the moves that led to it, if they were played. What it
    /// teaches.
    pub fn end_game(&mut self, last: Option<(&Position, &Line)>, live: &Live<'_>) -> Vec<Record> {
        let mut records = Vec::new();
        for color in Color::ALL {
            let mated = last.is_some_and(|(root, line)| {
                let is_mate = root.in_check() && !root.has_legal_move();
                is_mate && root.turn() == color && self.sides[color].game.is_mated_after(line)
            });
            records.extend(self.end(color, mated.then_some(Outcome::Lost), live));
        }
        records
    }

    /// The game is over as this side searched it, with this outcome if it is known: if it was lost, its drops are
    /// confirmed, and what it came to is learned of its moves.
    pub fn end(&mut self, color: Color, known: Option<Outcome>, live: &Live<'_>) -> Vec<Record> {
        let Side { game, rules, drops } = std::mem::take(&mut self.sides[color]);
        let Some(outcome) = game.outcome(known) else { return Vec::new() };
        let mut records = Vec::new();
        for drop in drops.into_iter().filter(|_| outcome == Outcome::Lost) {
            // Somebody may know better by now.
            if live(drop.key).is_none_or(|live| live.depth <= drop.depth) {
                let flags = Flags { confirmed: true, ..drop.flags };
                records.push(Record { flags, time: super::now(), ..drop });
            }
        }
        let writer = Writer { live, evaluation_id: self.evaluation_id };
        for judgement in rules.map(|rules| game.judge(outcome, &rules)).unwrap_or_default() {
            let new = writer.if_new(&judgement.position, &judgement.known, Origin::Outcome, 1);
            records.extend(new.map(|record| Record { since_root: 1, ..record }));
        }
        writer.admitted(records)
    }
}

/// What the lessons of one moment are measured by.
struct Writer<'a> {
    live: &'a Live<'a>,
    evaluation_id: u16,
}

impl Writer<'_> {
    /// What a lesson is worth writing down: the root, and in an analysis the positions of its main line.
    fn lessons(&self, root: &Root, found: &Found<'_>, lesson: &Lesson) -> Vec<Record> {
        let Some(record) = self.root(root, found, lesson) else { return Vec::new() };
        let Known { lower, upper, depth, .. } = lesson.known;
        let every_root = record.origin == Origin::EveryRoot && root.conditions.analysis;
        if every_root && self.was_searched_beyond(&root.position, depth) {
            return Vec::new();
        }
        let mut records = vec![record];
        if every_root && lower == upper {
            let least = root.rules.min_depth;
            for station in variation::stations(&root.position, found.line, lower, depth, least) {
                let new = self.if_new(&station.position, &station.known, Origin::EveryRoot, found.nodes);
                records.extend(new.map(|record| Record { since_root: station.plies, ..record }));
            }
        }
        self.admitted(records)
    }

    /// What a search taught about its root; nothing where there are more pieces than a record has room for, or rights
    /// that no game leads to.
    fn root(&self, root: &Root, found: &Found<'_>, lesson: &Lesson) -> Option<Record> {
        let origin = if root.rules.mode == Mode::All { Origin::EveryRoot } else { Origin::Drop };
        self.record(&root.position, &lesson.known, origin, found.nodes)
    }

    /// A record of a position that was no root, unless that is known already.
    fn if_new(&self, position: &Position, known: &Known, origin: Origin, nodes: u64) -> Option<Record> {
        let said = self.comparable(position).and_then(|live| Known::of(&live));
        let is_said = said.is_some_and(|said| policy::says(&said, known));
        if is_said || self.was_searched_beyond(position, known.depth) {
            return None;
        }
        self.record(position, known, origin, nodes)
    }

    fn record(&self, position: &Position, known: &Known, origin: Origin, nodes: u64) -> Option<Record> {
        let blank = Record::new(position, origin).ok()?;
        Some(Record {
            best: known.best,
            lower: LearnedScore::from_score(known.lower),
            upper: LearnedScore::from_score(known.upper),
            depth: u8::try_from(known.depth.get()).unwrap_or(u8::MAX),
            flags: Flags { confirmed: origin == Origin::Outcome, ..blank.flags },
            log2_nodes: nodes.max(1).ilog2() as u8,
            evaluation_id: self.evaluation_id,
            session: super::session(),
            time: super::now(),
            ..blank
        })
    }

    /// What is live about a position, if it was found where the fifty-move counter was as far away as it is now.
    fn comparable(&self, position: &Position) -> Option<Record> {
        let live = (self.live)(position.key())?;
        let same_clock = u32::from(live.halfmoves) == position.halfmoves();
        (same_clock || !is_near_counter(&live)).then_some(live)
    }

    /// Did a search with our evaluation come to more than `depth` here? What the line of another root says, or a
    /// shallower analysis (of several lines, or told to stop there), does not replace that.
    fn was_searched_beyond(&self, position: &Position, depth: Depth) -> bool {
        self.comparable(position).is_some_and(|live| {
            live.is_search_with(self.evaluation_id) && i32::from(live.depth) > depth.get()
        })
    }

    /// Without records that may not take the place of what is live: advice stays, and so does what was found far
    /// from the fifty-move counter if the new one was found near it, for that holds for its clock only.
    fn admitted(&self, mut records: Vec<Record>) -> Vec<Record> {
        records.retain(|new| {
            (self.live)(new.key).is_none_or(|live| {
                live.origin != Origin::Advice && (!is_near_counter(new) || is_near_counter(&live))
            })
        });
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(position: &Position, line: &Line, mode: Mode) -> Root {
        let rules = Rules { mode, drop: 33, min_depth: Depth(4) };
        Root { position: position.clone(), line: line.clone(), rules, conditions: Conditions::default() }
    }

    fn found<'a>(course: &'a mut Course, line: &'a [Move], centipawns: i32) -> Found<'a> {
        let score = Score::from_centipawns(centipawns);
        (4..=6).for_each(|depth| course.finished(Depth(depth), score));
        Found { course, line, score, bound: Bound::Exact, slack: 0, depth: Depth(6), nodes: 1000 }
    }

    /// One process searches for both sides: a GUI that analyses, or plays the engine against itself.
    #[test]
    fn the_outcome_is_that_of_the_side_that_searched() {
        let mut session = Session::new(1);
        let (mut position, mut line) = (Position::default(), Line::default());
        line.start = position.fen();
        let game = "e2e4 20 e7e5 -20 f1c4 60 b8c6 -60 d1h5 100 a7a6 -550 a2a3 550 g8f6 -700 h5f7 700";
        let words: Vec<&str> = game.split(' ').collect();
        for pair in words.chunks(2) {
            let uci = pair[0].parse::<shakmaty::uci::UciMove>().expect("a move");
            let played = uci.to_move(position.chess()).expect("legal");
            let mut course = Course::default();
            let found = &found(&mut course, std::slice::from_ref(&played), pair[1].parse().expect("a score"));
            session.search_ended(&root(&position, &line, Mode::Drop), found, &|_| None);
            position = position.play(played);
            line.moves.push(uci);
        }
        assert!(session.is_playing());
        let records = session.end_game(Some((&position, &line)), &|_| None);
        let (after_white, after_black): (Vec<Known>, Vec<_>) = {
            let outcomes = records.iter().filter(|record| record.origin == Origin::Outcome);
            let (white, black): (Vec<&Record>, Vec<_>) =
                outcomes.partition(|record| record.game_ply % 2 == 1);
            let known = |records: Vec<&Record>| records.into_iter().filter_map(Known::of).collect();
            (known(white), known(black))
        };
        assert!(!after_white.is_empty() && after_white.iter().all(|known| known.upper < Score::ZERO));
        assert!(!after_black.is_empty() && after_black.iter().all(|known| known.lower > Score::ZERO));
        assert!(!session.is_playing());
    }

    #[test]
    fn advice_and_what_holds_for_every_clock_stay() {
        let position = Position::default();
        let line = Line { start: position.fen(), ..Line::default() };
        let teach = |live: Record| {
            let mut course = Course::default();
            let found = &found(&mut course, &[], 20);
            let mut session = Session::new(1);
            session
                .search_ended(&root(&position, &line, Mode::All), found, &|_| Some(live.clone()))
                .records
                .len()
        };
        let live = |origin, halfmoves, depth| Record {
            halfmoves,
            depth,
            ..Record::new(&position, origin).expect("the position fits")
        };
        assert_eq!(teach(live(Origin::EveryRoot, 0, 3)), 1);
        assert_eq!(teach(live(Origin::Advice, 0, 3)), 0);
        assert_eq!(teach(live(Origin::EveryRoot, 90, 30)), 1, "that held for a clock of 90 only");
    }
}
