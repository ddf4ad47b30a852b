//! Tasks and results, as they are stored in the streams of a [`Queue`](super::Queue).

use xxhash_rust::xxh3::xxh3_128;

use super::connection::{EntryId, StreamEntry};

/// A task, as both collectors and workers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The job that wants the result.
    pub job: String,
    /// The content.
    pub text: String,
    /// Is the result to be kept in the cache?
    pub cached: bool,
}

/// A task that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldTask {
    /// Its place in the stream.
    pub entry: EntryId,
    /// The task.
    pub task: Task,
    /// Number of workers that held it before.
    pub attempts: u64,
}

/// The outcome of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// Its result.
    Done(String),
    /// It cannot be done, and why.
    Failed(String),
}

/// A result, and its place in the stream of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskResult {
    /// Its place.
    pub entry: EntryId,
    /// The [name](Task::name) of the task.
    pub name: String,
    /// Its outcome; `None` if that cannot be read.
    pub outcome: Option<TaskOutcome>,
}

impl Task {
    /// The name of the task: a hash of its text.
    pub fn name(&self) -> String {
        name_of(&self.text)
    }

    pub(super) fn of(entry: &StreamEntry) -> Option<Task> {
        let [job, text, cached] = ["job", "task", "cache"].map(|name| field(entry, name));
        Some(Task { job: job?, text: text?, cached: cached? == "1" })
    }
}

impl TaskResult {
    pub(super) fn of(entry: &StreamEntry) -> TaskResult {
        let done = field(entry, "result").map(TaskOutcome::Done);
        let outcome = done.or_else(|| field(entry, "failed").map(TaskOutcome::Failed));
        TaskResult { entry: entry.id, name: field(entry, "name").unwrap_or_default(), outcome }
    }
}

/// A name for a text: its hash.
pub fn name_of(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// The text in a field of an entry.
fn field(entry: &StreamEntry, name: &str) -> Option<String> {
    let pair = entry.fields.chunks_exact(2).find(|pair| pair[0] == name.as_bytes())?;
    String::from_utf8(pair[1].clone()).ok()
}
