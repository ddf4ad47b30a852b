//! What the system may do to the engine: no files, no memory, no space, no home, signals. The game goes on, or the
//! process ends at once; nothing that was there is lost.
#![cfg(unix)]

use std::{fs, process::Command};

use rustix::process::Signal;

use crate::common::{self, Engine, command, home};

/// The messages among lines.
fn infos(lines: &[String]) -> String {
    common::info_strings(lines).join("\n")
}

#[test]
fn sixteen_open_files_are_enough() {
    let mut engine = Engine::start_after("ulimit -n 16");
    for option in
        ["Threads value 4", "OwnBook value true", "HashFile value analysis.hash", "Debug Log File value log"]
    {
        engine.send(&format!("setoption name {option}"));
    }
    engine.sync();
    let (m, lines) = engine.search("startpos moves a2a3 h7h6 a3a4 h6h5", "go depth 8");
    assert_eq!(m.len(), 4, "{lines:?}");
    assert!(engine.home().join("analysis.hash").exists() && engine.home().join("log").exists());
    engine.quit();
}

#[test]
fn one_file_beside_the_three_streams_leaves_the_game() {
    let mut engine = Engine::start_after("exec 3>&-; ulimit -n 4");
    engine.send("setoption name HashFile value analysis.hash");
    engine.sync();
    for moves in ["e2e4", "d2d4"] {
        let (m, lines) = engine.search(&format!("startpos moves {moves}"), "go depth 6");
        assert_eq!(m.len(), 4, "{lines:?}");
    }
    engine.quit();
}

#[test]
#[cfg(target_os = "linux")]
fn less_memory_than_asked_for_is_said_and_the_game_goes_on() {
    for (limit, option, size, text, less) in [
        (2_000_000, "Hash", 65_536, "table of 65536 MiB; 16 MiB are in use", 64),
        (600_000, "PawnHash", 1024, "table of 1024 MiB", 2),
    ] {
        let mut engine = Engine::start_after(&format!("ulimit -v {limit}"));
        let said = infos(&engine.answer(&format!("setoption name {option} value {size}")));
        assert!(said.contains(&format!("not enough memory for a {text}")), "{said}");
        engine.send("position startpos");
        assert_eq!(engine.best("go depth 6").0.len(), 4);
        // What fits is had.
        assert_eq!(infos(&engine.answer(&format!("setoption name {option} value {less}"))), "");
        assert_eq!(engine.best("go depth 6").0.len(), 4);
        engine.quit();
    }
}

