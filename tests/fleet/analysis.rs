//! Shared analysis as it is used: a collector, workers that die, a server that forgets, and the outputs of one machine.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead as _, BufReader, Read},
    path::Path,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use engram::fleet::{EntryId, Queue, Task, TaskOutcome};
use redis::cmd;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{
    self, TIMEOUT, command, home, is_full, is_ignored, learn, run,
    server::{self, Server},
    signal, until,
};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(home: &TempDir, arguments: &[&str]) -> Running {
    let mut command = command(home);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    Running(command.spawn().expect("the binary starts"))
}

fn worker(home: &TempDir, server: &Server) -> Running {
    start(home, &["worker", "--queue", &server.url(), "--threads", "1", "--claim-after", "1"])
}

/// Positions of random games, as EPD.
fn positions(count: usize) -> String {
    learn::positions(count, 5).iter().map(|position| position.fen() + "\n").collect()
}

/// The lines of a JSON output without what the clock says.
fn untimed(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.iter_mut().for_each(|line| line["ms"] = 0.into());
    lines
}

fn path(home: &TempDir, name: &str) -> String {
    home.path().join(name).to_str().expect("a readable name").to_owned()
}

/// How many keys the server has that begin so.
fn keys(server: &Server, pattern: &str) -> usize {
    server.ask::<Vec<String>>(cmd("KEYS").arg(pattern)).len()
}

fn analysed(home: &TempDir, input: &str, output: &str, more: &[&str]) -> (String, String, i32) {
    let (input, output) = (path(home, input), path(home, output));
    let kind = if output.ends_with(".pgn") { "--pgn" } else { "--json" };
    let fixed = ["analyse", &input, kind, &output, "--hash", "2", "--threads", "2"];
    run(&[&fixed, more].concat())
}

