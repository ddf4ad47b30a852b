//! What the commands write, and what they must not: an input under another name, a file that another process writes, a
//! file of the user's; and how they end when what they write is wanted no more.
#![cfg(unix)]

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    process::{Child, Stdio},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{command, finish, fixture, home, is_ignored, shell, signal, until};

const GAME: &str = "[Event \"x\"]\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 *\n\n";

/// Name and content of every file in a folder, in order.
fn contents(home: &TempDir) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn no_output_is_an_input_under_another_name() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::write(path("in.pgn"), GAME).unwrap();
    fs::hard_link(path("in.pgn"), path("hard.pgn")).unwrap();
    symlink("in.pgn", path("symbolic.pgn")).unwrap();
    fs::write(path("names.tsv"), "A00\tX\t1. e4\n").unwrap();
    fs::write(path("one.epd"), "8/8/8/3kn3/8/8/3K4/7R w - - bm Rh5;\n").unwrap();
    assert_eq!(shell(&home, "$E book make in.pgn -o a.bin && $E book make in.pgn -o b.bin").2, 0);
    assert_eq!(shell(&home, "$E learn --file learn.bin import one.epd").2, 0);
    fs::hard_link(path("learn.bin"), path("also.bin")).unwrap();
    let before = contents(&home);
    for line in [
        "analyse in.pgn --nodes 1 --pgn hard.pgn --force",
        "analyse in.pgn --nodes 1 --json symbolic.pgn --force",
        "analyse hard.pgn --nodes 1 --html ../$(basename $PWD)/in.pgn --force",
        "analyse - --nodes 1 --pgn in.pgn --force < in.pgn",
        "analyse /dev/stdin --nodes 1 --csv hard.pgn --force < in.pgn",
        "analyse in.pgn one.epd --nodes 1 --puzzles one.epd --force",
        "analyse in.pgn --nodes 1 --eco names.tsv --json names.tsv --force",
        "analyse in.pgn --nodes 1 --learn learn.bin --html also.bin --force",
        "analyse in.pgn --nodes 1 --learn new.bin --write --json new.bin",
        "analyse in.pgn --nodes 1 --learn in.pgn --write",
        "analyse in.pgn --nodes 1 >> in.pgn",
        "analyse in.pgn --nodes 1 --pgn - >> hard.pgn",
        "analyse in.pgn --nodes 1 --json /dev/stdout 1<> in.pgn",
        "book make in.pgn -o in.pgn --force",
        "book make in.pgn -o hard.pgn --force",
        "book make - -o in.pgn --force < in.pgn",
        "book merge a.bin b.bin -o b.bin --force",
        "learn --file learn.bin export also.bin --force",
        "learn --file learn.bin html learn.bin --force",
        "learn --file learn.bin import also.bin",
        "learn --file learn.bin import - < learn.bin",
        "learn --file learn.bin import in.pgn --player A < /dev/null; $E learn --file in.pgn import hard.pgn --player A",
    ] {
        let (out, err, code) = shell(&home, &format!("$E {line}"));
        assert!(code == 1 && err.contains("would overwrite the input"), "{line}: {out}{err}");
        assert!(contents(&home) == before, "{line}");
    }
}

