//! The persistent hash, with the real binary: an analysis that was killed goes on where it was, files that are
//! not ours are left alone, damage costs entries and nothing else.

use std::{fs, path::Path};

use engram::{
    protocol::{Info, InfoScore, ScoreValue},
    types::Bound,
};
use shakmaty::uci::UciMove;

use crate::common::{Engine, home, random::Random, refused, reports, run, shared};

/// Quiet and not too simple; a few ten thousand nodes to [`DEPTH`].
const POSITIONS: [&str; 2] = [
    "8/pp2k1p1/2p1p2p/2P1Pp2/1P1K1P1P/P5P1/8/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
];
const DEPTH: u64 = 11;

/// An engine that is ready, with a hash file of the smallest size.
fn with_file(file: &Path) -> (Engine, Vec<String>) {
    let mut engine = Engine::with(&[
        "Learning value off",
        "HashFileSize value 1",
        &format!("HashFile value {}", file.display()),
    ]);
    let said = engine.sync();
    (engine, said)
}

/// Score and first move of the last complete line of that depth.
fn line_of(lines: &[String], depth: u64) -> Option<(InfoScore, UciMove)> {
    let mut complete = reports(lines).into_iter();
    let line = complete.rfind(|line| line.depth == Some(depth) && is_exact(line))?;
    Some((line.score?, line.pv[0]))
}

fn is_exact(line: &Info) -> bool {
    line.score.is_some_and(|score| score.bound == Bound::Exact)
}

/// The depth at which an analysis went on.
fn resumed_at(lines: &[String]) -> Option<u64> {
    lines
        .iter()
        .find_map(|line| line.strip_prefix("info string analysis resumed after iteration "))?
        .parse()
        .ok()
}

/// The nodes of a line that needed no search.
const KNOWN: u64 = 1;

fn nodes_of(lines: &[String], depth: u64) -> u64 {
    let line = reports(lines).into_iter().rfind(|line| line.depth == Some(depth));
    line.and_then(|line| line.nodes).expect("a line of that depth")
}

#[test]
fn a_killed_analysis_goes_on_at_its_depth() {
    let home = home();
    for (index, fen) in POSITIONS.into_iter().enumerate() {
        let file = home.path().join(format!("{index}.hash"));
        let (mut engine, said) = with_file(&file);
        assert!(said.iter().any(|line| line.contains("1 MiB, new")), "{said:?}");
        engine.begin(&format!("fen {fen}"), "go infinite");
        let mut lines = engine.expect(&format!("info depth {DEPTH} seldepth "));
        lines.retain(|line| !line.contains("bound"));
        // Dropped: SIGKILL in the middle of an iteration.
        drop(engine);

        let (mut engine, said) = with_file(&file);
        assert!(said.iter().any(|line| line.contains("1 MiB") && line.contains("generation 2")), "{said:?}");
        let (_, resumed) = engine.search(&format!("fen {fen}"), "go depth 60 nodes 20000");
        let depth = resumed_at(&resumed).unwrap_or_else(|| panic!("{resumed:?}"));
        assert!(depth >= DEPTH, "it goes on at {depth}");
        if depth == DEPTH {
            assert_eq!(line_of(&resumed, depth), line_of(&lines, depth));
        }
        assert!(resumed.iter().all(|line| !line.starts_with(&format!("info depth {} ", depth - 1))));
        engine.quit();
    }
}

#[test]
fn a_clean_end_keeps_as_much_and_two_engines_share_a_file() {
    let home = home();
    let file = home.path().join("shared.hash");
    let (mut first, _) = with_file(&file);
    let (mut second, _) = with_file(&file);
    let position = format!("position fen {}", POSITIONS[1]);
    first.send(&position);
    let (best, lines) = first.best("go depth 10");
    // The other process knows it at once.
    second.send(&position);
    let (same, resumed) = second.best("go depth 10");
    assert_eq!((same, line_of(&resumed, 10)), (best, line_of(&lines, 10)));
    let (_, deeper) = second.best("go depth 11");
    first.send("ucinewgame");
    let (_, known) = first.best("go depth 11");
    assert_eq!(line_of(&known, 11), line_of(&deeper, 11));
    assert_eq!(nodes_of(&known, 11), KNOWN);
    first.quit();
    second.quit();

    // A game on the clock searches from the start, so that its time is used as usual.
    let (mut third, _) = with_file(&file);
    third.send(&position);
    let (_, lines) = third.best("go wtime 300 btime 300");
    assert!(lines.iter().any(|line| line.starts_with("info depth 1 seldepth ")));
    // The button leaves the file alone: some programs press it before every move.
    third.send("setoption name Clear Hash");
    let (_, lines) = third.best("go depth 12");
    assert!(lines.iter().any(|line| line.contains("resumed")), "{lines:?}");
    third.quit();
}

