//! The summary: one line for each round and arm, and for the second half of the rounds.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    ops::RangeInclusive,
};

use super::{
    experiment::{Setup, known},
    game_journal::{Arm, GameEntry},
    statistics::{Estimate, PointTally, bootstrap},
};
use crate::types::PositionKey;

/// One arm in one or several rounds.
#[derive(Clone, Debug)]
pub(super) struct SummaryRow {
    pub rounds: RangeInclusive<u32>,
    pub arm: Arm,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    /// From 0 to 1.
    pub score: Estimate,
    /// Against the opponent.
    pub elo: Estimate,
    /// The difference to `off` and to `placebo`, if there are games of both arms.
    pub over_off: Option<Estimate>,
    pub over_placebo: Option<Estimate>,
    /// Games that deviate from those of the previous round, of all that could, and the median ply of it (from 1).
    pub changed: usize,
    pub comparable: usize,
    pub changed_at: Option<usize>,
    pub records: usize,
    /// Turns in positions that had a record before the round, and the games with such turns.
    pub met: usize,
    pub games_met: usize,
    pub cutoffs: u64,
    /// Mean depth of Engram's searches, in plies.
    pub depth: f64,
    /// Crashes, illegal moves and time losses, of Engram and of the opponent.
    pub faults: [usize; 2],
}

/// The games by arm and round.
pub(super) struct GamesByPlace<'a> {
    setup: &'a Setup,
    all: &'a [GameEntry],
    by_place: HashMap<(Arm, u32), Vec<&'a GameEntry>>,
}

impl<'a> GamesByPlace<'a> {
    /// Sorts the games.
    pub fn new(setup: &'a Setup, entries: &'a [GameEntry]) -> GamesByPlace<'a> {
        let mut by_place: HashMap<_, Vec<&GameEntry>> = HashMap::new();
        for entry in entries {
            by_place.entry((entry.slot.arm, entry.slot.round)).or_default().push(entry);
        }
        for games in by_place.values_mut() {
            games.sort_by_key(|entry| entry.slot);
        }
        GamesByPlace { setup, all: entries, by_place }
    }

    /// The games of an arm in a round; if the arm `off` was played once, those of the first round.
    fn of(&self, arm: Arm, round: u32) -> &[&'a GameEntry] {
        let round = if arm == Arm::Off && self.setup.off_once { 1 } else { round };
        self.by_place.get(&(arm, round)).map_or(&[], Vec::as_slice)
    }

    /// One line for each arm.
    pub fn lines(&self, rounds: &RangeInclusive<u32>) -> Vec<SummaryRow> {
        self.setup.arms.iter().filter_map(|&arm| self.line(arm, rounds)).collect()
    }

    fn tallies(&self, arms: [Arm; 2], rounds: &RangeInclusive<u32>) -> Vec<[PointTally; 2]> {
        let mut tallies = vec![[PointTally::default(); 2]; self.setup.openings.len()];
        for (side, arm) in arms.into_iter().enumerate() {
            for entry in rounds.clone().flat_map(|round| self.of(arm, round)) {
                let points = f64::from(entry.points) / 2.0;
                tallies[entry.slot.opening][side].add(PointTally { points, games: 1.0 });
            }
        }
        tallies
    }

    fn line(&self, arm: Arm, rounds: &RangeInclusive<u32>) -> Option<SummaryRow> {
        let games: Vec<&GameEntry> = rounds.clone().flat_map(|round| self.of(arm, round)).copied().collect();
        if games.is_empty() {
            return None;
        }
        let seed = self.setup.seed;
        let own = self.tallies([arm, arm], rounds);
        let over = |other: Arm| {
            let both = self.setup.arms.contains(&other) && arm != other;
            both.then(|| bootstrap(&self.tallies([arm, other], rounds), seed, |[a, b]| a.elo() - b.elo()))
        };
        let count = |points| games.iter().filter(|entry| entry.points == points).count() as u32;
        let mut changes: Vec<usize> = Vec::new();
        let mut comparable = 0;
        let (mut met, mut games_met) = (0, 0);
        for round in rounds.clone() {
            if round > 1 {
                for (now, before) in self.of(arm, round).iter().zip(self.of(arm, round - 1)) {
                    comparable += 1;
                    changes.extend(divergence(now, before));
                }
            }
            let keys: HashSet<PositionKey> =
                known(self.setup, self.all, arm, round).iter().map(|record| record.key).collect();
            for entry in self.of(arm, round) {
                let positions = entry.positions(&self.setup.openings[entry.slot.opening]);
                let known = positions.iter().filter(|(position, _)| keys.contains(&position.key())).count();
                met += known;
                games_met += usize::from(known > 0);
            }
        }
        changes.sort_unstable();
        let fault = |by_engram: bool| {
            games.iter().filter(|entry| entry.ending.is_fault() && (entry.points == 0) == by_engram).count()
        };
        Some(SummaryRow {
            rounds: rounds.clone(),
            arm,
            wins: count(2),
            draws: count(1),
            losses: count(0),
            score: bootstrap(&own, seed, |[tally, _]| tally.score()),
            elo: bootstrap(&own, seed, |[tally, _]| tally.elo()),
            over_off: over(Arm::Off),
            over_placebo: over(Arm::Placebo),
            changed: changes.len(),
            comparable,
            changed_at: changes.get(changes.len() / 2).copied(),
            records: games.iter().map(|entry| entry.records.len()).sum(),
            met,
            games_met,
            cutoffs: games.iter().map(|entry| entry.cutoffs).sum(),
            depth: games.iter().map(|entry| entry.depth).sum::<f64>() / games.len() as f64,
            faults: [fault(true), fault(false)],
        })
    }

    /// The results of the next game of the same opening and colour after a lost one, in rounds up to `finished`, and
    /// the nodes of the studies.
    pub fn after_losses(&self, finished: u32) -> String {
        let mut text = String::new();
        for &arm in &self.setup.arms {
            let (mut points, mut games, mut studied, mut nodes) = (0, 0, 0, 0);
            for round in 1..=finished {
                let next = if round < finished { self.of(arm, round + 1) } else { &[] };
                for (now, next) in self.of(arm, round).iter().zip(next) {
                    if now.points == 0 {
                        points += u64::from(next.points);
                        games += 1;
                    }
                }
                let all = self.of(arm, round).iter().filter(|entry| entry.study_nodes > 0);
                (studied, nodes) = all.fold((studied, nodes), |(studied, nodes), entry| {
                    (studied + 1, nodes + entry.study_nodes)
                });
            }
            let score = match games {
                0 => "-".to_owned(),
                _ => format!("{:.1} %", 50.0 * points as f64 / f64::from(games)),
            };
            let _ = write!(text, "After a lost game {} scores {score} in the next of {games}", arm.name());
            let _ = match studied {
                0 => writeln!(text, "."),
                _ => writeln!(text, "; {studied} games were studied with {} nodes each.", nodes / studied),
            };
        }
        text
    }

    /// In how many games of round 1 two arms differ: there is nothing to remember yet, so only learning inside
    /// a game and an engine that does not repeat itself can make a difference.
    pub fn unlike_off_at_first(&self, arm: Arm) -> usize {
        self.of(arm, 1).iter().zip(self.of(Arm::Off, 1)).filter(|(a, b)| a.moves != b.moves).count()
    }
}

/// The ply, from 1, at which a game deviates from another; `None` if they are the same.
fn divergence(now: &GameEntry, before: &GameEntry) -> Option<usize> {
    let same = now.moves.iter().zip(&before.moves).take_while(|(a, b)| a == b).count();
    (now.moves != before.moves).then_some(same + 1)
}
