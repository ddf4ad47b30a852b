use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Write},
    sync::{Arc, Mutex, OnceLock},
};

use crate::{
    files::is_output_closed,
    locks::locked,
    protocol::{Info, Message},
};

/// A text that is safe for a terminal: control characters other than line ends and tabs, and marks that reorder what is
/// written around them, all of which names, comments and paths may contain, are replaced.
pub fn printable(text: &str) -> Cow<'_, str> {
    let commands = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    if text.contains(commands) { Cow::Owned(text.replace(commands, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// The destination of all lines. Clones write to the same place, one whole line at a time, from any thread.
///
/// If the reader is gone, lines are dropped and [`Output::is_closed`] returns true.
#[derive(Clone)]
pub struct Output {
    shared: Arc<SharedOutput>,
}

struct SharedOutput {
    writer: Mutex<Box<dyn Write + Send>>,
    failure: OnceLock<io::Error>,
    is_stdout: bool,
}

impl Output {
    /// An output to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        Output::with(Box::new(writer), false)
    }

    /// An output to standard output.
    pub fn stdout() -> Output {
        Output::with(Box::new(io::stdout()), true)
    }

    fn with(writer: Box<dyn Write + Send>, is_stdout: bool) -> Output {
        let writer = Mutex::new(writer);
        Output { shared: Arc::new(SharedOutput { writer, failure: OnceLock::new(), is_stdout }) }
    }

    /// Writes one line (or several that belong together) and flushes it.
    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        log::debug!(target: "uci", "> {}", without_password(&text));
        if self.failure().is_some() {
            return;
        }
        let mut text = printable(&text).into_owned();
        text.push('\n');
        // A poisoned lock is harmless: there is no buffer that a panic could leave half written.
        let mut writer = locked(&self.shared.writer);
        if let Err(error) = writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
            // Only the first failure is reported.
            let _ = self.shared.failure.set(error);
        }
    }

    /// Writes one line of the protocol.
    pub fn send(&self, message: &Message) {
        self.line(message);
    }

    /// Writes a message for the user as one `info string`.
    pub fn say(&self, text: impl Display) {
        self.send(&Message::Info(Info::text(&text.to_string())));
    }

    /// Is the reader gone, or did a write fail?
    pub fn is_closed(&self) -> bool {
        self.failure().is_some() || (self.shared.is_stdout && is_output_closed())
    }

    /// The error of the first write that failed.
    pub fn failure(&self) -> Option<&io::Error> {
        self.shared.failure.get()
    }
}

/// A line for the log: what follows `://` is left out if it may contain a password.
pub(super) fn without_password(line: &str) -> Cow<'_, str> {
    match line.split_once("://") {
        Some((start, rest)) if rest.contains('@') || start.to_ascii_lowercase().contains("learnshare") => {
            format!("{start}://…").into()
        }
        _ => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_logged() {
        for (line, logged) in [
            (
                "setoption name LearnShare value redis://anna:a@b@host:1",
                "setoption name LearnShare value redis://…",
            ),
            ("setoption name learnshare value redis://anna:a", "setoption name learnshare value redis://…"),
            ("setoption name LearnShar value redis://a:a@host", "setoption name LearnShar value redis://…"),
            ("info string shared through redis://host:1", "info string shared through redis://host:1"),
            ("go infinite", "go infinite"),
        ] {
            assert_eq!(without_password(line), logged);
        }
    }
}
