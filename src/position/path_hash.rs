//! What a stored score may depend on besides the position: the modes of semi-path-dependent hashing.
//!
//! A position's score depends on how it was reached: the fifty-move clock and the positions that must not be repeated
//! are part of the state of the game, but not of the key by which tables find a position. Palay (1983) described the
//! error, Campbell (1985) named it: *graph-history interaction*. A search that ignores it announces mates that the
//! counter makes impossible, and moves from a won position back into the same won position. A key of the whole path
//! cures that, but loses the transpositions, which are the purpose of a table.
//!
//! Semi-path-dependent hashing combines both: an entry is *found* by the position, so that its move and evaluation can
//! always be used, and its *score* is used only if the stored part of the path also matches the current one. A mode
//! determines which part must match ([`PathPart`]), and whether clock and taint are also checked (see
//! `tt/path_check.rs`):
//!
//! | mode | part that must be the same | clock, taint | lets through | costs |
//! |---|---|---|---|---|
//! | `off` | none | no | everything above | nothing |
//! | `fifty80` | has the clock reached 80? (as first published) | no | a draw by the counter found at clock 78 and used at 0; a mate in 33 found at 0 and used at 70; repetitions | a second set of entries from 80 on |
//! | `fifty80each` | the clock, from 80 on | no | the same below 80 | transpositions from 80 on |
//! | `fifty` | none | yes | wins that the game's repetitions have spoiled | a taint bit |
//! | `draws` | the positions that the game has seen twice | yes | nothing that the laws forbid, but for hash collisions | scores, whenever a position of the game comes again |
//! | `last4` | the last four moves | no | the counter; longer repetitions | most transpositions |
//! | `full` | all positions since the last irreversible move, the clock | no | nothing | nearly all transpositions |
//!
//! **Clock.** Engines usually mix a coarse counter into the key, which splits the table in steps and still lets a
//! mate through that is longer than the counter allows. Here the clock is stored exactly, and the check uses the
//! depth of the entry: a result whose depth (with a margin for extensions) ends before the clock can reach 100, at
//! both clocks, does not depend on the counter, and is valid. A mate is valid only while the counter leaves as many
//! plies.
//!
//! **Taint.** A repetition inside the search counts as a draw. If both occurrences are below a node, its score does
//! not depend on the path to it; if the first is above, it does, and is *tainted*: valid on this path only.
//! [`PositionPath`](super::PositionPath) tracks the earliest position on which the results below a node depend. At a cutoff only the
//! refuting move counts; a score other than a draw score was decided by another line and is not tainted. (That a
//! drawn line may still have kept another one from being better is ignored: the strict proof cost 9 % more nodes
//! instead of 1 % in 40 games and avoided no further trap.) A tainted entry stores how far back it reaches and a hash of the
//! positions in between, so that it is valid wherever the same cycle occurs. An untainted score on a path where one
//! of its positions has occurred once is no error by the laws of chess; `draws` checks those that occurred twice in
//! the game. (Kishimoto and Müller, 2004, verify a stored proof on the new path; a score of depth *n* has no proof to
//! verify.)
//!
//! **A refused score** still gives its move and evaluation, and one thing more. If another path found a draw of its
//! own to the required depth, this one mostly finds another repetition: so the node is searched a ply less deep, but
//! never two nodes of a line in a row. And a tainted result does not replace an untainted one of the same position
//! that is as deep; exact results are always stored. Learned entries come from games in which no position had
//! occurred twice, so in `draws` they are used only while none has.
//!
//! `draws` is the default: it falls into no trap of `tests/engine/path_traps.rs` and loses nothing to `off` in 12,000 games
//! (+0.3 ± 4.3 Elo). Traps, nodes, hit rates and games of every mode: `benches/notes/path_hash.md`.

/// Which part of the path must match before a stored score is used; the option `PathHash`. See the table above.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathHash {
    /// Plain hashing by position.
    Off,
    /// The published idea, one set of entries from clock 80 on.
    Fifty80,
    /// The published idea, one set for each clock from 80 on.
    Fifty80Each,
    /// Clock and taint.
    Fifty,
    /// Clock, taint, and the positions that have occurred twice.
    #[default]
    Draws,
    /// The last four moves.
    Last4,
    /// All positions since the last irreversible move, and the clock.
    Full,
}

/// What [`PositionPath::key`](super::PositionPath::key) consists of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// Nothing.
    None,
    /// Whether the clock has reached 80.
    Is80,
    /// The clock, if it has reached 80.
    From80,
    /// The positions since the last irreversible move that the game has seen twice.
    SeenTwice,
    /// The last four moves, in their order.
    LastMoves,
    /// All positions since the last irreversible move, and the clock.
    All,
}

/// A mode: its name, the part of the path that must match, whether clock and taint are checked.
type PathHashRow = (PathHash, &'static str, PathPart, bool);

const MODES: [PathHashRow; 7] = [
    (PathHash::Off, "off", PathPart::None, false),
    (PathHash::Fifty80, "fifty80", PathPart::Is80, false),
    (PathHash::Fifty80Each, "fifty80each", PathPart::From80, false),
    (PathHash::Fifty, "fifty", PathPart::None, true),
    (PathHash::Draws, "draws", PathPart::SeenTwice, true),
    (PathHash::Last4, "last4", PathPart::LastMoves, false),
    (PathHash::Full, "full", PathPart::All, false),
];

impl PathHash {
    /// Every mode with the name that the option uses.
    pub const NAMED: [(&'static str, PathHash); MODES.len()] = {
        let mut named = [("", PathHash::Off); MODES.len()];
        let mut index = 0;
        while index < MODES.len() {
            named[index] = (MODES[index].1, MODES[index].0);
            // Rows are found by the number of the mode.
            assert!(MODES[index].0 as usize == index);
            index += 1;
        }
        named
    };

    /// The name that the option uses.
    pub fn name(self) -> &'static str {
        MODES[self as usize].1
    }

    /// The part of the path that must match.
    pub fn part(self) -> PathPart {
        MODES[self as usize].2
    }

    /// Are clock and taint also checked?
    pub fn looks_at_clock(self) -> bool {
        MODES[self as usize].3
    }

    /// The mode of that name, ignoring case.
    pub fn from_name(name: &str) -> Option<PathHash> {
        PathHash::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mode)| *mode)
    }
}
