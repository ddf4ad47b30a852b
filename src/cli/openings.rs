use std::{io, path::Path};

use super::pgn::Lines;
use crate::{
    cli::{CliError, refused, source},
    position::Openings,
};

/// Tables of opening names from files.
///
/// # Errors
/// A file that cannot be read or understood.
pub(super) fn read(paths: &[impl AsRef<Path>]) -> Result<Openings, CliError> {
    let mut openings = Openings::default();
    for path in paths {
        let path = path.as_ref();
        let reader = source::reader(path).map_err(refused(path, "read"))?;
        let lines = Lines::new(reader).collect::<io::Result<Vec<_>>>().map_err(refused(path, "read"))?;
        openings.add(lines.iter().map(String::as_str)).map_err(|reason| {
            let path = path.display();
            CliError::Task(format!("{path}: {reason}; a line reads: code, tab, name, tab, moves"))
        })?;
    }
    Ok(openings)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::position::Position;

    #[test]
    fn tables_are_read_as_games_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eco.tsv");
        let text = b"\xef\xbb\xbfeco\tname\tpgn\r\nC50\tGr\xfcn\t1.e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. 0-0\r\n";
        fs::write(&path, text).unwrap();
        let openings = read(&[path]).unwrap();
        let mut position = Position::default();
        for san in ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6", "O-O"] {
            position = position.play(crate::cli::pgn::read_move(san, &position).unwrap());
        }
        assert_eq!(openings.at(&position).map(|opening| opening.name.as_str()), Some("Grün"));
    }
}
