//! `engram learn html`: the file as a page for the browser. First the lessons of lost games, then all games by opponent
//! and opening, then the records that belong to no game.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::json;
use shakmaty::{CastlingMode, Color, Move};

use super::{
    filter::Filter,
    lessons::{self, GameLessons, LessonArguments, Lessons, Tally},
    opened::Opened,
    own_games::{Moves, OwnGames},
    text::{self, Printer},
};
use crate::{
    cli::{
        CliError, DAY, check_output, counted,
        page::{self, Frame},
        pawns, pgn, write_file,
    },
    eval,
    learn::{LearnedScore, Origin, Record},
    position::Position,
};

/// Maximum number of bars in the chart of days: more do not fit on a phone.
const MAX_DAYS: usize = 60;
const FOOT: &str = "Made by Engram. Scores are for the side to move on the board beside them, in pawns.";

/// The arguments of `engram learn html`.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    #[command(flatten)]
    filter: Filter,
    /// Show at most this many of the newest records that belong to no game.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    newest: usize,
    #[command(flatten)]
    lessons: LessonArguments,
    /// The file to write.
    #[arg(value_name = "PAGE")]
    to: std::path::PathBuf,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn write(file: &Opened, page: &Page, out: Printer) -> Result<(), CliError> {
    let to = page.to.as_path();
    check_output(to, [file.file.path()], page.force)?;
    let records: Vec<(u64, Record)> =
        file.ring().iter().filter(|(_, record)| page.filter.matches(record)).collect();
    let shown = &records[records.len().saturating_sub(page.newest)..];
    let games = OwnGames::load(file)?;
    let others: Vec<_> = shown.iter().filter(|(_, record)| games.of(record).is_none()).collect();
    let lessons = lessons::find(file, &games, &page.lessons, out)?;
    let title = file.file.path().display().to_string();
    let (mut text, end) = Frame {
        title: &title,
        about: "what Engram learned",
        style: page::LEARN_STYLE,
        script: page::LEARN_SCRIPT,
        header: html! { h1 { (title) } noscript { p { "The boards need JavaScript." } } (overview(&records, &lessons)) },
        footer: FOOT,
    }
    .parts();
    for game in &lessons.games {
        text += &game_section(game).into_string();
    }
    for (title, head, tallies) in
        [("Opponents", "opponent", &lessons.opponents), ("Openings", "opening", &lessons.openings)]
    {
        text += &summary(title, head, tallies).into_string();
    }
    if !others.is_empty() {
        let cards = others.iter().rev().map(|(sequence, record)| card(*sequence, record));
        text += &html! { (chooser(&others)) div .moments .records { @for card in cards { (card) } } }
            .into_string();
    }
    text += &end;
    write_file(to, text.as_bytes(), page.force)?;
    out.either(
        json!({
            "page": to.display().to_string(), "lessons": lessons.found(), "games": lessons.games.len(),
            "unchanged": lessons.unchanged, "records": records.len(), "shown": others.len(),
        }),
        format_args!("{}; written to {}", lessons.total(), to.display()),
    );
    Ok(())
}

/// The number of records and lessons, and a chart of the days.
fn overview(records: &[(u64, Record)], lessons: &Lessons<'_>) -> Markup {
    // Imported and merged records keep their times.
    let times = || records.iter().map(|(_, record)| record.time);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return html! { p .facts { "Nothing has been learned yet." } };
    };
    html! {
        p .facts {
            (counted(records.len(), "position")) ", learned from " (text::date(first)) " to " (text::date(last)) " (UTC); "
            (lessons.total()) "."
        }
        (days(records))
        @if !lessons.games.is_empty() {
            h2 { "What is played differently now" }
            p .facts {
                "Each position was searched with the learning file and without it. Red is the move that was played, green the one "
                "that is played now, because of the learning file."
            }
        }
    }
}

