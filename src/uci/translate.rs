//! Translation between protocol and engine: positions, limits and events.

use std::time::Duration;

use shakmaty::{
    CastlingMode, Color, EnPassantMode, Position as _, PositionErrorKinds,
    fen::{Fen, ParseFenError},
    uci::UciMove,
};
use thiserror::Error;

use crate::{
    position::{
        Position,
        notation::{is_board, with_start},
    },
    protocol::{Go, Info, InfoScore, Message, ScoreValue},
    search::{ClockTime, Event, Limits, PvInfo},
    types::{Bound, ChanceModel, Depth, Score, quote},
};

/// A position that cannot be set up: its text, and what is wrong in it.
#[derive(Clone, Debug, Error)]
pub enum FenError {
    /// Not FEN.
    #[error(
        "`{0}` is not a FEN ({1}): write the pieces, side to move, castling, en passant and the two counters"
    )]
    Syntax(String, ParseFenError),
    /// FEN of a position that cannot be played.
    #[error("`{0}` cannot be played ({1}): correct the position")]
    Impossible(String, String),
}

impl FenError {
    /// The same about the text as it was given, of which the FEN was made.
    pub fn quoting(self, text: &str) -> FenError {
        match self {
            FenError::Syntax(_, reason) => FenError::Syntax(shown(text), reason),
            FenError::Impossible(_, reason) => FenError::Impossible(shown(text), reason),
        }
    }
}

/// As much of a text as an error quotes.
fn shown(text: &str) -> String {
    quote(text, 100)
}

/// Reads a FEN, or `startpos`; fields missing at its end take their usual values ([`assumed`]). With `chess960` castling
/// rights are read and moves printed as in Chess960; without it only if the FEN [says so](Position::castling_mode).
///
/// # Errors
/// The text is not a FEN, or the position does not have one king for each side, or a king can be captured.
pub fn parse_fen(fen: &str, chess960: bool) -> Result<Position, FenError> {
    let text = with_start(fen);
    let setup =
        text.trim().parse::<Fen>().map_err(|reason| FenError::Syntax(shown(fen), reason))?.into_setup();
    let mode = if chess960 { CastlingMode::Chess960 } else { Position::castling_mode(&text, &setup) };
    Position::from_setup(setup, mode).map_err(|kinds| FenError::Impossible(shown(fen), reasons(kinds)))
}

/// What [`parse_fen`] assumes of a FEN that gives the pieces and nothing else, or one with castling rights that are
/// [void](Position::void_rights).
pub fn assumed(fen: &str, chess960: bool) -> Option<String> {
    if is_board(fen) && fen.split_whitespace().count() == 1 {
        return Some("the FEN gives only the pieces: White is to move, and nobody may castle".to_owned());
    }
    // Moves may follow.
    let fields = fen.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let setup = fields.parse::<Fen>().ok()?.into_setup();
    if chess960 || Position::castling_mode(&fields, &setup).is_chess960() {
        return None;
    }
    let side = Position::void_rights(&setup)?;
    // Board editors leave `KQkq` where there is nothing to castle.
    let possible =
        Position::from_setup(setup, CastlingMode::Chess960).ok()?.chess().to_setup(EnPassantMode::Legal);
    if (possible.castling_rights & side.backrank()).is_empty() {
        return None;
    }
    let (side, rights) = (side.fold_wb("White", "Black"), Position::rights_by_file(&possible));
    Some(format!("{side} may not castle: the king is not on the e-file; write {rights} for Chess960"))
}

/// The errors that make a position unplayable, except the tolerated ones.
fn reasons(kinds: PositionErrorKinds) -> String {
    let names = [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "a king is missing"),
        (PositionErrorKinds::TOO_MANY_KINGS, "there are too many kings"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "pawns stand on the first or last rank"),
        (
            PositionErrorKinds::TOO_MUCH_MATERIAL,
            "there are so many pieces that a side has more moves than any position of a game",
        ),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side to move could capture the king"),
        (PositionErrorKinds::VARIANT, "the rules of chess do not allow it"),
    ];
    let found: Vec<&str> =
        names.iter().filter(|(kind, _)| kinds.contains(*kind)).map(|&(_, name)| name).collect();
    if found.is_empty() { "the position is not legal".to_owned() } else { found.join(", ") }
}

