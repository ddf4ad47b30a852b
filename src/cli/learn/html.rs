//! `engram learn html`: the file as a page to look at. First the games, move by move where they taught something;
//! below them what belongs to no game.

use std::{collections::BTreeMap, fmt::Write as _, io::Write, path::Path};

use serde_json::json;
use shakmaty::{Color, Move};

use super::{
    LearnError, Opened,
    filter::Filter,
    story::{self, Game, Moment},
    text, why,
};
use crate::{
    cli::{
        analyse::{Openings, pawns},
        page::{self, Arrow, FIELD, escaped, small_board},
        pgn,
    },
    eval,
    files::NewFile,
    learn::{LearnedScore, Origin, Record, policy::Outcome},
    position::Position,
    types::Score,
    uci::Output,
};

/// The bars of the chart of days: no more fit a phone.
const MOST_DAYS: usize = 60;
const FOOT: &str = "<footer>Made by Engram. Scores are for the side to move on the board beside them, in pawns.</footer>\
                    </main></body></html>";

/// What is shown, and how.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    #[command(flatten)]
    filter: Filter,
    /// So many records are shown, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    newest: usize,
    /// Nodes of the searches, with the file and without, that say what is played now; 0 for none.
    #[arg(long, value_name = "COUNT", default_value_t = 50_000)]
    nodes: u64,
    /// The page. An existing file is not overwritten.
    #[arg(value_name = "PAGE")]
    to: std::path::PathBuf,
}

pub(super) fn html(file: &Opened, page: &Page, json: bool, output: &Output) -> Result<(), LearnError> {
    let to = page.to.as_path();
    let failed = |doing| move |source| LearnError::Other { path: to.to_owned(), doing, source };
    let sieve = page.filter.sieve()?;
    let records: Vec<(u64, Record)> = file.ring().iter().filter(|(_, record)| sieve.admits(record)).collect();
    let shown = &records[records.len().saturating_sub(page.newest)..];
    let openings = Openings::own();
    let (games, others) = story::games(shown, &|position| openings.at(position).is_some());
    let mut target = NewFile::begin_new(to).map_err(failed("made"))?;
    let mut write = |text: &str| target.write_all(text.as_bytes()).map_err(failed("written"));
    write(&page::head(&file.file.path().display().to_string(), "what Engram learned"))?;
    write(FIELD)?;
    write(&overview(&records, shown.len(), games.len()))?;
    let now = Now { file: file.file.path(), nodes: page.nodes };
    for game in games.iter().rev() {
        write(&tale(game, &openings, &now)?)?;
    }
    if !others.is_empty() {
        write(&chooser(&others))?;
        write("<div class=\"moments records\">")?;
        for (sequence, record) in others.iter().rev() {
            write(&card(*sequence, record))?;
        }
        write("</div>")?;
    }
    write(FOOT)?;
    target.finish().map_err(failed("written"))?;
    let (path, count, games) = (to.display(), shown.len(), games.len());
    if json {
        output.line(
            json!({ "page": path.to_string(), "shown": count, "records": records.len(), "games": games }),
        );
    } else {
        let records = records.len();
        output.line(format_args!("{count} of {records} records, of {games} games, written to {path}"));
    }
    Ok(())
}

/// How much there is, and a chart of the days.
fn overview(records: &[(u64, Record)], shown: usize, games: usize) -> String {
    let (Some((_, first)), Some((_, last))) = (records.first(), records.last()) else {
        return "<p class=\"facts\">Nothing has been learned yet.</p>".to_owned();
    };
    let (since, until) = (text::date(first.time), text::date(last.time));
    format!(
        "<p class=\"facts\">{} positions, learned from {since} to {until} (UTC); the newest {shown} are shown, of {games} \
         games. A red arrow is the move that was played and is rejected now, a blue one the move that was learned or \
         that is played now.</p>{}",
        records.len(),
        days(records)
    )
}

/// How the engine plays with the file and without.
struct Now<'a> {
    file: &'a Path,
    nodes: u64,
}

impl Now<'_> {
    /// Move, score and what was said of advice, with the file or without; nothing where no search is wanted.
    fn ask(&self, position: &Position, with_file: bool) -> Result<Option<(Move, String)>, LearnError> {
        if self.nodes == 0 || !position.has_legal_move() {
            return Ok(None);
        }
        let answer = why::ask(position, with_file.then_some(self.file), self.nodes)?;
        let score = answer.line.as_ref().map_or_else(String::new, |line| pawns(line.score));
        let advice = answer.messages.into_iter().filter(|message| message.contains("advi"));
        let said = std::iter::once(score).chain(advice).collect::<Vec<_>>().join("; ");
        Ok(answer.best.map(|best| (best, said)))
    }
}

