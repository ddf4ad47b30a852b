//! A connection to the server.
//!
//! The crate `redis` writes commands and reads answers, through wrappers that bound both: below the encryption no byte is
//! sent or received after a deadline, [`ANSWER_TIMEOUT`] for each answer, and above it no answer is longer than
//! [`MAX_ANSWER_BYTES`]. (A task costs what its limits say.)

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::Arc,
    time::{Duration, Instant},
};

use redis::{Cmd, FromRedisValue, Value, cmd};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, Stream,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};

use super::{
    ServerAddress,
    error::{FleetError, MAX_ANSWER_BYTES, printable},
};

/// How long a server may take for an answer, in addition to the time it was told to wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes kept of an answer that is too large: they contain the number of its first entry.
const HEAD: usize = 512;
/// Nodes of a cluster that are tried for one command.
const MAX_REDIRECTS: usize = 4;

/// A server, and the connection to it: the next request opens it, and every failure closes it.
pub(super) struct Link {
    pub(super) server: ServerAddress,
    connection: Option<Connection>,
}

/// An open connection.
struct Connection {
    address: ServerAddress,
    transport: Transport,
    parser: redis::Parser,
}

/// The way to the server, plain or encrypted.
struct Transport {
    tls: Option<ClientConnection>,
    socket: TimedSocket,
}

/// A socket that can be used until a deadline.
struct TimedSocket {
    socket: TcpStream,
    deadline: Instant,
}

/// The number of an entry of a stream: milliseconds and a counter. Numbers grow.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    /// Milliseconds since 1970 by the clock of the server.
    pub millis: u64,
    /// Counts the entries of one millisecond.
    pub counter: u64,
}

/// An entry of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEntry {
    /// Its number.
    pub id: EntryId,
    /// Names and values in turn.
    pub fields: Vec<Vec<u8>>,
}

impl Link {
    pub(super) fn new(server: ServerAddress) -> Link {
        Link { server, connection: None }
    }

    /// Is there a connection?
    pub(super) fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Sends commands together and reads the answers. For each the server may take five seconds in addition to `wait`.
    ///
    /// # Errors
    /// There is no server, it does not answer, or it refuses one of the commands.
    pub(super) fn ask(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        let answers = self.answers(commands, wait);
        if answers.is_err() {
            self.connection = None;
        }
        answers
    }

    fn answers(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(&self.server)?),
        };
        connection.ask(commands, wait)?.into_iter().map(accepted).collect()
    }

    /// As [`Link::ask`] for one command.
    ///
    /// # Errors
    /// As there.
    pub(super) fn ask_one(&mut self, command: Cmd, wait: Duration) -> Result<Value, FleetError> {
        self.ask(&[command], wait)?.into_iter().next().ok_or(FleetError::Nonsense)
    }

    /// As [`Link::ask`] for commands whose answers say nothing else.
    ///
    /// # Errors
    /// As there.
    pub(super) fn carry_out(&mut self, commands: &[Cmd]) -> Result<(), FleetError> {
        self.ask(commands, Duration::ZERO).map(|_| ())
    }
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// There is no server, its certificate is not accepted, or it refuses the login.
    fn open(address: &ServerAddress) -> Result<Connection, FleetError> {
        let mut connection = Connection {
            address: address.clone(),
            transport: connect(address)?,
            parser: redis::Parser::new(),
        };
        let mut entry = Vec::new();
        if let Some(password) = &address.password {
            let mut enter = cmd("AUTH");
            enter.arg(&address.user).arg(password);
            entry.push(enter);
        }
        if address.database != 0 {
            let mut select = cmd("SELECT");
            select.arg(address.database);
            entry.push(select);
        }
        if !entry.is_empty() {
            let answers = connection.ask_here(&entry, Duration::ZERO)?;
            answers.into_iter().try_for_each(|answer| accepted(answer).map(|_| ()))?;
        }
        Ok(connection)
    }

    /// Sends commands together and reads the answer to each, which may be an error of the server. Redirects to another
    /// node of a cluster are followed.
    ///
    /// # Errors
    /// A network failure, after which the connection cannot be used any more.
    fn ask(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        for _ in 0..MAX_REDIRECTS {
            let answers = self.ask_here(commands, wait)?;
            // All keys of a request are on one node: if one command is redirected, none was carried out.
            let Some((host, port)) = answers.iter().find_map(moved) else { return Ok(answers) };
            *self = Connection::open(&self.address.moved_to(&host, port))?;
        }
        Err(FleetError::Refused("the nodes of the cluster send each other's clients in circles".to_owned()))
    }

    fn ask_here(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        let mut request = Vec::new();
        commands.iter().for_each(|command| command.write_packed_command(&mut request));
        self.transport.socket.deadline = Instant::now() + ANSWER_TIMEOUT;
        self.transport.write_all(&request)?;
        self.transport.flush()?;
        commands.iter().map(|_| self.receive(wait)).collect()
    }

    fn receive(&mut self, wait: Duration) -> Result<Value, FleetError> {
        self.transport.socket.deadline = Instant::now() + ANSWER_TIMEOUT + wait;
        let mut answer = BoundedAnswer { transport: &mut self.transport, read: 0, head: Vec::new() };
        let value = self.parser.parse_value(&mut answer);
        let BoundedAnswer { read, head, .. } = answer;
        value.map_err(|error| match error.kind() {
            _ if read > MAX_ANSWER_BYTES => FleetError::TooLarge(head),
            redis::ErrorKind::Io => FleetError::Network(io::Error::other(printable(&error.to_string()))),
            _ => FleetError::Nonsense,
        })
    }
}

