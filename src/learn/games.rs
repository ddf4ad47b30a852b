//! Reconstructs games from records alone.
//!
//! A record knows its position, not its game. But the records of a game are written when it ends, at once and by one
//! process: they agree in session, side and result, in time within seconds, and each position can arise from the
//! earlier ones. An outcome belongs to the position after a move, together with the reply, so the position after the
//! reply is known too. Moves between positions that are near enough to each other can be found.

use std::{collections::BTreeMap, ops::Bound};

use shakmaty::{Color, Move, Position as _, Role};

use super::{
    game::GameEnd,
    reachability::{Reachable, Signature},
    record::{Origin, Record},
};
use crate::position::Position;

/// Seconds within which the records of a finished game are written.
const ONE_GO: u32 = 2;
/// The longest pause between two drops of a game that was not lost, in seconds; they are written during the game.
const PAUSE: u32 = 1800;
/// The longest game, in seconds.
const LONGEST: u32 = 6 * 3600;
/// The most moves that are reconstructed between two known positions. With more their order would rarely be certain.
const MAX_GAP: u16 = 3;
/// The most opening moves of a game that are reconstructed, possibly in another order.
const LONGEST_OPENING: u16 = 16;
/// The most positions tried for that.
const MAX_TRIED: u32 = 20_000;

/// A game as reconstructed from records.
pub struct LearnedGame {
    /// The side that learned.
    pub side: Color,
    /// How it ended for that side, if it was decided.
    pub outcome: Option<GameEnd>,
    /// From imported games, not the engine's own.
    pub imported: bool,
    /// When the last record was written.
    pub time: u32,
    /// The session of the process that played it.
    pub session: u32,
    /// The records, each with its sequence number.
    pub records: Vec<(u64, Record)>,
    /// Positions of the game by the plies played before.
    pub positions: BTreeMap<u16, Position>,
    /// Moves of the game by the plies played before.
    pub moves: BTreeMap<u16, Move>,
    /// The moves from the start, as far as they are known. The first of them may have been played in another order.
    pub opening: Vec<Move>,
}

/// What a record shows about the game in which it was learned.
struct GameHint<'a> {
    sequence: u64,
    record: &'a Record,
    side: Color,
    outcome: Option<GameEnd>,
    positions: Vec<(u16, Position)>,
}

/// The games of the records, oldest first. Incomplete if `goes_on` returns false.
pub fn games(records: &[(u64, Record)], goes_on: &dyn Fn() -> bool) -> Vec<LearnedGame> {
    let mut games = Vec::<LearnedGame>::new();
    let records = records.iter().take_while(|_| goes_on());
    let mut hints: Vec<_> = records.filter_map(|(sequence, record)| hint(*sequence, record)).collect();
    // Records with a result first: the drops of a game that was won are older than its end.
    hints.sort_by_key(|hint| hint.outcome.is_none());
    for hint in hints.into_iter().take_while(|_| goes_on()) {
        match games.iter_mut().rev().find(|game| game.is_of(&hint)) {
            Some(game) => game.add(hint),
            None => games.push(LearnedGame::new(hint)),
        }
    }
    games.sort_by_key(|game| game.time);
    games
}

/// The side that learned a record while it played, and how its game ended if that is known.
///
/// A drop is for the side to move. An outcome is a bound for the opponent, who is to move: a lower bound if the game
/// was lost.
pub fn player(record: &Record, turn: Color) -> Option<(Color, Option<GameEnd>)> {
    match record.origin {
        Origin::Drop | Origin::Import => Some((turn, record.flags.confirmed.then_some(GameEnd::Lost))),
        Origin::Outcome if record.is_of_won_game() => Some((!turn, Some(GameEnd::Won))),
        Origin::Outcome => Some((!turn, Some(GameEnd::Lost))),
        Origin::Study if record.is_published() => None,
        // The positions of a study are those of a lost game, except in its principal variations.
        Origin::Study if record.since_root == 0 => Some((turn, Some(GameEnd::Lost))),
        Origin::Study if record.upper.is_none() => Some((!turn, Some(GameEnd::Lost))),
        Origin::EveryRoot | Origin::Advice | Origin::Study | Origin::Opening => None,
    }
}

