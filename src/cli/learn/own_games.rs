//! The games that were learned from: those kept beside the learning file, and what the records alone tell of games
//! that are not kept.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
};

use clap::ValueEnum;
use shakmaty::{Color, KnownOutcome, Move, Outcome};

use super::opened::Opened;
use crate::{
    cli::{
        CliError, DAY, complain, date, day,
        pgn::{self, Annotation, Game, Games},
        refused, source, value_name,
    },
    learn::{
        Origin, Record, Ring,
        game::GameEnd,
        games::{self, LearnedGame},
        kept_games::{self, ENGINE},
        record::game_ply,
    },
    position::{Opening, Openings, Position},
    types::{Ply, PositionKey, Score},
};

/// Plies shown before a position.
const SHOWN_MOVES: u16 = 4;

/// How a game ended for the side that learned from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GameResult {
    /// It was won.
    Won,
    /// It was drawn.
    Drawn,
    /// It was lost.
    Lost,
}

impl GameResult {
    /// Its name.
    pub(super) fn name(self) -> String {
        value_name(self)
    }
}

impl From<GameEnd> for GameResult {
    fn from(end: GameEnd) -> GameResult {
        match end {
            GameEnd::Won => GameResult::Won,
            GameEnd::Lost => GameResult::Lost,
        }
    }
}

/// A game from which something was learned.
pub(super) struct OwnGame {
    /// The day it was played, such as `2026-01-31`; `None` if it is not known.
    pub date: Option<String>,
    /// The side that learned.
    pub side: Color,
    /// The other player; `None` if the name is not known.
    pub opponent: Option<String>,
    /// How it ended; `None` if that is not known.
    pub result: Option<GameResult>,
    /// Its opening, if it has a name.
    pub opening: Option<Opening>,
    /// The key of its first position.
    pub start: PositionKey,
    /// The process that played it.
    pub session: Option<u32>,
    /// Does a record know a position of it?
    pub is_known: bool,
    course: Course,
    /// Its moves, once they were asked for.
    moves: OnceCell<Moves>,
}

/// What is known of the moves.
enum Course {
    /// All of them.
    Kept(Box<Game>),
    /// Those that can be found from the records.
    Records(Box<LearnedGame>),
}

/// A game move by move, by the plies played before.
#[derive(Default)]
pub(super) struct Moves {
    /// The positions.
    pub positions: BTreeMap<u16, Position>,
    /// The moves played in them.
    pub moves: BTreeMap<u16, Move>,
    /// The scores of the moves, for the side that learned.
    pub scores: BTreeMap<u16, Score>,
}

impl OwnGame {
    fn kept(game: Game, positions: &[Position], openings: &Openings) -> OwnGame {
        let is_engine = |side: Color| game.player(side) == ENGINE;
        let winner = game.outcome.winner();
        // Games of others are learned from for the side that lost, as are those of the engine with itself.
        let side = match (is_engine(Color::White), is_engine(Color::Black)) {
            (true, false) => Color::White,
            (false, true) => Color::Black,
            _ => winner.map_or(Color::White, |winner| !winner),
        };
        let result = match (game.outcome, winner) {
            (_, Some(winner)) if winner == side => Some(GameResult::Won),
            (_, Some(_)) => Some(GameResult::Lost),
            (Outcome::Known(KnownOutcome::Draw), _) => Some(GameResult::Drawn),
            _ => None,
        };
        OwnGame {
            date: game.tag("Date").filter(|date| !date.contains('?')).map(|date| date.replace('.', "-")),
            side,
            opponent: game.tag(side.fold_wb("Black", "White")).map(str::to_owned),
            result,
            opening: openings.last_named(positions).map(|(_, opening)| opening.clone()),
            start: positions[0].key(),
            session: session(&game),
            is_known: false,
            course: Course::Kept(Box::new(game)),
            moves: OnceCell::new(),
        }
    }

