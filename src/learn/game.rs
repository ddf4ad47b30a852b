//! The game being played, as far as learning has to know it (UCI sends positions, not games), and the outcomes of its
//! moves once it is over.
//!
//! A search looks a few plies ahead, a game goes to its end. The scores of its searches, backed up from the result,
//! give the outcome of each move: the return of temporal difference learning, TD(lambda) (Samuel 1959; Sutton 1988;
//! in chess Beal and Smith 1997, Baxter, Tridgell and Weaver 1998). They adjusted weights by it; here it is rote
//! learning, position by position.
//!
//! What is learned is a bound of the position *after* a move, and the reply that was played. If the game was lost the
//! reply refutes the move: the position is worth at least the outcome to the opponent. If the game was won the move is
//! worth at least that against an opponent who replies like this one.

use shakmaty::uci::UciMove;

use super::{
    policy::{Earlier, Known, LOST, PositionFinding, Rules},
    record::Record,
};
use crate::{
    position::Position,
    types::{Depth, PackedMove, Score},
};

/// Plies that may be taken back in a game; a line that branches off earlier is another game.
const TAKEN_BACK: usize = 4;
/// Two scores of at least this size in a row, in printed centipawns, decide a game: then players resign and referees
/// adjudicate.
const DECIDED: i32 = 500;
/// The factor by which an outcome loses weight from one move to the one before, in a lost game: it is lost by a
/// mistake, which is near the place where the scores fall, whereas a game is won by all of its moves.
const LOST_DECAY: f64 = 0.8;
const WON_DECAY: f64 = 0.98;
/// The score of a result, and the largest score counted, in printed centipawns. A side that stands this well has won
/// already.
pub const RESULT: i32 = 600;
/// The depth of an outcome is that of the search after the move plus the moves played since, at most this many of them.
const LOOKAHEAD: usize = 6;

/// How a game ended for the side that searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// It was won.
    Won,
    /// It was lost.
    Lost,
}

/// The start of a game and its moves, as in `position`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The first position, as FEN.
    pub start: String,
    /// The moves since.
    pub moves: Vec<UciMove>,
}

impl Line {
    /// By how many plies this line is longer than `earlier`, if it continues it.
    fn beyond(&self, earlier: &Line) -> Option<usize> {
        let same = self.start == earlier.start && self.moves.starts_with(&earlier.moves);
        same.then(|| self.moves.len() - earlier.moves.len())
    }
}

/// A search of a game.
#[derive(Clone, Debug)]
pub struct GameSearch {
    /// Its root.
    pub position: Position,
    /// Moves played before it.
    pub plies: usize,
    /// Its depth.
    pub depth: Depth,
    /// Its score, for the side that searched.
    pub score: Score,
    /// Is it learned from? Other searches only show how the game stood.
    pub teaches: bool,
    /// A drop that the end of the game may confirm.
    pub drop: Option<Record>,
}

/// A game as one side searched it.
#[derive(Clone, Debug, Default)]
pub struct PlayedGame {
    /// The game up to the last search.
    line: Line,
    /// The searches, each with a different root.
    searches: Vec<GameSearch>,
    /// The rules of the last search that is learned from.
    rules: Option<Rules>,
    /// Was any part of it analysed instead of played?
    analysed: bool,
}

impl PlayedGame {
    /// Was it searched, and was every search made to play a move?
    pub fn is_played(&self) -> bool {
        !self.searches.is_empty() && !self.analysed
    }

    /// Does `line` belong to another game, so that this one is over?
    pub fn is_left_for(&self, line: &Line) -> bool {
        let pairs = self.line.moves.iter().zip(&line.moves);
        let shared = pairs.take_while(|(ours, theirs)| ours == theirs).count();
        let is_takeback = self.line.start == line.start && shared + TAKEN_BACK >= self.line.moves.len();
        !self.searches.is_empty() && !is_takeback
    }

    /// The last search before the end of `line`, if `line` continues this game.
    pub fn earlier(&self, line: &Line) -> Option<Earlier> {
        line.beyond(&self.line)?;
        let last = self.teaching().last()?;
        Some(Earlier { depth: last.depth, score: last.score, plies: line.moves.len() - last.plies })
    }

