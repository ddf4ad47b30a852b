//! Move generation counted against numbers that others computed.
//!
//! `tests/data/perft.epd` is always there. The large public suites lie beside the checkout, in
//! `../shared/data/perft`, where somebody put them; without them those tests say so and pass.
//! `ENGRAM_FULL=1` counts them two plies deeper and the large collections whole: minutes instead of seconds.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
};

use engram::position::perft;

use crate::common::{chess960, fixture, is_full, shared};

/// One position with its known counts.
struct Entry {
    fen: String,
    counts: Vec<(u32, u64)>,
}

fn read(path: impl AsRef<Path>) -> Vec<Entry> {
    let text = fs::read_to_string(path).expect("text");
    let records = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    records.map(entry).collect()
}

fn entry(line: &str) -> Entry {
    let mut fields = line.split(';').map(str::trim);
    let fen = fields.next().expect("a line has a first field").to_owned();
    let count = |field: &str| {
        let (depth, nodes) = field.strip_prefix('D')?.split_once(' ')?;
        Some((depth.parse().ok()?, nodes.trim().parse().ok()?))
    };
    let counts = fields.map(|field| count(field).unwrap_or_else(|| panic!("bad count in {line}"))).collect();
    Entry { fen, counts }
}

/// Compares every count down to `depth`, on all processors.
fn check(name: &str, entries: &[Entry], depth: u32) {
    let next = AtomicUsize::new(0);
    let nodes = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: the counter only hands out work, the scope's end publishes the rest.
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let root = chess960(&entry.fen);
                    for &(depth, expected) in entry.counts.iter().filter(|count| count.0 <= depth) {
                        assert_eq!(perft::perft(&root, depth), expected, "depth {depth} of {}", entry.fen);
                        nodes.fetch_add(expected, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    println!("{name}: {} positions to depth {depth}, {} nodes", entries.len(), nodes.into_inner());
}

/// As [`check`], for a file that may not be there.
fn check_shared(name: &str, depth: u32) {
    let Some(path) = shared(&format!("perft/{name}")) else { return };
    check(name, &read(path), if is_full() { depth + 2 } else { depth });
}

#[test]
fn our_own_positions_count_right() {
    let entries = read(fixture("perft.epd"));
    assert!(entries.len() >= 40, "the fixture has shrunk to {} positions", entries.len());
    check("perft.epd", &entries, 5);
}

#[test]
fn standard_suite_to_depth_4() {
    check_shared("standard.epd", 4);
}

#[test]
fn chess960_suite_to_depth_3() {
    check_shared("chess960.epd", 3);
}

#[test]
fn tactical_collections_count_right() {
    // One in 64 of these thousands of positions with `FEN; D4 n` is enough here.
    for name in ["double-checks.epd", "single-checks.epd", "en-passant.epd"] {
        let Some(path) = shared(&format!("perft/{name}")) else { continue };
        let step = if is_full() { 1 } else { 64 };
        let sample: Vec<Entry> = read(path).into_iter().step_by(step).collect();
        check(name, &sample, 4);
    }
}