#[test]
fn outputs_are_those_of_one_machine_and_the_server_is_left_empty() {
    let Some(server) = Server::start() else { return };
    let home = home();
    let games = "[White \"A\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 *\n\n\
                 1. d4 d5 2. c5 *\n\n\
                 [FEN \"4k2r/8/8/8/8/8/4PPP1/4K1R1 w Gk - 0 1\"]\n[SetUp \"1\"]\n\n1. O-O O-O 2. e4 Kf7 *\n\n";
    fs::write(path(&home, "games.pgn"), games.repeat(3)).expect("written");
    fs::write(path(&home, "some.epd"), positions(40)).expect("written");
    let _workers = [worker(&home, &server), worker(&home, &server)];
    let url = server.url();
    for (input, limits) in [("games.pgn", ["--nodes", "700"]), ("some.epd", ["--depth", "5"])] {
        let ending = if input.ends_with("pgn") { "pgn" } else { "jsonl" };
        let (here, there) = (format!("here.{ending}"), format!("there.{ending}"));
        let (out, err, code) = analysed(&home, input, &here, &limits);
        let far = analysed(&home, input, &there, &[&limits[..], &["--queue", &url]].concat());
        assert_eq!((&far.1, far.2), (&err, code), "the same words of what is skipped");
        let shown = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("nodes a second"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(ending != "pgn" || shown(&far.0) == shown(&out), "{}\n{out}", far.0);
        if ending == "pgn" {
            assert_eq!(fs::read(path(&home, &there)).unwrap(), fs::read(path(&home, &here)).unwrap());
        } else {
            assert_eq!(untimed(&home.path().join(&there)), untimed(&home.path().join(&here)));
        }
        assert!(!home.path().join(format!("{there}.unfinished")).exists());
    }
    let tasks: Vec<String> = server.ask(cmd("KEYS").arg("{engram}:tasks:*"));
    assert_eq!(server.ask::<usize>(cmd("XLEN").arg(&tasks[0])), 0, "nothing is left to do");
    assert_eq!(keys(&server, "{engram}:results:*") + keys(&server, "{engram}:cache:*"), 0);
}

/// What a tree has come to.
fn nodes(home: &TempDir, name: &str) -> Vec<String> {
    let database = rusqlite::Connection::open(home.path().join(name)).expect("a database");
    let query = "SELECT fen || ' ' || ifnull(score, '') || ' ' || ifnull(best, '') || ' ' || ifnull(depth, '') \
                 FROM nodes ORDER BY key";
    let mut nodes = database.prepare(query).expect("a tree");
    nodes.query_map([], |row| row.get(0)).expect("readable").map(|row| row.expect("text")).collect()
}

/// How many searches a tree has.
fn searches(home: &TempDir, name: &str) -> usize {
    let database = rusqlite::Connection::open(home.path().join(name)).expect("a database");
    database.query_row("SELECT count(*) FROM positions", [], |row| row.get(0)).expect("a number")
}

#[test]
fn a_tree_that_workers_grow_is_that_of_one_machine() {
    let Some(server) = Server::start() else { return };
    let home = home();
    let url = server.url();
    let grow = ["grow", "--positions", "25", "--nodes", "700", "--threads", "1", "--hash", "2"];
    let mut worker_there = Some(worker(&home, &server));
    for (name, more) in [("here.db", &[][..]), ("there.db", &["--queue", &url])] {
        let file = path(&home, name);
        assert_eq!(run(&["tree", &file, "add", "startpos"]).2, 0);
        let (out, err, code) = run(&[&["tree", &file], &grow[..], more].concat());
        assert!(code == 0 && out.contains("25 searches"), "{out}{err}");
    }
    assert_eq!(nodes(&home, "there.db"), nodes(&home, "here.db"));
    // Workers die with what they hold; those that come later do it.
    let file = path(&home, "more.db");
    assert_eq!(run(&["tree", &file, "add", "startpos"]).2, 0);
    let kills = if is_full() { 100 } else { 1 };
    let positions = (30 + 10 * kills).to_string();
    let more =
        ["--positions", &positions, "--nodes", "700", "--threads", "4", "--hash", "2", "--queue", &url];
    let mut grower = start(&home, &[&["tree", &file, "grow"], &more[..]].concat());
    for kill in 1..=kills {
        until("it grows after a death", || searches(&home, "more.db") >= 10 * kill);
        worker_there.take();
        worker_there = Some(worker(&home, &server));
    }
    assert!(grower.0.wait().expect("a child").success());
    let (out, ..) = run(&["tree", &file, "check"]);
    assert!(out.contains("is sound"), "{out}");
    assert_eq!(searches(&home, "more.db"), 30 + 10 * kills, "all searches are there");
}

#[test]
fn workers_that_die_lose_nothing_and_the_collector_may_die_as_well() {
    let Some(mut server) = Server::start() else { return };
    let home = home();
    let (count, crew, nodes) = if is_full() { (2000, 10, "20000") } else { (120, 3, "10000") };
    fs::write(path(&home, "many.epd"), positions(count)).expect("written");
    let mut workers: Vec<Running> = (0..crew).map(|_| worker(&home, &server)).collect();
    let url = server.url();
    let (input, output) = (path(&home, "many.epd"), path(&home, "there.jsonl"));
    let arguments = [
        "analyse",
        &input,
        "--json",
        &output,
        "--hash",
        "2",
        "--threads",
        "2",
        "--nodes",
        nodes,
        "--queue",
        &url,
    ];
    let mut collector = start(&home, &arguments);
    let done = || fs::read_to_string(&output).map_or(0, |text| text.lines().count());
    // Results are written in the order of the positions, so they come one by one as long as no worker has died.
    for restart in 1..=2 {
        until("results come", || done() > restart * count / 12);
        let _ = collector.0.kill();
        assert!(!collector.0.wait().expect("a child").success(), "it was ready before it was killed");
        if restart == 2 {
            // And the server forgets everything.
            server.kill();
            server.start_again(false);
        }
        collector = start(&home, &arguments);
    }
    // Not so many that a task meets three of them, which would be its fault.
    let kills = if is_full() { 30 } else { 2 };
    for kill in 1..=kills {
        until("results come", || done() > count / 2 + kill * count / (4 * kills));
        workers[kill % crew] = worker(&home, &server);
    }
    until("it ends", || collector.0.try_wait().expect("a child").is_some());
    let ended = collector.0.wait().expect("a child");
    let mut said = String::new();
    collector.0.stderr.take().expect("piped").read_to_string(&mut said).expect("readable");
    assert!(ended.success(), "{said}");
    let (_, err, code) = analysed(&home, "many.epd", "here.jsonl", &["--nodes", nodes]);
    assert_eq!((err.as_str(), code), ("", 0));
    let (here, there) = (untimed(&home.path().join("here.jsonl")), untimed(Path::new(&output)));
    assert_eq!((here.len(), there.len()), (count, count));
    assert!(here == there, "the results are those of one machine");
}

/// An analysis of `some.epd` by the workers of a server, whose results go to `out.jsonl`.
fn collector(home: &TempDir, server: &Server) -> Running {
    let (input, output, url) = (path(home, "some.epd"), path(home, "out.jsonl"), server.url());
    start(home, &["analyse", &input, "--json", &output, "--depth", "3", "--hash", "2", "--queue", &url])
}

/// Waits until it has ended well, with so many results.
fn ends_with(mut collector: Running, home: &TempDir, count: usize) {
    until("it ends", || collector.0.try_wait().expect("a child").is_some());
    assert!(collector.0.wait().expect("a child").success());
    assert_eq!(untimed(&home.path().join("out.jsonl")).len(), count);
}

/// The tasks that workers hold: which, by whom, for how many milliseconds, and how many workers have begun it.
fn held(server: &Server) -> Vec<(String, String, u64, u64)> {
    let keys: Vec<String> = server.ask(cmd("KEYS").arg("{engram}:tasks:*"));
    let Some(key) = keys.first() else { return Vec::new() };
    let mut pending = cmd("XPENDING");
    pending.arg(key).arg("workers").arg("-").arg("+").arg(9);
    // Before the first worker there is no group.
    pending.query(&mut server.connection()).unwrap_or_default()
}

/// How many tasks are in the queue, held by a worker or not.
fn tasks(server: &Server) -> usize {
    let keys: Vec<String> = server.ask(cmd("KEYS").arg("{engram}:tasks:*"));
    keys.first().map_or(0, |key| server.ask(cmd("XLEN").arg(key)))
}

#[test]
fn what_was_done_while_the_collector_was_away_is_not_done_again() {
    let Some(server) = Server::start() else { return };
    let home = home();
    fs::write(path(&home, "some.epd"), positions(20)).expect("written");
    let killed = collector(&home, &server);
    until("the tasks are there", || tasks(&server) == 20);
    drop(killed);
    let worker = worker(&home, &server);
    until("all are done", || tasks(&server) == 0);
    drop(worker);
    // Nobody works any more.
    ends_with(collector(&home, &server), &home, 20);
    assert_eq!(keys(&server, "{engram}:results:*"), 0);
}

#[test]
fn results_wait_until_the_server_has_room_for_them() {
    let Some(server) = Server::start() else { return };
    let home = home();
    fs::write(path(&home, "some.epd"), positions(3)).expect("written");
    // The first worker makes the group, for which there is no room later.
    let first = worker(&home, &server);
    until("the worker is there", || keys(&server, "{engram}:tasks:*") == 1);
    drop(first);
    let collector = collector(&home, &server);
    until("the tasks are there", || tasks(&server) == 3);
    let room = |bytes: &str| {
        server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(bytes));
    };
    room("1");
    let mut worker = worker(&home, &server);
    let said = BufReader::new(worker.0.stderr.take().expect("piped"));
    let reader = thread::spawn(move || said.lines().map_while(Result::ok).any(|line| line.contains("OOM")));
    until("it tries again", || reader.is_finished());
    assert!(reader.join().expect("a reader"), "the worker has ended");
    room("0");
    ends_with(collector, &home, 3);
}

