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

use shakmaty::{ByColor, Color, uci::UciMove};

use super::{
    policy::{Earlier, Known, LOST, PositionFinding, Rules},
    record::Record,
};
use crate::{
    position::Position,
    types::{Depth, PackedMove, Score, Verdict},
};

/// Plies that may be taken back in a game; a line that branches off earlier is another game, or a look at one.
pub const TAKEN_BACK: usize = 6;
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
    /// Plies since the start.
    pub fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Does this line begin with `earlier`?
    pub fn continues(&self, earlier: &Line) -> bool {
        self.start == earlier.start && self.moves.starts_with(&earlier.moves)
    }
}

/// A search of a game.
#[derive(Clone, Debug)]
pub struct GameSearch {
    /// Its root.
    pub position: Position,
    /// The line to the root.
    pub line: Line,
    /// Its depth.
    pub depth: Depth,
    /// Its score, for the side that searched.
    pub score: Score,
    /// The move announced.
    pub announced: Option<UciMove>,
    /// Is it learned from? Other searches only show how the game stood.
    pub teaches: bool,
    /// A drop that the end of the game may confirm.
    pub drop: Option<Record>,
    /// Was its root searched in the tree that is played from?
    pub in_tree: bool,
}

impl GameSearch {
    /// The side that searched.
    pub fn side(&self) -> Color {
        self.position.turn()
    }
}

/// A game as an engine searched it, for one side or for both (an engine that plays itself).
///
/// Moves may be taken back and positions of the game looked at again: the searches that count are those on the line of
/// the game.
#[derive(Clone, Debug, Default)]
pub struct PlayedGame {
    line: Line,
    /// By the length of their lines.
    searches: Vec<GameSearch>,
    /// The rules of the last search that is learned from.
    rules: Option<Rules>,
}

impl PlayedGame {
    /// Was nothing searched?
    pub fn is_empty(&self) -> bool {
        self.searches.is_empty()
    }

    /// The line of the game.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Is `line` a part of this game: does it share all but the last plies with it?
    pub fn goes_on_with(&self, line: &Line) -> bool {
        let pairs = self.line.moves.iter().zip(&line.moves);
        let shared = pairs.take_while(|(ours, theirs)| ours == theirs).count();
        self.line.start == line.start && shared + TAKEN_BACK >= self.line.plies()
    }

    /// Moves were played, or taken back. A mere look at an earlier position leaves the line as it is.
    pub fn follow(&mut self, line: &Line) {
        if !self.line.continues(line) {
            self.line.clone_from(line);
        }
    }

    /// The searches on the line of the game, in its order, of the sides that the engine plays.
    pub fn searches(&self) -> impl DoubleEndedIterator<Item = &GameSearch> {
        let left_out = ByColor::new_with(|side| self.is_looked_at(side));
        self.on_line().filter(move |search| !left_out[search.side()])
    }

    fn on_line(&self) -> impl DoubleEndedIterator<Item = &GameSearch> {
        self.searches.iter().filter(|search| self.line.continues(&search.line))
    }

    /// Does the engine only look at the positions of `side`: were both sides searched, and was another move than one
    /// announced for this side played? So a GUI analyses a game of others, or gives a hint; an engine that plays itself
    /// plays the moves that it announces.
    pub fn is_looked_at(&self, side: Color) -> bool {
        let is_ignored = |search: &GameSearch| {
            let played = self.line.moves.get(search.line.plies());
            search.side() == side && search.announced.as_ref().zip(played).is_some_and(|(ours, m)| ours != m)
        };
        self.on_line().any(is_ignored) && self.on_line().any(|search| search.side() != side)
    }

    /// Was it searched, but does the engine play neither side?
    pub fn is_analysis(&self) -> bool {
        !self.is_empty() && self.searches().next().is_none()
    }

    /// The searches of `side` that are learned from.
    fn teaching(&self, side: Color) -> impl DoubleEndedIterator<Item = &GameSearch> {
        self.searches().filter(move |search| search.teaches && search.side() == side)
    }

