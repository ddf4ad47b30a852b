//! The marks of a game's moves, by what was found about its positions.
//!
//! A mark is printed only if it is confirmed: the positions before and after its move were searched a second time, with
//! four times the nodes or the time, or four plies deeper, and at least two lines. What such a search finds replaces what
//! was there, and may call for the next: so long as a move has a mark, and a position beside it is not confirmed, that
//! position is searched.
//!
//! Of many moves some look like mistakes by chance, in the search that confirms them too. So `?` and `??` are confirmed
//! once more, and then the move that is best there is searched alone, as long: often it is this move that looked too good.
//! The mark is the weaker one of the two confirmations.
//!
//! A best move cannot be bad, but which move is best a deeper search may see otherwise: where the score falls behind it as
//! behind a bad one, its positions are confirmed as well.
//!
//! Many moves may be the only one, but few are: before that is confirmed, a search with two lines and twice the limit says
//! what the second best move is worth.

use shakmaty::Move;

use super::{
    judge::{DECIDED, MISTAKE, MoveJudgement, ONLY_MOVE, chances},
    pool::{Finding, SearchKind},
};
use crate::{
    position::{Position, PositionPath},
    types::{Ply, Score},
};

/// A sacrifice gives at least this much in an exchange: a minor piece for a pawn.
const SACRIFICE: Score = Score::from_centipawns(200);

/// A game and what was found about it.
pub struct Marks<'a> {
    /// Its positions, one more than moves.
    pub positions: &'a [Position],
    /// Its moves.
    pub moves: &'a [Move],
    /// The finding of each position.
    pub findings: &'a [Finding],
    /// The number of its first moves that belong to an opening.
    pub book: usize,
    /// White's scores before the first move and after each.
    pub scores: Vec<Score>,
    /// The same by the first confirmation where there was a second.
    first_scores: Vec<Score>,
    /// Is the last position a draw by the rules?
    pub is_drawn: bool,
}

