//! The picture: the score of each arm by round, with its 95 % band.

use std::fmt::Write as _;

use super::{experiment::Setup, game_journal::Arm, summary::SummaryRow};
use crate::cli::{counted, page::escaped};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 96.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 44.0;

/// A palette for the colour-blind (Okabe and Ito 2008).
fn color(arm: Arm) -> &'static str {
    match arm {
        Arm::Off => "#777777",
        Arm::Learn => "#0072b2",
        Arm::Placebo => "#d55e00",
        Arm::Study => "#009e73",
    }
}

/// Draws the lines of single rounds.
pub(super) fn svg(setup: &Setup, lines: &[SummaryRow]) -> String {
    let last = lines.iter().map(|line| *line.rounds.end()).max().unwrap_or(1);
    let low = lines.iter().map(|line| line.score.low).fold(1.0, f64::min);
    let high = lines.iter().map(|line| line.score.high).fold(0.0, f64::max);
    // Whole tenths, and at least one where all scores are the same.
    let low = (low * 10.0).floor() / 10.0;
    let high = ((high * 10.0).ceil() / 10.0).max(low + 0.1);
    let x = |round: u32| LEFT + (WIDTH - LEFT - RIGHT) * f64::from(round - 1) / f64::from(last.max(2) - 1);
    let y = |score: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / (high - low);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">Engram against {}: {}, both colours; score by round, 95 % bands</text>\n",
        escaped(&setup.opponent.name()),
        counted(setup.openings.len(), "opening"),
    );
    // Writing to a string does not fail.
    let tenths = (low * 10.0).round() as u32..=(high * 10.0).round() as u32;
    for tenth in tenths {
        let level = y(f64::from(tenth) / 10.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {level:.1}H{:.1}\" stroke=\"#dddddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} %</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            level + 4.0,
            10 * tenth,
        );
    }
    for round in 1..=last {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{round}</text>",
            x(round),
            HEIGHT - BOTTOM + 20.0
        );
    }
    for &arm in &setup.arms {
        let own: Vec<&SummaryRow> = lines.iter().filter(|line| line.arm == arm).collect();
        svg.push_str(&curve(arm, &own, |line, score| (x(*line.rounds.start()), y(score))));
    }
    svg.push_str("</svg>\n");
    svg
}

/// The scores of one arm with their band, and its name at the end.
fn curve(arm: Arm, lines: &[&SummaryRow], place: impl Fn(&SummaryRow, f64) -> (f64, f64)) -> String {
    let Some(last) = lines.last() else { return String::new() };
    let point = |line: &SummaryRow, score: f64| {
        let (x, y) = place(line, score);
        format!("{x:.1},{y:.1}")
    };
    let upper = lines.iter().map(|line| point(line, line.score.high));
    let lower = lines.iter().rev().map(|line| point(line, line.score.low));
    let band: Vec<String> = upper.chain(lower).collect();
    let middle: Vec<String> = lines.iter().map(|line| point(line, line.score.value)).collect();
    let (x, y) = place(last, last.score.value);
    format!(
        "<polygon points=\"{}\" fill=\"{color}\" fill-opacity=\"0.13\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.5\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{color}\">{} {:.1} %</text>\n",
        band.join(" "),
        middle.join(" "),
        x + 8.0,
        y + 4.0,
        arm.name(),
        100.0 * last.score.value,
        color = color(arm),
    )
}
