//! Pages for the browser that need nothing else: no network, no other file. What all of them share.

use std::fmt::Write;

use shakmaty::{Board, Move, Square};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The men, drawn for these pages in a field of 45 by 45.
const MEN: &str = include_str!("men.svg");

/// The end of a page.
pub const FOOT: &str = "<footer>Made by Engram. Scores are White's, in pawns.</footer></main></body></html>";

/// A page up to its first section. `about` stands behind the title in the browser's tab.
pub fn head(title: &str, about: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} - {about}</title><style>{STYLE}</style></head><body>{MEN}\
         <script>{SCRIPT}</script><main><h1>{title}</h1>"
    )
}

/// Text that is no markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A board as a picture, the squares of `last` marked, with an arrow for `better`. The script of the page can
/// set it up anew.
pub fn board(position: &Board, last: Option<Move>, better: Option<Move>, flipped: bool) -> String {
    let mut svg = String::from(BOARD);
    for square in Square::ALL {
        let (x, y) = corner(square, flipped);
        let marked = last.is_some_and(|m| m.from() == Some(square) || m.to() == square);
        let class = match (square.is_dark(), marked) {
            (true, false) => "d",
            (false, false) => "l",
            (true, true) => "d m",
            (false, true) => "l m",
        };
        let _ = write!(svg, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"45\" height=\"45\"/>");
    }
    svg + &men_and_arrow(position, better, flipped) + "</svg>"
}

/// The same for pages with hundreds of boards: the squares are the page's own [`FIELD`].
pub fn small_board(position: &Board, better: Option<Move>, flipped: bool) -> String {
    format!("{BOARD}<use href=\"#f\"/>{}</svg>", men_and_arrow(position, better, flipped))
}

const BOARD: &str = "<svg class=\"board\" viewBox=\"0 0 360 360\" role=\"img\">";

/// The empty board that [`small_board`] names: it stands once in its page.
pub const FIELD: &str = "<svg aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern id=\"c\" width=\"90\" \
    height=\"90\" patternUnits=\"userSpaceOnUse\"><rect class=\"l\" width=\"90\" height=\"90\"/><path class=\"d\" \
    d=\"M45 0h45v45h-45zM0 45h45v45h-45z\"/></pattern><rect id=\"f\" width=\"360\" height=\"360\" \
    fill=\"url(#c)\"/></defs></svg>";

fn corner(square: Square, flipped: bool) -> (u32, u32) {
    let (file, rank) = (u32::from(square.file()), u32::from(square.rank()));
    if flipped { ((7 - file) * 45, rank * 45) } else { (file * 45, (7 - rank) * 45) }
}

fn men_and_arrow(position: &Board, better: Option<Move>, flipped: bool) -> String {
    let mut svg = String::new();
    for (square, piece) in position {
        let (x, y) = corner(square, flipped);
        let (role, side) = (piece.role.char(), piece.color.fold_wb('w', 'b'));
        let _ = write!(
            svg,
            "<use href=\"#{role}\" class=\"{side}\" x=\"{x}\" y=\"{y}\" width=\"45\" height=\"45\"/>"
        );
    }
    if let Some((from, to)) = better.and_then(|m| Some((m.from()?, m.to()))) {
        let ((x1, y1), (x2, y2)) = (corner(from, flipped), corner(to, flipped));
        let _ = write!(
            svg,
            "<line class=\"arrow\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" marker-end=\"url(#tip)\"/>",
            x1 + 22,
            y1 + 22,
            x2 + 22,
            y2 + 22
        );
    }
    svg
}
