//! What the rules cost: move generation, making moves, keys, exchanges, and a deep count.
//!
//! `cargo bench --bench rules`. Times are per set of positions unless the name says otherwise.

mod common;

use std::{hint::black_box, time::Duration};

use common::{children, positions};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engram::position::{Keys, Position, perft};

fn generation(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("generate");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("legal moves of a position", |bencher| {
        bencher
            .iter(|| positions.iter().map(|position| black_box(position).legal_moves().len()).sum::<usize>());
    });
    group.finish();
}

fn making(criterion: &mut Criterion) {
    let moves = children(&positions());
    let mut group = criterion.benchmark_group("make");
    group.throughput(Throughput::Elements(moves.len() as u64));
    group.bench_function("a move, with all keys", |bencher| {
        bencher.iter(|| {
            for (position, m) in &moves {
                black_box(black_box(position).play(*m));
            }
        });
    });
    group.bench_function("a move by the rules alone, without keys", |bencher| {
        use shakmaty::Position as _;
        bencher.iter(|| {
            for (position, m) in &moves {
                let mut chess = black_box(position).chess().clone();
                chess.play_unchecked(*m);
                black_box(chess);
            }
        });
    });
    group.bench_function("a null move", |bencher| {
        bencher.iter(|| {
            for (position, _) in &moves {
                black_box(black_box(position).null_move());
            }
        });
    });
    group.bench_function("unpack a table move", |bencher| {
        let packed: Vec<_> =
            moves.iter().map(|(position, m)| (position, engram::types::PackedMove::pack(*m))).collect();
        bencher.iter(|| {
            for (position, packed) in &packed {
                black_box(black_box(position).unpack(*packed));
            }
        });
    });
    group.finish();
}

fn keys(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("keys");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("all from scratch", |bencher| {
        bencher.iter(|| {
            for position in &positions {
                black_box(Keys::from_scratch(black_box(position).chess()));
            }
        });
    });
    group.bench_function("repetition key", |bencher| {
        bencher.iter(|| {
            for position in &positions {
                black_box(black_box(position).repetition_key());
            }
        });
    });
    group.finish();
}

fn exchanges(criterion: &mut Criterion) {
    let captures: Vec<_> = children(&positions()).into_iter().filter(|(_, m)| m.is_capture()).collect();
    let mut group = criterion.benchmark_group("exchange");
    group.throughput(Throughput::Elements(captures.len() as u64));
    group.bench_function("does a capture win nothing or more", |bencher| {
        bencher.iter(|| captures.iter().filter(|(position, m)| black_box(position).see_ge(*m, 0)).count());
    });
    group.finish();
}

fn counting(criterion: &mut Criterion) {
    let start = Position::default();
    let mut group = criterion.benchmark_group("perft");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(4_865_609));
    group.bench_function("start position, depth 5", |bencher| {
        bencher.iter(|| perft::perft(black_box(&start), 5));
    });
    group.finish();
}

criterion_group!(benches, generation, making, keys, exchanges, counting);
criterion_main!(benches);
