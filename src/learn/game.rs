//! The game being played, as far as learning has to know it: UCI sends positions, not games.

use shakmaty::uci::UciMove;

use super::{
    outcome::{self, Judgement, Turn},
    policy::{self, Earlier, Outcome, Rules},
};
use crate::{
    position::Position,
    types::{Depth, Score},
};

/// Where a game began and how it went on: what `position` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The first position, as FEN.
    pub start: String,
    /// The moves since.
    pub moves: Vec<UciMove>,
}

impl Line {
    /// By how many plies this line is longer than `earlier`, if it goes on from there.
    fn beyond(&self, earlier: &Line) -> Option<usize> {
        let same = self.start == earlier.start && self.moves.starts_with(&earlier.moves);
        same.then(|| self.moves.len() - earlier.moves.len())
    }
}

/// So many plies may be taken back in a game; what leaves it earlier is another one.
const TAKEN_BACK: usize = 4;

/// A game as one side searched it.
#[derive(Clone, Debug, Default)]
pub struct Game {
    /// Up to the last search.
    line: Line,
    /// The searches that count.
    searches: Vec<Turn>,
    /// The scores of all searches, also of those that teach nothing, each with the number of moves before it.
    scores: Vec<(usize, Score)>,
    /// Was it, or a part of it, only looked at?
    analysed: bool,
}

impl Game {
    /// Does `line` go on from the last search?
    pub fn goes_on(&self, line: &Line) -> bool {
        line.beyond(&self.line).is_some()
    }

    /// Was something of it searched, and all of that to play it?
    pub fn is_played(&self) -> bool {
        !self.scores.is_empty() && !self.analysed
    }

    /// Does a search at the end of `line` show that this game is over, since it is another one?
    pub fn is_left_for(&self, line: &Line) -> bool {
        let pairs = self.line.moves.iter().zip(&line.moves);
        let shared = pairs.take_while(|(ours, theirs)| ours == theirs).count();
        let is_takeback = self.line.start == line.start && shared + TAKEN_BACK >= self.line.moves.len();
        !self.scores.is_empty() && !is_takeback
    }

    /// The search before one at the end of `line`, if both belong to one game.
    pub fn earlier(&self, line: &Line) -> Option<Earlier> {
        let last = self.searches.last().filter(|_| self.goes_on(line))?;
        Some(Earlier { depth: last.depth, score: last.score, plies: line.moves.len() - last.plies })
    }

    /// Goes on to `line`. What does not go on from the search before begins a game.
    fn follow(&mut self, line: &Line) {
        if !self.goes_on(line) {
            *self = Game::default();
        }
        self.line.clone_from(line);
    }

    /// Takes down a search of `root`, at the end of `line`.
    pub fn searched(&mut self, root: &Position, line: &Line, depth: Depth, score: Score) {
        self.follow(line);
        let plies = line.moves.len();
        // The same root once more: this result is the better one.
        self.searches.pop_if(|last| last.plies == plies);
        self.searches.push(Turn { root: root.clone(), plies, depth, score });
    }

    /// Does `line`, at whose end there is checkmate, end this game with a loss for the side that searched?
    pub fn is_mated_after(&self, line: &Line) -> bool {
        line.beyond(&self.line).is_some_and(|plies| plies.is_multiple_of(2)) && !self.searches.is_empty()
    }

    /// Takes down how a search at the end of `line` saw the game; `analysed`: nobody plays it.
    pub fn stood(&mut self, line: &Line, score: Score, analysed: bool) {
        self.follow(line);
        let plies = line.moves.len();
        self.scores.pop_if(|&mut (before, _)| before == plies);
        self.scores.push((plies, score));
        self.analysed |= analysed;
    }

    /// How did it end, if that is not `known`? See [`policy::outcome`]. What is analysed does not end.
    pub fn outcome(&self, known: Option<Outcome>) -> Option<Outcome> {
        let scores: Vec<Score> = self.scores.iter().map(|&(_, score)| score).collect();
        known.or_else(|| policy::outcome(&scores)).filter(|_| !self.analysed)
    }

