//! The experiment: the schedule of games, the engines that play them, and the records known before each.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::ProgressBar;
use shakmaty::Color;

use super::{
    StudyPart,
    game::{self, Pace},
    game_journal::{Arm, GameEntry, GameJournal, GameSlot},
    memory::{self, ArmFile, GameFile},
    player::{EnginePlayer, Program},
    statistics::seeded,
};
use crate::{
    cli::{CliError, in_parallel, progress_bar, refused},
    learn::Record,
    position::Position,
    protocol::{Command, Go},
};

/// The parameters of the experiment.
pub(super) struct Setup {
    pub openings: Vec<Position>,
    pub rounds: u32,
    pub arms: Vec<Arm>,
    /// Is the arm `off` played in the first round only?
    pub off_once: bool,
    pub pace: Pace,
    /// Nodes for each position that is studied.
    pub study_nodes: u64,
    /// The only part of a game that is studied, if it is not all.
    pub study_only: Option<StudyPart>,
    pub seed: u64,
    pub own: Program,
    pub opponent: Program,
    pub concurrency: usize,
    pub out: PathBuf,
}

impl Setup {
    /// The games of a round.
    pub fn slots(&self, round: u32) -> Vec<GameSlot> {
        let mut slots = Vec::new();
        for opening in 0..self.openings.len() {
            for white in [true, false] {
                let arms = self.arms.iter().filter(|&&arm| round == 1 || !self.off_once || arm != Arm::Off);
                slots.extend(arms.map(|&arm| GameSlot { round, opening, white, arm }));
            }
        }
        slots
    }

    /// All games.
    fn total(&self) -> usize {
        (1..=self.rounds).map(|round| self.slots(round).len()).sum()
    }
}

/// Plays the games that the journal does not have yet. `each_round` is called after each finished round.
pub(super) fn run(
    setup: &Setup,
    journal: &mut GameJournal,
    mut each_round: impl FnMut(u32, &[GameEntry], &ProgressBar) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let bar = progress_bar(Some(setup.total() as u64), "{bar:30} {pos}/{len} games {msg} ({eta} left)");
    // A folder for each run: engines of a killed run may still be writing into its folder. No folder of the user has
    // this name.
    let all_work = setup.out.join("journal.jsonl.work");
    let work = all_work.join(std::process::id().to_string());
    fs::create_dir_all(&work).map_err(refused(&work, "made"))?;
    for round in 1..=setup.rounds {
        let done: HashSet<GameSlot> = journal.entries.iter().map(|entry| entry.slot).collect();
        let slots = setup.slots(round);
        bar.set_message(format!("round {round}"));
        bar.set_position(journal.entries.len() as u64);
        let missing: Vec<GameSlot> = slots.into_iter().filter(|slot| !done.contains(slot)).collect();
        if !missing.is_empty() {
            let mut files = HashMap::new();
            for arm in [Arm::Learn, Arm::Placebo, Arm::Study] {
                files.insert(arm, ArmFile::make(&work, &known(setup, &journal.entries, arm, round))?);
            }
            let play = |index: usize| {
                let slot: GameSlot = missing[index];
                play_one(setup, slot, files.get(&slot.arm), &work)
            };
            in_parallel(missing.len(), setup.concurrency, play, |_, entry| {
                bar.inc(1);
                journal.push(entry)
            })?;
        }
        each_round(round, &journal.entries, &bar)?;
    }
    bar.finish_and_clear();
    // Leftovers do no harm.
    let _ = fs::remove_dir_all(&all_work);
    Ok(())
}

/// The records of an arm before `round`, oldest first.
pub(super) fn known(setup: &Setup, entries: &[GameEntry], arm: Arm, round: u32) -> Vec<Record> {
    let mut records = Vec::new();
    for earlier in 1..round {
        let mut of_round: Vec<&GameEntry> =
            entries.iter().filter(|entry| entry.slot.arm == arm && entry.slot.round == earlier).collect();
        of_round.sort_by_key(|entry| entry.slot);
        match arm {
            Arm::Off => {}
            Arm::Learn | Arm::Study => records.extend(of_round.iter().flat_map(|entry| entry.remembered())),
            Arm::Placebo => records.extend(memory::placebo(&of_round, &setup.openings, setup.seed)),
        }
    }
    records
}

