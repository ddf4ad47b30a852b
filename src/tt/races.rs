//! Data races between threads and processes: all cases are tried, instead of waiting for one to happen.
//!
//! Words are read and written relaxed. In the worst case a reader then gets, for each word separately, any value that
//! some writer ever stored there; whatever the processor does, the reader sees one of these combinations. So all of
//! them are tried: only words of the same store may be accepted.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{
    NodeResult, ScoreWindow,
    entry::Packed,
    file::cell::{CellKind, Cluster, Entry},
    path_check::PathCheck,
    table::AtomicEntry,
};
use crate::{
    position::{Position, PositionPath},
    types::{Depth, PackedMove, Ply, PositionKey, Score, mix},
};

const KEY: PositionKey = PositionKey(0x0123_4567_89AB_CDEF);

/// A store whose fields all follow from `number`, so that a mixture of two is detected.
fn record(number: u64) -> NodeResult {
    let small = number % 200;
    NodeResult {
        best: PackedMove::from_bits(0x0800 | small as u16),
        raw_eval: Some(Score(small as i32 * 3 - 300)),
        window: ScoreWindow { lower: Score(small as i32 - 100), upper: Score(small as i32 - 50) },
        depth: Depth(small as i32),
        was_pv: number.is_multiple_of(3),
        path: PathCheck::new(&PositionPath::new(&Position::default()), Depth(small as i32)),
        ply: Ply::ROOT,
    }
}

fn packed(key: PositionKey, number: u64) -> Packed {
    Packed::pack(key, &record(number), None, number % 32)
}

/// Is this an entry of some [`record`]?
fn is_whole(read: Packed) -> bool {
    let depth = read.depth().get() as u64;
    (depth..600).step_by(200).any(|number| packed(KEY, number) == read)
}

#[test]
fn no_words_of_two_stores_are_believed() {
    let other = PositionKey(KEY.0 ^ 0xFF_0000_0001);
    let stores: Vec<Packed> = std::iter::once(Packed::EMPTY)
        .chain((0..200).map(|number| packed(KEY, number)))
        .chain((0..50).map(|number| packed(other, number * 7)))
        .collect();
    let words: Vec<(u64, u64)> = stores.iter().map(|store| store.to_stored()).collect();
    for (i, &(first, _)) in words.iter().enumerate() {
        for (j, &(_, second)) in words.iter().enumerate() {
            let read = Packed::from_stored(first, second);
            if read.matches(KEY) {
                let same = read == stores[i] || read == stores[j];
                assert!(same && is_whole(read), "stores {i} and {j} make {read:?}");
            }
        }
    }
}

/// Two stores of one position that differ in 16 neighbouring bits of the second word, such as depth and
/// generation, or one bound: of all 65,536 values no two mix to the same check, whatever the other bits are.
#[test]
fn stores_that_differ_in_one_field_never_fit_together() {
    for background in [0, 0x1234_8001_7FFF_0A03, u64::MAX] {
        for shift in [0, 16, 32, 48] {
            let with = |value: u64| background & !(0xFFFF << shift) | value << shift;
            let mut checks: Vec<u64> = (0..1 << 16).map(|value| mix(with(value)) >> 32).collect();
            checks.sort_unstable();
            checks.dedup();
            assert_eq!(checks.len(), 1 << 16, "bits {shift} and up, beside {background:016x}");
        }
    }
}

/// The same with real threads, in case a machine does more than the model allows. Under Miri, which simulates relaxed
/// accesses, a few rounds are worth more than a million here.
#[test]
fn threads_that_store_and_probe_read_whole_entries() {
    // If the reader does not get a processor at once, the writers continue until it has read something.
    let (rounds, most) = if cfg!(miri) { (30, 30) } else { (100_000, 100_000_000) };
    let (slot, cluster, over) = (AtomicEntry::default(), Cluster::default(), AtomicBool::new(false));
    let seen = AtomicBool::new(false);
    let entry = |number: u64| Entry::new(KEY, CellKind::Node, number as u16, packed(KEY, number));
    let (slot, cluster, over, seen) = (&slot, &cluster, &over, &seen);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (1..3)
            .map(|writer: u64| {
                scope.spawn(move || {
                    let wanted = |round: &u64| *round < rounds || !seen.load(Relaxed);
                    for round in (0..most).take_while(wanted) {
                        let number = (round * 7 + writer * 100) % 600;
                        slot.store(packed(KEY, number));
                        cluster.put(&entry(number), 0);
                    }
                })
            })
            .collect();
        let reader = scope.spawn(move || {
            while !over.load(Relaxed) {
                let read = slot.load();
                assert!(!read.matches(KEY) || is_whole(read), "{read:?}");
                seen.fetch_or(read.matches(KEY), Relaxed);
                for found in cluster.0.iter().filter_map(|cell| cell.find(KEY, CellKind::Node)) {
                    let depth = found.depth().get() as u64;
                    let mut whole = (depth..600).step_by(200).map(entry);
                    // The generation may be that of another store of the same words.
                    assert!(whole.any(|whole| Entry { generation: found.generation, ..whole } == found));
                }
            }
        });
        writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
        over.store(true, Relaxed);
        reader.join().expect("whole entries");
    });
    assert!(is_whole(slot.load()));
    assert!(cfg!(miri) || seen.load(Relaxed), "nothing was read");
}
