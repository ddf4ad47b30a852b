//! `engram tune spsa`: simultaneous perturbation stochastic approximation (J. Spall, 1992), as chess engines use
//! it: all parameters move a little at once, each up or down at random; the engine so changed plays a pair of
//! games against the one with the opposite changes; each parameter follows the result.

use std::{
    env,
    fmt::{self, Display},
    path::PathBuf,
};

use clap::Args;
use shakmaty::Color;

use super::TuneError;
use crate::{
    cli::prove::{
        game::{self, Limit, Pace},
        openings,
        player::{EnginePlayer, Program},
        statistics::Random,
    },
    position::Position,
    protocol::Command,
    search::{PARAMETERS, Parameter},
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune spsa`.
#[derive(Debug, Args)]
pub struct SpsaArguments {
    /// The positions to begin from: EPD or FEN, one a line.
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
    /// How far a parameter goes for a result, in squares of its last perturbation.
    #[arg(long, default_value_t = 0.01)]
    gain: f64,
    /// Where the values are kept after each pair, and read from if there.
    #[arg(long, default_value = "spsa.state")]
    state: PathBuf,
    /// Seed of openings and perturbations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Spall's exponents, and the share of the pairs by which the first steps are tamed.
const GAIN_DECAY: f64 = 0.602;
const PERTURBATION_DECAY: f64 = 0.101;
const STABILITY: f64 = 0.1;
/// The last perturbation is this share of a parameter's range.
const PERTURBATION: f64 = 1.0 / 20.0;

/// Tunes until all pairs are played.
pub fn print(arguments: &SpsaArguments, output: &Output, interrupt: &Interrupt) -> Result<(), TuneError> {
    let games = |error: &dyn Display| TuneError::Games(error.to_string());
    let starts = openings(&arguments.openings, None, 0).map_err(|error| games(&error))?;
    let mut course = SpsaRun::new(chosen(&arguments.parameters)?, arguments.pairs, arguments.gain);
    if let Some(text) = super::read_state(&arguments.state)? {
        course.restore(&text).ok_or_else(|| TuneError::Checkpoint(arguments.state.clone()))?;
    }
    let program = Program {
        path: env::current_exe().map_err(|error| games(&error))?,
        arguments: Vec::new(),
        options: [("Learning", "off"), ("Hash", "16")].map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec(),
    };
    let start = || EnginePlayer::start(&program).map_err(|error| games(&error));
    let mut players = [start()?, start()?];
    while course.pair < course.pairs && !interrupt.is_requested() {
        let mut random = Random::of(&[arguments.seed, course.pair.into()]);
        let opening = &starts[random.below(starts.len())];
        course.step(&mut random, |settings, random| {
            for (player, setting) in players.iter_mut().zip(settings) {
                for (name, value) in setting {
                    let (name, value) = ((*name).to_owned(), Some(value.to_string()));
                    player.send(&Command::SetOption { name, value });
                }
            }
            play_pair(opening, &mut players, arguments.nodes, random)
        })?;
        super::write(&arguments.state, course.to_string().as_bytes())?;
        if course.pair.is_multiple_of(100) || course.pair == course.pairs {
            output.line(course.to_string().trim_end().replace('\n', ", "));
        }
    }
    players.into_iter().for_each(EnginePlayer::quit);
    Ok(())
}

/// A parameter on its way.
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

    /// A whole number near the value moved by `change`: chance rounds, so that small changes count as well.
    fn at(&self, change: f64, random: &mut Random) -> i32 {
        let value = self.value + change + random.symmetric() / 2.0;
        (value.round() as i32).clamp(self.parameter.low, self.parameter.high)
    }

    fn follow(&mut self, step: f64) {
        let (low, high) = (self.parameter.low.into(), self.parameter.high.into());
        self.value = (self.value + step).clamp(low, high);
    }
}

/// What one side plays with.
type Setting = Vec<(&'static str, i32)>;

/// All parameters and how far they have come.
struct SpsaRun {
    tuned: Vec<Tuned>,
    /// Pairs played, and pairs in all.
    pair: u32,
    pairs: u32,
    gain: f64,
}

impl SpsaRun {
    fn new(parameters: Vec<&'static Parameter>, pairs: u32, gain: f64) -> SpsaRun {
        SpsaRun { tuned: parameters.into_iter().map(Tuned::new).collect(), pair: 0, pairs, gain }
    }

    /// Changes every parameter up or down, plays with both signs and follows the result: points of the first
    /// setting less those of the second.
    fn step<E>(
        &mut self,
        random: &mut Random,
        play: impl FnOnce(&[Setting; 2], &mut Random) -> Result<f64, E>,
    ) -> Result<(), E> {
        let (now, all) = (f64::from(self.pair + 1), f64::from(self.pairs));
        let perturbation = (all / now).powf(PERTURBATION_DECAY);
        let gain = self.gain * ((1.0 + STABILITY) * all / (STABILITY * all + now)).powf(GAIN_DECAY);
        let signs: Vec<f64> = self.tuned.iter().map(|_| [1.0, -1.0][random.below(2)]).collect();
        let settings = [1.0, -1.0].map(|side| {
            let moved = self.tuned.iter().zip(&signs).map(|(one, sign)| {
                (one.parameter.name, one.at(side * sign * one.reach() * perturbation, random))
            });
            moved.collect()
        });
        let result = play(&settings, random)?;
        for (one, sign) in self.tuned.iter_mut().zip(signs) {
            // The gain counts in squares of the last perturbation; Spall divides by the present one.
            one.follow(gain * one.reach() * sign / perturbation * result);
        }
        self.pair += 1;
        Ok(())
    }

    /// Takes up what [`SpsaRun::to_string`] wrote; nothing if it is of other parameters.
    fn restore(&mut self, text: &str) -> Option<()> {
        let mut lines = text.lines();
        let pair = lines.next()?.strip_suffix(" pairs")?.parse().ok()?;
        let values: Option<Vec<f64>> = self
            .tuned
            .iter()
            .map(|one| lines.next()?.strip_prefix(one.parameter.name)?.trim().parse().ok())
            .collect();
        for (one, value) in self.tuned.iter_mut().zip(values?) {
            one.value = value;
        }
        self.pair = pair;
        Some(())
    }
}

impl Display for SpsaRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} pairs", self.pair)?;
        self.tuned.iter().try_for_each(|one| writeln!(f, "{} {:.3}", one.parameter.name, one.value))
    }
}

/// Points of the first player less those of the second in two games, colours exchanged.
fn play_pair(
    opening: &Position,
    players: &mut [EnginePlayer; 2],
    nodes: u64,
    random: &mut Random,
) -> Result<f64, TuneError> {
    let pace = Pace::Fixed { limits: [Limit::Nodes(nodes); 2], jitter: 0.0 };
    let mut sum = 0.0;
    for first in [Color::White, Color::Black] {
        for player in players.iter_mut() {
            player.send(&Command::UciNewGame);
            player.ready().map_err(|error| TuneError::Games(error.to_string()))?;
        }
        let played = game::play(opening, players, pace, random, |_, _| {});
        players.swap(0, 1);
        if played.ending.is_fault() {
            return Err(TuneError::Games(format!("a game ended with: {}", played.ending.name())));
        }
        sum += played.winner.map_or(0.0, |winner| if winner == first { 1.0 } else { -1.0 });
    }
    Ok(sum)
}

/// The parameters with these names; without any, those whose last perturbation is two or more.
fn chosen(names: &[String]) -> Result<Vec<&'static Parameter>, TuneError> {
    if names.is_empty() {
        return Ok(PARAMETERS.iter().filter(|&parameter| Tuned::new(parameter).reach() >= 2.0).collect());
    }
    let find = |name: &String| {
        let found = PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| TuneError::Games(format!("there is no parameter {name}, `uci` lists them")))
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
    fn play(settings: &[Setting; 2], random: &mut Random, optimum: &[f64]) -> f64 {
        let [first, second] = [0, 1].map(|side: usize| {
            let parts = settings[side].iter().zip(optimum);
            parts.map(|(&(_, value), best)| ((f64::from(value) - best) / best).powi(2)).sum::<f64>()
        });
        let edge = (second - first).clamp(-1.0, 1.0);
        if random.symmetric() < edge { 2.0 } else { -2.0 }
    }

    #[test]
    fn values_come_near_the_optimum_through_the_noise() {
        let parameters = named(&["rfp_margin", "probcut_margin", "lmr_base"]);
        let start: Vec<f64> = parameters.iter().map(|one| one.default.into()).collect();
        let optimum = [start[0] * 0.6, start[1] * 1.5, start[2]];
        let mut course = SpsaRun::new(parameters, 4000, 0.03);
        while course.pair < course.pairs {
            let mut random = Random::of(&[5, course.pair.into()]);
            let played =
                course.step(&mut random, |settings, random| Ok::<_, ()>(play(settings, random, &optimum)));
            played.expect("a result");
        }
        for (one, (best, start)) in course.tuned.iter().zip(optimum.iter().zip(start)) {
            let (name, value) = (one.parameter.name, one.value);
            assert!((value - best).abs() < 0.15 * start, "{name}: {value:.0} instead of {best:.0}");
        }
    }

    #[test]
    fn a_session_goes_on_where_it_stopped() {
        let mut course = SpsaRun::new(named(&["rfp_margin", "lmr_base"]), 100, 0.01);
        for pair in 0..7 {
            course.step(&mut Random::of(&[pair]), |_, _| Ok::<_, ()>(2.0)).expect("a result");
        }
        let text = course.to_string();
        let mut again = SpsaRun::new(named(&["rfp_margin", "lmr_base"]), 100, 0.01);
        assert!(again.restore(&text).is_some() && again.to_string() == text && again.pair == 7);
        let mut other = SpsaRun::new(named(&["rfp_margin", "probcut_margin"]), 100, 0.01);
        assert!(other.restore(&text).is_none() && other.pair == 0, "another parameter");
        assert!(other.restore("nonsense").is_none() && other.restore("").is_none());
    }
}