#[test]
fn a_refused_run_leaves_nothing_and_no_right_to_overwrite() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::write(path("in.pgn"), GAME.repeat(2)).unwrap();
    fs::write(path("names.tsv"), "A00\tX\t1. e9\n").unwrap();
    fs::write(path("mine.html"), "mine").unwrap();
    let before = contents(&home);
    for (more, expected) in [
        ("--pgn new.pgn --eco names.tsv", "e9 is not a move"),
        ("--pgn new.pgn --eco missing.tsv", "missing.tsv cannot be read"),
        ("--pgn new.pgn --learn missing.bin", "there is no learning file"),
        ("--pgn new.pgn --learn in.pgn", "is not a learning file"),
        ("--pgn new.pgn --syzygy nowhere", "the tablebase folder nowhere cannot be read"),
        ("--pgn new.pgn --html nodir/x.html", "nodir/x.html cannot be written"),
        ("--html nodir/x.html --pgn new.pgn", "nodir/x.html cannot be written"),
        ("--learn new.bin --write --pgn new.pgn --html nodir/x.html", "nodir/x.html cannot be written"),
        ("--pgn new.pgn --csv .", ". cannot be written"),
        ("--pgn new.pgn --html mine.html", "mine.html is there already; --force overwrites it"),
        ("--json new.json --pgn new.json.unfinished", "--pgn names the file from which this run resumes"),
        ("--pgn new.pgn --json ./new.pgn", "--json and --pgn both name"),
        ("--json - --pgn /dev/stdout", "--json and --pgn both name"),
        ("--pgn new.pgn --csv new.pgn/x", "cannot be written"),
    ] {
        let (_, err, code) = shell(&home, &format!("$E analyse in.pgn --depth 2 {more}"));
        assert!(code == 1 && err.contains(expected), "{more}: {err}");
        assert!(contents(&home) == before, "{more}");
    }
    // Its cause is mended, and something else is there meanwhile.
    fs::write(path("new.pgn"), "mine").unwrap();
    fs::write(path("names.tsv"), "A00\tX\t1. e4\n").unwrap();
    let (_, err, code) = shell(&home, "$E analyse in.pgn --depth 2 --pgn new.pgn --eco names.tsv");
    assert!(code == 1 && err.contains("--force overwrites it"), "{err}");
    assert_eq!(fs::read_to_string(path("new.pgn")).unwrap(), "mine");
    let (_, err, code) = shell(&home, "$E analyse in.pgn --depth 2 --pgn new.pgn --force");
    assert!(code == 0 && fs::read_to_string(path("new.pgn")).unwrap().contains("[Event"), "{err}");
}

#[test]
fn what_another_process_writes_is_left_to_it() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::write(path("in.pgn"), GAME.repeat(2)).unwrap();
    assert_eq!(shell(&home, "$E learn --file l.bin import /dev/null").2, 0);
    for name in ["out.pgn", "page.html", "book.bin"] {
        let holder = File::create(path(name)).unwrap();
        holder.lock().unwrap();
        for line in [
            format!("analyse in.pgn --nodes 1 --json new.json --pgn {name} --force"),
            format!("book make in.pgn -o {name} --force"),
            format!("learn --file l.bin html {name} --force"),
        ] {
            let (_, err, code) = shell(&home, &format!("$E {line}"));
            assert!(code == 1 && err.contains("is being written by another process"), "{line}: {err}");
            assert!(!err.contains("remove"), "{err}");
            assert!(!path("new.json").exists() && !path("new.json.unfinished").exists());
        }
    }
    let journal = File::create(path("new.json.unfinished")).unwrap();
    journal.lock().unwrap();
    let (_, err, code) = shell(&home, "$E analyse in.pgn --nodes 1 --json new.json --force");
    assert!(
        code == 1 && err.contains("another process is doing this work") && !err.contains("remove"),
        "{err}"
    );
    assert!(path("new.json.unfinished").exists() && !path("new.json").exists());
}

#[test]
fn the_same_outputs_can_be_written_once_the_other_process_has_gone() {
    let home = home();
    fs::write(home.path().join("in.pgn"), GAME).unwrap();
    let mut other = command(&home);
    other.args(["analyse", "in.pgn", "--movetime", "100000000", "--pgn", "out.pgn"]);
    let mut other = other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Each of its outputs is there when the journal has its first line.
    let journal = || fs::read(home.path().join("out.pgn.unfinished")).unwrap_or_default();
    until("the journal begins", || !journal().is_empty());
    // Without the journal of the first it is still refused.
    fs::remove_file(home.path().join("out.pgn.unfinished")).unwrap();
    let second = "$E analyse in.pgn --nodes 1 --threads 1 --pgn out.pgn --force";
    let (_, err, code) = shell(&home, second);
    assert!(code == 1 && err.contains("out.pgn is being written by another process"), "{err}");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(shell(&home, second).2, 0);
}

