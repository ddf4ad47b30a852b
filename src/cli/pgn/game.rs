use std::ops::ControlFlow;

use pgn_reader::{Nag, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{CastlingMode, Color, Move, Outcome, Position as _, san::San};

use super::{Broken, Chunk};
use crate::{position::Position, uci::translate};

/// Comments longer than this are cut in pieces, which are joined again.
const COMMENT_BYTES: usize = 1 << 14;
/// Tags longer than this are an error.
const TAG_BYTES: usize = 1 << 14;

/// What a game says besides its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// `{text}`
    Comment(String),
    /// `$number`
    Nag(u8),
    /// `(moves)`, as text with everything in it.
    Variation(String),
}

/// A game of a PGN file.
#[derive(Clone, Debug)]
pub struct Game {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// All tags in their order.
    pub tags: Vec<(String, String)>,
    /// Where the moves begin.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// What was said before the first move.
    pub preface: Vec<Annotation>,
    /// What was said after each move.
    pub annotations: Vec<Vec<Annotation>>,
    /// The result, from the end of the moves, else from the tag.
    pub outcome: Outcome,
}

impl Game {
    /// Reads a game and plays its moves.
    ///
    /// # Errors
    /// What keeps it from being played, with number and line.
    pub fn read(chunk: &Chunk, number: usize) -> Result<Game, Broken> {
        let broken = |reason: String| Broken { number, line: chunk.line, reason };
        if chunk.too_long {
            return Err(broken("it is longer than any game; an end of a comment may be missing".to_owned()));
        }
        let mut reader = Reader::build(chunk.text.as_slice())
            .set_supported_tag_line_length(TAG_BYTES)
            .set_supported_comment_length(COMMENT_BYTES)
            .finish();
        let read = reader.read_game(&mut Scribe);
        let draft = match read {
            Ok(Some(Ok(draft))) => draft,
            Ok(Some(Err(reason))) => return Err(broken(reason)),
            Ok(None) => return Err(broken("there is no PGN in it".to_owned())),
            Err(error) => return Err(broken(error.to_string())),
        };
        if draft.tags.is_empty() && draft.moves.is_empty() && draft.outcome.is_none() {
            return Err(broken("there is no PGN in it".to_owned()));
        }
        let tagged = draft.tags.iter().find(|(name, _)| name == "Result");
        let from_tag = tagged.and_then(|(_, value)| value.parse().ok()).unwrap_or(Outcome::Unknown);
        Ok(Game {
            number,
            line: chunk.line,
            outcome: draft.outcome.unwrap_or(from_tag),
            tags: draft.tags,
            start: draft.start,
            moves: draft.moves,
            preface: draft.preface,
            annotations: draft.annotations,
        })
    }

    /// The value of a tag; nothing if it is missing or says that nothing is known.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty() && *value != "?")
    }

    /// The name of a player, or a question mark.
    pub fn player(&self, color: Color) -> &str {
        self.tag(color.fold_wb("White", "Black")).unwrap_or("?")
    }

    /// The positions before each move and at the end.
    pub fn positions(&self) -> Vec<Position> {
        let mut position = self.start.clone();
        let mut positions = vec![position.clone()];
        for &m in &self.moves {
            position = position.play(m);
            positions.push(position.clone());
        }
        positions
    }
}

/// A game while it is read.
struct Draft {
    tags: Vec<(String, String)>,
    start: Position,
    position: Position,
    moves: Vec<Move>,
    preface: Vec<Annotation>,
    annotations: Vec<Vec<Annotation>>,
    outcome: Option<Outcome>,
    /// Pieces of a long comment.
    comment: String,
    /// The variation that is being read, and how deep variations are nested in it.
    variation: String,
    depth: usize,
}

impl Draft {
    fn add(&mut self, annotation: Annotation) {
        if self.depth > 0 {
            self.variation.push_str(&match annotation {
                Annotation::Comment(text) => format!(" {{{text}}}"),
                Annotation::Nag(nag) => format!(" ${nag}"),
                Annotation::Variation(text) => format!(" ({text})"),
            });
            return;
        }
        self.annotations.last_mut().unwrap_or(&mut self.preface).push(annotation);
    }
}

/// Writes a game down as the reader reads it. The output is the game or what is wrong with it.
struct Scribe;

type Written = Result<Draft, String>;

impl Visitor for Scribe {
    type Tags = Vec<(String, String)>;
    type Movetext = Draft;
    type Output = Written;

