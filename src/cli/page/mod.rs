//! Pages for the browser that need nothing else: no network, no other file. What all of them share.

use std::fmt::Write;

use shakmaty::{Board, Move, Square};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The pieces, drawn for these pages in a field of 45 by 45.
const PIECES: &str = include_str!("pieces.svg");

/// The end of a page.
pub const FOOT: &str = "<footer>Made by Engram. Scores are White's, in pawns.</footer></main></body></html>";

/// A page up to its first section. `about` stands behind the title in the browser's tab.
pub fn head(title: &str, about: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} - {about}</title><style>{STYLE}</style></head><body>{PIECES}\
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
    let better: Vec<_> = better.map(|m| (m, Arrow::Better)).into_iter().collect();
    svg + &pieces_and_arrows(position, &better, flipped) + "</svg>"
}

/// What an arrow says of its move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arrow {
    /// It is recommended.
    Better,
    /// It is rejected.
    Rejected,
}

/// The same for pages with hundreds of boards, with any arrows: the squares are the page's own [`FIELD`].
pub fn small_board(position: &Board, arrows: &[(Move, Arrow)], flipped: bool) -> String {
    format!("{BOARD}<use href=\"#f\"/>{}</svg>", pieces_and_arrows(position, arrows, flipped))
}

const BOARD: &str = "<svg class=\"board\" viewBox=\"0 0 360 360\" role=\"img\">";

/// The empty board that [`small_board`] names: it stands once in its page.
pub const FIELD: &str = "<svg aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern id=\"c\" width=\"90\" \
    height=\"90\" patternUnits=\"userSpaceOnUse\"><rect class=\"l\" width=\"90\" height=\"90\"/><path class=\"d\" \
    d=\"M45 0h45v45h-45zM0 45h45v45h-45z\"/></pattern><rect id=\"f\" width=\"360\" height=\"360\" \
    fill=\"url(#c)\"/><marker id=\"no\" viewBox=\"0 0 10 10\" refX=\"6\" refY=\"5\" markerWidth=\"3\" markerHeight=\"3\" \
    orient=\"auto\"><path d=\"M0 0L10 5L0 10z\"/></marker></defs></svg>";

fn corner(square: Square, flipped: bool) -> (u32, u32) {
    let (file, rank) = (u32::from(square.file()), u32::from(square.rank()));
    if flipped { ((7 - file) * 45, rank * 45) } else { (file * 45, (7 - rank) * 45) }
}

fn pieces_and_arrows(position: &Board, arrows: &[(Move, Arrow)], flipped: bool) -> String {
    let mut svg = String::new();
    for (square, piece) in position {
        let (x, y) = corner(square, flipped);
        let (role, side) = (piece.role.char(), piece.color.fold_wb('w', 'b'));
        let _ = write!(
            svg,
            "<use href=\"#{role}\" class=\"{side}\" x=\"{x}\" y=\"{y}\" width=\"45\" height=\"45\"/>"
        );
    }
    for &(m, arrow) in arrows {
        let Some(from) = m.from() else { continue };
        let to =
            m.castling_side().map_or(m.to(), |side| Square::from_coords(side.king_to_file(), from.rank()));
        let ((x1, y1), (x2, y2)) = (corner(from, flipped), corner(to, flipped));
        let (class, tip) = match arrow {
            Arrow::Better => ("arrow", "tip"),
            Arrow::Rejected => ("arrow no", "no"),
        };
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" marker-end=\"url(#{tip})\"/>",
            x1 + 22,
            y1 + 22,
            x2 + 22,
            y2 + 22
        );
    }
    svg
}
