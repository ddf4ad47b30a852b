//! The window of unfinished items: sent to the workers, and written in the order of the input.

use std::{collections::VecDeque, sync::Arc};

use indicatif::ProgressBar;

use super::{
    backend::{Arrival, SearchBackend},
    input::{AnalysisInput, Item},
    journal::FindingJournal,
    outputs::{Outputs, Totals},
    pool::{Finding, FoundAt, MoveList, SearchKind},
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
    /// Why it could not be searched.
    failed: Option<String>,
    /// What the deeper searches found, by ply.
    checks: Vec<(usize, Finding)>,
    /// Were those searches sent, or are no puzzles wanted?
    is_checked: bool,
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

    /// Takes in a finding.
    fn add(&mut self, found: FoundAt) {
        self.missing -= 1;
        match found.kind {
            SearchKind::Analysis => self.findings[found.ply] = Some(found.finding),
            SearchKind::PuzzleCheck => self.checks.push((found.ply, found.finding)),
        }
    }
}

/// Searches every item of the input and writes the results in the order of the input, as long as `reads` says that the
/// output is still read.
pub(super) fn search_all(
    input: &AnalysisInput,
    backend: &mut SearchBackend,
    journal: &mut Option<FindingJournal>,
    outputs: &mut Outputs,
    progress: &ProgressBar,
    reads: impl Fn() -> bool,
) -> Result<Totals, CliError> {
    let mut totals = Totals::default();
    let mut pending: VecDeque<Pending> = VecDeque::new();
    let mut items = input.items();
    let (mut first, mut more) = (0, true);
    loop {
        while more && pending.len() < backend.window() {
            match items.next() {
                None => more = false,
                Some(Err(error)) => return Err(error),
                Some(Ok(Err(reason))) => {
                    totals.skipped += 1;
                    progress.suspend(|| complain(&reason));
                }
                Some(Ok(Ok(item))) => {
                    let mut begun = begin(item, first + pending.len(), backend, journal, progress);
                    begun.is_checked = !outputs.wants_puzzles();
                    begun.check(backend, journal);
                    pending.push_back(begun);
                }
            }
        }
        while pending.front().is_some_and(|front| front.missing == 0) {
            if let Some(done) = pending.pop_front() {
                first += 1;
                if let Some(reason) = done.failed {
                    totals.skipped += 1;
                    progress.suspend(|| complain(format_args!("{} is skipped: {reason}", done.item.name())));
                    continue;
                }
                let findings = done.findings.into_iter().flatten().collect();
                progress.suspend(|| outputs.write(done.item, findings, done.checks, &mut totals))?;
            }
        }
        if (pending.is_empty() && !more) || !reads() {
            return Ok(totals);
        }
        if pending.is_empty() {
            continue;
        }
        let Some(arrival) = backend.receive() else {
            return Err(CliError::Task(
                "no search thread is left: ask for fewer with --threads, else please report the input"
                    .to_owned(),
            ));
        };
        match arrival {
            Arrival::Found(found) => {
                let is_analysis = found.kind.is_analysis();
                if let Some(journal) = journal {
                    journal.add(&found)?;
                }
                if let Some(place) = pending.get_mut(found.item - first) {
                    place.add(found);
                    place.check(backend, journal);
                    progress.inc(u64::from(is_analysis));
                }
            }
            #[cfg(feature = "fleet")]
            Arrival::Failed { item, count, reason } => {
                if let Some(place) = pending.get_mut(item - first) {
                    place.failed = Some(reason);
                    place.missing -= count;
                    progress.inc(count as u64);
                }
            }
        }
    }
}

/// Sends the positions of an item to the workers, except those that an earlier run has searched.
fn begin(
    item: Item,
    number: usize,
    backend: &mut SearchBackend,
    journal: &mut Option<FindingJournal>,
    progress: &ProgressBar,
) -> Pending {
    let (positions, work) = match &item {
        Item::Position(record) => {
            let work = match &record.before {
                Some((start, moves)) => MoveList::up_to(number, start, moves),
                None => MoveList::of_moves(number, &record.position, &[]),
            };
            (vec![record.position.clone()], work)
        }
        Item::Game(game) if game.moves.is_empty() => {
            (Vec::new(), MoveList::of_moves(number, &game.start, &[]))
        }
        Item::Game(game) => (game.positions(), MoveList::of_moves(number, &game.start, &game.moves)),
    };
    let mut findings: Vec<Option<Finding>> = vec![None; positions.len()];
    if let Some(journal) = journal {
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
        // As a whole, even if a part is known: each search depends on those before it through the hash table, and the
        // results must be those of an uninterrupted run.
        batch.fill(None);
        missing += batch.len();
        let first = number * BATCH_POSITIONS;
        backend.send(&work, first..first + batch.len(), SearchKind::Analysis);
    }
    progress.inc((findings.len() - missing) as u64);
    Pending { item, work, findings, missing, failed: None, checks: Vec::new(), is_checked: true }
}