    /// Adds a search at the end of `line`; `analysed`: it was not made to play a move. A search that does not
    /// continue the game begins a new one.
    pub fn searched(&mut self, line: &Line, rules: &Rules, analysed: bool, mut search: GameSearch) {
        if line.beyond(&self.line).is_none() {
            *self = PlayedGame::default();
        }
        self.line.clone_from(line);
        self.analysed |= analysed;
        if search.teaches {
            self.rules = Some(*rules);
        }
        // The same root again: this result replaces the earlier one.
        if let Some(same) = self.searches.pop_if(|last| last.plies == search.plies) {
            search.drop = search.drop.or(same.drop);
        }
        self.searches.push(search);
    }

    /// Does `line`, which ends in checkmate, end this game with a loss for the side that searched?
    pub fn is_mated_after(&self, line: &Line) -> bool {
        let plies = line.beyond(&self.line);
        plies.is_some_and(|plies| plies.is_multiple_of(2)) && self.teaching().next().is_some()
    }

    /// How it ended: `known`, or else as the scores of its searches show. An analysis has no end.
    ///
    /// UCI does not report who won. The game counts as lost if the last search saw itself mated, or if the last two
    /// scores were -5 pawns or worse, where players resign and referees adjudicate; it counts as won in the opposite
    /// cases. Other games (drawn, broken off) have no result here.
    pub fn end(&self, known: Option<GameEnd>) -> Option<GameEnd> {
        let mut scores = self.searches.iter().rev().filter(|_| !self.analysed).map(|search| search.score);
        let last = scores.next()?;
        let before = scores.next().map_or(0, Score::centipawns);
        let stood = |sign: i32| sign * before >= DECIDED && sign * last.centipawns() >= DECIDED;
        if known.is_some() {
            known
        } else if last.is_loss() || stood(-1) {
            Some(GameEnd::Lost)
        } else if last.is_win() || stood(1) {
            Some(GameEnd::Won)
        } else {
            None
        }
    }

    /// The searches before the last one, latest first.
    pub fn earlier_searches(&self) -> impl Iterator<Item = &GameSearch> {
        self.searches.iter().rev().skip(1)
    }

    /// The drops that the end of the game may confirm.
    pub fn drops(&self) -> impl Iterator<Item = &Record> {
        self.searches.iter().filter_map(|search| search.drop.as_ref())
    }

    /// The outcomes of the moves of the side that searched, in order. If the game was lost, a move gets a bound if its
    /// outcome is worse by [`Rules::drop`] than the score of its search, and if the game was not lost before it; of the
    /// other moves only the reply is kept.
    pub fn outcomes(&self, end: GameEnd) -> Vec<PositionFinding> {
        let Some(rules) = self.rules else { return Vec::new() };
        let (result, decay) = match end {
            GameEnd::Won => (RESULT, WON_DECAY),
            GameEnd::Lost => (-RESULT, LOST_DECAY),
        };
        let searches: Vec<&GameSearch> = self.teaching().collect();
        let mut value = f64::from(result);
        let mut findings = Vec::new();
        for (since, pair) in searches.windows(2).rev().enumerate() {
            let &[search, next] = pair else { continue };
            let came_to = next.score.centipawns().clamp(-RESULT, RESULT);
            value = decay * value + (1.0 - decay) * f64::from(came_to);
            let (score, worth) = (search.score.centipawns(), value.round() as i32);
            let bound = Score::from_centipawns(-worth);
            let (lower, upper) = match end {
                GameEnd::Lost if score > LOST && f64::from(score) - value >= f64::from(rules.drop) => {
                    (bound, Score::INFINITE)
                }
                GameEnd::Won if score < RESULT && f64::from(score) <= value => (-Score::INFINITE, bound),
                // No bound: the record only shows that the move was played, so that a study can follow the game.
                GameEnd::Lost if score > LOST => (-Score::INFINITE, Score::INFINITE),
                _ => continue,
            };
            let depth = Depth(next.depth.get() + 1 + 2 * since.min(LOOKAHEAD) as i32);
            let Some((position, best)) = self.after(search) else { continue };
            findings.push(PositionFinding {
                position,
                since_root: 1,
                known: Known { lower, upper, depth, best },
            });
        }
        findings.reverse();
        findings
    }