/// One game: where and when it was played, how it ended, and each moment in which it taught something.
fn tale(game: &Game, openings: &Openings, now: &Now<'_>) -> Result<String, LearnError> {
    let opening = openings.of(&Position::default(), &game.opening);
    let opening = opening.map_or_else(String::new, |opening| format!(", {} {}", opening.eco, opening.name));
    let (class, result) = match game.outcome {
        Some(Outcome::Won) => ("won", "won"),
        Some(Outcome::Lost) => ("lost", "lost"),
        None => ("open", "not lost"),
    };
    let side = game.side.fold_wb("White", "Black");
    let imported = if game.imported { " (imported)" } else { "" };
    let mut html = format!(
        "<section class=\"tale\"><h3>{} UTC, {side}{imported}{}: <b class=\"{class}\">{result}</b></h3>",
        text::date(game.time),
        escaped(&opening),
    );
    if !game.opening.is_empty() {
        let moves = escaped(&pgn::line(&Position::default(), &game.opening));
        let _ = write!(html, "<p class=\"facts\">It began, in this order of moves or another: {moves}</p>");
    }
    let moments = game.moments();
    if game.outcome == Some(Outcome::Won) {
        let kept: Vec<String> = moments.iter().filter_map(|moment| played(game, moment)).collect();
        let _ = write!(html, "<p>What was played won, and is kept: {}</p>", escaped(&kept.join(", ")));
        return Ok(html + "</section>");
    }
    html.push_str("<div class=\"moments\">");
    for moment in &moments {
        html.push_str(&self::moment(game, moment, now)?);
    }
    Ok(html + "</div></section>")
}

/// The move played there, such as `12... Nf6`, if it is known.
fn played(game: &Game, moment: &Moment<'_>) -> Option<String> {
    Some(pgn::line(game.positions.get(&moment.ply)?, &[*game.moves.get(&moment.ply)?]))
}

/// The position with the move that was played and the one that is played now, and the scores before and after.
fn moment(game: &Game, moment: &Moment<'_>, now: &Now<'_>) -> Result<String, LearnError> {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let fall = moment.drop.map(|record| {
        let depth = text::depth(record).map_or_else(String::new, |depth| format!(", depth {depth}"));
        format!("{}{depth}", window(record.lower, record.upper, false))
    });
    let Some(position) = game.positions.get(&moment.ply) else {
        // Only the position after the move is known: the opponent's reply is shown.
        let after = moment.outcome.and_then(|record| Some((record, record.position_and_move().ok()?)));
        let Some((record, (position, reply))) = after else { return Ok(String::new()) };
        facts.push(("reply", reply.map_or_else(|| "not known".to_owned(), |m| pgn::line(&position, &[m]))));
        facts.push(("it came to", window(record.lower, record.upper, false)));
        let arrows: Vec<_> = reply.map(|m| (m, Arrow::Better)).into_iter().collect();
        return Ok(article(&position, &arrows, game.side, "after a move that is not known", &facts));
    };
    let name = |m: Move| pgn::line(position, &[m]);
    let before = now.ask(position, false)?;
    let learned = moment.drop.and_then(|record| position.unpack(record.best));
    let next = match now.ask(position, true)? {
        None => learned.map(|m| (m, "learned".to_owned())),
        found => found,
    };
    let was_played = game.moves.get(&moment.ply).copied();
    let mut arrows = Vec::new();
    if let Some(m) = was_played {
        let still = next.as_ref().is_some_and(|(next, _)| *next == m);
        if !still {
            arrows.push((m, Arrow::Rejected));
        }
    }
    arrows.extend(next.as_ref().map(|&(m, _)| (m, Arrow::Better)));
    facts.push(("played", was_played.map_or_else(|| "not known".to_owned(), name)));
    facts.extend(before.map(|(m, score)| ("before", format!("{score}, {} (without the memory)", name(m)))));
    facts.extend(fall.map(|fall| ("it fell to", fall)));
    facts.extend(moment.outcome.map(|record| ("it came to", window(record.lower, record.upper, true))));
    facts.extend(next.map(|(m, score)| ("now", format!("{score}, {}", name(m)))));
    let title = was_played.map_or_else(|| format!("move {}", moment.ply / 2 + 1), name);
    Ok(article(position, &arrows, game.side, &title, &facts))
}

fn article(
    position: &Position,
    arrows: &[(Move, Arrow)],
    side: Color,
    title: &str,
    facts: &[(&str, String)],
) -> String {
    let mut html = format!(
        "<article>{}<p class=\"what\"><b>{}</b></p><dl>",
        small_board(position.board(), arrows, side == Color::Black),
        escaped(title)
    );
    for (what, fact) in facts {
        let _ = write!(html, "<dt>{what}</dt><dd>{}</dd>", escaped(fact));
    }
    html + "</dl></article>"
}

