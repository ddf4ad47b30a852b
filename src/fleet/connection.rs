//! A connection to the server.
//!
//! The crate `redis` writes commands and reads answers, through a wrapper that counts bytes and time: no answer is
//! longer than [`MAX_ANSWER_BYTES`] and none takes longer than [`ANSWER_TIMEOUT`]. So no answer of
//! any server costs more than a bounded amount of memory and time. (A task costs what its limits say.)

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::Arc,
    time::{Duration, Instant},
};

use redis::{Cmd, FromRedisValue, Value, cmd};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
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

/// An open connection.
pub struct Connection {
    address: ServerAddress,
    transport: Box<dyn Transport>,
    parser: redis::Parser,
}

/// The stream to the server, plain or encrypted.
trait Transport: Read + Write + Send {
    /// The underlying socket.
    fn socket(&self) -> &TcpStream;
}

impl Transport for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Transport for StreamOwned<ClientConnection, TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref()
    }
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

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// There is no server, its certificate is not accepted, or it refuses the login.
    pub fn open(address: &ServerAddress) -> Result<Connection, FleetError> {
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

    /// The open connection; opens it if there is none.
    ///
    /// # Errors
    /// As [`Connection::open`].
    pub(super) fn kept<'a>(
        kept: &'a mut Option<Connection>,
        address: &ServerAddress,
    ) -> Result<&'a mut Connection, FleetError> {
        match kept {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(Connection::open(address)?)),
        }
    }

    /// Sends commands together and reads the answer to each, which may be an error of the server. For each the server
    /// may take five seconds in addition to `wait`. Redirects to another node of a cluster are followed.
    ///
    /// # Errors
    /// A network failure, after which the connection cannot be used any more.
    pub fn ask(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        for _ in 0..MAX_REDIRECTS {
            let answers = self.ask_here(commands, wait)?;
            // All keys of a request are on one node: if one command is redirected, none was carried out.
            let Some((host, port)) = answers.iter().find_map(moved) else { return Ok(answers) };
            *self = Connection::open(&self.address.moved_to(&host, port))?;
        }
        Err(FleetError::Refused("the nodes of the cluster send each other's clients in circles".to_owned()))
    }

    /// As [`Connection::ask`] for one command; an error of the server is returned as an error.
    ///
    /// # Errors
    /// As there, and what the server refuses.
    pub fn ask_one(&mut self, command: Cmd, wait: Duration) -> Result<Value, FleetError> {
        let answers = self.ask(&[command], wait)?;
        accepted(answers.into_iter().next().ok_or(FleetError::Nonsense)?)
    }

    fn ask_here(&mut self, commands: &[Cmd], wait: Duration) -> Result<Vec<Value>, FleetError> {
        let mut request = Vec::new();
        commands.iter().for_each(|command| command.write_packed_command(&mut request));
        self.transport.write_all(&request)?;
        self.transport.flush()?;
        commands.iter().map(|_| self.receive(wait)).collect()
    }

    fn receive(&mut self, wait: Duration) -> Result<Value, FleetError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT + wait;
        let mut answer =
            BoundedAnswer { transport: &mut *self.transport, deadline, read: 0, head: Vec::new() };
        let value = self.parser.parse_value(&mut answer);
        let BoundedAnswer { read, head, .. } = answer;
        value.map_err(|error| match error.kind() {
            _ if read > MAX_ANSWER_BYTES => FleetError::TooLarge(head),
            redis::ErrorKind::Io => {
                let kind = if error.is_timeout() {
                    io::ErrorKind::TimedOut
                } else {
                    io::ErrorKind::ConnectionAborted
                };
                FleetError::Network(io::Error::new(kind, printable(&error.to_string())))
            }
            _ => FleetError::Nonsense,
        })
    }
}

/// The answer, unless it is an error.
///
/// # Errors
/// The server refuses.
pub(super) fn accepted(answer: Value) -> Result<Value, FleetError> {
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
    Err(FleetError::Refused(printable(text.trim())))
}

/// The node of a cluster to which an answer redirects us.
fn moved(answer: &Value) -> Option<(String, u16)> {
    let Value::ServerError(error) = answer else { return None };
    let place = error.details().filter(|_| error.code() == "MOVED")?.split_whitespace().nth(1)?;
    let (host, port) = place.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// An answer being read: no more bytes than [`MAX_ANSWER_BYTES`], and none after the deadline.
struct BoundedAnswer<'a> {
    transport: &'a mut dyn Transport,
    deadline: Instant,
    read: usize,
    head: Vec<u8>,
}

impl Read for BoundedAnswer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read > MAX_ANSWER_BYTES {
            return Err(io::Error::other("too large"));
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.transport.socket().set_read_timeout(Some(left))?;
        let count = self.transport.read(buffer).map_err(|error| match error.kind() {
            // The error of a timeout on Unix.
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        })?;
        self.read += count;
        let wanted = HEAD.saturating_sub(self.head.len()).min(count);
        self.head.extend_from_slice(&buffer[..wanted]);
        Ok(count)
    }
}

fn connect(address: &ServerAddress) -> Result<Box<dyn Transport>, FleetError> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name of the host leads nowhere");
    for place in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, ANSWER_TIMEOUT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
                socket.set_write_timeout(Some(ANSWER_TIMEOUT))?;
                return if address.tls { encrypted(socket, address) } else { Ok(Box::new(socket)) };
            }
            Err(error) => last = error,
        }
    }
    Err(io::Error::new(last.kind(), format!("{last}; check host and port")).into())
}

fn encrypted(socket: TcpStream, address: &ServerAddress) -> Result<Box<dyn Transport>, FleetError> {
    let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(trusted(address)?)
        .with_no_client_auth();
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(session, socket)))
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