/// The answer, unless it is an error.
///
/// # Errors
/// The server refuses.
fn accepted(answer: Value) -> Result<Value, FleetError> {
    let error = match &answer {
        Value::ServerError(error) => Some(error),
        // The answers of a transaction.
        Value::Array(answers) => answers.iter().find_map(|answer| match answer {
            Value::ServerError(error) => Some(error),
            _ => None,
        }),
        _ => None,
    };
    let Some(error) = error else { return Ok(answer) };
    let text = format!("{} {}", error.code(), error.details().unwrap_or_default());
    Err(FleetError::Refused(printable(&text)))
}

/// The node of a cluster to which an answer redirects us.
fn moved(answer: &Value) -> Option<(String, u16)> {
    let Value::ServerError(error) = answer else { return None };
    let place = error.details().filter(|_| error.code() == "MOVED")?.split_whitespace().nth(1)?;
    let (host, port) = place.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// An answer being read: no more bytes than [`MAX_ANSWER_BYTES`].
struct BoundedAnswer<'a> {
    transport: &'a mut Transport,
    read: usize,
    head: Vec<u8>,
}

impl Read for BoundedAnswer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read > MAX_ANSWER_BYTES {
            return Err(io::Error::other("too large"));
        }
        let count = self.transport.read(buffer)?;
        self.read += count;
        let wanted = HEAD.saturating_sub(self.head.len()).min(count);
        self.head.extend_from_slice(&buffer[..wanted]);
        Ok(count)
    }
}

impl Transport {
    /// Begins the encryption, if there is to be any.
    fn shake_hands(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        tls.complete_io(&mut self.socket).map(|_| ()).map_err(|error| {
            let trouble = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            match trouble {
                // Whoever gets further speaks TLS.
                None | Some(rustls::Error::InvalidMessage(_)) => {
                    io::Error::new(error.kind(), format!("{error}; does the server speak TLS?"))
                }
                Some(_) => error,
            }
        })
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => Stream::new(tls, &mut self.socket).read(buffer),
            None => self.socket.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => Stream::new(tls, &mut self.socket).write(bytes),
            None => self.socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => Stream::new(tls, &mut self.socket).flush(),
            None => self.socket.flush(),
        }
    }
}

impl TimedSocket {
    /// Uses the socket, which `limit` gives the time until the deadline. A signal does not interrupt it.
    fn in_time<T>(
        &mut self,
        limit: fn(&TcpStream, Option<Duration>) -> io::Result<()>,
        mut act: impl FnMut(&mut TcpStream) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            limit(&self.socket, Some(left))?;
            match act(&mut self.socket) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The error of a timeout on Unix.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                done => return done,
            }
        }
    }
}

impl Read for TimedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.in_time(TcpStream::set_read_timeout, |socket| socket.read(buffer))
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time(TcpStream::set_write_timeout, |socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

fn connect(address: &ServerAddress) -> Result<Transport, FleetError> {
    let tls = address.tls.then(|| session(&address.host, trusted(address)?)).transpose()?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name of the host leads nowhere");
    for place in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, ANSWER_TIMEOUT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                let socket = TimedSocket { socket, deadline: Instant::now() + ANSWER_TIMEOUT };
                let mut transport = Transport { tls, socket };
                transport.shake_hands()?;
                return Ok(transport);
            }
            Err(error) => last = error,
        }
    }
    Err(io::Error::new(last.kind(), format!("{last}; check host and port")).into())
}

/// An encrypted session with a host whose certificate one of the `roots` has signed.
fn session(host: &str, roots: RootCertStore) -> Result<ClientConnection, FleetError> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?)
}

/// The trusted root certificates.
fn trusted(address: &ServerAddress) -> Result<RootCertStore, FleetError> {
    let mut roots = RootCertStore::empty();
    let (certificates, path) = match &address.certificates {
        Some(path) => {
            let failed = |reason: String| FleetError::Certificates(path.display().to_string(), reason);
            let read = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
            let read = read.collect::<Result<Vec<_>, _>>().map_err(|error| failed(error.to_string()))?;
            (read, path.display().to_string())
        }
        None => (rustls_native_certs::load_native_certs().certs, "the system's store".to_owned()),
    };
    // Systems have certificates that libraries cannot read; one valid certificate is enough.
    if roots.add_parsable_certificates(certificates).0 == 0 {
        let reason = "there is none; name a file with ?ca=FILE at the end of the address".to_owned();
        return Err(FleetError::Certificates(path, reason));
    }
    Ok(roots)
}

