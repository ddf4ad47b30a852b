//! One record: 64 bytes on the disk, a [`Record`] in memory, and the only code that turns one into the other.

use shakmaty::{CastlingMode, EnPassantMode, Position as _, packed::PackedSetup};
use thiserror::Error;

use super::score::LearnedScore;
use crate::{
    position::Position,
    types::{PackedMove, PositionKey},
};

/// Depth of advice with a score, if it has no depth of its own, so that it is trusted more than a search.
pub const ADVICE_DEPTH: u8 = 100;

/// Bytes of a record.
pub const RECORD_SIZE: usize = 64;

/// Slots of the ring.
pub const CAPACITY: usize = 65_536;

/// A record as stored in the file.
pub type Bytes = [u8; RECORD_SIZE];

/// The first bytes of a record, which are the same in every file; lap and checksum follow, which are not.
pub const PAYLOAD: usize = 56;
const CHECKSUM: usize = 60;
const SETUP: usize = 24;

/// Where a record comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A root score that dropped.
    Drop = 1,
    /// The root of a search, while every root is learned.
    EveryRoot = 2,
    /// A human. The ring never overwrites advice.
    Advice = 3,
    /// An analysed game.
    Import = 4,
    /// The outcome of a game, backed up to one of its moves.
    Outcome = 5,
    /// A lost game, searched again; or a tree, from which it was published.
    Study = 6,
    /// A root at the beginning of games: of depth 0 as long as no study has searched it.
    Opening = 7,
}

impl Origin {
    /// All of them, with the name of each in text.
    pub const ALL: [(Origin, &'static str); 7] = [
        (Origin::Drop, "drop"),
        (Origin::EveryRoot, "root"),
        (Origin::Advice, "advice"),
        (Origin::Import, "import"),
        (Origin::Outcome, "outcome"),
        (Origin::Study, "study"),
        (Origin::Opening, "opening"),
    ];

    /// The name in text.
    pub fn name(self) -> &'static str {
        Origin::ALL[self as usize - 1].1
    }

    /// The inverse of [`Origin::name`].
    pub fn from_name(name: &str) -> Option<Origin> {
        Origin::ALL.iter().find(|(_, own)| *own == name).map(|&(origin, _)| origin)
    }

    fn from_byte(byte: u8) -> Option<Origin> {
        Origin::ALL.iter().find(|(origin, _)| *origin as u8 == byte).map(|&(origin, _)| origin)
    }
}

/// The flags of a record.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// The castling rights are those of Chess960.
    pub chess960: bool,
    /// The end of the game confirmed the drop.
    pub confirmed: bool,
    /// The position is forgotten: older records of its key do not count.
    pub tombstone: bool,
}

impl Flags {
    fn byte(self) -> u8 {
        u8::from(self.chess960) | u8::from(self.confirmed) << 1 | u8::from(self.tombstone) << 2
    }

    fn from_byte(byte: u8) -> Option<Flags> {
        let bit = |number: u8| byte >> number & 1 == 1;
        (byte < 8).then(|| Flags { chess960: bit(0), confirmed: bit(1), tombstone: bit(2) })
    }
}

/// What was learned about one position. `learn/FORMAT.md` draws the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Polyglot key of the position.
    pub key: PositionKey,
    /// The position: shakmaty's `PackedSetup` with both move counters at their initial values, padded with zeros.
    pub setup: [u8; SETUP],
    /// The best move, or [`PackedMove::NONE`].
    pub best: PackedMove,
    /// Up to two more advised moves, the first one first; [`PackedMove::NONE`] elsewhere. In the file they take the place
    /// of what only a search has: plies from its root, nodes and evaluation.
    pub also: [PackedMove; 2],
    /// The score is at least this.
    pub lower: LearnedScore,
    /// The score is at most this.
    pub upper: LearnedScore,
    /// Depth of the search in plies.
    pub depth: u8,
    /// Plies since the last capture or pawn move, at most 255.
    pub halfmoves: u8,
    /// Where a record comes from.
    pub origin: Origin,
    /// The flags.
    pub flags: Flags,
    /// Plies since the start of the game.
    pub game_ply: u16,
    /// Plies between the root of the search and this position.
    pub since_root: u8,
    /// Binary logarithm of the nodes searched, rounded down.
    pub log2_nodes: u8,
    /// Fingerprint of the evaluation that the score is based on; 0 is none.
    pub evaluation_id: u16,
    /// A random number of the process that learned it.
    pub session: u32,
    /// Seconds since 1970.
    pub time: u32,
}

