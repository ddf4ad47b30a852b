//! `engram tree html`: the tree as a page for the browser.

use std::{fmt::Write as _, path::PathBuf};

use clap::Args;
use maud::{PreEscaped, html};
use serde::Serialize;
use shakmaty::{Color, Move, Position as _, Role, Square};

use crate::{
    cli::{
        CliError, DAY, check_output, day, json,
        page::{self, Frame, embedded},
        pawns, write_file,
    },
    files::resolve,
    position::{Openings, Position},
    tree::{Advice, MoveView, Nearest, PositionView, Tree},
    types::Score,
    uci::{Output, counted},
};

/// Plies shown of the line of a search.
const LINE_PLIES: usize = 8;
/// The names of squares in the page's data, from a1 to h8.
const SQUARES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// The digits of numbers there.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const FOOT: &str = "Made by Engram. Scores are White's, in pawns.";

#[derive(Debug, Args)]
pub(super) struct HtmlArguments {
    /// The file to write; the name of the tree with `.html` if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
    /// Mark what changed since this day (UTC); if not given, since this browser last showed a page of this tree.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    since: Option<i64>,
    /// Show at most this many positions, the nearest to a root.
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    positions: usize,
}

/// What the page knows besides its positions.
#[derive(Serialize)]
struct Info<'a> {
    title: &'a str,
    /// Tells the tree from others of its name, for what a browser remembers of its pages.
    id: u32,
    /// Seconds since 1970.
    written: i64,
    since: Option<i64>,
    roots: Vec<RootData>,
    openings: Vec<String>,
}

#[derive(Serialize)]
struct RootData {
    name: String,
    fen: String,
    /// Whose moves the tree is to find: `w`, `b` or `wb`.
    sides: String,
    chess960: bool,
}

/// Writes the page.
///
/// # Errors
/// The tree cannot be read, or the page cannot be written.
pub(super) fn run(tree: &Tree, arguments: &HtmlArguments, output: &Output) -> Result<(), CliError> {
    let to = arguments.output.clone().unwrap_or_else(|| tree.path().with_extension("html"));
    check_output(&to, [tree.path()], arguments.force)?;
    let roots = super::roots(tree)?;
    let title = tree.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let size = tree.size()?;
    let (mut text, end) = Frame {
        title: &title,
        about: "a tree of Engram",
        style: page::TREE_STYLE,
        script: page::TREE_SCRIPT,
        header: html! {
            h1 { (title) }
            p .facts { (counted(size.positions, "position")) ", " (size.searched) " searched." }
            div #page { p { "Opening …" } noscript { p { "This page needs JavaScript." } } }
            p #said .unseen aria-live="polite" {}
        },
        footer: FOOT,
    }
    .parts();
    text += "<script id=\"positions\" type=\"text/plain\">\n";
    let mut writer =
        PositionWriter::new(tree, roots.iter().map(|(root, _)| root.clone()), arguments.positions);
    let mut shown = 0_usize;
    while let Some(line) = writer.next()? {
        text += &line;
        shown += 1;
    }
    text += "</script>";
    let info = Info {
        title: &title,
        id: fnv(&resolve(tree.path()).unwrap_or_default().to_string_lossy()),
        written: jiff::Timestamp::now().as_second(),
        since: arguments.since.map(|day| day * i64::from(DAY)),
        roots: roots.iter().map(|(root, sides)| root_data(root, sides, &writer.names)).collect(),
        openings: writer.openings,
    };
    let info = embedded(&json(&info));
    text += &html! { script #info type="application/json" { (PreEscaped(info)) } }.into_string();
    text += &end;
    write_file(&to, text.as_bytes(), arguments.force)?;
    let left = size.positions.saturating_sub(shown as u64);
    let left = if left > 0 {
        format!("; {left} not shown: they are farther away, or no moves lead there")
    } else {
        String::new()
    };
    output.line(format_args!("{}: {}{left}", to.display(), counted(shown, "position")));
    Ok(())
}

fn root_data(root: &Position, sides: &[Color], names: &Openings) -> RootData {
    let fen = root.fen();
    let name = match names.at(root) {
        _ if fen == Position::default().fen() => "Start position".to_owned(),
        Some(opening) => opening.to_string(),
        None => fen.clone(),
    };
    RootData {
        name,
        fen,
        sides: sides.iter().map(|side| side.char()).collect(),
        chess960: root.chess().castles().mode().is_chess960(),
    }
}

/// Turns positions into lines: the number of the position that it was found from, time of the last change, hash, score,
/// depth and opening, and behind each `;` a move. Numbers of positions and times have the base 36, and empty fields at
/// the end are left out. The page's `graph.js` reads it.
struct PositionWriter<'a> {
    tree: &'a Tree,
    nearest: Nearest<'a>,
    parents: Vec<Option<usize>>,
    names: Openings,
    openings: Vec<String>,
}

