//! `engram learn import games.pgn --player NAME`: what a player's lost games teach.

use std::{fs::File, io::BufReader, ops::ControlFlow, path::Path};

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use serde_json::json;
use shakmaty::{Color, KnownOutcome, Outcome, Position as _, uci::UciMove};

use super::{LearnError, Opened, search::Asked};
use crate::{
    engine::Engine,
    eval,
    learn::{
        self, Flags, LearnedScore, Origin, Record, Taken,
        game::{Game as Searches, Line},
        policy::{self, Conditions, Known, Rules},
    },
    position::{Path as Played, Position},
    types::PackedMove,
    uci::{Output, translate},
};

/// A game of the file.
#[derive(Default)]
struct Game {
    white: String,
    black: String,
    result: String,
    start: Position,
    moves: Vec<UciMove>,
    end: Position,
    wrong: Option<String>,
}

impl Game {
    /// The side that `player` (a part of the name, in any case) lost with.
    fn lost_by(&self, player: &str) -> Option<Color> {
        let is = |name: &str| name.to_lowercase().contains(&player.to_lowercase());
        match self.result.parse() {
            Ok(Outcome::Known(KnownOutcome::Decisive { winner: Color::Black })) if is(&self.white) => {
                Some(Color::White)
            }
            Ok(Outcome::Known(KnownOutcome::Decisive { winner: Color::White })) if is(&self.black) => {
                Some(Color::Black)
            }
            _ => None,
        }
    }
}

struct Scribe;

impl Visitor for Scribe {
    type Tags = Game;
    type Movetext = Game;
    type Output = Game;

    fn begin_tags(&mut self) -> ControlFlow<Game, Game> {
        ControlFlow::Continue(Game::default())
    }

    fn tag(&mut self, game: &mut Game, name: &[u8], value: RawTag<'_>) -> ControlFlow<Game> {
        let value = value.decode_utf8_lossy().into_owned();
        match name {
            b"White" => game.white = value,
            b"Black" => game.black = value,
            b"Result" => game.result = value,
            b"FEN" => match translate::parse_fen(&value, false) {
                Ok(position) => (game.start, game.end) = (position.clone(), position),
                Err(error) => game.wrong = Some(error.to_string()),
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, game: Game) -> ControlFlow<Game, Game> {
        ControlFlow::Continue(game)
    }

    fn san(&mut self, game: &mut Game, san: SanPlus) -> ControlFlow<Game> {
        if game.wrong.is_none() {
            match san.san.to_move(game.end.chess()) {
                Ok(m) => {
                    game.moves.push(m.to_uci(game.end.chess().castles().mode()));
                    game.end = game.end.play(m);
                }
                Err(_) => game.wrong = Some(format!("{san} is not legal in {}", game.end.fen())),
            }
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Game) -> Game {
        game
    }
}

/// Analyses the games that `player` lost, `nodes` nodes a position, and learns where the score dropped, by the
/// rules that the engine has for its own games.
pub(super) fn import(
    file: &mut Opened,
    from: &Path,
    player: &str,
    nodes: u64,
    json: bool,
    output: &Output,
) -> Result<(), LearnError> {
    let failed = |source| LearnError::Other { path: from.to_owned(), doing: "read", source };
    let mut reader = Reader::new(BufReader::new(File::open(from).map_err(failed)?));
    let mut asked = Asked::new(nodes);
    let (mut games, mut lost, mut wrong, mut learned) = (0, 0, 0, Taken::default());
    while let Some(game) = reader.read_game(&mut Scribe).map_err(failed)? {
        if output.is_closed() {
            break;
        }
        games += 1;
        if let Some(reason) = &game.wrong {
            wrong += 1;
            log::warn!(
                "game {games} of {} is used up to the move that cannot be read: {reason}",
                from.display()
            );
        }
        let Some(side) = game.lost_by(player) else { continue };
        lost += 1;
        let records = lessons(&mut asked, &game, side, file)?;
        let taken = file.file.take_in(&file.ring, &records)?;
        learned.new += taken.new;
        learned.known += taken.known;
        if !json {
            let Game { white, black, .. } = &game;
            output.line(format_args!("game {games}, {white} - {black}: {} positions learned", taken.new));
        }
    }
    if json {
        output.line(json!({
            "games": games, "lost": lost, "unreadable": wrong, "new": learned.new, "known": learned.known,
        }));
    } else {
        output.line(format_args!(
            "{games} games, {lost} of them lost by {player}; {} positions learned, {wrong} games not read to their end",
            learned.new
        ));
    }
    Ok(())
}

/// What one lost game teaches its loser.
fn lessons(asked: &mut Asked, game: &Game, side: Color, file: &Opened) -> Result<Vec<Record>, LearnError> {
    let rules = Rules {
        mode: policy::Mode::Drop,
        drop: Engine::DEFAULT_LEARN_DROP,
        min_depth: Engine::DEFAULT_LEARN_MIN_DEPTH,
    };
    asked.engine.new_game();
    let mut searches = Searches::default();
    let mut records: Vec<Record> = Vec::new();
    let mut position = game.start.clone();
    let mut played = Played::new(&position);
    for ply in 0..=game.moves.len() {
        if position.turn() == side && position.has_legal_move() {
            let line = Line { start: game.start.key(), moves: game.moves[..ply].to_vec() };
            let answer = asked.search(&game.start, &line.moves)?;
            if let Some(last) = &answer.line {
                let mut recent = played.clone();
                recent.trim();
                let search = policy::Search {
                    course: &answer.course,
                    conditions: Conditions { repetition: recent.has_repeated(), ..Conditions::default() },
                    line: 1,
                    depth: last.depth,
                    score: last.score,
                    bound: last.bound,
                    best: answer.best.map_or(PackedMove::NONE, PackedMove::pack),
                };
                let known = file.ring().get(position.key()).map(|record| Known {
                    lower: record.lower.to_score(),
                    upper: record.upper.to_score(),
                    depth: crate::types::Depth(i32::from(record.depth)),
                    best: record.best,
                });
                let lesson = policy::decide(&rules, &search, searches.earlier(&line), known.as_ref());
                if let (Ok(lesson), Ok(blank)) = (lesson, Record::new(&position, Origin::Import)) {
                    records.push(Record {
                        best: lesson.known.best,
                        lower: LearnedScore::from_score(lesson.known.lower),
                        upper: LearnedScore::from_score(lesson.known.upper),
                        depth: u8::try_from(lesson.known.depth.get()).unwrap_or(u8::MAX),
                        log2_nodes: last.nodes.max(1).ilog2() as u8,
                        evaluation_id: eval::fingerprint(),
                        session: learn::session(),
                        time: learn::now(),
                        ..blank
                    });
                }
                if policy::never(&rules, &search).is_none()
                    && let Some((depth, score)) = policy::standing(&search)
                {
                    searches.searched(&position, line, depth, score);
                }
            }
        }
        if let Some(m) = game.moves.get(ply).and_then(|uci| uci.to_move(position.chess()).ok()) {
            position = position.play(m);
            played.push(&position);
        }
    }
    // The game was lost: its drops are confirmed, as in the engine's own games.
    for record in &mut records {
        record.flags = Flags { confirmed: true, ..record.flags };
    }
    Ok(records)
}