#[test]
fn devices_pipes_links_and_names_of_any_bytes_are_outputs() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    fs::write(path("in.pgn"), GAME).unwrap();
    let analyse = "$E analyse in.pgn --depth 1 --threads 1";
    for line in ["--json /dev/null > /dev/null", "--json /dev/null", "--json /dev/null --pgn out.pgn"] {
        let (_, err, code) = shell(&home, &format!("{analyse} {line}"));
        assert_eq!((err.as_str(), code), ("", 0), "{line}");
    }
    // Of other systems not every one has `/proc`, or more than the three streams in `/dev/fd`.
    let is_linux = cfg!(target_os = "linux");
    let proc = is_linux.then_some("/proc/self/fd/1");
    for standard in ["-", "/dev/stdout", "/dev/fd/1"].into_iter().chain(proc) {
        let (out, err, code) = shell(&home, &format!("{analyse} --json {standard}"));
        assert_eq!((err.as_str(), code), ("", 0));
        assert!(out.starts_with("{\"file\"") && out.lines().count() == 1, "{standard}: {out}");
    }
    // To the file to which the standard output goes: nothing else is written there.
    let (_, err, code) = shell(&home, &format!("{analyse} --json both.json > both.json"));
    assert_eq!((err.as_str(), code), ("", 0));
    assert_eq!(fs::read_to_string(path("both.json")).unwrap().lines().count(), 1);
    if is_linux {
        let (_, err, code) = shell(&home, &format!("{analyse} --json /dev/fd/3 --force 3> three.json"));
        assert_eq!((err.as_str(), code), ("", 0));
        assert_eq!(fs::read_to_string(path("three.json")).unwrap().lines().count(), 1);
    }
    let pipe =
        shell(&home, &format!("mkfifo pipe; cat pipe > read & {analyse} --json pipe > /dev/null; wait"));
    assert_eq!((pipe.1.as_str(), pipe.2), ("", 0));
    assert_eq!(fs::read_to_string(path("read")).unwrap().lines().count(), 1);
    symlink("not-there-yet.json", path("link.json")).unwrap();
    assert_eq!(shell(&home, &format!("{analyse} --json link.json")).2, 0);
    assert!(path("link.json").is_symlink() && path("not-there-yet.json").is_file());

    let odd = home.path().join(OsStr::from_bytes(b"M\xfcller.json"));
    if let Err(error) = File::create(&odd).and_then(|_| fs::remove_file(&odd)) {
        eprintln!("skipped: a name that is not UTF-8 ({error})");
    } else {
        let (_, err, code) =
            finish(command(&home).args(["analyse", "in.pgn", "--depth", "1", "--json"]).arg(&odd));
        assert_eq!((err.as_str(), code), ("", 0));
        assert!(odd.is_file());
    }
    let left: Vec<_> = contents(&home).into_iter().filter(|(name, _)| name.contains("unfinished")).collect();
    assert!(left.is_empty(), "{left:?}");
    // What replaces a file as a whole replaces no device.
    for line in ["book make in.pgn -o /dev/null --force", "book make in.pgn -o . --force"] {
        let (_, err, code) = shell(&home, &format!("$E {line}"));
        assert!(code == 1 && err.contains("; name a file"), "{err}");
    }
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn a_page_and_an_export_are_replaced_if_that_is_asked_for() {
    let home = home();
    fs::write(home.path().join("one.epd"), "8/8/8/3kn3/8/8/3K4/7R w - - bm Rh5;\n").unwrap();
    assert_eq!(shell(&home, "$E learn --file l.bin import one.epd").2, 0);
    for (task, expected) in [("html", "<body"), ("export", "8/8/8/3kn3")] {
        let line = format!("$E learn --file l.bin {task} out");
        fs::write(home.path().join("out"), "mine").unwrap();
        let (_, err, code) = shell(&home, &line);
        assert!(code == 1 && err.contains("out is there already; --force overwrites it"), "{err}");
        assert_eq!(fs::read_to_string(home.path().join("out")).unwrap(), "mine");
        let (_, err, code) = shell(&home, &format!("{line} --force"));
        assert_eq!((err.as_str(), code), ("", 0));
        assert!(fs::read_to_string(home.path().join("out")).unwrap().contains(expected));
    }
}

/// A position whose search ends at once, and others whose searches do not end.
const ENDLESS: &str = "7k/5Q2/6K1/8/8/8/8/8 b - -\n";
const MORE: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";

