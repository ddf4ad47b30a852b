//! A real server for tests: Redis or Valkey on a free port of this machine, with a folder of its own.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
};

use redis::{Cmd, Connection, FromRedisValue};
use rustix::process::Signal;
use tempfile::TempDir;

use super::until;

pub struct Server {
    program: &'static str,
    arguments: Vec<String>,
    pub port: u16,
    pub folder: TempDir,
    child: Option<Child>,
}

impl Server {
    /// Starts a server that keeps its data when it is killed; none, with a word about it, if none is installed.
    pub fn start() -> Option<Server> {
        Server::start_with(&[])
    }

    /// As [`Server::start`], with more settings.
    pub fn start_with(settings: &[&str]) -> Option<Server> {
        let port = free_port();
        Server::start_on(port, &[&["--port", &port.to_string()], settings].concat())
    }

    /// As [`Server::start`], with these settings, which say where it listens: at `port`.
    pub fn start_on(port: u16, settings: &[&str]) -> Option<Server> {
        let is_there = |program: &&str| {
            Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };
        let Some(program) = ["valkey-server", "redis-server"].into_iter().find(is_there) else {
            eprintln!(
                "skipped: there is no redis-server and no valkey-server (apt-get install redis-server)"
            );
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().to_str().expect("a readable name");
        let common = [
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--dir",
            place,
        ];
        let arguments = common.iter().chain(settings).map(|&text| text.to_owned()).collect();
        let mut server = Server { program, arguments, port, folder, child: None };
        server.start_again(true);
        Some(server)
    }

    /// Starts it after [`Server::kill`], with its data or without.
    pub fn start_again(&mut self, keep: bool) {
        if !keep {
            let _ = std::fs::remove_dir_all(self.folder.path().join("appendonlydir"));
        }
        let mut command = Command::new(self.program);
        command.args(&self.arguments);
        self.child =
            Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the server starts"));
        let child = self.child.as_mut().expect("started");
        until("the server listens", || {
            assert!(child.try_wait().expect("a child").is_none(), "the server has ended");
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops it as a machine that hangs (`STOP`), or lets it go on (`CONT`).
    pub fn signal(&self, signal: Signal) {
        super::signal(self.child.as_ref().expect("it runs").id(), signal);
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn connection(&self) -> Connection {
        let client = redis::Client::open(self.url()).expect("an address");
        let mut connection = None;
        // It may still be reading its data.
        until("the server answers", || {
            connection = client.get_connection().ok();
            connection.as_mut().is_some_and(|it| redis::cmd("PING").query::<String>(it).is_ok())
        });
        connection.expect("it answered")
    }

    pub fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        command.query(&mut self.connection()).expect("an answer")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody listens at just now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}
