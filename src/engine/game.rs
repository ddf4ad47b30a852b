//! The one game that is being played. UCI sends positions, not games: here it is decided what belongs to the game, where
//! it stands, how it ended, and when another one begins. Learning and book learning follow it.
//!
//! # Which positions belong to the game
//! - Its line continued; all but the last [`TAKEN_BACK`] plies of it, and other moves (they were taken back) or none (a
//!   look back, after which the game goes on).
//! - From another start: a position of the game, or one that a ply or two lead to from its last positions. So a GUI that
//!   sends each position as a FEN without moves plays a game like any other.
//! - Anything else is a look aside, and so is every analysis. If moves are played on from there, another game has begun;
//!   if the line of the game comes back, it goes on.
//! - A position that is set without a search may be the end of the game: by one move, or by the announced move and a reply
//!   to it. A longer line is only looked at, and so is every line after an analysis, until a search shows where the game
//!   stands.
//! - A search against an opponent of another name begins another game, wherever it is.
//!
//! A GUI may also send the positions of a game that others have played, for a report. Then both sides are searched, and
//! play other moves than those announced: nothing is learned from the end of such a game.

use std::sync::Arc;

use shakmaty::{KnownOutcome, Move, Outcome, Position as _, uci::UciMove};

use super::{
    learn_state::Memory,
    opening::{BookGame, PlayedEntry},
};
use crate::{
    book::{Book, LearnedBook},
    learn::{
        self,
        game::{Line, PlayedGame, TAKEN_BACK},
        kept_games::KeptGame,
        session::Root,
    },
    notice::Notice,
    position::{Position, PositionPath},
    search::{Event, EventSink},
    types::{Score, SearchResult},
};

/// A last score of at most this many centipawns either way counts as a draw, after [`DRAWN_PLIES`].
const DRAWN: i32 = 40;
/// After this many plies an even last score counts as a draw.
const DRAWN_PLIES: usize = 80;

/// A search that is under way.
pub(super) struct BegunSearch {
    pub root: Root,
    /// The score of a draw for the side to move, by contempt.
    pub draw: Score,
    /// The moves advised at the root.
    pub advised: Vec<Move>,
    /// Is the learning file used?
    pub learns: bool,
}

/// A line of moves with its positions, the searches on it, and the move announced at its end.
#[derive(Default)]
pub(super) struct Followed {
    pub played: PlayedGame,
    /// Along the line of `played`, from its start on.
    positions: Vec<Position>,
    /// Against whom; empty if it is not known.
    pub opponent: String,
    announced: Option<Move>,
    /// The entries of the book whose moves were played, on the line and on those that were taken back.
    pub book_moves: Vec<PlayedEntry>,
}

impl Followed {
    /// A move of the book is played.
    pub fn book_played(&mut self, entry: PlayedEntry) {
        self.book_moves.retain(|played| played.line != entry.line);
        self.book_moves.push(entry);
    }

    fn follow(&mut self, place: &Place) {
        if self.played.line().continues(&place.line) {
            // A look back: the line stays.
            return;
        }
        self.played.follow(&place.line);
        self.positions.clone_from(&place.positions);
        self.announced = None;
    }

    /// The move announced at the end of the line.
    fn announced_uci(&self) -> Option<UciMove> {
        let last = self.positions.last()?;
        Some(self.announced?.to_uci(last.chess().castles().mode()))
    }

    /// May it be a game against `opponent`? A name that is not known may be any.
    fn is_against(&self, opponent: &str) -> bool {
        self.opponent == opponent || self.opponent.is_empty() || opponent.is_empty()
    }

    /// The moves from the start of the line to `target`, a position of the line or one near its end.
    fn moves_to(&self, target: &Position) -> Option<Vec<UciMove>> {
        let moves = &self.played.line().moves;
        if let Some(ply) = self.positions.iter().rposition(|position| position.key() == target.key()) {
            return Some(moves[..ply].to_vec());
        }
        let last = self.positions.len().checked_sub(1)?;
        (0..=TAKEN_BACK.min(last)).find_map(|back| {
            let announced = self.announced.filter(|_| back == 0);
            let more = moves_between(&self.positions[last - back], target, announced)?;
            Some([&moves[..last - back], &more].concat())
        })
    }
}

/// One or two plies that lead from a position to another, the first of them `announced` if possible.
fn moves_between(from: &Position, to: &Position, announced: Option<Move>) -> Option<Vec<UciMove>> {
    let (before, after) = (from.board().occupied().count(), to.board().occupied().count());
    if !(before.saturating_sub(2)..=before).contains(&after) {
        return None;
    }
    let uci = |m: Move| m.to_uci(from.chess().castles().mode());
    let is_there = |position: &Position| position.key() == to.key();
    let mut moves: Vec<Move> = from.legal_moves().to_vec();
    moves.sort_by_key(|m| Some(*m) != announced);
    moves.into_iter().find_map(|m| {
        let child = from.play(m);
        if from.turn() != to.turn() {
            return is_there(&child).then(|| vec![uci(m)]);
        }
        let reply = child.legal_moves().into_iter().find(|&reply| is_there(&child.play(reply)))?;
        Some(vec![uci(m), uci(reply)])
    })
}

