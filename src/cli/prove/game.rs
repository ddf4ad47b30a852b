//! One game between two engines: the rules, the clock, adjudication.

use std::time::Duration;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use shakmaty::{Color, Position as _, uci::UciMove};

use super::player::{EngineAnswer, EngineFailure, EnginePlayer};
use crate::{
    cli::common::json,
    position::{Position, PositionPath},
    protocol::{Command, Go},
    types::{Score, Verdict},
};

/// A game is adjudicated as drawn if neither engine reports more than this for [`DRAW_PLIES`], from [`DRAW_FROM`] on.
const DRAW_SCORE: i32 = 10;
const DRAW_PLIES: usize = 16;
const DRAW_FROM: usize = 80;
/// Plies after which a game is a draw.
const LONGEST: usize = 600;
/// How late a move may come: the delay of the pipe is not the engine's fault.
const MARGIN: Duration = Duration::from_millis(50);
/// An engine that takes longer than this is considered to hang.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);
/// A search to a fixed depth takes no longer than this.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3600);

/// The limit of each search of a side.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Limit {
    Nodes(u64),
    /// In plies, for engines that do not count nodes.
    Depth(u64),
}

/// The limits of both sides.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Pace {
    /// A limit for each move of White and Black, and the relative variation of node limits (0.05 is 5 %).
    Fixed { limits: [Limit; 2], jitter: f64 },
    /// A time for the game and an increment for each move.
    Clock { time: Duration, increment: Duration },
}

impl Pace {
    /// The same with the colours exchanged.
    pub(super) fn swapped(self) -> Pace {
        match self {
            Pace::Fixed { limits: [white, black], jitter } => Pace::Fixed { limits: [black, white], jitter },
            clock => clock,
        }
    }
}

/// Why a game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GameEnding {
    Checkmate,
    Stalemate,
    #[serde(rename = "threefold repetition")]
    Repetition,
    #[serde(rename = "fifty-move rule")]
    FiftyMoves,
    #[serde(rename = "insufficient material")]
    Material,
    /// Adjudicated: both engines agreed on the winner.
    Resigned,
    /// Adjudicated as a draw: both engines agreed.
    #[serde(rename = "draw agreed")]
    Agreed,
    #[serde(rename = "too long")]
    TooLong,
    /// The engine of the side to move crashed.
    Crash,
    /// It stopped answering.
    Hang,
    /// It made an illegal move, or none.
    #[serde(rename = "illegal move")]
    IllegalMove,
    /// It made a move too late.
    #[serde(rename = "time loss")]
    TimeLoss,
}

impl GameEnding {
    /// As the journal and the PGN say it.
    pub fn name(self) -> String {
        json(&self).trim_matches('"').to_owned()
    }

