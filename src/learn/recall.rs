//! The live records as the engine wants them before a search: found by key, and filtered by what can still
//! occur, nearest in the game first.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use shakmaty::Bitboard;

use super::{
    footprint::{Footprint, Reach},
    policy::Known,
    record::game_ply,
};
use crate::{
    position::Position,
    types::{PositionKey, Score},
};

/// Plies of difference that are still told apart when the nearest are chosen.
const NEAREST: usize = 512;

/// One live record.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The position.
    pub key: PositionKey,
    /// Score window, depth and move.
    pub known: Known,
    /// The fifty-move clock on which it was found, in plies.
    pub halfmoves: u8,
    /// Its place in the game, in plies from the start.
    pub game_ply: u16,
    /// Was it found by another evaluation?
    pub foreign: bool,
    /// Was the game in which it was found lost?
    pub confirmed: bool,
    /// Did a human being say so?
    pub advice: bool,
    /// Is it a drop of a game that is not known to be lost? See [`policy::is_used`](super::policy::is_used).
    pub suspicion: bool,
    /// Is it what a search of ours found with this position as its root or on its main line?
    pub searched: bool,
}

/// All live records, by what the engine asks of them.
#[derive(Default)]
pub struct Recall {
    /// Apart from the rest, because all of them are read before each search: 256 KiB.
    signatures: Vec<u32>,
    entries: Vec<Entry>,
    places: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
}

struct Entry {
    white_pawns: Bitboard,
    black_pawns: Bitboard,
    memory: Memory,
}

impl Recall {
    /// How many positions are known.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Room for so many.
    pub fn reserve(&mut self, records: usize) {
        self.signatures.reserve(records);
        self.entries.reserve(records);
        self.places.reserve(records);
    }

    /// What is known about a position.
    pub fn get(&self, key: PositionKey) -> Option<&Memory> {
        self.places.get(&key.0).map(|&place| &self.entries[place as usize].memory)
    }

    /// Takes up a record, in place of what was known about its position. `setup` is the position as records
    /// hold it.
    pub fn insert(&mut self, setup: &[u8; 24], memory: Memory) {
        let Footprint { signature, white_pawns, black_pawns } = Footprint::of_packed(setup);
        let entry = Entry { white_pawns, black_pawns, memory };
        if let Some(&place) = self.places.get(&memory.key.0) {
            self.signatures[place as usize] = signature;
            self.entries[place as usize] = entry;
            return;
        }
        self.places.insert(memory.key.0, self.entries.len() as u32);
        self.signatures.push(signature);
        self.entries.push(entry);
    }

    /// Forgets a position. Was it known?
    pub fn remove(&mut self, key: PositionKey) -> bool {
        let Some(place) = self.places.remove(&key.0) else { return false };
        self.signatures.swap_remove(place as usize);
        self.entries.swap_remove(place as usize);
        if let Some(moved) = self.entries.get(place as usize) {
            self.places.insert(moved.memory.key.0, place);
        }
        true
    }

    /// All positions known.
    pub fn keys(&self) -> impl Iterator<Item = PositionKey> {
        self.entries.iter().map(|entry| entry.memory.key)
    }

    /// The records whose positions can still occur after `root`. Where they are more than an eighth of
    /// `room`, the nearest in game ply come first (of equally near ones the confirmed) and at most `room`
    /// come; fewer do not stand in each other's way, and are not sorted.
    pub fn relevant(&self, root: &Position, room: usize) -> Vec<&Memory> {
        let reach = Reach::of(&Footprint::of(root));
        let mut found = Vec::new();
        // In blocks, so that the common case, a whole block of positions that cannot come, is one test.
        for (block, signatures) in self.signatures.chunks(BLOCK).enumerate() {
            let admitted = signatures.iter().filter(|&&signature| reach.admits(signature)).count();
            if admitted == 0 {
                continue;
            }
            let first = block * BLOCK;
            let entries = &self.entries[first..first + signatures.len()];
            found.extend(
                signatures
                    .iter()
                    .zip(entries)
                    .filter(|(signature, entry)| {
                        reach.admits(**signature) && reach.admits_pawns(entry.white_pawns, entry.black_pawns)
                    })
                    .map(|(_, entry)| &entry.memory),
            );
        }
        if found.len() > room / 8 { nearest(&found, game_ply(root), room) } else { found }
    }
}

/// Signatures that are tested together: four 512-bit or eight 256-bit registers.
const BLOCK: usize = 64;