/// What was found before a depth was said is in the file, whoever else writes there at the same time.
#[test]
fn engines_that_write_at_once_and_are_killed_leave_all_they_said() {
    let home = home();
    // So deep that principal variations, whose shallow results are written too, are a small part.
    let depth = DEPTH + 2;
    let file = home.path().join("both.hash");
    let path = file.display().to_string();
    let mut engines: Vec<Engine> = (0..2).map(|_| with_file(&file).0).collect();
    for (engine, fen) in engines.iter_mut().zip(POSITIONS) {
        engine.begin(&format!("fen {fen}"), "go infinite");
    }
    for engine in &mut engines {
        engine.expect(&format!("info depth {depth} seldepth "));
    }
    drop(engines);
    let (out, error, code) = run(&["hash", "check", &path]);
    assert_eq!(code, 0, "{out}{error}");
    let (out, ..) = run(&["hash", "info", &path]);
    assert!(out.contains("roots        2 "), "{out}");
    assert!(out.contains(", made 20") && out.contains(" (UTC)\n"), "{out}");
    // The nodes of the last iteration are there, not only its result: the children of the root at least.
    let at = |depth: u64| -> usize {
        let row = out.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{depth} ")));
        row.map_or(0, |row| {
            row.split_whitespace().next().and_then(|count| count.parse().ok()).expect("a count")
        })
    };
    assert!(at(depth - 1) > 0, "{out}");
    // Shallow ones are found again sooner than written.
    assert!(at(5) > 10 * at(4), "{out}");
}

/// With several threads the last line may be another thread's than the first's.
#[test]
fn what_any_thread_said_is_in_the_file() {
    let home = home();
    for round in 0..4 {
        let file = home.path().join(format!("{round}.hash"));
        let (mut engine, _) = with_file(&file);
        engine.send("setoption name Threads value 3");
        engine.begin(&format!("fen {}", POSITIONS[1]), "go infinite");
        engine.expect("info depth 9 seldepth ");
        engine.send("stop");
        let printed = reports(&engine.expect("bestmove")).last().map_or(Some(9), |line| line.depth);
        drop(engine);
        let (mut engine, _) = with_file(&file);
        engine.begin(&format!("fen {}", POSITIONS[1]), "go infinite");
        assert!(resumed_at(&engine.expect("info depth ")) >= printed);
        engine.stop();
        engine.quit();
    }
}

/// Depth, score and line that were printed last, of a finished iteration if the bounds of others do not count.
fn printed(lines: &[String], with_bounds: bool) -> (u64, InfoScore, Vec<UciMove>) {
    let line = reports(lines).into_iter().rfind(|line| with_bounds || is_exact(line));
    let line = line.unwrap_or_else(|| panic!("nothing was finished: {lines:?}"));
    (line.depth.expect("a depth"), line.score.expect("a score"), line.pv)
}

/// Depth, score and line that were printed last come back, whichever thread had found them.
#[test]
fn what_was_printed_last_is_what_resumes() {
    let home = home();
    let resumed = |file: &Path, fen: &str| {
        let (mut engine, _) = with_file(file);
        engine.begin(&format!("fen {fen}"), "go infinite");
        let lines = engine.expect("info depth ");
        engine.kill();
        printed(&lines, true)
    };
    for (round, threads, is_killed) in [(0, 2, true), (1, 4, true), (2, 3, false), (3, 1, false)] {
        for (index, fen) in POSITIONS.into_iter().enumerate() {
            let file = home.path().join(format!("{round}-{index}.hash"));
            let (mut engine, _) = with_file(&file);
            engine.send(&format!("setoption name Threads value {threads}"));
            engine.begin(&format!("fen {fen}"), "go infinite");
            let mut lines = engine.expect(&format!("info depth {DEPTH} seldepth "));
            if is_killed {
                lines.extend(engine.kill());
            } else {
                engine.send("stop");
                lines.extend(engine.expect("bestmove "));
                engine.kill();
            }
            let (printed, resumed) = (printed(&lines, !is_killed), resumed(&file, fen));
            // The next iteration may have been finished and not printed when the engine was killed.
            if !(is_killed && resumed.0 == printed.0 + 1) {
                assert_eq!(printed, resumed, "{threads} threads, killed {is_killed}, {fen}");
            }
        }
    }
}

