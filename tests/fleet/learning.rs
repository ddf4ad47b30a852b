//! Shared learning as it is used: engines of several machines, which are folders here, and a real server that
//! dies, forgets, hangs and is written to by strangers.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use engram::{
    learn::{self, Record, record::RECORD_SIZE},
    position::Position,
};
use redis::cmd;
use rustix::process::Signal;

use crate::common::{
    self, Engine, home, is_full,
    learn::{self as learned, ring},
    random::Random,
    server::{self, Server},
    until,
};

const STREAM: &str = "{engram}:learn-1";

/// An engine that learns every root in `file` and shares it through `url`.
fn sharing(file: &Path, url: &str) -> Engine {
    let mut engine =
        Engine::with(&["Hash value 2", &format!("LearnFile value {}", file.display()), "Learning value all"]);
    assert!(engine.answer(&format!("setoption name LearnShare value {url}")).is_empty());
    engine
}

/// What counts in a file, by key, tombstones included.
fn state(path: &Path) -> BTreeMap<u64, Vec<u8>> {
    let ring = ring(path);
    let records = ring.iter().flat_map(|ring| ring.since(learn::BEFORE_FIRST));
    records.map(|(_, record)| (record.key.0, record.payload()[..56].to_vec())).collect()
}

/// The whole command line on a file.
fn tool(file: &Path, arguments: &[&str]) -> String {
    let home = home();
    let mut command = common::command(&home);
    command.args(["learn", "--file", file.to_str().expect("a readable name")]).args(arguments);
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A game from random first moves, each engine moving for itself. Both learn every position.
fn play(white: &mut Engine, black: &mut Engine, random: &mut Random, plies: usize) {
    let mut position = Position::default();
    let mut moves = String::new();
    for ply in 0..plies {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let uci = if ply < 4 {
            random.pick(&legal).to_uci(shakmaty::CastlingMode::Standard).to_string()
        } else {
            let engine = if position.turn().is_white() { &mut *white } else { &mut *black };
            engine.search(&format!("startpos moves{moves}"), "go depth 5").0
        };
        position = position.play(position.legal_move(&uci).expect("a legal move"));
        moves = format!("{moves} {uci}");
    }
}

/// Four engines, two machines, one server, and everything that can happen to it.
#[test]
fn machines_come_to_know_the_same_whatever_happens_to_the_server() {
    let Some(mut server) = Server::start() else { return };
    let folders = [home(), home()];
    let files: Vec<PathBuf> = folders.iter().map(|folder| folder.path().join("learn.bin")).collect();
    let mut engines: Vec<Engine> = (0..4).map(|number| sharing(&files[number / 2], &server.url())).collect();
    let mut random = Random(27);
    let mut learned: BTreeSet<u64> = BTreeSet::new();
    let mut games = |engines: &mut Vec<Engine>, learned: &mut BTreeSet<u64>| {
        let [one, two, three, four] = &mut engines[..] else { unreachable!() };
        let plies = if is_full() { 40 } else { 12 };
        play(one, three, &mut random, plies);
        play(four, two, &mut random, plies);
        files.iter().for_each(|file| learned.extend(state(file).keys()));
    };
    let equal = || {
        let states: Vec<_> = files.iter().map(|file| state(file)).collect();
        !states[0].is_empty() && states[0] == states[1]
    };
    games(&mut engines, &mut learned);
    until("both files are the same", equal);

    server.kill();
    games(&mut engines, &mut learned);
    assert!(!equal(), "each machine learned something of its own");
    server.start_again(false);
    games(&mut engines, &mut learned);
    until("the server was empty, and both files are the same again", equal);
    let length = |server: &Server| server.ask::<usize>(cmd("XLEN").arg(STREAM));
    assert!(length(&server) >= state(&files[0]).len(), "the server holds it all again");

    // A person speaks: on one machine advice, on the other something is to be forgotten.
    let start = Position::default();
    let after = |name: &str| start.play(start.legal_move(name).expect("legal"));
    let (advised, forgotten) = (after("a2a4"), after("h2h4"));
    tool(&files[0], &["advise", &advised.fen(), "e7e5", "30"]);
    tool(&files[0], &["advise", &forgotten.fen(), "e7e5"]);
    until("advice arrives", || ring(&files[1]).is_some_and(|ring| ring.get(forgotten.key()).is_some()));
    tool(&files[1], &["forget", "--position", &forgotten.fen(), "--yes"]);

    server.kill();
    games(&mut engines, &mut learned);
    server.start_again(true);
    games(&mut engines, &mut learned);
    server.signal(Signal::STOP);
    games(&mut engines, &mut learned);
    thread::sleep(Duration::from_secs(if is_full() { 10 } else { 1 }));
    server.signal(Signal::CONT);
    games(&mut engines, &mut learned);
    until("both files are the same at the end", equal);

    let state = state(&files[0]);
    assert!(learned.iter().all(|key| state.contains_key(key)), "nothing is lost");
    for file in &files {
        let ring = ring(file).expect("a file");
        assert!(ring.get(advised.key()).is_some_and(|record| record.advised().count() == 1));
        assert!(ring.get(forgotten.key()).is_none() && ring.newest_of(forgotten.key()).is_some());
        let bytes = fs::read(file).expect("a file");
        let written: Vec<&[u8]> = bytes[4096..].chunks(RECORD_SIZE).filter(|slot| slot[56] != 0).collect();
        let different: HashSet<&[u8]> = written.iter().map(|slot| &slot[..56]).collect();
        assert_eq!(different.len(), written.len(), "nothing came twice");
    }
    for mut engine in engines {
        // It may have been said before a move of the last game, or wait for the next one.
        let infos = format!("learning is shared again through {}", server.url());
        if !engine.seen.iter().any(|line| line.ends_with(&infos)) {
            engine.search_until_told(&infos);
        }
        engine.quit();
    }
}

#[test]
fn what_was_learned_last_goes_out_before_the_engine_leaves_or_with_the_next() {
    let Some(server) = Server::start() else { return };
    let folder = home();
    let file = folder.path().join("learn.bin");
    // From a clock two days ahead: the others would refuse it, so it is not sent.
    let ahead = Record { time: learn::now() + 2 * 24 * 3600, ..learned::record(&Position::default(), 7) };
    drop(learned::file_of(&file, [ahead]));
    let mut engine = sharing(&file, &server.url());
    engine.search_until_told("learning is shared through");
    engine.search("startpos moves e2e4", "go depth 6");
    engine.quit();
    let length = || server.ask::<usize>(cmd("XLEN").arg(STREAM));
    assert_eq!(length(), 1);

    // Killed at once, and nobody else was there to send it.
    let mut engine = sharing(&file, &format!("redis://127.0.0.1:{}", server::free_port()));
    engine.search("startpos moves d2d4", "go depth 6");
    until("it is in the file", || state(&file).len() == 3);
    engine.kill();
    let mut engine = sharing(&file, &server.url());
    engine.search_until_told("learning is shared through");
    until("the next engine sends it", || length() == 2);
    engine.quit();
}

#[test]
fn what_a_server_confirmed_and_then_lost_is_sent_again() {
    let Some(server) = Server::start() else { return };
    let folder = home();
    let mut engine = sharing(&folder.path().join("learn.bin"), &server.url());
    let length = || server.ask::<usize>(cmd("XLEN").arg(STREAM));
    engine.search("startpos moves e2e4", "go depth 6");
    until("it is sent", || length() == 1);
    engine.search("startpos moves d2d4", "go depth 6");
    until("so is this", || length() == 2);
    // As after a restart without what it had not yet written to its disk.
    let newest = server.ask::<Vec<(String, Vec<Vec<u8>>)>>(
        cmd("XREVRANGE").arg(STREAM).arg("+").arg("-").arg("COUNT").arg(1),
    );
    assert_eq!(server.ask::<usize>(cmd("XDEL").arg(STREAM).arg(&newest[0].0)), 1);
    server.ask::<usize>(cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal"));
    until("it is sent again", || length() == 2);
    engine.quit();
}

#[test]
fn a_server_that_can_be_read_but_takes_nothing_is_not_called_shared() {
    let Some(server) = Server::start() else { return };
    let folder = home();
    let file = folder.path().join("learn.bin");
    let mut engine = sharing(&file, "");
    engine.search("startpos moves e2e4", "go depth 6");
    engine.quit();
    server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(1));
    let mut engine = sharing(&file, &server.url());
    let said = engine.search_until_told("shared through");
    assert!(said.contains("not shared through") && said.contains("OOM"), "{said}");
    server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(0));
    engine.search_until_told("learning is shared again through");
    assert_eq!(server.ask::<usize>(cmd("XLEN").arg(STREAM)), 1);
    engine.quit();
}

