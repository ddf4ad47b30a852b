//! `engram tune generate`: self-play games, every quiet position with its score and the result of the game.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use clap::Args;
use crossbeam::channel::{Receiver, unbounded};
use fastrand::Rng;
use shakmaty::{CastlingMode, KnownOutcome, Move, uci::UciMove};

use super::{
    common::{file_error, threads},
    data,
};
use crate::{
    cli::{CliError, in_parallel, prove::openings, refuse_input},
    engine::Engine,
    locks::locked,
    position::{Position, PositionPath},
    search::{Event, Limits},
    types::{Score, Verdict},
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// The file to write; one that exists is continued.
    out: PathBuf,
    /// Games to play.
    #[arg(long, default_value_t = 10_000)]
    games: u64,
    /// Nodes of each search; each game draws its own number, up to a quarter more or less, so that two games from one opening
    /// differ.
    #[arg(long, default_value_t = 5_000)]
    nodes: u64,
    /// Random moves at the beginning of each game, without openings.
    #[arg(long, default_value_t = 8)]
    opening: usize,
    /// Openings, EPD or FEN, one a line, instead of random moves.
    #[arg(long, conflicts_with = "opening")]
    openings: Option<PathBuf>,
    /// Games at a time; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
}

/// Castling is written as king takes rook: in Chess960 a king's step may be another move.
const NOTATION: CastlingMode = CastlingMode::Chess960;
/// The table of a player: room for the nodes of a game, cleared before each.
const HASH_MIB: usize = 2;
/// A random opening with a larger score than this, in centipawns, is not played.
const UNFAIR: i32 = 400;
/// Plies after which a game is adjudicated as a draw.
pub(super) const LONGEST: usize = 400;

/// Plays games and appends their positions.
pub fn print(arguments: &GenerateArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    refuse_input(&arguments.out, &arguments.openings)?;
    let openings = arguments.openings.as_deref().map_or(Ok(Vec::new()), |path| openings(path, None, 0))?;
    let failed = file_error(&arguments.out);
    let (file, before) = open(&arguments.out).map_err(&failed)?;
    let file = Mutex::new(file);
    let (started, finished, written) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let threads = threads(arguments.threads);
    let play = |_| {
        let mut player = Player::new(arguments.nodes);
        // Others in every run, so that files can be put together.
        let mut random = Rng::new();
        // Relaxed: each number is taken once, no matter by which thread.
        while !interrupt.is_requested() && started.fetch_add(1, Relaxed) < arguments.games {
            let lines = player.game(&mut random, &openings, arguments);
            let mut file = locked(&file);
            file.write_all(lines.concat().as_bytes()).map_err(&failed)?;
            let positions = written.fetch_add(lines.len() as u64, Relaxed) + lines.len() as u64;
            let games = finished.fetch_add(1, Relaxed) + 1;
            if games % 100 == 0 {
                output.line(format_args!("{games} games, {positions} positions"));
            }
        }
        Ok(())
    };
    let played = in_parallel(threads, threads, play, |_, ()| Ok(()));
    output.line(format_args!(
        "{} games, {} positions; the file has {} now",
        finished.load(Relaxed),
        written.load(Relaxed),
        before + written.load(Relaxed)
    ));
    played
}

/// Opens a file to go on behind its last line, and returns its number of lines.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let (mut lines, mut is_one, mut line) = (0, false, String::new());
    let mut input = BufReader::new(&file);
    while input.read_line(&mut line)? > 0 {
        lines += 1;
        is_one = is_one || data::parse(&line).is_some();
        // A line that was not finished belongs to no position.
        if !line.ends_with('\n') && is_one {
            (&file).write_all(b"\n")?;
        }
        line.clear();
    }
    match lines == 0 || is_one {
        true => Ok((file, lines)),
        false => Err(io::Error::other("it is not a file of labelled positions; name another or remove it")),
    }
}

/// A position, White's score in centipawns, and the best move.
type ScoredPosition = (Position, i32, UciMove);

/// An engine that plays both sides.
pub(super) struct Player {
    pub(super) engine: Engine,
    /// The best move and its score for the side to move, when a search ends.
    answers: Receiver<(Option<Move>, Score)>,
    /// Nodes of each search.
    pub(super) nodes: u64,
}

impl Player {
    pub(super) fn new(nodes: u64) -> Player {
        let (sender, answers) = unbounded();
        // Only the end of a search is sent: in searches of some hundred nodes a message for every line costs time.
        let sink = move |event| {
            if let Event::Finished { best, result, .. } = event {
                // Sending fails only if the receiver is gone, which is dropped together with the engine.
                let _ = sender.send((best, result.map_or(Score::ZERO, |result| result.score)));
            }
        };
        let mut engine = Engine::new(Arc::new(sink));
        // If memory is short, a smaller table will do.
        let _ = engine.set_hash(HASH_MIB);
        Player { engine, answers, nodes }
    }

    /// Plays a game and returns its positions as lines.
    fn game(
        &mut self,
        random: &mut Rng,
        openings: &[Position],
        arguments: &GenerateArguments,
    ) -> Vec<String> {
        let quarter = arguments.nodes / 4;
        loop {
            self.nodes = random.u64(arguments.nodes - quarter..=arguments.nodes.saturating_add(quarter));
            let (start, moves) = match openings {
                [] => {
                    let drawn = random_moves(&Position::default(), random, arguments.opening);
                    (Position::default(), drawn.map(|(_, moves)| moves))
                }
                _ => (openings[random.usize(..openings.len())].clone(), Some(Vec::new())),
            };
            if let Some((scored, result)) = moves.and_then(|moves| self.play(&start, moves)) {
                let line = |(position, score, best): ScoredPosition| {
                    format!("{} | {score} | {result} | {best}\n", position.fen())
                };
                return scored.into_iter().map(line).collect();
            }
        }
    }