/// The clock is a part of the position that an analysis is about: at another one the score may be another.
#[test]
fn an_analysis_at_another_move_clock_destroys_nothing() {
    let home = home();
    // A rook more behind a wall of pawns that nothing passes, and a mate in seven that the
    // fifty-move rule spoils at clock 90.
    for (index, (board, depth)) in
        [("6k1/8/pppppppp/PPPPPPPP/8/8/8/R5K1 w - -", 13), ("8/8/4k3/8/8/8/1R6/R3K3 w - -", 16)]
            .into_iter()
            .enumerate()
    {
        for file in [None, Some(home.path().join(format!("{index}.hash")))] {
            let start = || {
                let mut engine = match &file {
                    Some(file) => with_file(file).0,
                    None => Engine::ready(),
                };
                engine.send("setoption name Learning value off");
                engine.send("setoption name UCI_AnalyseMode value true");
                engine
            };
            let mut engine = start();
            let mut analyse = |clock: u32| {
                if file.is_some() {
                    std::mem::replace(&mut engine, start()).quit();
                }
                let (_, lines) =
                    engine.search(&format!("fen {board} {clock} 60"), &format!("go depth {depth}"));
                (resumed_at(&lines), printed(&lines, false))
            };
            let fresh = analyse(0);
            let late = analyse(90);
            assert_eq!((fresh.0, fresh.1.0, late.0), (None, depth, None), "{board}");
            assert_ne!(fresh.1.1, late.1.1, "the clock decides nothing here: {board}");
            assert_eq!(analyse(0), (Some(depth), fresh.1.clone()), "{board}");
            assert_eq!(analyse(90), (Some(depth), late.1), "{board}");
            // What rests on no counter holds at any clock that is far from it.
            assert_eq!(analyse(2).0, Some(depth), "{board}");
        }
    }
}

/// A file that is named when something is known already.
#[test]
fn what_is_resumed_from_ram_is_in_the_file() {
    let home = home();
    let file = home.path().join("late.hash");
    let mut engine = Engine::with(&["Learning value off", "HashFileSize value 1"]);
    engine.send("go infinite depth 9");
    engine.expect("info depth 9 seldepth ");
    engine.stop();
    engine.send(&format!("setoption name HashFile value {}", file.display()));
    engine.send("go infinite depth 9");
    assert_eq!(resumed_at(&engine.expect("info depth ")), Some(9));
    drop(engine);
    let (mut engine, _) = with_file(&file);
    engine.send("go infinite depth 9");
    assert_eq!(resumed_at(&engine.expect("info depth ")), Some(9));
    engine.stop();
    engine.quit();
}

#[test]
fn stepping_back_finds_the_earlier_depth_and_a_mate_shows_in_the_parent() {
    let home = home();
    let (mut engine, _) = with_file(&home.path().join("steps.hash"));
    let line = ["", " moves a1d1", " moves a1d1 a8d8", " moves a1d1 a8d8 h2h3"];
    let depths = [9, 9, 8, 8];
    let mut found = Vec::new();
    for (moves, depth) in line.iter().zip(depths) {
        engine.send(&format!("position fen {}{moves}", POSITIONS[1]));
        found.push(line_of(&engine.best(&format!("go depth {depth}")).1, depth));
    }
    for ((moves, depth), found) in line.iter().zip(depths).zip(&found).rev() {
        let (_, lines) = engine.search(&format!("fen {}{moves}", POSITIONS[1]), &format!("go depth {depth}"));
        assert_eq!(&line_of(&lines, depth), found, "{moves}");
        assert_eq!(nodes_of(&lines, depth), KNOWN);
        assert!(
            lines.iter().any(|line| line.ends_with(&format!("analysis resumed after iteration {depth}")))
        );
    }
    // The child is searched deep enough to see a mate that is too far for one iteration of the parent.
    let parent = "position fen 8/8/8/8/8/2k5/8/K6q w - - 0 1";
    engine.send(&format!("{parent} moves a1a2"));
    let (_, lines) = engine.best("go depth 12");
    assert!(lines.iter().any(|line| line.contains("score mate")), "{lines:?}");
    engine.send(parent);
    let (_, lines) = engine.best("go depth 2");
    assert!(lines.iter().any(|line| line.contains("score mate -")), "{lines:?}");
    engine.quit();
    // Without the child it does not see that.
    let mut cold = Engine::ready();
    cold.send(parent);
    let (_, lines) = cold.best("go depth 2");
    assert!(lines.iter().all(|line| !line.contains("score mate")), "{lines:?}");
    cold.quit();
}