#[test]
fn a_pipe_is_no_file() {
    let mut engine = Engine::ready();
    let made = Command::new("mkfifo").arg(engine.home().join("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    for option in ["BookFile", "Debug Log File", "EvalFile", "HashFile", "LearnFile"] {
        let mut said = infos(&engine.answer(&format!("setoption name {option} value pipe")));
        said += &infos(&engine.sync());
        said += &infos(&engine.best("go depth 1").1);
        assert!(said.contains("pipe"), "{option}: {said}");
    }
    engine.quit();
}

#[test]
fn a_full_disk_costs_what_would_be_written_and_nothing_else() {
    // No file may grow beyond 32 KiB: every longer write fails as on a full disk.
    let mut engine = Engine::start_after("ulimit -f 64");
    engine.send("setoption name HashFile value analysis.hash");
    let said = infos(&engine.sync());
    let (m, lines) = engine.search("startpos", "go depth 8");
    assert_eq!(m.len(), 4, "{lines:?}");
    let said = format!("{said}\n{}", infos(&lines));
    assert!(said.contains("analysis.hash"), "{said}");
    if !said.contains("learn-1.bin") {
        engine.search_until_told("learn-1.bin");
    }
    engine.send("position startpos moves e2e4");
    assert_eq!(engine.best("go depth 8").0.len(), 4);
    engine.quit();
}

#[test]
#[cfg(target_os = "linux")]
fn a_home_that_cannot_be_written_costs_the_memory_alone() {
    let mut engine = Engine::start_after("export HOME=/proc XDG_DATA_HOME=/proc");
    engine.send("setoption name OwnBook value true");
    engine.send("setoption name Learning value all");
    engine.send("setoption name LearnMinDepth value 2");
    let (m, lines) = engine.search("startpos moves a2a3 h7h6 a3a4 h6h5", "go depth 6");
    assert_eq!(m.len(), 4);
    // The file's own thread tells it, during this search or later.
    let text = "/proc/engram/learn-1.bin cannot be created";
    if !infos(&lines).contains(text) {
        engine.send("setoption name OwnBook value false");
        engine.search_until_told(text);
    }
    engine.quit();
}

#[test]
fn signals_end_the_engine_like_quit_and_its_files_stay_sound() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        if common::is_ignored(signal) {
            continue;
        }
        // The engine's own folder goes with it.
        let kept = home();
        let mut engine = Engine::start_at(&kept);
        for option in ["HashFile value analysis.hash", "LearnFile value known.bin", "Learning value all"] {
            engine.send(&format!("setoption name {option}"));
        }
        engine.search("startpos", "go depth 8");
        engine.send("go infinite");
        engine.expect("info depth");
        common::signal(engine.id(), signal);
        let (status, _) = engine.wait();
        assert!(status.success(), "{signal:?}: {status}");
        for task in [&["learn", "verify", "--file", "known.bin"][..], &["hash", "check", "analysis.hash"][..]]
        {
            let output = command(&kept).args(task).output().unwrap();
            assert!(output.status.success(), "{signal:?} {task:?}: {output:?}");
        }
    }
}

#[test]
fn a_signal_that_is_to_be_ignored_is_and_the_others_count() {
    let mut engine = Engine::start_after("trap '' HUP");
    for signal in [Signal::HUP, Signal::TERM] {
        engine.sync();
        common::signal(engine.id(), signal);
    }
    let (status, _) = engine.wait();
    assert!(status.success(), "TERM ends it, HUP does not: {status}");
}

/// The kernel sends the same signal to a program that was compiled for instructions which the processor has not.
#[test]
fn a_program_for_a_newer_processor_ends_with_a_sentence() {
    let engine = Engine::ready();
    common::signal(engine.id(), Signal::ILL);
    let (status, stderr) = engine.wait();
    assert_eq!(status.code(), Some(1), "{status}");
    assert!(stderr.contains("compiled for a newer processor"), "{stderr}");
}

/// Many more threads than processors: each of them searches, and all of them are stopped.
#[test]
fn sixty_four_threads_start_play_and_stop() {
    let mut engine = Engine::with(&["Threads value 64"]);
    engine.sync();
    let (m, lines) = engine.search("startpos", "go nodes 200000");
    assert_eq!(m.len(), 4, "{lines:?}");
    #[cfg(target_os = "linux")]
    {
        let cores = std::thread::available_parallelism().unwrap().get();
        // The 19th field, the second ends in a parenthesis.
        let nice = |task: fs::DirEntry| {
            let stat = fs::read_to_string(task.path().join("stat")).ok()?;
            stat.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse::<i32>().ok()
        };
        common::until("all threads but as many as cores are of low priority", || {
            let tasks = fs::read_dir(format!("/proc/{}/task", engine.id())).unwrap().flatten();
            tasks.filter_map(nice).filter(|&nice| nice == 19).count() + cores >= 64
        });
    }
    engine.send("go infinite");
    engine.expect("info depth");
    engine.send("stop");
    assert_eq!(engine.best_move().0.len(), 4);
    engine.send("setoption name Threads value 1");
    engine.sync();
    engine.quit();
}

