//! What one worker of the pool does: searches positions with an engine of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use shakmaty::{CastlingMode, uci::UciMove};

use super::pool::{Finding, MoveList, SearchBudget, SearchSettings};
use crate::{
    cli::complain_once,
    engine::blocking::BlockingEngine,
    learn::policy::LearningMode,
    notice::{Failure, Notice},
    position::Position,
    search::{Event, Limits, PvInfo},
    types::{Bound, ScoredLine},
};

/// Maximum length in plies to which tablebase moves extend a line.
const LINE_PLIES: usize = 40;

/// Nodes of the search that continues a line of a single move.
const CONTINUATION_NODES: u64 = 1000;

/// An engine of its own that searches one position after the other.
pub struct Searcher {
    pub blocking: BlockingEngine,
    watch: Arc<dyn Fn(&Event) + Send + Sync>,
    over: Arc<AtomicBool>,
}

impl Searcher {
    /// A searcher; `None` if the system gives it no thread.
    pub fn new(
        settings: &SearchSettings,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
        over: Arc<AtomicBool>,
    ) -> Option<Searcher> {
        let mut blocking = BlockingEngine::new(0);
        let engine = &mut blocking.engine;
        if engine.set_threads(settings.threads) == 0 {
            return None;
        }
        // A smaller table is used then.
        if let Err(error) = engine.set_hash(settings.budget.hash) {
            complain_once(error.to_string());
        }
        engine.settings.move_overhead = Duration::ZERO;
        engine.set_syzygy_path(&settings.syzygy);
        if let Some(file) = &settings.learn {
            // Lets it resume from an earlier analysis of the same positions.
            engine.set_strength(|strength| strength.analysis = true);
            engine.set_learning(|learning| {
                learning.read_only = !settings.write;
                learning.file = Some(file.clone());
                learning.rules.mode = if settings.write { LearningMode::All } else { LearningMode::Drop };
            });
            engine.prepare_learning();
        }
        Some(Searcher { blocking, watch, over })
    }

    /// Searches a position; `None` if nobody wants to know any more.
    pub fn search(&mut self, work: &MoveList, ply: usize, budget: &SearchBudget) -> Option<Finding> {
        let moves = &work.moves[..work.lead + ply];
        self.blocking.engine.settings.multi_pv = budget.multipv;
        let watch = Arc::clone(&self.watch);
        let mut finding = self.result(&work.start, moves, budget.limits(), &*watch)?;
        if budget.check_best {
            self.check_best(work, moves, budget.limits(), &mut finding)?;
        }
        for line in finding.lines.iter_mut().filter(|line| !line.moves.is_empty()) {
            line.moves = self.blocking.engine.with_tablebase_moves(&line.moves, line.score, LINE_PLIES);
        }
        // A score from the table may come with no more than a move.
        if let Some(ScoredLine { moves: line, .. }) =
            finding.lines.first_mut().filter(|line| line.moves.len() == 1)
        {
            self.blocking.engine.settings.multi_pv = 1;
            let moves = [moves, &[line[0].to_uci(CastlingMode::Chess960)]].concat();
            let limits = Limits { nodes: Some(CONTINUATION_NODES), ..Limits::default() };
            // Of another position: nobody watches it.
            let next = self.result(&work.start, &moves, limits, &|_| {})?;
            line.extend(next.lines.into_iter().next().into_iter().flat_map(|next| next.moves));
        }
        Some(finding)
    }

    /// Searches the best move alone. If it is worth less then, that is its score, and no other line has a better one.
    fn check_best(
        &mut self,
        work: &MoveList,
        moves: &[UciMove],
        limits: Limits,
        finding: &mut Finding,
    ) -> Option<()> {
        let uncertain = finding.lines.first().filter(|line| !line.is_drawn && !line.score.is_decisive());
        let Some(&best) = uncertain.and_then(|line| line.moves.first()) else { return Some(()) };
        // To the same depth it is in the table.
        let depth = limits.depth.map(|depth| depth + 1);
        let limits = Limits { depth, search_moves: vec![best], ..limits };
        let alone = self.result(&work.start, moves, limits, &|_| {})?;
        finding.nodes += alone.nodes;
        finding.millis += alone.millis;
        if let Some(checked) = alone.lines.first() {
            finding.lines[0].score = finding.lines[0].score.min(checked.score);
            put_in_order(&mut finding.lines);
        }
        Some(())
    }