/// The most memory that a process ever had, in KiB.
fn peak(engine: &Engine) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", engine.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn strangers_in_the_stream_are_counted_and_not_believed() {
    let Some(server) = Server::start_with(&["--appendonly", "no"]) else { return };
    let mut connection = server.connection();
    let mut random = Random(1);
    let position = |moves: &[&str]| {
        moves.iter().fold(Position::default(), |position, name| {
            position.play(position.legal_move(name).expect("legal"))
        })
    };
    let sound = |position: &Position| Record { time: learn::now(), ..learned::record(position, 7) };
    let mut add = |fields: &[(&[u8], &[u8])]| {
        let mut add = cmd("XADD");
        add.arg(STREAM).arg("*");
        fields.iter().for_each(|(name, value)| {
            add.arg(*name).arg(*value);
        });
        add.exec(&mut connection).expect("added");
    };
    let (first, last) = (position(&["e2e4"]), position(&["d2d4"]));
    add(&[(b"r", &sound(&first).payload()[..56])]);
    let mut wrong = 0;
    let mut foreign = |fields: &[(&[u8], &[u8])]| {
        wrong += 1;
        add(fields);
    };
    for length in [0, 1, 55, 56, 57, 64, 5000] {
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            foreign(&[(b"r", &bytes)]);
        }
    }
    let good = sound(&position(&["g1f3"])).payload();
    foreign(&[(b"x", &good[..56])]);
    foreign(&[(b"r", &good[..56]), (b"r", &good[..56])]);
    // Every byte of the key and the position matters; so do a move that is not legal and a date in the next century.
    for at in 0..32 {
        let mut bytes = good;
        bytes[at] ^= 1 << random.below(8);
        foreign(&[(b"r", &bytes[..56])]);
    }
    let mut bytes = good;
    bytes[32..34].copy_from_slice(&0xffff_u16.to_le_bytes());
    foreign(&[(b"r", &bytes[..56])]);
    let mut bytes = good;
    bytes[52..56].copy_from_slice(&u32::MAX.to_le_bytes());
    foreign(&[(b"r", &bytes[..56])]);
    let huge = vec![b'x'; 30 << 20];
    foreign(&[(b"r", &huge)]);
    foreign(&[(b"r", &huge[..3 << 20])]);
    foreign(&[(b"r", &huge[..5 << 20])]);
    let many = if is_full() { 1_000_000 } else { 20_000 };
    for _ in 0..many / 1000 {
        let mut pipe = redis::pipe();
        for _ in 0..1000 {
            pipe.cmd("XADD").arg(STREAM).arg("*").arg("r").arg(random.next()).ignore();
        }
        pipe.exec(&mut server.connection()).expect("added");
    }
    cmd("XADD")
        .arg(STREAM)
        .arg("*")
        .arg("r")
        .arg(&sound(&last).payload()[..56])
        .exec(&mut server.connection())
        .expect("added");

    let folder = home();
    let file = folder.path().join("learn.bin");
    let mut engine = sharing(&file, &server.url());
    engine.search_until_told("learning all");
    until("what is sound arrives", || ring(&file).is_some_and(|ring| ring.get(last.key()).is_some()));
    assert_eq!(state(&file).len(), 2, "and nothing else");
    let said = engine.search_until_told("are not sound records");
    assert!(said.contains("entries of the stream {engram}:learn-1 at redis://127.0.0.1"), "{said}");
    let peak = peak(&engine);
    assert!(peak < 150 << 10, "{peak} KiB");
    engine.search("startpos moves c2c4", "go depth 6");
    until("the engine goes on to learn, and to share it", || {
        let key = position(&["c2c4"]).key();
        let last: Vec<(String, Vec<Vec<u8>>)> =
            server.ask(cmd("XREVRANGE").arg(STREAM).arg("+").arg("-").arg("COUNT").arg(1));
        ring(&file).is_some_and(|ring| ring.get(key).is_some()) && last[0].1[1][..8] == key.0.to_le_bytes()
    });
    assert!(server.ask::<usize>(cmd("XLEN").arg(STREAM)) <= 65_536);
    assert!(wrong > 100);
    engine.quit();
}