#[test]
#[cfg(unix)]
fn an_interrupted_tree_leaves_nothing_in_the_queue() {
    if is_ignored(Signal::INT) {
        return;
    }
    let Some(server) = Server::start() else { return };
    let home = home();
    let (file, url) = (path(&home, "t.db"), server.url());
    assert_eq!(run(&["tree", &file, "add", "startpos"]).2, 0);
    let mut grower = start(&home, &["tree", &file, "grow", "--threads", "4", "--queue", &url]);
    until("a task is there", || tasks(&server) > 0);
    signal(grower.0.id(), Signal::INT);
    assert!(grower.0.wait().expect("a child").success());
    assert_eq!(tasks(&server), 0);
}

#[test]
#[cfg(unix)]
fn a_worker_renews_its_task_and_gives_it_back_at_ctrl_c() {
    if is_ignored(Signal::INT) {
        return;
    }
    let Some(server) = Server::start() else { return };
    let home = home();
    fs::write(path(&home, "some.epd"), positions(1)).expect("written");
    let (input, url) = (path(&home, "some.epd"), server.url());
    let _collector = start(&home, &["analyse", &input, "--movetime", "3600000", "--queue", &url]);
    let mut worker = worker(&home, &server);
    until("it holds the task", || held(&server).len() == 1);
    let mut before = 0;
    until("it renews the task", || {
        let (_, _, now, _) = held(&server)[0];
        std::mem::replace(&mut before, now) > now
    });
    signal(worker.0.id(), Signal::INT);
    assert!(worker.0.wait().expect("a child").success());
    // As if nobody had begun it: any worker may claim it now, however long it waits.
    let (_, _, idle, times) = held(&server)[0];
    assert!(idle >= 24 * 3_600_000 && times == 0, "{idle} ms, {times} times");
}