#[test]
fn an_infinite_search_is_an_analysis_with_any_options() {
    let mut engine = Engine::with(&["Learning value off"]);
    engine.send("go infinite");
    let lines = engine.expect("info depth 9 seldepth ");
    assert!(lines.iter().all(|line| !line.contains("resumed")), "{lines:?}");
    engine.stop();
    // It was stopped at depth 9 or later.
    engine.send("go infinite");
    engine.expect("info string analysis resumed after iteration");
    engine.stop();
    engine.quit();
}

#[test]
fn in_ram_alone_an_analysis_is_resumed_as_well() {
    let mut engine = Engine::with(&["Learning value off", "UCI_AnalyseMode value true"]);
    let (_, lines) = engine.best("go depth 9");
    let (_, again) = engine.best("go depth 9");
    assert_eq!((line_of(&again, 9), nodes_of(&again, 9)), (line_of(&lines, 9), KNOWN));
    // Not a node more or less than without the interruption.
    let (_, on) = engine.best("go depth 11");
    let mut other = Engine::with(&["Learning value off", "UCI_AnalyseMode value true"]);
    let (_, whole) = other.best("go depth 11");
    other.quit();
    assert_eq!(nodes_of(&on, 11), nodes_of(&whole, 11) - nodes_of(&whole, 9));
    // A new game empties the table, unless that is never to happen.
    engine.send("ucinewgame");
    assert!(nodes_of(&engine.best("go depth 9").1, 9) > KNOWN);
    engine.send("setoption name NeverClearHash value true");
    engine.send("ucinewgame");
    assert_eq!(nodes_of(&engine.best("go depth 9").1, 9), KNOWN);
    engine.send("setoption name Clear Hash");
    assert!(nodes_of(&engine.best("go depth 9").1, 9) > KNOWN);
    // So does what scores rest on, when it changes.
    for option in ["PathHash value off", "Evaluation value classical"] {
        assert_eq!(nodes_of(&engine.best("go depth 9").1, 9), KNOWN);
        engine.send(&format!("setoption name {option}"));
        assert!(nodes_of(&engine.best("go depth 9").1, 9) > KNOWN, "{option}");
    }
    engine.quit();
}

#[test]
fn scores_of_contempt_or_of_limited_strength_do_not_reach_the_file() {
    let home = home();
    let file = home.path().join("limited.hash");
    for options in [&["UCI_LimitStrength value true", "UCI_Elo value 2850"][..], &["Contempt value 50"]] {
        let (mut engine, _) = with_file(&file);
        options.iter().for_each(|option| engine.send(&format!("setoption name {option}")));
        engine.best("go depth 12");
        engine.quit();
        let (out, error, code) = run(&["hash", "check", &file.display().to_string()]);
        assert!(code == 0 && out.starts_with("0 good entries, 0 damaged"), "{options:?}: {out}{error}");
    }
}