/// A lost game: each lesson with its board, from which the game can be walked, and the game as PGN.
fn game_section(learned: &GameLessons<'_>) -> Markup {
    let game = learned.game;
    let Moves { positions, moves, .. } = game.moves();
    // Where moves are not known the game cannot be walked.
    let fens: Vec<String> = positions.values().map(Position::fen).collect();
    let names: Vec<String> = positions
        .iter()
        .map(|(ply, position)| moves.get(ply).map_or_else(String::new, |&m| pgn::line(position, &[m])))
        .collect();
    let pgn = game.pgn().map(|game| pgn::write_game(game, &game.tags, &game.comments()));
    let black = game.side == Color::Black;
    html! {
        section .game data-fens=(fens.join("|")) data-moves=(names.join("|")) {
            h3 { (learned.heading()) }
            div .moments {
                @for lesson in &learned.lessons {
                    article data-at=(positions.range(..lesson.ply).count()) {
                        (board(&lesson.position, &[lesson.played], &[lesson.now], black))
                        p { (lesson.sentence()) }
                    }
                }
            }
            @if let Some(after) = learned.after() { p { (after) } }
            @if let Some(pgn) = pgn { details { summary { "The whole game" } pre { (pgn) } } }
        }
    }
}

/// Games counted by opponent or by opening.
fn summary(title: &str, head: &str, tallies: &BTreeMap<String, Tally>) -> Markup {
    html! {
        @if !tallies.is_empty() {
            section {
                h2 { (title) }
                div .scroll tabindex="0" {
                    table {
                        tr {
                            @for name in [head, "games", "points", "lessons"] { th scope="col" { (name) } }
                            th scope="col" title="The next games with the openings of the lessons: won, drawn, lost" { "next games" }
                        }
                        @for (name, tally) in tallies {
                            tr {
                                th scope="row" { (name) }
                                td { (tally.games) } td { (tally.points()) } td { (tally.lessons) } td { (tally.sequel()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The heading of the records that belong to no game, with buttons that filter by origin.
fn chooser(records: &[&(u64, Record)]) -> Markup {
    let count = |origin| records.iter().filter(|(_, record)| record.origin == origin).count();
    let counted = Origin::ALL.map(|(origin, name)| (origin, name, count(origin)));
    html! {
        section {
            h2 { "Positions that belong to no game" }
            div .chooser {
                button .now aria-pressed="true" data-origin="" { "all" }
                @for (origin, name, count) in counted.into_iter().filter(|&(_, _, count)| count > 0) {
                    button aria-pressed="false" data-origin=(name) { (kind(origin)) ": " (count) }
                }
            }
        }
    }
}

/// A chart of the number of records of each day.
fn days(records: &[(u64, Record)]) -> Markup {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, record) in records {
        *counts.entry(record.time / DAY).or_default() += 1;
    }
    // A single bar shows nothing.
    let Some((&last, _)) = counts.last_key_value().filter(|_| counts.len() > 1) else { return html! {} };
    let first = counts.keys().copied().find(|&day| last - day < MAX_DAYS as u32).unwrap_or(last);
    let most = counts.range(first..).map(|(_, &count)| count).max().unwrap_or(1);
    let name = |day: u32| text::date(day * DAY).split(' ').next().unwrap_or_default().to_owned();
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
    let mut facts = vec![if record.is_published() { "from a tree" } else { kind(record.origin) }];
    if record.flags.chess960 {
        facts.push("Chess960");
    }
    if depth.is_some() && record.evaluation_id != eval::fingerprint() {
        facts.push("by another evaluation");
    }
    html! {
        article data-origin=(origin) {
            (board(&position, &[], &moves, turn == Color::Black))
            p .what { b { (learned) } " for " (turn.fold_wb("White", "Black")) }
            p {
                (window(record.lower, record.upper))
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

/// A board that the page's script draws, with arrows for the moves that were played and for those that are better.
fn board(position: &Position, played: &[Move], better: &[Move], flipped: bool) -> Markup {
    let uci = |moves: &[Move]| {
        moves.iter().map(|m| m.to_uci(CastlingMode::Chess960).to_string()).collect::<Vec<_>>().join(" ")
    };
    html! {
        svg .board .small viewBox="0 0 360 360" role="img" data-fen=(position.fen()) data-played=(uci(played))
            data-better=(uci(better)) data-black[flipped] {}
    }
}

/// The learned window of the score, for the side to move.
fn window(lower: LearnedScore, upper: LearnedScore) -> String {
    let bound = |score: LearnedScore| (!score.is_none()).then(|| score.to_score());
    match (bound(lower), bound(upper)) {
        (None, None) => "no score".to_owned(),
        (Some(lower), None) => format!("{} or more", pawns(lower)),
        (None, Some(upper)) => format!("{} or less", pawns(upper)),
        (Some(lower), Some(upper)) if lower == upper => pawns(lower),
        (Some(lower), Some(upper)) => format!("{} to {}", pawns(lower), pawns(upper)),
    }
}
