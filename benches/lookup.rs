//! What is looked up instead of being searched: book moves and tablebases. The tablebase is asked through the
//! engine and through the crate alone, so that the ratio can be read; without `../shared/data` it is left out.

mod common;

use std::{hint::black_box, path::Path};

use criterion::{Criterion, criterion_group, criterion_main};
use engram::{book::Book, position::Position, syzygy::Tablebase};
use shakmaty_syzygy::Tablebase as Tables;

fn books(criterion: &mut Criterion) {
    let positions = common::positions();
    let per_set = |book: &Book| positions.iter().map(|p| book.find(p.key()).1.len()).sum::<usize>();
    let own = Book::own();
    criterion.bench_function("own book, 12 look-ups", |b| b.iter(|| black_box(per_set(&own))));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/polyglot/gnuchess-book.bin");
    if let Ok(large) = Book::open(&path) {
        criterion.bench_function("book of 180,000 entries, 12 look-ups", |b| {
            b.iter(|| black_box(per_set(&large)))
        });
        let start = Position::default();
        criterion
            .bench_function("legal book moves of the start", |b| b.iter(|| black_box(large.moves(&start))));
    }
}

fn tables(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/syzygy");
    let Some(list) = folder.to_str().filter(|_| folder.exists()) else { return };
    let (ours, _) = Tablebase::open(list);
    // SAFETY: nobody changes the tables while the bench runs.
    #[allow(unsafe_code)]
    let mut alone = unsafe { Tables::with_mmap_filesystem() };
    alone.add_directory(&folder).expect("a readable folder");
    let positions: Vec<Position> = [
        "8/8/8/3kr3/8/8/3K4/6Q1 w - - 0 1",
        "8/8/4k3/8/2p5/8/3PK3/8 b - - 0 1",
        "8/8/8/2kb4/8/4P3/3K4/8 w - - 0 1",
    ]
    .iter()
    .map(|fen| Position::from_fen(fen).expect("a legal position"))
    .collect();
    criterion.bench_function("3 probes through the engine", |b| {
        b.iter(|| {
            positions.iter().map(|p| ours.probe(p)).for_each(|wdl| {
                black_box(wdl);
            })
        });
    });
    criterion.bench_function("3 probes by the crate alone", |b| {
        b.iter(|| {
            positions.iter().map(|p| alone.probe_wdl_after_zeroing(p.chess())).for_each(|wdl| {
                let _ = black_box(wdl);
            })
        });
    });
}

criterion_group!(benches, books, tables);
criterion_main!(benches);
