//! Hostile input, in bulk: everything that Engram reads is read here in thousands of damaged forms.
//!
//! `targets` says what is read and what must hold, `mutate` damages valid input. This program runs a few
//! hundred cases of each, the same ones every time. `ENGRAM_FUZZ=100000` runs 100,000 of each that were never
//! run before (the seed is printed, and `ENGRAM_FUZZ_SEED` gives it back). The long form is `fuzz/run`, which
//! drives the same targets by coverage and goes on where it stopped.

#[path = "../common/random.rs"]
mod random;
#[path = "../common/sim_disk.rs"]
mod sim_disk;

mod mutate;
mod targets;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use mutate::Mutator;
use targets::Target;

/// Panics of all threads: one in a thread of the engine must not pass unseen.
static PANICS: AtomicUsize = AtomicUsize::new(0);
/// One target at a time, so that a panic is known to be its own.
static TURN: Mutex<()> = Mutex::new(());

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Relaxed);
            usual(info);
        }));
    });
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: a whole number is needed")))
}

/// Runs `usual` cases of a target, or as many as are asked for.
fn run(target: &Target, usual: u64) {
    count_panics();
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    PANICS.store(0, Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let asked = variable("ENGRAM_FUZZ");
    let seed = variable("ENGRAM_FUZZ_SEED").or(asked.map(|_| now)).unwrap_or(0x5eed);
    let seeds = (target.seeds)();
    let mutator = Mutator::new(&seeds, target.words);
    let began = Instant::now();
    let cases = asked.unwrap_or(usual);
    // Valid input first, then damaged.
    let damaged = (0..cases).map(|number| mutator.case(seed.wrapping_add(number)));
    for (number, input) in seeds.iter().cloned().chain(damaged).enumerate() {
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        if outcome.is_err() || PANICS.load(Relaxed) > 0 {
            let folder = std::env::temp_dir().join("engram-fuzz");
            let file = folder.join(format!("{}-{seed:x}-{number}", target.name));
            let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &input));
            let text = String::from_utf8_lossy(&input).chars().take(2000).collect::<String>();
            panic!("{}, seed {seed}: case {number}, in {} ({kept:?}): {text}", target.name, file.display());
        }
    }
    println!("{}: {cases} cases from seed {seed} in {:.1?}", target.name, began.elapsed());
}

/// The short form: `(name, cases)`.
macro_rules! short_form {
    ($($name:ident: $cases:literal,)*) => {
        $(#[test]
        fn $name() {
            run(targets::named(stringify!($name)), $cases);
        })*

        #[test]
        fn every_target_is_run() {
            let run = [$(stringify!($name)),*];
            assert_eq!(targets::ALL.iter().map(|target| target.name).collect::<Vec<_>>(), run);
        }
    };
}

short_form! {
    session: 60,
    fen: 1500,
    text: 6000,
    pgn: 1500,
    learn_file: 80,
    hash_file: 150,
    book: 500,
}

/// Writes the valid input of every target to the folder `ENGRAM_FUZZ_SEEDS`, for `fuzz/run`.
#[test]
fn seeds_are_read() {
    for target in &targets::ALL {
        let seeds = (target.seeds)();
        assert!(seeds.len() > 1, "{} has too few seeds", target.name);
        let Some(folder) = std::env::var_os("ENGRAM_FUZZ_SEEDS") else { continue };
        let folder = std::path::Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder).expect("a folder for seeds");
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).expect("a seed");
        }
        // As libFuzzer reads it: a byte that is no plain letter is written in hexadecimal.
        let byte = |byte: u8| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        };
        let words: String = target
            .words
            .iter()
            .map(|word| format!("\"{}\"\n", word.bytes().map(byte).collect::<String>()))
            .collect();
        std::fs::write(folder.with_extension("dict"), words).expect("a dictionary");
    }
}
