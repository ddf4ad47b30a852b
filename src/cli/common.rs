//! Functions that several commands share.

use std::{
    collections::BTreeSet,
    fmt,
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    process,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use clap::ValueEnum;
use crossbeam::channel::{Sender, unbounded};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use jiff::{Timestamp, civil::Date};
use serde::Serialize;
use shakmaty::Color;

use super::{
    analyse::EpdRecord,
    outcome::{CliError, refused},
    pgn::Games,
    source,
};
use crate::{
    files::{self, Inputs, NewFile, info_at, with_suffix},
    learn::{BEFORE_FIRST, FileError, LearnFile, Record, kept_games},
    locks::locked,
    position::Position,
    processor::on_interrupt,
    types::Score,
    uci::{printable, translate},
};

/// For whom a command works, or whose moves it takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Side {
    /// White's.
    White,
    /// Black's.
    Black,
    /// Both sides'.
    Both,
}

/// Players that an error names.
const NAMED_PLAYERS: usize = 5;

/// The files that a command reads, each with what it may be read together with: the games kept beside a learning file, and
/// what SQLite keeps beside a tree.
pub(super) fn inputs(paths: impl IntoIterator<Item: AsRef<Path>>) -> Inputs {
    let with_companions = |path: &Path| {
        let target = files::target_of(path);
        let [log, index] = ["-wal", "-shm"].map(|suffix| with_suffix(&target, suffix));
        [path.to_owned(), kept_games::path(path), log, index]
    };
    Inputs::new(paths.into_iter().flat_map(|path| with_companions(path.as_ref())))
}

/// Checks that a command may replace what is at `path`, which is not the standard output: see [`Inputs::check`].
pub(super) fn check_output(
    path: &Path,
    inputs: impl IntoIterator<Item: AsRef<Path>>,
    force: bool,
) -> Result<(), CliError> {
    if path == Path::new("-") {
        let text = "the output cannot be the standard output; name a file (`./-` for one named `-`)";
        return Err(CliError::Task(text.to_owned()));
    }
    self::inputs(inputs).check(path, force).map_err(|error| CliError::Refused(path.to_owned(), error))
}

/// Checks that a command does not write to one of its inputs.
pub(super) fn refuse_input(
    path: &Path,
    inputs: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), CliError> {
    let Ok(info) = info_at(path) else { return Ok(()) };
    let other = self::inputs(inputs).exclude(info.identity);
    other.map_err(|error| CliError::Refused(path.to_owned(), error))
}

