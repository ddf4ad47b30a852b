//! Syzygy endgame tablebases (R. de Man, 2013).
//!
//! There are two kinds of tables. WDL: won, drawn or lost if the fifty-move counter is zero, and whether the
//! fifty-move rule makes it a draw (a *cursed* win, a *blessed* loss). DTZ: plies to the next capture or pawn move on
//! the way there. The search probes WDL right after such a move, where the counter is zero; the root probes DTZ and
//! ranks its moves with the actual counter.
//!
//! Tables are mapped when they are first needed. If one is missing or damaged, the search goes on without it, and one
//! message names the file.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use shakmaty::{Chess, Move, Position as _};
pub use shakmaty_syzygy::Wdl;
use shakmaty_syzygy::{Dtz, MaybeRounded, SyzygyError, Tablebase as Tables};

use crate::{
    files,
    locks::{locked, read, write},
    position::{Position, PositionPath},
    types::{MAX_PLY, MaterialKey, Ply, Score},
};

/// The largest number of pieces, kings and pawns included, of any Syzygy table.
pub const MAX_PIECES: usize = 7;

/// The score of a win that the fifty-move rule makes a draw, which the other side still has to hold.
pub const CURSED: Score = Score(2);

/// A collection of tables.
pub struct Tablebase {
    tables: Tables<Chess>,
    /// The names of the files in use.
    names: HashSet<OsString>,
    /// Is any table known to be damaged? If not, the lock below is not needed.
    damaged: AtomicBool,
    /// Material whose table is damaged and not probed again.
    banned: RwLock<Vec<MaterialKey>>,
    /// A message about each damaged table, and how many of them were taken.
    messages: Mutex<(Vec<String>, usize)>,
}

/// A root move ranked by the tables. Higher ranks are better; moves of equal rank keep the same result, and the search
/// chooses among them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RankedMove {
    /// The move.
    pub root_move: Move,
    /// Its rank.
    pub rank: i32,
    /// Its score; that of a win or loss depends on the distance, if it is known.
    pub score: Score,
    /// Plies to the next capture, pawn move or mate; negative if the opponent wins, 0 for a draw. The true distance
    /// may be one ply longer where the table rounds.
    pub distance: i32,
}

/// The root moves ranked by the tables.
#[derive(Clone, Debug)]
pub struct RootRanking {
    /// One for each legal move.
    pub ranked_moves: Vec<RankedMove>,
    /// Are they ranked by DTZ, so that the best moves make progress?
    pub by_distance: bool,
}

impl RankedMove {
    /// The result for the side to move with the current fifty-move counter. A win that may come too late for the
    /// fifty-move rule, because the tables round distances, counts as cursed.
    pub fn result(&self) -> Wdl {
        match self.score.0 {
            _ if self.score.is_win() => Wdl::Win,
            _ if self.score.is_loss() => Wdl::Loss,
            1.. => Wdl::CursedWin,
            0 => Wdl::Draw,
            _ => Wdl::BlessedLoss,
        }
    }

    /// The same without the distance, as from WDL tables.
    fn without_distance(self) -> RankedMove {
        let won = Score::tablebase_win(Ply::ROOT);
        let score = if self.score.is_loss() { -won } else { self.score };
        RankedMove { score: if self.score.is_win() { won } else { score }, ..self }
    }
}

impl RootRanking {
    /// The move of the best rank that wins soonest or loses latest.
    pub fn best(&self) -> Option<&RankedMove> {
        self.ranked_moves.iter().max_by_key(|ranked| (ranked.rank, -ranked.distance))
    }
}

/// Ranks: a win in time for the fifty-move rule; one that may come too late because the tables round; one that comes
/// too late (minus the plies to it). A draw is 0, losses are negative.
const WIN: i32 = 8_000;
const NEAR_WIN: i32 = 6_000;
const CURSED_WIN: i32 = 4_000;

