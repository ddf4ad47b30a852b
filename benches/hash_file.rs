//! Having yesterday's analysis again: a hash file opened and used for the first time, beside a dump of the same size
//! saved and loaded, as engines without a mapped file do it.
//!
//! `cargo bench --bench hash_file`; needs 512 MiB of disk for a while.

mod common;

use std::{fs, hint::black_box, path::Path};

use criterion::{Criterion, criterion_group, criterion_main};
use engram::{
    eval,
    position::{PathHash, Position, PositionPath},
    tt::file::{HashFile, HashOrigin},
    types::Ply,
};

const MIB: usize = 256;

fn open(path: &Path) -> HashFile {
    let origin =
        HashOrigin { evaluation: eval::fingerprint(), path_mode: PathHash::default(), fifty_rule: true };
    HashFile::open_or_create(path, MIB, origin).expect("room for the file").0
}

/// What an analysis asks first: is one of these positions a root?
fn use_first(file: &HashFile, positions: &[Position]) -> usize {
    let known = |p: &&Position| file.find_root(p.key(), &PositionPath::new(p), Ply::ROOT).is_some();
    positions.iter().filter(known).count()
}

fn yesterday(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let positions: Vec<Position> =
        common::children(&common::positions()).iter().map(|(position, m)| position.play(*m)).collect();
    let mut group = criterion.benchmark_group(format!("{MIB} MiB"));
    group.sample_size(10);

    let path = folder.path().join("mapped.hash");
    drop(open(&path));
    group.bench_function("hash file: open, first use, close", |b| {
        b.iter(|| black_box(use_first(&open(&path), &positions)))
    });
    let dump = folder.path().join("dump");
    let table = vec![1_u8; MIB << 20];
    group.bench_function("dump: save", |b| b.iter(|| fs::write(&dump, &table).expect("room for the dump")));
    group.bench_function("dump: load", |b| b.iter(|| black_box(fs::read(&dump).expect("the dump"))));
    group.finish();
}

criterion_group!(benches, yesterday);
criterion_main!(benches);