/// The title of the records that belong to no game, with buttons that choose by origin.
fn chooser(records: &[(u64, Record)]) -> String {
    let mut html = String::from(
        "<section><h3>Positions that belong to no game</h3><div class=\"sieve\">\
         <button class=\"now\" data-origin=\"\">all</button>",
    );
    for (origin, _, name) in Origin::ALL {
        let count = records.iter().filter(|(_, record)| record.origin == origin).count();
        if count > 0 {
            let _ = write!(html, "<button data-origin=\"{name}\">{}: {count}</button>", kind(origin));
        }
    }
    html + "</div></section>"
}

/// How many records each day brought.
fn days(records: &[(u64, Record)]) -> String {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, record) in records {
        *counts.entry(record.time / text::DAY).or_default() += 1;
    }
    // A single bar shows nothing.
    let Some((&last, _)) = counts.last_key_value().filter(|_| counts.len() > 1) else { return String::new() };
    let first = counts.keys().copied().find(|&day| last - day < MOST_DAYS as u32).unwrap_or(last);
    let most = counts.range(first..).map(|(_, &count)| count).max().unwrap_or(1);
    let width = last - first + 1;
    let mut svg = format!(
        "<svg class=\"days\" viewBox=\"0 0 {width} 100\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"records of each day\">"
    );
    for (&day, &count) in counts.range(first..) {
        let height = (100 * count).div_ceil(most);
        let _ = write!(
            svg,
            "<rect x=\"{}.1\" y=\"{}\" width=\"0.8\" height=\"{height}\"><title>{}: {count}</title></rect>",
            day - first,
            100 - height,
            text::date(day * text::DAY).split(' ').next().unwrap_or_default(),
        );
    }
    svg + "</svg>"
}

fn kind(origin: Origin) -> &'static str {
    match origin {
        Origin::Drop => "score dropped",
        Origin::EveryRoot => "searched",
        Origin::Advice => "advice",
        Origin::Import => "imported game",
        Origin::Outcome => "outcome of a game",
    }
}

/// One record.
fn card(sequence: u64, record: &Record) -> String {
    let origin = record.origin.name();
    let (position, best) = match record.position_and_move() {
        Ok(found) => found,
        Err(misfit) => {
            let misfit = escaped(&misfit.to_string());
            return format!(
                "<article data-origin=\"{origin}\"><p class=\"bad\">Record {sequence} is damaged: {misfit}</p></article>"
            );
        }
    };
    let turn = position.turn();
    let advised: Vec<Move> = record.advised().filter_map(|m| position.unpack(m)).collect();
    let moves = if advised.is_empty() { best.into_iter().collect() } else { advised };
    let learned = match moves.is_empty() {
        true => "no move".to_owned(),
        false => moves.iter().map(|&m| pgn::san(&position, m).0).collect::<Vec<_>>().join(" or "),
    };
    let mut facts = vec![kind(record.origin).to_owned()];
    if record.flags.chess960 {
        facts.push("Chess960".to_owned());
    }
    let mut search = String::new();
    if let Some(depth) = text::depth(record) {
        search = format!(", depth {depth}");
        if record.log2_nodes > 0 {
            let _ = write!(search, ", 2<sup>{}</sup> nodes", record.log2_nodes);
        }
        if record.evaluation_id != eval::fingerprint() {
            facts.push("by another evaluation".to_owned());
        }
    }
    let arrows: Vec<_> = moves.iter().map(|&m| (m, Arrow::Better)).collect();
    format!(
        "<article data-origin=\"{origin}\">{}<p class=\"what\"><b>{}</b> for {}</p><p>{}{search}</p>\
         <p>{}</p><p class=\"facts\">{} UTC, move {}, session {:08x}</p><p class=\"fen\">{}</p></article>",
        small_board(position.board(), &arrows, turn == Color::Black),
        escaped(&learned),
        turn.fold_wb("White", "Black"),
        window(record.lower, record.upper, false),
        facts.join(", "),
        text::date(record.time),
        record.game_ply / 2 + 1,
        record.session,
        escaped(&position.fen()),
    )
}

/// What was learned of the score, for the side to move or for the other one.
fn window(lower: LearnedScore, upper: LearnedScore, other_side: bool) -> String {
    let bound = |score: LearnedScore| (!score.is_none()).then(|| score.to_score());
    let (lower, upper) = match other_side {
        false => (bound(lower), bound(upper)),
        true => (bound(upper).map(|score| -score), bound(lower).map(|score: Score| -score)),
    };
    match (lower, upper) {
        (None, None) => "no score".to_owned(),
        (Some(lower), None) => format!("{} or more", pawns(lower)),
        (None, Some(upper)) => format!("{} or less", pawns(upper)),
        (Some(lower), Some(upper)) if lower == upper => pawns(lower),
        (Some(lower), Some(upper)) => format!("{} to {}", pawns(lower), pawns(upper)),
    }
}