/// Checks that a player has a game in one of these files, if there are games in them, before anything is made of them. What
/// comes from a pipe is not looked at: it can be read only once.
pub(super) fn check_player(
    files: impl IntoIterator<Item: AsRef<Path>>,
    player: &str,
) -> Result<(), CliError> {
    let mut others = BTreeSet::new();
    for path in files.into_iter().filter(|path| path.as_ref().is_file()) {
        // What cannot be read is reported when the games are used.
        let Ok(reader) = source::reader(path.as_ref()) else { continue };
        for game in Games::new(reader) {
            let Ok(game) = game else { return Ok(()) };
            let Ok(game) = game else { continue };
            let plays = game.sides_of(player);
            if plays.white || plays.black {
                return Ok(());
            }
            if others.len() < NAMED_PLAYERS {
                others.extend(Color::ALL.map(|side| game.player(side).to_owned()));
            }
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    let others: Vec<String> = others.into_iter().take(NAMED_PLAYERS).collect();
    Err(CliError::Task(format!("no game has a player {player}; there are {}", others.join("; "))))
}

/// Writes a file that appears at `path` when it is complete; an existing one is replaced with `force`.
pub(super) fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), CliError> {
    let written = NewFile::begin(path).and_then(|mut file| {
        file.write_all(bytes)?;
        if force { file.replace() } else { file.finish() }
    });
    written.map_err(refused(path, "written"))
}

/// A progress bar, or a spinner if the number of steps is unknown; hidden if the standard error is no terminal, or `TERM` is
/// `dumb`.
pub(super) fn progress_bar(steps: Option<u64>, template: &str) -> ProgressBar {
    let bar = steps.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    // All templates are valid constants.
    if let Ok(style) = ProgressStyle::with_template(template) {
        // Before the first step it is not known how long one takes.
        let eta = |state: &ProgressState, text: &mut dyn fmt::Write| {
            let _ = match state.pos() {
                0 => text.write_str("?"),
                _ => write!(text, "{:#}", HumanDuration(state.eta())),
            };
        };
        bar.set_style(style.with_key("eta", eta));
    }
    bar
}

/// The same with a template for a `known` and for an unknown number of steps, for steps that may take long: it shows that time
/// passes.
pub(super) fn ticking_bar(steps: Option<u64>, known: &str, unknown: &str) -> ProgressBar {
    let bar = progress_bar(steps, if steps.is_some() { known } else { unknown });
    // It takes a thread.
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

/// Says something on standard error. If nobody reads it there, the work goes on.
pub(super) fn complain(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", printable(&text.to_string()));
}

/// As [`complain`], once in a process: for what each searcher notices.
pub(super) fn complain_once(text: String) {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = locked(&TOLD);
    if !told.contains(&text) {
        complain(&text);
        told.push(text);
    }
}

/// The position of a FEN, after moves in it, or after moves from the usual one; without a text the usual one. What the FEN
/// leaves open is said.
pub(super) fn position(fen: Option<&str>, chess960: bool) -> Result<Position, CliError> {
    let fen = fen.unwrap_or("startpos");
    let position = match translate::parse_fen(fen, chess960) {
        Err(_) if !chess960 && EpdRecord::begins(fen) => {
            EpdRecord::named(fen).map_err(CliError::Task)?.position
        }
        Err(error) if !chess960 && !fen.contains('/') => {
            let advice = "write moves from the start, such as e4 e5, or a FEN";
            let no_move = |reason| CliError::Task(format!("{reason}; {advice}"));
            // A number alone is neither.
            return Err(EpdRecord::named(fen).map_or_else(no_move, |_| error.into()));
        }
        parsed => parsed?,
    };
    translate::assumed(fen, chess960).into_iter().for_each(complain);
    Ok(position)
}

/// A value as JSON. It cannot fail: our types have no maps, and no numbers that JSON lacks.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The name of a value as an argument has it.
pub(super) fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Seconds since 1970 as `2026-01-31 17:05`, UTC; empty if they are beyond the year 9999.
pub(super) fn date(time: impl Into<u64>) -> String {
    let time = i64::try_from(time.into()).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(String::new, |time| time.strftime("%F %R").to_string())
}

/// Seconds of a day.
pub(super) const DAY: u32 = 86_400;

/// Days since 1970 of a date such as 2026-01-31.
pub(super) fn day(text: &str) -> Result<i64, String> {
    let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text);
    let days = |day: Date| i64::from((day - Date::constant(1970, 1, 1)).get_days());
    day.map(days).ok_or_else(|| "write the day as 2026-01-31".to_owned())
}

/// A score in readable form: signed pawns, mates in moves (`#0` on the board), and tablebase results with the moves to the
/// next capture or pawn move, or to the first tablebase position.
pub(super) fn pawns(score: Score) -> String {
    if let Some(moves) = score.mate_moves() {
        return format!("{}{}", if moves < 0 { "#-" } else { "#" }, moves.abs());
    }
    let result = if score.0 < 0 { "loss" } else { "win" };
    match score.tablebase_plies() {
        Some(0) => format!("TB {result}"),
        Some(plies) => format!("TB {result} in {}", plies.div_ceil(2)),
        None => format!("{:+.2}", f64::from(score.centipawns()) / 100.0),
    }
}

/// Creates a learning file with these records, and returns the sequence number of the last one.
///
/// # Errors
/// The file cannot be made or written.
pub(super) fn write_records<'a>(
    path: &Path,
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<u64, FileError> {
    let (mut file, ring, _) = LearnFile::open_or_create(path)?;
    let ring = RwLock::new(ring);
    let mut locked = file.lock_with_timeout(&ring)?;
    records.into_iter().try_fold(BEFORE_FIRST, |_, record| locked.append(record))
}

/// Does the `work` with the numbers below `count`, on this many threads. `each` gets what they find, on this thread and as it
/// comes; the first error ends it all.
pub(super) fn in_parallel<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, CliError> + Sync,
    mut each: impl FnMut(usize, T) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, found) = unbounded();
    let run = |sender: Sender<_>| {
        // Relaxed: each number is taken once, no matter by which thread, and a late stop costs one more.
        while !stop.load(Relaxed)
            && let index = next.fetch_add(1, Relaxed)
            && index < count
        {
            // The receiver outlives the threads.
            let _ = sender.send((index, work(index)));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            let (run, sender) = (&run, sender.clone());
            scope.spawn(move || run(sender));
        }
        drop(sender);
        let mut result = Ok(());
        for (index, one) in found {
            if result.is_ok() {
                result = one.and_then(|one| each(index, one));
                stop.store(result.is_err(), Relaxed);
            }
        }
        result
    })
}

