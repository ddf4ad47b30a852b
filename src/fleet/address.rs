//! The address of a server, as the user writes it.

use std::{fmt, path::PathBuf, str::FromStr};

use redis::{ConnectionAddr, IntoConnectionInfo};

use super::error::{FleetError, printable};

/// The address and credentials of a server: `redis://` or, with TLS, `rediss://`, then
/// `USER:PASSWORD@HOST:PORT/DATABASE`, of which only the host is needed. `?ca=FILE` names the
/// certificates to trust, instead of those of the system.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    /// Is the connection encrypted?
    pub(super) tls: bool,
    pub(super) certificates: Option<PathBuf>,
}

impl ServerAddress {
    /// Another node of the cluster, with the same credentials.
    pub(super) fn moved_to(&self, host: &str, port: u16) -> ServerAddress {
        // A node that does not know its own name leaves it out.
        let host = if host.is_empty() { self.host.clone() } else { host.to_owned() };
        ServerAddress { host, port, ..self.clone() }
    }
}

impl FromStr for ServerAddress {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<ServerAddress, FleetError> {
        let wrong = |reason: &str| FleetError::Address(reason.to_owned());
        let (tls, rest) = match text.split_once("://") {
            Some(("redis" | "valkey", rest)) => (false, rest),
            Some(("rediss" | "valkeys", rest)) => (true, rest),
            _ => return Err(wrong("it does not begin with redis:// or rediss://")),
        };
        // The crate reads addresses with TLS only if it does the encryption, too, and a + as a space.
        let plain = format!("redis://{}", rest.replace('+', "%2B"));
        let url = redis::parse_redis_url(&plain).ok_or_else(|| wrong("no host can be read in it"))?;
        if url.fragment().is_some() {
            return Err(wrong("a # is written %23"));
        }
        let mut certificates = None;
        for (name, path) in url.query_pairs() {
            if name != "ca" {
                return Err(wrong("only ca=FILE may follow a question mark, which is otherwise written %3F"));
            }
            certificates = Some(PathBuf::from(path.into_owned()));
        }
        let info = url.into_connection_info().map_err(|error| wrong(&printable(&error.to_string())))?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else { return Err(wrong("it names no host")) };
        let settings = info.redis_settings();
        Ok(ServerAddress {
            host: host.clone(),
            port: *port,
            user: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
            database: settings.db(),
            tls,
            certificates,
        })
    }
}

/// Without user and password.
impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "rediss" } else { "redis" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(formatter, "{scheme}://{host}:{}", self.port)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_their_passwords() {
        let read = |text: &str| text.parse::<ServerAddress>().expect("an address");
        let whole = read("rediss://anna:p%40ss@chess.example:6380/2?ca=/etc/ca.crt");
        assert_eq!(whole.to_string(), "rediss://chess.example:6380");
        assert_eq!((whole.user.as_deref(), whole.password.as_deref()), (Some("anna"), Some("p@ss")));
        assert_eq!((whole.database, whole.tls), (2, true));
        assert_eq!(whole.certificates, Some(PathBuf::from("/etc/ca.crt")));
        let plus = read("redis://anna:a+b@h?ca=c++%20d%2B.crt");
        assert_eq!(plus.password.as_deref(), Some("a+b"));
        assert_eq!(plus.certificates, Some(PathBuf::from("c++ d+.crt")));
        assert_eq!(read("redis://127.0.0.1").to_string(), "redis://127.0.0.1:6379");
        assert_eq!(read("redis://[::1]:7000").to_string(), "redis://[::1]:7000");
        assert_eq!(whole.moved_to("", 7001).to_string(), "rediss://chess.example:7001");
    }

    #[test]
    fn what_is_no_address_is_refused_without_telling_the_password() {
        for text in [
            "chess.example",
            "http://x",
            "redis://",
            "rediss://a:secret@",
            "redis://a:secret@h:99999",
            "rediss://a:secret",
            "rediss://a:1#secret@h",
            "rediss://a:1?secret@h",
            "rediss://a:1/secret@h",
            "redis://h?CA=secret",
        ] {
            let error = text.parse::<ServerAddress>().expect_err(text).to_string();
            assert!(error.contains("redis://HOST") && !error.contains("secret"), "{error}");
        }
    }
}