/// A position that cannot be stored in a record.
#[derive(Copy, Clone, Debug, Error, PartialEq, Eq)]
pub enum Unlearnable {
    /// More than 32 pieces do not fit.
    #[error("positions with more than 32 pieces are not learned")]
    TooManyPieces,
    /// Castling rights or an en-passant square that cannot arise in a game.
    #[error("this position cannot be packed: its castling rights or en-passant square are impossible")]
    Unpackable,
}

/// A record that contradicts itself.
#[derive(Copy, Clone, Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    /// The bytes are not a legal position.
    #[error("its position cannot be set up")]
    Setup,
    /// The bytes are not the packed form of this position.
    #[error("its position is packed in an unusual way")]
    Packing,
    /// The position has another key.
    #[error("its key is not the key of its position")]
    Key,
    /// The best move is not legal, or packed in another way than ours.
    #[error("its move is not legal")]
    Move,
}

impl Record {
    /// An empty record of `position`: no move, no bounds, depth 0.
    ///
    /// # Errors
    /// The position does not fit into a record.
    pub fn new(position: &Position, origin: Origin) -> Result<Record, Unlearnable> {
        Ok(Record {
            key: position.key(),
            setup: pack(position)?,
            best: PackedMove::NONE,
            also: [PackedMove::NONE; 2],
            lower: LearnedScore::NO_LOWER,
            upper: LearnedScore::NO_UPPER,
            depth: 0,
            halfmoves: u8::try_from(position.halfmoves()).unwrap_or(u8::MAX),
            origin,
            flags: Flags { chess960: is_chess960(position), ..Flags::default() },
            game_ply: game_ply(position),
            since_root: 0,
            log2_nodes: 0,
            evaluation_id: 0,
            session: 0,
            time: 0,
        })
    }

    /// The position, with its clock, after checking it against key and bytes.
    ///
    /// # Errors
    /// The record contradicts itself.
    pub fn position(&self) -> Result<Position, RecordError> {
        let mut setup = PackedSetup::try_from_bytes(&self.setup)
            .ok()
            .and_then(|packed| packed.unpack_standard().ok())
            .ok_or(RecordError::Setup)?;
        setup.halfmoves = u32::from(self.halfmoves);
        setup.fullmoves = setup.fullmoves.saturating_add(u32::from(self.game_ply / 2));
        let mode = if self.flags.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let position = Position::from_setup(setup, mode).map_err(|_| RecordError::Setup)?;
        if pack(&position) != Ok(self.setup) || is_chess960(&position) != self.flags.chess960 {
            return Err(RecordError::Packing);
        }
        if position.key() != self.key {
            return Err(RecordError::Key);
        }
        Ok(position)
    }

    /// The position and the best move in it, if the record names one.
    ///
    /// # Errors
    /// The record contradicts itself, the move included.
    pub fn position_and_move(&self) -> Result<(Position, Option<shakmaty::Move>), RecordError> {
        let position = self.position()?;
        // Meaningless bits of a move would be lost in an export to text, and with them the record's place in the
        // order of a merge.
        let legal =
            |packed: PackedMove| match position.unpack(packed).filter(|&m| PackedMove::pack(m) == packed) {
                None if !packed.is_none() => Err(RecordError::Move),
                found => Ok(found),
            };
        self.also.into_iter().try_for_each(|m| legal(m).map(|_| ()))?;
        let best = legal(self.best)?;
        Ok((position, best))
    }

    /// Is it a record, not a tombstone?
    pub fn is_live(&self) -> bool {
        !self.flags.tombstone
    }

    /// Is it advice, and no tombstone?
    pub fn is_advice(&self) -> bool {
        self.origin == Origin::Advice && self.is_live()
    }

    /// Is it a drop of a game that is not known to be lost?
    pub fn is_suspicion(&self) -> bool {
        self.origin == Origin::Drop && !self.flags.confirmed && self.is_live()
    }

    /// Is it of a tree (`engram tree publish`), and so of no game and no search of its own?
    pub fn is_published(&self) -> bool {
        self.origin == Origin::Study
            && self.log2_nodes == 0
            && self.lower == self.upper
            && !self.lower.is_none()
    }

