//! The window of unfinished items: sent to the workers, and written in the order of the input.

use std::{
    collections::VecDeque,
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use indicatif::ProgressBar;

use super::{
    backend::SearchBackend,
    input::{AnalysisInput, Item},
    journal::FindingJournal,
    outputs::{Outputs, Totals},
    pool::{Arrival, Finding, FoundAt, MoveList, SearchKind},
    puzzles,
};
use crate::cli::{CliError, complain};

/// Positions of a game that one worker searches in a row: long enough for the hash table to help, short
/// enough that a single game keeps all workers busy.
const BATCH_POSITIONS: usize = 12;

/// An item whose positions are being searched.
struct Pending {
    item: Item,
    work: Arc<MoveList>,
    findings: Vec<Option<Finding>>,
    missing: usize,
    /// Bytes of the input that each of its positions stands for.
    bytes: u64,
    /// Why it could not be searched.
    failed: Option<String>,
    /// What the deeper searches found, by ply.
    checks: Vec<(usize, Finding)>,
    /// Were those searches sent, or are no puzzles wanted?
    is_checked: bool,
}

/// The items from the first one that is not written yet.
struct ItemWindow<'a> {
    backend: &'a mut SearchBackend,
    journal: &'a mut Option<FindingJournal>,
    outputs: &'a mut Outputs,
    progress: &'a ProgressBar,
    /// Number of positions searched.
    searched: usize,
    pending: VecDeque<Pending>,
    /// Number of the first.
    first: usize,
    totals: Totals,
}

impl Pending {
    /// Once all findings are there, sends the candidates for puzzles to a deeper search, except those that an earlier
    /// run has searched.
    fn check(&mut self, backend: &mut SearchBackend, journal: &mut Option<FindingJournal>) {
        if self.missing > 0 || std::mem::replace(&mut self.is_checked, true) {
            return;
        }
        let Item::Game(game) = &self.item else { return };
        let findings: Vec<Finding> = self.findings.iter().flatten().cloned().collect();
        let positions = game.positions();
        for ply in puzzles::candidates(game, &findings) {
            let (item, kind) = (self.work.item, SearchKind::PuzzleCheck);
            match journal.as_mut().and_then(|journal| journal.take(item, ply, kind, &positions[ply])) {
                Some(check) => self.checks.push((ply, check)),
                None => {
                    backend.send(&self.work, ply..ply + 1, kind);
                    self.missing += 1;
                }
            }
        }
    }
}

/// Searches every item of the input and writes the results in the order of the input, until `is_wanted` says that nobody
/// reads them. What was read of a file before it could not be read any further is searched and written.
///
/// # Errors
/// A result cannot be written, or no search thread is left.
pub(super) fn search_all(
    input: &AnalysisInput,
    backend: &mut SearchBackend,
    journal: &mut Option<FindingJournal>,
    outputs: &mut Outputs,
    progress: &ProgressBar,
    is_wanted: impl Fn() -> Result<bool, CliError>,
) -> Result<Totals, CliError> {
    let (pending, totals) = (VecDeque::new(), Totals::default());
    let mut window =
        ItemWindow { backend, journal, outputs, progress, searched: 0, pending, first: 0, totals };
    let (read, mut begun) = (Arc::<AtomicU64>::default(), 0);
    let mut items = input.items(&read);
    let mut more = true;
    loop {
        while more && window.pending.len() < window.backend.window() {
            match items.next() {
                None => more = false,
                Some(Ok(Ok(item))) => {
                    let before = std::mem::replace(&mut begun, read.load(Relaxed));
                    window.begin(item, begun - before);
                }
                Some(Ok(Err(reason))) => window.skip(reason),
                Some(Err(error)) if window.totals.unread.is_none() => window.totals.unread = Some(error),
                Some(Err(error)) => window.skip(error),
            }
        }
        window.write_finished()?;
        if !is_wanted()? || (window.pending.is_empty() && !more) {
            return Ok(window.totals);
        }
        if !window.pending.is_empty() {
            window.receive()?;
        }
    }
}