fn endless(home: &TempDir, more: &[&str]) -> Child {
    fs::write(home.path().join("in.epd"), ENDLESS.to_owned() + &MORE.repeat(30)).unwrap();
    let mut analyse = command(home);
    analyse.args(["analyse", "in.epd", "--movetime", "100000000", "--threads", "2"]).args(more);
    analyse.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of a run that nothing but its own decision ends: standard error and exit code.
fn ended(mut child: Child) -> (String, Option<i32>) {
    until("a search for nobody ends", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

#[test]
#[cfg(unix)]
fn who_interrupts_it_hears_that_it_goes_on() {
    if is_ignored(Signal::INT) {
        return;
    }
    let home = home();
    let child = endless(&home, &["--json", "out.json"]);
    // Written when the first search has ended.
    let written = || fs::read(home.path().join("out.json")).is_ok_and(|text| !text.is_empty());
    until("the first result is written", written);
    signal(child.id(), Signal::INT);
    assert_eq!(ended(child), ("interrupted; give the same command again to resume\n".to_owned(), Some(130)));
    assert!(home.path().join("out.json.unfinished").is_file());
}

#[test]
fn searches_end_when_nobody_reads_the_results() {
    let home = home();
    for more in [&[][..], &["--json", "-"], &["--csv", "-"]] {
        let mut child = endless(&home, more);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        // The pipe is closed now, and nothing more is written before the next search ends.
        assert_eq!(ended(child), (String::new(), Some(0)), "{more:?}");
    }
}

#[test]
fn an_output_that_was_removed_meanwhile_is_written_by_the_same_command() {
    let home = home();
    // What is printed of the games does not fit into the pipe: the run goes on only when it is read.
    let name = "x".repeat(2000);
    let games = format!("[White \"{name}\"]\n[Black \"{name}\"]\n\n1. e4 e5 *\n\n").repeat(40);
    fs::write(home.path().join("in.pgn"), games).unwrap();
    let analyse = || {
        let mut analyse = command(&home);
        analyse.args(["analyse", "in.pgn", "--depth", "1", "--threads", "1", "--json", "out.json"]);
        analyse
    };
    let child = analyse().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let json = home.path().join("out.json");
    until("the first result is written", || fs::read(&json).is_ok_and(|text| !text.is_empty()));
    fs::remove_file(&json).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && err.contains("removed or replaced meanwhile"), "{err}");
    let (out, err, code) = finish(&mut analyse());
    assert_eq!((err.as_str(), code), ("resuming unfinished work\n", 0));
    assert!(out.contains("0 positions (and 120 results of the interrupted run), 0 nodes"), "{out}");
    assert_eq!(fs::read_to_string(&json).unwrap().lines().count(), 40);
}

#[test]
#[cfg(target_os = "linux")]
fn searches_end_when_a_result_cannot_be_written() {
    let home = home();
    symlink("/dev/full", home.path().join("full")).unwrap();
    for more in [&["--json", "full"][..], &["--csv", "full"], &["--json", "out.json", "--html", "full"]] {
        let (err, code) = ended(endless(&home, more));
        assert!(code == Some(1) && err.contains("full cannot be written"), "{more:?}: {err}");
    }
    let (_, err, code) =
        shell(&home, "$E analyse in.epd --movetime 100000000 --threads 2 --json new.json > /dev/full");
    assert!(code == 1 && err.contains("the output cannot be written"), "{err}");
    assert!(home.path().join("new.json.unfinished").is_file(), "the same command resumes");
    symlink("/dev/full", home.path().join("full.pgn")).unwrap();
    fs::write(home.path().join("in.pgn"), GAME).unwrap();
    let (_, err, code) = shell(&home, "$E analyse in.pgn --depth 2 --pgn full.pgn");
    assert!(code == 1 && err.contains("full.pgn cannot be written"), "{err}");
}

#[test]
fn what_was_read_before_an_error_is_written() {
    let home = home();
    let path = |name: &str| home.path().join(name);
    let packed = |games: usize| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(GAME.repeat(games).as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let (whole, part) = (packed(3), packed(3));
    fs::write(path("cut.pgn.gz"), [&whole, &part[..part.len() - 12]].concat()).unwrap();
    fs::write(path("good.pgn"), GAME.repeat(2)).unwrap();
    for (input, games) in [("cut.pgn.gz", 3..=6), ("cut.pgn.gz good.pgn", 5..=8)] {
        let line = format!("$E analyse {input} --depth 1 --threads 1 --json t.json --html t.html --force");
        let (_, err, code) = shell(&home, &line);
        assert!(code == 1 && err.contains("cut.pgn.gz cannot be read"), "{err}");
        let json = fs::read_to_string(path("t.json")).unwrap();
        assert!(games.contains(&json.lines().count()), "{json}");
        assert!(fs::read_to_string(path("t.html")).unwrap().trim_end().ends_with("</html>"));
        assert!(!path("t.json.unfinished").exists(), "there is no more to be read");
    }
    // A broken game at the end is no such error.
    assert_eq!(shell(&home, &format!("$E analyse {} --depth 1", fixture("games.pgn"))).2, 3);
}