impl Tablebase {
    /// Opens the tables in the folders of `list`, which are separated as in the variable `PATH` (`:`, on Windows
    /// `;`). Also returns a message for each folder or table that cannot be used.
    pub fn open(list: &str) -> (Tablebase, Vec<String>) {
        let mut tablebase = Tablebase::empty();
        let mut messages = Vec::new();
        for folder in std::env::split_paths(list).filter(|folder| !folder.as_os_str().is_empty()) {
            tablebase.add_folder(&folder, &mut messages);
        }
        (tablebase, messages)
    }

    fn empty() -> Tablebase {
        // SAFETY: the files are mapped read-only. As with every engine, the manual asks the user not to change a table
        // while the engine uses it.
        #[allow(unsafe_code)]
        #[cfg(target_pointer_width = "64")]
        let tables = unsafe { Tables::with_mmap_filesystem() };
        #[cfg(not(target_pointer_width = "64"))]
        let tables = Tables::new();
        Tablebase {
            tables,
            names: HashSet::new(),
            damaged: AtomicBool::new(false),
            banned: RwLock::default(),
            messages: Mutex::default(),
        }
    }

    fn add_folder(&mut self, folder: &Path, messages: &mut Vec<String>) {
        let found = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                messages.push(format!(
                    "the tablebase folder {} cannot be read ({error}); name folders that hold .rtbw and .rtbz files",
                    folder.display()
                ));
                return;
            }
        };
        let mut files: Vec<PathBuf> =
            found.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| is_table(path)).collect();
        files.sort_unstable();
        let mut refused = Vec::new();
        for file in files {
            let name = file.file_name().unwrap_or_default();
            if self.names.contains(name) {
                // The first folder that has it counts, as in PATH.
                continue;
            }
            match self.tables.add_file(&file) {
                Ok(()) => _ = self.names.insert(name.to_owned()),
                Err(error) => refused.push((file, error)),
            }
        }
        if let Some((file, error)) = refused.first() {
            let file = file.display();
            messages.push(match refused.len() - 1 {
                0 => format!("tablebase {file} is not used ({error}); fetch it again"),
                more => {
                    format!("tablebase {file} and {more} more there are not used ({error}); fetch them again")
                }
            });
        }
    }

    /// Number of table files found.
    pub fn files(&self) -> usize {
        self.names.len()
    }

    /// The most pieces of any table found; 0 without tables.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// The messages about damaged tables since the last call.
    pub fn take_messages(&self) -> Vec<String> {
        let (messages, taken) = &mut *locked(&self.messages);
        messages[std::mem::replace(taken, messages.len())..].to_vec()
    }

    /// The result of a position whose counter is zero, for the side to move; `None` if no table has it.
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        self.guarded(position, |chess| self.tables.probe_wdl_after_zeroing(chess))
    }

    fn distance(&self, position: &Position) -> Option<Dtz> {
        self.guarded(position, |chess| self.tables.probe_dtz(chess).map(MaybeRounded::ignore_rounding))
    }

    /// Probes a table, and remembers if it is damaged. Reading a damaged table may panic, which is caught.
    fn guarded<T>(
        &self,
        position: &Position,
        ask: impl FnOnce(&Chess) -> Result<T, SyzygyError>,
    ) -> Option<T> {
        let material = position.keys().material;
        if self.damaged.load(Relaxed) && read(&self.banned).contains(&material) {
            return None;
        }
        let message = match catch_unwind(AssertUnwindSafe(|| ask(position.chess()))) {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(
                SyzygyError::Castling | SyzygyError::TooManyPieces | SyzygyError::MissingTable { .. },
            )) => {
                return None;
            }
            Ok(Err(SyzygyError::ProbeFailed { metric, material, error })) => {
                // The text after a colon is technical detail of the library.
                let reason = error.to_string();
                let reason = reason.split([':', '\n']).next().unwrap_or_default();
                format!("the {metric} table of {material} is damaged ({reason})")
            }
            Err(_) => "a tablebase is damaged".to_owned(),
        };
        write(&self.banned).push(material);
        // Relaxed: a thread that sees it late probes the damaged table once more.
        self.damaged.store(true, Relaxed);
        let message = message + "; it is not used, fetch it again";
        // Positions of other material need the same table.
        let (messages, _) = &mut *locked(&self.messages);
        if !messages.contains(&message) {
            messages.push(message);
        }
        None
    }

    /// Ranks the legal moves of the root; `None` if a table that is needed is missing.
    ///
    /// `path` is the game up to the root: a move that completes a threefold repetition is a draw. With `progress` winning moves
    /// are ranked by distance, so that a game goes on instead of repeating positions. Without `fifty` the fifty-move rule
    /// does not count.
    pub fn rank(
        &self,
        root: &Position,
        path: &PositionPath,
        fifty: bool,
        progress: bool,
    ) -> Option<RootRanking> {
        if root.chess().castles().any() || root.board().occupied().count() > self.max_pieces() {
            return None;
        }
        let by_distance = self.rank_by(root, path, |child, m| {
            if m.is_zeroing() {
                return Some(Dtz::before_zeroing(-self.probe(child)?));
            }
            Some((-self.distance(child)?).add_plies_saturating(1))
        });
        if let Some(moves) = by_distance {
            let counter = root.halfmoves() as i32;
            let ranked_moves =
                moves.iter().map(|&(m, distance)| rank_move(m, distance, counter, fifty, progress)).collect();
            return Some(RootRanking { ranked_moves, by_distance: true });
        }
        let moves = self.rank_by(root, path, |child, _| Some(Dtz::before_zeroing(-self.probe(child)?)))?;
        let rank = |&(m, distance): &(Move, i32)| rank_move(m, distance, 0, fifty, false).without_distance();
        let ranked_moves = moves.iter().map(rank).collect();
        Some(RootRanking { ranked_moves, by_distance: false })
    }

    /// The distance of each move by `ask`, counted from the root.
    fn rank_by(
        &self,
        root: &Position,
        path: &PositionPath,
        ask: impl Fn(&Position, Move) -> Option<Dtz>,
    ) -> Option<Vec<(Move, i32)>> {
        let mut path = path.clone();
        let mut ranked = Vec::new();
        for m in root.legal_moves() {
            let child = root.play(m);
            path.push(&child);
            let repeated = path.occurrences() >= 3;
            path.pop();
            let distance = if child.chess().is_checkmate() {
                1
            } else if repeated || child.chess().is_stalemate() {
                0
            } else {
                ask(&child, m)?.0
            };
            ranked.push((m, distance));
        }
        Some(ranked)
    }
}

