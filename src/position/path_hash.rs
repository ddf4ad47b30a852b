//! What a stored score may depend on besides the position: the modes of semi-path-dependent hashing.
//!
//! A position's score depends on how it was reached: the fifty-move counter and the positions that may not
//! come again are part of the state of the game, but not of the key by which tables find a position. Palay
//! (1983) described the error, Campbell (1985) named it: *graph-history interaction*. A search that ignores
//! it announces mates that the counter has already spoiled, walks from a won position back into the same won
//! position because an entry hides the repetition, and sees draws that only another path had. Keying by the
//! whole path cures it and loses the transpositions, for which one has a table.
//!
//! Semi-path-dependent hashing keeps both: an entry is *found* by the position, so that its move and
//! evaluation always serve, and its *score* is believed only if the stored part of the path fits the present
//! one as well. The modes differ in what they take as the path:
//!
//! | mode | the score is believed | lets through | costs |
//! |---|---|---|---|
//! | `off` | always | everything above | nothing |
//! | `fifty80` | on the same side of clock 80 (as first published) | a draw by the counter found at clock 78 and used at 0; a mate in 33 found at 0 and used at 70; repetitions | a second set of entries from 80 on, all of the table at once |
//! | `fifty80each` | the same, each clock from 80 on for itself | the same, except between clocks of 80 and more | transpositions from 80 on |
//! | `clock` | at the same clock, or where depth and both clocks stay clear of 100 and every mate comes before it | repetitions | transpositions of unlike clocks near 100 |
//! | `fifty` | as `clock`; what rests on a repetition only on the same path | wins that the game's repetitions have spoiled | a taint bit, see below |
//! | `draws` | as `fifty`, and only under the same set of positions that the game has seen twice | nothing that the laws forbid, but for hash collisions | the scores of a stretch of moves whenever a position of the game comes again |
//! | `last4` | after the same four moves | the counter; repetitions longer than that | most transpositions |
//! | `full` | after the same positions since the last irreversible move, at the same clock | nothing | nearly all transpositions |
//!
//! **Clock.** Engines usually mix a coarse counter into the key (Stockfish: steps of eight plies from
//! some clock on), which splits the table in steps and still lets a mate through that is longer than
//! the counter allows. Here the clock is stored exactly, and the check knows the depth of the entry: a result
//! whose depth (with a margin for extensions) ends before either clock can reach 100 knows nothing of the
//! counter, and serves at any other clock of which the same is true. A mate in so many plies serves only
//! while the counter leaves as many. Nothing is purged as the counter grows: entries only stop
//! deciding, their moves still order the search.
//!
//! **Taint.** A repetition inside the search counts as a draw. If both occurrences lie below a node, its
//! score does not depend on its own past; if the first lies above, it does, and it is *tainted*: true on this
//! path only. [`Path`](super::Path) tracks the earliest position that the results below a node rest on, so
//! the cycle that closes inside costs nothing. Where a move refutes, only what lies below that move
//! counts; and a score that is not a draw's was decided by another line, so that it is not tainted. (That a
//! drawn line may still have kept another one from being better is left to chance: asking for the strict
//! proof cost 9 % more nodes over replayed endgames instead of 1 % and stopped no trap more.) A tainted entry
//! keeps how far back it reaches and a hash of the positions in
//! between, in any order: it serves again wherever the same cycle is at hand. The converse,
//! a clean score used on a path that has already seen one of the positions it goes through, is no error by
//! the laws of chess while that position has occurred once; `draws` looks at those that the game has
//! seen twice. (Kishimoto and Müller, 2004, solve the same problem in general by verifying a stored proof on the
//! new path; a score of depth *n* has no proof to verify.)
//!
//! # Measured
//!
//! Traps: of the 89 of `tests/data/path_traps.txt` that the search alone sees through, those that the mode falls
//! into. Nodes: the bench set to depth 12 against `off`, in all and as a geometric mean (signature 1295380); 100
//! endgame starts to depth 13 (signature 1525233). None of these has a history. A tree that differs anywhere
//! differs by some percent, so that the first version of this table had -2.8 % where now +4.5 % stands; the 95 %
//! error of a geometric mean over 100 endgames is about 11 %. Cutoffs: probes of the bench set that found the
//! position, those of them whose score was believed, and those that ended the node.
//!
//! | mode | traps | bench nodes | geometric | endgame nodes | hits | believed | cutoffs |
//! |---|---|---|---|---|---|---|---|
//! | `off` | 44 | | | | 41.5 % | 100 % | 28.5 % |
//! | `fifty80` | 25 | 0.0 % | 0.0 % | 0.0 % | 41.5 % | 100 % | 28.5 % |
//! | `fifty80each` | 19 | 0.0 % | 0.0 % | 0.0 % | 41.5 % | 100 % | 28.5 % |
//! | `clock` | 17 | +4.5 % | +1.1 % | +1.9 % | 41.2 % | 100 % | 28.4 % |
//! | `fifty` | 2 | +2.7 % | -1.2 % | +5.6 % | 41.2 % | 99.6 % | 28.2 % |
//! | `draws` | 0 | +2.7 % | -1.2 % | +5.6 % | 41.2 % | 99.6 % | 28.2 % |
//! | `last4` | 13 | +35.0 % | +32.0 % | +14.0 % | 46.3 % | 66.4 % | 15.9 % |
//! | `full` | 1 | +8.9 % | +10.7 % | +5.5 % | 43.0 % | 82.7 % | 20.9 % |
//!
//! With the history and the table of 40 games from endgame starts (1,700 searches to depth 9): `fifty` -0.7 %,
//! `draws` +2.4 %; `full` +37 % to depth 10. Strength of `draws` against `off` at 5,000 nodes a move, two versions
//! of it together: 1,500 games from endgames 48.8 %, 800 from unbalanced openings 48.7 %, in all -9 ± 12 Elo; a later
//! version: 1,400 and 1,000 games, 49.3 % and 50.3 %, -2 ± 9 Elo. (The taint alone costs some 3 % of the nodes of the
//! bench set, over depths 11 to 15.)

/// Which part of the path must fit before a stored score is believed; the option `PathHash`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathHash {
    /// None: plain hashing by position.
    Off,
    /// Whether the clock has reached 80.
    Fifty80,
    /// Whether the clock has reached 80, and from there on its value.
    Fifty80Each,
    /// The clock, as far as the result can depend on it.
    Clock,
    /// The clock; and for results that rest on a repetition the positions that would repeat.
    Fifty,
    /// The same, and the positions that have occurred twice for all results.
    #[default]
    Draws,
    /// The last four moves.
    Last4,
    /// All positions since the last irreversible move, and the clock.
    Full,
}

impl PathHash {
    /// Every mode with the name that the option uses.
    pub const NAMED: [(&'static str, PathHash); 8] = [
        ("off", PathHash::Off),
        ("fifty80", PathHash::Fifty80),
        ("fifty80each", PathHash::Fifty80Each),
        ("clock", PathHash::Clock),
        ("fifty", PathHash::Fifty),
        ("draws", PathHash::Draws),
        ("last4", PathHash::Last4),
        ("full", PathHash::Full),
    ];

    /// The name that the option uses.
    pub fn name(self) -> &'static str {
        PathHash::NAMED.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }

    /// The mode of that name; capitals do not matter.
    pub fn from_name(name: &str) -> Option<PathHash> {
        PathHash::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mode)| *mode)
    }
}