    /// The last search of `side` before the end of `line`, if `line` continues this game.
    pub fn earlier(&self, line: &Line, side: Color) -> Option<Earlier> {
        let on_line =
            |search: &&GameSearch| search.teaches && search.side() == side && line.continues(&search.line);
        let last = self.searches.iter().rev().find(on_line)?;
        let plies = line.plies() - last.line.plies();
        Some(Earlier { depth: last.depth, score: last.score, plies })
    }

    /// Adds a search, made to play a move. The first result of a root stays, because its move was played, unless the root
    /// is the last one. A root that the game has passed without a search is left out: this search did not choose its move.
    pub fn searched(&mut self, rules: &Rules, mut search: GameSearch) {
        self.follow(&search.line);
        if search.teaches {
            self.rules = Some(*rules);
        }
        let is_last = self.on_line().all(|other| other.line.plies() <= search.line.plies());
        let Some(same) = self.searches.iter_mut().find(|other| other.line == search.line) else {
            if is_last {
                let place = self.searches.partition_point(|other| other.line.plies() <= search.line.plies());
                self.searches.insert(place, search);
            }
            return;
        };
        let announced = if is_last { search.announced } else { same.announced };
        if search.teaches >= same.teaches && (is_last || !same.teaches) {
            search.drop = search.drop.or(same.drop.take());
            *same = search;
        } else {
            same.drop = same.drop.take().or(search.drop);
        }
        same.announced = announced;
    }

    /// The side that won, as the scores show. UCI does not report it.
    pub fn winner(&self) -> Option<Color> {
        let mut verdict = Verdict::default();
        self.searches().for_each(|search| verdict.push(search.side(), search.score));
        verdict.winner()
    }

