//! Between a record of the learning file and what the engine knows.

use super::desk::Root;
use crate::{
    eval,
    learn::{
        self, Flags, LearnedScore, Origin, Record,
        policy::{Known, Lesson, Trigger},
        recall::Memory,
    },
    search::Ending,
    types::Depth,
};

/// What the engine makes of a record; nothing of a tombstone.
pub fn memory(record: &Record) -> Option<Memory> {
    let known = Known {
        lower: record.lower.to_score(),
        upper: record.upper.to_score(),
        depth: Depth(i32::from(record.depth)),
        best: record.best,
    };
    (!record.flags.tombstone && known.lower <= known.upper).then(|| Memory {
        key: record.key,
        known,
        halfmoves: record.halfmoves,
        game_ply: record.game_ply,
        foreign: record.evaluation_id != eval::fingerprint(),
        confirmed: record.flags.confirmed,
        advice: record.origin == Origin::Advice,
        suspicion: record.origin == Origin::Drop && !record.flags.confirmed,
        searched: record.origin == Origin::EveryRoot,
    })
}

/// What a search taught; nothing where there are more men than a record has room for, or rights that no game
/// leads to.
pub fn record(root: &Root, ending: &Ending, lesson: &Lesson) -> Option<Record> {
    let Lesson { trigger, known } = lesson;
    let origin = if *trigger == Trigger::EveryRoot { Origin::EveryRoot } else { Origin::Drop };
    let blank = Record::new(&root.position, origin).ok()?;
    Some(with(blank, known, ending.nodes))
}

/// A record that says what is known.
pub fn with(blank: Record, known: &Known, nodes: u64) -> Record {
    Record {
        best: known.best,
        lower: LearnedScore::from_score(known.lower),
        upper: LearnedScore::from_score(known.upper),
        depth: u8::try_from(known.depth.get()).unwrap_or(u8::MAX),
        flags: Flags { confirmed: blank.origin == Origin::Outcome, ..blank.flags },
        log2_nodes: nodes.max(1).ilog2() as u8,
        evaluation_id: eval::fingerprint(),
        session: learn::session(),
        time: learn::now(),
        ..blank
    }
}
