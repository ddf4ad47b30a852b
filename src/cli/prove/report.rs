//! The results as text, CSV and PGN.

use std::fmt::Write as _;

use shakmaty::{Color, KnownOutcome, Outcome};

use super::{
    chart,
    experiment::Setup,
    game_journal::{Arm, GameEntry},
    statistics::Estimate,
    summary::{GamesByPlace, SummaryRow},
};
use crate::{
    cli::{
        CliError, counted,
        pgn::{self, Game},
        refused,
    },
    files,
    position::notation::start_tags,
};

/// The names of the files that [`write`] makes.
pub(super) const RESULTS: [&str; 4] = ["results.txt", "rounds.csv", "games.pgn", "score.svg"];

/// Writes the results up to the end of round `finished`, and returns the text.
pub(super) fn write(setup: &Setup, entries: &[GameEntry], finished: u32) -> Result<String, CliError> {
    let games = GamesByPlace::new(setup, entries);
    let rounds: Vec<SummaryRow> = (1..=finished).flat_map(|round| games.lines(&(round..=round))).collect();
    // In the second half of the rounds learning should show.
    let halves = games.lines(&(finished / 2 + 1..=finished));
    let text = text(setup, &games, &rounds, &halves);
    let mut complete: Vec<&GameEntry> = entries.iter().filter(|entry| entry.slot.round <= finished).collect();
    complete.sort_by_key(|entry| entry.slot);
    let files = [
        text.clone(),
        rounds_csv(rounds.iter().chain(&halves)),
        complete.iter().map(|entry| game_pgn(setup, entry)).collect(),
        chart::svg(setup, &rounds),
    ];
    for (name, content) in RESULTS.into_iter().zip(files) {
        let path = setup.out.join(name);
        files::replace(&path, content.as_bytes()).map_err(refused(&path, "written"))?;
    }
    Ok(text)
}

fn signed(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(
        || "-".to_owned(),
        |estimate| {
            let Estimate { value, low, high } = estimate.rounded(0);
            format!("{value:+.0} [{low:+.0}, {high:+.0}]")
        },
    )
}

/// A line of the table.
fn table_row(line: &SummaryRow) -> String {
    let (first, last) = line.rounds.clone().into_inner();
    let rounds = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let Estimate { value, low, high } = line.score;
    let score = format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high);
    let changed = match line.changed_at {
        Some(ply) => format!("{} of {} at {ply}", line.changed, line.comparable),
        None => format!("{} of {}", line.changed, line.comparable),
    };
    let met = format!("{} in {}", line.met, line.games_met);
    format!(
        "{rounds:>6} {:<7} {:>3} {:>3} {:>3}  {score:<19}{:<19}{:<19}{:<19}{changed:<15}{:>7} {met:>12} {:>7} {:>5.1}\n",
        line.arm.name(),
        line.wins,
        line.draws,
        line.losses,
        signed(Some(line.elo)),
        signed(line.over_off),
        signed(line.over_placebo),
        line.records,
        line.cutoffs,
        line.depth,
    )
}