    /// Is it the fault of an engine?
    pub fn is_fault(self) -> bool {
        matches!(self, GameEnding::Crash | GameEnding::Hang | GameEnding::IllegalMove | GameEnding::TimeLoss)
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub(super) struct Played {
    /// None if it was drawn.
    pub winner: Option<Color>,
    pub ending: GameEnding,
    pub moves: Vec<UciMove>,
}

/// Plays from `start`; `players` are White and Black. `each` is called with every answer and its side.
pub(super) fn play(
    start: &Position,
    players: &mut [EnginePlayer; 2],
    pace: Pace,
    random: &mut Rng,
    mut each: impl FnMut(Color, &EngineAnswer),
) -> Played {
    let fen = start.fen();
    let mut game = GameInPlay::new(start);
    let mut clocks = match pace {
        Pace::Clock { time, .. } => [time; 2],
        Pace::Fixed { .. } => [Duration::MAX; 2],
    };
    loop {
        if let Some((winner, ending)) = game.over() {
            return Played { winner, ending, moves: game.moves };
        }
        let turn = game.position.turn();
        let side = usize::from(turn.is_black());
        let (go, timeout) = command(pace, side, &clocks, random);
        let position = Command::Position { start: fen.clone(), moves: game.moves.clone() };
        let lost = |ending, moves| Played { winner: Some(!turn), ending, moves };
        let answer = match players[side].search(&position, go, timeout) {
            Ok(answer) => answer,
            // With a clock, no answer in time is a loss on time, not a hang.
            Err(EngineFailure::Hung) if matches!(pace, Pace::Clock { .. }) => {
                return lost(GameEnding::TimeLoss, game.moves);
            }
            Err(EngineFailure::Hung) => return lost(GameEnding::Hang, game.moves),
            Err(EngineFailure::Crashed) => return lost(GameEnding::Crash, game.moves),
        };
        if let Pace::Clock { increment, .. } = pace {
            if answer.time > clocks[side] + MARGIN {
                return lost(GameEnding::TimeLoss, game.moves);
            }
            clocks[side] = clocks[side].saturating_sub(answer.time) + increment;
        }
        each(turn, &answer);
        if !game.push(&answer) {
            return lost(GameEnding::IllegalMove, game.moves);
        }
    }
}

fn command(pace: Pace, side: usize, clocks: &[Duration; 2], random: &mut Rng) -> (Go, Duration) {
    match pace {
        Pace::Fixed { limits, jitter } => {
            // Drawn for every move of both sides, so that all arms get the same limits.
            let factor = 1.0 + jitter * (2.0 * random.f64() - 1.0);
            match limits[side] {
                Limit::Nodes(nodes) => {
                    let nodes = (nodes as f64 * factor).round().max(1.0) as u64;
                    // Any engine searches more than a thousand nodes a second.
                    (Go { nodes: Some(nodes), ..Go::default() }, HANG_TIMEOUT + Duration::from_millis(nodes))
                }
                Limit::Depth(depth) => (Go { depth: Some(depth), ..Go::default() }, SEARCH_TIMEOUT),
            }
        }
        Pace::Clock { increment, .. } => {
            let ms = |time: Duration| Some(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
            let [wtime, btime] = clocks.map(ms);
            let [winc, binc] = [ms(increment); 2];
            (Go { wtime, btime, winc, binc, ..Go::default() }, clocks[side] + HANG_TIMEOUT)
        }
    }
}

/// The game in progress, and what its adjudication depends on.
struct GameInPlay {
    position: Position,
    moves: Vec<UciMove>,
    path: PositionPath,
    verdict: Verdict,
    /// Consecutive plies with a drawish score, up to the last.
    drawish: usize,
}

impl GameInPlay {
    fn new(start: &Position) -> GameInPlay {
        GameInPlay {
            position: start.clone(),
            moves: Vec::new(),
            path: PositionPath::new(start),
            verdict: Verdict::default(),
            drawish: 0,
        }
    }

    /// Makes the move; false if it is not legal.
    fn push(&mut self, answer: &EngineAnswer) -> bool {
        let legal = answer.best.and_then(|uci| Some((uci, uci.to_move(self.position.chess()).ok()?)));
        let Some((uci, m)) = legal else { return false };
        self.judge(answer.score);
        self.position = self.position.play(m);
        self.moves.push(uci);
        self.path.push(&self.position);
        true
    }

    fn judge(&mut self, score: Option<i32>) {
        // What an engine claims is proven only on the board.
        let claimed = Score::from_centipawns(score.unwrap_or(0)).clamp_evaluation();
        self.verdict.push(self.position.turn(), claimed);
        self.drawish =
            if score.is_some_and(|score| score.abs() <= DRAW_SCORE) { self.drawish + 1 } else { 0 };
    }

    /// Winner and reason, if it is over.
    fn over(&self) -> Option<(Option<Color>, GameEnding)> {
        let chess = self.position.chess();
        if !self.position.has_legal_move() {
            return Some(match self.position.in_check() {
                true => (Some(!self.position.turn()), GameEnding::Checkmate),
                false => (None, GameEnding::Stalemate),
            });
        }
        let drawn = if chess.is_insufficient_material() {
            Some(GameEnding::Material)
        } else if self.position.halfmoves() >= 100 {
            Some(GameEnding::FiftyMoves)
        } else if self.path.occurrences() >= 3 {
            Some(GameEnding::Repetition)
        } else if self.moves.len() >= DRAW_FROM && self.drawish >= DRAW_PLIES {
            Some(GameEnding::Agreed)
        } else if self.moves.len() >= LONGEST {
            Some(GameEnding::TooLong)
        } else {
            None
        };
        if let Some(ending) = drawn {
            return Some((None, ending));
        }
        self.verdict.winner().map(|winner| (Some(winner), GameEnding::Resigned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::translate::parse_fen;

    fn game(fen: &str) -> GameInPlay {
        GameInPlay::new(&parse_fen(fen, false).expect("a position"))
    }

    fn answer(uci: &str, score: Option<i32>) -> EngineAnswer {
        EngineAnswer { best: uci.parse().ok(), score, ..EngineAnswer::default() }
    }

    #[test]
    fn the_rules_end_games() {
        let rows = [
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 70", Some((Some(Color::White), GameEnding::Checkmate))),
            ("7k/8/5KQ1/8/8/8/8/8 b - - 1 70", Some((None, GameEnding::Stalemate))),
            ("8/3k4/8/8/4K3/8/8/5B2 b - - 3 70", Some((None, GameEnding::Material))),
            ("8/3k4/3r4/8/3QK3/8/8/8 b - - 100 110", Some((None, GameEnding::FiftyMoves))),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 110", Some((Some(Color::White), GameEnding::Checkmate))),
            ("8/3k4/3r4/8/3QK3/8/8/8 b - - 99 110", None),
        ];
        for (fen, expected) in rows {
            assert_eq!(game(fen).over(), expected, "{fen}");
        }
    }

    #[test]
    fn a_position_that_comes_for_the_third_time_is_a_draw() {
        let mut game = game("4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1");
        for (count, uci) in
            ["a1a2", "e8d8", "a2a1", "d8e8", "a1a2", "e8d8", "a2a1", "d8e8"].iter().enumerate()
        {
            assert_eq!(game.over(), None, "after {count}");
            assert!(game.push(&answer(uci, Some(200))));
        }
        assert_eq!(game.over(), Some((None, GameEnding::Repetition)));
    }

    #[test]
    fn the_referee_needs_both_sides_for_long_enough() {
        let start = "4k3/8/8/8/8/8/4P3/RR2K3 w - - 0 1";
        let moves = ["a1a2", "e8d8", "a2a3", "d8e8", "a3a4", "e8d8", "a4a5", "d8e8"];
        let after = |white: i32, black: i32, plies: usize| {
            let mut game = game(start);
            for (ply, uci) in moves.iter().take(plies).enumerate() {
                assert!(game.push(&answer(uci, Some(if ply % 2 == 0 { white } else { black }))));
            }
            game.over()
        };
        assert_eq!(after(900, -900, 4), Some((Some(Color::White), GameEnding::Resigned)));
        assert_eq!(after(-500, 500, 4), Some((Some(Color::Black), GameEnding::Resigned)));
        assert_eq!(after(900, -900, 3), None, "not yet");
        assert_eq!(after(900, -400, 8), None, "one still hopes");
        assert_eq!(after(0, 0, 8), None, "too early for a draw");
    }

    #[test]
    fn an_illegal_move_stays_out() {
        let mut game = game("4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1");
        assert!(!game.push(&answer("a1b2", None)) && !game.push(&answer("0000", None)));
        assert!(game.moves.is_empty());
    }

    #[test]
    fn jitter_is_small_and_seeded() {
        let nodes = |seed| {
            let mut random = Rng::with_seed(seed);
            let pace = Pace::Fixed { limits: [Limit::Nodes(1000), Limit::Depth(7)], jitter: 0.05 };
            (0..50).map(|_| command(pace, 0, &[Duration::ZERO; 2], &mut random).0.nodes).collect::<Vec<_>>()
        };
        assert_eq!(nodes(1), nodes(1));
        assert_ne!(nodes(1), nodes(2));
        assert!(nodes(3).iter().flatten().all(|nodes| (950..=1050).contains(nodes)));
    }

    #[test]
    fn endings_have_names() {
        for (ending, name) in [(GameEnding::Checkmate, "checkmate"), (GameEnding::TimeLoss, "time loss")] {
            assert_eq!(ending.name(), name);
            let read: GameEnding = serde_json::from_str(&format!("\"{name}\"")).expect("an ending");
            assert_eq!(read, ending);
        }
    }
}
