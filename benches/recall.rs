//! What loading costs before each search: the filter over a full file, and its records into a table of 64 MiB.
//! Beside each stands a plain pass over the same memory.
//!
//! `cargo bench --bench recall`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use common::learn::{file_of, positions, record};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use engram::{
    engine::{LearnOptions, learned_entry},
    eval,
    learn::{Ring, record::CAPACITY},
    position::Position,
    tt::Table,
};

const FUZZ: i32 = LearnOptions::DEFAULT_FUZZ;
/// Records that can occur in a usual middlegame, at most.
const USUAL: usize = 500;

/// A full file's records of positions from random games.
fn full(positions: &[Position]) -> Ring {
    let (_folder, path) = common::learn_file();
    let records = (0..).zip(positions).map(|(number, position)| record(position, number));
    file_of(&path, records).1.into_inner().expect("no panic")
}

/// A table whose memory has been brought in.
fn touched() -> Table {
    let table = Table::new(64).expect("64 MiB of memory");
    table.clear(1);
    table
}

fn load(recall: &Ring, root: &Position, table: &Table) -> usize {
    let relevant = recall.relevant(root, table.learned_share());
    table
        .insert_learned(relevant.iter().filter_map(|record| learned_entry(record, eval::fingerprint(), FUZZ)))
}

fn loading(criterion: &mut Criterion) {
    let positions = positions(CAPACITY, 7);
    let recall = full(&positions);
    let start = Position::default();
    let table = touched();
    assert_eq!(recall.relevant(&start, usize::MAX).len(), CAPACITY);
    let usual = positions
        .iter()
        .find(|root| (USUAL / 2..=USUAL).contains(&recall.relevant(root, usize::MAX).len()))
        .expect("a middlegame");
    let keys: Vec<_> = recall.keys().collect();

    let mut group = criterion.benchmark_group("load");
    group.bench_function("a full file into a touched table of 64 MiB", |bencher| {
        bencher.iter_batched(
            || table.unlearn(keys.iter().copied()),
            |()| load(&recall, &start, &table),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("beside it: all of its lines, probed", |bencher| {
        bencher.iter(|| keys.iter().filter_map(|&key| table.probe(black_box(key))).count());
    });
    group.bench_function("nothing new, a usual middlegame", |bencher| {
        load(&recall, usual, &table);
        bencher.iter(|| load(&recall, usual, &table));
    });
    group.bench_function("beside it: the filter alone", |bencher| {
        bencher.iter(|| recall.relevant(usual, usize::MAX).len());
    });
    let signatures: Vec<u32> = (0..CAPACITY as u32).map(|number| number.wrapping_mul(0x9E37_79B9)).collect();
    group.bench_function("beside it: a plain pass over as many words", |bencher| {
        bencher.iter(|| black_box(&signatures).iter().fold(0, |sum: u32, word| sum.wrapping_add(*word)));
    });
    group.finish();
}

criterion_group!(benches, loading);
criterion_main!(benches);