/// An interrupted command says that nothing is lost.
pub(super) fn say_if_interrupted() {
    let _ = on_interrupt(|| {
        // Behind `^C`, or behind a progress bar.
        if io::stderr().is_terminal() {
            complain("");
        }
        complain("interrupted; give the same command again to resume");
        process::exit(INTERRUPTED);
    });
}

/// The exit code of an interrupted command, as shells count it.
const INTERRUPTED: i32 = 130;

/// Minutes of an option.
pub(super) fn minutes(text: &str) -> Result<u64, String> {
    let minutes = text.parse().ok().filter(|minutes| (1..=1_000_000).contains(minutes));
    minutes.ok_or_else(|| "write a whole number of minutes, from 1 to 1000000".to_owned())
}

/// Lowers the priority of this process; on Linux of this thread and of those that it starts from now on.
pub(super) fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn a_player_may_be_in_the_damaged_part_of_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn.gz");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..10_000 {
            writeln!(packed, "[White \"Al\"]\n\n1. e4 {{{:x}}} *\n", fastrand::u128(..)).expect("packed");
        }
        let packed = packed.finish().expect("packed");
        std::fs::write(&path, &packed).expect("a file");
        assert!(check_player([&path], "Kim").is_err());
        std::fs::write(&path, &packed[..packed.len() / 2]).expect("a file");
        assert!(check_player([&path], "Kim").is_ok(), "whoever uses the games reports the damage");
    }

    #[test]
    fn mates_are_written_in_moves() {
        for (plies, win, loss) in [(0, "#0", "#0"), (1, "#1", "#-1"), (4, "#2", "#-2"), (5, "#3", "#-3")] {
            let score = Score::mate_in(Ply(plies));
            assert_eq!((pawns(score).as_str(), pawns(-score).as_str()), (win, loss));
        }
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(date(0_u32), "1970-01-01 00:00");
        assert_eq!(date(951_782_400_u32), "2000-02-29 00:00");
        assert_eq!(date(u32::MAX), "2106-02-07 06:28");
        for number in [0, 58, 59, 11_016, 20_000, u32::MAX / DAY] {
            let text = date(number * DAY);
            assert_eq!(day(text.split(' ').next().unwrap()), Ok(i64::from(number)), "{text}");
        }
        assert_eq!(day("1969-12-31"), Ok(-1), "before any record");
        for wrong in ["", "2026", "2026-02-29", "2026-13-01", "20260131", "x-y-z"] {
            assert!(day(wrong).is_err(), "{wrong}");
        }
    }
}