    fn from_records(mut game: LearnedGame, openings: &Openings) -> OwnGame {
        game.connect();
        game.find_opening(&|position| openings.at(position).is_some());
        let opening = openings
            .last_named(&Position::default().along(&game.opening))
            .map(|(_, opening)| opening.clone());
        OwnGame {
            date: date(game.time).split(' ').next().map(str::to_owned),
            side: game.side,
            opponent: None,
            result: game.outcome.map(GameResult::from),
            opening,
            start: Position::default().key(),
            session: Some(game.session),
            is_known: true,
            course: Course::Records(Box::new(game)),
            moves: OnceCell::new(),
        }
    }

    /// The game as it is kept.
    pub(super) fn pgn(&self) -> Option<&Game> {
        match &self.course {
            Course::Kept(game) => Some(game),
            Course::Records(_) => None,
        }
    }

    /// The game move by move.
    pub(super) fn moves(&self) -> &Moves {
        self.moves.get_or_init(|| self.course.moves(self.side))
    }

    /// The last moves before a position, such as `14. Nf3 Nc6 15. d4`, as far as they are known.
    pub(super) fn line_to(&self, ply: u16) -> Option<String> {
        let Moves { positions, moves, .. } = self.moves();
        let first = (ply.saturating_sub(SHOWN_MOVES)..ply)
            .rev()
            .take_while(|ply| moves.contains_key(ply) && positions.contains_key(ply))
            .last()?;
        let line: Vec<Move> = moves.range(first..ply).map(|(_, &m)| m).collect();
        Some(pgn::line(&positions[&first], &line))
    }

    /// `2026-01-31 against Stockfish 15.1`, as far as it is known.
    pub(super) fn name(&self) -> String {
        let opponent = self.opponent.as_deref().map(|name| format!("against {name}"));
        let parts: Vec<String> = self.date.clone().into_iter().chain(opponent).collect();
        if parts.is_empty() { "day and opponent not known".to_owned() } else { parts.join(" ") }
    }
}

impl Course {
    /// The game move by move, with the scores for `side`.
    fn moves(&self, side: Color) -> Moves {
        match self {
            Course::Kept(game) => {
                let is_own = |ply: u16| Color::from_white(ply.is_multiple_of(2)) == side;
                let scores = plies_from(&game.start).zip(&game.annotations);
                let own_scores = scores.filter(|&(ply, _)| is_own(ply));
                Moves {
                    positions: plies_from(&game.start).zip(game.positions()).collect(),
                    moves: plies_from(&game.start).zip(game.moves.iter().copied()).collect(),
                    scores: own_scores.filter_map(|(ply, after)| Some((ply, score(after, side)?))).collect(),
                }
            }
            Course::Records(game) => {
                let dropped = |record: &Record| {
                    let upper = (!record.upper.is_none()).then(|| record.upper.to_score());
                    Some((record.game_ply, upper.filter(|_| record.origin != Origin::Outcome)?))
                };
                Moves {
                    positions: game.positions.clone(),
                    moves: game.moves.clone(),
                    scores: game.records.iter().filter_map(|(_, record)| dropped(record)).collect(),
                }
            }
        }
    }
}

/// The plies played before `start` and each position after it.
fn plies_from(start: &Position) -> impl Iterator<Item = u16> {
    (u32::from(game_ply(start))..).map(|ply| u16::try_from(ply).unwrap_or(u16::MAX))
}

/// The evaluation after a move as `[%eval 0.35,20]` or `[%eval #-3]`, in pawns and for White, where comments have one.
fn score(annotations: &[Annotation], side: Color) -> Option<Score> {
    let value = annotations.iter().find_map(|annotation| match annotation {
        Annotation::Comment(text) => text.split_once("[%eval ")?.1.split([',', ']']).next(),
        _ => None,
    })?;
    let white = match value.trim().strip_prefix('#') {
        Some(moves) => {
            let moves: i32 = moves.parse().ok()?;
            let plies = moves.unsigned_abs().checked_mul(2)?.checked_sub(u32::from(moves > 0))?;
            let plies = Ply(u8::try_from(plies).ok()?.into());
            if moves > 0 { Score::mate_in(plies) } else { Score::mated_in(plies) }
        }
        None => {
            let pawns: f64 = value.trim().parse().ok().filter(|pawns: &f64| pawns.abs() < 1000.0)?;
            Score::from_printed((100.0 * pawns).round() as i32)
        }
    };
    Some(white.relative_to(side))
}

