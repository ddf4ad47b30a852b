//! `engram learn lessons`: what the engine plays differently since it lost.

mod find;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shakmaty::Move;

pub(super) use self::find::find;
use super::{
    opened::Opened,
    own_games::{GameFilter, GameResult, OwnGame, OwnGames},
    text::Printer,
};
use crate::{
    cli::{CliError, counted, pawns, pgn},
    position::{Opening, Position},
    types::Score,
};

/// Lessons of a game that are shown; the others are counted.
const SHOWN: usize = 3;

/// The arguments of `engram learn lessons`.
#[derive(Debug, clap::Args)]
pub(super) struct LessonArguments {
    #[command(flatten)]
    filter: GameFilter,
    /// Nodes for each search; 0 shows only the summary.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    nodes: u64,
    /// Search at most this many lost games, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    lost: usize,
}

/// A position of a lost game in which another move is played now.
pub(super) struct Lesson {
    pub ply: u16,
    pub position: Position,
    /// The move of the game, and its score there if it is known.
    pub played: Move,
    pub before: Option<Score>,
    /// The score some own moves later, and how many.
    pub later: Option<(u16, Score)>,
    /// The move that a search with the learning file plays, and its score.
    pub now: Move,
    pub score: Score,
    /// Why, as the end of a sentence: `learned from this game`.
    pub reason: String,
}

impl Lesson {
    /// What the move cost, in internal units; nothing if a score is not known.
    fn cost(&self) -> i32 {
        let cost = |(before, (_, later)): (Score, (u16, Score))| before.0 - later.0;
        self.before.zip(self.later).map_or(0, cost)
    }

    /// `At move 14 I played Qb6 (+0.20, 5 moves later -1.60). Now I play c5 (-0.05), learned from this game.`
    pub(super) fn sentence(&self) -> String {
        let scores = match (self.before, self.later) {
            (Some(before), Some((moves, later))) => {
                format!(
                    " ({}, {} later {})",
                    pawns(before),
                    counted(usize::from(moves), "move"),
                    pawns(later)
                )
            }
            (Some(before), None) => format!(" ({})", pawns(before)),
            (None, _) => String::new(),
        };
        let name = |m| pgn::san(&self.position, m).0;
        let (number, played, now) = (self.ply / 2 + 1, name(self.played), name(self.now));
        let score = pawns(self.score);
        format!("At move {number} I played {played}{scores}. Now I play {now} ({score}), {}.", self.reason)
    }
}

/// A lost game with its lessons.
pub(super) struct GameLessons<'a> {
    pub game: &'a OwnGame,
    /// Those that cost most, at most [`SHOWN`] of them.
    pub lessons: Vec<Lesson>,
    /// How many others there are.
    pub others: usize,
    /// The next game with this opening and colour.
    pub next: Option<&'a OwnGame>,
}

impl GameLessons<'_> {
    /// All lessons, also those that are not shown.
    fn count(&self) -> usize {
        self.lessons.len() + self.others
    }

    /// `Lost to Stockfish 15.1 as Black on 2026-11-25, Caro-Kann Defense: Advance Variation (B12).`
    pub(super) fn heading(&self) -> String {
        let game = self.game;
        let opponent = game.opponent.as_deref().map(|name| format!(" to {name}")).unwrap_or_default();
        let opening = game.opening.as_ref().map(|Opening { eco, name }| format!(", {name} ({eco})"));
        let side = game.side.fold_wb("White", "Black");
        let day = game.date.as_deref().map(|date| format!(" on {date}")).unwrap_or_default();
        format!("Lost{opponent} as {side}{day}{}.", opening.unwrap_or_default())
    }

    /// All that is said after the lessons: how many others there are, and what became of the next game.
    pub(super) fn after(&self) -> Option<String> {
        let others = (self.others > 0)
            .then(|| format!("Another move is played in {} too.", counted(self.others, "other position")));
        let said: Vec<String> = others.into_iter().chain(self.sequel()).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// `The next game with this opening was won (2026-11-26 against Stockfish 15.1).`
    fn sequel(&self) -> Option<String> {
        let next = self.next?;
        Some(format!("The next game with this opening was {} ({}).", next.result?.name(), next.name()))
    }

    fn value(&self) -> Value {
        let game = self.game;
        let score = |score: Option<Score>| score.map(pawns);
        let lesson = |lesson: &Lesson| {
            json!({
                "move_number": lesson.ply / 2 + 1,
                "fen": lesson.position.fen(),
                "played": pgn::san(&lesson.position, lesson.played).0,
                "score": score(lesson.before),
                "moves_later": lesson.later.map(|(moves, _)| moves),
                "score_later": score(lesson.later.map(|(_, score)| score)),
                "now": pgn::san(&lesson.position, lesson.now).0,
                "score_now": pawns(lesson.score),
                "reason": lesson.reason,
            })
        };
        json!({
            "date": game.date,
            "colour": game.side.fold_wb("white", "black"),
            "opponent": game.opponent,
            "eco": game.opening.as_ref().map(|opening| &opening.eco),
            "opening": game.opening.as_ref().map(|opening| &opening.name),
            "lessons": self.lessons.iter().map(lesson).collect::<Vec<_>>(),
            "other_lessons": self.others,
            "next": self.next.and_then(|next| Some(next.result?.name())),
        })
    }
}

