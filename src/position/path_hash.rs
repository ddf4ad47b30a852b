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
//! **What a refused hit still gives.** Its move and its static evaluation, always: so the node is ordered, is not
//! reduced for want of a move, and correction applies. Its score gives nothing: no cutoff, no estimate, no bar for a
//! singular extension (that would be a guess about this path made of another). One thing follows from the refusal
//! itself. If another path found a draw of its own to the depth that is asked for, this one mostly finds
//! another repetition: the node is searched, by itself and to be stored as true of this path, but a ply less deep,
//! never two nodes of a line in a row: else a short win drowns in refusals.
//! And a tainted result does not replace one of its position that is as deep and rests on no repetition, which
//! is true on many paths; what is exact is always stored. With both the taint costs 2.3 % of the nodes of the bench set,
//! without them 3.1 %. Learned entries come from games in which no position had occurred twice (others are not learned),
//! so in `draws` they are believed while none has; entries of a hash file carry their check like those of the table.
//!
//! # Measured
//!
//! Traps (`ENGRAM_FULL=1 cargo test --test path_traps`): of the 85 of `tests/data/path_traps.txt` that the search alone
//! sees through, those that the mode falls into. Nodes (`benches/path_hash.py`): the bench set to depths 11 to 15
//! together, against `off`, in all and as a geometric mean (95 % error: `clock` 2.3 %, `draws` 4.5 %, others 8 %); 100
//! endgame starts to depth 13 (geometric mean: 7 % error). None of these has a history, so that `draws` is `fifty`. A
//! tree that differs anywhere differs by some percent. Hits: of the probes of the search (quiescence
//! apart) over the bench set to depth 12, those that found the position; believed: of these, those whose score held on
//! the path; cutoffs: of the probes, those that ended the node. The
//! rows `fifty` and `draws` are of signature 1298379, the others and all rates of 1305292.
//!
//! | mode | traps | bench nodes | geometric | endgame nodes | geometric | hits | believed | cutoffs | Elo |
//! |---|---|---|---|---|---|---|---|---|---|
//! | `off` | 32 | | | | | 53.2 % | 100 % | 11.8 % | |
//! | `fifty80` | 19 | 0.0 % | 0.0 % | 0.0 % | 0.0 % | 53.2 % | 100 % | 11.8 % | -3 ± 3 |
//! | `fifty80each` | 13 | 0.0 % | 0.0 % | 0.0 % | 0.0 % | 53.2 % | 100 % | 11.8 % | -1 ± 2 |
//! | `clock` | 15 | -1.1 % | +0.3 % | -2.5 % | -2.0 % | 53.4 % | 100 % | 11.7 % | -12 ± 22 |
//! | `fifty` | 1 | +2.3 % | +4.9 % | +0.6 % | -0.2 % | 53.2 % | 99.7 % | 11.6 % | -4 ± 23 |
//! | `draws` | 0 | +2.3 % | +4.9 % | +0.6 % | -0.2 % | 53.2 % | 99.7 % | 11.6 % | +7 ± 21 |
//! | `last4` | 12 | +14.6 % | +22.8 % | +18.7 % | +18.4 % | 57.3 % | 69.5 % | 7.2 % | -55 ± 24 |
//! | `full` | 0 | +7.3 % | +14.0 % | +5.6 % | +6.4 % | 54.0 % | 80.4 % | 8.7 % | -17 ± 23 |
//!
//! With the history and the table of 40 games from endgame starts (1,700 searches to depth 9, before a refusal cost a
//! ply): `fifty` -0.7 %, `draws` +2.4 %; `full` +37 % to depth 10.
//!
//! Elo: against `off`, 400 games each at 20,000 nodes a move, half of them from endgames and half from unbalanced
//! openings (95 % errors by pairs of games; where a mode differs only from clock 80 on, nearly all pairs are equal).
//! The default once more, 12,000 games at 5,000 nodes: 6,500 from endgames, -0.6 ± 5.1, and 5,500 from unbalanced openings,
//! +1.3 ± 7.2: in all **+0.3 ± 4.3**. So `draws` is the default: no trap, and nothing lost for it.

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
