//! `engram learn prove`: does the engine play better because of what it learned?
//!
//! A controlled experiment with three arms that play the same openings with the same colours under the same
//! conditions: *off* remembers nothing; *learn* keeps one learning file over all rounds; *placebo* gets as many
//! records, but of the wrong positions. At fixed nodes an engine that changes anything after a loss scores better in
//! the next game, whatever the change; only the gain over the placebo is due to knowledge.

mod chart;
mod experiment;
mod game;
mod game_journal;
mod memory;
mod player;
mod report;
mod statistics;
mod summary;

use std::{
    env,
    fmt::Display,
    fs, io,
    num::NonZeroU64,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ArgGroup;
use serde_json::{Value, json};

use self::{
    experiment::Setup,
    game::{Limit, Pace},
    game_journal::{Arm, GameJournal},
    player::{CHESS960, Program},
    statistics::seeded,
};
use crate::{
    cli::{CliError, pgn::Lines, refuse_input, refused, say_if_interrupted, source},
    eval,
    position::Position,
    uci::{Output, translate},
};

/// The arguments of `engram learn prove`.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("pace").required(true).args(["nodes", "tc"])))]
#[command(group(ArgGroup::new("limit").args(["opponent_nodes", "opponent_depth"])))]
pub(super) struct ProveArguments {
    /// The opponent: a UCI engine, with arguments if it needs some.
    #[arg(long, value_name = "CMD")]
    opponent: String,
    /// An option of the opponent's; may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
    /// An option of Engram's own in every arm; may be given several times.
    #[arg(long = "own-option", value_name = "NAME=VALUE", value_parser = option)]
    own_options: Vec<(String, String)>,
    /// The starting positions: EPD or FEN, one a line. Those of Chess960 need an opponent with the option UCI_Chess960.
    #[arg(long, value_name = "FILE")]
    openings: PathBuf,
    /// Number of positions to use, drawn by the seed; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    take: Option<u32>,
    /// How often each opening is played, with both colours each time. A later run may ask for more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Nodes for each move of Engram; the opponent's limit is --opponent-nodes or --opponent-depth.
    #[arg(long, value_name = "K", requires = "limit")]
    nodes: Option<NonZeroU64>,
    /// Nodes for each move of the opponent.
    #[arg(long, value_name = "L", requires = "nodes")]
    opponent_nodes: Option<NonZeroU64>,
    /// Plies for each move of the opponent, if it takes no number of nodes (Ethereal 12 does not).
    #[arg(long, value_name = "D", requires = "nodes")]
    opponent_depth: Option<NonZeroU64>,
    /// Play on the clock instead: seconds for the game and for each move, such as 10+0.1.
    #[arg(long, value_name = "T+I", value_parser = clock)]
    tc: Option<Pace>,
    /// Vary the number of nodes by up to this percentage, by the seed, so that games do not repeat.
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = percent, conflicts_with = "tc")]
    jitter: f64,
    /// Games at a time. The results do not depend on it.
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrency: u32,
    /// Seed for the choice of openings, the jitter, the placebo and the intervals.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The arms to play, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "ARMS", value_enum, default_value = "off,learn,placebo")]
    arms: Vec<Arm>,
    /// In the arm `study`, nodes for each position that is studied.
    #[arg(long, value_name = "N", default_value = "200000")]
    study_nodes: NonZeroU64,
    /// In the arm `study`, study nothing but this.
    #[arg(long, value_name = "PART", value_enum)]
    study_only: Option<StudyPart>,
    /// Play the arm `off` in the first round only and count its games for every round.
    ///
    /// At fixed nodes without jitter, engines that are restarted for each game repeat their games.
    #[arg(long, conflicts_with_all = ["tc", "jitter"])]
    off_once: bool,
    /// The folder of the results. An experiment with the same settings in it is resumed.
    #[arg(long, value_name = "DIR", default_value = "engram-prove")]
    out: PathBuf,
}

/// What of a game is studied.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StudyPart {
    /// The first positions of each game.
    Openings,
    /// Lost games, backwards.
    Games,
}

/// `NAME=VALUE`.
fn option(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or("write NAME=VALUE")
}

fn clock(text: &str) -> Result<Pace, &'static str> {
    let seconds = |text: &str| {
        let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.filter(|time| *time < Duration::from_secs(1_000_000)).ok_or("write seconds as in 10+0.1")
    };
    let (time, increment) = text.split_once('+').unwrap_or((text, "0"));
    let (time, increment) = (seconds(time)?, seconds(increment)?);
    if time.is_zero() { Err("a game needs some time") } else { Ok(Pace::Clock { time, increment }) }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse() {
        Ok(percent) if (0.0..=50.0).contains(&percent) => Ok(percent),
        _ => Err("write a number from 0 to 50".to_owned()),
    }
}

