//! Explanations of judged moves in words.

use shakmaty::Color;

use crate::{
    cli::{
        analyse::{judge::MoveJudgement, report::GameReport},
        pawns, pgn,
    },
    types::Score,
};

/// "13. Na4 is an inaccuracy: 13. Nc6 was better (+0.9)." or "13. Na4 is the only move: the next best, 13. Nc6, is -2.10."
/// Nothing of a move that was not judged.
pub fn verdict(report: &GameReport, index: usize) -> Option<String> {
    let m = &report.moves[index];
    let judgement = match m.judgement? {
        MoveJudgement::Brilliant => return only_move(report, index, "a sacrifice and the only move"),
        MoveJudgement::Good => return only_move(report, index, "the only move"),
        MoveJudgement::Inaccuracy => "an inaccuracy",
        MoveJudgement::Mistake => "a mistake",
        MoveJudgement::Blunder => "a blunder",
    };
    let before = &report.positions[index];
    let played = pgn::line(before, &report.game.moves[index..=index]);
    let better = pgn::line(before, &[m.better?]);
    // For the side that moved.
    let (kept, now) = (report.findings[index].score(), m.score.relative_to(m.side));
    let allows = match now.mate_moves() {
        Some(moves) if now.0 < 0 => format!(" it allows mate in {}, and", moves.abs().max(1)),
        _ => String::new(),
    };
    Some(format!("{played} is {judgement}:{allows} {better} {}.", outcome(kept, m.side)))
}

/// Praise for a move, with what the second best is worth.
fn only_move(report: &GameReport, index: usize, what: &str) -> Option<String> {
    let before = &report.positions[index];
    let played = pgn::line(before, &report.game.moves[index..=index]);
    let other = report.other_line(index)?;
    let score = pawns(other.score.relative_to(before.turn()));
    let other = pgn::line(before, &other.moves[..1]);
    Some(format!("{played} is {what}: the next best, {other}, is {score}."))
}

/// What the better move would have achieved, given the score for its side.
fn outcome(score: Score, side: Color) -> String {
    match score.mate_moves() {
        Some(1) => "was mate".to_owned(),
        Some(moves) if moves > 0 => format!("was mate in {moves}"),
        Some(moves) => format!("held out {} moves", moves.abs()),
        None if score.is_win() => "was a tablebase win".to_owned(),
        None if score.is_loss() => "was lost too".to_owned(),
        None if score == Score::ZERO => "kept the balance".to_owned(),
        None => format!("was better ({})", one_decimal(score.relative_to(side))),
    }
}

/// White's score with one decimal; small scores with two, because they would all look alike. The page's script rounds
/// in the same way.
fn one_decimal(score: Score) -> String {
    let centipawns = score.centipawns();
    if centipawns.abs() < 10 {
        return pawns(score);
    }
    let tenths = (centipawns.abs() + 5) / 10;
    format!("{}{}.{}", if centipawns < 0 { '-' } else { '+' }, tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn a_better_move_is_said_to_have_its_score() {
        let cp = Score::from_centipawns;
        assert_eq!(outcome(cp(93), Color::White), "was better (+0.9)");
        assert_eq!(outcome(cp(93), Color::Black), "was better (-0.9)");
        assert_eq!(outcome(cp(-125), Color::Black), "was better (+1.3)");
        assert_eq!(outcome(cp(1094), Color::Black), "was better (-10.9)");
        assert_eq!(outcome(cp(4), Color::White), "was better (+0.04)");
        assert_eq!(outcome(Score::ZERO, Color::White), "kept the balance");
        assert_eq!(outcome(Score::mate_in(Ply(1)), Color::Black), "was mate");
        assert_eq!(outcome(Score::mate_in(Ply(5)), Color::Black), "was mate in 3");
        assert_eq!(outcome(Score::mated_in(Ply(20)), Color::White), "held out 10 moves");
        assert_eq!(outcome(Score::tablebase_win(Ply(4)), Color::White), "was a tablebase win");
    }
}