/// The position set last, and the line that leads there.
pub(super) struct Place {
    pub line: Line,
    /// Along the line.
    pub positions: Vec<Position>,
}

/// The game, and what follows it.
pub(super) struct Game {
    place: Place,
    /// Is the last move of the line only expected (pondering)?
    guessed: bool,
    game: Followed,
    aside: Followed,
    /// Was any of the searches aside an analysis, or is there none?
    is_look: bool,
    /// Does the search that is under way, or was the last, belong to the game?
    in_game: bool,
    search: Option<BegunSearch>,
    /// The name of the opponent from the next search on; empty if it is not known.
    pub opponent: String,
    pub memory: Memory,
    pub book: BookGame,
}

impl Game {
    /// No game yet, at `root`. `sink`: for what threads in the background have to say.
    pub fn new(root: &Position, sink: Arc<EventSink>) -> Game {
        let line = Line { start: root.fen(), moves: Vec::new() };
        Game {
            place: Place { line, positions: vec![root.clone()] },
            guessed: false,
            game: Followed::default(),
            aside: Followed::default(),
            is_look: true,
            in_game: false,
            search: None,
            opponent: String::new(),
            memory: Memory::default(),
            book: BookGame::new(sink),
        }
    }

    /// The line to the position set last.
    pub fn line(&self) -> &Line {
        &self.place.line
    }

    /// Sets the position. If the one before was checkmate, that game is over.
    pub fn set_position(&mut self, mut place: Place) {
        if self.is_played_on() && self.root().chess().is_checkmate() {
            self.end();
        }
        // From another start it may be a position of the game nevertheless.
        let near = [&self.game, &self.aside].into_iter().find_map(|followed| {
            let start = &followed.played.line().start;
            let before =
                if *start == place.line.start { None } else { followed.moves_to(&place.positions[0]) };
            Some((start.clone(), before?, followed.positions.first()?.clone()))
        });
        if let Some((start, moves, first)) = near {
            let before = moves.iter().scan(first, |position, uci| {
                let next = position.play(uci.to_move(position.chess()).ok()?);
                Some(std::mem::replace(position, next))
            });
            place.positions = before.chain(place.positions).collect();
            place.line = Line { start, moves: [moves, place.line.moves].concat() };
        }
        self.place = place;
        self.guessed = false;
    }

    /// A search begins at the position set last, `pondering` on an expected move; `analysis`: it is not made to play a
    /// move. Returns whether it began another game, so that the one before is over.
    pub fn go(&mut self, analysis: bool, pondering: bool) -> bool {
        self.guessed = pondering;
        let is_over = !analysis && !self.game.is_against(&self.opponent);
        if is_over {
            self.end_before();
        }
        let line = &self.place.line;
        let goes_on = self.game.played.is_empty() || self.game.played.goes_on_with(line);
        // A position of the game itself is looked at, however far back it is.
        let is_other = !goes_on && !self.game.played.line().continues(line);
        let plays_on = |aside: &PlayedGame| {
            aside.goes_on_with(line) && !aside.is_empty() && line.plies() > aside.line().plies()
        };
        let begins = is_other && !analysis && !self.is_look && plays_on(&self.aside.played);
        if begins {
            let next = std::mem::take(&mut self.aside);
            self.end_before();
            next.played.searches().for_each(|search| self.memory.log(search, &next.opponent));
            self.game = next;
        }
        self.in_game = !analysis && (goes_on || begins);
        if self.in_game {
            (self.aside, self.is_look) = (Followed::default(), true);
            self.follow();
        } else {
            let is_near = self.aside.played.goes_on_with(&self.place.line);
            if !is_near || self.is_look != analysis {
                self.aside = Followed::default();
            }
            self.is_look = analysis;
            self.aside.follow(&self.place);
        }
        begins || is_over
    }

    /// The expected move was played.
    pub fn ponder_hit(&mut self) {
        self.guessed = false;
        if self.in_game {
            self.follow();
        }
    }

    /// The game follows the moves that were played.
    fn follow(&mut self) {
        if !self.guessed {
            if !self.game.played.goes_on_with(&self.place.line) {
                self.game = Followed::default();
            }
            self.game.follow(&self.place);
        }
    }

    /// What the search knows that has begun.
    pub fn begin_search(&mut self, search: BegunSearch) {
        self.search = Some(search);
    }

