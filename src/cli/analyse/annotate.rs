//! A game with the annotations of its analysis, as PGN.

use shakmaty::{Color, Outcome};

use super::{report::GameReport, variations::Variation};
use crate::{
    cli::{
        pawns,
        pgn::{self, Annotation, Comment},
    },
    position::{Opening, notation::eval},
};

/// Plies of another line that are shown.
const LINE_PLIES: usize = 10;
/// Begins the comment at the end of such a line; its score follows.
const LINE_COMMENT: &str = "{Engram ";
/// Follows it where the author had the same glyph: no glyph of the move is ours.
const AGREES: &str = "agrees: ";
/// Begins an evaluation in a comment.
const EVAL: &str = "[%eval ";

/// A game as annotated PGN: `[%eval]` after each move; with a marked move its glyph and the best line without it. The
/// glyph is the last one of its move, unless the author had it already, and the line ends with a comment that names
/// Engram and says which is the case, so that a later analysis finds and replaces what is ours. All else is kept: tags,
/// glyphs, comments but for evaluations, and variations.
pub fn game_pgn(report: &GameReport) -> String {
    let game = &report.game;
    let mut tags = game.tags.clone();
    let mut set = |name: &str, value: String| match tags.iter_mut().find(|(tag, _)| tag == name) {
        Some(tag) => tag.1 = value,
        None => tags.push((name.to_owned(), value)),
    };
    // The board may say otherwise than the tag, which may also be misspelt.
    if game.tag("Result").is_some() && game.outcome != Outcome::Unknown {
        set("Result", game.outcome.to_string());
    }
    // The name of our table beside another code would contradict it. Some programs add to the code: B33j, B50/02.
    let is_ours = |eco: &str, ours: &str| eco.to_ascii_uppercase().starts_with(ours);
    let agrees = |opening: &&Opening| game.tag("ECO").is_none_or(|eco| is_ours(eco, &opening.eco));
    if let Some(opening) = report.opening.as_ref().filter(agrees) {
        for (name, value) in [("ECO", &opening.eco), ("Opening", &opening.name)] {
            if game.tag(name).is_none() {
                set(name, value.clone());
            }
        }
    }
    for (name, side) in [("WhiteAccuracy", Color::White), ("BlackAccuracy", Color::Black)] {
        if let Some(accuracy) = report.accuracy(side) {
            set(name, format!("{accuracy:.1}"));
        }
    }
    if game.tag("Annotator").is_none_or(|name| name.starts_with("Engram ")) {
        set("Annotator", concat!("Engram ", env!("CARGO_PKG_VERSION")).to_owned());
    }
    let mut comments: Vec<Comment> = vec![kept(&game.preface)];
    let mut variations = report.variations.iter().map(variation_text);
    for (index, m) in report.moves.iter().enumerate() {
        let mut kept = kept(&game.annotations[index]);
        put_variations(&mut kept, &mut variations);
        // Glyphs belong to the move and come before comments.
        let mut comment: Comment = kept.extract_if(.., |token| token.starts_with('$')).collect();
        let mut agrees = false;
        if let Some(judgement) = m.judgement.map(|judgement| format!("${}", judgement.nag())) {
            agrees = comment.contains(&judgement);
            comment.extend((!agrees).then_some(judgement));
        }
        if !m.ends {
            comment.push(format!("{{[%eval {}]}}", eval(m.score)));
        }
        comment.extend(kept);
        if m.judgement.is_some()
            && let Some(line) = report.other_line(index)
        {
            let score = pawns(line.score.relative_to(m.side));
            let line = &line.moves[..line.moves.len().min(LINE_PLIES)];
            let agrees = if agrees { AGREES } else { "" };
            let line = pgn::line(&report.positions[index], line);
            comment.push(format!("({line} {LINE_COMMENT}{agrees}{score}}})"));
        }
        comments.push(comment);
    }
    pgn::write_game(game, &tags, &comments)
}

/// A variation, with evaluations if it was searched.
fn variation_text(variation: &Variation) -> String {
    let Some(line) = variation.line.as_ref().filter(|line| line.is_searched()) else {
        return variation.text.clone();
    };
    let mut nested = line.variations.iter().map(variation_text);
    let mut comments: Vec<Comment> = vec![kept(&line.game.preface)];
    for (annotations, m) in line.game.annotations.iter().zip(&line.moves) {
        let mut kept = kept(annotations);
        put_variations(&mut kept, &mut nested);
        let nags = kept.iter().take_while(|token| token.starts_with('$')).count();
        if !m.ends {
            kept.insert(nags, format!("{{[%eval {}]}}", eval(m.score)));
        }
        comments.push(kept);
    }
    let mut words = pgn::movetext(&line.game, &comments);
    words.extend(Some(line.game.written_result.clone()).filter(|result| !result.is_empty()));
    words.join(" ")
}