#[test]
fn servers_that_are_none_or_refuse_are_named_and_the_game_goes_on() {
    let folder = home();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let mut engine = sharing(&folder.path().join("silent.bin"), &format!("redis://127.0.0.1:{port}"));
    engine.search("startpos", "go depth 6");
    engine.quit();

    let nobody = format!("redis://user:secret@127.0.0.1:{}", server::free_port());
    let mut engine = sharing(&folder.path().join("nobody.bin"), &nobody);
    let said = engine.search_until_told("learning is not shared through");
    assert!(
        said.contains("refused") && said.ends_with("are shared later") && !said.contains("secret"),
        "{said}"
    );
    engine.quit();

    let mut engine = Engine::ready();
    for wrong in ["here", "http://127.0.0.1", "redis://"] {
        let said = engine.answer(&format!("setoption name LearnShare value {wrong}"));
        assert!(said.len() == 1 && said[0].contains("write redis://HOST"), "{said:?}");
    }
    engine.quit();

    let Some(server) = Server::start() else { return };
    cmd("SET").arg(STREAM).arg("a text").exec(&mut server.connection()).expect("set");
    let mut engine = sharing(&folder.path().join("text.bin"), &server.url());
    let said = engine.search_until_told("learning is not shared through");
    assert!(said.contains("WRONGTYPE"), "{said}");
    engine.quit();

    // By the clock of this server it is a month later.
    let later = learn::now() + 30 * 24 * 3600;
    let record = Record { time: later, ..learned::record(&Position::default(), 7) };
    let mut add = cmd("XADD");
    add.arg(STREAM).arg(format!("{later}000-0")).arg("r").arg(&record.payload()[..56]);
    server.ask::<()>(cmd("DEL").arg(STREAM));
    server.ask::<String>(&add);
    let mut engine = sharing(&folder.path().join("slow.bin"), &server.url());
    let said = engine.search_until_told("learning is not shared through");
    assert!(said.contains("days ahead of the clock"), "{said}");
    engine.quit();
}

