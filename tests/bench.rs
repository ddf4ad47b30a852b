//! The functional signature: the number of nodes of `engram bench` stands in `tests/data/bench.txt`, and
//! nothing changes it unnoticed. A commit that means to change it changes the file and names the new number
//! in the last line of its message.

use engram::cli::bench::{DEFAULT_DEPTH, measure};

#[test]
fn the_search_makes_as_many_nodes_as_its_signature_says() {
    let expected: u64 = include_str!("data/bench.txt").trim().parse().expect("one number");
    let first = measure(DEFAULT_DEPTH, |_, _, _| {}, || false).expect("nobody interrupts it").nodes;
    assert_eq!(
        first, expected,
        "the search has changed: put {first} into tests/data/bench.txt and end the commit with `Bench: {first}`"
    );
    let second = measure(DEFAULT_DEPTH, |_, _, _| {}, || false).expect("nobody interrupts it").nodes;
    assert_eq!(first, second, "the bench depends on something that it should not");
}