/// Does the name say so?
fn is_table(path: &Path) -> bool {
    !files::is_hidden(path)
        && path.extension().is_some_and(|extension| extension == "rtbw" || extension == "rtbz")
}

/// Ranks a move by its distance from the root to the next capture, pawn move or mate, with `counter` plies
/// counted already. A win must arrive while the counter stands at 100 or less.
fn rank_move(m: Move, distance: i32, counter: i32, fifty: bool, progress: bool) -> RankedMove {
    let plies = distance.abs();
    let (size, score) = if distance == 0 {
        (0, Score::ZERO)
    } else {
        let arrival = if fifty { plies + counter } else { 0 };
        // A distance may be rounded, one ply longer than it says, and the reader does not always know it.
        // Only a distance of 1 is exact; a whole phase, from counter 0, is never spoiled by rounding.
        let certain = arrival < 100 || arrival == 100 && (counter == 0 || plies == 1);
        let proven = Score::tablebase_win(Ply(plies.unsigned_abs().min(MAX_PLY as u32) as u16));
        match (certain, arrival) {
            (true, _) if distance > 0 && progress => (WIN - plies, proven),
            (true, _) => (WIN, proven),
            (false, 100) => (NEAR_WIN - plies, CURSED),
            (false, _) => ((CURSED_WIN - arrival).max(1), CURSED),
        }
    };
    let sign = distance.signum();
    RankedMove { root_move: m, rank: sign * size, score: Score(sign * score.0), distance }
}