#[test]
fn what_is_no_hash_file_stays_as_it_is() {
    let home = home();
    let foreign = home.path().join("letter.txt");
    fs::write(
        &foreign,
        "Dear diary, today I mated with bishop and knight; here is how it went, move for move.",
    )
    .expect("a file");
    let made = home.path().join("made.hash");
    let (engine, _) = with_file(&made);
    engine.quit();
    let good = fs::read(&made).expect("the file");
    assert_eq!(good.len(), 1 << 20);
    let variant = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = home.path().join(name);
        let mut bytes = good.clone();
        change(&mut bytes);
        fs::write(&path, bytes).expect("a file");
        path
    };
    let seal = |bytes: &mut Vec<u8>| {
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
    };
    let cases = [
        (foreign, "is not a hash file of Engram"),
        (home.path().to_owned(), "is a directory"),
        (home.path().join("letter.txt/folder.hash"), "cannot be made"),
        (variant("short", &|bytes| bytes.truncate(500_000)), "bytes long and should be 1048576"),
        (variant("damaged", &|bytes| bytes[40] ^= 1), "damaged header"),
        (
            variant("newer", &|bytes| {
                bytes[8] = 2;
                seal(bytes);
            }),
            "is written in format 2,",
        ),
        (
            variant("byte-order", &|bytes| {
                bytes[8..10].reverse();
                seal(bytes);
            }),
            "is written in format 256,",
        ),
        (
            variant("evaluation", &|bytes| {
                bytes[14] ^= 0xFF;
                seal(bytes);
            }),
            "another evaluation",
        ),
        (
            variant("mode", &|bytes| {
                bytes[48..53].copy_from_slice(b"last4");
                seal(bytes);
            }),
            "PathHash last4",
        ),
    ];
    for (path, complaint) in cases {
        let before = fs::read(&path).ok();
        let (mut engine, said) = with_file(&path);
        let said = said.join("\n");
        assert!(said.contains(complaint) && said.contains("is not kept in a file"), "{complaint}: {said}");
        engine.best("go depth 5");
        engine.quit();
        assert_eq!(fs::read(&path).ok(), before, "{complaint}");
    }
    // A file of no length is an unfinished one, as other engines leave them.
    let empty = home.path().join("empty.hash");
    fs::write(&empty, "").expect("a file");
    let (engine, said) = with_file(&empty);
    assert!(said.iter().any(|line| line.contains("1 MiB, new")), "{said:?}");
    engine.quit();
}

#[test]
fn to_name_a_file_again_tries_it_again() {
    let home = home();
    let file = home.path().join("later/analysis.hash");
    fs::write(home.path().join("later"), "in the way").expect("a file");
    let (mut engine, said) = with_file(&file);
    assert!(said.iter().any(|line| line.contains("is not kept in a file")), "{said:?}");
    fs::remove_file(home.path().join("later")).expect("removed");
    engine.send(&format!("setoption name HashFile value {}", file.display()));
    let said = engine.sync();
    assert!(said.iter().any(|line| line.contains("1 MiB, new")), "{said:?}");
    engine.quit();
}

#[test]
fn missing_folders_are_made() {
    let home = home();
    let file = home.path().join("a/b/analysis.hash");
    let (engine, said) = with_file(&file);
    assert!(said.iter().any(|line| line.contains("1 MiB, new")) && file.is_file(), "{said:?}");
    engine.quit();
}

