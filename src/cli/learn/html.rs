//! `engram learn html`: the file as a page for the browser. First the games with the positions in which something was
//! learned, then the records that belong to no game.

use std::{collections::BTreeMap, io::Write, path::Path};

use maud::{Markup, html};
use serde_json::json;
use shakmaty::{Color, Move};

use super::{
    filter::Filter,
    opened::Opened,
    text::{self, Printer},
    why,
};
use crate::{
    cli::{
        CliError, Openings, check_output,
        page::{self, Arrow, Frame, small_board},
        pawns, pgn, refused,
    },
    eval,
    files::NewFile,
    learn::{
        LearnedScore, Origin, Record,
        game::GameEnd,
        games::{self, LearnedGame, Moment},
    },
    position::Position,
    search::Notice,
    types::Score,
};

/// Maximum number of bars in the chart of days: more do not fit on a phone.
const MAX_DAYS: usize = 60;
const FOOT: &str = "Made by Engram. Scores are for the side to move on the board beside them, in pawns.";

/// The arguments of `engram learn html`.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    #[command(flatten)]
    filter: Filter,
    /// Show at most this many records, the newest.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    newest: usize,
    /// Nodes of the searches with and without the file that find the move played now; 0 for none.
    #[arg(long, value_name = "COUNT", default_value_t = 50_000)]
    nodes: u64,
    /// The file to write.
    #[arg(value_name = "PAGE")]
    to: std::path::PathBuf,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn write(file: &Opened, page: &Page, out: Printer) -> Result<(), CliError> {
    let to = page.to.as_path();
    let filter = page.filter.compile()?;
    check_output(to, [file.file.path()], page.force)?;
    let records: Vec<(u64, Record)> =
        file.ring().iter().filter(|(_, record)| filter.admits(record)).collect();
    let shown = &records[records.len().saturating_sub(page.newest)..];
    let openings = Openings::own();
    let (mut games, others) = games::games(shown, &|| true);
    for game in &mut games {
        game.connect();
        game.find_opening(&|position| openings.at(position).is_some());
    }
    let mut target = NewFile::begin(to).map_err(refused(to, "written"))?;
    let mut write = |text: &str| target.write_all(text.as_bytes()).map_err(refused(to, "written"));
    let title = file.file.path().display().to_string();
    let (start, end) = Frame {
        title: &title,
        about: "what Engram learned",
        style: page::LEARN_STYLE,
        script: page::LEARN_SCRIPT,
        header: html! { (page::field()) h1 { (title) } (overview(&records, shown.len(), games.len())) },
        footer: FOOT,
    }
    .parts();
    write(&start)?;
    let now = Now { file: file.file.path(), nodes: page.nodes };
    for game in games.iter().rev() {
        write(&game_section(game, &openings, &now)?.into_string())?;
    }
    if !others.is_empty() {
        let cards = others.iter().rev().map(|(sequence, record)| card(*sequence, record));
        write(
            &html! { (chooser(&others)) div .moments .records { @for card in cards { (card) } } }
                .into_string(),
        )?;
    }
    write(&end)?;
    target.finish_with(page.force).map_err(refused(to, "written"))?;
    let (path, shown, records, games) = (to.display().to_string(), shown.len(), records.len(), games.len());
    out.either(
        json!({ "page": path, "shown": shown, "records": records, "games": games }),
        format_args!("{shown} of {records} records, of {games} games, written to {path}"),
    );
    Ok(())
}

/// The number of records, and a chart of the days.
fn overview(records: &[(u64, Record)], shown: usize, games: usize) -> Markup {
    let (Some((_, first)), Some((_, last))) = (records.first(), records.last()) else {
        return html! { p .facts { "Nothing has been learned yet." } };
    };
    html! {
        p .facts {
            (records.len()) " positions, learned from " (text::date(first.time)) " to " (text::date(last.time)) " (UTC); the newest "
            (shown) " are shown, of " (games) " games. A red arrow is the move that was played and is rejected now, a green one the "
            "move that was learned or that is played now."
        }
        (days(records))
    }
}

