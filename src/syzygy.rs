//! Syzygy endgame tablebases: what is known for certain once few pieces are left.
//!
//! The tables (R. de Man, 2013) answer two questions. WDL: won, drawn or lost, if the fifty-move counter
//! stands at zero, and whether the fifty-move rule spoils it (a *cursed* win, a *blessed* loss). DTZ: how
//! many plies to the next capture or pawn move on the way there. The search asks for WDL right after such a
//! move, where the counter is zero by definition; the root asks for DTZ and sorts its moves by what they
//! keep when the counter that really stands on the board is added.
//!
//! Tables are mapped when they are first needed. A table that is missing or damaged costs its own positions
//! and nothing else: the search goes on as without it, and one message names the file.

use std::{
    fmt::Write,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path as FilePath, PathBuf},
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use shakmaty::{Chess, Move, Position as _};
pub use shakmaty_syzygy::Wdl;
use shakmaty_syzygy::{Dtz, MaybeRounded, SyzygyError, Tablebase as Tables};

use crate::{
    position::{Path, Position},
    types::{MAX_PLY, MaterialKey, Ply, Score},
};

/// The largest number of pieces, kings and pawns included, of any Syzygy table.
pub const MAX_PIECES: usize = 7;

/// The score of a win that the fifty-move rule spoils: a draw that the other side must still find.
pub const CURSED: Score = Score(2);

/// A collection of tables.
pub struct Tablebase {
    tables: Tables<Chess>,
    files: usize,
    /// Is any table known to be damaged? Spares the lock below where none is.
    damaged: AtomicBool,
    /// Material whose table is damaged: it is not opened again.
    banned: RwLock<Vec<MaterialKey>>,
    /// What has to be said about damaged tables, once each.
    messages: Mutex<Vec<String>>,
}

/// What the tables say about one root move. Higher ranks are better; equal ranks keep the same result, and
/// the search may choose among them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RankedMove {
    /// The move.
    pub root_move: Move,
    /// Where it stands among the others.
    pub rank: i32,
    /// What it is worth; a win or loss by the distance, where that is known.
    pub score: Score,
    /// Plies to the next capture, pawn move or mate, negative if that is the opponent's success; 0 for a
    /// draw. One ply longer where the table rounds.
    pub distance: i32,
}

/// What the tables say about the root.
#[derive(Clone, Debug)]
pub struct RootRanking {
    /// One for each legal move.
    pub ranked_moves: Vec<RankedMove>,
    /// Are they ranked by DTZ, so that following them makes progress?
    pub by_distance: bool,
}

impl RankedMove {
    /// The result for the side to move with the fifty-move counter as it stands. A win that the rounding of the tables
    /// may have spoiled counts as cursed.
    pub fn result(&self) -> Wdl {
        match self.score.0 {
            _ if self.score.is_win() => Wdl::Win,
            _ if self.score.is_loss() => Wdl::Loss,
            1.. => Wdl::CursedWin,
            0 => Wdl::Draw,
            _ => Wdl::BlessedLoss,
        }
    }

    /// As WDL tables know it, which tell no distance.
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

/// Ranks: a win within the fifty-move counter; one that may miss it by the rounding of the tables; one that misses it
/// (less the plies to it). A draw is 0, losses are negative.
const WIN: i32 = 8_000;
const NEAR_WIN: i32 = 6_000;
const CURSED_WIN: i32 = 4_000;

impl Tablebase {
    /// The tables in the folders of `list`, which are separated as in the variable `PATH` (`:`, on Windows
    /// `;`). Each sentence that comes back names something that could not be used, and why.
    pub fn open(list: &str) -> (Tablebase, Vec<String>) {
        let mut tablebase = Tablebase::empty();
        let mut messages = Vec::new();
        for folder in std::env::split_paths(list).filter(|folder| !folder.as_os_str().is_empty()) {
            tablebase.add_folder(&folder, &mut messages);
        }
        (tablebase, messages)
    }

    fn empty() -> Tablebase {
        // SAFETY: the files are mapped read-only. That nobody changes or shortens a table while the engine
        // uses it is what the manual asks of the user, as every engine does.
        #[allow(unsafe_code)]
        #[cfg(target_pointer_width = "64")]
        let tables = unsafe { Tables::with_mmap_filesystem() };
        #[cfg(not(target_pointer_width = "64"))]
        let tables = Tables::new();
        Tablebase {
            tables,
            files: 0,
            damaged: AtomicBool::new(false),
            banned: RwLock::default(),
            messages: Mutex::default(),
        }
    }

    fn add_folder(&mut self, folder: &FilePath, messages: &mut Vec<String>) {
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
            match self.tables.add_file(&file) {
                Ok(()) => self.files += 1,
                Err(error) => refused.push((file, error)),
            }
        }
        if let Some((file, error)) = refused.first() {
            let mut text = format!("tablebase {} is not used ({error})", file.display());
            if refused.len() > 1 {
                let _ = write!(text, ", nor are {} others in that folder", refused.len() - 1);
            }
            messages.push(text + "; fetch it again");
        }
    }

    /// Table files found.
    pub fn files(&self) -> usize {
        self.files
    }

    /// The most pieces of any table found; 0 without tables.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// What was found to be damaged since this was asked last.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The result of a position whose counter stands at zero, for the side to move; nothing where no table
    /// covers it.
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        self.guarded(position, |chess| self.tables.probe_wdl_after_zeroing(chess))
    }

    fn distance(&self, position: &Position) -> Option<Dtz> {
        self.guarded(position, |chess| self.tables.probe_dtz(chess).map(MaybeRounded::ignore_rounding))
    }

    /// Asks a table and remembers if it is damaged. A damaged table may lead the reader anywhere, a panic
    /// included; none is seen outside.
    fn guarded<T>(
        &self,
        position: &Position,
        ask: impl FnOnce(&Chess) -> Result<T, SyzygyError>,
    ) -> Option<T> {
        let material = position.keys().material;
        if self.damaged.load(Relaxed)
            && self.banned.read().unwrap_or_else(PoisonError::into_inner).contains(&material)
        {
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
                // What follows a colon is for the library's authors.
                let reason = error.to_string();
                let reason = reason.split([':', '\n']).next().unwrap_or_default();
                format!("the {metric} table of {material} is damaged ({reason})")
            }
            Err(_) => "a tablebase is damaged".to_owned(),
        };
        self.banned.write().unwrap_or_else(PoisonError::into_inner).push(material);
        // Relaxed: whoever misses it for a moment asks the damaged table once more.
        self.damaged.store(true, Relaxed);
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message + "; it is not used, fetch it again");
        None
    }

    /// Ranks the legal moves of the root, or nothing if a table that is needed is missing.
    ///
    /// `path` is the game up to the root: a move that completes a threefold repetition draws, and once a
    /// position has been repeated, moves are ranked by distance, so that the engine makes progress instead
    /// of repeating it again. With `fifty` unset the fifty-move rule is taken not to exist.
    pub fn rank(&self, root: &Position, path: &Path, fifty: bool) -> Option<RootRanking> {
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
            let progress = path.has_repeated();
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

    /// The distance that `ask` gives to each move, counted from the root.
    fn rank_by(
        &self,
        root: &Position,
        path: &Path,
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

fn is_table(path: &FilePath) -> bool {
    path.extension().is_some_and(|extension| extension == "rtbw" || extension == "rtbz")
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
