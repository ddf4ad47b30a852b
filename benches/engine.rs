//! What a node costs: evaluation with a cold and a warm pawn hash, the transposition table, and the search
//! as a whole.
//!
//! `cargo bench --bench engine`. The search is measured in nodes: `thrpt` is nodes a second.

mod common;

use std::{hint::black_box, time::Duration};

use common::{children, positions};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use engram::{
    engine::blocking::BlockingEngine,
    eval::{Evaluation, Evaluator},
    position::{Position, PositionPath},
    tt::{NodeResult, PathCheck, ScoreWindow, Table},
    types::{Depth, PackedMove, Ply, Score},
};

/// Nodes of one measured search.
const SEARCH_NODES: u64 = 50_000;

fn evaluation(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(positions.len() as u64));
    for (name, evaluation) in [("network", Evaluation::default()), ("classical", Evaluation::Classical)] {
        // Positions of different games follow each other: the network's accumulators are made nearly anew.
        group.bench_function(format!("{name}, warm pawn hash"), |bencher| {
            let mut evaluator = Evaluator::new(&evaluation, 4);
            bencher.iter(|| {
                for position in &positions {
                    black_box(evaluator.evaluate(black_box(position), Ply::ROOT));
                }
            });
        });
        group.bench_function(format!("{name}, cold pawn hash"), |bencher| {
            bencher.iter_batched_ref(
                || Evaluator::new(&evaluation, 1),
                |evaluator| {
                    for position in &positions {
                        black_box(evaluator.evaluate(black_box(position), Ply::ROOT));
                    }
                },
                BatchSize::LargeInput,
            );
        });
        // As a search asks: children of one position after each other.
        let start = &positions[0];
        let siblings: Vec<Position> = start.legal_moves().iter().map(|&m| start.play(m)).collect();
        group.throughput(Throughput::Elements(siblings.len() as u64));
        group.bench_function(format!("{name}, siblings"), |bencher| {
            let mut evaluator = Evaluator::new(&evaluation, 4);
            bencher.iter(|| {
                for position in &siblings {
                    black_box(evaluator.evaluate(black_box(position), Ply::ROOT.next()));
                }
            });
        });
        group.throughput(Throughput::Elements(positions.len() as u64));
    }
    group.finish();
}

fn table(criterion: &mut Criterion) {
    let keys: Vec<_> = children(&positions()).iter().map(|(position, m)| position.play(*m).key()).collect();
    let table = Table::new(64).expect("64 MiB of memory");
    table.clear(1);
    let record = NodeResult {
        best: PackedMove::NONE,
        raw_eval: Some(Score(12)),
        window: ScoreWindow::at_least(Score(20)),
        depth: Depth(7),
        was_pv: false,
        path: PathCheck::new(&PositionPath::new(&Position::default()), Depth(7)),
        ply: Ply(5),
    };
    let mut group = criterion.benchmark_group("table");
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function("store", |bencher| {
        bencher.iter(|| keys.iter().for_each(|&key| table.store(key, &record)));
    });
    group.bench_function("probe", |bencher| {
        bencher.iter(|| keys.iter().filter_map(|&key| table.probe(black_box(key))).count());
    });
    group.finish();
}

fn nodes(criterion: &mut Criterion) {
    let mut searcher = BlockingEngine::new(SEARCH_NODES);
    let positions = positions();
    let middlegame = positions[1..6].to_vec();
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(SEARCH_NODES * middlegame.len() as u64));
    group.bench_function("nodes of five middlegames", |bencher| {
        bencher.iter(|| {
            searcher.engine.new_game();
            for position in &middlegame {
                searcher.search(position, &[]).expect("no moves");
            }
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_secs(1));
    targets = evaluation, table, nodes
}
criterion_main!(benches);