#[test]
fn a_task_that_kills_its_workers_is_given_up_and_named() {
    let Some(server) = Server::start() else { return };
    let home = home();
    // The first takes for ever; the others are done at once, since the game is over there.
    let text = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - id \"the hard one\";\n\
                7k/5Q2/6K1/8/8/8/8/8 b - - id \"the easy one\";\n";
    fs::write(path(&home, "two.epd"), text).expect("written");
    let (input, url) = (path(&home, "two.epd"), server.url());
    let output = path(&home, "out.jsonl");
    let mut collector = common::command(&home);
    collector.args(["analyse", &input, "--json", &output, "--movetime", "3600000", "--queue", &url]);
    let collector = collector
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    for attempt in 1..=3 {
        let worker = worker(&home, &server);
        until("a worker holds it", || held(&server).iter().any(|(_, _, _, times)| *times >= attempt));
        drop(worker);
    }
    let _worker = worker(&home, &server);
    let ended = collector.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{err}");
    assert!(err.contains("the hard one is skipped: 3 workers began it"), "{err}");
    assert!(fs::read_to_string(&output).expect("an output").contains("the easy one"));
}

#[test]
fn a_task_that_wants_too_much_memory_is_reported() {
    let Some(server) = Server::start() else { return };
    let home = home();
    fs::write(path(&home, "some.epd"), positions(2)).expect("written");
    let _worker = start(&home, &["worker", "--queue", &server.url(), "--threads", "2", "--hash", "1"]);
    let (_, err, code) =
        analysed(&home, "some.epd", "out.jsonl", &["--depth", "1", "--queue", &server.url()]);
    assert!(code == 3 && err.contains("allows 1 in all (--hash)"), "{err}");
    let file = path(&home, "t.db");
    assert_eq!(run(&["tree", &file, "add", "startpos", "e4"]).2, 0);
    let grow = ["grow", "--positions", "1", "--threads", "1", "--queue", &server.url()];
    let (out, err, code) = run(&[&["tree", &file], &grow[..]].concat());
    assert!(code == 3 && err.matches("allows 1 in all (--hash)").count() == 1, "{out}{err}");
}

#[test]
fn a_second_run_costs_what_is_new() {
    let Some(server) = Server::start() else { return };
    let home = home();
    let text = positions(30);
    let first: String = text.split_inclusive('\n').take(20).collect();
    fs::write(path(&home, "growing.epd"), first).expect("written");
    let url = server.url();
    let more = ["--nodes", "2000", "--queue", &url, "--cache"];
    let worker = worker(&home, &server);
    assert_eq!(analysed(&home, "growing.epd", "first.jsonl", &more).2, 0);
    let found = keys(&server, "{engram}:cache:*");
    drop(worker);
    // Nobody works: all of it comes from the cache, the clock's numbers too.
    assert_eq!(analysed(&home, "growing.epd", "second.jsonl", &more).2, 0);
    let lines = |name: &str| fs::read_to_string(path(&home, name)).expect("an output");
    assert_eq!(lines("first.jsonl"), lines("second.jsonl"));
    let _worker = self::worker(&home, &server);
    fs::write(path(&home, "growing.epd"), text).expect("written");
    assert_eq!(analysed(&home, "growing.epd", "grown.jsonl", &more).2, 0);
    assert!(lines("grown.jsonl").starts_with(&lines("first.jsonl")));
    assert!(found > 15 && keys(&server, "{engram}:cache:*") > found);
}