impl<'a> Marks<'a> {
    /// `positions` are one more than `moves`; `named` are the numbers of moves that lead to positions with a name, in order.
    pub fn new(
        positions: &'a [Position],
        moves: &'a [Move],
        findings: &'a [Finding],
        named: &[usize],
    ) -> Marks<'a> {
        let is_drawn = is_drawn(positions);
        let scores = |first: bool| {
            let score = |(position, finding): (&Position, &Finding)| match finding.first_confirmation {
                Some(score) if first => score.relative_to(position.turn()),
                _ => for_white(position, finding),
            };
            let mut scores: Vec<Score> = positions.iter().zip(findings).map(score).collect();
            if is_drawn && let Some(last) = scores.get_mut(moves.len()) {
                *last = Score::ZERO;
            }
            scores
        };
        let (first_scores, scores) = (scores(true), scores(false));
        let mut marks = Marks { positions, moves, findings, book: 0, scores, first_scores, is_drawn };
        marks.book = marks.book_moves(named);
        marks
    }

    /// How many moves belong to an opening: those before the last named position, but a mistake after which the position
    /// has no name ends it, even if the game comes back to positions with one.
    fn book_moves(&self, named: &[usize]) -> usize {
        let Some(&last) = named.last() else { return 0 };
        let is_mistake = |&index: &usize| {
            let loss = self.loss_by(&self.scores, index).min(self.loss_by(&self.first_scores, index));
            loss >= MISTAKE && !named.contains(&(index + 1))
        };
        let end = (0..last).find(is_mistake).unwrap_or(last);
        named.iter().copied().rfind(|&ply| ply <= end).unwrap_or(0)
    }

    /// Of these scores that before a move and that after it, for the side that made it.
    fn beside(&self, scores: &[Score], index: usize) -> Option<(Score, Score)> {
        let side = self.positions[index].turn();
        let (before, after) = (scores.get(index)?, scores.get(index + 1)?);
        Some((before.relative_to(side), after.relative_to(side)))
    }

    /// The score before a move and after it, for the side that made it.
    fn scores(&self, index: usize) -> Option<(Score, Score)> {
        self.beside(&self.scores, index)
    }

    fn is_best(&self, index: usize) -> bool {
        self.findings.get(index).and_then(Finding::best) == Some(self.moves[index])
    }

    /// The winning chances that a move gave away, in percent.
    pub fn loss(&self, index: usize) -> f64 {
        self.loss_by(&self.scores, index)
    }

    /// The same by these scores.
    fn loss_by(&self, scores: &[Score], index: usize) -> f64 {
        let scores = self.beside(scores, index).filter(|_| !self.is_best(index));
        scores.map_or(0.0, |(before, after)| (chances(before) - chances(after)).max(0.0))
    }

    /// The judgement on a move.
    pub fn of(&self, index: usize) -> Option<MoveJudgement> {
        if self.is_best(index) {
            return self.praise(index);
        }
        let judgement = self.judged(&self.scores, index).min(self.judged(&self.first_scores, index))?;
        // Many openings give something away for what no search sees.
        (index >= self.book || judgement == MoveJudgement::Blunder).then_some(judgement)
    }

    /// The judgement on a move by these scores alone.
    fn judged(&self, scores: &[Score], index: usize) -> Option<MoveJudgement> {
        let (before, after) = self.beside(scores, index)?;
        MoveJudgement::of(before, after)
    }

    /// The judgement on a best move: is it the only one?
    fn praise(&self, index: usize) -> Option<MoveJudgement> {
        if self.others_loss(index)? < ONLY_MOVE {
            return None;
        }
        let sacrifices = !self.positions[index].see_ge(self.moves[index], 1 - SACRIFICE.0);
        Some(if sacrifices { MoveJudgement::Brilliant } else { MoveJudgement::Good })
    }

    /// The winning chances, in percent, that every other move gives away, where a best move was hard to find.
    fn others_loss(&self, index: usize) -> Option<f64> {
        let [_, second, ..] = self.findings[index].lines.as_slice() else { return None };
        self.may_be_only_move(index).then(|| self.kept(index) - chances(second.score))
    }

    /// The winning chances that a move leaves, in percent.
    fn kept(&self, index: usize) -> f64 {
        self.scores(index).map_or(0.0, |(before, after)| chances(before).min(chances(after)))
    }

    /// Is a move one that was hard to find, in a game that it does not lose anyway? The search preferred another one
    /// before it, and it takes neither what has just taken nor a piece that gives check.
    fn may_be_only_move(&self, index: usize) -> bool {
        let (m, position) = (self.moves[index], &self.positions[index]);
        let last = index.checked_sub(1).map(|before| self.moves[before]);
        let recaptures = last.is_some_and(|last| last.is_capture() && last.to() == m.to());
        let is_obvious = m.is_capture() && (recaptures || position.checkers().contains(m.to()));
        index >= self.book
            && self.is_best(index)
            && self.findings[index].changes.len() > 1
            && !is_obvious
            && self.kept(index) >= DECIDED
            && position.legal_moves().len() > 1
    }

    /// The positions, by ply, that are to be searched again before the marks can be printed, and how. `sent` are the last
    /// searches of all positions.
    pub fn unconfirmed(&self, sent: &[SearchKind]) -> Vec<(usize, SearchKind)> {
        let mut wanted = sent.to_vec();
        for index in 0..self.moves.len() {
            let judgement = self.of(index);
            if self.may_be_only_move(index) && self.findings[index].lines.len() < 2 {
                wanted[index] = wanted[index].max(SearchKind::SecondLine);
            }
            // A search less deep may find too little.
            let may_be_praised = self.others_loss(index).is_some_and(|loss| loss >= ONLY_MOVE / 2.0);
            let is_doubtful = index >= self.book
                && self.judged(&self.scores, index).is_some()
                && self.is_best(index)
                && self.positions[index].legal_moves().len() > 1;
            if judgement.is_none() && !may_be_praised && !is_doubtful {
                continue;
            }
            // Where the game is over, there is nothing to search.
            let plies = index..index + 1 + usize::from(self.findings[index + 1].best().is_some());
            let is_confirmed = sent[plies.clone()].iter().all(|&kind| kind >= SearchKind::Confirmation);
            let kind = if is_confirmed && judgement >= Some(MoveJudgement::Mistake) {
                SearchKind::SecondConfirmation
            } else {
                SearchKind::Confirmation
            };
            wanted[plies].iter_mut().for_each(|place| *place = kind.max(*place));
        }
        (0..wanted.len()).map(|ply| (ply, wanted[ply])).filter(|&(ply, kind)| kind > sent[ply]).collect()
    }
}