    /// The searches that are learned from.
    fn teaching(&self) -> impl DoubleEndedIterator<Item = &GameSearch> {
        self.searches.iter().filter(|search| search.teaches)
    }

    /// The position after the move that followed this search, and the reply.
    fn after(&self, search: &GameSearch) -> Option<(Position, PackedMove)> {
        let moves = &self.line.moves;
        let position = search.position.play(moves.get(search.plies)?.to_move(search.position.chess()).ok()?);
        let reply = moves.get(search.plies + 1)?.to_move(position.chess()).ok()?;
        Some((position, PackedMove::pack(reply)))
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;

    use super::*;
    use crate::{learn::policy::LearningMode, types::Ply};

    const RULES: Rules = Rules { mode: LearningMode::Drop, drop: 33, min_depth: Depth(4) };

    fn line(moves: &str) -> Line {
        let moves = moves.split_whitespace().map(|uci| uci.parse().expect("a move")).collect();
        Line { start: "start".to_owned(), moves }
    }

    fn search(plies: usize, score: Score) -> GameSearch {
        GameSearch { position: Position::default(), plies, depth: Depth(9), score, teaches: true, drop: None }
    }

    fn after(searches: &[(&str, i32)]) -> PlayedGame {
        let mut game = PlayedGame::default();
        for &(moves, score) in searches {
            let line = line(moves);
            let search = search(line.moves.len(), Score::from_centipawns(score));
            game.searched(&line, &RULES, false, search);
        }
        game
    }

    #[test]
    fn a_game_goes_on_where_its_moves_do() {
        let game = after(&[("", 10), ("e2e4 e7e5", 20)]);
        let rows = [
            ("e2e4 e7e5 g1f3 b8c6", Some(2)),
            ("e2e4 e7e5", Some(0)),
            ("e2e4 e7e5 g1f3", Some(1)),
            ("e2e4 c7c5 g1f3 b8c6", None),
            ("e2e4", None),
        ];
        for (moves, plies) in rows {
            assert_eq!(game.earlier(&line(moves)).map(|earlier| earlier.plies), plies, "{moves}");
        }
        let elsewhere = Line { start: "another".to_owned(), ..line("e2e4 e7e5 g1f3 b8c6") };
        assert!(game.earlier(&elsewhere).is_none() && PlayedGame::default().earlier(&line("")).is_none());
        let is_left = |moves: &str| game.is_left_for(&line(moves));
        assert!(!is_left("e2e4 e7e5 g1f3 b8c6") && !is_left(""), "it goes on, or moves were taken back");
        let longer = after(&[("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", 20)]);
        assert!(longer.is_left_for(&line("e2e4")) && !longer.is_left_for(&line("e2e4 e7e5")));
        assert!(game.is_left_for(&elsewhere) && !PlayedGame::default().is_left_for(&line("e2e4")));
        assert!(
            game.is_mated_after(&line("e2e4 e7e5 g1f3 b8c6"))
                && !game.is_mated_after(&line("e2e4 e7e5 g1f3"))
        );
        assert!(
            !game.is_mated_after(&line("d2d4 d7d5"))
                && !PlayedGame::default().is_mated_after(&Line::default())
        );
    }

    #[test]
    fn a_game_is_decided_where_players_resign() {
        let cp = Score::from_centipawns;
        let rows = [
            ("nothing known", vec![], None),
            ("mated in the last search", vec![cp(0), Score::mated_in(Ply(3))], Some(GameEnd::Lost)),
            ("mating in the last search", vec![cp(0), Score::mate_in(Ply(4))], Some(GameEnd::Won)),
            ("one bad score", vec![cp(0), cp(-600)], None),
            ("two bad scores", vec![cp(0), cp(-500), cp(-500)], Some(GameEnd::Lost)),
            ("the last one better", vec![cp(-600), cp(-499)], None),
            ("a draw by repetition", vec![cp(-300), cp(0), cp(0)], None),
            ("one good score", vec![cp(100), cp(900)], None),
            ("two good scores", vec![cp(100), cp(500), cp(900)], Some(GameEnd::Won)),
        ];
        for (name, scores, expected) in rows {
            for analysed in [false, true] {
                let mut game = PlayedGame::default();
                for (number, &score) in scores.iter().enumerate() {
                    // Searches that are not learned from also show the result.
                    let search = GameSearch { teaches: false, ..search(2 * number, score) };
                    game.searched(&line(""), &RULES, analysed, search);
                }
                assert_eq!(game.end(None), expected.filter(|_| !analysed), "{name}");
            }
        }
        let lost = |searches: &[(&str, i32)]| after(searches).end(None) == Some(GameEnd::Lost);
        assert!(lost(&[("", -600), ("e2e4 e7e5", -700)]));
        assert!(!lost(&[("", -600), ("", -700)]), "one root, searched twice");
        assert!(!lost(&[("e2e4 e7e5", -600), ("d2d4 d7d5", -700)]), "two games");
    }

    /// The outcomes of a game in which White searched with these scores: the number of the search, the bound in printed
    /// centipawns for White, and the depth.
    fn judged(scores: &[i32], end: GameEnd) -> Vec<(usize, i32, i32)> {
        let (mut game, mut line) = (PlayedGame::default(), Line::default());
        let mut position = Position::default();
        for (number, &score) in scores.iter().enumerate() {
            let search = search(line.moves.len(), Score::from_centipawns(score));
            game.searched(
                &line,
                &RULES,
                false,
                GameSearch { position: position.clone(), depth: Depth(6), ..search },
            );
            // Knights out and back again: four plies a round.
            for uci in if number % 2 == 0 { ["g1f3", "g8f6"] } else { ["f3g1", "f6g8"] } {
                let uci: UciMove = uci.parse().expect("a move");
                position = position.play(uci.to_move(position.chess()).expect("legal"));
                line.moves.push(uci);
            }
        }
        let row = |PositionFinding { position, known, .. }: &PositionFinding| {
            assert!(position.turn().is_black() && position.unpack(known.best).is_some());
            let (bound, open) = match end {
                GameEnd::Lost => (known.lower, known.upper),
                GameEnd::Won => (known.upper, known.lower),
            };
            assert_eq!(open.0.abs(), Score::INFINITE.0, "one bound only");
            let fullmoves = position.chess().fullmoves().get() as usize;
            (fullmoves - 1, -bound.centipawns(), known.depth.get())
        };
        // Of the others only the move is recorded.
        game.outcomes(end).iter().filter(|finding| finding.known.is_bounded()).map(row).collect()
    }

    #[test]
    fn what_a_lost_game_came_to_is_blamed_on_the_moves_near_it() {
        // 0.8 of what came later, 0.2 of the next score: -600, -520, -432, -346.
        let rows = judged(&[20, 0, -80, -200, -600], GameEnd::Lost);
        assert_eq!(rows, [(0, -346, 13), (1, -432, 11), (2, -520, 9)], "at -200 it was lost already");
        let calm = [vec![10; 16], vec![-600]].concat();
        let blamed = judged(&calm, GameEnd::Lost);
        assert!(blamed.iter().all(|&(turn, ..)| turn > 1), "the beginning is not to blame: {blamed:?}");
    }

    #[test]
    fn all_moves_of_a_won_game_are_praised_until_it_is_won() {
        let rows = judged(&[-50, 30, 200, 700, 900], GameEnd::Won);
        assert_eq!(rows.iter().map(|&(turn, ..)| turn).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(rows.iter().all(|&(_, bound, _)| (500..=600).contains(&bound)), "{rows:?}");
        assert!(judged(&[30], GameEnd::Won).is_empty(), "no reply is known");
        let depths: Vec<i32> = judged(&[0; 12], GameEnd::Won).iter().map(|&(.., depth)| depth).collect();
        assert_eq!(depths, [19, 19, 19, 19, 19, 17, 15, 13, 11, 9, 7], "no deeper than its memory");
    }
}