/// A stable counting sort by distance; the rest is cut off.
fn nearest<'a>(found: &[&'a Memory], ply: u16, room: usize) -> Vec<&'a Memory> {
    let rank = |memory: &Memory| {
        let distance = usize::from(memory.game_ply.abs_diff(ply)).min(NEAREST - 1);
        2 * distance + usize::from(!memory.confirmed)
    };
    let mut starts = [0usize; 2 * NEAREST + 1];
    for memory in found {
        starts[rank(memory) + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let mut sorted = found.to_vec();
    for &memory in found {
        let place = &mut starts[rank(memory)];
        sorted[*place] = memory;
        *place += 1;
    }
    sorted.truncate(room);
    sorted
}

impl Memory {
    /// The window to search with: wider by `fuzz` printed centipawns at each bound, because a search is not
    /// that exact. No bound stays none, and draws, mates and tablebase results are exact.
    pub fn window(&self, fuzz: i32) -> (Score, Score) {
        let widened = |score: Score, by: i32| {
            if score == Score::ZERO || score.0.abs() > Score::MAX_EVALUATION.0 {
                score
            } else {
                (score + Score::from_centipawns(by).0).clamp_evaluation()
            }
        };
        (widened(self.known.lower, -fuzz), widened(self.known.upper, fuzz))
    }
}

/// Zobrist keys are random already: hashing them again would take longer than the rest of the look-up.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Depth, PackedMove, Ply};
    use shakmaty::{EnPassantMode, Position as _, packed::PackedSetup};

    fn packed(position: &Position) -> [u8; 24] {
        let setup = position.chess().to_setup(EnPassantMode::PseudoLegal);
        let packed = PackedSetup::pack_standard_normalized(&setup).expect("a legal position");
        let mut bytes = [0; 24];
        bytes[..packed.as_bytes().len()].copy_from_slice(packed.as_bytes());
        bytes
    }

    fn memory(key: u64, game_ply: u16) -> Memory {
        let known =
            Known { lower: Score(-50), upper: Score(-50), depth: Depth(9), best: PackedMove::from_bits(5) };
        Memory {
            key: PositionKey(key),
            known,
            halfmoves: 0,
            game_ply,
            foreign: false,
            confirmed: false,
            advice: false,
            suspicion: false,
            searched: true,
        }
    }

    #[test]
    fn the_newest_of_a_key_counts_and_what_is_removed_is_gone() {
        let setup = packed(&Position::default());
        let mut recall = Recall::default();
        for key in 1..=5 {
            recall.insert(&setup, memory(key, 0));
        }
        recall.insert(&setup, memory(3, 40));
        assert_eq!((recall.len(), recall.get(PositionKey(3)).map(|m| m.game_ply)), (5, Some(40)));
        assert!(recall.remove(PositionKey(2)) && !recall.remove(PositionKey(2)));
        let mut keys: Vec<u64> = recall.keys().map(|key| key.0).collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 3, 4, 5]);
        for key in keys {
            assert_eq!(recall.get(PositionKey(key)).map(|m| m.key), Some(PositionKey(key)));
        }
        assert!(recall.get(PositionKey(2)).is_none());
    }

    #[test]
    fn only_what_can_occur_comes_and_the_nearest_if_not_all() {
        let start = Position::default();
        let m = start.legal_moves()[0];
        let later = start.play(m);
        let mut recall = Recall::default();
        for n in 0..200 {
            recall.insert(&packed(&start), memory(1000 + n, 3));
            recall.insert(&packed(&later), memory(n, n as u16));
        }
        let confirmed = Memory { confirmed: true, ..memory(7, 11) };
        recall.insert(&packed(&later), confirmed);
        assert_eq!(recall.relevant(&start, 1 << 20).len(), 400);
        let after_a_pawn_move = start.legal_moves().into_iter().find(|m| m.role() == shakmaty::Role::Pawn);
        let root = start.play(after_a_pawn_move.expect("there are some"));
        let all = recall.relevant(&root, 1 << 20);
        assert!(all.iter().all(|memory| memory.key.0 < 200), "the start position is over");

        let near: Vec<_> = recall.relevant(&later, 5);
        assert_eq!(near.len(), 5);
        let distances: Vec<u16> = near.iter().map(|memory| memory.game_ply.abs_diff(1)).collect();
        assert!(distances.is_sorted(), "{distances:?}");
        let at_ten: Vec<_> = recall.relevant(&later, 400).into_iter().filter(|m| m.game_ply == 11).collect();
        assert_eq!(at_ten[0].key, PositionKey(7), "of two the confirmed one");
    }

    #[test]
    fn windows_are_widened_where_scores_are_estimates() {
        let window = |lower, upper| {
            let mut memory = memory(1, 0);
            (memory.known.lower, memory.known.upper) = (lower, upper);
            memory.window(20)
        };
        let mate = Score::mate_in(Ply(5));
        let infinite = Score::INFINITE;
        let rows = [
            ((Score(-50), Score(-30)), (Score(-70), Score(-10))),
            ((-infinite, Score(10)), (-infinite, Score(30))),
            ((Score(-10), infinite), (Score(-30), infinite)),
            ((Score::ZERO, Score::ZERO), (Score::ZERO, Score::ZERO)),
            ((mate, mate), (mate, mate)),
            ((-mate, Score(5)), (-mate, Score(25))),
            ((Score::tablebase_win(Ply(3)), infinite), (Score::tablebase_win(Ply(3)), infinite)),
        ];
        for ((lower, upper), expected) in rows {
            assert_eq!(window(lower, upper), expected, "{lower:?} {upper:?}");
        }
    }
}
