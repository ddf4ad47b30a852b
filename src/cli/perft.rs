//! `engram perft`: counting the leaves of the game tree.

use std::time::Instant;

use crate::{
    position::{Position, perft::perft},
    uci::{Interrupt, Output, translate},
};

/// The largest depth accepted, in plies; more than 15 take too long.
pub const MAX_DEPTH: u64 = 30;

/// Counts to this depth are fast and need not be interruptible.
const UNINTERRUPTED: u32 = 4;

/// Prints `N nodes M nps`, and before that, with `divide`, the count after each first move.
pub fn print(position: &Position, depth: u64, divide: bool, output: &Output, interrupt: &Interrupt) {
    let Some(depth) = u32::try_from(depth).ok().filter(|&depth| u64::from(depth) <= MAX_DEPTH) else {
        output.say(format_args!("perft takes a depth of 0 to {MAX_DEPTH}"));
        return;
    };
    let given_up = || interrupt.is_requested() || output.is_closed();
    let mode = translate::notation(position, false);
    let start = Instant::now();
    let mut total = u64::from(depth == 0);
    if let Some(rest) = depth.checked_sub(1) {
        for m in position.legal_moves() {
            let Some(nodes) = count(&position.play(m), rest, &given_up) else {
                output.say("perft was interrupted");
                return;
            };
            if divide {
                output.line(format_args!("{}: {nodes}", m.to_uci(mode)));
            }
            total += nodes;
        }
    }
    output.line(super::bench::speed(total, start.elapsed()));
}

/// As [`perft`]; `None` if it was interrupted.
fn count(position: &Position, depth: u32, given_up: &dyn Fn() -> bool) -> Option<u64> {
    if given_up() {
        return None;
    }
    if depth <= UNINTERRUPTED {
        return Some(perft(position, depth));
    }
    position.legal_moves().into_iter().map(|m| count(&position.play(m), depth - 1, given_up)).sum()
}