/// Puts these texts in the place of the variations of a move.
fn put_variations(kept: &mut Comment, texts: &mut impl Iterator<Item = String>) {
    for (token, text) in kept.iter_mut().filter(|token| token.starts_with('(')).zip(texts) {
        *token = format!("({text})");
    }
}

/// The annotations of a move but for the glyph and the better line of an earlier analysis.
pub fn by_author(annotations: &[Annotation]) -> impl Iterator<Item = &Annotation> {
    let our_line = |annotation: &Annotation| match annotation {
        Annotation::Variation(text) => better_line(text),
        _ => None,
    };
    let is_judged = annotations.iter().find_map(our_line) == Some(BetterLine::WithGlyph);
    // Glyphs of other kinds may have been added behind ours.
    let last_nag = annotations.iter().rposition(|said| matches!(said, Annotation::Nag(1..=4 | 6)));
    let is_ours = move |(index, annotation): &(usize, &Annotation)| match annotation {
        Annotation::Nag(_) => is_judged && last_nag == Some(*index),
        annotation => our_line(annotation).is_some(),
    };
    annotations.iter().enumerate().filter(move |said| !is_ours(said)).map(|(_, annotation)| annotation)
}

/// The author's annotations of a move without evaluations.
fn kept(annotations: &[Annotation]) -> Comment {
    let keep = |annotation: &Annotation| match annotation {
        Annotation::Comment(text) => {
            let text = without_commands(text, EVAL);
            (!text.is_empty()).then(|| format!("{{{text}}}"))
        }
        Annotation::Nag(_) | Annotation::Variation(_) => Some(annotation.to_string()),
    };
    by_author(annotations).filter_map(keep).collect()
}

/// A variation that we wrote.
#[derive(PartialEq, Eq)]
enum BetterLine {
    /// The last glyph of its move is ours.
    WithGlyph,
    /// The author had the same glyph.
    Agrees,
}

/// Is a variation a line of moves that we wrote, and nobody has added to?
pub fn is_better_line(text: &str) -> bool {
    better_line(text).is_some()
}

fn better_line(text: &str) -> Option<BetterLine> {
    let (moves, comment) = text.strip_suffix('}')?.split_once(LINE_COMMENT)?;
    let (line, score) = match comment.strip_prefix(AGREES) {
        Some(score) => (BetterLine::Agrees, score),
        None => (BetterLine::WithGlyph, comment),
    };
    (!moves.is_empty() && !moves.contains(['{', '(', '$']) && is_score(score)).then_some(line)
}

/// Is this a score as [`pawns`] writes it? An author's comment may begin with our name, too.
fn is_score(text: &str) -> bool {
    let is_count = |text: &str| text.parse::<i32>().is_ok();
    let tablebase = text.strip_prefix("TB win").or_else(|| text.strip_prefix("TB loss"));
    text.strip_prefix('#').is_some_and(is_count)
        || tablebase.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(" in ").is_some_and(is_count))
        || text.starts_with(['+', '-']) && text.parse::<f64>().is_ok()
}

/// A comment without the embedded commands that begin with `begin`. One that has no end is text.
pub fn without_commands(text: &str, begin: &str) -> String {
    let mut parts = text.split(begin);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']').filter(|(command, _)| !command.contains('[')) {
            Some((_, after)) => kept.push_str(after),
            None => kept.extend([begin, part]),
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_no_comment() {
        assert_eq!(without_commands("[%clk 0:01:00] good [%eval 0.2]  move", "[%"), "good move");
        assert_eq!(without_commands("[%clk 0:01:00", "[%"), "[%clk 0:01:00");
        assert_eq!(without_commands("a [b] c", "[%"), "a [b] c");
        assert_eq!(without_commands("[%eval 1] a [%clk 1] b [%eval 2]", EVAL), "a [%clk 1] b");
        for kept in
            ["C1 [%eval 0.3 lost words", "see [%eval] syntax", "[%eval 0.3 [%clk 1] b", "[%evaluation x]"]
        {
            assert_eq!(without_commands(kept, EVAL), kept);
        }
    }
}