fn hint(sequence: u64, record: &Record) -> Option<GameHint<'_>> {
    let (position, reply) = record.position_and_move().ok()?;
    let (side, outcome) = player(record, position.turn())?;
    let ply = record.game_ply;
    let after = reply.filter(|_| is_after_move(record)).map(|m| (ply.saturating_add(1), position.play(m)));
    let positions = [Some((ply, position)), after].into_iter().flatten().collect();
    Some(GameHint { sequence, record, side, outcome, positions })
}

impl LearnedGame {
    fn new(hint: GameHint<'_>) -> LearnedGame {
        let mut game = LearnedGame {
            side: hint.side,
            outcome: hint.outcome,
            imported: hint.record.origin == Origin::Import,
            time: hint.record.time,
            session: hint.record.session,
            records: Vec::new(),
            positions: BTreeMap::new(),
            moves: BTreeMap::new(),
            opening: Vec::new(),
        };
        game.add(hint);
        game
    }

    fn add(&mut self, hint: GameHint<'_>) {
        self.time = self.time.max(hint.record.time);
        self.positions.extend(hint.positions);
        self.records.push((hint.sequence, hint.record.clone()));
    }

    /// Can the record belong to this game?
    fn is_of(&self, hint: &GameHint<'_>) -> bool {
        let GameHint { record, side, outcome, positions, .. } = hint;
        let is_ours = (self.session, self.side, self.imported)
            == (record.session, *side, record.origin == Origin::Import);
        let is_then = match (self.outcome, outcome) {
            (known, Some(_)) => known == *outcome && record.time.abs_diff(self.time) <= ONE_GO,
            (None, None) => record.time.abs_diff(self.time) <= PAUSE,
            (Some(GameEnd::Won), None) => record.time <= self.time && self.time - record.time <= LONGEST,
            // The drops of a lost game are confirmed at its end.
            (Some(GameEnd::Lost), None) => false,
        };
        is_ours && is_then && positions.iter().all(|(ply, position)| self.may_contain(*ply, position))
    }

    /// Can this position have occurred in the game?
    fn may_contain(&self, ply: u16, position: &Position) -> bool {
        let comes_after = |earlier: &Position, later: &Position, plies: u16| {
            Reachable::of(earlier).allows(&Signature::of(later)) && is_near(earlier, later, plies)
        };
        let before = self.positions.range(..ply).next_back();
        let after = self.positions.range((Bound::Excluded(ply), Bound::Unbounded)).next();
        self.positions.get(&ply).is_none_or(|known| known.key() == position.key())
            && before.is_none_or(|(&earlier, known)| comes_after(known, position, ply - earlier))
            && after.is_none_or(|(&later, known)| comes_after(position, known, later - ply))
    }

    /// Finds the moves between known positions that are near each other, if only one line leads from one to the other.
    pub fn connect(&mut self) {
        let known: Vec<(u16, Position)> =
            self.positions.iter().map(|(&ply, position)| (ply, position.clone())).collect();
        for pair in known.windows(2) {
            let [(from, earlier), (to, later)] = pair else { continue };
            let gap = (to - from <= MAX_GAP).then_some(to - from);
            let Some(line) = gap.and_then(|plies| only_line_between(earlier, later, plies)) else { continue };
            let mut position = earlier.clone();
            for (ply, m) in (*from..*to).zip(line) {
                self.positions.entry(ply).or_insert_with(|| position.clone());
                self.moves.insert(ply, m);
                position = position.play(m);
            }
        }
    }

    /// Finds the moves before the first known position. If several orders of the moves are possible, one through
    /// positions of known openings (`is_named`) is preferred.
    pub fn find_opening(&mut self, is_named: &dyn Fn(&Position) -> bool) {
        if let Some((&first, position)) =
            self.positions.first_key_value().filter(|(ply, _)| **ply <= LONGEST_OPENING)
            && let Some(mut opening) = line_between(&Position::default(), position, first, is_named)
        {
            opening.extend((first..).map_while(|ply| self.moves.get(&ply)));
            self.opening = opening;
        }
    }
}

