use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use env_logger::{Builder, Env, Logger, Target};
use log::{LevelFilter, Log, Metadata, Record};

use crate::{files, locks::locked};

/// The file of the option `Debug Log File`, open or not. Clones share it.
#[derive(Clone, Default)]
pub struct DebugLog {
    file: Arc<Mutex<Option<File>>>,
}

impl DebugLog {
    /// Installs the process's logger: all messages go to the file while it is open, and those selected by `RUST_LOG` to
    /// standard error.
    pub fn install() -> DebugLog {
        let debug_log = DebugLog::default();
        let stderr = Builder::from_env(Env::default()).target(Target::Stderr).build();
        let file = Builder::new()
            .filter_level(LevelFilter::Trace)
            .target(Target::Pipe(Box::new(debug_log.clone())))
            .build();
        log::set_max_level(stderr.filter());
        let both = Both { debug_log: debug_log.clone(), file, stderr };
        if log::set_boxed_logger(Box::new(both)).is_err() {
            // Another logger is installed already (a test harness); the file then stays empty.
            log::debug!("the debug log is not available");
        }
        debug_log
    }

    /// Appends to the file at `path` from now on; `None` ends the log.
    ///
    /// # Errors
    /// The file cannot be opened for writing; the previous log stays open.
    pub fn set_path(&self, path: Option<&Path>) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        // A FIFO without a reader is an error: waiting for one would block the engine.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        // A device, a pipe or a new file has nothing to read.
        let before = path.and_then(|path| files::open(path, OpenOptions::new().read(true)).ok());
        if before.is_some_and(|file| !is_log(&file).unwrap_or(false)) {
            return Err(io::Error::other("it is not a log of Engram"));
        }
        let file = path.map(|path| options.open(path)).transpose()?;
        let open = file.is_some();
        *self.lock() = file;
        if open {
            log::set_max_level(LevelFilter::Trace);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        locked(&self.file)
    }

    fn is_open(&self) -> bool {
        self.lock().is_some()
    }
}

impl Write for DebugLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self.lock();
        let Some(open) = file.as_mut() else { return Ok(bytes.len()) };
        match open.write_all(bytes) {
            // The reader of a pipe is slow: it misses a line.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                let _ = writeln!(io::stderr(), "the debug log ends here: it cannot be written ({error})");
                *file = None;
            }
            _ => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Is a file empty, or does it begin like a log, with the year in brackets?
fn is_log(file: &File) -> io::Result<bool> {
    let mut begin = Vec::new();
    file.take(6).read_to_end(&mut begin)?;
    let is_year = |year: &[u8]| year.iter().all(u8::is_ascii_digit);
    Ok(begin.is_empty() || matches!(&begin[..], [b'[', year @ .., b'-'] if year.len() == 4 && is_year(year)))
}

struct Both {
    debug_log: DebugLog,
    file: Logger,
    stderr: Logger,
}

impl Log for Both {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.debug_log.is_open() || self.stderr.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if self.debug_log.is_open() {
            self.file.log(record);
        }
        self.stderr.log(record);
    }

    fn flush(&self) {}
}
