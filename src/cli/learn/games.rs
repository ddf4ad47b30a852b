//! `engram learn import games.pgn --player NAME`: learns from a player's lost games.

use std::path::Path;

use serde_json::json;
use shakmaty::{Color, Position as _, uci::UciMove};

use super::{opened::Opened, text::Printer};
use crate::{
    cli::{
        CliError, Completion, complain, counted,
        pgn::{self, Game, Games},
        refused, source,
    },
    engine::{LearnOptions, blocking::BlockingEngine},
    eval,
    learn::{
        self, Merged, Origin, Record,
        game::{Line, PlayedGame},
        kept_games,
        policy::{Conditions, LearningMode, NotLearned, Rules},
        retry_while_busy,
        session::{Recorder, Root},
    },
    position::PositionPath,
};

/// The side with which `player` lost.
fn lost_by(game: &Game, player: &str) -> Option<Color> {
    let loser = !game.outcome.winner()?;
    game.sides_of(player).get(loser).then_some(loser)
}

/// Analyses the games that `player` lost, `nodes` nodes a position, and learns where the score dropped, by the
/// same rules as in the engine's own games. A game that cannot be read is reported and skipped.
///
/// # Errors
/// The games cannot be read, or the learning file cannot be written.
pub(super) fn import(
    file: &mut Opened,
    from: &Path,
    player: &str,
    nodes: u64,
    out: Printer,
) -> Result<Completion, CliError> {
    let failed = refused(from, "read");
    let reader = source::reader(from).map_err(&failed)?;
    let mut searcher = BlockingEngine::new(nodes);
    let (mut games, mut lost, mut wrong, mut learned) = (0, 0, 0, Merged::default());
    let mut outcome = Completion::Complete;
    for game in Games::new(reader) {
        if out.output.is_closed() {
            break;
        }
        games += 1;
        let game = match game.map_err(&failed)? {
            Ok(game) => game,
            Err(broken) => {
                wrong += 1;
                outcome = Completion::Partial;
                complain(format_args!("{}: {broken}", from.display()));
                continue;
            }
        };
        let Some(side) = lost_by(&game, player) else { continue };
        lost += 1;
        let records = lessons(&mut searcher, &game, side, file)?;
        // First the game: once its records are known it is not kept any more.
        if records.iter().any(|record| file.ring().is_improved_by(record))
            && let Err(error) =
                retry_while_busy(|| kept_games::append(&kept_games::path(file.file.path()), &as_kept(&game)))
        {
            complain(format_args!("game {games} is skipped: {error}"));
            outcome = Completion::Partial;
            continue;
        }
        let taken = file.file.merge(&file.ring, &records)?;
        learned.new += taken.new;
        learned.known += taken.known;
        let (white, black) = (game.player(Color::White), game.player(Color::Black));
        out.text(format_args!("game {games}, {white} - {black}: {} learned", counted(taken.new, "position")));
    }
    let Merged { new, known, .. } = learned;
    out.either(
        json!({ "games": games, "lost": lost, "unreadable": wrong, "new": new, "known": known }),
        format_args!(
            "{}, {lost} of them lost by {player}; {} learned, {} skipped",
            counted(games, "game"),
            counted(new, "position"),
            counted(wrong, "game")
        ),
    );
    Ok(outcome)
}

/// A game as it was read, with the session of its records.
fn as_kept(game: &Game) -> String {
    // A game in that file begins with its event.
    let event = ("Event".to_owned(), game.tag("Event").unwrap_or("?").to_owned());
    let session = ("Session".to_owned(), format!("{:08x}", learn::session()));
    let others = game.tags.iter().filter(|(name, _)| !["Event", "Session"].contains(&name.as_str())).cloned();
    let tags: Vec<_> = [event].into_iter().chain(others).chain([session]).collect();
    pgn::write_game(game, &tags, &game.comments())
}

/// The records of one lost game, from the loser's side: the positions in which the score dropped.
fn lessons(
    searcher: &mut BlockingEngine,
    game: &Game,
    side: Color,
    file: &Opened,
) -> Result<Vec<Record>, CliError> {
    let rules = Rules {
        mode: LearningMode::Drop,
        drop: LearnOptions::DEFAULT_DROP,
        min_depth: LearnOptions::DEFAULT_MIN_DEPTH,
    };
    searcher.engine.new_game();
    let live = |key| file.ring().get(key);
    let recorder = Recorder { live: &live, evaluation_id: eval::fingerprint() };
    let mut played_game = PlayedGame::default();
    let mut position = game.start.clone();
    let mut played = PositionPath::new(&position);
    let mode = position.chess().castles().mode();
    let moves: Vec<UciMove> = game.moves.iter().map(|m| m.to_uci(mode)).collect();
    for ply in 0..=moves.len() {
        if position.turn() == side && position.has_legal_move() {
            let line = Line { start: game.start.fen(), moves: moves[..ply].to_vec() };
            let answer = searcher.search(&game.start, &line.moves)?;
            if let Some(result) = answer.result {
                let not_learned = played.has_repeated().then_some(NotLearned::Repetition);
                let conditions = Conditions { rules, analysis: false, not_learned };
                let root = Root { position: position.clone(), line, conditions, in_tree: false };
                recorder.search_ended(&mut played_game, &root, &result);
            }
        }
        if let Some(&m) = game.moves.get(ply) {
            position = position.play(m);
            played.push(&position);
        }
    }
    let mut records = recorder.game_ended(&played_game, !side);
    records.retain(|record| record.origin == Origin::Drop);
    for record in &mut records {
        record.origin = Origin::Import;
    }
    Ok(records)
}
