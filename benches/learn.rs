//! What the learning file costs: opening a full one, appending, looking for news. Beside each stands what
//! the memory or the system alone takes.
//!
//! `cargo bench --bench learn`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::{fs::File, hint::black_box, path::Path, sync::Arc, time::Duration};

use common::learn::{bare, file_of, open_on};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use engram::learn::{
    AppendTime, LearnFile, Mode, Store,
    disk::{Disk, SystemDisk},
    record::{self, Bytes, CAPACITY},
};

/// A folder that is removed at the end, with a full file in it.
fn full() -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, path) = common::learn_file();
    let (mut file, ring) = file_of(&path, (0..CAPACITY as u64).map(bare));
    file.sync(&ring).unwrap();
    (folder, path)
}

fn opening(criterion: &mut Criterion) {
    let (_folder, path) = full();
    let mut group = criterion.benchmark_group("open");
    group.bench_function("a full file: read, check, index", |bencher| {
        bencher.iter_batched(
            || (),
            |()| LearnFile::open(&path, Mode::Read).unwrap(),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("beside it: only read into memory", |bencher| {
        bencher.iter_batched(
            || (),
            |()| {
                let mut bytes: Vec<Bytes> = vec![[0; 64]; CAPACITY];
                let file = SystemDisk.open(&path, engram::learn::disk::Access::Read).unwrap();
                file.read_at(bytes.as_flattened_mut(), 4096).unwrap();
                bytes
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("beside it: mapped, one pass", |bencher| {
        bencher.iter(|| mapped_sum(&path));
    });
    let bytes = std::fs::read(&path).unwrap();
    let file_id = u64::from_le_bytes(bytes[24..32].try_into().unwrap());
    let (slots, _) = bytes[4096..].as_chunks::<64>();
    group.bench_function("beside it: only the checksums", |bencher| {
        bencher.iter(|| {
            (0..).zip(slots).filter_map(|(slot, bytes)| record::sequence(bytes, file_id, slot)).max()
        });
    });
    group.bench_function("beside it: a plain pass over the same memory", |bencher| {
        bencher.iter(|| slots.iter().map(|bytes| record::key(black_box(bytes)).0).fold(0, u64::wrapping_add));
    });
    group.finish();
}

/// What mapping costs, were it safe: a file that others cut short kills the process that reads its map.
#[allow(unsafe_code)]
fn mapped_sum(path: &Path) -> u64 {
    let file = File::open(path).unwrap();
    // SAFETY: nobody else knows of this file.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    let (slots, _) = map[4096..].as_chunks::<64>();
    slots.iter().map(|bytes| record::key(black_box(bytes)).0).fold(0, u64::wrapping_add)
}

fn appending(criterion: &mut Criterion) {
    let (_folder, path) = full();
    let mut group = criterion.benchmark_group("append");
    let (mut file, ring) = open_on(SystemDisk, &path);
    let mut number = 0;
    group.bench_function("a record: lock, look, read forward, write, unlock", |bencher| {
        bencher.iter(|| {
            number += 1;
            file.lock(&ring, AppendTime::Short).unwrap().append(&bare(number)).unwrap()
        });
    });
    group.bench_function("a record while the lock is held", |bencher| {
        let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
        bencher.iter(|| {
            number += 1;
            locked.append(&bare(number)).unwrap()
        });
    });
    let store = Store::open(&path, Mode::Write).unwrap();
    group.bench_function("a record through the store of an engine", |bencher| {
        bencher.iter(|| {
            number += 1;
            store.append(bare(number))
        });
    });
    assert!(store.flush(Duration::from_secs(10)));
    let plain = SystemDisk.open(&path, engram::learn::disk::Access::Write).unwrap();
    group.bench_function("beside it: the write of 64 bytes alone", |bencher| {
        bencher.iter(|| {
            number += 1;
            plain.write_at(&record::encode(&bare(number), 1, number), 4096).unwrap();
        });
    });
    group.finish();
}

fn news(criterion: &mut Criterion) {
    let (_folder, path) = full();
    let mut group = criterion.benchmark_group("news");
    let mut store = Store::open(&path, Mode::Read).unwrap();
    store.read_forward();
    group.bench_function("nothing new", |bencher| bencher.iter(|| store.read_forward()));
    let disk = Arc::new(SystemDisk);
    group.bench_function("beside it: asking the system what lies at the path", |bencher| {
        bencher.iter(|| disk.info_at(&path).unwrap());
    });
    group.finish();
}

criterion_group!(benches, opening, appending, news);
criterion_main!(benches);
