//! The window of unfinished items: sent to the workers, and written in the order of the input.

use std::{
    collections::VecDeque,
    fmt::Display,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use indicatif::ProgressBar;

use super::{
    backend::SearchBackend,
    finding_journal::FindingJournal,
    input::{AnalysisInput, Item},
    marks::{Marks, is_drawn},
    outputs::{NamedOpening, Outputs, Totals},
    pool::{Arrival, Finding, FoundAt, MoveList, SearchKind},
    report::GameReport,
    variations::{self, Branch},
};
use crate::{
    cli::{CliError, complain},
    position::Position,
};

/// Positions of a game that one worker searches in a row: long enough for the hash table to help, short
/// enough that a single game keeps all workers busy.
const BATCH_POSITIONS: usize = 12;

/// Bytes of a hash table for each node of an analysis: two entries, also where searches of four times the nodes confirm a
/// mark.
const BYTES_PER_NODE: usize = 4 * 32;

/// The MiB of hash that a batch of searches of so many nodes can use.
pub(super) fn hash_for(nodes: u64) -> usize {
    usize::try_from(nodes).unwrap_or(usize::MAX).saturating_mul(BATCH_POSITIONS * BYTES_PER_NODE) >> 20
}

/// An item whose positions are being searched.
struct Pending {
    item: Item,
    work: Arc<MoveList>,
    positions: Vec<Position>,
    /// What was found about each position, empty until then.
    findings: Vec<Finding>,
    /// The last search to which each position was sent.
    sent: Vec<SearchKind>,
    /// How many findings are still to come.
    missing: usize,
    /// Its bytes in the input.
    bytes: u64,
    /// Why it could not be searched.
    failed: Option<String>,
    opening: NamedOpening,
}

/// The items from the first one that is not written yet.
struct ItemWindow<'a> {
    backend: &'a mut dyn SearchBackend,
    journal: &'a mut Option<FindingJournal>,
    outputs: &'a mut Outputs,
    progress: &'a ProgressBar,
    /// A game that waits for its variations, what was found about them, and how many they are.
    held: Option<(Pending, Vec<Vec<Finding>>, usize)>,
    pending: VecDeque<Pending>,
    /// Number of the first.
    first: usize,
    totals: Totals,
}

impl Pending {
    /// Takes the findings of an earlier run about the positions after `plies` moves, requests the others, and returns how
    /// many were taken: all or none, because each search depends on those before it through the hash table, and the results
    /// must be those of an uninterrupted run. Those of searches that end by time are not the same twice anyway.
    fn request(
        &mut self,
        plies: Range<usize>,
        kind: SearchKind,
        backend: &mut dyn SearchBackend,
        journal: &mut Option<FindingJournal>,
    ) -> usize {
        let (item, budget) = (self.work.item, backend.budget().of(kind));
        let mut take = |ply| journal.as_mut()?.take(item, ply, kind, &self.positions[ply]);
        let mut known: Vec<Option<Finding>> = plies.clone().map(&mut take).collect();
        if budget.movetime.is_none() && known.contains(&None) {
            known.fill(None);
        }
        let (mut first, mut taken) = (plies.start, 0);
        for run in known.chunk_by_mut(|one, next| one.is_some() == next.is_some()) {
            let plies = first..first + run.len();
            first = plies.end;
            if run.contains(&None) {
                self.missing += plies.len();
                backend.send(&self.work, plies, kind, budget.clone());
                continue;
            }
            taken += plies.len();
            for (ply, finding) in plies.zip(run.iter_mut().filter_map(Option::take)) {
                self.put(ply, kind, finding);
            }
        }
        taken
    }

    /// Takes over a finding.
    fn put(&mut self, ply: usize, kind: SearchKind, finding: Finding) {
        let place = &mut self.findings[ply];
        if kind == SearchKind::SecondLine {
            // Its best line is less deep than that of the analysis.
            let best = place.best();
            let second = finding.lines.into_iter().find(|line| line.moves.first().copied() != best);
            // If it is better here, it is no second line.
            place.lines.extend(second.filter(|line| line.score <= place.score()));
            return;
        }
        // A confirmation knows the best move from the start: how hard it was to find is what the analysis says.
        let first_confirmation = (kind == SearchKind::SecondConfirmation).then(|| place.score());
        let before = std::mem::replace(place, Finding { first_confirmation, ..finding });
        if !kind.is_analysis() {
            (place.changes, place.mates) = (before.changes, before.mates);
        }
    }

    /// Once all findings are there, requests those that confirm the marks of a game, and returns how many were taken from
    /// an earlier run.
    fn confirm(&mut self, backend: &mut dyn SearchBackend, journal: &mut Option<FindingJournal>) -> usize {
        let mut taken = 0;
        while self.missing == 0 && self.failed.is_none() {
            let Item::Game(game, ..) = &self.item else { break };
            let marks = Marks::new(&self.positions, &game.moves, &self.findings, &self.opening.plies);
            let wanted = marks.unconfirmed(&self.sent);
            if wanted.is_empty() {
                break;
            }
            let runs = wanted.chunk_by(|(one, kind), (next, other)| one + 1 == *next && kind == other);
            for batch in runs.flat_map(|run| run.chunks(BATCH_POSITIONS)) {
                let (first, kind) = batch[0];
                let plies = first..first + batch.len();
                self.sent[plies.clone()].fill(kind);
                taken += self.request(plies, kind, backend, journal);
            }
        }
        taken
    }
}