/// `hg` among the flags of a mapping: the kernel was asked for huge pages there. Whether it has some to give is its
/// own affair.
#[test]
#[cfg(target_os = "linux")]
fn the_table_may_lie_on_huge_pages() {
    let enabled = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if !enabled.contains("[madvise]") && !enabled.contains("[always]") {
        println!("skipped: this kernel gives no huge pages ({})", enabled.trim());
        return;
    }
    let mut engine = Engine::with(&["Hash value 64"]);
    engine.sync();
    let maps = fs::read_to_string(format!("/proc/{}/smaps", engine.id())).unwrap();
    // A mapping's lines begin with its addresses; `Size:` and `VmFlags:` follow.
    let mut size = 0;
    let mut advised = Vec::new();
    for line in maps.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["Size:", kib, ..] => size = kib.parse::<usize>().unwrap(),
            ["VmFlags:", flags @ ..] if flags.contains(&"hg") => advised.push(size),
            _ => {}
        }
    }
    assert!(advised.iter().any(|&kib| kib >= 64 << 10), "{advised:?}");
    engine.quit();
}

#[test]
#[cfg(target_os = "linux")]
fn no_network_is_opened() {
    let mut engine =
        Engine::with(&["OwnBook value true", "HashFile value analysis.hash", "Learning value all"]);
    engine.search("startpos", "go depth 6");
    engine.send("go infinite");
    engine.expect("info depth");
    let folder = format!("/proc/{}/fd", engine.id());
    let open: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    assert!(open.iter().any(|target| target.ends_with("analysis.hash")), "{open:?}");
    assert!(!open.iter().any(|target| target.starts_with("socket:")), "{open:?}");
    engine.stop();
    engine.quit();
}

#[test]
fn a_locale_changes_nothing() {
    // In Turkish the small I of INFINITE is another letter, in German a comma divides. Any name may be unknown here.
    let play = |locale: &str| {
        let mut engine = Engine::start_after(&format!("export LC_ALL={locale} LANG={locale}"));
        let mut said = engine.answer("setoption name MULTIPV value 2");
        let (m, lines) = engine.search("startpos moves g1f3", "go depth 6");
        // Times are not of the locale.
        said.extend(
            lines.iter().filter_map(|line| line.split_once(" nps ")).map(|(start, _)| start.to_owned()),
        );
        said.push(m);
        engine.quit();
        said
    };
    let usual = play("C");
    for locale in ["de_DE.UTF-8", "tr_TR.UTF-8", "no such locale", ""] {
        assert_eq!(play(&format!("'{locale}'")), usual, "{locale}");
    }
}

#[test]
fn files_with_windows_line_ends_are_read_alike() {
    let home = home();
    let engram = |arguments: &[&str]| {
        let output = command(&home).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    };
    let windows = |name: &str, text: &str| {
        fs::write(home.path().join(name), text.replace('\n', "\r\n")).unwrap();
    };
    windows("tasks.epd", "k7/8/1K6/8/8/8/8/7R w - - bm Rh8#; id \"rook\";\n");
    assert!(String::from_utf8(engram(&["analyse", "tasks.epd", "--depth", "3"])).unwrap().contains("Rh8#"));

    engram(&["learn", "--file", "one.bin", "import", "tasks.epd"]);
    let text = String::from_utf8(engram(&["learn", "--file", "one.bin", "export"])).unwrap();
    windows("known.txt", &text);
    engram(&["learn", "--file", "two.bin", "import", "known.txt"]);
    assert_eq!(engram(&["learn", "--file", "two.bin", "export"]), text.as_bytes());

    let games = "[Event \"a\"]\n[Result \"1-0\"]\n\n1. e4 e5 {of two\nlines} 2. Nf3 ; rest\nNc6 1-0\n\n[Event \"b\"]\n\n1. d4 d5 *\n";
    fs::write(home.path().join("unix.pgn"), games).unwrap();
    windows("windows.pgn", games);
    for name in ["unix", "windows"] {
        engram(&["book", "make", &format!("{name}.pgn"), "--output", &format!("{name}.bin")]);
    }
    let book = |name: &str| fs::read(home.path().join(name)).unwrap();
    assert_eq!(book("windows.bin"), book("unix.bin"));
}
