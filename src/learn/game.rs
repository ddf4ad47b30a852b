//! The game being played, as far as learning has to know it: UCI sends positions, not games.

use shakmaty::uci::UciMove;

use super::policy::{self, Earlier};
use crate::types::{Depth, PositionKey, Score};

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
    searches: Vec<(Depth, Score)>,
}

impl Game {
    /// The search before one at the end of `line`, if both belong to one game.
    pub fn earlier(&self, line: &Line) -> Option<Earlier> {
        let &(depth, score) = self.searches.last()?;
        Some(Earlier { depth, score, plies: line.beyond(&self.line)? })
    }

    /// Takes down a search at the end of `line`. What does not go on from the search before begins a game.
    pub fn searched(&mut self, line: Line, depth: Depth, score: Score) {
        match line.beyond(&self.line) {
            None => self.searches.clear(),
            // The same root once more: this result is the better one.
            Some(0) => drop(self.searches.pop()),
            Some(_) => {}
        }
        self.line = line;
        self.searches.push((depth, score));
    }

    /// Does `line`, at whose end there is checkmate, end this game with a loss for the side that searched?
    pub fn is_mated_after(&self, line: &Line) -> bool {
        line.beyond(&self.line).is_some_and(|plies| plies.is_multiple_of(2)) && !self.searches.is_empty()
    }

    /// Was it lost? See [`policy::was_lost`].
    pub fn was_lost(&self, mated: bool) -> bool {
        let scores: Vec<Score> = self.searches.iter().map(|&(_, score)| score).collect();
        policy::was_lost(&scores, mated)
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
            game.searched(line(moves), Depth(9), Score(score));
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
        assert!(after(&[("", -600), ("e2e4 e7e5", -700)]).was_lost(false));
        assert!(!after(&[("", -600), ("", -700)]).was_lost(false), "one root, searched twice");
        assert!(!after(&[("e2e4 e7e5", -600), ("d2d4 d7d5", -700)]).was_lost(false), "two games");
        assert!(!after(&[("", 30)]).was_lost(false));
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
