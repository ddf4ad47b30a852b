//! The file: opened, made, and written in transactions.

use std::{
    collections::HashSet,
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use super::{
    TreeError,
    graph::Key,
    schema::{ARCHIVE_SCHEMA, SCHEMA, VERSION, database_path},
};
use crate::files;
pub use crate::files::Access;

/// How long another process that writes is waited for.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Statements that are kept prepared: more than there are.
const STATEMENTS: usize = 64;
/// Memory for pages of the file, in KiB. The positions near the roots are read for every search.
const CACHE_KIB: i64 = 65_536;
/// Pages in the log before they go to their places: a page that many searches change goes there once.
const CHECKPOINT_PAGES: u32 = 4096;

/// A tree.
pub struct Tree {
    pub(super) connection: Connection,
    /// Positions whose search said nothing new.
    pub(super) failed: HashSet<Key>,
    path: PathBuf,
}

impl Drop for Tree {
    /// What was written goes into the file itself, also where another connection keeps the log beside it open.
    fn drop(&mut self) {
        // Whoever only reads may not, and if another one writes just now, that one's drop does it.
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint");
    }
}

impl Tree {
    /// Opens a tree. A database of `engram analyse --sqlite` that is opened for writing becomes one.
    ///
    /// # Errors
    /// See [`TreeError`]; the file is as it was.
    pub fn open(path: &Path, access: Access) -> Result<Tree, TreeError> {
        Tree::open_within(path, access, BUSY_TIMEOUT)
    }

    /// As [`Tree::open`]; `patience` is how long another process that keeps the tree locked is waited for.
    ///
    /// # Errors
    /// See [`TreeError`]; the file is as it was.
    pub fn open_within(path: &Path, access: Access, patience: Duration) -> Result<Tree, TreeError> {
        let foreign = |what: &str| TreeError::Foreign(path.to_owned(), what.to_owned());
        match files::info_at(path) {
            Ok(info) if info.not_a_file.is_some() => {
                return Err(foreign(info.not_a_file.unwrap_or_default()));
            }
            Ok(info) if info.length == 0 && access == Access::Read => return Err(foreign("an empty file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match access {
                // SQLite would let nobody else write to the file, whatever the umask. If this fails, SQLite says why.
                Access::Create => drop(OpenOptions::new().append(true).create(true).open(path)),
                _ => return Err(TreeError::Missing(path.to_owned())),
            },
            _ => {}
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let database = database_path(path);
        let mut opened = connect(&database, flags, patience);
        if access == Access::Read
            && let Err(error) = &opened
            && matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
            )
        {
            opened = match unchanging(&database) {
                Some(unchanging) => connect(&unchanging, flags | OpenFlags::SQLITE_OPEN_URI, patience),
                // Only for writing does SQLite roll back what a killed process left.
                None => connect(&database, OpenFlags::SQLITE_OPEN_READ_WRITE, patience),
            };
        }
        let (connection, version) = opened.map_err(|error| TreeError::of(path, &error))?;
        let mut tree = Tree { connection, failed: HashSet::new(), path: path.to_owned() };
        tree.connection.set_prepared_statement_cache_capacity(STATEMENTS);
        tree.reading(|tree| tree.connection.pragma_update(None, "cache_size", -CACHE_KIB))?;
        match (version, access) {
            // Many programs number their databases from 1.
            (VERSION, _) if !tree.reading(Tree::has_tables)? => {
                return Err(foreign("a database of another program"));
            }
            (VERSION, _) => {}
            (0, _) if tree.reading(Tree::is_foreign)? => {
                return Err(foreign("a database of another program"));
            }
            (0, Access::Create) => tree.begin()?,
            (0, _) => return Err(TreeError::Empty(path.to_owned())),
            _ => return Err(TreeError::Version(path.to_owned(), version, VERSION)),
        }
        if access != Access::Read {
            // Readers see the last state while another process writes. What a killed process committed is there; a power
            // failure may lose the last seconds, and never damages the file.
            tree.reading(|tree| {
                let checkpoint = format!("PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};");
                tree.connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
                // On macOS the disk may otherwise keep in its cache what a checkpoint wrote.
                tree.connection.execute_batch("PRAGMA checkpoint_fullfsync = ON;")?;
                tree.connection.execute_batch(&checkpoint)?;
                // This process has claimed nothing yet: these are of a killed one that had its number.
                tree.connection
                    .execute("DELETE FROM claims WHERE process = ?", [std::process::id()])
                    .map(drop)
            })?;
        }
        Ok(tree)
    }

    /// From now on no lock of another process is waited for.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn never_wait(&self) -> Result<(), TreeError> {
        let refused = |error| TreeError::of(&self.path, &error);
        self.connection.busy_timeout(Duration::ZERO).map_err(refused)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has it the tables of a tree?
    fn has_tables(&self) -> rusqlite::Result<bool> {
        let query = "SELECT count(*) = 4 FROM sqlite_schema \
                     WHERE type = 'table' AND name IN ('nodes', 'edges', 'added', 'claims')";
        self.connection.query_row(query, [], |row| row.get(0))
    }

    /// Has it tables, but not those of an analysis?
    fn is_foreign(&self) -> rusqlite::Result<bool> {
        let query = "SELECT count(*) > 0 AND sum(name IN ('games', 'positions', 'lines')) < 3 \
                     FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        self.connection.query_row(query, [], |row| row.get(0))
    }

    /// Makes the tables, and takes in the searches of an archive.
    fn begin(&mut self) -> Result<(), TreeError> {
        self.writing(|tree| {
            // Another process may have made them meanwhile.
            if version(&tree.connection)? == VERSION {
                return Ok(());
            }
            tree.connection.execute_batch(ARCHIVE_SCHEMA)?;
            tree.connection.execute_batch(SCHEMA)?;
            tree.connection.pragma_update(None, "user_version", VERSION)?;
            tree.add_archive()
        })
    }

    /// Runs `read`, turning what SQLite says into an error of ours.
    pub(super) fn reading<T>(&self, read: impl FnOnce(&Tree) -> rusqlite::Result<T>) -> Result<T, TreeError> {
        read(self).map_err(|error| TreeError::of(&self.path, &error))
    }

    /// Runs `write` in a transaction of its own: all of it is in the file afterwards, or nothing.
    pub(super) fn writing<T>(
        &mut self,
        write: impl FnOnce(&Tree) -> rusqlite::Result<T>,
    ) -> Result<T, TreeError> {
        self.reading(|tree| {
            let transaction = Transaction::new_unchecked(&tree.connection, TransactionBehavior::Immediate)?;
            let done = write(tree)?;
            transaction.commit()?;
            Ok(done)
        })
    }
}

/// Opens a database, of whose own code (triggers, views) nothing runs, and reads its version.
fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<(Connection, i64)> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(patience)?;
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        connection.set_db_config(option, value)?;
    }
    let version = version(&connection)?;
    Ok((connection, version))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// The name by which a database is opened where nothing can be written, and SQLite can make no index of its log; none if
/// there is a log or a journal, whose contents would be missing.
fn unchanging(database: &Path) -> Option<PathBuf> {
    let name = database.to_string_lossy();
    let has_log = ["wal", "journal"]
        .iter()
        .any(|kind| files::info_at(Path::new(&format!("{name}-{kind}"))).is_ok_and(|log| log.length > 0));
    let escaped = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    (!has_log).then(|| format!("file:{escaped}?immutable=1").into())
}