fn text(setup: &Setup, games: &GamesByPlace<'_>, rounds: &[SummaryRow], halves: &[SummaryRow]) -> String {
    let mut text = format!(
        "{}, both colours, opponent {}\n\n{}\n",
        counted(setup.openings.len(), "opening"),
        setup.opponent.name(),
        "rounds arm      W   D   L  score %            Elo                over off           over placebo       changed at ply records met in games cutoffs depth"
    );
    text.extend(rounds.iter().map(table_row));
    text.push('\n');
    text.extend(halves.iter().map(table_row));
    text.push('\n');
    text.push_str(
        "Intervals: 95 %, bootstrap over openings. Changed: games that deviate from those of the round before, and the\n\
         median ply (from 1). Met: Engram's turns in positions with a record, and the games with such turns.\n",
    );
    if setup.off_once {
        text.push_str("The arm off was played in round 1 only and counts for every round.\n");
    }
    if setup.arms.contains(&Arm::Off) {
        for &arm in setup.arms.iter().filter(|&&arm| arm != Arm::Off) {
            let unlike = games.unlike_off_at_first(arm);
            if unlike > 0 {
                let _ = writeln!(
                    text,
                    "In round 1, with nothing to remember, {unlike} games of {} are not those of off.",
                    arm.name()
                );
            }
        }
    }
    text.push_str(&games.after_losses(rounds.iter().map(|line| *line.rounds.end()).max().unwrap_or(0)));
    let [own, theirs] =
        rounds.iter().fold([0, 0], |sum, line| [sum[0] + line.faults[0], sum[1] + line.faults[1]]);
    let _ = match own + theirs {
        0 => writeln!(text, "No crash, illegal move or time loss."),
        _ => writeln!(
            text,
            "Crashes, illegal moves and time losses: Engram {own}, the opponent {theirs} (games.pgn names them)."
        ),
    };
    text
}

fn rounds_csv<'a>(lines: impl Iterator<Item = &'a SummaryRow>) -> String {
    let mut csv = String::from(
        "first_round,last_round,arm,wins,draws,losses,score,score_low,score_high,elo,elo_low,elo_high,over_off,over_off_low,\
         over_off_high,over_placebo,over_placebo_low,over_placebo_high,changed,comparable,median_ply_of_change,records,\
         turns_met,games_met,cutoffs,depth,own_faults,opponent_faults\n",
    );
    for line in lines {
        let (first, last) = line.rounds.clone().into_inner();
        let three = |estimate: Option<Estimate>, digits: u8| match estimate {
            Some(estimate) => {
                let Estimate { value, low, high } = estimate.rounded(digits.into());
                let digits = usize::from(digits);
                format!("{value:.digits$},{low:.digits$},{high:.digits$}")
            }
            None => ",,".to_owned(),
        };
        let _ = writeln!(
            csv,
            "{first},{last},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.2},{},{}",
            line.arm.name(),
            line.wins,
            line.draws,
            line.losses,
            three(Some(line.score), 4),
            three(Some(line.elo), 1),
            three(line.over_off, 1),
            three(line.over_placebo, 1),
            line.changed,
            line.comparable,
            line.changed_at.map_or_else(String::new, |ply| ply.to_string()),
            line.records,
            line.met,
            line.games_met,
            line.cutoffs,
            line.depth,
            line.faults[0],
            line.faults[1],
        );
    }
    csv
}

fn game_pgn(setup: &Setup, entry: &GameEntry) -> String {
    let engram = format!("Engram ({})", entry.slot.arm.name());
    let opponent = setup.opponent.name();
    let (white, black) = if entry.slot.white { (&engram, &opponent) } else { (&opponent, &engram) };
    let own = Color::from_white(entry.slot.white);
    let outcome = match entry.points {
        1 => KnownOutcome::Draw,
        points => KnownOutcome::Decisive { winner: if points == 2 { own } else { !own } },
    };
    let start = &setup.openings[entry.slot.opening];
    let mut tags = vec![
        ("Event", "engram learn prove".to_owned()),
        ("Site", "?".to_owned()),
        ("Date", "????.??.??".to_owned()),
        ("Round", format!("{}.{}", entry.slot.round, entry.slot.opening + 1)),
        ("White", white.clone()),
        ("Black", black.clone()),
        ("Result", outcome.to_string()),
    ];
    tags.extend(start_tags(start));
    tags.push(("PlyCount", entry.moves.len().to_string()));
    tags.push(("Termination", entry.ending.name()));
    let game = Game {
        number: 1,
        line: 1,
        tags: tags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        start: start.clone(),
        moves: entry.positions(start).into_iter().map(|(_, m)| m).collect(),
        outcome: Outcome::Known(outcome),
        ..Game::default()
    };
    pgn::write_game(&game, &game.tags, &[])
}