/// Plays one game in new processes, so that nothing remains of an earlier game.
fn play_one(
    setup: &Setup,
    slot: GameSlot,
    file: Option<&ArmFile>,
    work: &Path,
) -> Result<GameEntry, CliError> {
    let GameSlot { round, opening, white, .. } = slot;
    let (engram, copy) = start_engram(setup, file, work)?;
    let mut players = [engram, EnginePlayer::start(&setup.opponent)?];
    for player in &mut players {
        player.send(&Command::UciNewGame);
        player.ready()?;
    }
    let color = Color::from_white(white);
    let mut pace = setup.pace;
    if !white {
        players.swap(0, 1);
        pace = pace.swapped();
    }
    // Independent of the arm: all arms play under the same conditions.
    let mut random = seeded(&[setup.seed, u64::from(round), opening as u64, u64::from(white)]);
    let (mut cutoffs, mut depths, mut searches) = (0, 0, 0);
    let played = game::play(&setup.openings[opening], &mut players, pace, &mut random, |turn, answer| {
        if turn == color {
            cutoffs += answer.texts.iter().filter_map(|text| learned_cutoffs(text)).sum::<u64>();
            depths += answer.depth;
            searches += 1;
        }
    });
    if !white {
        players.swap(0, 1);
    }
    let [mut engram, opponent] = players;
    // As after a game in a GUI; one that crashed has nothing more to say.
    engram.send(&Command::UciNewGame);
    let _ = engram.ready();
    engram.quit();
    opponent.quit();
    let points = played.winner.map_or(1, |winner| 2 * u8::from(winner == color));
    let study_nodes = match &copy {
        Some(copy) if slot.arm == Arm::Study => {
            let wanted = |part| setup.study_only.is_none_or(|only| only == part);
            let (openings, game) = (wanted(StudyPart::Openings), wanted(StudyPart::Games) && points == 0);
            copy.study(&setup.own.path, setup.study_nodes, openings, game)?
        }
        _ => 0,
    };
    Ok(GameEntry {
        slot,
        points,
        study_nodes,
        ending: played.ending,
        moves: played.moves,
        cutoffs,
        depth: (100.0 * depths as f64 / f64::from(searches.max(1))).round() / 100.0,
        records: copy.as_ref().map(GameFile::news).transpose()?.unwrap_or_default(),
    })
}

/// Starts Engram with a copy of the learning file of its arm, if the arm has one.
fn start_engram(
    setup: &Setup,
    file: Option<&ArmFile>,
    work: &Path,
) -> Result<(EnginePlayer, Option<GameFile>), CliError> {
    let mut own = setup.own.clone();
    let Some(file) = file else {
        own.options.push(("Learning".to_owned(), "off".to_owned()));
        return Ok((EnginePlayer::start(&own)?, None));
    };
    let copy = file.copy(work)?;
    let path = copy.path();
    let name = path.to_str().ok_or_else(|| {
        let path = path.display();
        CliError::Task(format!(
            "{path} has a name that cannot be sent over UCI; name another folder with --out"
        ))
    })?;
    own.options.push(("LearnFile".to_owned(), name.to_owned()));
    let mut engram = EnginePlayer::start(&own)?;
    open_file(&mut engram)?;
    Ok((engram, Some(copy)))
}

/// One search, so that the engine says whether it uses its file.
fn open_file(engram: &mut EnginePlayer) -> Result<(), CliError> {
    let start = Command::Position { start: "startpos".to_owned(), moves: Vec::new() };
    let go = Go { nodes: Some(1), ..Go::default() };
    let failed = |why| CliError::Task(format!("Engram does not open its learning file: {why}"));
    let answer = engram.search(&start, go, Duration::from_secs(60));
    let answer = answer.map_err(|fault| failed(fault.to_string()))?;
    if answer.texts.iter().any(|text| text.starts_with("learning ") && text.contains(" in ")) {
        return Ok(());
    }
    Err(failed(answer.texts.join("; ")))
}

/// `learning: 3 cutoffs by learned scores`.
fn learned_cutoffs(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("learning: ")?;
    rest.ends_with("by learned scores").then(|| rest.split(' ').next()?.parse().ok()).flatten()
}