    /// What its outcome says of the moves that were played, see [`outcome::judge`].
    pub fn judge(&self, outcome: Outcome, rules: &Rules) -> Vec<Judgement> {
        outcome::judge(&self.searches, &self.line.moves, outcome, rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(moves: &str) -> Line {
        let moves = moves.split_whitespace().map(|uci| uci.parse().expect("a move")).collect();
        Line { start: "a start".to_owned(), moves }
    }

    fn after(searches: &[(&str, i32)]) -> Game {
        let mut game = Game::default();
        for &(moves, score) in searches {
            game.searched(&Position::default(), &line(moves), Depth(9), Score::from_centipawns(score));
            game.stood(&line(moves), Score::from_centipawns(score), false);
        }
        game
    }

    #[test]
    fn a_game_goes_on_where_its_moves_do() {
        let game = after(&[("", 10), ("e2e4 e7e5", 20)]);
        let plies = |moves: &str| {
            game.earlier(&line(moves)).map(|earlier| (earlier.plies, earlier.score.centipawns()))
        };
        assert_eq!(plies("e2e4 e7e5 g1f3 b8c6"), Some((2, 20)));
        assert_eq!(plies("e2e4 e7e5"), Some((0, 20)));
        assert_eq!(plies("e2e4 e7e5 g1f3"), Some((1, 20)));
        assert_eq!(plies("e2e4 c7c5 g1f3 b8c6"), None, "another reply");
        assert_eq!(plies("e2e4"), None, "a move was taken back");
        let elsewhere = Line { start: "another".to_owned(), ..line("e2e4 e7e5 g1f3 b8c6") };
        assert!(game.earlier(&elsewhere).is_none(), "another start");
        assert!(Game::default().earlier(&line("")).is_none());
    }

    #[test]
    fn only_the_searches_of_one_game_tell_its_result() {
        let lost = |searches: &[(&str, i32)]| after(searches).outcome(None) == Some(Outcome::Lost);
        assert!(lost(&[("", -600), ("e2e4 e7e5", -700)]));
        assert!(!lost(&[("", -600), ("", -700)]), "one root, searched twice");
        assert!(!lost(&[("e2e4 e7e5", -600), ("d2d4 d7d5", -700)]), "two games");
        assert!(!lost(&[("", 30)]));
    }

    #[test]
    fn searches_that_teach_nothing_tell_the_result_too() {
        let mut game = after(&[("", -100)]);
        game.stood(&line("e2e4 e7e5"), Score::from_centipawns(-600), false);
        game.stood(&line("e2e4 e7e5 g1f3 b8c6"), Score::from_centipawns(-700), false);
        assert_eq!(game.outcome(None), Some(Outcome::Lost));
        let earlier = game.earlier(&line("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"));
        assert_eq!(earlier.map(|earlier| (earlier.plies, earlier.score.centipawns())), Some((6, -100)));
    }

    #[test]
    fn what_is_analysed_does_not_end() {
        let mut game = after(&[("", -600), ("e2e4 e7e5", -700)]);
        game.stood(&line("e2e4 e7e5 g1f3 b8c6"), Score::from_centipawns(-700), true);
        assert_eq!(game.outcome(None), None);
    }

    #[test]
    fn another_line_leaves_the_game_and_a_move_taken_back_does_not() {
        let game = after(&[("", 10), ("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", 20)]);
        let is_left = |moves: &str| game.is_left_for(&line(moves));
        assert!(!is_left("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"), "it goes on");
        assert!(!is_left("e2e4 e7e5 g1f3 b8c6 f1c4"), "two moves were taken back");
        assert!(!is_left("e2e4 e7e5"), "four were");
        assert!(is_left("e2e4") && is_left("") && is_left("e2e4 c7c5 g1f3 d7d6"));
        let elsewhere = Line { start: "another".to_owned(), ..line("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6") };
        assert!(game.is_left_for(&elsewhere));
        assert!(!Game::default().is_left_for(&line("e2e4")), "nothing was played");
    }

    #[test]
    fn checkmate_counts_against_the_side_that_searched() {
        let game = after(&[("", 10), ("e2e4 e7e5", 20)]);
        assert!(game.is_mated_after(&line("e2e4 e7e5 g1f3 b8c6")));
        assert!(!game.is_mated_after(&line("e2e4 e7e5 g1f3")), "we mated");
        assert!(!game.is_mated_after(&line("d2d4 d7d5")));
        assert!(!Game::default().is_mated_after(&Line::default()));
    }
}
