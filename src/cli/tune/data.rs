//! Labelled positions, one a line: `FEN | score | result`, score in centipawns and result as 1.0, 0.5 or 0.0,
//! both for White; an empty score is unknown. More fields may follow: the first is the best move, in UCI form, castling
//! also as king takes rook.

use std::{io::BufRead, path::Path};

use super::common::file_error;
use crate::{
    cli::{CliError, source},
    position::Position,
    types::spread,
};

/// A labelled position.
#[derive(Debug)]
pub struct Labelled {
    /// The position.
    pub position: Position,
    /// Centipawns for White.
    pub score: Option<f32>,
    /// 1, 0.5 or 0 for White.
    pub result: f32,
    /// Is the mover in check, or does the best move take or promote? Then no static evaluation can be right.
    pub noisy: bool,
}

/// Positions in a block. Neighbouring ones come from few games, so a block is used as a whole either for training or for
/// validation.
pub const BLOCK: usize = 512;

/// One block in this many is for validation.
const VALIDATION: u64 = 20;

/// Is position `number` of a file held out of training?
pub fn held_out(number: usize) -> bool {
    let block = (number / BLOCK) as u64;
    (spread(block) >> 32) % VALIDATION == VALIDATION / 2
}

/// The positions of a file; `None` for a line that cannot be read.
pub fn read(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Option<Labelled>, CliError>> + use<'_>, CliError> {
    let failed = file_error(path);
    Ok(source::reader(path).map_err(&failed)?.lines().map(move |line| Ok(parse(&line.map_err(&failed)?))))
}

/// Reads a line; `None` if it is not of the form above.
pub fn parse(line: &str) -> Option<Labelled> {
    let mut fields = line.split('|').map(str::trim);
    let position = Position::from_fen(fields.next()?)?;
    let score = fields.next()?;
    let score = if score.is_empty() {
        None
    } else {
        Some(score.parse().ok().filter(|score: &f32| score.is_finite())?)
    };
    let result = fields.next()?.parse().ok().filter(|result| [0.0, 0.5, 1.0].contains(result))?;
    let best = fields.next().and_then(|best| position.legal_move(best));
    let noisy = position.in_check() || best.is_some_and(|best| best.is_capture() || best.is_promotion());
    Some(Labelled { position, score, result, noisy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_and_without_the_rest() {
        let fen = "r2qkbnr/pbp2ppp/1p2p3/3pP3/1n1P4/2N2N2/PPP2PPP/R1BQKB1R b KQkq - 0 7";
        let full = parse(&format!("{fen} | 31 | 0.5 | c7c5 | t")).expect("a full line");
        assert_eq!((full.score, full.result, full.noisy), (Some(31.0), 0.5, false));
        assert!(parse(&format!("{fen} | -7 | 1.0 | b4c2")).is_some_and(|line| line.noisy));
        assert!(
            parse(&format!("{fen} || 0.0")).is_some_and(|line| line.score.is_none() && line.result == 0.0)
        );
        let passed = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1 | 50 | 1.0";
        let noisy = |best: &str| parse(&format!("{passed} | {best}")).map(|line| line.noisy);
        assert_eq!((noisy("e5d6"), noisy("e5e6"), noisy("")), (Some(true), Some(false), Some(false)));
        assert!(parse(&format!("{fen} | 3 | -5")).is_none(), "no result of a game");
        assert!(
            parse(&format!("{fen} | nan | 0.5")).is_none() && parse(&format!("{fen} | inf | 0.5")).is_none()
        );
        assert!(parse("nonsense | 3 | 1.0").is_none() && parse(fen).is_none() && parse("").is_none());
    }

    #[test]
    fn about_one_block_of_twenty_is_held_out_whole() {
        let held: Vec<usize> = (0..2000).filter(|block| held_out(block * BLOCK)).collect();
        assert!((60..140).contains(&held.len()), "{}", held.len());
        assert!(held.iter().all(|block| held_out(block * BLOCK + BLOCK - 1)));
    }
}
