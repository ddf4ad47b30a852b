//! Puzzles: positions after a blunder in which only one move wins. The search that confirms the blunder has two lines.

use shakmaty::{Color, Move, Position as _, attacks};

use super::{
    judge::{MoveJudgement, chances},
    report::GameReport,
};
use crate::{
    cli::pgn::{self, Game},
    position::{Position, notation::start_tags},
    types::Score,
};

/// Least winning chances of the solution, in percent (three pawns).
const WON: f64 = 75.0;
/// Most winning chances of the second best move, in percent (a pawn).
const NOT_WON: f64 = 60.0;
/// Smallest gain by an exchange: more than a pawn; a rook for a knight is 180 centipawns.
const GAIN: Score = Score::from_centipawns(150);

/// A puzzle.
pub struct Puzzle<'a> {
    report: &'a GameReport,
    ply: usize,
    /// The solution: the only winning move, and if it mates by force, the moves to the mate.
    solution: Vec<Move>,
    /// Its themes.
    themes: Vec<String>,
    mate: Option<i32>,
}

impl<'a> Puzzle<'a> {
    /// The puzzles of a game.
    pub fn all(report: &'a GameReport) -> impl Iterator<Item = Puzzle<'a>> {
        (1..report.positions.len()).filter_map(|ply| Puzzle::at(report, ply))
    }

    /// The puzzle at `ply`, if there is one.
    fn at(report: &'a GameReport, ply: usize) -> Option<Puzzle<'a>> {
        let is_blunder = report.moves[ply - 1].judgement == Some(MoveJudgement::Blunder);
        // A blunder is confirmed, so there are two lines if there are two moves.
        let [first, second, ..] = report.findings[ply].lines.as_slice() else { return None };
        if !is_blunder || chances(first.score) < WON || chances(second.score) > NOT_WON {
            return None;
        }
        let (position, answer) = (&report.positions[ply], *first.moves.first()?);
        if is_obvious(position, report.game.moves[ply - 1], answer) {
            return None;
        }
        let mate = first.score.mate_moves();
        // What was learned cuts lines off.
        let is_whole =
            first.score.mate_plies().is_some_and(|plies| plies.unsigned_abs() as usize == first.moves.len());
        let plies = if is_whole { first.moves.len() } else { 1 };
        // The last move is the solver's.
        let solution = first.moves[..plies - (plies + 1) % 2].to_vec();
        let themes = themes(position, answer, first.score);
        Some(Puzzle { report, ply, solution, themes, mate })
    }

    /// Where the solver begins.
    pub fn position(&self) -> &Position {
        &self.report.positions[self.ply]
    }

    /// `White - Black, 12... Nf6`: the game, and the blunder that made the puzzle.
    fn name(&self) -> String {
        let game = &self.report.game;
        let blunder = &game.moves[self.ply - 1..self.ply];
        let blunder = pgn::line(&self.report.positions[self.ply - 1], blunder);
        format!("{} - {}, {blunder}", game.player(Color::White), game.player(Color::Black))
    }

    /// As a line of EPD: `bm` is the answer, `c0` the themes, `c1` the solution.
    pub fn epd(&self) -> String {
        let position = self.position();
        let answer = pgn::san(position, self.solution[0]).0;
        let mate = self.mate.map_or(String::new(), |moves| format!(" dm {moves};"));
        format!(
            "{} bm {answer};{mate} id \"{}\"; c0 \"{}\"; c1 \"{}\"; hmvc {}; fmvn {};",
            position.epd(),
            self.name().replace('"', "'"),
            self.themes.join(", "),
            pgn::line(position, &self.solution),
            position.halfmoves(),
            position.chess().fullmoves(),
        )
    }

    /// As a game of PGN whose moves are the solution. The seven tags of the standard come first, in its order.
    pub fn pgn(&self) -> String {
        let game = &self.report.game;
        let position = self.position();
        let event = format!("Puzzle: {}", self.themes.join(", "));
        let of_game =
            |name: &str| game.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.clone());
        let roster = ["Event", "Site", "Date", "Round", "White", "Black", "Result"].map(|name| match name {
            "Event" => (name, event.clone()),
            "Result" => (name, "*".to_owned()),
            "Date" => (name, game.date().unwrap_or("????.??.??").to_owned()),
            _ => (name, of_game(name).unwrap_or_else(|| "?".to_owned())),
        });
        let tags = roster.into_iter().chain(start_tags(position));
        let tags: Vec<_> = tags.map(|(name, value)| (name.to_owned(), value)).collect();
        let puzzle = Game {
            number: 1,
            line: 1,
            tags: tags.clone(),
            start: position.clone(),
            moves: self.solution.clone(),
            ..Game::default()
        };
        let blunder = pgn::san(&self.report.positions[self.ply - 1], game.moves[self.ply - 1]).0;
        pgn::write_game(&puzzle, &tags, &[vec![format!("{{after {blunder}}}")]])
    }
}

/// Does the answer only take the piece that has just moved, or taken, and win material by the exchange?
fn is_obvious(position: &Position, blunder: Move, answer: Move) -> bool {
    answer.is_capture() && answer.to() == blunder.to() && position.see_ge(answer, GAIN.0)
}

/// The themes of the solution.
fn themes(position: &Position, answer: Move, score: Score) -> Vec<String> {
    let mut themes = Vec::new();
    if let Some(moves) = score.mate_moves() {
        themes.push(format!("mate in {moves}"));
    }
    if score.tablebase_plies().is_some() {
        themes.push("endgame".to_owned());
    }
    if forks(position, answer) {
        themes.push("fork".to_owned());
    }
    if themes.is_empty() {
        themes.push("advantage".to_owned());
    }
    themes
}

/// Does the moved piece attack at least two pieces, the king included, and win material by an exchange after every
/// reply?
fn forks(position: &Position, m: Move) -> bool {
    let child = position.play(m);
    let (square, board) = (m.to(), child.board());
    let Some(piece) = board.piece_at(square).filter(|_| !m.is_castle()) else { return false };
    let attacked = attacks::attacks(square, piece, board.occupied()) & board.by_color(child.turn());
    let wins = |reply: Move| {
        let after = child.play(reply);
        let captures = after.legal_moves().into_iter().filter(|m| m.is_capture() && m.from() == Some(square));
        captures.into_iter().any(|m| after.see_ge(m, GAIN.0))
    };
    let replies = child.legal_moves();
    (attacked & !board.pawns()).count() > 1 && !replies.is_empty() && replies.into_iter().all(wins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{types::Ply, uci::translate::parse_fen};

    fn themes_of(fen: &str, san: &str, score: Score) -> Vec<String> {
        let position = parse_fen(fen, false).unwrap();
        themes(&position, pgn::read_move(san, &position).unwrap(), score)
    }

    #[test]
    fn a_piece_that_hangs_where_it_moved_is_no_puzzle() {
        let is_obvious = |fen: &str, blunder: &str, answer: &str| {
            let before = parse_fen(fen, false).unwrap();
            let blunder = pgn::read_move(blunder, &before).unwrap();
            let position = before.play(blunder);
            is_obvious(&position, blunder, pgn::read_move(answer, &position).unwrap())
        };
        let fen = "3q2k1/p4ppp/8/3b4/8/4N3/5PPP/3Q2K1 b - - 0 1";
        assert!(is_obvious(fen, "Bc4", "Nxc4") && is_obvious(fen, "Bxg2", "Kxg2"));
        assert!(!is_obvious(fen, "Be6", "Qxd8"), "elsewhere");
        assert!(!is_obvious(fen, "a5", "Nxd5"), "it was there before");
        assert!(!is_obvious("3q2k1/p4ppp/2b5/8/8/8/5PPP/3Q2K1 b - - 0 1", "Bd5", "Qxd5"), "a sacrifice");
    }

    #[test]
    fn themes_are_what_the_answer_does() {
        let won = Score::from_centipawns(600);
        let fork = "r3k3/8/8/1N6/8/8/8/4K3 w - - 0 1";
        assert_eq!(themes_of(fork, "Nc7", won), ["fork"], "king and rook");
        assert_eq!(themes_of(fork, "Nd6", won), ["advantage"], "the king alone");
        // The rook takes the knight.
        assert_eq!(themes_of("2r1k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "Nc7", won), ["advantage"]);
        let mate = Score::mate_in(Ply(1));
        assert_eq!(themes_of("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "Ra8", mate), ["mate in 1"]);
        assert_eq!(themes_of(fork, "Nc7", Score::tablebase_win(Ply(3))), ["endgame", "fork"]);
    }
}