impl ItemWindow<'_> {
    /// Sends the positions of an item, which has these bytes in the input, to the workers, except those that an earlier
    /// run has searched.
    fn begin(&mut self, item: Item, bytes: u64) {
        let number = self.first + self.pending.len();
        let (positions, work) = match &item {
            Item::Position(record) => {
                let work = match &record.before {
                    Some((start, moves)) => MoveList::up_to(number, start, moves),
                    None => MoveList::of_moves(number, &record.position, &[]),
                };
                (vec![record.position.clone()], work)
            }
            Item::Game(game) => {
                let positions = if game.moves.is_empty() { Vec::new() } else { game.positions() };
                (positions, MoveList::of_moves(number, &game.start, &game.moves))
            }
        };
        let mut findings: Vec<Option<Finding>> = vec![None; positions.len()];
        if let Some(journal) = self.journal {
            for (ply, position) in positions.iter().enumerate() {
                findings[ply] = journal.take(number, ply, SearchKind::Analysis, position);
            }
        }
        let work = Arc::new(work);
        let mut missing = 0;
        for (number, batch) in findings.chunks_mut(BATCH_POSITIONS).enumerate() {
            if batch.iter().all(Option::is_some) {
                continue;
            }
            // As a whole, even if a part is known: each search depends on those before it through the hash table, and
            // the results must be those of an uninterrupted run.
            batch.fill(None);
            missing += batch.len();
            let first = number * BATCH_POSITIONS;
            self.backend.send(&work, first..first + batch.len(), SearchKind::Analysis);
        }
        let is_checked = !self.outputs.wants_puzzles;
        let bytes = bytes / findings.len().max(1) as u64;
        self.advance(findings.len() - missing, bytes);
        let mut begun =
            Pending { item, work, findings, missing, bytes, failed: None, checks: Vec::new(), is_checked };
        begun.check(self.backend, self.journal);
        self.pending.push_back(begun);
    }

    /// Shows that positions of so many bytes each were searched.
    fn advance(&mut self, positions: usize, bytes: u64) {
        self.searched += positions;
        self.progress.inc(positions as u64 * bytes);
        if !self.progress.is_hidden() {
            self.progress.set_message(format!("{} positions", self.searched));
        }
    }

    /// Reports what cannot be searched.
    fn skip(&mut self, reason: impl Display) {
        self.totals.skipped += 1;
        self.progress.suspend(|| complain(reason));
    }

    /// Writes the first items as far as they are searched.
    fn write_finished(&mut self) -> Result<(), CliError> {
        while let Some(done) = self.pending.pop_front_if(|front| front.missing == 0) {
            self.first += 1;
            if let Some(reason) = done.failed {
                self.skip(format_args!("{} is skipped: {reason}", done.item.name()));
                continue;
            }
            let findings: Vec<Finding> = done.findings.into_iter().flatten().collect();
            let write = || match done.item {
                Item::Position(record) => self.outputs.position(&record, &findings, &mut self.totals),
                Item::Game(game) => self.outputs.game(game, findings, done.checks, &mut self.totals),
            };
            self.progress.suspend(write)?;
        }
        Ok(())
    }

    /// Waits for a result.
    fn receive(&mut self) -> Result<(), CliError> {
        let Some(arrival) = self.backend.receive() else {
            return Err(CliError::Task(
                "no search thread is left: ask for fewer with --threads, else please report the input"
                    .to_owned(),
            ));
        };
        match arrival {
            Arrival::Found(found) => {
                if let Some(journal) = self.journal {
                    journal.add(&found)?;
                }
                let FoundAt { item, ply, kind, finding } = found;
                let Some(place) = self.pending.get_mut(item - self.first) else { return Ok(()) };
                match kind {
                    SearchKind::Analysis => place.findings[ply] = Some(finding),
                    SearchKind::PuzzleCheck => place.checks.push((ply, finding)),
                }
                place.missing -= 1;
                place.check(self.backend, self.journal);
                let bytes = place.bytes;
                self.advance(usize::from(kind.is_analysis()), bytes);
            }
            #[cfg(feature = "fleet")]
            Arrival::Failed { item, count, reason } => {
                let Some(place) = self.pending.get_mut(item - self.first) else { return Ok(()) };
                place.failed = Some(reason);
                place.missing -= count;
                let bytes = place.bytes;
                self.advance(count, bytes);
            }
            Arrival::Nothing => {}
        }
        Ok(())
    }
}