/// The games, and where records have been met in them.
pub(super) struct OwnGames {
    /// The kept games, oldest first, then those of which only records are known, oldest first.
    pub games: Vec<OwnGame>,
    /// The games and plies in which positions with a record occurred.
    met: HashMap<PositionKey, Vec<(usize, u16)>>,
}

impl OwnGames {
    /// The games that belong to a learning file.
    ///
    /// # Errors
    /// The kept games are there but cannot be read.
    pub(super) fn load(file: &Opened) -> Result<OwnGames, CliError> {
        let openings = Openings::own();
        let ring = file.ring();
        let mut own = OwnGames { games: Vec::new(), met: HashMap::new() };
        let path = kept_games::path(file.file.path());
        if path.exists() {
            let failed = refused(&path, "read");
            let mut games = Vec::new();
            for game in Games::new(source::reader(&path).map_err(&failed)?) {
                match game.map_err(&failed)? {
                    Ok(game) => games.push(game),
                    Err(broken) => complain(format_args!("{}: {broken}", path.display())),
                }
            }
            leave_out_beginnings(&mut games);
            games.into_iter().for_each(|game| own.add(game, &ring, &openings));
        }
        let others: Vec<(u64, Record)> =
            ring.iter().filter(|(_, record)| !own.met.contains_key(&record.key)).collect();
        for game in games::games(&others, &|| true) {
            let index = own.games.len();
            for (_, record) in &game.records {
                own.met.entry(record.key).or_default().push((index, record.game_ply));
            }
            own.games.push(OwnGame::from_records(game, &openings));
        }
        Ok(own)
    }

    fn add(&mut self, game: Game, ring: &Ring, openings: &Openings) {
        let positions = game.positions();
        let index = self.games.len();
        let mut own = OwnGame::kept(game, &positions, openings);
        for (ply, position) in plies_from(&positions[0]).zip(&positions) {
            if ring.get(position.key()).is_some() {
                self.met.entry(position.key()).or_default().push((index, ply));
                own.is_known = true;
            }
        }
        self.games.push(own);
    }

    /// The game in which a record was learned, as far as its session, side and result show it, or else the newest that came
    /// to its position, and the plies played before.
    pub(super) fn of(&self, record: &Record) -> Option<(&OwnGame, u16)> {
        let met = self.met.get(&record.key)?;
        let is_its_own = |&&(index, _): &&(usize, u16)| self.games[index].session == Some(record.session);
        // A process plays many games: that of the side and the result comes first.
        let agrees = |&(index, ply): &(usize, u16)| {
            let turn = Color::from_white(ply.is_multiple_of(2));
            games::player(record, turn).is_some_and(|(side, outcome)| {
                let game = &self.games[index];
                game.side == side && (outcome.is_none() || game.result == outcome.map(GameResult::from))
            })
        };
        let newest = || met.iter().rev();
        let own = newest().filter(is_its_own).find(|met| agrees(met)).or_else(|| newest().find(is_its_own));
        let &(index, ply) = own.or(met.last())?;
        Some((&self.games[index], ply))
    }
}

/// The process that played a kept game, as its records name it.
fn session(game: &Game) -> Option<u32> {
    u32::from_str_radix(game.tag("Session")?, 16).ok()
}

/// Leaves out games that a later one of another process continues: one that is played by several processes is kept by
/// each of them.
fn leave_out_beginnings(games: &mut Vec<Game>) {
    let mut continued = HashMap::new();
    games.reverse();
    games.retain(|game| {
        let mut hasher = DefaultHasher::new();
        (game.player(Color::White), game.player(Color::Black), game.start.key()).hash(&mut hasher);
        let mut beginnings = Vec::with_capacity(game.moves.len());
        for m in &game.moves {
            beginnings.push(hasher.finish());
            m.hash(&mut hasher);
        }
        let own = session(game);
        let is_continued = continued.get(&hasher.finish()).is_some_and(|&other| other != own);
        continued.extend(beginnings.into_iter().map(|beginning| (beginning, own)));
        !is_continued
    });
    games.reverse();
}

