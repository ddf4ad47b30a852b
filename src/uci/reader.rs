use std::{
    io::{BufRead, ErrorKind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use crossbeam::channel::Sender;
use encoding_rs::WINDOWS_1252;
use thiserror::Error;

use crate::{
    processor::on_interrupt,
    protocol::{Command, CommandError},
};

/// The longest line that is read, in bytes. The longest possible game has some 11,800 moves, 60 kB.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// The input of the session's loop.
pub(super) enum SessionInput {
    /// A line that is not empty.
    Line(Box<ReceivedLine>),
    /// No more lines will come.
    End,
    /// The `bestmove` of the search was sent: the commands that waited for it can be carried out.
    SearchFinished,
}

/// A line that was read.
pub(super) struct ReceivedLine {
    /// Its text, for the debug log; empty if it is too long.
    pub text: String,
    /// The command in it.
    pub command: Result<Command, InputError>,
    /// When it was read: the clock runs from here.
    pub read_at: Instant,
}

/// A line that is not a valid command.
#[derive(Debug, Error)]
pub(super) enum InputError {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("a line of more than {LONGEST_LINE} bytes was skipped")]
    TooLong,
}

/// Interrupts a long task of the session's loop.
///
/// Counts the lines `stop` that were read but not yet handled by the loop. As the loop handles lines in order, its current
/// task came before all of them. A `quit` waits for the task, as the end of the input does, so that a script gets its
/// answers; a signal does not.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    unhandled: Arc<AtomicUsize>,
}

impl Interrupt {
    /// An interrupt that Ctrl-C requests, or a signal that ends the process.
    pub fn by_signal() -> Interrupt {
        let interrupt = Interrupt::default();
        let requested = interrupt.clone();
        // Without a handler the signal ends the process at once.
        let _ = on_interrupt(move || requested.request());
        interrupt
    }

    /// Should a long task end now?
    pub fn is_requested(&self) -> bool {
        // Relaxed here and below: a request seen late costs a few milliseconds, and no data depends on it.
        self.unhandled.load(Ordering::Relaxed) > 0
    }

    pub(super) fn request(&self) {
        self.unhandled.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn handled(&self) {
        self.unhandled.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does the same as the line `quit`, and interrupts what it would wait for.
pub(super) fn quit(sender: &Sender<SessionInput>, interrupt: &Interrupt) {
    interrupt.request();
    let line = ReceivedLine { text: String::new(), command: Ok(Command::Quit), read_at: Instant::now() };
    // The session may be over already.
    let _ = sender.send(SessionInput::Line(Box::new(line)));
}

/// Reads lines to the end and sends them on. `stop` interrupts what the session is doing.
pub(super) fn read(mut input: impl BufRead, sender: &Sender<SessionInput>, interrupt: &Interrupt) {
    let mut line = PartialLine::default();
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                log::error!("reading the input failed, leaving: {error}");
                &[]
            }
        };
        let at_end = chunk.is_empty();
        // CR and LF both end a line, so that any combination works, since empty lines are ignored.
        let end = chunk.iter().position(|&byte| byte == b'\n' || byte == b'\r');
        line.append(&chunk[..end.unwrap_or(chunk.len())]);
        let consumed = end.map_or(chunk.len(), |end| end + 1);
        input.consume(consumed);
        if end.is_none() && !at_end {
            continue;
        }
        let received = line.take();
        if matches!(received.command, Ok(Command::Stop)) {
            interrupt.request();
        }
        let is_empty = matches!(received.command, Err(InputError::Command(CommandError::Empty)));
        // The session may end before its input does.
        if !is_empty && sender.send(SessionInput::Line(Box::new(received))).is_err() {
            return;
        }
        if at_end {
            let _ = sender.send(SessionInput::End);
            return;
        }
    }
}

/// A line as text. What is not UTF-8 in it is Latin-1, the character set of the PGN standard, which Cute Chess sends.
pub fn decoded(line: Vec<u8>) -> String {
    String::from_utf8(line).unwrap_or_else(|error| {
        let bytes = error.as_bytes();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            // Windows-1252 is the usual superset of Latin-1.
            text.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
        }
        text
    })
}

/// The line being read, whose memory is bounded by the longest line allowed.
#[derive(Default)]
struct PartialLine {
    bytes: Vec<u8>,
    too_long: bool,
}

impl PartialLine {
    fn append(&mut self, bytes: &[u8]) {
        if self.too_long || self.bytes.len() + bytes.len() > LONGEST_LINE {
            self.too_long = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends the line and begins the next.
    fn take(&mut self) -> ReceivedLine {
        let line = std::mem::take(self);
        let text = decoded(line.bytes);
        let command =
            if line.too_long { Err(InputError::TooLong) } else { text.parse().map_err(InputError::from) };
        ReceivedLine { text, command, read_at: Instant::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let (sender, receiver) = crossbeam::channel::unbounded();
        let input =
            b"uci\r\nisready\rstop\n\n\r\nsetoption name BookFile value B\xfccher\njunk\nquit".as_slice();
        let interrupt = Interrupt::default();
        read(input, &sender, &interrupt);
        let seen: Vec<String> = receiver
            .try_iter()
            .map(|input| match input {
                SessionInput::Line(line) => match line.command {
                    Ok(command) => command.to_string(),
                    Err(error) => error.to_string(),
                },
                SessionInput::End => "end".to_owned(),
                SessionInput::SearchFinished => "finished".to_owned(),
            })
            .collect();
        assert_eq!(&seen[..3], ["uci", "isready", "stop"]);
        assert!(seen[3].ends_with("value B\u{fc}cher") && seen[4].contains("junk"), "{seen:?}");
        assert_eq!(&seen[5..], ["quit", "end"]);
        assert_eq!(interrupt.unhandled.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut line = PartialLine::default();
        for _ in 0..100 {
            line.append(&[b'x'; 1 << 16]);
            assert!(line.bytes.capacity() <= 2 * LONGEST_LINE);
        }
        assert!(matches!(line.take().command, Err(InputError::TooLong)));
        line.append(b"uci");
        assert_eq!(line.take().command.ok(), Some(Command::Uci));
    }
}
