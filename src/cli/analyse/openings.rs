//! Names of openings, found by position, so that transpositions are named too.

use std::{collections::HashMap, fs, path::Path};

use shakmaty::{Move, san::San};

use crate::{
    cli::{CliError, pgn},
    position::Position,
};

/// The table inside the binary: ECO code, name and moves, in the tab-separated form that the public lists
/// of openings have.
const OWN: &str = include_str!("../../../books/openings.tsv");

/// An opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its code in the Encyclopaedia of Chess Openings.
    pub eco: String,
    /// Its name.
    pub name: String,
}

/// A table of openings.
pub struct Openings(HashMap<u64, Opening>);

impl Openings {
    /// The table inside the binary.
    pub fn own() -> Openings {
        let mut openings = Openings(HashMap::new());
        // Every line is sound: the unit test below says so.
        let _ = openings.add(OWN);
        openings
    }

    /// Tables from files.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Openings, CliError> {
        let mut openings = Openings(HashMap::new());
        for path in paths {
            let path = path.as_ref();
            let text = fs::read_to_string(path).map_err(|error| CliError::file("read", path, error))?;
            openings.add(&text).map_err(|reason| {
                let path = path.display();
                CliError::Task(format!("{path}: {reason}; a line reads: code, tab, name, tab, moves"))
            })?;
        }
        Ok(openings)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in text.lines().enumerate() {
            let mut fields = line.split('\t');
            let (Some(eco), Some(name), Some(moves)) = (fields.next(), fields.next(), fields.next()) else {
                if line.trim().is_empty() {
                    continue;
                }
                return Err(format!("line {} has no three fields", number + 1));
            };
            if number == 0 && eco == "eco" {
                continue;
            }
            let position = play(moves).map_err(|token| format!("line {}: {token} is no move", number + 1))?;
            let opening = Opening { eco: eco.to_owned(), name: name.to_owned() };
            self.0.insert(position.key().0, opening);
        }
        Ok(())
    }

    /// The opening that leads to this position.
    pub fn at(&self, position: &Position) -> Option<&Opening> {
        self.0.get(&position.key().0)
    }

    /// The last named position of a game from the usual start.
    pub fn of(&self, start: &Position, moves: &[Move]) -> Option<&Opening> {
        if start.key() != Position::default().key() {
            return None;
        }
        let mut position = start.clone();
        let mut found = None;
        // No opening in any table is longer.
        for &m in moves.iter().take(60) {
            position = position.play(m);
            found = self.0.get(&position.key().0).or(found);
        }
        found
    }
}

fn play(moves: &str) -> Result<Position, String> {
    let mut position = Position::default();
    for token in moves.split_whitespace() {
        let san = token.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
        if san.is_empty() {
            continue;
        }
        let m = san.parse::<San>().map_err(|_| token.to_owned())?;
        position = position.play(pgn::to_move(m, &position).ok_or_else(|| token.to_owned())?);
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_own_table_is_sound_and_there_once() {
        let mut openings = Openings(HashMap::new());
        openings.add(OWN).unwrap();
        let lines = OWN.lines().count() - 1;
        assert!(lines >= 100);
        assert_eq!(openings.0.len(), lines, "no position has two names");
        for opening in openings.0.values() {
            let code: Vec<char> = opening.eco.chars().collect();
            assert!(matches!(code[..], ['A'..='E', '0'..='9', '0'..='9']), "{opening:?}");
        }
    }
}