    /// The result of one search, whose events `watch` receives.
    fn result(
        &mut self,
        start: &Position,
        moves: &[UciMove],
        limits: Limits,
        watch: &dyn Fn(&Event),
    ) -> Option<Finding> {
        let mut finding = Finding::default();
        let goes_on = || !self.over.load(Relaxed);
        let answer = self.blocking.search_with(start, moves, limits, &goes_on, |event| {
            watch(event);
            if let Event::Pv(line) = event {
                note(&mut finding, line);
            }
        });
        // The moves were legal when they were read.
        let answer = answer.unwrap_or_default();
        for notice in answer.notices {
            if let Notice::Failed(Failure::Other, text) = notice {
                complain_once(text);
            }
        }
        finding.lines = answer.lines;
        put_in_order(&mut finding.lines);
        goes_on().then_some(finding)
    }
}

/// No line is worth more than the one before it. If the limit ends an iteration, the lines that it has not reached have the
/// scores of the last one, and those that are higher it has refuted. None of them gets mated because the one before does.
fn put_in_order(lines: &mut [ScoredLine]) {
    for index in 1..lines.len() {
        let before = lines[index - 1].score;
        let score = &mut lines[index].score;
        let most = if before.is_loss() && !score.is_loss() { before.clamp_evaluation() } else { before };
        *score = (*score).min(most);
    }
}

fn note(finding: &mut Finding, line: &PvInfo) {
    let millis = u64::try_from(line.time.as_millis()).unwrap_or(u64::MAX);
    finding.depth = line.depth.get();
    finding.nodes = line.nodes;
    finding.millis = millis;
    let Some(&m) = line.pv.first().filter(|_| line.multi_pv == 1) else { return };
    if finding.changes.last().is_none_or(|&(_, last)| last != m) {
        finding.changes.push((millis, m));
    }
    let mate = line.score.mate_moves().unwrap_or(0);
    if line.bound == Bound::Exact && finding.mates.last().map_or(0, |&(_, last)| last) != mate {
        finding.mates.push((millis, mate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_best_move_that_was_checked_is_worth_no_more_than_it_seemed() {
        let budget = SearchBudget { nodes: Some(60), multipv: 2, hash: 1, ..SearchBudget::default() };
        let settings =
            SearchSettings { budget: budget.clone(), workers: 1, threads: 1, ..SearchSettings::default() };
        let searched = |check_best: bool| -> Vec<Finding> {
            let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 f3g5 d7d5 e4d5 f6d5 g5f7 e8f7 d1f3 f7e6 b1c3";
            let moves = moves.split(' ').map(|m| m.parse().expect("a move")).collect();
            let work = MoveList { item: 0, start: Position::default(), moves, lead: 0 };
            let mut searcher = Searcher::new(&settings, Arc::new(|_| ()), Arc::default()).expect("a thread");
            let budget = SearchBudget { check_best, ..budget.clone() };
            let mut search = |ply| {
                searcher.blocking.engine.new_game();
                searcher.search(&work, ply, &budget).expect("nobody stops it")
            };
            (0..16).map(&mut search).collect()
        };
        let (plain, checked) = (searched(false), searched(true));
        for (plain, checked) in plain.iter().zip(&checked) {
            assert!(checked.score() <= plain.score() && checked.nodes > plain.nodes);
            assert!(checked.lines.is_sorted_by(|one, next| one.score >= next.score));
        }
        assert!(plain.iter().zip(&checked).any(|(plain, checked)| checked.score() < plain.score()));
    }

    #[test]
    fn lines_are_in_order_where_the_limit_ends_an_iteration() {
        let budget = SearchBudget { multipv: 3, hash: 1, ..SearchBudget::default() };
        let settings =
            SearchSettings { budget: budget.clone(), workers: 1, threads: 1, ..SearchSettings::default() };
        let start = Position::from_fen("r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 1");
        let work = MoveList { item: 0, start: start.expect("a position"), moves: Vec::new(), lead: 0 };
        let mut searcher = Searcher::new(&settings, Arc::new(|_| ()), Arc::default()).expect("a thread");
        for nodes in (1..100).map(|count| 100 * count) {
            searcher.blocking.engine.new_game();
            let budget = SearchBudget { nodes: Some(nodes), ..budget.clone() };
            let lines = searcher.search(&work, 0, &budget).expect("nobody stops it").lines;
            assert!(lines.is_sorted_by(|one, next| one.score >= next.score), "{nodes}: {lines:?}");
        }
    }
}