/// Is it a record of the position after a move of the game, with the reply?
fn is_after_move(record: &Record) -> bool {
    record.origin == Origin::Outcome || record.origin == Origin::Study && record.since_root % 2 == 1
}

/// Moves that lead from one position to the other in the given number of plies, in any order, through `preferred`
/// positions if possible; none if it takes too many trials.
fn line_between(
    from: &Position,
    to: &Position,
    plies: u16,
    preferred: &dyn Fn(&Position) -> bool,
) -> Option<Vec<Move>> {
    let mut trials = MAX_TRIED;
    let mut line = Vec::new();
    find_line(from, to, plies, preferred, &mut trials, &mut line).then_some(line)
}

/// [`line_between`] if there is only one: two moves of a side can often be transposed, and then the position between
/// them is not known.
fn only_line_between(from: &Position, to: &Position, plies: u16) -> Option<Vec<Move>> {
    let mut lines = near_children(from, to, plies)
        .filter_map(|(m, child)| Some([vec![m], line_between(&child, to, plies - 1, &|_| false)?].concat()));
    let line = lines.next()?;
    lines.next().is_none().then_some(line)
}

fn find_line(
    from: &Position,
    to: &Position,
    plies: u16,
    preferred: &dyn Fn(&Position) -> bool,
    trials: &mut u32,
    line: &mut Vec<Move>,
) -> bool {
    if plies == 0 {
        return from.key() == to.key();
    }
    if *trials == 0 {
        return false;
    }
    *trials -= 1;
    let mut near: Vec<_> = near_children(from, to, plies).collect();
    near.sort_by_key(|(_, child)| !preferred(child));
    near.into_iter().any(|(m, child)| {
        line.push(m);
        let found = find_line(&child, to, plies - 1, preferred, trials, line);
        if !found {
            line.pop();
        }
        found
    })
}

/// The moves after which one ply less may be enough.
fn near_children(from: &Position, to: &Position, plies: u16) -> impl Iterator<Item = (Move, Position)> {
    let children = from.legal_moves().into_iter().map(|m| (m, from.play(m)));
    children.filter(move |(_, child)| is_near(child, to, plies - 1))
}