/// Games counted together: against one opponent, or with one opening.
#[derive(Default)]
pub(super) struct Tally {
    pub games: usize,
    /// Points in halves.
    pub halves: usize,
    pub lessons: usize,
    /// The next games with the openings of its lessons: won, drawn, lost.
    pub next: [usize; 3],
}

impl Tally {
    /// `7.5`.
    pub(super) fn points(&self) -> String {
        format!("{}.{}", self.halves / 2, 5 * (self.halves % 2))
    }

    /// `+2 =0 -1`.
    pub(super) fn sequel(&self) -> String {
        let [won, drawn, lost] = self.next;
        format!("+{won} ={drawn} -{lost}")
    }
}

/// What was learned from games.
pub(super) struct Lessons<'a> {
    /// Were lost games searched? Not with `--nodes 0`.
    pub is_searched: bool,
    /// Lost games with lessons, those first whose mistake cost most.
    pub games: Vec<GameLessons<'a>>,
    /// Lost games in which no move is changed.
    pub unchanged: usize,
    /// Older lost games than those that were looked at.
    pub older: usize,
    /// Games that were not lost, and that the file knows a position of.
    pub not_lost: usize,
    /// By the name of the opponent, and by the family of the opening.
    pub opponents: BTreeMap<String, Tally>,
    pub openings: BTreeMap<String, Tally>,
}

impl Lessons<'_> {
    fn count(&mut self, games: &[&OwnGame]) {
        let Lessons { games: learned, opponents, openings, .. } = self;
        let mut add = |game: &OwnGame, change: &dyn Fn(&mut Tally)| {
            change(opponents.entry(game.opponent.clone().unwrap_or_else(|| "?".to_owned())).or_default());
            change(openings.entry(family(game).unwrap_or("?").to_owned()).or_default());
        };
        for game in games {
            let halves = match game.result {
                Some(GameResult::Won) => 2,
                Some(GameResult::Drawn) => 1,
                Some(GameResult::Lost) => 0,
                None => continue,
            };
            add(game, &|tally| {
                tally.games += 1;
                tally.halves += halves;
            });
        }
        for learned in learned {
            add(learned.game, &|tally| {
                tally.lessons += learned.count();
                if let Some(result) = learned.next.and_then(|next| next.result) {
                    tally.next[result as usize] += 1;
                }
            });
        }
    }

    /// How many lessons there are.
    pub(super) fn found(&self) -> usize {
        self.games.iter().map(GameLessons::count).sum()
    }

    /// How many lessons there are, and which games have none, in one line.
    pub(super) fn total(&self) -> String {
        let found = match self.found() {
            0 if !self.is_searched => "not searched (--nodes 0)".to_owned(),
            0 => "no lessons".to_owned(),
            lessons => {
                format!("{} from {}", counted(lessons, "lesson"), counted(self.games.len(), "lost game"))
            }
        };
        let without: Vec<String> = [
            (self.unchanged, "lost game", " in which no move is changed"),
            (self.not_lost, "other game", ""),
            (self.older, "older lost game", " not looked at (--lost)"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, why)| counted(count, what) + why)
        .collect();
        if without.is_empty() { found } else { format!("{found}; without a lesson: {}", without.join(", ")) }
    }
}

/// The name of an opening without its variation.
fn family(game: &OwnGame) -> Option<&str> {
    game.opening.as_ref()?.name.split(':').next()
}

/// Prints the lessons, a summary and what is no lesson.
pub(super) fn lessons(file: &Opened, arguments: &LessonArguments, out: Printer) -> Result<(), CliError> {
    let games = OwnGames::load(file)?;
    let lessons = find(file, &games, arguments, out)?;
    for game in &lessons.games {
        if out.json {
            out.output.line(game.value());
            continue;
        }
        out.output.line(game.heading());
        let sentences = game.lessons.iter().map(Lesson::sentence).chain(game.after());
        sentences.for_each(|sentence| out.output.line(format_args!("  {sentence}")));
        out.output.line("");
    }
    for (title, tallies) in [("opponent", &lessons.opponents), ("opening", &lessons.openings)] {
        out.text(format_args!("{title:<40} {:>5}  {:>6}  {:>7}  next games", "games", "points", "lessons"));
        for (name, tally) in tallies {
            let Tally { games, lessons, .. } = tally;
            let (name, points) = (name.chars().take(40).collect::<String>(), tally.points());
            out.text(format_args!("{name:<40} {games:>5}  {points:>6}  {lessons:>7}  {}", tally.sequel()));
        }
        out.text("");
    }
    let tallies = |tallies: &BTreeMap<String, Tally>| {
        let value = |(name, tally): (&String, &Tally)| {
            json!({
                "name": name, "games": tally.games, "points": tally.halves as f64 / 2.0, "lessons": tally.lessons,
                "next": tally.next,
            })
        };
        tallies.iter().map(value).collect::<Vec<_>>()
    };
    out.either(
        json!({
            "opponents": tallies(&lessons.opponents), "openings": tallies(&lessons.openings),
            "unchanged": lessons.unchanged, "older": lessons.older, "not_lost": lessons.not_lost,
        }),
        lessons.total(),
    );
    Ok(())
}