/// The limits of a search in `position`, and the moves of `searchmoves` that are not legal in it. If none is legal, all
/// moves are searched.
///
/// The clock is that of the side to move, or the other side's if only that was sent. A word about it without time left is
/// an empty clock, so that such a search always ends; beside another limit, as some programs send it, it is none.
pub fn limits(go: &Go, position: &Position) -> (Limits, Vec<UciMove>) {
    let (ours, theirs) = match position.turn() {
        Color::White => ((go.wtime, go.winc), (go.btime, go.binc)),
        Color::Black => ((go.btime, go.binc), (go.wtime, go.winc)),
    };
    let (time, increment) = if ours.0.is_some() { ours } else { theirs };
    let is_named = time.or(ours.1).or(theirs.1).is_some() || go.movestogo.is_some();
    let is_limited = go.depth.or(go.nodes).or(go.mate).or(go.movetime).is_some();
    let has_clock = is_named && !go.infinite && (time.is_some_and(|time| time > 0) || !is_limited);
    let clock = has_clock.then(|| ClockTime {
        remaining: milliseconds(time.unwrap_or(0)),
        increment: milliseconds(increment.unwrap_or(0)),
        moves_to_go: go.movestogo.filter(|&moves| moves > 0).map(saturated),
    });
    let mut illegal = Vec::new();
    let mut legal = |&uci: &UciMove| uci.to_move(position.chess()).map_err(|_| illegal.push(uci)).ok();
    let search_moves = go.search_moves.iter().filter_map(&mut legal).collect();
    let limits = Limits {
        clock,
        depth: go.depth.map(|plies| Depth(plies.clamp(1, Depth::MAX.get() as u64) as i32)),
        nodes: go.nodes.map(|nodes| nodes.max(1)),
        mate: go.mate.map(saturated),
        movetime: go.movetime.map(Duration::from_millis),
        infinite: go.infinite,
        ponder: go.ponder,
        search_moves,
    };
    (limits, illegal)
}

fn milliseconds(time: i64) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The message about an event, with castling written according to `mode`, and with the chances of win, draw and loss if
/// `material` (in points) is given.
pub fn message(event: &Event, mode: CastlingMode, material: Option<u32>) -> Message {
    match event {
        Event::Pv(line) => Message::Info(line_info(line, mode, material)),
        Event::CurrentMove { depth, root_move, number } => Message::Info(Info {
            depth: Some(plies(*depth)),
            currmove: Some(root_move.to_uci(mode)),
            currmovenumber: Some(*number as u64),
            ..Info::default()
        }),
        Event::Notice(notice) => Message::Info(Info::text(&notice.to_string())),
        Event::Finished { best, ponder, .. } => {
            Message::BestMove { best: best.map(|m| m.to_uci(mode)), ponder: ponder.map(|m| m.to_uci(mode)) }
        }
    }
}

fn line_info(line: &PvInfo, mode: CastlingMode, material: Option<u32>) -> Info {
    Info {
        depth: Some(plies(line.depth)),
        seldepth: Some(line.seldepth as u64),
        multipv: Some(line.multi_pv as u64),
        score: Some(score(line.score, line.bound)),
        wdl: material.map(|material| ChanceModel::wdl(line.score, line.is_drawn, material)),
        nodes: Some(line.nodes),
        nps: Some(line.nps()),
        hashfull: Some(u64::from(line.hashfull)),
        tbhits: Some(line.tbhits),
        time: Some(u64::try_from(line.time.as_millis()).unwrap_or(u64::MAX)),
        pv: line.pv.iter().map(|m| m.to_uci(mode)).collect(),
        ..Info::default()
    }
}