    fn begin_tags(&mut self) -> ControlFlow<Written, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Written> {
        // A name that begins or goes on otherwise is damage: the splitter (`is_tag`) takes it for no tag, and written
        // back it would end the tags.
        let name = name.trim_ascii();
        if !name.first().is_some_and(u8::is_ascii_alphabetic)
            || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte))
        {
            return ControlFlow::Continue(());
        }
        // A line end, escaped by a backslash, may stand in a value; written back it would end the tag.
        let value = value.decode_utf8_lossy().replace(char::is_control, " ");
        tags.push((String::from_utf8_lossy(name).into_owned(), value));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Written, Draft> {
        match start(&tags) {
            Ok(start) => ControlFlow::Continue(Draft {
                tags,
                position: start.clone(),
                start,
                moves: Vec::new(),
                preface: Vec::new(),
                annotations: Vec::new(),
                outcome: None,
                comment: String::new(),
                variation: String::new(),
                depth: 0,
            }),
            Err(reason) => ControlFlow::Break(Err(reason)),
        }
    }

    fn san(&mut self, draft: &mut Draft, san: SanPlus) -> ControlFlow<Written> {
        if draft.depth > 0 {
            if !draft.variation.is_empty() && !draft.variation.ends_with('(') {
                draft.variation.push(' ');
            }
            draft.variation.push_str(&san.to_string());
            return ControlFlow::Continue(());
        }
        let Some(m) = to_move(san.san, &draft.position) else {
            let chess = draft.position.chess();
            let dots = chess.turn().fold_wb(".", "...");
            let number = chess.fullmoves();
            return ControlFlow::Break(Err(format!("{number}{dots} {san} is no legal move")));
        };
        draft.position = draft.position.play(m);
        draft.moves.push(m);
        draft.annotations.push(Vec::new());
        ControlFlow::Continue(())
    }

    fn nag(&mut self, draft: &mut Draft, nag: Nag) -> ControlFlow<Written> {
        draft.add(Annotation::Nag(nag.0));
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, draft: &mut Draft, comment: RawComment<'_>) -> ControlFlow<Written> {
        draft.comment.push_str(&String::from_utf8_lossy(comment.as_bytes()));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, draft: &mut Draft, comment: RawComment<'_>) -> ControlFlow<Written> {
        let mut text = std::mem::take(&mut draft.comment);
        text.push_str(&String::from_utf8_lossy(comment.as_bytes()));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        draft.add(Annotation::Comment(text));
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, draft: &mut Draft) -> ControlFlow<Written, Skip> {
        if draft.depth > 0 {
            draft.variation.push_str(" (");
        }
        draft.depth += 1;
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, draft: &mut Draft) -> ControlFlow<Written> {
        match draft.depth {
            // A stray bracket closes nothing.
            0 => {}
            1 => {
                draft.depth = 0;
                let text = std::mem::take(&mut draft.variation);
                draft.add(Annotation::Variation(text));
            }
            _ => {
                draft.depth -= 1;
                draft.variation.push(')');
            }
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, draft: &mut Draft, outcome: Outcome) -> ControlFlow<Written> {
        if draft.depth == 0 {
            draft.outcome = Some(outcome);
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, draft: Draft) -> Written {
        if draft.depth > 0 {
            return Err("a variation has no end".to_owned());
        }
        Ok(draft)
    }
}

fn start(tags: &[(String, String)]) -> Result<Position, String> {
    let tag =
        |name: &str| tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
    let variant = tag("Variant").unwrap_or("").to_ascii_lowercase();
    let chess960 = ["960", "fischer", "frc"].iter().any(|name| variant.contains(name));
    let usual = ["", "?", "standard", "chess", "normal", "from position"];
    if !chess960 && !usual.contains(&variant.as_str()) {
        return Err(format!("the variant {} is not played here", tag("Variant").unwrap_or_default()));
    }
    match tag("FEN").filter(|fen| !fen.is_empty() && *fen != "?") {
        Some(fen) => translate::parse_fen(fen, chess960).map_err(|error| error.to_string()),
        None if chess960 => Err("a Chess960 game needs a FEN tag".to_owned()),
        None => Ok(Position::default()),
    }
}

/// A move as written; nothing if it is not legal. UCI notation and castling as the king's two steps (or to the
/// rook's square) are understood as well, because some programs write them.
pub fn to_move(san: San, position: &Position) -> Option<Move> {
    let chess = position.chess();
    if let Ok(m) = san.to_move(chess) {
        return Some(m);
    }
    let written = san.to_string();
    let squares = written.trim_start_matches('K').replace(['x', '='], "").to_ascii_lowercase();
    let modes = [CastlingMode::Standard, CastlingMode::Chess960];
    let is_written = |m: &Move| modes.iter().any(|&mode| m.to_uci(mode).to_string() == squares);
    position.legal_moves().into_iter().find(is_written)
}
