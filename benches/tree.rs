//! A tree of many positions: the next leaf, a search that is backed up, and what is shown of the root. The searches are
//! made up. `ENGRAM_TREE=1000000 cargo bench --bench tree` measures a tree of a million positions, `ENGRAM_TREE_FILE` keeps it.

use std::{env, hint::black_box};

use criterion::{Criterion, criterion_group, criterion_main};
use engram::{
    Depth, Position, Score,
    tree::{Access, ForSides, Job, Tree, TreeSearch},
    types::ScoredLine,
};

/// A search of a job with scores that depend on the position alone.
fn search(job: &Job) -> TreeSearch {
    let mut moves: Vec<_> = job.position.legal_moves().into_iter().collect();
    let bits = |m| job.position.play(m).key().0;
    moves.sort_unstable_by_key(|&m| bits(m));
    let line = |(rank, m): (i32, _)| ScoredLine {
        score: Score::from_centipawns((bits(m) % 40) as i32 - 20 - 8 * rank),
        is_drawn: false,
        moves: vec![m],
    };
    let mut lines: Vec<ScoredLine> = (0..).zip(moves.into_iter().take(job.lines)).map(line).collect();
    lines.sort_by_key(|line| -line.score.0);
    TreeSearch { depth: Depth(20), nodes: 1_000_000, millis: 1000, evaluation_id: 1, lines }
}

fn grow(tree: &mut Tree) {
    if let Some(job) = tree.next_job().expect("readable") {
        tree.record(&job, &search(&job)).expect("written");
    }
}

fn tree(criterion: &mut Criterion) {
    let count = env::var("ENGRAM_TREE").ok().and_then(|count| count.parse().ok()).unwrap_or(1000);
    let folder = tempfile::tempdir().expect("a folder");
    let path = env::var_os("ENGRAM_TREE_FILE").map_or(folder.path().join("t.db"), Into::into);
    let mut tree = Tree::open(&path, Access::Create).expect("a tree");
    let start = Position::default();
    tree.add_root(&start, ForSides { white: true, black: true }).expect("written");
    while tree.size().expect("readable").searched < count {
        (0..count.min(1000)).for_each(|_| grow(&mut tree));
    }
    let name = |what: &str| format!("{what}, tree of {count} positions");
    criterion.bench_function(&name("look at the root"), |b| {
        b.iter(|| {
            let view = tree.look(&start).expect("readable").expect("there");
            for m in view.moves.iter().take(4) {
                black_box(tree.expected(&start, &[m.m]).expect("readable"));
            }
        })
    });
    criterion.bench_function(&name("32 positions for the table"), |b| {
        b.iter(|| {
            black_box(tree.known_near(&start, 32).expect("readable"));
        })
    });
    criterion.bench_function(&name("the next leaf, claimed and released"), |b| {
        b.iter(|| {
            let job = tree.next_job().expect("readable").expect("a leaf");
            tree.release(&job).expect("written");
        })
    });
    criterion.bench_function(&name("the next leaf, searched and backed up"), |b| b.iter(|| grow(&mut tree)));
}

criterion_group!(benches, tree);
criterion_main!(benches);