/// Runs the experiment, or resumes it.
pub(super) fn run(arguments: &ProveArguments, output: &Output) -> Result<(), CliError> {
    fs::create_dir_all(&arguments.out).map_err(refused(&arguments.out, "made"))?;
    // The engines get paths of files in it.
    let out = fs::canonicalize(&arguments.out).map_err(refused(&arguments.out, "opened"))?;
    let setup = setup(arguments, out)?;
    let path = setup.out.join("journal.jsonl");
    if !path.exists()
        && let Some(taken) =
            report::RESULTS.iter().map(|name| setup.out.join(name)).find(|path| path.exists())
    {
        let taken = taken.display();
        let text =
            format!("{taken} is there already and is not of this command; name another folder with --out");
        return Err(CliError::Task(text));
    }
    report::RESULTS.iter().try_for_each(|name| refuse_input(&setup.out.join(name), [&arguments.openings]))?;
    let mut journal = GameJournal::open(&path, &description(arguments, &setup))?;
    if journal.entries.iter().any(|entry| entry.slot.opening >= setup.openings.len()) {
        let error = io::Error::other("it names an opening that does not exist; name another --out");
        return Err(refused(&path, "used")(error));
    }
    if !journal.entries.is_empty() {
        output.line(format_args!(
            "resuming after {} games in {}",
            journal.entries.len(),
            setup.out.display()
        ));
    }
    say_if_interrupted();
    let mut last = String::new();
    experiment::run(&setup, &mut journal, |round, entries, bar| {
        last = report::write(&setup, entries, round)?;
        bar.println(format!("round {round}\n{last}"));
        Ok(())
    })?;
    output.line(last.trim_end());
    output.line(format_args!(
        "results.txt, rounds.csv, games.pgn and score.svg are in {}",
        setup.out.display()
    ));
    Ok(())
}

fn setup(arguments: &ProveArguments, out: PathBuf) -> Result<Setup, CliError> {
    let path = env::current_exe().map_err(memory::not_found)?;
    let mut arms = arguments.arms.clone();
    arms.sort_unstable();
    arms.dedup();
    // Without a clock the command line asks for Engram's limit and one of the opponent's.
    let pace = arguments.tc.unwrap_or_else(|| {
        let nodes = |nodes: Option<NonZeroU64>| nodes.map(|nodes| Limit::Nodes(nodes.get()));
        let depth = arguments.opponent_depth.map(|depth| Limit::Depth(depth.get()));
        let one = Limit::Nodes(1);
        let own = nodes(arguments.nodes).unwrap_or(one);
        let opponent = nodes(arguments.opponent_nodes).or(depth).unwrap_or(one);
        Pace::Fixed { limits: [own, opponent], jitter: arguments.jitter / 100.0 }
    });
    let openings = openings(&arguments.openings, arguments.take, arguments.seed)?;
    let (mut options, mut own_options) = (arguments.options.clone(), arguments.own_options.clone());
    if openings.iter().any(|opening| translate::notation(opening, false).is_chess960()) {
        for options in [&mut options, &mut own_options] {
            options.push((CHESS960.to_owned(), "true".to_owned()));
        }
    }
    Ok(Setup {
        openings,
        rounds: arguments.rounds,
        arms,
        off_once: arguments.off_once,
        pace,
        study_nodes: arguments.study_nodes.get(),
        study_only: arguments.study_only,
        seed: arguments.seed,
        own: Program { path, arguments: Vec::new(), options: own_options },
        opponent: Program { options, ..Program::parse(&arguments.opponent) },
        concurrency: arguments.concurrency as usize,
        out,
    })
}

/// The settings that must be the same for an experiment to be resumed. The numbers of rounds and of games at a time may
/// change.
fn description(arguments: &ProveArguments, setup: &Setup) -> Value {
    let options =
        |options: &[(String, String)]| options.iter().map(|o| format!("{}={}", o.0, o.1)).collect::<Vec<_>>();
    json!({
        "engram": format!("{} evaluation {:04x}", env!("CARGO_PKG_VERSION"), eval::fingerprint()),
        "opponent": arguments.opponent,
        "options": options(&arguments.options),
        "own options": options(&arguments.own_options),
        "openings": setup.openings.iter().map(Position::fen).collect::<Vec<_>>(),
        "pace": format!("{:?}", setup.pace),
        "arms": setup.arms.iter().map(|arm| arm.name()).collect::<Vec<_>>(),
        "off once": setup.off_once,
        "study nodes": setup.study_nodes,
        "study only": setup.study_only.map(|part| format!("{part:?}")),
        "seed": setup.seed,
        // Another generator makes other games of the same seed.
        "random numbers": "wyrand",
    })
}

/// Reads EPD or FEN: four fields, and two counters if they are numbers; the rest of the line is ignored.
pub(super) fn openings(path: &Path, take: Option<u32>, seed: u64) -> Result<Vec<Position>, CliError> {
    let reader = source::reader(path).map_err(refused(path, "read"))?;
    let mut openings = Vec::new();
    for (index, line) in Lines::new(reader).enumerate() {
        let line = line.map_err(refused(path, "read"))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split([' ', '\t', ';']).filter(|word| !word.is_empty());
        let mut fen: Vec<&str> = words.by_ref().take(4).collect();
        fen.extend(words.take(2).take_while(|word| word.parse::<u32>().is_ok()));
        let bad = |reason: &dyn Display| {
            let (number, path) = (index + 1, path.display());
            CliError::Task(format!("line {number} of {path} is not an opening: {reason}"))
        };
        let position = translate::parse_fen(&fen.join(" "), false).map_err(|error| bad(&error))?;
        if !position.has_legal_move() {
            return Err(bad(&"the game is over there"));
        }
        openings.push(position);
    }
    if openings.is_empty() {
        let path = path.display();
        return Err(CliError::Task(format!("{path} holds no positions; write one EPD or FEN a line")));
    }
    if let Some(take) = take {
        seeded(&[seed, 2]).shuffle(&mut openings);
        openings.truncate(take as usize);
    }
    Ok(openings)
}

#[cfg(test)]
mod tests;
