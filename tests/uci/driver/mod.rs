//! A GUI that has lost its mind drives the real binary over pipes: random commands, legal and illegal, options in
//! mid-search, `stop`, `ponderhit` and the end at random moments, tables resized while they are searched.
//!
//! Whatever it does: each `go` gets one `bestmove`, which is legal, as is every line before it; `readyok` comes;
//! memory and threads do not grow; the engine leaves with exit code 0 and without a word on standard error.
//!
//! `ENGRAM_FULL=1` makes 10,000 searches and 5,000 new games. `ENGRAM_SEED` repeats a run.
// Memory and threads are measured on Linux alone.
#![cfg_attr(not(target_os = "linux"), allow(unused))]

mod gui;
mod model;

use gui::Gui;

use crate::common::{self, Engine, is_full, random::Random, seed};

/// Reads what Linux says about a process: resident memory in KiB, and threads.
#[cfg(target_os = "linux")]
fn footprint(engine: &Engine) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", engine.id())).expect("the engine lives");
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a field of the status");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    };
    (field("VmRSS:"), field("Threads:"))
}

#[test]
fn a_mad_gui_gets_its_answers() {
    let (engines, searches) = if is_full() { (10, 1000) } else { (3, 60) };
    let mut random = Random(seed(0x6d61_6467));
    let mut latencies = Vec::new();
    for number in 0..engines {
        let mut gui = Gui::new(random.next());
        #[cfg(target_os = "linux")]
        let mut first: Option<u64> = None;
        while gui.searches < searches {
            gui.act();
            #[cfg(target_os = "linux")]
            if gui.searches >= searches / 4 && first.is_none() || gui.searches >= searches {
                gui.tidy_up();
                // The session, the reader, one search thread.
                let now = settled(&gui.engine, 4);
                let memory = *first.get_or_insert(now);
                let grown = now.saturating_sub(memory);
                assert!(grown < 8 << 10, "memory grew by {grown} KiB from {memory} KiB");
                println!("engine {number}: {} searches, {now} KiB", gui.searches);
            }
        }
        latencies.append(&mut gui.latencies);
        gui.leave();
    }
    latencies.sort_unstable();
    // Reported, not asserted: what is measured here is the machine as well.
    let at = |share: usize| latencies.get(latencies.len().saturating_sub(1) * share / 1000);
    println!(
        "{} times `readyok` during a search: median {:.1?}, 99 % {:.1?}, longest {:.1?}",
        latencies.len(),
        at(500),
        at(990),
        at(1000)
    );
}

/// Waits until an idle engine has `threads` threads (others may be on their way out): its resident memory in KiB.
#[cfg(target_os = "linux")]
fn settled(engine: &Engine, threads: u64) -> u64 {
    let mut found = (0, 0);
    common::until(&format!("an idle engine has {threads} threads"), || {
        found = footprint(engine);
        found.1 == threads
    });
    found.0
}

#[test]
#[cfg(target_os = "linux")]
fn thousands_of_games_and_searches_leave_nothing_behind() {
    let (games, warm) = if is_full() { (5000, 500) } else { (300, 100) };
    let mut engine = Engine::with(&["Hash value 1", "Threads value 2"]);
    // The session, the reader, the one that hears signals, two search threads, the writer of the learning file.
    let threads = 6;
    let mut before = None;
    for game in 0..games {
        if game == warm {
            before = Some(settled(&engine, threads));
        }
        engine.send("ucinewgame");
        engine.search("startpos moves d2d4", "go nodes 20");
        engine.search("startpos moves d2d4 d7d5 c2c4", "go nodes 20");
        engine.seen.clear();
    }
    let memory = before.expect("more games than that");
    let memory_after = settled(&engine, threads);
    println!("{games} games, {} searches: from {memory} to {memory_after} KiB", 2 * games);
    assert!(memory_after < memory + (4 << 10), "memory grew from {memory} to {memory_after} KiB");
    engine.quit();
}