/// Is the last of these consecutive positions a draw by the rules?
pub fn is_drawn(positions: &[Position]) -> bool {
    positions.last().is_some_and(|last| PositionPath::along(positions).is_draw(last))
}

/// The score of a position for White; if the game is over, mate or draw.
pub fn for_white(position: &Position, finding: &Finding) -> Score {
    let score = if position.has_legal_move() {
        finding.score()
    } else if position.in_check() {
        Score::mated_in(Ply::ROOT)
    } else {
        Score::ZERO
    };
    score.relative_to(position.turn())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::pgn::read_move,
        types::{Score, ScoredLine},
    };

    /// A game from a position, with the findings `lines` (a score in centipawns and a move each) of every position; in each
    /// of them the search preferred another move first.
    fn game(fen: &str, moves: &[&str], lines: &[&[(i32, &str)]]) -> (Vec<Position>, Vec<Move>, Vec<Finding>) {
        let start = Position::from_fen(fen).unwrap();
        let (mut position, mut played) = (start.clone(), Vec::new());
        for san in moves {
            played.push(read_move(san, &position).unwrap());
            position = position.play(*played.last().unwrap());
        }
        let positions = start.along(&played);
        let finding = |(position, lines): (&Position, &&[(i32, &str)])| {
            let line = |&(score, san): &(i32, &str)| ScoredLine {
                score: Score::from_centipawns(score),
                is_drawn: false,
                moves: vec![read_move(san, position).unwrap()],
            };
            let lines: Vec<ScoredLine> = lines.iter().map(line).collect();
            let first = position.legal_moves()[0];
            let changes = lines.first().map(|best| vec![(1, first), (5, best.moves[0])]);
            Finding { lines, changes: changes.unwrap_or_default(), ..Finding::default() }
        };
        let findings = positions.iter().zip(lines).map(finding).collect();
        (positions, played, findings)
    }

    const QUEENS: &str = "6k1/5ppp/8/3q4/8/8/5PPP/3QR1K1 w - - 0 1";

    #[test]
    fn a_bad_move_waits_for_both_positions_beside_it() {
        let lines: [&[(i32, &str)]; 2] = [&[(500, "Qxd5")], &[(0, "Qxd1")]];
        let (positions, moves, findings) = game(QUEENS, &["h3"], &lines);
        let marks = Marks::new(&positions, &moves, &findings, &[]);
        assert_eq!(marks.of(0), Some(MoveJudgement::Blunder));
        use SearchKind::{Analysis, Confirmation, SecondConfirmation};
        assert_eq!(marks.unconfirmed(&[Analysis; 2]), [(0, Confirmation), (1, Confirmation)]);
        assert_eq!(marks.unconfirmed(&[SecondConfirmation, Analysis]), [(1, Confirmation)]);
        assert_eq!(marks.unconfirmed(&[Confirmation; 2]), [(0, SecondConfirmation), (1, SecondConfirmation)]);
        assert_eq!(marks.unconfirmed(&[Confirmation, SecondConfirmation]), [(0, SecondConfirmation)]);
        assert!(marks.unconfirmed(&[SecondConfirmation; 2]).is_empty());
        let lines: [&[(i32, &str)]; 2] = [&[(80, "Qxd5")], &[(0, "Qxd1")]];
        let (positions, moves, findings) = game(QUEENS, &["h3"], &lines);
        let marks = Marks::new(&positions, &moves, &findings, &[]);
        assert_eq!(marks.of(0), Some(MoveJudgement::Inaccuracy));
        assert!(marks.unconfirmed(&[Confirmation; 2]).is_empty(), "only mistakes and blunders, twice");
    }

    #[test]
    fn a_best_move_behind_which_the_score_falls_is_confirmed_too() {
        let lines: [&[(i32, &str)]; 2] = [&[(500, "h3")], &[(0, "Qxd1")]];
        let (positions, moves, findings) = game(QUEENS, &["h3"], &lines);
        let marks = Marks::new(&positions, &moves, &findings, &[]);
        use SearchKind::{Analysis, Confirmation};
        assert_eq!(marks.of(0), None);
        assert_eq!(marks.unconfirmed(&[Analysis; 2]), [(0, Confirmation), (1, Confirmation)]);
        assert!(marks.unconfirmed(&[Confirmation; 2]).is_empty());
    }

    #[test]
    fn a_mark_is_the_weaker_one_of_two_confirmations() {
        let judged = |first: (i32, i32), second: (i32, i32)| {
            let lines: [&[(i32, &str)]; 2] = [&[(second.0, "Qxd5")], &[(-second.1, "Qxd1")]];
            let (positions, moves, mut findings) = game(QUEENS, &["h3"], &lines);
            findings[0].first_confirmation = Some(Score::from_centipawns(first.0));
            findings[1].first_confirmation = Some(Score::from_centipawns(-first.1));
            Marks::new(&positions, &moves, &findings, &[]).of(0).map_or("", MoveJudgement::glyph)
        };
        assert_eq!(judged((300, 0), (300, 0)), "??");
        assert_eq!(judged((300, 0), (130, 0)), "?");
        assert_eq!(judged((130, 0), (300, 0)), "?");
        assert_eq!(judged((130, 0), (70, 0)), "?!");
        assert_eq!(judged((300, 0), (0, 0)), "");
        assert_eq!(judged((0, -130), (0, 20)), "");
    }

    #[test]
    fn theory_is_marked_only_if_it_blunders() {
        let judged = |after: i32, book: &[usize]| {
            let best = [(0, "Qxd5")];
            let next = [(-after, "Qc4")];
            let lines: [&[(i32, &str)]; 2] = [&best, &next];
            let (positions, moves, findings) = game(QUEENS, &["h3"], &lines);
            Marks::new(&positions, &moves, &findings, book).of(0)
        };
        assert_eq!((judged(-80, &[]), judged(-80, &[1])), (Some(MoveJudgement::Inaccuracy), None));
        assert_eq!((judged(-120, &[]), judged(-120, &[1])), (Some(MoveJudgement::Mistake), None));
        assert_eq!(judged(-900, &[1]), Some(MoveJudgement::Blunder));
    }

    #[test]
    fn a_mistake_that_has_no_name_ends_the_book_even_if_the_game_comes_back() {
        let moves = ["Qd2", "Qc5", "Qd1", "Qd5"];
        let lines: [&[(i32, &str)]; 5] =
            [&[(0, "h3")], &[(120, "Qxd2")], &[(-120, "Qd8")], &[(120, "Qc6")], &[(-120, "h3")]];
        let (positions, moves, findings) = game(QUEENS, &moves, &lines);
        let judged = |named: &[usize]| {
            let marks = Marks::new(&positions, &moves, &findings, named);
            (marks.book, marks.of(0))
        };
        assert_eq!(judged(&[0, 4]), (0, Some(MoveJudgement::Mistake)));
        assert_eq!(judged(&[0, 1, 4]), (4, None));
        assert_eq!(judged(&[]), (0, Some(MoveJudgement::Mistake)));
    }

    #[test]
    fn only_a_move_without_an_equal_is_praised_and_a_sacrifice_more() {
        let judged = |best: &str, reply: &str, other: &str, second: i32, book: &[usize]| {
            let found = [(100, best), (second, other)];
            let lines: [&[(i32, &str)]; 2] = [&found, &[(-100, reply)]];
            let (positions, moves, findings) = game(QUEENS, &[best], &lines);
            let marks = Marks::new(&positions, &moves, &findings, book);
            let judgement = marks.of(0);
            let wanted = marks.unconfirmed(&[SearchKind::Analysis; 2]);
            assert_eq!(wanted.len(), if book.is_empty() && second < 60 { 2 } else { 0 });
            judgement.map(MoveJudgement::glyph)
        };
        assert_eq!(judged("Re5", "Qxe5", "Qxd5", -300, &[]), Some("!!"));
        assert_eq!(judged("Qxd5", "h6", "Re8+", -300, &[]), Some("!"));
        assert_eq!(judged("Qxd5", "h6", "Re8+", 60, &[]), None);
        assert_eq!(judged("Qxd5", "h6", "Re8+", 20, &[]), None, "but a deeper search is made");
        assert_eq!(judged("Qxd5", "h6", "Re8+", -300, &[1]), None, "theory");
    }

    #[test]
    fn what_the_second_best_move_is_worth_is_asked_where_the_best_was_hard_to_find() {
        let lines: [&[(i32, &str)]; 2] = [&[(100, "Qxd5")], &[(-100, "h6")]];
        let (positions, moves, findings) = game(QUEENS, &["Qxd5"], &lines);
        let asked = |book: &[usize]| {
            Marks::new(&positions, &moves, &findings, book).unconfirmed(&[SearchKind::Analysis; 2])
        };
        assert_eq!(asked(&[]), [(0, SearchKind::SecondLine)]);
        assert!(asked(&[1]).is_empty(), "theory");
    }

    #[test]
    fn an_obvious_move_is_not_praised() {
        let fen = "3q2k1/5ppp/8/3b4/8/4N3/5PPP/3Q2K1 w - - 0 1";
        let lines: [&[(i32, &str)]; 3] =
            [&[(100, "Nxd5"), (-900, "h3")], &[(-100, "Qxd5"), (-900, "Qf6")], &[(100, "h3")]];
        let (positions, moves, mut findings) = game(fen, &["Nxd5", "Qxd5"], &lines);
        assert_eq!(Marks::new(&positions, &moves, &findings, &[]).of(1), None, "a recapture");
        assert_eq!(Marks::new(&positions, &moves, &findings, &[]).of(0), Some(MoveJudgement::Good));
        findings[0].changes.remove(0);
        assert_eq!(Marks::new(&positions, &moves, &findings, &[]).of(0), None, "seen at once");

        let judged = |fen: &str, best: &str, (kept, second): (i32, i32), other: &str| {
            let lines: [&[(i32, &str)]; 2] = [&[(kept, best), (second, other)], &[(-kept, "h6")]];
            let (positions, moves, findings) = game(fen, &[best], &lines);
            Marks::new(&positions, &moves, &findings, &[]).of(0)
        };
        let check = "6k1/5ppp/8/8/8/5n2/5PPP/3Q2K1 w - - 0 1";
        assert_eq!(judged(check, "Qxf3", (100, -900), "Kh1"), None, "it takes what gives check");
        assert_eq!(judged(check, "Kh1", (100, -900), "Qxf3"), Some(MoveJudgement::Good));
        assert_eq!(judged(check, "Kh1", (-310, -1000), "Qxf3"), None, "the game is lost anyway");
    }

    #[test]
    fn a_drawn_end_is_worth_nothing_to_either_side() {
        let lines: [&[(i32, &str)]; 2] = [&[(300, "h3")], &[(-300, "Qc4")]];
        let moves = ["Qd2", "Qc5", "Qd1", "Qd5", "Qd2", "Qc5", "Qd1", "Qd5"];
        let lines: Vec<_> = lines.into_iter().cycle().take(moves.len() + 1).collect();
        let (positions, moves, findings) = game("6k1/5ppp/8/3q4/8/8/5PPP/3Q2K1 w - - 0 1", &moves, &lines);
        let marks = Marks::new(&positions, &moves, &findings, &[]);
        assert!(marks.is_drawn);
        assert_eq!(marks.scores.last(), Some(&Score::ZERO));
    }
}
