//! Names of openings, found by position, so that transpositions are named too.

use std::{
    collections::HashMap,
    fmt,
    io::Read,
    sync::{Arc, LazyLock},
};

use flate2::read::DeflateDecoder;

use super::{
    Position,
    notation::{read_move, without_number},
};

/// The built-in table, compressed: for each opening the key of its position (eight bytes, little-endian), its code, a
/// tab, its name and a line end. Made from `books/openings.tsv` by the test below.
const OWN: &[u8] = include_bytes!("../../books/openings.bin");

static OWN_NAMES: LazyLock<Openings> = LazyLock::new(|| Openings(Arc::new(unpacked(OWN))));

/// An opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its code in the Encyclopaedia of Chess Openings.
    pub eco: String,
    /// Its name.
    pub name: String,
}

/// Code and name.
impl fmt::Display for Opening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.eco, self.name)
    }
}

/// A table of openings, by the key of the position.
#[derive(Clone, Default)]
pub struct Openings(Arc<HashMap<u64, Opening>>);

impl Openings {
    /// The built-in table, decompressed at first use.
    pub fn own() -> Openings {
        OWN_NAMES.clone()
    }

    /// Adds the lines of a table: code, tab, name, tab, moves. A first line that begins with `eco` is its header.
    ///
    /// # Errors
    /// What is wrong with which line.
    pub fn add<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> Result<(), String> {
        Arc::make_mut(&mut self.0).extend(named(lines)?);
        Ok(())
    }

    /// The opening that leads to this position.
    pub fn at(&self, position: &Position) -> Option<&Opening> {
        self.0.get(&position.key().0)
    }

    /// The named positions of a game, which may begin with a position of a book: the number of moves that lead to each, and
    /// its name.
    pub fn all_named(&self, positions: &[Position]) -> impl DoubleEndedIterator<Item = (usize, &Opening)> {
        // No opening in any table has more plies.
        let first = positions.iter().take(61).enumerate();
        first.filter_map(|(ply, position)| Some((ply, self.at(position)?)))
    }

    /// The last of them.
    pub fn last_named(&self, positions: &[Position]) -> Option<(usize, &Opening)> {
        self.all_named(positions).next_back()
    }
}

/// The openings of a table, in its order.
fn named<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<(u64, Opening)>, String> {
    let mut openings = Vec::new();
    for (number, line) in lines.enumerate() {
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
        let position = play(moves).map_err(|token| format!("line {}: {token} is not a move", number + 1))?;
        openings.push((position.key().0, Opening { eco: eco.to_owned(), name: name.to_owned() }));
    }
    Ok(openings)
}

/// The openings of a compressed table, up to the first error.
fn unpacked(packed: &[u8]) -> HashMap<u64, Opening> {
    let mut bytes = Vec::new();
    // The built-in one is valid, as the unit test checks.
    let _ = DeflateDecoder::new(packed).read_to_end(&mut bytes);
    let mut openings = HashMap::new();
    let mut rest = bytes.as_slice();
    while let Some((key, text)) = rest.split_first_chunk() {
        let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        let line = String::from_utf8_lossy(&text[..end]);
        if let Some((eco, name)) = line.split_once('\t') {
            let opening = Opening { eco: eco.to_owned(), name: name.to_owned() };
            openings.insert(u64::from_le_bytes(*key), opening);
        }
        rest = text.get(end + 1..).unwrap_or_default();
    }
    openings
}

fn play(moves: &str) -> Result<Position, String> {
    let mut position = Position::default();
    for token in moves.split_whitespace() {
        let san = without_number(token);
        if san.is_empty() {
            continue;
        }
        position = position.play(read_move(san, &position).ok_or_else(|| token.to_owned())?);
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::*;

    /// `ENGRAM_WRITE=1 cargo test --lib openings` makes the compressed table again.
    #[test]
    fn the_compressed_table_is_that_of_the_lines_and_no_position_has_two_names() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
        let lines = named(fs::read_to_string(folder.join("openings.tsv")).unwrap().lines()).unwrap();
        assert!(lines.len() > 3000);
        if std::env::var_os("ENGRAM_WRITE").is_some() {
            let mut bytes = Vec::new();
            for (key, Opening { eco, name }) in &lines {
                bytes.extend(key.to_le_bytes());
                bytes.extend(format!("{eco}\t{name}\n").into_bytes());
            }
            let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            packed.write_all(&bytes).unwrap();
            fs::write(folder.join("openings.bin"), packed.finish().unwrap()).unwrap();
            return;
        }
        let own = Openings::own();
        assert_eq!(own.0.len(), lines.len(), "no position has two names");
        for (key, opening) in &lines {
            assert_eq!(own.0.get(key), Some(opening));
            let code: Vec<char> = opening.eco.chars().collect();
            assert!(matches!(code[..], ['A'..='E', '0'..='9', '0'..='9']), "{opening:?}");
        }
    }

    #[test]
    fn the_opening_of_a_game_is_found_whatever_the_order_of_its_moves() {
        let own = Openings::own();
        let name = |moves: &str| {
            let mut positions = vec![Position::default()];
            for san in moves.split(' ') {
                let position = positions.last().unwrap();
                positions.push(position.play(read_move(san, position).unwrap()));
            }
            own.last_named(&positions).map(|(ply, opening)| format!("{opening} at {ply}"))
        };
        assert_eq!(name("e4 e5 Nf3 Nc6 Bb5 a6").as_deref(), Some("C70 Ruy Lopez: Morphy Defense at 6"));
        assert_eq!(name("Nf3 Nc6 e4 e5 Bb5 a6 h3"), name("e4 e5 Nf3 Nc6 Bb5 a6"));
        let later = play("e4 e5 Nf3 Nc6").unwrap();
        let positions = [later.clone(), later.play(read_move("Bb5", &later).unwrap())];
        assert_eq!(
            own.last_named(&positions).map(|(ply, opening)| (ply, opening.eco.as_str())),
            Some((1, "C60"))
        );
        assert!(unpacked(b"damaged").is_empty());
    }
}
