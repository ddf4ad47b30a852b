//! What is read, and what must hold whatever it says. `tests/fuzz` and the programs of `fuzz/` share these.
//!
//! A target panics if something is wrong; everything else is an answer.

#[path = "targets/files.rs"]
mod files;
#[path = "targets/positions.rs"]
mod positions;
#[path = "targets/session.rs"]
mod session;
#[path = "targets/text.rs"]
mod text;

/// One kind of input. The programs of `fuzz/` get seeds and words as files.
#[allow(dead_code)]
pub struct Target {
    pub name: &'static str,
    /// Reads an input.
    pub run: fn(&[u8]),
    /// Valid input, to be damaged.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mean something in it.
    pub words: &'static [&'static str],
}

/// All of them.
pub static ALL: [Target; 7] = [
    Target { name: "session", run: session::run, seeds: session::seeds, words: session::WORDS },
    Target { name: "fen", run: positions::run, seeds: positions::seeds, words: positions::WORDS },
    Target { name: "text", run: text::run, seeds: text::seeds, words: text::WORDS },
    Target { name: "pgn", run: text::run_pgn, seeds: text::pgn_seeds, words: text::PGN_WORDS },
    Target { name: "learn_file", run: files::run_learn, seeds: files::learn_seeds, words: &[] },
    Target { name: "hash_file", run: files::run_hash, seeds: files::hash_seeds, words: &[] },
    Target { name: "book", run: files::run_book, seeds: files::book_seeds, words: &[] },
];

/// A target by its name.
pub fn named(name: &str) -> &'static Target {
    ALL.iter().find(|target| target.name == name).expect("a target of that name")
}
