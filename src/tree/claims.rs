//! Who searches what: growers that share a tree claim the positions that they search.

use std::collections::HashSet;

use rusqlite::params;

use super::{
    Job, Tree, TreeError, TreeSearch,
    graph::Key,
    notation::{key_of, uci, without_clocks},
};
use crate::{learn::now, position::Position};

/// Seconds for which a position is claimed at most. Where it can be asked whether a process is running, its claims end with
/// it, and this limit matters where another process has got the same number.
const CLAIMED: i64 = if cfg!(unix) { 86_400 } else { 600 };

impl Tree {
    /// The leaf with the least cost that nobody searches, which is claimed until it is recorded or released, or its process
    /// has ended; none if nothing is left to search. (Where that cannot be asked: ten minutes after it last asked for a
    /// leaf.)
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn next_job(&mut self) -> Result<Option<Job>, TreeError> {
        self.claim_job(None)
    }

    /// The same below one position from which the tree grows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn next_job_below(&mut self, root: &Position) -> Result<Option<Job>, TreeError> {
        self.claim_job(Some(key_of(root)))
    }

    fn claim_job(&mut self, root: Option<Key>) -> Result<Option<Job>, TreeError> {
        self.writing(|tree| {
            let claimed = tree.claimed()?;
            let job = tree.find_job(&claimed, root)?;
            job.iter().try_for_each(|job| tree.claim(&job.position))?;
            Ok(job)
        })
    }

    /// Takes in the search of a job. The position of one that says nothing new is not searched again
    /// by this [`Tree`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&mut self, job: &Job, search: &TreeSearch) -> Result<(), TreeError> {
        let is_new = self.writing(|tree| {
            tree.unclaim(&job.position)?;
            if !tree.enter(&job.position, search, job.lines, None)? {
                return Ok(false);
            }
            let query = "UPDATE edges SET searches = searches + 1 WHERE parent = ? AND move = ?";
            let mut count = tree.connection.prepare_cached(query)?;
            let mut position = job.root.clone();
            for &m in &job.line {
                count.execute(params![key_of(&position), uci(&position, m)])?;
                position = without_clocks(&position.play(m));
            }
            Ok(true)
        })?;
        if !is_new {
            self.failed.insert(key_of(&job.position));
        }
        Ok(())
    }

    /// Gives a job back that was not done.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn release(&mut self, job: &Job) -> Result<(), TreeError> {
        self.writing(|tree| tree.unclaim(&job.position))
    }

    /// Is a position searched by another process?
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_searched_elsewhere(&self) -> Result<bool, TreeError> {
        self.reading(|tree| {
            let query = "SELECT 1 FROM claims WHERE process <> ? AND until >= ? LIMIT 1";
            let mut claims = tree.connection.prepare_cached(query)?;
            claims.exists(params![std::process::id(), i64::from(now())])
        })
    }

    /// The keys of the positions that some process searches, or whose search by this tree said nothing new. Claims of
    /// processes that have ended, and those that have run out, are removed.
    fn claimed(&self) -> rusqlite::Result<HashSet<Key>> {
        // What this process searches stays claimed, however long that takes.
        let own = "UPDATE claims SET until = ? WHERE process = ?";
        self.connection.prepare_cached(own)?.execute(params![claim_end(), std::process::id()])?;
        self.connection.prepare_cached("DELETE FROM claims WHERE until < ?")?.execute([now()])?;
        let mut processes = self.connection.prepare_cached("SELECT DISTINCT process FROM claims")?;
        let processes = processes.query_map([], |row| row.get(0))?.collect::<Result<Vec<u32>, _>>()?;
        for process in processes.into_iter().filter(|&process| !is_running(process)) {
            self.connection.prepare_cached("DELETE FROM claims WHERE process = ?")?.execute([process])?;
        }
        let mut claimed = self.connection.prepare_cached("SELECT key FROM claims")?;
        claimed.query_map([], |row| row.get(0))?.chain(self.failed.iter().copied().map(Ok)).collect()
    }

    fn claim(&self, position: &Position) -> rusqlite::Result<()> {
        let query = "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)";
        let values = params![key_of(position), claim_end(), std::process::id()];
        self.connection.prepare_cached(query)?.execute(values)?;
        Ok(())
    }

    fn unclaim(&self, position: &Position) -> rusqlite::Result<()> {
        self.connection.prepare_cached("DELETE FROM claims WHERE key = ?")?.execute([key_of(position)])?;
        Ok(())
    }
}

/// When a claim that is made now runs out.
fn claim_end() -> i64 {
    i64::from(now()) + CLAIMED
}

/// Is there such a process on this machine? Where that cannot be asked, its claims run out.
fn is_running(process: u32) -> bool {
    #[cfg(unix)]
    {
        let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
        process.is_some_and(|process| {
            rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
        })
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        true
    }
}
