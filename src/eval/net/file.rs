//! The network's file.
//!
//! ```text
//!  header 64: magic "EngramNN" | version u32 | inputs u32 (of all king buckets) | units u32 | heads u32
//!             | scale u32: 220, the centipawns of one unit of output | CRC-32 u32 of all bytes after the header
//!             | units of the pawn part u32 | zero [28]
//!  input weights i8 [inputs][units] | input biases i16 [units]      (127 = 1.0)
//!  heads i16 [heads][2 * units] (128 = 1.0) | head biases i32 [heads] (127 * 128 = 1.0)
//!  pawn part: input weights i16 [96][units] | input biases i16 [units]   (127 = 1.0)
//!             outputs i16 [heads][factor, addend][units] (128 = 1.0) | their biases i32 [heads][2] (127 * 128 = 1.0)
//! ```
//! All numbers are little-endian. The first half of a head reads the mover's units, the second the opponent's.

use thiserror::Error;

use super::INPUTS;

/// How a file begins.
const MAGIC: [u8; 8] = *b"EngramNN";
const VERSION: u32 = 3;
const HEADER: usize = 64;

/// Centipawns of one unit of output, the natural unit of the logistic function in training.
pub const SCALE: u32 = 220;

/// Output heads; the number of pieces selects one.
pub const HEADS: usize = 8;
/// Inputs of the pawn part: 48 squares for each side's pawns.
pub const PAWN_INPUTS: usize = 96;
/// Hidden units of the pawn part.
pub const PAWN_UNITS: usize = 32;

/// The integer that represents 1.0 in input weights and activations.
pub const ONE_INPUT: i32 = 127;
/// The integer that represents 1.0 in the weights of heads.
pub const ONE_HEAD: i32 = 128;

/// The reason why a file is not a network for this engine.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NetworkError {
    /// It does not begin with the magic bytes.
    #[error("it is not an Engram network; name a file that `engram tune train` wrote")]
    Foreign,
    /// Its layout has another version.
    #[error(
        "it is written in version {0} of the format, this engine reads version {VERSION}; use a network made for this version"
    )]
    Version(u32),
    /// Its inputs differ.
    #[error("it has {0} inputs, this engine's network has {INPUTS}; use a network made for this version")]
    Inputs(u32),
    /// Its sizes differ.
    #[error("it has {found} units, this engine's network has {expected}; train it with --units {expected}")]
    Units {
        /// Units in the file.
        found: u32,
        /// Units in this engine.
        expected: usize,
    },
    /// Its pawn part has another size, or it has none.
    #[error(
        "its pawn part has {0} units, that of this engine's network has {PAWN_UNITS}; use a network made for this version"
    )]
    PawnUnits(u32),
    /// Its length does not match its header.
    #[error("it is {found} bytes long instead of {expected}; copy it again")]
    Length {
        /// Bytes in the file.
        found: usize,
        /// Bytes that the header announces.
        expected: usize,
    },
    /// The scale is another one.
    #[error("its scale is {0} centipawns instead of {SCALE}: it is damaged; copy it again")]
    Scale(u32),
    /// Its contents are damaged.
    #[error("its checksum is wrong: it is damaged; copy it again")]
    Checksum,
}

/// The numbers of a file, before they are arranged for the engine or the trainer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Hidden units of a view.
    pub units: usize,
    /// By input of all king buckets.
    pub input_weights: Vec<i8>,
    /// By unit.
    pub input_biases: Vec<i16>,
    /// By head, mover's units before the opponent's.
    pub heads: Vec<i16>,
    /// By head.
    pub head_biases: Vec<i32>,
    /// The pawn part.
    pub pawns: PawnLayout,
}

/// The numbers of a pawn part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PawnLayout {
    /// By input.
    pub input_weights: Vec<i16>,
    /// By unit.
    pub input_biases: Vec<i16>,
    /// By head, factor before addend.
    pub outputs: Vec<i16>,
    /// By head, factor before addend.
    pub output_biases: Vec<i32>,
}