/// Searches every item of the input and writes the results in the order of the input, until `is_wanted` says that nobody
/// reads them. What was read of a file before it could not be read any further is searched and written.
///
/// # Errors
/// A result cannot be written, or no search thread is left.
pub(super) fn search_all(
    input: &AnalysisInput,
    backend: &mut dyn SearchBackend,
    journal: &mut Option<FindingJournal>,
    outputs: &mut Outputs,
    progress: &ProgressBar,
    is_wanted: impl Fn() -> Result<bool, CliError>,
) -> Result<Totals, CliError> {
    let (pending, totals) = (VecDeque::new(), Totals::default());
    let mut window =
        ItemWindow { backend, journal, outputs, progress, held: None, pending, first: 0, totals };
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
        window.show();
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
            Item::Game(game, ..) => (game.positions(), MoveList::of_moves(number, &game.start, &game.moves)),
            // Its first position is one of the game.
            Item::Variation(Branch { start, moves, before }) => {
                let lead = before + 1;
                let work = MoveList { lead, ..MoveList::of_moves(number, start, moves) };
                (start.along(moves).split_off(lead), work)
            }
        };
        // A game without moves has nothing to be searched, nor has a draw at its end.
        let (places, is_drawn) = match &item {
            Item::Game(game, ..) if game.moves.is_empty() => (0, false),
            Item::Game(..) => (positions.len(), is_drawn(&positions)),
            _ => (positions.len(), false),
        };
        let count = places - usize::from(is_drawn);
        let mut begun = Pending {
            opening: self.outputs.opening(&positions),
            findings: vec![Finding::default(); places],
            sent: vec![SearchKind::Analysis; positions.len()],
            work: Arc::new(work),
            item,
            positions,
            missing: 0,
            bytes,
            failed: None,
        };
        for first in (0..count).step_by(BATCH_POSITIONS) {
            let plies = first..count.min(first + BATCH_POSITIONS);
            self.totals.taken += begun.request(plies, SearchKind::Analysis, self.backend, self.journal);
        }
        self.totals.taken += begun.confirm(self.backend, self.journal);
        self.pending.push_back(begun);
    }

    /// Shows how much was searched, and how much was requested.
    fn show(&self) {
        if self.progress.is_hidden() {
            return;
        }
        let missing: usize = self.pending.iter().map(|pending| pending.missing).sum();
        let queued = if missing > 0 { format!(", {missing} queued") } else { String::new() };
        self.progress.set_message(self.totals.searches() + &queued);
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
            self.progress.inc(done.bytes);
            match &done.item {
                Item::Variation(_) => {
                    // One that could not be searched has no findings, and that of a skipped game nobody waits for.
                    let findings = if done.failed.is_some() { Vec::new() } else { done.findings };
                    if let Some((_, found, _)) = &mut self.held {
                        found.push(findings);
                    }
                }
                item if let Some(reason) = &done.failed => {
                    let name = item.name();
                    self.skip(format_args!("{name} is skipped: {reason}"));
                }
                Item::Position(record) => {
                    self.progress
                        .suspend(|| self.outputs.position(record, &done.findings, &mut self.totals))?;
                }
                &Item::Game(_, _, searched) => self.held = Some((done, Vec::new(), searched)),
            }
            if let Some((game, found, _)) = self.held.take_if(|(_, found, searched)| found.len() >= *searched)
            {
                self.write_game(game, found)?;
            }
        }
        Ok(())
    }

    /// Writes a game, in whose variations this was found.
    fn write_game(&mut self, done: Pending, found: Vec<Vec<Finding>>) -> Result<(), CliError> {
        let Pending { item: Item::Game(game, mut variations, _), positions, findings, opening, .. } = done
        else {
            return Ok(());
        };
        variations::put_findings(&mut variations, &findings, &mut found.into_iter());
        let report = GameReport::new(game, variations, positions, opening, findings);
        self.progress.suspend(|| self.outputs.game(&report, &mut self.totals))
    }

    /// Waits for a result.
    fn receive(&mut self) -> Result<(), CliError> {
        let Some(arrival) = self.backend.receive() else {
            return Err(CliError::Task(
                "a search thread has failed: ask for fewer with --threads, else please report the input"
                    .to_owned(),
            ));
        };
        match arrival {
            Arrival::Found(found) => {
                if let Some(journal) = self.journal {
                    journal.add(&found)?;
                }
                let FoundAt { item, ply, kind, finding } = found;
                self.totals.nodes += finding.nodes;
                self.totals.positions += usize::from(kind.is_analysis());
                self.totals.confirmations += usize::from(!kind.is_analysis());
                let Some(place) = self.pending.get_mut(item - self.first) else { return Ok(()) };
                place.put(ply, kind, finding);
                place.missing -= 1;
                self.totals.taken += place.confirm(self.backend, self.journal);
            }
            #[cfg(feature = "fleet")]
            Arrival::Failed { item, count, reason } => {
                let Some(place) = self.pending.get_mut(item - self.first) else { return Ok(()) };
                place.failed = Some(reason);
                place.missing -= count;
            }
            Arrival::Nothing => {}
        }
        Ok(())
    }
}
