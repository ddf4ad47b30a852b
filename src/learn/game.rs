//! The game being played, as far as learning has to know it: UCI sends positions, not games.

use shakmaty::uci::UciMove;

use super::{
    outcome::{self, Judgement, Turn},
    policy::{self, Earlier, Outcome, Rules},
};
use crate::{
    position::Position,
    types::{Depth, PositionKey, Score},
};

/// Where a game began and how it went on: what `position` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The first position.
    pub start: PositionKey,
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

/// The searches of one game that count.
#[derive(Clone, Debug, Default)]
pub struct Game {
    line: Line,
    searches: Vec<Turn>,
    /// The scores of all searches of a game, also of those that teach nothing, and where the last one was.
    scores: Vec<Score>,
    last: Line,
}

impl Game {
    /// The search before one at the end of `line`, if both belong to one game.
    pub fn earlier(&self, line: &Line) -> Option<Earlier> {
        let last = self.searches.last()?;
        Some(Earlier { depth: last.depth, score: last.score, plies: line.beyond(&self.line)? })
    }

    /// Takes down a search of `root`, at the end of `line`. What does not go on from the search before begins
    /// a game.
    pub fn searched(&mut self, root: &Position, line: Line, depth: Depth, score: Score) {
        match line.beyond(&self.line) {
            None => self.searches.clear(),
            // The same root once more: this result is the better one.
            Some(0) => drop(self.searches.pop()),
            Some(_) => {}
        }
        let plies = line.moves.len();
        self.line = line;
        self.searches.push(Turn { root: root.clone(), plies, depth, score });
    }

    /// Does `line`, at whose end there is checkmate, end this game with a loss for the side that searched?
    pub fn is_mated_after(&self, line: &Line) -> bool {
        line.beyond(&self.line).is_some_and(|plies| plies.is_multiple_of(2)) && !self.searches.is_empty()
    }

    /// Takes down how a search at the end of `line` saw the game.
    pub fn stood(&mut self, line: &Line, score: Score) {
        match line.beyond(&self.last) {
            None => self.scores.clear(),
            Some(0) => drop(self.scores.pop()),
            Some(_) => {}
        }
        self.last.clone_from(line);
        self.scores.push(score);
    }

    /// How did it end? See [`policy::outcome`].
    pub fn outcome(&self, mated: bool) -> Option<Outcome> {
        policy::outcome(&self.scores, mated)
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
        Line { start: PositionKey(1), moves }
    }

    fn after(searches: &[(&str, i32)]) -> Game {
        let mut game = Game::default();
        for &(moves, score) in searches {
            game.searched(&Position::default(), line(moves), Depth(9), Score(score));
            game.stood(&line(moves), Score(score));
        }
        game
    }

    #[test]
    fn a_game_goes_on_where_its_moves_do() {
        let game = after(&[("", 10), ("e2e4 e7e5", 20)]);
        let plies = |moves: &str| game.earlier(&line(moves)).map(|earlier| (earlier.plies, earlier.score.0));
        assert_eq!(plies("e2e4 e7e5 g1f3 b8c6"), Some((2, 20)));
        assert_eq!(plies("e2e4 e7e5"), Some((0, 20)));
        assert_eq!(plies("e2e4 e7e5 g1f3"), Some((1, 20)));
        assert_eq!(plies("e2e4 c7c5 g1f3 b8c6"), None, "another reply");
        assert_eq!(plies("e2e4"), None, "a move was taken back");
        let elsewhere = Line { start: PositionKey(2), ..line("e2e4 e7e5 g1f3 b8c6") };
        assert!(game.earlier(&elsewhere).is_none(), "another start");
        assert!(Game::default().earlier(&line("")).is_none());
    }

    #[test]
    fn only_the_searches_of_one_game_tell_its_result() {
        let lost = |searches: &[(&str, i32)]| after(searches).outcome(false) == Some(Outcome::Lost);
        assert!(lost(&[("", -600), ("e2e4 e7e5", -700)]));
        assert!(!lost(&[("", -600), ("", -700)]), "one root, searched twice");
        assert!(!lost(&[("e2e4 e7e5", -600), ("d2d4 d7d5", -700)]), "two games");
        assert!(!lost(&[("", 30)]));
    }

    #[test]
    fn searches_that_teach_nothing_tell_the_result_too() {
        let mut game = after(&[("", -100)]);
        game.stood(&line("e2e4 e7e5"), Score(-600));
        game.stood(&line("e2e4 e7e5 g1f3 b8c6"), Score(-700));
        assert_eq!(game.outcome(false), Some(Outcome::Lost));
        assert_eq!(game.earlier(&line("e2e4 e7e5")).map(|earlier| earlier.score.0), Some(-100));
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