    /// Is it the outcome of a game that was won?
    pub fn is_of_won_game(&self) -> bool {
        self.origin == Origin::Outcome && self.lower.is_none() && !self.upper.is_none()
    }

    /// Does it only say that a game began here, so that a study can search the position?
    pub fn is_unsearched(&self) -> bool {
        self.origin == Origin::Opening && self.depth == 0
    }

    /// Did a game leave it: the outcome of a move, a drop of a game that was lost, or an opening to be studied?
    pub fn is_of_game(&self) -> bool {
        match self.origin {
            Origin::Outcome | Origin::Import => true,
            Origin::Drop => self.flags.confirmed,
            Origin::Opening => self.is_unsearched(),
            Origin::EveryRoot | Origin::Advice | Origin::Study => false,
        }
    }

    /// Is its depth that of a search of the position? Not that of an outcome, which counts the plies of the game, nor of
    /// the mark that a study leaves of one; and a drop that no result has confirmed counts for nothing.
    pub fn has_own_depth(&self) -> bool {
        match self.origin {
            Origin::EveryRoot | Origin::Import | Origin::Opening => true,
            Origin::Drop => self.flags.confirmed,
            Origin::Study => !self.flags.confirmed,
            Origin::Outcome | Origin::Advice => false,
        }
    }

    /// Its rank among the records of its position, whatever their times and depths: advice comes before what games use,
    /// that before an opening that was not searched, and that before a drop of a game that is not known to be lost.
    pub fn rank(&self) -> u8 {
        match self {
            _ if self.is_advice() => 3,
            _ if self.is_suspicion() => 0,
            _ if self.is_unsearched() => 1,
            _ => 2,
        }
    }

    /// Is it the result of a search with this evaluation, with this position as its root or in its principal variation?
    pub fn is_search_with(&self, evaluation_id: u16) -> bool {
        self.origin == Origin::EveryRoot && self.evaluation_id == evaluation_id
    }

    /// The advised moves: the best, and up to two more.
    pub fn advised(&self) -> impl Iterator<Item = PackedMove> + use<> {
        let is_advice = self.is_advice();
        [self.best].into_iter().chain(self.also).filter(move |m| is_advice && !m.is_none())
    }

    /// Does its score rest on another evaluation? That of a person rests on none.
    pub fn is_foreign_to(&self, evaluation_id: u16) -> bool {
        self.origin != Origin::Advice && self.evaluation_id != evaluation_id
    }

    /// The tombstone of this record, at `time` or, if that is later, a second after it.
    pub fn tombstone(&self, time: u32) -> Record {
        let flags = Flags { tombstone: true, confirmed: false, ..self.flags };
        // The greatest depth, and a time after the record's: it must beat the record in every file.
        let (time, depth) = (time.max(self.time.saturating_add(1)), u8::MAX);
        Record {
            best: PackedMove::NONE,
            also: [PackedMove::NONE; 2],
            lower: LearnedScore::NO_LOWER,
            upper: LearnedScore::NO_UPPER,
            depth,
            flags,
            time,
            ..self.clone()
        }
    }

    /// The bytes that are the same in every file; the rest, lap and checksum, is zero.
    pub fn payload(&self) -> Bytes {
        let mut bytes = [0; RECORD_SIZE];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&self.key.0.to_le_bytes());
        put(&self.setup);
        put(&self.best.bits().to_le_bytes());
        put(&self.lower.bits().to_le_bytes());
        put(&self.upper.bits().to_le_bytes());
        put(&[self.depth, self.halfmoves, self.origin as u8, self.flags.byte()]);
        put(&self.game_ply.to_le_bytes());
        if self.origin == Origin::Advice {
            self.also.iter().for_each(|m| put(&m.bits().to_le_bytes()));
        } else {
            put(&[self.since_root, self.log2_nodes]);
            put(&self.evaluation_id.to_le_bytes());
        }
        put(&self.session.to_le_bytes());
        put(&self.time.to_le_bytes());
        debug_assert_eq!(at, PAYLOAD);
        bytes
    }
}

/// The bytes of `record` at `sequence` of the file `file_id`.
pub fn encode(record: &Record, file_id: u64, sequence: u64) -> Bytes {
    seal(record.payload(), file_id, sequence)
}