#[test]
fn strangers_in_the_queue_stop_nobody() {
    let Some(server) = Server::start() else { return };
    let home = home();
    fs::write(path(&home, "some.epd"), positions(10)).expect("written");
    let _worker = worker(&home, &server);
    let mut connection = server.connection();
    // Where the tasks are is known as soon as the worker is there.
    let mut tasks: Vec<String> = Vec::new();
    until("the worker is there", || {
        tasks = server.ask(cmd("KEYS").arg("{engram}:tasks:*"));
        !tasks.is_empty()
    });
    let tasks = &tasks[0];
    let junk = vec![b'{'; 5 << 20];
    for task in [&b"{}"[..], b"\xff\x00", b"{\"start\":\"x\",\"chess960\":false,\"moves\":\"\",\"first\":0,\"count\":1,\"settings\":{\"multipv\":1,\"hash\":1}}", &junk] {
        let mut add = cmd("XADD");
        add.arg(tasks).arg("*").arg("job").arg("j").arg("task").arg(task).arg("cache").arg("0");
        add.exec(&mut connection).expect("added");
    }
    cmd("XADD").arg(tasks).arg("*").arg("x").arg("y").exec(&mut connection).expect("added");
    let url = server.url();
    let (_, err, code) = analysed(&home, "some.epd", "there.jsonl", &["--depth", "3", "--queue", &url]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(untimed(&home.path().join("there.jsonl")).len(), 10);
    until("what is not a task is cleared away", || server.ask::<usize>(cmd("XLEN").arg(tasks)) == 0);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let nobody = format!("redis://user:secret@127.0.0.1:{}", server::free_port());
    for arguments in [&["worker", "--queue", &nobody][..], &["analyse", "startpos", "--queue", &nobody]] {
        let (_, err, code) = run(arguments);
        assert!(
            code == 1 && err.lines().count() == 1 && err.contains("refused") && !err.contains("secret"),
            "{err}"
        );
    }
    let (_, err, code) = run(&["analyse", "startpos", "--queue", "somewhere"]);
    assert!(code == 2 && err.contains("write redis://HOST"), "{err}");
    let grow = ["tree", "t.db", "grow"];
    for command in [&["worker"][..], &["analyse", "startpos"], &grow] {
        let (_, err, code) = run(&[command, &["--queue", "rediss://anna:secret@host:99999"]].concat());
        assert!(code == 2 && err.contains("write redis://HOST") && !err.contains("secret"), "{err}");
    }
}

/// Not of the binary: how many tasks a second go through the queue if there is nothing to search.
#[test]
fn tasks_go_through_the_queue() {
    let Some(server) = Server::start_with(&["--appendonly", "no"]) else { return };
    let count = if is_full() { 50_000 } else { 2000 };
    let address = || server.url().parse().expect("an address");
    let mut queue = Queue::new(address(), "test");
    let begin = Instant::now();
    let task = |number: usize| Task { job: "job".to_owned(), text: format!("{number:0600}"), cached: false };
    queue.submit(&(0..count).map(task).collect::<Vec<_>>()).expect("the server");
    let left: i64 = server.ask(cmd("TTL").arg("{engram}:tasks:test"));
    assert!(left > 0, "a version that nobody uses any more leaves nothing behind");
    // Relaxed: a worker that sees it late waits once more.
    let done = AtomicBool::new(false);
    let is_over = || done.load(Relaxed) || begin.elapsed() > TIMEOUT;
    thread::scope(|scope| {
        for name in ["0", "1"] {
            scope.spawn(move || {
                let mut queue = Queue::new(address(), "test");
                while !is_over() {
                    let held = queue.take(name, 64, Duration::from_millis(300)).expect("the server");
                    held.iter().for_each(|held| {
                        queue.finish(held, &TaskOutcome::Done(held.task.text.clone())).expect("the server");
                    });
                }
            });
        }
        let (mut last, mut names) = (EntryId::default(), HashSet::new());
        while names.len() < count && !is_over() {
            for result in queue.results_after("job", last, Duration::from_secs(1)).expect("the server") {
                last = result.entry;
                names.insert(result.name);
            }
        }
        println!("{:.0} tasks a second", names.len() as f64 / begin.elapsed().as_secs_f64());
        done.store(true, Relaxed);
        assert_eq!(names.len(), count);
    });
    assert!(queue.outstanding("job").expect("the server").is_empty());
}
