//! `engram tune spsa`: simultaneous perturbation stochastic approximation (J. Spall, 1992), as chess engines use
//! it: all parameters change a little at once, each up or down at random; the engine with these changes plays a pair of
//! games against the one with the opposite changes; each parameter follows the result.

use std::{
    env,
    fmt::{self, Display},
    panic::resume_unwind,
    path::PathBuf,
    sync::Mutex,
};

use clap::Args;
use fastrand::Rng;
use shakmaty::Color;

use super::common::{foreign_checkpoint, read_state, threads, write};
use crate::{
    cli::{
        CliError,
        prove::{
            game::{self, Limit, Pace},
            openings,
            player::{EnginePlayer, Program},
            statistics::seeded,
        },
        refuse_input,
    },
    locks::locked,
    position::Position,
    protocol::Command,
    search::{PARAMETERS, Parameter},
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune spsa`.
#[derive(Debug, Args)]
pub struct SpsaArguments {
    /// The starting positions: EPD or FEN, one a line.
    #[arg(long, value_name = "FILE")]
    openings: PathBuf,
    /// Parameters to tune, by name; without any, all that can move by two or more.
    #[arg(long = "parameter", value_name = "NAME")]
    parameters: Vec<String>,
    /// Pairs of games in all.
    #[arg(long, default_value_t = 10_000)]
    pairs: u32,
    /// Nodes of each search.
    #[arg(long, default_value_t = 5_000)]
    nodes: u64,
    /// Pairs at a time; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
    /// Step of a parameter after a result, in squares of its last perturbation.
    #[arg(long, default_value_t = 0.01)]
    gain: f64,
    /// The file of the values, written after each pair; an existing one is resumed.
    #[arg(long, default_value = "spsa.state")]
    state: PathBuf,
    /// Seed of openings and perturbations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Spall's exponents, and his stability constant as a share of all pairs.
const GAIN_DECAY: f64 = 0.602;
const PERTURBATION_DECAY: f64 = 0.101;
const STABILITY: f64 = 0.1;
/// The last perturbation is this share of a parameter's range.
const PERTURBATION: f64 = 1.0 / 20.0;

/// Tunes until all pairs are played.
pub fn print(arguments: &SpsaArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    refuse_input(&arguments.state, [&arguments.openings])?;
    let starts = openings(&arguments.openings, None, 0)?;
    let mut run = SpsaRun::new(chosen(&arguments.parameters)?, arguments.pairs, arguments.gain);
    if let Some(bytes) = read_state(&arguments.state)? {
        run.restore(&String::from_utf8_lossy(&bytes)).ok_or_else(|| foreign_checkpoint(&arguments.state))?;
    }
    let program = Program {
        path: env::current_exe().map_err(|error| CliError::Task(error.to_string()))?,
        arguments: Vec::new(),
        options: [("Learning", "off"), ("Hash", "16")].map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec(),
    };
    let run = Mutex::new(run);
    let next = || locked(&run).next(arguments.seed);
    let finish = |trial: &Trial, result| -> Result<(), CliError> {
        let mut run = locked(&run);
        run.finish(trial, result);
        write(&arguments.state, run.to_string().as_bytes())?;
        if run.finished.is_multiple_of(100) || run.finished == run.pairs {
            output.line(run.to_string().trim_end().replace('\n', ", "));
        }
        Ok(())
    };
    let tune = || -> Result<(), CliError> {
        let mut players = [EnginePlayer::start(&program)?, EnginePlayer::start(&program)?];
        while !interrupt.is_requested()
            && let Some(mut trial) = next()
        {
            for (player, setting) in players.iter_mut().zip(&trial.settings) {
                for &(name, value) in setting {
                    let (name, value) = (name.to_owned(), Some(value.to_string()));
                    player.send(&Command::SetOption { name, value });
                }
            }
            let opening = &starts[trial.random.usize(..starts.len())];
            let result = play_pair(opening, &mut players, arguments.nodes, &mut trial.random)?;
            finish(&trial, result)?;
        }
        players.into_iter().for_each(EnginePlayer::quit);
        Ok(())
    };
    std::thread::scope(|scope| {
        let tuners: Vec<_> = (0..threads(arguments.threads)).map(|_| scope.spawn(tune)).collect();
        tuners.into_iter().try_for_each(|tuner| tuner.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// A parameter being tuned.
struct Tuned {
    parameter: &'static Parameter,
    value: f64,
}

impl Tuned {
    fn new(parameter: &'static Parameter) -> Tuned {
        Tuned { parameter, value: parameter.default.into() }
    }

    /// The last perturbation.
    fn reach(&self) -> f64 {
        f64::from(self.parameter.high - self.parameter.low) * PERTURBATION
    }

    /// The value moved by `change`, as an integer: rounded at random, so that small changes count as well.
    fn at(&self, change: f64, random: &mut Rng) -> i32 {
        let value = self.value + change + random.f64() - 0.5;
        (value.round() as i32).clamp(self.parameter.low, self.parameter.high)
    }

    fn follow(&mut self, step: f64) {
        let (low, high) = (self.parameter.low.into(), self.parameter.high.into());
        self.value = (self.value + step).clamp(low, high);
    }
}

/// The parameter values of one side.
type Setting = Vec<(&'static str, i32)>;

/// A pair of games to play.
struct Trial {
    settings: [Setting; 2],
    /// The step of each parameter for a lead of one point of the first setting.
    steps: Vec<f64>,
    /// Its own generator, so that the thread that plays it does not matter.
    random: Rng,
}

/// All parameters and the progress of the run.
struct SpsaRun {
    tuned: Vec<Tuned>,
    /// Pairs begun in this session or finished before it, pairs finished, and pairs in all.
    begun: u32,
    finished: u32,
    pairs: u32,
    gain: f64,
}

impl SpsaRun {
    fn new(parameters: Vec<&'static Parameter>, pairs: u32, gain: f64) -> SpsaRun {
        let tuned = parameters.into_iter().map(Tuned::new).collect();
        SpsaRun { tuned, begun: 0, finished: 0, pairs, gain }
    }

    /// The next pair: every parameter moved up or down, and the opposite; `None` if all are begun.
    fn next(&mut self, seed: u64) -> Option<Trial> {
        if self.begun == self.pairs {
            return None;
        }
        let mut random = seeded(&[seed, self.begun.into()]);
        self.begun += 1;
        let (now, all) = (f64::from(self.begun), f64::from(self.pairs));
        let perturbation = (all / now).powf(PERTURBATION_DECAY);
        let gain = self.gain * ((1.0 + STABILITY) * all / (STABILITY * all + now)).powf(GAIN_DECAY);
        let signs: Vec<f64> = self.tuned.iter().map(|_| if random.bool() { 1.0 } else { -1.0 }).collect();
        let settings = [1.0, -1.0].map(|side| {
            let moved = self.tuned.iter().zip(&signs).map(|(one, sign)| {
                (one.parameter.name, one.at(side * sign * one.reach() * perturbation, &mut random))
            });
            moved.collect()
        });
        // The gain counts in squares of the last perturbation; Spall divides by the present one.
        let steps = self.tuned.iter().zip(signs).map(|(one, sign)| gain * one.reach() * sign / perturbation);
        Some(Trial { settings, steps: steps.collect(), random })
    }

    /// Applies the result of a pair: points of the first setting less those of the second.
    fn finish(&mut self, trial: &Trial, result: f64) {
        for (one, step) in self.tuned.iter_mut().zip(&trial.steps) {
            one.follow(step * result);
        }
        self.finished += 1;
    }

    /// Restores the text of [`SpsaRun::to_string`]; `None` if it is of other parameters.
    fn restore(&mut self, text: &str) -> Option<()> {
        let mut lines = text.lines();
        let pairs = lines.next()?.strip_suffix(" pairs")?.parse().ok()?;
        let values: Option<Vec<f64>> = self
            .tuned
            .iter()
            .map(|one| lines.next()?.strip_prefix(one.parameter.name)?.trim().parse().ok())
            .collect();
        for (one, value) in self.tuned.iter_mut().zip(values?) {
            one.value = value;
        }
        (self.begun, self.finished) = (pairs, pairs);
        Some(())
    }
}

impl Display for SpsaRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} pairs", self.finished)?;
        self.tuned.iter().try_for_each(|one| writeln!(f, "{} {:.3}", one.parameter.name, one.value))
    }
}

/// Points of the first player less those of the second in two games, colours exchanged.
fn play_pair(
    opening: &Position,
    players: &mut [EnginePlayer; 2],
    nodes: u64,
    random: &mut Rng,
) -> Result<f64, CliError> {
    let pace = Pace::Fixed { limits: [Limit::Nodes(nodes); 2], jitter: 0.0 };
    let mut sum = 0.0;
    for first in Color::ALL {
        for player in players.iter_mut() {
            player.send(&Command::UciNewGame);
            player.ready()?;
        }
        let played = game::play(opening, players, pace, random, |_, _| {});
        players.swap(0, 1);
        if played.ending.is_fault() {
            return Err(CliError::Task(format!("a game ended with: {}", played.ending.name())));
        }
        sum += played.winner.map_or(0.0, |winner| if winner == first { 1.0 } else { -1.0 });
    }
    Ok(sum)
}

/// The parameters with these names; without any, those whose last perturbation is two or more.
fn chosen(names: &[String]) -> Result<Vec<&'static Parameter>, CliError> {
    if names.is_empty() {
        return Ok(PARAMETERS.iter().filter(|&parameter| Tuned::new(parameter).reach() >= 2.0).collect());
    }
    let find = |name: &String| {
        let found = PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| CliError::Task(format!("there is no parameter {name}, `uci` lists them")))
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<&'static Parameter> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        chosen(&names).expect("parameters of these names")
    }

    /// Games whose winner is the setting nearer to an optimum, more often the nearer it is.
    fn play(settings: &[Setting; 2], random: &mut Rng, optimum: &[f64]) -> f64 {
        let [first, second] = [0, 1].map(|side: usize| {
            let parts = settings[side].iter().zip(optimum);
            parts.map(|(&(_, value), best)| ((f64::from(value) - best) / best).powi(2)).sum::<f64>()
        });
        let edge = (second - first).clamp(-1.0, 1.0);
        if 2.0 * random.f64() - 1.0 < edge { 2.0 } else { -2.0 }
    }

    #[test]
    fn values_come_near_the_optimum_through_the_noise() {
        let parameters = named(&["rfp_margin", "probcut_margin", "lmr_base"]);
        let start: Vec<f64> = parameters.iter().map(|one| one.default.into()).collect();
        let optimum = [start[0] * 0.6, start[1] * 1.5, start[2]];
        let mut run = SpsaRun::new(parameters, 4000, 0.03);
        while let Some(mut trial) = run.next(5) {
            let result = play(&trial.settings, &mut trial.random, &optimum);
            run.finish(&trial, result);
        }
        for (one, (best, start)) in run.tuned.iter().zip(optimum.iter().zip(start)) {
            let (name, value) = (one.parameter.name, one.value);
            assert!((value - best).abs() < 0.15 * start, "{name}: {value:.0} instead of {best:.0}");
        }
    }

    #[test]
    fn a_session_goes_on_where_it_stopped() {
        let mut run = SpsaRun::new(named(&["rfp_margin", "lmr_base"]), 100, 0.01);
        let trials: Vec<Trial> = std::iter::from_fn(|| run.next(1)).take(8).collect();
        trials[..7].iter().for_each(|trial| run.finish(trial, 2.0));
        let text = run.to_string();
        let mut again = SpsaRun::new(named(&["rfp_margin", "lmr_base"]), 100, 0.01);
        assert!(again.restore(&text).is_some() && again.to_string() == text && again.begun == 7);
        let mut other = SpsaRun::new(named(&["rfp_margin", "probcut_margin"]), 100, 0.01);
        assert!(other.restore(&text).is_none() && other.begun == 0, "another parameter");
        assert!(other.restore("nonsense").is_none() && other.restore("").is_none());
    }
}
