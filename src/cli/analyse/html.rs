//! Positions and games as sections of a page.

use std::fmt::Write;

use shakmaty::Color;

use super::{
    epd::EpdRecord,
    judge::{MoveJudgement, chances},
    pool::Finding,
    report::{GameReport, pawns},
};
use crate::{
    cli::{
        page::{board, escaped},
        pgn,
    },
    position::Position,
    types::Score,
};

/// A position with its lines.
pub fn position(record: &EpdRecord, finding: &Finding) -> String {
    let position = &record.position;
    let black = position.turn() == Color::Black;
    let sign = position.turn().fold_wb(1, -1);
    let mut html = format!(
        "<section><h2>{}</h2><div class=\"moments\"><article>{}<p class=\"fen\">{}</p><ol>",
        escaped(&record.id),
        board(position.board(), None, finding.best(), black),
        escaped(&position.fen()),
    );
    for line in &finding.lines {
        let score = pawns(Score(sign * line.score.0));
        let _ = write!(html, "<li><b>{score}</b> {}</li>", escaped(&pgn::line(position, &line.moves)));
    }
    html.push_str("</ol>");
    if let Some(solved) = record.result(finding).solved {
        html.push_str(if solved {
            "<p class=\"good\">solved</p>"
        } else {
            "<p class=\"bad\">not solved</p>"
        });
    }
    html + "</article></div></section>"
}

/// A game: head, graph, board to step through, moves, critical moments.
pub fn game(report: &GameReport) -> String {
    let game = &report.game;
    let (white, black) = (escaped(game.player(Color::White)), escaped(game.player(Color::Black)));
    let mut html =
        format!("<section class=\"game\"><h2>{white} - {black} <span>{}</span></h2>", game.outcome);
    let facts = [game.tag("Event"), game.tag("Site"), game.tag("Date")];
    let mut facts: Vec<String> = facts.into_iter().flatten().map(escaped).collect();
    facts.extend(report.opening_name().map(|name| escaped(&name)));
    let _ = write!(html, "<p class=\"facts\">{}</p>", facts.join(" · "));
    if report.moves.is_empty() {
        return html + "<p>No moves.</p></section>";
    }
    html.push_str(&summary(report));
    html.push_str(&graph(report));
    html.push_str("<div class=\"play\"><div class=\"stage\">");
    html.push_str(&board(report.positions[0].board(), None, None, false));
    html.push_str(
        "<div class=\"steps\"><button data-step=\"first\" aria-label=\"first\">|&#x25C0;&#xFE0E;</button>\
         <button data-step=\"back\" aria-label=\"back\">&#x25C0;&#xFE0E;</button>\
         <output></output><button data-step=\"next\" aria-label=\"next\">&#x25B6;&#xFE0E;</button>\
         <button data-step=\"last\" aria-label=\"last\">&#x25B6;&#xFE0E;|</button></div></div>",
    );
    html.push_str(&moves(report));
    html.push_str("</div>");
    html.push_str(&moments(report));
    html.push_str(&data(report));
    html + "</section>"
}

fn summary(report: &GameReport) -> String {
    let mut html = String::from("<table><tr><th></th><th>accuracy</th><th>?!</th><th>?</th><th>??</th></tr>");
    for side in [Color::White, Color::Black] {
        let accuracy = report.accuracy(side).map_or("-".to_owned(), |accuracy| format!("{accuracy:.1} %"));
        let count = |judgement| report.count(side, judgement);
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{accuracy}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(report.game.player(side)),
            count(MoveJudgement::Inaccuracy),
            count(MoveJudgement::Mistake),
            count(MoveJudgement::Blunder),
        );
    }
    html + "</table>"
}

/// White's winning chances over the game.
fn graph(report: &GameReport) -> String {
    let width = 1000.0;
    let step = width / report.moves.len() as f64;
    let mut points = String::from("0,50");
    let mut marks = String::new();
    for (index, m) in report.moves.iter().enumerate() {
        let (x, y) = (step * (index + 1) as f64, 100.0 - chances(m.score));
        let _ = write!(points, " {x:.1},{y:.1}");
        if let Some(judgement) = m.judgement.filter(|&judgement| judgement > MoveJudgement::Inaccuracy) {
            let _ = write!(
                marks,
                "<line class=\"{}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"100\"/>",
                judgement.word()
            );
        }
    }
    format!(
        "<svg class=\"graph\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"winning chances of White\"><rect width=\"1000\" height=\"100\"/>\
         <polygon points=\"0,100 {points} 1000,100\"/><line x1=\"0\" x2=\"1000\" y1=\"50\" y2=\"50\"/>{marks}\
         <line class=\"now\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"100\"/></svg>"
    )
}

fn moves(report: &GameReport) -> String {
    let mut html = String::from("<p class=\"moves\">");
    for (index, m) in report.moves.iter().enumerate() {
        let class = m.judgement.map_or("", MoveJudgement::word);
        let glyph = m.judgement.map_or("", MoveJudgement::glyph);
        let number = match (m.side, index) {
            (Color::White, _) | (_, 0) => {
                let text = pgn::line(&report.positions[index], &report.game.moves[index..=index]);
                text.split(' ').next().unwrap_or_default().to_owned() + "&nbsp;"
            }
            _ => String::new(),
        };
        let _ = write!(
            html,
            "<a class=\"{class}\" data-ply=\"{}\">{number}{}{glyph}<small>{}</small></a> ",
            index + 1,
            escaped(&m.san),
            if m.ends { String::new() } else { pawns(m.score) },
        );
    }
    html + "</p>"
}

fn moments(report: &GameReport) -> String {
    let critical = report.critical();
    if critical.is_empty() {
        return String::new();
    }
    let mut html = String::from("<h3>Critical moments</h3><div class=\"moments\">");
    for index in critical {
        let m = &report.moves[index];
        let before: &Position = &report.positions[index];
        let played = pgn::line(before, &report.game.moves[index..=index]);
        let better = report.better_line(index, 8).unwrap_or_default();
        let word = m.judgement.map_or("", MoveJudgement::word);
        let glyph = m.judgement.map_or("", MoveJudgement::glyph);
        let last = index.checked_sub(1).map(|last| report.game.moves[last]);
        let _ = write!(
            html,
            "<article>{}<p><b class=\"{word}\">{}{glyph}</b> {word}, {} lost {:.0} % of the winning chances \
             (now {}).</p><p>Better: {}</p></article>",
            board(before.board(), last, m.better, m.side == Color::Black),
            escaped(&played),
            m.side.fold_wb("White", "Black"),
            m.loss,
            pawns(m.score),
            escaped(&pgn::line(before, &better)),
        );
    }
    html + "</div>"
}

/// What the script needs to step through the game: the pieces of each position, and the squares of each move.
fn data(report: &GameReport) -> String {
    let boards: Vec<String> = report.positions.iter().map(|position| position.board().to_string()).collect();
    let squares = report.game.moves.iter().map(|m| [m.from().map_or(0, u32::from), u32::from(m.to())]);
    let labels = report.moves.iter().map(|m| format!("{} {}", m.san, pawns(m.score)));
    let (squares, labels): (Vec<_>, Vec<_>) = (squares.collect(), labels.collect());
    let json = serde_json::json!({ "boards": boards, "squares": squares, "labels": labels }).to_string();
    // A closing tag inside a string would end the script.
    format!("<script type=\"application/json\" class=\"data\">{}</script>", json.replace("</", "<\\/"))
}