impl Layout {
    /// Reads a file.
    ///
    /// # Errors
    /// See [`NetworkError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Layout, NetworkError> {
        let (header, payload) = bytes.split_first_chunk::<HEADER>().ok_or(NetworkError::Foreign)?;
        if header[..8] != MAGIC {
            return Err(NetworkError::Foreign);
        }
        let word = |index: usize| {
            let place = 8 + 4 * index;
            u32::from_le_bytes([header[place], header[place + 1], header[place + 2], header[place + 3]])
        };
        let [version, inputs, units, heads, scale, checksum, pawn_units] =
            [0, 1, 2, 3, 4, 5, 6].map(|index| word(index) as usize);
        let known = heads == HEADS && units <= 1 << 14;
        if version != VERSION as usize || !known {
            return Err(NetworkError::Version(version as u32));
        }
        if inputs != INPUTS {
            return Err(NetworkError::Inputs(inputs as u32));
        }
        if pawn_units != PAWN_UNITS {
            return Err(NetworkError::PawnUnits(pawn_units as u32));
        }
        let expected = inputs * units + 2 * (units + HEADS * 2 * units) + 4 * HEADS + PAWN_BYTES;
        if payload.len() != expected {
            return Err(NetworkError::Length { found: bytes.len(), expected: HEADER + expected });
        }
        if scale != SCALE as usize {
            return Err(NetworkError::Scale(scale as u32));
        }
        if crc32fast::hash(payload) as usize != checksum {
            return Err(NetworkError::Checksum);
        }
        let mut rest = Numbers(payload);
        Ok(Layout {
            units,
            input_weights: rest.bytes(inputs * units),
            input_biases: rest.shorts(units),
            heads: rest.shorts(HEADS * 2 * units),
            head_biases: rest.words(HEADS),
            pawns: PawnLayout {
                input_weights: rest.shorts(PAWN_INPUTS * PAWN_UNITS),
                input_biases: rest.shorts(PAWN_UNITS),
                outputs: rest.shorts(HEADS * 2 * PAWN_UNITS),
                output_biases: rest.words(HEADS * 2),
            },
        })
    }

    /// The inverse of [`Layout::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let shorts = |payload: &mut Vec<u8>, numbers: &[i16]| {
            numbers.iter().for_each(|number| payload.extend(number.to_le_bytes()));
        };
        let words = |payload: &mut Vec<u8>, numbers: &[i32]| {
            numbers.iter().for_each(|number| payload.extend(number.to_le_bytes()));
        };
        payload.extend(self.input_weights.iter().map(|&number| number as u8));
        shorts(&mut payload, &self.input_biases);
        shorts(&mut payload, &self.heads);
        words(&mut payload, &self.head_biases);
        shorts(&mut payload, &self.pawns.input_weights);
        shorts(&mut payload, &self.pawns.input_biases);
        shorts(&mut payload, &self.pawns.outputs);
        words(&mut payload, &self.pawns.output_biases);
        let mut bytes = MAGIC.to_vec();
        let checksum = crc32fast::hash(&payload);
        let (units, pawn_units) = (self.units as u32, PAWN_UNITS as u32);
        let sizes = [VERSION, INPUTS as u32, units, HEADS as u32, SCALE, checksum, pawn_units];
        sizes.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.resize(HEADER, 0);
        bytes.append(&mut payload);
        bytes
    }
}

/// Bytes of a pawn part.
const PAWN_BYTES: usize =
    2 * (PAWN_INPUTS * PAWN_UNITS + PAWN_UNITS + HEADS * 2 * PAWN_UNITS) + 4 * HEADS * 2;

/// Numbers that are read one after the other.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take(&mut self, bytes: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn bytes(&mut self, count: usize) -> Vec<i8> {
        self.take(count).iter().map(|&byte| byte as i8).collect()
    }

    fn shorts(&mut self, count: usize) -> Vec<i16> {
        self.take(2 * count).as_chunks().0.iter().map(|&bytes| i16::from_le_bytes(bytes)).collect()
    }

    fn words(&mut self, count: usize) -> Vec<i32> {
        self.take(4 * count).as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
    }
}
