//! Writes the table of weights as source text, as it is compiled in.

use std::fmt::Write;

use super::model::Weight;
use crate::eval::classical::coefficients::Field;

/// The longest line, in characters.
const WIDTH: usize = 108;

const HEAD: &str = "\
//! The weights of the evaluation. Written by `engram tune`: change the terms or the data, not the numbers.
//!
//! In internal units, `s(middlegame, endgame)`, for the side that has the feature; those of the king danger in
//! units whose square is the penalty. Ranks count from the own back rank, folded files from the edge.

weights! {
";

/// The source of `table.rs` for these weights, rounded.
pub fn source(fields: &[Field], weights: &[Weight]) -> String {
    let mut text = HEAD.to_owned();
    for (number, field) in fields.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        for line in field.documentation {
            // Writing to a string does not fail.
            let _ = writeln!(text, "    ///{line}");
        }
        let values = &weights[field.first..field.first + field.count()];
        let kind = field.shape.iter().rev().fold("Pair".to_owned(), |kind, n| format!("[{kind}; {n}]"));
        let _ = writeln!(text, "    {}: {kind} = {};", field.name, array(values, field.shape, 1));
    }
    text + "}\n"
}

fn array(values: &[Weight], shape: &[usize], depth: usize) -> String {
    let Some((&length, inner)) = shape.split_first() else {
        // Plus zero, because minus zero prints its sign.
        let [mg, eg] = values[0].map(|value| value.round() + 0.0);
        return format!("s({mg}, {eg})");
    };
    let items: Vec<String> =
        values.chunks(values.len() / length).map(|item| array(item, inner, depth + 1)).collect();
    let one_line = format!("[{}]", items.join(", "));
    let indent = "    ".repeat(depth + 1);
    if !one_line.contains('\n') && one_line.len() + indent.len() < WIDTH - 40 {
        return one_line;
    }
    // Piece-square tables as the board is: four files a line. Arrays of arrays: one a line.
    let across = match (length, inner.is_empty()) {
        (_, false) => 1,
        (32, true) => 4,
        (15, true) => 7,
        _ => 8,
    };
    let mut text = "[\n".to_owned();
    for row in items.chunks(across) {
        text += &format!("{indent}{},\n", row.join(", "));
    }
    text + &"    ".repeat(depth) + "]"
}