    /// Plays on after random `moves` from `start`, and returns positions with White's score and the best move, and White's
    /// result; none if the moves are unfair.
    fn play(&mut self, start: &Position, mut moves: Vec<UciMove>) -> Option<(Vec<ScoredPosition>, f32)> {
        self.engine.new_game();
        let first = moves.len();
        let mut scored = Vec::new();
        let mut verdict = Verdict::default();
        loop {
            let (position, result) = follow(start, &moves)?;
            if let Some(result) = result {
                return Some((scored, result));
            }
            let (best, score) = self.best_move(start, &moves)?;
            let white = score.relative_to(position.turn());
            let centipawns = white.centipawns();
            if first > 0 && moves.len() == first && centipawns.abs() > UNFAIR {
                return None;
            }
            verdict.push(position.turn(), score);
            if let Some(winner) = verdict.winner() {
                return Some((scored, winner.fold_wb(1.0, 0.0)));
            }
            let uci = best.to_uci(NOTATION);
            if !score.is_decisive() {
                scored.push((position, centipawns, uci));
            }
            moves.push(uci);
        }
    }

    /// The best move after `moves` from `start` and its score for the side to move.
    pub(super) fn best_move(&mut self, start: &Position, moves: &[UciMove]) -> Option<(Move, Score)> {
        self.engine.set_position(start.clone(), moves).ok()?;
        self.engine.go(Limits { nodes: Some(self.nodes), ..Limits::default() }, Instant::now());
        let (best, score) = self.answers.recv().ok()?;
        Some((best?, score))
    }
}

/// The position after `moves` from `start`, and the result for White if the game is over there.
fn follow(start: &Position, moves: &[UciMove]) -> Option<(Position, Option<f32>)> {
    let mut positions = start.along(&start.line(moves)?);
    let path = PositionPath::along(&positions);
    let position = positions.pop()?;
    let result = match path.result(&position) {
        Some(KnownOutcome::Decisive { winner }) => Some(winner.fold_wb(1.0, 0.0)),
        drawn => (drawn.is_some() || moves.len() >= LONGEST).then_some(0.5),
    };
    Some((position, result))
}

/// The position after random moves from `start`, and the moves; `None` if the game is over there.
pub(super) fn random_moves(
    start: &Position,
    random: &mut Rng,
    plies: usize,
) -> Option<(Position, Vec<UciMove>)> {
    let mut position = start.clone();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let chosen = random.choice(position.legal_moves())?;
        moves.push(chosen.to_uci(NOTATION));
        position = position.play(chosen);
    }
    position.has_legal_move().then_some((position, moves))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::translate::parse_fen;

    #[test]
    fn a_file_is_written_continued_and_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.bin");
        let mut arguments = GenerateArguments {
            out: path.clone(),
            games: 1,
            nodes: 200,
            opening: 8,
            openings: None,
            threads: Some(1),
        };
        let output = Output::new(io::sink());
        print(&arguments, &output, &Interrupt::default()).expect("a first game");
        let first = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, first.clone() + "8/8/4k3 w").expect("a torn line");
        print(&arguments, &output, &Interrupt::default()).expect("a second game");
        let read = |path: &Path| -> Vec<data::Labelled> {
            data::read(path).expect("a file").filter_map(|label| label.expect("readable")).collect()
        };
        let both = std::fs::read_to_string(&path).expect("a file");
        assert!(both.starts_with(&first));
        assert!(!first.is_empty() && both.lines().count() > first.lines().count() + 1);
        assert_eq!(read(&path).len(), both.lines().count() - 1, "all but the torn line");

        let book = folder.path().join("book.epd");
        let opening = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 1";
        std::fs::write(&book, opening).expect("a book");
        arguments.out = folder.path().join("book.bin");
        arguments.openings = Some(book);
        print(&arguments, &output, &Interrupt::default()).expect("a game from a book");
        let game = read(&arguments.out);
        assert_eq!(game[0].position.fen(), opening, "no random move follows the opening");
        arguments.nodes = 1000;
        let (mut player, mut random) = (Player::new(arguments.nodes), Rng::with_seed(1));
        let mut play = || player.game(&mut random, &[game[0].position.clone()], &arguments);
        assert!(play() != play(), "an opening that is drawn again gives another game");
        let chess960 = parse_fen("7k/7p/8/8/8/8/8/5K1R w H - 0 1", true).expect("a position");
        let castling = chess960.legal_moves().into_iter().find(|m| m.is_castle()).expect("it may castle");
        let uci = castling.to_uci(NOTATION);
        let (after, _) = follow(&chess960, &[uci]).expect("legal");
        assert_eq!(after.fen(), chess960.play(castling).fen());
        assert!(!data::parse(&format!("{} | 0 | 0.5 | {uci}", chess960.fen())).expect("a line").noisy);

        arguments.out = path.clone();
        arguments.openings = None;
        std::fs::write(&path, "something else").expect("a foreign file");
        assert!(print(&arguments, &output, &Interrupt::default()).is_err());
        assert_eq!(std::fs::read(&path).expect("it is left alone"), b"something else");
    }
}