/// An engine that goes on with a file that bears its name no longer would work for nothing.
#[test]
#[cfg(unix)]
fn a_file_that_is_removed_or_replaced_is_noticed() {
    let home = home();
    let (file, other) = (home.path().join("used.hash"), home.path().join("other.hash"));
    let (engine, _) = with_file(&other);
    engine.quit();
    let (mut engine, _) = with_file(&file);
    engine.best("go depth 6");
    fs::remove_file(&file).expect("removed");
    let said = engine.sync();
    assert!(said.iter().any(|line| line.contains("was removed")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("1 MiB, new")) && file.is_file(), "{said:?}");
    fs::rename(&other, &file).expect("replaced");
    let (_, said) = engine.best("go depth 6");
    assert!(said.iter().any(|line| line.contains("was replaced")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("1 MiB, ") && line.contains("generation 2")), "{said:?}");
    // Nothing happened since: nothing is said.
    assert!(engine.sync().is_empty());
    engine.quit();
    let (out, ..) = run(&["hash", "info", &file.display().to_string()]);
    assert!(out.contains("roots        1 ") && out.contains("\ngeneration   2\n"), "{out}");
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_nowhere_yet_is_followed() {
    let home = home();
    let (file, link) = (home.path().join("analysis.hash"), home.path().join("link.hash"));
    std::os::unix::fs::symlink("analysis.hash", &link).expect("a link");
    let (engine, said) = with_file(&link);
    assert!(said.iter().any(|line| line.contains("1 MiB, new")), "{said:?}");
    assert!(file.is_file() && link.is_symlink());
    engine.quit();
}

#[test]
fn a_file_that_a_tool_rewrites_is_not_opened() {
    let home = home();
    let path = home.path().join("busy.hash");
    let (engine, _) = with_file(&path);
    engine.quit();
    let held = fs::File::open(&path).expect("the file");
    held.lock().expect("nobody uses it");
    let (engine, said) = with_file(&path);
    let said = said.join("\n");
    assert!(said.contains("in use by `engram hash`") && said.contains("is not kept in a file"), "{said}");
    engine.quit();
}

#[cfg(unix)]
#[test]
fn a_disk_without_room_is_not_filled() {
    let home = home();
    let disk = rustix::fs::statvfs(home.path()).expect("a disk");
    if disk.f_blocks == 0 || disk.f_bfree * disk.f_frsize >= 256 << 30 {
        return eprintln!("skipped: this disk has room for 256 GiB");
    }
    let path = home.path().join("large.hash");
    let mut engine = Engine::ready();
    // 256 GiB, the most that can be asked for.
    engine.send("setoption name HashFileSize value 262144");
    engine.send(&format!("setoption name HashFile value {}", path.display()));
    let said = engine.sync().join("\n");
    engine.quit();
    assert!(said.contains("no room for the 2748779") && said.contains("smaller size"), "{said}");
    assert_eq!(fs::read_dir(home.path()).expect("the folder").count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_mapped_is_not_left_behind() {
    let home = home();
    let disk = rustix::fs::statvfs(home.path()).expect("a disk");
    if disk.f_bavail * disk.f_frsize < 2 << 30 {
        return eprintln!("skipped: this disk has no room for 2 GiB");
    }
    let path = home.path().join("large.hash");
    let mut engine = Engine::start_after("ulimit -v 1000000");
    engine.send("uci");
    engine.send("setoption name HashFileSize value 1024");
    engine.send(&format!("setoption name HashFile value {}", path.display()));
    let said = engine.sync().join("\n");
    engine.quit();
    assert!(said.contains("large.hash cannot be mapped"), "{said}");
    assert_eq!(fs::read_dir(home.path()).expect("the folder").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let path = home.path().join("read-only.hash");
    let (engine, _) = with_file(&path);
    engine.quit();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("own file");
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        return eprintln!("skipped: this user may write anything");
    }
    let before = fs::read(&path).expect("the file");
    let (mut engine, said) = with_file(&path);
    let said = said.join("\n");
    assert!(said.contains("cannot be written") && said.contains("is not kept in a file"), "{said}");
    engine.best("go depth 5");
    engine.quit();
    assert!(fs::read(&path).expect("the file") == before);
}

#[test]
fn another_setting_on_which_scores_rest_closes_the_file_untouched() {
    let home = home();
    let file = home.path().join("mode.hash");
    let (mut engine, _) = with_file(&file);
    engine.best("go depth 6");
    for (option, own, other) in [("PathHash", "draws", "off"), ("Syzygy50MoveRule", "true", "false")] {
        engine.send(&format!("setoption name {option} value {other}"));
        let said = engine.sync().join("\n");
        let why = format!("was written with {option} {own}, not {other}; ");
        assert!(said.contains(&why) && said.contains("is not kept in a file"), "{said}");
        let before = fs::read(&file).expect("the file");
        engine.best("go depth 6");
        assert!(fs::read(&file).expect("the file") == before);
        engine.send(&format!("setoption name {option} value {own}"));
        engine.sync();
        let (_, lines) = engine.best("go depth 6");
        assert!(lines.iter().any(|line| line.contains("resumed after iteration 6")), "{lines:?}");
    }
    engine.quit();
}

#[test]
fn damaged_entries_are_misses() {
    let home = home();
    let file = home.path().join("damaged.hash");
    let (mut engine, _) = with_file(&file);
    for fen in POSITIONS {
        engine.search(&format!("fen {fen}"), "go depth 10");
    }
    engine.quit();
    let path = file.display().to_string();
    assert_eq!(run(&["hash", "check", &path]).2, 0);
    // One byte in a hundred becomes random.
    let mut bytes = fs::read(&file).expect("the file");
    let mut random = Random(1);
    for _ in 0..bytes.len() / 100 {
        let at = 4096 + random.below(bytes.len() - 4096);
        bytes[at] = random.next() as u8;
    }
    fs::write(&file, bytes).expect("the file");
    let (out, error, code) = run(&["hash", "check", &path]);
    assert!(code == 1 && error.contains("damaged entries"), "{out}{error}");
    for fen in POSITIONS {
        let (mut engine, _) = with_file(&file);
        let (best, lines) = engine.search(&format!("fen {fen}"), "go depth 10");
        assert!(best.len() >= 4 && lines.iter().all(|line| !line.contains("mate")), "{best} {lines:?}");
        engine.quit();
    }
    let copy = home.path().join("copy.hash").display().to_string();
    assert_eq!(run(&["hash", "copy", &path, &copy]).2, 0);
    assert_eq!(run(&["hash", "check", &copy]).2, 0);
}

#[test]
fn a_file_is_moved_to_another_size_with_what_it_knows() {
    let home = home();
    let file = home.path().join("grow.hash");
    let path = file.display().to_string();
    let (mut engine, _) = with_file(&file);
    let (_, lines) = engine.search(&format!("fen {}", POSITIONS[0]), "go depth 12");
    refused(&["hash", "resize", &path, "2"], "in use by an engine");
    refused(&["hash", "clear", &path], "in use by an engine");
    // Looking is allowed.
    assert_eq!(run(&["hash", "info", &path]).2, 0);
    engine.quit();

    assert_eq!(run(&["hash", "resize", &path, "3"]).2, 0);
    assert_eq!(fs::metadata(&file).expect("the file").len(), 3 << 20);
    let (out, _, code) = run(&["hash", "info", &path]);
    assert!(code == 0 && out.contains("3 MiB") && out.contains("roots        1 "), "{out}");
    refused(&["hash", "copy", &path, &path], "is there already");
    assert_eq!(run(&["hash", "resize", &path, "1"]).2, 0);
    let (mut engine, _) = with_file(&file);
    let (_, known) = engine.search(&format!("fen {}", POSITIONS[0]), "go depth 12");
    assert_eq!((line_of(&known, 12), nodes_of(&known, 12)), (line_of(&lines, 12), KNOWN));
    engine.quit();

    assert_eq!(run(&["hash", "clear", &path]).2, 0);
    let (out, ..) = run(&["hash", "check", &path]);
    assert!(out.starts_with("0 good entries, 0 damaged"), "{out}");
    refused(&["hash", "info", "no-such.hash"], "there is no hash file");
}

/// A program that cuts the file short takes the engine with it; it says why.
#[cfg(unix)]
#[test]
fn a_file_cut_short_ends_the_engine_with_a_sentence() {
    let home = home();
    let file = home.path().join("cut.hash");
    let (mut engine, _) = with_file(&file);
    fs::OpenOptions::new()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(4096))
        .expect("a shorter file");
    engine.send("go depth 12");
    let (status, error) = engine.wait();
    assert!(status.code() == Some(1) && error.contains("cut short"), "{status} {error}");
}

/// An analysis without tables knows less than the tables that are added later, in the root and one move before it.
#[test]
fn tables_that_are_added_later_decide_what_an_analysis_resumes_with() {
    let Some(tables) = shared("syzygy") else { return };
    let with_tables = format!("setoption name SyzygyPath value {}", tables.display());
    // Only a7b7 draws. The pawn that was taken for lost is won.
    for (fen, child, searched, best) in [
        ("1k6/R7/K7/8/8/8/2p5/8 w - - 0 1", "", "", "a7b7"),
        ("8/8/7B/4k3/8/8/Kp6/4N3 w - - 0 1", " moves a2b2", " searchmoves a2b2", "a2b2"),
    ] {
        let mut engine = Engine::with(&["Learning value off", "UCI_AnalyseMode value true"]);
        engine.search(&format!("fen {fen}{child}"), "go depth 6");
        engine.send(&with_tables);
        let (m, lines) = engine.search(&format!("fen {fen}"), &format!("go depth 6{searched}"));
        assert_eq!(m, best, "{lines:?}");
        let last = reports(&lines).last().and_then(|info| info.score).map(|score| score.value);
        let Some(ScoreValue::Centipawns(centipawns)) = last else { panic!("{lines:?}") };
        assert!(if searched.is_empty() { centipawns == 0 } else { centipawns > 20_000 }, "{lines:?}");
        engine.quit();
    }
}