/// Which games; all conditions given must hold.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(super) struct GameFilter {
    /// Games against this opponent; a part of the name is enough.
    #[arg(long, value_name = "NAME")]
    opponent: Option<String>,
    /// Games with this opening: its code (B12; B1 for B10 to B19) or a part of its name.
    #[arg(long, value_name = "ECO|NAME")]
    opening: Option<String>,
    /// Games with this colour.
    #[arg(long, alias = "color", value_name = "white|black", value_parser = colour)]
    colour: Option<Color>,
    /// Games with this result.
    #[arg(long, value_name = "RESULT")]
    result: Option<GameResult>,
    /// Games played on this day (UTC) or later.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    since: Option<i64>,
}

fn colour(text: &str) -> Result<Color, String> {
    match text.to_ascii_lowercase().as_str() {
        "white" | "w" => Ok(Color::White),
        "black" | "b" => Ok(Color::Black),
        _ => Err("write white or black".to_owned()),
    }
}

impl GameFilter {
    /// Are there no conditions?
    pub(super) fn is_empty(&self) -> bool {
        *self == GameFilter::default()
    }

    /// Does the game pass?
    pub(super) fn matches(&self, game: &OwnGame) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let is_code = |text: &str| {
            let mut bytes = text.bytes();
            bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
                && bytes.all(|byte| byte.is_ascii_digit())
        };
        let opening = |wanted: &String| {
            game.opening.as_ref().is_some_and(|Opening { eco, name }| match is_code(wanted) {
                true => eco.starts_with(&wanted.to_uppercase()),
                false => contains(name, wanted),
            })
        };
        let day = |since| game.date.as_deref().is_some_and(|date| day(date).is_ok_and(|day| day >= since));
        self.opponent.as_ref().is_none_or(|wanted| contains(game.opponent.as_deref().unwrap_or(""), wanted))
            && self.opening.as_ref().is_none_or(opening)
            && self.colour.is_none_or(|colour| colour == game.side)
            && self.result.is_none_or(|result| game.result == Some(result))
            && self.since.is_none_or(day)
    }

    /// Does the record belong to a game that passes? Of a record without a game only the day is known.
    pub(super) fn matches_record(&self, record: &Record, games: &OwnGames) -> bool {
        match games.of(record) {
            _ if self.is_empty() => true,
            Some((game, _)) => self.matches(game),
            None => {
                self.since.is_some_and(|since| i64::from(record.time / DAY) >= since)
                    && GameFilter { since: None, ..self.clone() }.is_empty()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_in_comments_are_read_and_nonsense_is_not() {
        let read = |text: &str| score(&[Annotation::Comment(format!("[%eval {text}]"))], Color::Black);
        assert_eq!(read("0.35,20"), Some(Score::from_centipawns(-35)));
        assert_eq!(read("#-3"), Some(Score::mate_in(Ply(6)).relative_to(Color::White)));
        for nonsense in ["", "1e9", "NaN", "#", "#1000", "#-2147483648", "#2147483647"] {
            assert_eq!(read(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_game_that_a_later_one_continues_is_left_out() {
        let game = |&(session, black, moves): &(u32, &str, &str)| {
            format!("[White \"Engram\"]\n[Black \"{black}\"]\n[Session \"{session:08x}\"]\n\n{moves} *\n\n")
        };
        let played = [
            (1, "Bob", "1. e4 e5"),
            (1, "Ann", "1. e4 e5"),
            (2, "Bob", "1. e4 e5 2. Nf3"),
            (2, "Bob", "1. d4 d5"),
            (3, "Bob", "1. e4 e5 2. Nf3 Nc6 3. Bb5"),
            (3, "Bob", "1. e4 e5 2. d4"),
            (3, "Bob", "1. d4 d5"),
            (3, "Bob", "1. d4 d5 2. c4"),
        ];
        let text: String = played.iter().map(game).collect();
        let read = Games::new(text.as_bytes()).map(|game| game.expect("read").expect("legal"));
        let mut games: Vec<Game> = read.collect();
        leave_out_beginnings(&mut games);
        let left: Vec<usize> = games.iter().map(|game| game.number).collect();
        assert_eq!(left, [2, 5, 6, 7, 8], "what one process played twice are two games");
    }
}
