//! What the end of a game says about the moves that led there.
//!
//! A search looks a few plies ahead, a game goes to its end. The scores of its searches, read backwards from the
//! result, are what came of each move: the return of temporal difference learning, TD(lambda) (Samuel 1959;
//! Sutton 1988; in chess Beal and Smith 1997, Baxter, Tridgell and Weaver 1998). They adjusted weights by it; here
//! it is learned by rote, position by position.
//!
//! What is learned is a bound on the position *after* a move, and the reply that was played. If the game was
//! lost the reply is a refutation as far as it goes: the opponent has at least what it came to. If the game was
//! won the move is worth at least so much against an opponent who replies like this one.

use shakmaty::uci::UciMove;

use super::policy::{Known, LOST, Outcome, Rules};
use crate::{
    position::Position,
    types::{Depth, PackedMove, Score},
};

/// What is left of the difference to the result from one move to the one before: a game is lost by a mistake,
/// which lies near the place where the scores fall, but won by all of its moves.
const LOST_DECAY: f64 = 0.8;
const WON_DECAY: f64 = 0.98;
/// What a result counts, and the largest score, in printed centipawns.
pub const RESULT: i32 = 600;
/// Whoever stands as well as this has won already, and needs no advice.
const WON: f64 = 600.0;
/// The statement reaches as deep as the search after the move, and further by what was played since, but by no
/// more than so many moves: the return forgets.
const LOOKAHEAD: usize = 6;

/// A search of the game.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its root.
    pub root: Position,
    /// Moves played before it.
    pub plies: usize,
    /// Its depth.
    pub depth: Depth,
    /// Its score, for the side that searched.
    pub score: Score,
}

/// Something to remember about the position after a move.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The position, the opponent to move.
    pub position: Position,
    /// Its window, for the opponent, with the reply that was played.
    pub known: Known,
}

/// What `outcome` says about the moves of a game, in their order: `moves` are all that were played, `turns` the
/// searches of one side. A move is blamed if what came of it is worse by [`Rules::drop`] than its search said,
/// and if the game was not lost before it.
pub fn judge(turns: &[Turn], moves: &[UciMove], outcome: Outcome, rules: &Rules) -> Vec<Judgement> {
    let (result, decay) = match outcome {
        Outcome::Won => (f64::from(RESULT), WON_DECAY),
        Outcome::Lost => (-f64::from(RESULT), LOST_DECAY),
    };
    let mut judgements = Vec::new();
    let mut value = result;
    let pairs = turns.windows(2).rev().enumerate();
    for (since, pair) in pairs {
        let [turn, next] = pair else { continue };
        value =
            decay * value + (1.0 - decay) * printed(next.score).clamp(-f64::from(RESULT), f64::from(RESULT));
        let score = printed(turn.score);
        let bound = Score::from_centipawns(-(value.round() as i32));
        let (lower, upper) = match outcome {
            Outcome::Lost if score > f64::from(LOST) && score - value >= f64::from(rules.drop) => {
                (bound, Score::INFINITE)
            }
            Outcome::Won if score < WON && score <= value => (-Score::INFINITE, bound),
            _ => continue,
        };
        let depth = Depth(next.depth.get() + 1 + 2 * since.min(LOOKAHEAD) as i32);
        let Some((position, best)) = after(turn, moves) else { continue };
        judgements.push(Judgement { position, known: Known { lower, upper, depth, best } });
    }
    judgements.reverse();
    judgements
}

fn printed(score: Score) -> f64 {
    f64::from(score.centipawns())
}

/// The position after the move of this turn, and the reply.
fn after(turn: &Turn, moves: &[UciMove]) -> Option<(Position, PackedMove)> {
    let position = turn.root.play(moves.get(turn.plies)?.to_move(turn.root.chess()).ok()?);
    let reply = moves.get(turn.plies + 1)?.to_move(position.chess()).ok()?;
    Some((position, PackedMove::pack(reply)))
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;

    use super::*;
    use crate::learn::policy::Mode;

    const RULES: Rules = Rules { mode: Mode::Drop, drop: 33, min_depth: Depth(4) };

    /// A game in which one side, White, searched with these scores, and what its outcome says: the number of the
    /// turn, the bound in printed centipawns for White, and the depth.
    fn judged(scores: &[i32], outcome: Outcome) -> Vec<(usize, i32, i32)> {
        let (mut turns, mut moves) = (Vec::new(), Vec::new());
        let mut position = Position::default();
        for (number, &score) in scores.iter().enumerate() {
            let score = Score::from_centipawns(score);
            turns.push(Turn { root: position.clone(), plies: moves.len(), depth: Depth(6), score });
            // Knights out and home again: four plies a round.
            for uci in if number % 2 == 0 { ["g1f3", "g8f6"] } else { ["f3g1", "f6g8"] } {
                let uci: UciMove = uci.parse().expect("a move");
                position = position.play(uci.to_move(position.chess()).expect("legal"));
                moves.push(uci);
            }
        }
        let judgements = judge(&turns, &moves, outcome, &RULES);
        let row = |judgement: &Judgement| {
            let Judgement { position, known } = judgement;
            assert!(position.turn().is_black() && position.unpack(known.best).is_some());
            let (bound, open) = match outcome {
                Outcome::Lost => (known.lower, known.upper),
                Outcome::Won => (known.upper, known.lower),
            };
            assert_eq!(open.0.abs(), Score::INFINITE.0, "one bound only");
            let fullmoves = position.chess().fullmoves().get() as usize;
            (fullmoves - 1, -bound.centipawns(), known.depth.get())
        };
        judgements.iter().map(row).collect()
    }

    #[test]
    fn what_a_lost_game_came_to_is_blamed_on_the_moves_near_it() {
        // 0.8 of what came later, 0.2 of the next score: -600, -520, -432, -346.
        let rows = judged(&[20, 0, -80, -200, -600], Outcome::Lost);
        assert_eq!(rows, [(0, -346, 13), (1, -432, 11), (2, -520, 9)], "at -200 it was lost already");
        let calm =
            judged(&[10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, -600], Outcome::Lost);
        assert!(calm.iter().all(|&(turn, ..)| turn > 1), "the beginning is not to blame: {calm:?}");
    }

    #[test]
    fn all_moves_of_a_won_game_are_praised_until_it_is_won() {
        let rows = judged(&[-50, 30, 200, 700, 900], Outcome::Won);
        let turns: Vec<usize> = rows.iter().map(|&(turn, ..)| turn).collect();
        assert_eq!(turns, [0, 1, 2]);
        assert!(rows.iter().all(|&(_, bound, _)| (500..=600).contains(&bound)), "{rows:?}");
        assert!(judged(&[30], Outcome::Won).is_empty(), "no reply is known");
    }

    #[test]
    fn the_statement_reaches_no_deeper_than_its_memory() {
        let depths: Vec<i32> = judged(&[0; 12], Outcome::Won).iter().map(|&(.., depth)| depth).collect();
        assert_eq!(depths, [19, 19, 19, 19, 19, 17, 15, 13, 11, 9, 7]);
    }
}
