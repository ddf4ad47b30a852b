//! What an analysis says about the positions of its main line.
//!
//! The score of a root is that of the end of its line, so every position on the way has it too, searched to so
//! much less depth. Who comes back to the root finds its best move answered at once, and has all the time for the
//! others (as with a persistent hash table: BrainLearn, Houdini's learning file).

use shakmaty::Move;

use super::policy::Known;
use crate::{
    position::Position,
    types::{Depth, PackedMove, Ply, Score},
};

/// Further than this the line is not remembered.
const LONGEST: usize = 6;

/// A position of a line.
#[derive(Clone, Debug)]
pub struct Station {
    /// The position.
    pub position: Position,
    /// Plies from the root.
    pub plies: u8,
    /// What is known of it.
    pub known: Known,
}

/// The positions after the moves of `line`, whose root has the exact `score` at `depth`, down to `least` depth, as
/// long as none comes again. Nothing of draws, which may rest on the way to them.
pub fn stations(root: &Position, line: &[Move], score: Score, depth: Depth, least: Depth) -> Vec<Station> {
    let mut stations = Vec::new();
    if score == Score::ZERO {
        return stations;
    }
    let mut position = root.clone();
    let mut seen = vec![root.key()];
    // The best move of the last position on the line is not known.
    for (index, pair) in line.windows(2).take(LONGEST).enumerate() {
        let &[m, reply] = pair else { break };
        let plies = index + 1;
        let depth = Depth(depth.get() - plies as i32);
        if depth < least {
            break;
        }
        position = position.play(m);
        if seen.contains(&position.key()) {
            break;
        }
        seen.push(position.key());
        let here = Score(i32::from(score.to_tt(Ply(plies as u16))));
        let here = if plies % 2 == 1 { -here } else { here };
        let known = Known { lower: here, upper: here, depth, best: PackedMove::pack(reply) };
        stations.push(Station { position: position.clone(), plies: plies as u8, known });
    }
    stations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_of(moves: &str, score: Score, depth: i32) -> Vec<(u8, i32, i32)> {
        let mut position = Position::default();
        let play = |uci: &str| {
            let m = uci.parse::<shakmaty::uci::UciMove>().unwrap().to_move(position.chess()).unwrap();
            position = position.play(m);
            m
        };
        let line: Vec<Move> = moves.split(' ').map(play).collect();
        let stations = stations(&Position::default(), &line, score, Depth(depth), Depth(4));
        stations
            .iter()
            .map(|station| {
                let Known { lower, upper, depth, best } = station.known;
                assert!(lower == upper && station.position.unpack(best).is_some());
                (station.plies, lower.0, depth.get())
            })
            .collect()
    }

    fn said(score: Score, depth: i32) -> Vec<(u8, i32, i32)> {
        said_of("e2e4 e7e5 g1f3 b8c6", score, depth)
    }

    #[test]
    fn a_line_that_comes_back_says_nothing_less_deep_of_where_it_was() {
        let back = said_of("g1f3 g8f6 f3g1 f6g8 e2e4 e7e5", Score(30), 12);
        assert_eq!(back, [(1, -30, 11), (2, 30, 10), (3, -30, 9)]);
    }

    #[test]
    fn the_score_of_a_line_is_that_of_its_positions() {
        assert_eq!(said(Score(30), 12), [(1, -30, 11), (2, 30, 10), (3, -30, 9)]);
        assert_eq!(said(Score(30), 6), [(1, -30, 5), (2, 30, 4)], "not below the least depth");
        assert!(said(Score::ZERO, 12).is_empty(), "a draw may rest on the way");
        let mate = said(Score::mate_in(Ply(9)), 12);
        assert_eq!(mate[1], (2, Score::mate_in(Ply(7)).0, 10), "mates come nearer");
        assert_eq!(mate[0], (1, Score::mated_in(Ply(8)).0, 11));
    }
}