    /// The searches of `side` before the end of `line`, latest first.
    pub fn before<'a>(&'a self, line: &Line, side: Color) -> impl Iterator<Item = &'a GameSearch> {
        let plies = line.plies();
        self.searches().rev().filter(move |search| search.side() == side && search.line.plies() < plies)
    }

    /// The drops of `side` that the end of the game may confirm.
    pub fn drops(&self, side: Color) -> impl Iterator<Item = &Record> {
        self.searches().filter(move |search| search.side() == side).filter_map(|search| search.drop.as_ref())
    }

    /// The positions after the moves of `side`, and the replies.
    pub fn replies(&self, side: Color) -> impl Iterator<Item = (Position, PackedMove)> {
        self.teaching(side).filter_map(|search| self.after(search))
    }

    /// The outcomes of the moves of `side`, in order. If the game was lost, a move gets a bound if its outcome is worse by
    /// [`Rules::drop`] than the score of its search, and if the game was not lost before it; of the other moves only the
    /// reply is kept.
    pub fn outcomes(&self, side: Color, end: GameEnd) -> Vec<PositionFinding> {
        let Some(rules) = self.rules else { return Vec::new() };
        let (result, decay) = match end {
            GameEnd::Won => (RESULT, WON_DECAY),
            GameEnd::Lost => (-RESULT, LOST_DECAY),
        };
        let searches: Vec<&GameSearch> = self.teaching(side).collect();
        // A game that began badly is lost where it is worse by as much again.
        let first = searches.first().map_or(0, |first| first.score.centipawns());
        let lost = if first > LOST { LOST } else { first + LOST };
        let mut value = f64::from(result);
        let mut findings = Vec::new();
        for (since, pair) in searches.windows(2).rev().enumerate() {
            let &[search, next] = pair else { continue };
            let came_to = next.score.centipawns().clamp(-RESULT, RESULT);
            value = decay * value + (1.0 - decay) * f64::from(came_to);
            let (score, worth) = (search.score.centipawns(), value.round() as i32);
            let bound = Score::from_centipawns(-worth);
            let (lower, upper) = match end {
                GameEnd::Lost if score > lost && f64::from(score) - value >= f64::from(rules.drop) => {
                    (bound, Score::INFINITE)
                }
                GameEnd::Won if score < RESULT && f64::from(score) <= value => (-Score::INFINITE, bound),
                // No bound: the record only shows that the move was played, so that a study can follow the game.
                GameEnd::Lost if score > lost => (-Score::INFINITE, Score::INFINITE),
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

    /// The position after the move that followed this search, and the reply.
    fn after(&self, search: &GameSearch) -> Option<(Position, PackedMove)> {
        let mut moves = self.line.moves[search.line.plies()..].iter();
        let position = search.position.play(moves.next()?.to_move(search.position.chess()).ok()?);
        let reply = moves.next()?.to_move(position.chess()).ok()?;
        Some((position, PackedMove::pack(reply)))
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;

    use super::*;
    use crate::learn::policy::LearningMode;

    const RULES: Rules = Rules { mode: LearningMode::Drop, drop: 33, min_depth: Depth(4) };

    fn line(moves: &str) -> Line {
        let moves = moves.split_whitespace().map(|uci| uci.parse().expect("a move")).collect();
        Line { start: "start".to_owned(), moves }
    }

    fn search(line: &Line, score: i32) -> GameSearch {
        let score = Score::from_centipawns(score);
        let position = Position::default();
        let (line, depth) = (line.clone(), Depth(9));
        GameSearch {
            position,
            line,
            depth,
            score,
            announced: None,
            teaches: true,
            drop: None,
            in_tree: false,
        }
    }

    fn after(searches: &[(&str, i32)]) -> PlayedGame {
        let mut game = PlayedGame::default();
        searches.iter().for_each(|&(moves, score)| game.searched(&RULES, search(&line(moves), score)));
        game
    }

    #[test]
    fn a_game_goes_on_where_its_moves_do() {
        let game = after(&[("", 10), ("e2e4 e7e5", 20)]);
        let rows = [
            ("e2e4 e7e5 g1f3 b8c6", Some(2)),
            ("e2e4 e7e5", Some(0)),
            ("e2e4 e7e5 g1f3", Some(1)),
            ("e2e4 c7c5 g1f3 b8c6", Some(4)),
        ];
        for (moves, plies) in rows {
            let earlier = game.earlier(&line(moves), Color::White);
            assert_eq!(earlier.map(|earlier| earlier.plies), plies, "{moves}");
        }
        assert!(game.earlier(&line("e2e4 e7e5"), Color::Black).is_none(), "Black has not searched");
        let elsewhere = Line { start: "another".to_owned(), ..line("e2e4 e7e5 g1f3 b8c6") };
        assert!(game.earlier(&elsewhere, Color::White).is_none() && !game.goes_on_with(&elsewhere));
        let longer = after(&[("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6", 20)]);
        let rows = [
            ("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1", true),
            ("e2e4 e7e5 f2f4", true),
            ("e2e4 e7e5", true),
            ("e2e4", false),
            ("", false),
            ("e2e4 c7c5", false),
            ("d2d4", false),
        ];
        for (moves, same) in rows {
            assert_eq!(longer.goes_on_with(&line(moves)), same, "{moves}");
        }
    }

    #[test]
    fn searches_count_where_their_line_is_that_of_the_game() {
        let scores = |game: &PlayedGame| -> Vec<i32> {
            game.searches().map(|search| search.score.centipawns()).collect()
        };
        let mut game = after(&[("", 10), ("e2e4 e7e5", 20), ("e2e4 e7e5 g1f3 b8c6", 30)]);
        assert_eq!(scores(&game), [10, 20, 30]);
        game.searched(&RULES, search(&line(""), 11));
        assert_eq!(scores(&game), [10, 20, 30], "a look back changes nothing");
        game.searched(&RULES, search(&line("e2e4"), 15));
        assert_eq!(scores(&game), [10, 20, 30], "nor does one at the other side");
        game.searched(&RULES, search(&line("e2e4 e7e5 g1f3 b8c6"), 31));
        assert_eq!(scores(&game), [10, 20, 31], "the last root again");
        game.searched(&RULES, search(&line("e2e4 e7e5 f2f4 e5f4"), 40));
        assert_eq!(scores(&game), [10, 20, 40], "moves were taken back");
        game.searched(&RULES, search(&line("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"), 50));
        assert_eq!(scores(&game), [10, 20, 31, 50], "and played again");
    }

    #[test]
    fn the_scores_on_the_line_show_who_won() {
        let lost = |searches: &[(&str, i32)]| after(searches).winner() == Some(Color::Black);
        assert!(lost(&[("", -600), ("e2e4 e7e5", -700)]));
        assert!(!lost(&[("", -600), ("", -700)]), "one root, searched twice");
        assert!(!lost(&[("e2e4 e7e5", -600), ("d2d4 d7d5", -700)]), "one of them was taken back");
        // Searches that are not learned from also show the result.
        let mut game = after(&[("", -600)]);
        game.searched(&RULES, GameSearch { teaches: false, ..search(&line("e2e4 e7e5"), -600) });
        assert_eq!(game.winner(), Some(Color::Black));
    }

    #[test]
    fn a_side_whose_announced_moves_are_not_played_is_only_looked_at() {
        let after = |searches: &[(&str, &str)]| {
            let mut game = PlayedGame::default();
            let mut position = Position::default();
            for (number, &(moves, announced)) in searches.iter().enumerate() {
                let announced = Some(announced.parse().expect("a move"));
                let search = GameSearch { position: position.clone(), announced, ..search(&line(moves), 0) };
                game.searched(&RULES, search);
                let m = position.legal_moves()[number];
                position = position.play(m);
            }
            game.follow(&line("e2e4 e7e5 g1f3 b8c6"));
            [Color::White, Color::Black].map(|side| game.is_looked_at(side))
        };
        let (first, second) = (("", "e2e4"), ("e2e4", "e7e5"));
        assert_eq!(after(&[first, second]), [false, false], "it plays itself");
        assert_eq!(after(&[("", "d2d4"), second]), [true, false], "a hint for White");
        assert_eq!(after(&[("", "d2d4"), ("e2e4", "c7c5")]), [true, true], "a game of others");
        assert_eq!(after(&[("", "d2d4")]), [false, false], "a move forced on the only side that searched");
        let game = {
            let mut game = PlayedGame::default();
            game.searched(&RULES, GameSearch { announced: "d2d4".parse().ok(), ..search(&line(""), 0) });
            game.searched(&RULES, GameSearch { announced: "e2e4".parse().ok(), ..search(&line(""), 0) });
            game
        };
        let announced = game.searches().next().and_then(|search| search.announced);
        assert_eq!(announced, "e2e4".parse().ok(), "the move announced last");
    }

    /// The outcomes of a game in which White searched with these scores: the number of the search, the bound in printed
    /// centipawns for White, and the depth.
    fn judged(scores: &[i32], end: GameEnd) -> Vec<(usize, i32, i32)> {
        let (mut game, mut line) = (PlayedGame::default(), Line::default());
        let mut position = Position::default();
        for (number, &score) in scores.iter().enumerate() {
            let search = GameSearch { position: position.clone(), depth: Depth(6), ..search(&line, score) };
            game.searched(&RULES, search);
            // Knights out and back again: four plies a round.
            for uci in if number % 2 == 0 { ["g1f3", "g8f6"] } else { ["f3g1", "f6g8"] } {
                let uci: UciMove = uci.parse().expect("a move");
                position = position.play(uci.to_move(position.chess()).expect("legal"));
                line.moves.push(uci);
            }
        }
        game.follow(&line);
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
        game.outcomes(Color::White, end)
            .iter()
            .filter(|finding| finding.known.is_bounded())
            .map(row)
            .collect()
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
    fn a_game_that_began_badly_is_to_blame_as_well() {
        let rows = judged(&[-250, -270, -300, -480, -700], GameEnd::Lost);
        assert_eq!(rows.iter().map(|&(turn, ..)| turn).collect::<Vec<_>>(), [0, 1, 2], "{rows:?}");
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