/// Runs `openssl` in a folder.
fn openssl(folder: &Path, arguments: &str) -> bool {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    output.is_ok_and(|output| output.status.success())
}

/// The server of the manual: encrypted, with a password, and a user who may do with the stream what an engine does.
#[test]
fn a_server_with_certificates_and_access_lists_is_enough() {
    let keys = home();
    let made = openssl(
        keys.path(),
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca",
    ) && openssl(
        keys.path(),
        "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
    ) && fs::write(keys.path().join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        .is_ok()
        && openssl(
            keys.path(),
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names",
        );
    if !made {
        eprintln!("skipped: there is no openssl to make certificates with");
        return;
    }
    let place = keys.path().to_str().expect("a readable name");
    let port = server::free_port();
    let ca = format!("{place}/ca.crt");
    let tls = format!(
        "--port 0 --tls-port {port} --tls-cert-file {place}/server.crt --tls-key-file {place}/server.key \
         --tls-ca-cert-file {ca} --tls-auth-clients no --user default off \
         --user player on >se#cret resetchannels ~{STREAM} -@all +xadd +xread +xrange"
    );
    let settings: Vec<&str> = tls.split_whitespace().collect();
    let Some(mut server) = Server::start_on(port, &settings) else { return };
    let url = |password: &str| format!("rediss://player:{password}@localhost:{port}?ca={ca}");
    let files: Vec<PathBuf> = ["a", "b"].iter().map(|name| keys.path().join(name)).collect();
    let mut engines: Vec<Engine> = files.iter().map(|file| sharing(file, &url("se%23cret"))).collect();
    for (engine, name) in engines.iter_mut().zip(["e2e4", "d2d4"]) {
        engine.search(&format!("startpos moves {name}"), "go depth 6");
    }
    until("both know both", || files.iter().all(|file| state(file).len() == 2));
    engines.into_iter().for_each(Engine::quit);

    let mut stranger = sharing(&keys.path().join("c"), &url("wrong"));
    let said = stranger.search_until_told("learning is not shared through");
    assert!(said.contains("WRONGPASS") && !said.contains("wrong@"), "{said}");
    stranger.quit();
    let unproven = format!("rediss://player:se%23cret@localhost:{port}");
    let mut engine = sharing(&keys.path().join("d"), &unproven);
    let said = engine.search_until_told("learning is not shared through");
    assert!(said.contains("certificate"), "{said}");
    engine.quit();
    server.kill();
}