fn plies(depth: Depth) -> u64 {
    u64::try_from(depth.get()).unwrap_or(0)
}

/// A score as it is printed: mates in moves.
pub fn score(score: Score, bound: Bound) -> InfoScore {
    let value = match score.mate_moves() {
        // `mate_moves` counts moves of the mating side.
        Some(moves) => ScoreValue::Mate(moves),
        None => ScoreValue::Centipawns(score.centipawns()),
    };
    InfoScore { value, bound }
}

/// The name in a value of `UCI_Opponent`: title, Elo and kind come before it, such as `GM 2800 human Garry Kasparov`.
pub fn opponent_name(value: &str) -> String {
    let words: Vec<&str> = value.split_whitespace().collect();
    match words.as_slice() {
        [_, _, "computer" | "human", name @ ..] => name.join(" "),
        name => name.join(" "),
    }
}

/// How castling is written for `position`: as in Chess960 if its rights require that or the option is set.
pub fn notation(position: &Position, chess960: bool) -> CastlingMode {
    if chess960 { CastlingMode::Chess960 } else { position.chess().castles().mode() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{protocol::Command, types::Ply};

    #[test]
    fn a_mate_takes_as_many_moves_for_either_side() {
        for (plies, moves) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            for (turned, expected) in
                [(Score::mate_in(Ply(plies)), moves), (-Score::mate_in(Ply(plies)), -moves)]
            {
                assert_eq!(score(turned, Bound::Exact).value, ScoreValue::Mate(expected), "{plies}");
            }
        }
    }

    fn go(line: &str) -> Go {
        match line.parse() {
            Ok(Command::Go(go)) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn limits_of(line: &str, fen: &str) -> Limits {
        limits(&go(line), &parse_fen(fen, false).unwrap()).0
    }

    const WHITE: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const BLACK: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

    #[test]
    fn the_clock_is_that_of_the_side_to_move() {
        let line = "go wtime 1000 btime 2000 winc 10 binc 20 movestogo 1";
        let clock = |fen| limits_of(line, fen).clock.unwrap();
        assert_eq!(clock(WHITE).remaining, Duration::from_millis(1000));
        assert_eq!(clock(BLACK).remaining, Duration::from_millis(2000));
        assert_eq!(clock(BLACK).increment, Duration::from_millis(20));
        assert_eq!(clock(WHITE).moves_to_go, Some(1));
    }

    #[test]
    fn one_clock_alone_is_used() {
        for fen in [WHITE, BLACK] {
            let clock = limits_of("go wtime 100 winc 5", fen).clock.unwrap();
            assert_eq!(clock.remaining, Duration::from_millis(100));
            assert_eq!(clock.increment, Duration::from_millis(5));
            assert_eq!(clock.moves_to_go, None);
        }
    }

    #[test]
    fn no_time_left_is_zero_and_not_forever() {
        for line in ["go wtime -50 btime -50", "go wtime 0 btime 0 movestogo 0"] {
            assert_eq!(limits_of(line, WHITE).clock.unwrap().remaining, Duration::ZERO);
        }
        // Some programs send the words of a clock that is not there.
        for line in ["go depth 12 winc 0 binc 0", "go nodes 9 wtime 0 btime 0", "go infinite wtime 300000"] {
            assert_eq!(limits_of(line, WHITE).clock, None, "{line}");
        }
        assert!(limits_of("go depth 12 wtime 60000", WHITE).clock.is_some());
    }

    #[test]
    fn numbers_too_large_become_the_largest() {
        let line = "go depth 99999999999999999999 nodes 99999999999999999999 mate 99999999999";
        let limits = limits_of(line, WHITE);
        assert_eq!(limits.depth, Some(Depth::MAX));
        assert_eq!(limits.nodes, Some(i64::MAX as u64));
        assert_eq!(limits.mate, Some(u32::MAX));
    }

    #[test]
    fn fen_without_counters_is_read_and_nonsense_is_not() {
        assert_eq!(parse_fen("4k3/8/8/8/8/8/8/4K2R w K -", false).unwrap().halfmoves(), 0);
        assert_eq!(parse_fen(" startpos", false).unwrap().fen(), WHITE);
        let board = WHITE.split(' ').next().unwrap();
        assert_eq!(parse_fen(board, false).unwrap().fen(), format!("{board} w - - 0 1"));
        assert!(assumed(board, false).is_some() && assumed(&format!("{board} w"), false).is_none());
        for fen in [
            "",
            "hello",
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "4k3/8/8/8/8/8/8/8 w - - 0 1",
            "4k3/8/8/8/8/8/8/4RK2 w - - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 and more",
            "P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
            // 271 moves.
            "QQQQQQQK/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/BR5Q/kBQQQQQQ w - - 0 1",
        ] {
            assert!(parse_fen(fen, false).is_err(), "{fen}");
        }
    }

    #[test]
    fn castling_is_written_as_the_position_needs() {
        let standard = parse_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1", false).unwrap();
        let forced = parse_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1", true).unwrap();
        let shuffled = parse_fen("4k3/8/8/8/8/8/8/4K1R1 w G - 0 1", false).unwrap();
        let castling = |position: &Position| {
            let m = position.legal_moves().into_iter().find(|m| m.is_castle()).unwrap();
            m.to_uci(notation(position, false)).to_string()
        };
        assert_eq!(castling(&standard), "e1g1");
        assert_eq!(castling(&forced), "e1h1");
        assert_eq!(castling(&shuffled), "e1g1");
        assert_eq!(notation(&shuffled, false), CastlingMode::Chess960);
        let edited = parse_fen("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R b KQkq - 0 1", false).unwrap();
        assert_eq!(castling(&edited), "e8g8");
        let both = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R b KQkq - 0 1 moves e8g8";
        let said = "White may not castle: the king is not on the e-file; write HAha for Chess960";
        assert_eq!(assumed(both, false).as_deref(), Some(said));
        assert!(assumed(&both.replace("KQkq", "HAha"), false).or(assumed(both, true)).is_none());
        let black = "3k3r/p7/8/8/8/8/P7/R3K2R b KQk - 0 1";
        let said = assumed(black, false).expect("Black's right is void");
        assert!(said.starts_with("Black may not castle") && said.contains("HAh "), "{said}");
        for left in ["3k4/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "7r/3k4/8/8/8/8/8/R3K2R w KQkq - 0 1"] {
            assert_eq!(assumed(left, false), None, "Black could not castle in Chess960 either");
        }
        let shuffled_twice = "nrnbkrbq/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1";
        for (fen, rights) in [
            ("nrnbkrbq/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w KQkq - 0 1", "KQkq"),
            (shuffled_twice, "KQ"),
            ("rk6/8/8/8/8/8/8/2R3KR w Ha - 0 1", "Kq"),
            // Standard rights of one side are not all that counts.
            ("rnqbknbr/pppppppp/8/8/8/8/PPPPPPPP/QNRBBNKR w KQkq - 0 1", "KQkq"),
            ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R b KQkq - 0 1", "kq"),
            ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R b HAha - 0 1", "HAha"),
        ] {
            assert_eq!(parse_fen(fen, false).unwrap().fen().split(' ').nth(2), Some(rights), "{fen}");
        }
        let lettered = parse_fen("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 0 1", false).unwrap();
        assert_eq!(notation(&lettered, false), CastlingMode::Chess960);
    }

    #[test]
    fn mates_are_counted_in_moves() {
        let value = |internal| score(internal, Bound::Exact).to_string();
        assert_eq!(value(Score::mate_in(Ply(1))), "mate 1");
        assert_eq!(value(Score::mate_in(Ply(3))), "mate 2");
        assert_eq!(value(Score::mated_in(Ply(0))), "mate 0");
        assert_eq!(value(Score::mated_in(Ply(2))), "mate -1");
        assert_eq!(value(Score::mated_in(Ply(4))), "mate -2");
        assert_eq!(value(Score::from_centipawns(-35)), "cp -35");
    }
}