/// The move that the engine plays with the file and without.
struct Now<'a> {
    file: &'a Path,
    nodes: u64,
}

impl Now<'_> {
    /// Move, and score with messages about advice, with the file or without; `None` without searches.
    fn ask(&self, position: &Position, with_file: bool) -> Result<Option<(Move, String)>, CliError> {
        if self.nodes == 0 || !position.has_legal_move() {
            return Ok(None);
        }
        let answer = why::ask(position, with_file.then_some(self.file), self.nodes)?;
        let score = answer.result.as_ref().map_or_else(String::new, |found| pawns(found.score));
        let is_advice =
            |notice: &&Notice| matches!(notice, Notice::Advised(_) | Notice::AdviceOverruled { .. });
        let advice = answer.notices.iter().filter(is_advice).map(Notice::to_string);
        let said = std::iter::once(score).chain(advice).collect::<Vec<_>>().join("; ");
        Ok(answer.best.map(|best| (best, said)))
    }
}

/// One game: date, side, opening, result, and each position in which something was learned.
fn game_section(game: &LearnedGame, openings: &Openings, now: &Now<'_>) -> Result<Markup, CliError> {
    let opening = openings.of(&Position::default().along(&game.opening)).map(|(_, opening)| opening);
    let (class, result) = match game.outcome {
        Some(GameEnd::Won) => ("won", "won"),
        Some(GameEnd::Lost) => ("lost", "lost"),
        None => ("open", "not lost"),
    };
    let moments = game.moments();
    let won = game.outcome == Some(GameEnd::Won);
    let boards: Vec<Markup> = match won {
        true => Vec::new(),
        false => moments.iter().map(|moment| self::moment(game, moment, now)).collect::<Result<_, _>>()?,
    };
    let kept = || moments.iter().filter_map(|moment| played(game, moment)).collect::<Vec<_>>().join(", ");
    Ok(html! {
        section .game {
            h3 {
                (text::date(game.time)) " UTC, " (game.side.fold_wb("White", "Black"))
                @if game.imported { " (imported)" }
                @if let Some(opening) = opening { ", " (opening) }
                ": " b class=(class) { (result) }
            }
            @if !game.opening.is_empty() {
                p .facts { "It began, in this order of moves or another: " (pgn::line(&Position::default(), &game.opening)) }
            }
            @if won {
                p { "The moves played won, and are kept: " (kept()) }
            } @else {
                div .moments { @for board in &boards { (board) } }
            }
        }
    })
}

/// The move played there, such as `12... Nf6`, if it is known.
fn played(game: &LearnedGame, moment: &Moment<'_>) -> Option<String> {
    Some(pgn::line(game.positions.get(&moment.ply)?, &[*game.moves.get(&moment.ply)?]))
}