impl EntryId {
    /// Reads `millis-counter`.
    pub fn parse(text: &[u8]) -> Option<EntryId> {
        let (millis, counter) = std::str::from_utf8(text).ok()?.split_once('-')?;
        Some(EntryId { millis: millis.parse().ok()?, counter: counter.parse().ok()? })
    }

    /// The first number of an entry in an answer that was cut off.
    pub(super) fn first_in(head: &[u8]) -> Option<EntryId> {
        head.split(|&byte| byte == b'\n').find_map(|line| EntryId::parse(line.trim_ascii()))
    }
}

impl std::fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}-{}", self.millis, self.counter)
    }
}

/// The entries that `XRANGE` answers, or `XREAD` of one stream.
///
/// # Errors
/// The answer has another form.
pub(super) fn entries(answer: Value) -> Result<Vec<StreamEntry>, FleetError> {
    type Row = (Vec<u8>, Option<Vec<Vec<u8>>>);
    let entry = |(id, fields): Row| {
        // Without fields: an entry that was deleted while it was being worked on.
        Some(StreamEntry { id: EntryId::parse(&id)?, fields: fields.unwrap_or_default() })
    };
    let rows: Option<Vec<Row>> = read_as(answer)?;
    rows.unwrap_or_default().into_iter().map(entry).collect::<Option<_>>().ok_or(FleetError::Nonsense)
}

/// The entries of the only stream that `XREAD` or `XREADGROUP` was asked for.
///
/// # Errors
/// As [`entries`].
pub(super) fn entries_of_one(answer: Value) -> Result<Vec<StreamEntry>, FleetError> {
    let streams: Option<Vec<(Vec<u8>, Value)>> = read_as(answer)?;
    streams.unwrap_or_default().into_iter().next().map_or(Ok(Vec::new()), |(_, stream)| entries(stream))
}

/// An answer of this form.
///
/// # Errors
/// It has another.
pub(super) fn read_as<T: FromRedisValue>(answer: Value) -> Result<T, FleetError> {
    T::from_redis_value(answer).map_err(|_| FleetError::Nonsense)
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use redis::cmd;

    use super::*;

    /// A server that does the same with each connection.
    fn server(mut act: impl FnMut(TcpStream) + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || listener.incoming().flatten().for_each(&mut act));
        port
    }

    #[test]
    fn a_server_that_refuses_is_connected_to_anew() {
        let mut answers = ["-READONLY You can't write against a read only replica.\r\n", "+OK\r\n"].iter();
        let port = server(move |mut stream| {
            let _ = stream.read(&mut [0; 100]);
            let _ = stream.write_all(answers.next().unwrap_or(&"").as_bytes());
        });
        let address = format!("redis://127.0.0.1:{port}").parse().expect("an address");
        let mut link = Link::new(address);
        let mut ask = || link.ask_one(cmd("XADD"), Duration::ZERO);
        assert!(matches!(ask(), Err(FleetError::Refused(text)) if text.starts_with("READONLY")));
        assert!(matches!(ask(), Ok(Value::Okay)));
    }

    #[test]
    fn a_signal_interrupts_no_wait() {
        let socket = TcpStream::connect(("127.0.0.1", server(|_| {}))).expect("it listens");
        let mut socket = TimedSocket { socket, deadline: Instant::now() + ANSWER_TIMEOUT };
        let mut outcomes = [Err(io::ErrorKind::Interrupted.into()), Ok(7)].into_iter();
        let read = socket.in_time(TcpStream::set_read_timeout, |_| outcomes.next().expect("two"));
        assert_eq!(read.expect("read again"), 7);
    }

    /// Begins the encryption with a server.
    fn shake_hands(port: u16, timeout: Duration) -> io::Error {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let socket = TimedSocket { socket, deadline: Instant::now() + timeout };
        let tls = session("localhost", RootCertStore::empty()).expect("a session");
        Transport { tls: Some(tls), socket }.shake_hands().expect_err("no TLS")
    }

    #[test]
    fn encryption_ends_at_the_deadline_and_asks_whether_the_server_speaks_it() {
        // A message of TLS that never ends.
        let slow = server(|mut stream| {
            let _ = stream.write_all(&[22, 3, 3, 64, 0]);
            while stream.write_all(&[0]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let plain = server(|mut stream| _ = stream.write_all(b"-ERR unknown command\r\n"));
        let error = shake_hands(slow, Duration::from_millis(100));
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        for error in [error, shake_hands(plain, ANSWER_TIMEOUT)] {
            assert!(error.to_string().ends_with("; does the server speak TLS?"), "{error}");
        }
    }
}
