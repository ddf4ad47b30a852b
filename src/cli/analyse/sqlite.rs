//! Results in an SQLite database.
//!
//! The schema is [`ARCHIVE_SCHEMA`]; the database keeps it with its comments (`.schema` in the `sqlite3` shell shows them). A
//! run writes the whole file: after an interruption it is written again from the journal.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, config::DbConfig, params};
use shakmaty::Color;

use super::{
    epd::EpdRecord,
    judge::MoveJudgement,
    output::one_decimal,
    outputs::Totals,
    pool::Finding,
    puzzles::Puzzle,
    report::GameReport,
    rows::{self, PositionRow},
    sink::Sink,
};
use crate::{
    cli::{CliError, refused},
    files::Claim,
    tree::{ARCHIVE_SCHEMA, database_path, insert_lines, signed},
};

/// Games or positions in a transaction.
const BATCH: usize = 1000;

/// A database that is being written.
pub struct Database {
    path: PathBuf,
    /// Written since the last commit.
    pending: usize,
    connection: Connection,
    /// The last field: while the database is open, no other handle of the file may be closed, or its lock ends.
    file: Claim,
}

impl Database {
    /// Begins a database in a file, whatever is in it.
    ///
    /// # Errors
    /// It cannot be written, or another process has it open; it is then as it was.
    pub fn begin(path: PathBuf, mut file: Claim) -> Result<Database, CliError> {
        // SQLite locks the file itself, which the claim's lock prevents on BSD kernels, macOS and network drives.
        file.unlock();
        let made = Connection::open(database_path(&path)).and_then(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            // SQLite takes whatever is in the file for nothing, and empties it once it has the lock. No rollback journal: an
            // interrupted run is written again from the beginning.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
            connection.execute_batch(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; VACUUM;",
            )?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
            connection.execute_batch(&format!("BEGIN; {ARCHIVE_SCHEMA}"))?;
            Ok(connection)
        });
        let connection = made.map_err(|error| failure(&path, &error))?;
        file.relock();
        file.keep();
        Ok(Database { path, pending: 0, connection, file })
    }

    /// Adds the rows of a game, or of a position that stands alone.
    fn add(&mut self, game: Option<&GameReport>, rows: &[PositionRow<'_>]) -> Result<(), CliError> {
        let id = game.map(|report| self.add_game(report)).transpose();
        let added = id.and_then(|id| rows.iter().try_for_each(|row| self.add_position(id, row)));
        self.pending += 1;
        let committed = added.and_then(|()| if self.pending < BATCH { Ok(()) } else { self.commit("BEGIN") });
        committed.map_err(|error| failure(&self.path, &error))
    }

    fn commit(&mut self, then: &str) -> rusqlite::Result<()> {
        self.pending = 0;
        self.connection.execute_batch(&format!("COMMIT; {then};"))
    }

    /// Adds a game, and returns its `id`.
    fn add_game(&self, report: &GameReport) -> rusqlite::Result<i64> {
        let game = &report.game;
        let (eco, opening) = match &report.opening {
            Some(opening) => (Some(opening.eco.as_str()), Some(opening.name.as_str())),
            None => (game.tag("ECO"), game.tag("Opening")),
        };
        let mut statement =
            self.connection.prepare_cached("INSERT INTO games VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)")?;
        statement.execute(params![
            game.file,
            game.number,
            game.line,
            game.tag("White"),
            game.tag("Black"),
            game.tag("Event"),
            game.tag("Site"),
            game.date(),
            game.outcome.to_string(),
            eco,
            opening,
            report.accuracy(Color::White),
            report.accuracy(Color::Black),
        ])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn add_position(&self, game: Option<i64>, row: &PositionRow<'_>) -> rusqlite::Result<()> {
        let connection = &self.connection;
        let PositionRow { played, finding, .. } = *row;
        let insert = "INSERT INTO positions VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
        connection.prepare_cached(insert)?.execute(params![
            game,
            game.is_none().then_some(row.file),
            row.id,
            row.ply,
            row.variation,
            row.parent,
            row.position.fen(),
            played.map(|m| &m.san),
            played.map(|m| &m.uci),
            played.map(|m| one_decimal(m.loss)),
            played.and_then(|m| m.judgement).map(MoveJudgement::word),
            finding.depth,
            signed(finding.nodes),
            signed(finding.millis),
            row.result.solved,
            row.result.solved_after.map(signed),
            row.result.points,
        ])?;
        let position = connection.last_insert_rowid();
        insert_lines(connection, position, row.position, &finding.lines)
    }
}

impl Sink for Database {
    fn position(&mut self, record: &EpdRecord, finding: &Finding) -> Result<(), CliError> {
        self.add(None, &[rows::of_record(record, finding)])
    }

    fn game(&mut self, report: &GameReport, _: &[Puzzle<'_>]) -> Result<(), CliError> {
        self.add(Some(report), &rows::of_game(report))
    }

    fn finish(&mut self, _: &Totals) -> Result<(), CliError> {
        self.commit("PRAGMA optimize").map_err(|error| failure(&self.path, &error))?;
        self.file.sync().map_err(refused(&self.path, "written"))
    }
}

fn failure(path: &Path, error: &rusqlite::Error) -> CliError {
    CliError::Task(format!("the database {} cannot be written ({error})", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files;

    fn begun(path: &Path) -> Result<Database, CliError> {
        let claim = Claim::open(path, &files::shared_with_sqlite());
        Database::begin(path.to_owned(), claim.map_err(|error| CliError::Task(error.to_string()))?)
    }

    #[test]
    fn a_database_replaces_what_was_there_and_is_written_by_one_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.db");
        let old = Connection::open(&path).expect("made");
        let fill = "PRAGMA page_size = 512; PRAGMA journal_mode = WAL; CREATE TABLE mine(x); \
                    INSERT INTO mine VALUES (zeroblob(1000000));";
        old.execute_batch(fill).expect("written");
        drop(old);
        let tables = |path: &Path| {
            let opened = Connection::open(path).expect("opened");
            let intact: String =
                opened.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("read");
            assert_eq!(intact, "ok");
            let sql = "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'";
            opened.query_row(sql, [], |row| row.get::<_, String>(0)).expect("read")
        };
        let reader = Connection::open(&path).expect("opened");
        reader.execute_batch("BEGIN; SELECT * FROM mine;").expect("read");
        let before = fs::read(&path).expect("there");
        assert!(begun(&path).is_err(), "another process reads it");
        assert!(fs::read(&path).expect("there") == before);
        drop(reader);
        for text in [None, Some(String::new()), Some("mine\n".repeat(30_000))] {
            text.into_iter().for_each(|text| fs::write(&path, text).expect("written"));
            let mut first = begun(&path).expect("begun");
            assert!(begun(&path).is_err(), "another process writes it");
            first.finish(&Totals::default()).expect("finished");
            drop(first);
            assert_eq!(tables(&path), "games,positions,lines");
            assert!(fs::metadata(&path).expect("there").len() < 100_000);
        }
    }
}