impl<'a> PositionWriter<'a> {
    fn new(tree: &'a Tree, roots: impl Iterator<Item = Position>, most: usize) -> PositionWriter<'a> {
        let roots: Vec<Position> = roots.collect();
        // All roots are shown.
        let parents = vec![None; roots.len()];
        let nearest = Nearest::new(tree, roots, most.max(parents.len()));
        PositionWriter { tree, nearest, parents, names: Openings::own(), openings: Vec::new() }
    }

    fn next(&mut self) -> Result<Option<String>, CliError> {
        let Some((position, view)) = self.nearest.next_position()? else { return Ok(None) };
        let own = self.nearest.number(&position).unwrap_or(0);
        let opening = self.names.at(&position).map(|opening| {
            self.openings.push(opening.to_string());
            base_36(self.openings.len() - 1)
        });
        let score = view.score.map(|score| score_field(score, position.turn()));
        let mut line = String::new();
        put(
            &mut line,
            [
                self.parents[own].map_or_else(String::new, base_36),
                base_36(usize::try_from(view.changed).unwrap_or(0)),
                base_36(fnv(&position.epd()) as usize),
                score.unwrap_or_default(),
                depth_field(&view),
                opening.unwrap_or_default(),
            ],
        );
        for m in &view.moves {
            line.push(';');
            let after = self.after(&position, m, own)?;
            self.put_move(&mut line, &position, m, after);
        }
        line.push('\n');
        Ok(Some(line))
    }

    /// The number of the position after a move, or the line of the search behind it.
    fn after(&mut self, position: &Position, m: &MoveView, own: usize) -> Result<String, CliError> {
        let child = self.nearest.number(&position.play(m.m));
        if let Some(child) = child {
            // Those found just now follow each other.
            if child == self.parents.len() {
                self.parents.push(Some(own));
            }
            return Ok(base_36(child));
        }
        if m.score.is_none() {
            return Ok(String::new());
        }
        let line = self.tree.expected(position, &[m.m])?;
        Ok(line.iter().skip(1).take(LINE_PLIES).fold(">".to_owned(), |line, &m| line + &move_field(m)))
    }

    fn put_move(&self, line: &mut String, position: &Position, m: &MoveView, after: String) {
        let [games, white, black] = m.games;
        let number = |count: u64| if count > 0 { count.to_string() } else { String::new() };
        let note = match m.advice {
            Some(Advice::Prefer) => "p",
            Some(Advice::Exclude) => "x",
            None if m.closes_cycle => "c",
            None => "",
        };
        put(
            line,
            [
                move_field(m.m),
                m.score.map_or_else(String::new, |score| score_field(score, position.turn())),
                m.score.map_or_else(String::new, |_| m.depth.get().to_string()),
                after,
                number(m.searches),
                number(games),
                number(white),
                number(black),
                note.to_owned(),
            ],
        );
    }
}

/// Fields with commas between them.
fn put<const N: usize>(line: &mut String, fields: [String; N]) {
    let used = fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
    line.push_str(&fields[..used].join(","));
}

fn depth_field(view: &PositionView) -> String {
    view.score.map_or_else(String::new, |_| view.depth.get().to_string())
}

/// White's score: centipawns, or the winner and words.
fn score_field(score: Score, turn: Color) -> String {
    let score = score.relative_to(turn);
    match score.is_decisive() {
        true => format!("{}{}", if score.0 > 0 { 'w' } else { 'b' }, pawns(score)),
        false => score.centipawns().to_string(),
    }
}

/// Two squares, and the piece that a pawn becomes. Castling is written as king takes rook.
fn move_field(m: Move) -> String {
    let square = |square: Square| char::from(SQUARES[usize::from(square)]);
    let mut field = String::from(square(m.from().unwrap_or_else(|| m.to())));
    field.push(square(m.to()));
    if let Some(role) = m.promotion() {
        let _ = write!(field, "={}", Role::char(role));
    }
    field
}

fn base_36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[number % 36]));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The 32-bit FNV-1a hash (Fowler, Noll and Vo).
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