/// A board with the move that was played and the one that is played now, and the scores before and after.
fn moment(game: &LearnedGame, moment: &Moment<'_>, now: &Now<'_>) -> Result<Markup, CliError> {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let fall = moment.drop.map(|record| {
        let depth = text::depth(record).map_or_else(String::new, |depth| format!(", depth {depth}"));
        let what = if record.origin == Origin::Study { "studied" } else { "it fell to" };
        (what, format!("{}{depth}", window(record.lower, record.upper, false)))
    });
    let Some(position) = game.positions.get(&moment.ply) else {
        // Only the position after the move is known: the opponent's reply is shown.
        let after = moment.outcome.and_then(|record| Some((record, record.position_and_move().ok()?)));
        let Some((record, (position, reply))) = after else { return Ok(html! {}) };
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
    let rejected = was_played.filter(|m| next.as_ref().is_none_or(|(next, _)| next != m));
    let better = next.as_ref().map(|&(m, _)| (m, Arrow::Better));
    let arrows: Vec<_> = rejected.map(|m| (m, Arrow::Played)).into_iter().chain(better).collect();
    facts.push(("played", was_played.map_or_else(|| "not known".to_owned(), name)));
    facts.extend(before.map(|(m, score)| ("before", format!("{score}, {} (without the memory)", name(m)))));
    facts.extend(fall);
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
) -> Markup {
    html! {
        article {
            (small_board(position.board(), arrows, side == Color::Black))
            p .what { b { (title) } }
            dl { @for (what, fact) in facts { dt { (what) } dd { (fact) } } }
        }
    }
}

/// The heading of the records that belong to no game, with buttons that filter by origin.
fn chooser(records: &[(u64, Record)]) -> Markup {
    let count = |origin| records.iter().filter(|(_, record)| record.origin == origin).count();
    let counted = Origin::ALL.map(|(origin, name)| (origin, name, count(origin)));
    html! {
        section {
            h3 { "Positions that belong to no game" }
            div .chooser {
                button .now data-origin="" { "all" }
                @for (origin, name, count) in counted.into_iter().filter(|&(_, _, count)| count > 0) {
                    button data-origin=(name) { (kind(origin)) ": " (count) }
                }
            }
        }
    }
}

/// A chart of the number of records of each day.
fn days(records: &[(u64, Record)]) -> Markup {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, record) in records {
        *counts.entry(record.time / text::DAY).or_default() += 1;
    }
    // A single bar shows nothing.
    let Some((&last, _)) = counts.last_key_value().filter(|_| counts.len() > 1) else { return html! {} };
    let first = counts.keys().copied().find(|&day| last - day < MAX_DAYS as u32).unwrap_or(last);
    let most = counts.range(first..).map(|(_, &count)| count).max().unwrap_or(1);
    let name = |day: u32| text::date(day * text::DAY).split(' ').next().unwrap_or_default().to_owned();
    html! {
        svg .days viewBox=(format!("0 0 {} 100", last - first + 1)) preserveAspectRatio="none" role="img"
            aria-label="records of each day" {
            @for (&day, &count) in counts.range(first..) {
                @let height = (100 * count).div_ceil(most);
                rect x=(format!("{}.1", day - first)) y=(100 - height) width="0.8" height=(height) {
                    title { (name(day)) ": " (count) }
                }
            }
        }
    }
}

fn kind(origin: Origin) -> &'static str {
    match origin {
        Origin::Drop => "score dropped",
        Origin::EveryRoot => "searched",
        Origin::Advice => "advice",
        Origin::Import => "imported game",
        Origin::Outcome => "outcome of a game",
        Origin::Study => "studied after a loss",
        Origin::Opening => "first moves of a game",
    }
}

/// One record.
fn card(sequence: u64, record: &Record) -> Markup {
    let origin = record.origin.name();
    let (position, best) = match record.position_and_move() {
        Ok(found) => found,
        Err(misfit) => {
            return html! {
                article data-origin=(origin) { p .bad { "Record " (sequence) " is damaged: " (misfit) } }
            };
        }
    };
    let turn = position.turn();
    let moves = text::moves(record, &position, best);
    let learned = match moves.is_empty() {
        true => "no move".to_owned(),
        false => moves.iter().map(|&m| pgn::san(&position, m).0).collect::<Vec<_>>().join(" or "),
    };
    let depth = text::depth(record);
    let mut facts = vec![kind(record.origin)];
    if record.flags.chess960 {
        facts.push("Chess960");
    }
    if depth.is_some() && record.evaluation_id != eval::fingerprint() {
        facts.push("by another evaluation");
    }
    let arrows: Vec<_> = moves.iter().map(|&m| (m, Arrow::Better)).collect();
    html! {
        article data-origin=(origin) {
            (small_board(position.board(), &arrows, turn == Color::Black))
            p .what { b { (learned) } " for " (turn.fold_wb("White", "Black")) }
            p {
                (window(record.lower, record.upper, false))
                @if let Some(depth) = depth {
                    ", depth " (depth)
                    @if record.log2_nodes > 0 { ", 2" sup { (record.log2_nodes) } " nodes" }
                }
            }
            p { (facts.join(", ")) }
            p .facts {
                (text::date(record.time)) " UTC, move " (record.game_ply / 2 + 1) ", session "
                (format!("{:08x}", record.session))
            }
            p .fen { (position.fen()) }
        }
    }
}

/// The learned window of the score, for the side to move or for the other side.
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
