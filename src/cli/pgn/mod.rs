//! PGN files: read game by game, whatever their size, and written back.
//!
//! A file is first cut into games, each with its number and line, then each is read by `pgn-reader` and its
//! moves are played. A game that cannot be read is reported with number and line, and the next one follows.

mod game;
mod split;
mod write;

use std::{collections::VecDeque, io, io::BufRead};

pub use game::{Annotation, Game, to_move};
pub use split::Chunk;
use split::Splitter;
use thiserror::Error;
pub use write::{Comment, line, san, write_game};

/// A game that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("game {number} (line {line}) is skipped: {reason}")]
pub struct Broken {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// The games of a PGN file, one after another. One game at a time is in memory.
pub struct Games<R> {
    splitter: Splitter<R>,
    number: usize,
    ready: VecDeque<Result<Game, Broken>>,
}

impl<R: BufRead> Games<R> {
    /// The games that `reader` brings.
    pub fn new(reader: R) -> Games<R> {
        Games { splitter: Splitter::new(reader), number: 0, ready: VecDeque::new() }
    }
}

impl<R: BufRead> Iterator for Games<R> {
    type Item = io::Result<Result<Game, Broken>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.ready.pop_front() {
                return Some(Ok(game));
            }
            match self.splitter.next_chunk() {
                Ok(Some(chunk)) => {
                    self.number += 1;
                    self.ready.push_back(Game::read(&chunk, self.number));
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Game, Broken>> {
        Games::new(text.as_bytes()).map(|game| game.expect("memory can be read")).collect()
    }

    fn plies(text: &str) -> Vec<Option<usize>> {
        read(text).into_iter().map(|game| game.ok().map(|game| game.moves.len())).collect()
    }

    #[test]
    fn games_are_told_apart_with_and_without_tags() {
        let tagged = "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 *\n\n[Event \"b\"]\n\n1. d4 1-0\n";
        assert_eq!(plies(tagged), [Some(2), Some(1)]);
        assert_eq!(plies("1. e4 e5 2. Nf3 *\n\n1. d4 d5 1/2-1/2\n"), [Some(3), Some(2)]);
        assert_eq!(plies("[Event \"no end\"]\n\n1. e4 e5\n\n[Event \"b\"]\n\n1. d4\n"), [Some(2), Some(1)]);
        assert_eq!(plies("[Event \"forfeit\"]\n[Result \"1-0\"]\n\n1-0\n"), [Some(0)]);
        assert_eq!(plies("\u{feff}[Event \"bom\"]\r\n\r\n1. e4\r\n\r\n1... e5 *\r\n"), [Some(2)]);
        assert_eq!(plies(""), []);
        assert_eq!(plies("\n\n  \n"), []);
    }

    #[test]
    fn comments_may_hold_anything() {
        let text =
            "[Event \"a\"]\n\n1. e4 {one\n[Event \"not a tag\" but text]\n\n* } e5 ; 1. d4 *\n2. Nf3 *\n";
        assert_eq!(plies(text), [Some(3)]);
        let text = "% an escaped line\n[Event \"a\"]\n\n1. e4 (1. d4 d5 (1... Nf6)) e5 $1 2. Nf3! *";
        assert_eq!(plies(text), [Some(3)]);
    }

    #[test]
    fn a_broken_game_names_itself_and_the_next_is_read() {
        let text = "[Event \"a\"]\n\n1. e4 e5 2. Ke3 *\n\n[Event \"b\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
                    [Event \"c\"]\n\n1. e4 {no end\n\n[Event \"d\"]\n\n1. d4 *\n";
        let games = read(text);
        let broken: Vec<&Broken> = games.iter().filter_map(|game| game.as_ref().err()).collect();
        assert_eq!(games.len(), 4, "{games:?}");
        assert_eq!(broken.iter().map(|b| (b.number, b.line)).collect::<Vec<_>>(), [(1, 1), (2, 5), (3, 10)]);
        assert!(broken[0].reason.contains("2. Ke3"), "{}", broken[0].reason);
        assert!(broken[1].reason.contains("nonsense"), "{}", broken[1].reason);
        assert!(broken[2].reason.contains("comment"), "{}", broken[2].reason);
        assert!(games[3].is_ok());
    }

    #[test]
    fn what_is_no_game_is_said_to_be_none() {
        let games = read("this is not a game\nnor is this\n");
        assert!(games[0].as_ref().unwrap_err().reason.contains("no PGN"), "{games:?}");
    }

    /// Found by fuzzing: written back, such a tag ended the tags and made two games of one.
    #[test]
    fn a_tag_whose_name_is_none_is_left_out() {
        let games = read(
            " [Event \"a\"] [ 1. Variant \"Chess960\"] [_hite \"c\"] [##Site \"d\"]\n[ Site \"b\"]\n\n1. e4 *\n",
        );
        let game = games[0].as_ref().unwrap();
        assert!(
            game.tags.iter().all(|(name, _)| ["Event", "Site"].contains(&name.as_str())),
            "{:?}",
            game.tags
        );
        let again = read(&write_game(game, &game.tags, &[]));
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].as_ref().unwrap().moves, game.moves);
    }

    /// Found by fuzzing: written back, the value's second line began the moves.
    #[test]
    fn a_tag_value_is_one_line() {
        let games = read("[White \"one\\\n[B](\"]\n\n1. e4 *\n");
        let game = games[0].as_ref().unwrap();
        assert!(
            game.tags.iter().any(|(_, value)| value.contains("[B](") && !value.contains('\n')),
            "{game:?}"
        );
        assert_eq!(read(&write_game(game, &game.tags, &[])).len(), 1);
    }

    #[test]
    fn chess960_games_castle_as_their_position_needs() {
        let text = "[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1\"]\n\n1. e4 e5 2. d3 *\n";
        assert_eq!(plies(text), [Some(3)]);
        let other = "[Variant \"Atomic\"]\n\n1. e4 *\n";
        assert!(read(other)[0].as_ref().unwrap_err().reason.contains("Atomic"));
    }
}
