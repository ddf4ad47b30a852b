//! What a stored score may depend on besides the position: the modes of semi-path-dependent hashing.
//!
//! A position's score depends on how it was reached: the fifty-move clock and the positions that may not come
//! again are part of the state of the game, but not of the key by which tables find a position. Palay (1983)
//! described the error, Campbell (1985) named it: *graph-history interaction*. A search that ignores it announces
//! mates that the counter has already spoiled, and walks from a won position back into the same won position. Keying
//! by the whole path cures it, but loses the transpositions, which are the purpose of a table.
//!
//! Semi-path-dependent hashing keeps both: an entry is *found* by the position, so that its move and evaluation
//! always serve, and its *score* is used only if the stored part of the path fits the present one as well. A
//! mode says which part must be the same ([`PathPart`]), and whether clock and taint are looked at besides
//! (see `tt/path_check.rs`):
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
//! mate through that is longer than the counter allows. Here the clock is stored exactly, and the check knows the
//! depth of the entry: a result whose depth (with a margin for extensions) ends before either clock can reach 100
//! knows nothing of the counter, and serves at any other clock of which the same is true. A mate serves only while
//! the counter leaves as many plies.
//!
//! **Taint.** A repetition inside the search counts as a draw. If both occurrences lie below a node, its score does
//! not depend on its own past; if the first lies above, it does, and it is *tainted*: true on this path only.
//! [`Path`](super::Path) tracks the earliest position that the results below a node rest on. Where a move refutes,
//! only what lies below that move counts; a score that is not a draw's was decided by another line and is not
//! tainted. (That a drawn line may still have kept another one from being better is left to chance: the strict
//! proof cost 9 % more nodes instead of 1 % and stopped no trap more.) A tainted entry keeps how far back it reaches
//! and a hash of the positions in between: it serves again wherever the same cycle is at hand. A clean score used
//! on a path that has seen one of its positions once is no error by the laws of chess; `draws` looks at those that
//! the game has seen twice. (Kishimoto and Müller, 2004, verify a stored proof on the new path; a score of depth *n*
//! has no proof to verify.)
//!
//! **A refused score** still gives its move and evaluation, and one thing more. If another path found a draw of its
//! own to the depth that is asked for, this one mostly finds another repetition: the node is searched, but a ply
//! less deep, never two nodes of a line in a row. And a tainted result does not replace one of its position that is
//! as deep and clean; what is exact is always stored. Learned entries come from games in which no position had
//! occurred twice, so in `draws` they are used while none has.
//!
//! `draws` is the default: it falls into no trap of `tests/path_traps.rs` and loses nothing to `off` in 12,000 games
//! (+0.3 ± 4.3 Elo). Traps, nodes, hit rates and games of every mode: `benches/notes/path_hash.md`.

/// Which part of the path must fit before a stored score is used; the option `PathHash`. See the table above.
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

/// What [`Path::key`](super::Path::key) consists of.
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

/// A mode: its name, the part of the path that must be the same, whether clock and taint are looked at.
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

    /// The part of the path that must be the same.
    pub fn part(self) -> PathPart {
        MODES[self as usize].2
    }

    /// Are clock and taint looked at besides?
    pub fn looks_at_clock(self) -> bool {
        MODES[self as usize].3
    }

    /// The mode of that name; capitals do not matter.
    pub fn from_name(name: &str) -> Option<PathHash> {
        PathHash::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mode)| *mode)
    }
}