    /// A search, or a look into the book, has ended. Returns what the user should be told.
    pub fn finished(&mut self, best: Option<Move>, result: Option<&SearchResult>) -> Vec<Notice> {
        let search = self.search.take();
        let is_elsewhere = search.as_ref().is_some_and(|search| search.root.line != self.place.line);
        let followed = if self.in_game { &mut self.game } else { &mut self.aside };
        if !self.opponent.is_empty() {
            followed.opponent.clone_from(&self.opponent);
        }
        let notices = match (&search, result) {
            (Some(search), Some(result)) => self.memory.search_ended(followed, search, result, self.in_game),
            _ => Vec::new(),
        };
        if !self.guessed && !is_elsewhere && *followed.played.line() == self.place.line {
            followed.announced = best;
            if self.in_game && !self.game.book_moves.is_empty() {
                let (line, ended) = self.last();
                let result = ended.or_else(|| self.result_by_scores());
                self.book.stands(&self.game.book_moves, &line, result);
                if ended.is_some() {
                    self.book.end(std::mem::take(&mut self.game.book_moves), &line, result);
                }
            }
        }
        notices
    }

    /// The results of book moves are counted in this copy of the book; none of a move before, if it is another copy.
    pub fn count_in(&mut self, copy: Option<(Arc<Book>, LearnedBook)>) {
        if self.book.count_in(copy, !self.game.book_moves.is_empty()) {
            self.game.book_moves.clear();
            self.aside.book_moves.clear();
        }
    }

    /// What the position set last belongs to: the game, or the line beside it.
    pub fn followed(&mut self) -> &mut Followed {
        if self.in_game { &mut self.game } else { &mut self.aside }
    }

    /// The game is over: everything that follows it learns from it.
    pub fn end(&mut self) {
        if self.is_played_on() {
            self.game.follow(&self.place);
        }
        self.end_before();
    }

    /// As [`Game::end`], where the position set last is of another game.
    fn end_before(&mut self) {
        let (line, ended) = self.last();
        let result = ended.or_else(|| self.result_by_scores());
        self.book.end(std::mem::take(&mut self.game.book_moves), &line, result);
        let termination = match (ended, result) {
            (Some(_), _) => "normal",
            (None, Some(_)) => "adjudication",
            (None, None) => "unterminated",
        };
        let outcome = result.map_or(Outcome::Unknown, Outcome::Known);
        let Followed { played, opponent, .. } = &self.game;
        let kept = KeptGame::new(played, &line, opponent, learn::session(), (outcome, termination));
        self.memory.end_game(played, outcome.winner(), kept.as_ref());
        (self.game, self.aside, self.is_look) = (Followed::default(), Followed::default(), true);
    }

    /// The line of the game with the announced move, and the result if the game is over on the board and the engine
    /// played in it.
    fn last(&self) -> (Line, Option<KnownOutcome>) {
        let Followed { played, positions, announced, .. } = &self.game;
        let mut line = played.line().clone();
        let Some(last) = positions.last().filter(|_| !played.is_analysis()) else { return (line, None) };
        let mut path = PositionPath::along(positions);
        let ended = path.result(last);
        let Some(m) = announced.filter(|_| ended.is_none()) else { return (line, ended) };
        line.moves.push(m.to_uci(last.chess().castles().mode()));
        let last = last.play(m);
        path.push(&last);
        (line, path.result(&last))
    }

    /// Is a search at the position set last a mere look at a side that the engine does not play?
    pub fn is_look(&self) -> bool {
        let followed = if self.in_game { &self.game } else { &self.aside };
        followed.played.is_looked_at(self.root().turn())
    }

    fn root(&self) -> &Position {
        // A place has at least its first position.
        &self.place.positions[self.place.positions.len() - 1]
    }

    /// Was the game played on to the position set last, as far as can be known: by one move, or by the announced move and
    /// a reply? After an analysis only a search shows where the game stands.
    fn is_played_on(&self) -> bool {
        let (game, line) = (self.game.played.line(), &self.place.line);
        let is_analysis = !self.in_game && self.is_look;
        if self.guessed || is_analysis || !line.continues(game) {
            return false;
        }
        match &line.moves[game.plies()..] {
            [] | [_] => true,
            [first, _] => self.game.announced_uci().is_none_or(|announced| announced == *first),
            _ => false,
        }
    }

    /// The result, as far as the scores show it.
    fn result_by_scores(&self) -> Option<KnownOutcome> {
        let game = &self.game.played;
        let is_even = |score: Score| score.centipawns().abs() <= DRAWN;
        let even = game.searches().next_back().filter(|last| is_even(last.score));
        let drawn = even.filter(|_| game.line().plies() >= DRAWN_PLIES).map(|_| KnownOutcome::Draw);
        game.winner().map(|winner| KnownOutcome::Decisive { winner }).or(drawn)
    }
}

/// The sink of an engine: hands the end of each search to its game first, then everything to `user`.
pub(super) fn sink(game: Arc<std::sync::Mutex<Game>>, user: Arc<EventSink>) -> Arc<EventSink> {
    Arc::new(move |event| {
        if let Event::Finished { best, result, .. } = &event {
            let learn = || crate::locks::locked(&game).finished(*best, result.as_deref());
            // A panic in learning must not prevent the move.
            let notices = std::panic::catch_unwind(std::panic::AssertUnwindSafe(learn));
            let notices = notices.unwrap_or_else(|_| vec![Notice::SearchPanic]);
            notices.into_iter().for_each(|notice| user(Event::Notice(notice)));
        }
        user(event);
    })
}