/// Adds lap and checksum to a payload.
pub fn seal(mut bytes: Bytes, file_id: u64, sequence: u64) -> Bytes {
    bytes[PAYLOAD..CHECKSUM].copy_from_slice(&lap(sequence).to_le_bytes());
    let checksum = checksum(&bytes, file_id, slot(sequence));
    bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The sequence number of the bytes in `slot`, if they are a complete record of this file and slot.
#[inline]
pub fn sequence(bytes: &Bytes, file_id: u64, slot: u32) -> Option<u64> {
    let stored = u32::from_le_bytes(field(bytes, CHECKSUM));
    unchecked_sequence(bytes, slot).filter(|_| checksum(bytes, file_id, slot) == stored)
}

/// The sequence number in the bytes in `slot`, whatever their checksum; none if they are empty.
#[inline]
pub fn unchecked_sequence(bytes: &Bytes, slot: u32) -> Option<u64> {
    let lap = u32::from_le_bytes(field(bytes, PAYLOAD));
    (lap > 0).then(|| u64::from(lap) * CAPACITY as u64 + u64::from(slot))
}

/// The record of a payload; lap and checksum are ignored. None if a field has a value that this format does not know.
pub fn decode(bytes: &Bytes) -> Option<Record> {
    let score = |at| LearnedScore::from_bits(i16::from_le_bytes(field(bytes, at)));
    let number = |at| u16::from_le_bytes(field(bytes, at));
    let origin = Origin::from_byte(bytes[40])?;
    // What only advice has, and what only a search has.
    let (also, [since_root, log2_nodes], evaluation_id) = match origin {
        Origin::Advice => ([44, 46].map(|at| PackedMove::from_bits(number(at))), [0; 2], 0),
        _ => ([PackedMove::NONE; 2], field(bytes, 44), number(46)),
    };
    Some(Record {
        key: key(bytes),
        setup: field(bytes, 8),
        best: PackedMove::from_bits(number(32)),
        also,
        lower: score(34)?,
        upper: score(36)?,
        depth: bytes[38],
        halfmoves: bytes[39],
        origin,
        flags: Flags::from_byte(bytes[41])?,
        game_ply: number(42),
        since_root,
        log2_nodes,
        evaluation_id,
        session: u32::from_le_bytes(field(bytes, 48)),
        time: u32::from_le_bytes(field(bytes, 52)),
    })
}

/// The key in a record's bytes.
#[inline]
pub fn key(bytes: &Bytes) -> PositionKey {
    PositionKey(u64::from_le_bytes(field(bytes, 0)))
}

/// How often the ring has gone round when this record is written, from 1.
pub fn lap(sequence: u64) -> u32 {
    (sequence / CAPACITY as u64) as u32
}

/// Where this record is in the ring.
pub fn slot(sequence: u64) -> u32 {
    (sequence % CAPACITY as u64) as u32
}

fn checksum(bytes: &Bytes, file_id: u64, slot: u32) -> u32 {
    let mut input = [0; 12 + CHECKSUM];
    input[..8].copy_from_slice(&file_id.to_le_bytes());
    input[8..12].copy_from_slice(&slot.to_le_bytes());
    input[12..].copy_from_slice(&bytes[..CHECKSUM]);
    crc32fast::hash(&input)
}

fn field<const N: usize>(bytes: &Bytes, at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

fn pack(position: &Position) -> Result<[u8; SETUP], Unlearnable> {
    // The key includes an en-passant square as soon as a pawn stands beside; so does the packed position.
    let setup = position.chess().to_setup(EnPassantMode::PseudoLegal);
    if setup.board.occupied().count() > 32 {
        return Err(Unlearnable::TooManyPieces);
    }
    let packed = PackedSetup::pack_standard_normalized(&setup).map_err(|_| Unlearnable::Unpackable)?;
    let bytes = packed.as_bytes();
    let mut padded = [0; SETUP];
    padded.get_mut(..bytes.len()).ok_or(Unlearnable::TooManyPieces)?.copy_from_slice(bytes);
    Ok(padded)
}

fn is_chess960(position: &Position) -> bool {
    position.chess().castles().mode().is_chess960()
}

/// Plies since the start of the game.
pub(crate) fn game_ply(position: &Position) -> u16 {
    let moves = u32::from(position.chess().fullmoves()).saturating_sub(1);
    let plies = moves.saturating_mul(2).saturating_add(u32::from(position.turn().is_black()));
    u16::try_from(plies).unwrap_or(u16::MAX)
}