/// May this number of plies be enough? Each moves one piece of its side, castling two.
fn is_near(from: &Position, to: &Position, plies: u16) -> bool {
    Color::ALL.into_iter().all(|color| {
        let moves = if from.turn() == color { plies.div_ceil(2) } else { plies / 2 };
        let (ours, theirs) = (from.board().by_color(color), to.board().by_color(color));
        let in_place = |role| ours & from.board().by_role(role) & theirs & to.board().by_role(role);
        let placed: usize = Role::ALL.into_iter().map(|role| in_place(role).count()).sum();
        let king = |position: &Position| position.board().king_of(color);
        let castling = usize::from(from.chess().castles().has_color(color) && king(from) != king(to));
        theirs.count() <= placed + usize::from(moves) + castling && theirs.count() <= ours.count()
    })
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;
    use crate::{
        learn::{LearnedScore, exchange},
        types::PackedMove,
    };

    const SICILIAN: &str = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6";
    const QUEENS_GAMBIT: &str = "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7";

    /// The records of a game in which `side` learned: the outcome of each of its moves from the third on, and a drop.
    fn lost(moves: &str, side: Color, session: u32, time: u32) -> Vec<Record> {
        let mut position = Position::default();
        let mut line = vec![(position.clone(), None)];
        for uci in moves.split(' ') {
            let m = uci.parse::<UciMove>().expect("a move").to_move(position.chess()).expect("legal");
            position = position.play(m);
            line.push((position.clone(), Some(m)));
        }
        let record = |position: &Position, origin| {
            let mut record = Record::new(position, origin).expect("a record");
            (record.session, record.time, record.flags.confirmed) = (session, time, true);
            (record.lower, record.depth) = (LearnedScore::from_centipawns(120), 9);
            record
        };
        let mut records = vec![record(&line[4 + usize::from(side == Color::Black)].0, Origin::Drop)];
        for pair in line.windows(2).skip(3).filter(|pair| pair[0].0.turn() != side) {
            let reply = pair[1].1.map_or(PackedMove::NONE, PackedMove::pack);
            records.push(Record { best: reply, ..record(&pair[0].0, Origin::Outcome) });
        }
        records
    }

    fn reconstructed(records: Vec<Record>) -> Vec<LearnedGame> {
        let mut games = games(&(1..).zip(records).collect::<Vec<_>>(), &|| true);
        for game in &mut games {
            game.connect();
            game.find_opening(&|_| false);
        }
        games
    }

    #[test]
    fn records_of_one_game_are_put_together_with_the_moves_between() {
        for side in Color::ALL {
            let records = lost(SICILIAN, side, 1, 1000);
            let games = reconstructed(records.clone());
            let [game] = &games[..] else { panic!("{} games", games.len()) };
            assert_eq!(game.records.len(), records.len());
            assert_eq!((game.side, game.outcome), (side, Some(GameEnd::Lost)));
            assert!(game.opening.len() >= 9, "{:?}", game.opening);
            let moves: Vec<String> =
                game.moves.values().map(|m| m.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect();
            assert!(SICILIAN.contains(&moves.join(" ")) && moves.len() >= 5, "{moves:?}");
        }
    }

    #[test]
    fn a_line_is_found_only_where_there_is_no_other_one() {
        let after = |moves: &str| {
            moves.split_whitespace().fold(Position::default(), |position, uci| {
                let m = uci.parse::<UciMove>().expect("a move").to_move(position.chess()).expect("legal");
                position.play(m)
            })
        };
        let start = Position::default();
        let found =
            |moves: &str, plies: u16| only_line_between(&start, &after(moves), plies).map(|line| line.len());
        assert_eq!(found("e2e4", 1), Some(1));
        assert_eq!(found("e2e4 e7e5", 2), Some(2));
        assert_eq!(found("e2e4 e7e5 f1c4", 3), Some(3), "the bishop cannot move first");
        assert_eq!(found("e2e4 e7e5 g1f3", 3), None, "the knight may have moved first");
    }

    #[test]
    fn the_greatest_ply_is_one_like_any_other() {
        let start = format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 {}", 1 + u16::MAX / 2);
        let start = exchange::position(&start, None).expect("a position");
        let after = start.play(start.legal_moves()[0]);
        let record = |position: &Position, origin| {
            let mut record = Record::new(position, origin).expect("a record");
            record.flags.confirmed = true;
            record.lower = LearnedScore::from_centipawns(120);
            record
        };
        let records = vec![record(&start, Origin::Drop), record(&after, Origin::Outcome)];
        assert_eq!(records.iter().map(|record| record.game_ply).max(), Some(u16::MAX));
        let games = reconstructed(records);
        assert_eq!(games.iter().map(|game| game.records.len()).sum::<usize>(), 2);
    }

    #[test]
    fn another_session_side_time_or_opening_is_another_game() {
        let (white, black) = (Color::White, Color::Black);
        let mut records = lost(SICILIAN, white, 1, 1000);
        records.extend(lost(SICILIAN, black, 1, 1000));
        records.extend(lost(SICILIAN, white, 2, 1000));
        records.extend(lost(SICILIAN, white, 1, 2000));
        records.extend(lost(QUEENS_GAMBIT, white, 1, 2000));
        let advice = Record::new(&Position::default(), Origin::Advice).expect("a record");
        records.push(advice.clone());
        let games = reconstructed(records.clone());
        assert_eq!(games.len(), 5);
        let mut left = records;
        left.retain(|record| games.iter().all(|game| game.records.iter().all(|(_, ours)| ours != record)));
        assert_eq!(left, [advice]);
    }
}
