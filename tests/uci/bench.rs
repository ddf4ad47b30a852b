//! The functional signature: the number of nodes of `engram bench` stands in `tests/data/bench.txt`, and
//! nothing changes it unnoticed. A commit that means to change it changes the file and names the new number
//! in the last line of its message.

use engram::{
    cli::bench::{DEFAULT_DEPTH, measure},
    position::PathHash,
};

use crate::common;

#[test]
fn the_search_makes_as_many_nodes_as_its_signature_says() {
    let expected: u64 = include_str!("../data/bench.txt").trim().parse().expect("one number");
    let nodes = measure(DEFAULT_DEPTH, PathHash::default(), |_, _, _| {}, || false)
        .expect("nobody interrupts it")
        .nodes;
    assert_eq!(
        nodes, expected,
        "the search has changed: put {nodes} into tests/data/bench.txt and end the commit with `Bench: {nodes}`"
    );
}

#[test]
fn bench_searches_in_the_mode_that_path_hash_names() {
    let nodes = |lines: &[String]| {
        let line = lines.iter().find(|line| line.ends_with(" nps")).expect("the sum");
        line.split(' ').next().and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    let mut engine = common::Engine::ready();
    let mut bench = |mode: &str| {
        engine.send(&format!("setoption name PathHash value {mode}"));
        nodes(&engine.answer("bench 7"))
    };
    let (default, last4) = (bench("draws"), bench("last4"));
    assert_eq!(bench("draws"), default, "the bench depends on something that it should not");
    assert_ne!(default, last4);
    engine.quit();
    let alone: Vec<String> = common::run(&["bench", "7"]).0.lines().map(str::to_owned).collect();
    assert_eq!(nodes(&alone), default);
}
