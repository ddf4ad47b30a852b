//! `engram tree publish`: what the tree found, as records of a learning file.

use std::path::PathBuf;

use clap::Args;
use shakmaty::Move;

use crate::{
    cli::{CliError, refuse_input},
    eval,
    learn::{
        self, LearnFile, LearnedScore, Origin, Record,
        record::{ADVICE_DEPTH, CAPACITY},
    },
    locks::read,
    position::Position,
    tree::{Nearest, Tree},
    types::{Depth, PackedMove, Score},
    uci::{Output, counted},
};

/// Records for which room is left: what games and studies add later.
const RESERVE: usize = 8192;

#[derive(Debug, Args)]
pub(super) struct PublishArguments {
    /// The learning file; made if it is missing.
    #[arg(value_name = "LEARNFILE")]
    to: PathBuf,
}

/// Writes the records.
///
/// # Errors
/// The tree cannot be read, or the learning file cannot be written.
pub(super) fn run(tree: &Tree, arguments: &PublishArguments, output: &Output) -> Result<(), CliError> {
    let to = &arguments.to;
    refuse_input(to, [tree.path()])?;
    let roots = super::roots(tree)?.into_iter().map(|(root, _)| root);
    let (mut file, ring, _) = LearnFile::open_or_create(to)?;
    let ring = std::sync::RwLock::new(ring);
    let mut room = CAPACITY.saturating_sub(RESERVE + read(&ring).len());
    let (mut new, mut known, mut advised, mut awaiting) = (Vec::new(), 0_usize, 0_usize, 0_usize);
    let mut nearest = Nearest::new(tree, roots, usize::MAX);
    while let Some((position, view)) = nearest.next_position()? {
        awaiting += usize::from(view.awaited().next().is_some());
        let best = view.considered().next().map(|(best, _)| best.m);
        let (Some(score), Some(best)) = (view.score, best) else { continue };
        let evaluation_id = tree.evaluation_id(&position)?;
        let Some(record) = record(&position, best, score, view.depth, evaluation_id) else { continue };
        let present = read(&ring).newest_of(position.key());
        match &present {
            Some(present) if present.is_advice() => advised += 1,
            Some(present) if covers(present, &record) => known += 1,
            // One in place of another takes a slot too, but the slot of the other is free again.
            _ if room == 0 && present.is_none() => break,
            _ => {
                room -= usize::from(present.is_none());
                // Later than the record that it replaces, whose clock may have been ahead.
                let time = present.map_or(0, |present| present.time.saturating_add(1));
                new.push(Record { time: record.time.max(time), ..record });
            }
        }
    }
    // The oldest records are the first to be overwritten.
    new.reverse();
    let taken = file.merge(&ring, &new)?;
    let foreign = new.iter().filter(|record| record.is_foreign_to(eval::fingerprint())).count();
    let foreign = match foreign {
        0 => String::new(),
        count => format!("; {count} with scores of another evaluation, which weigh less"),
    };
    output.line(format_args!(
        "{} written to {}, {known} known before, {advised} left to human advice{foreign}",
        counted(taken.new, "position"),
        to.display(),
    ));
    super::say_awaiting(tree, awaiting);
    Ok(())
}

fn record(position: &Position, best: Move, score: Score, depth: Depth, evaluation_id: u16) -> Option<Record> {
    let score = LearnedScore::from_score(score);
    let blank = Record::new(position, Origin::Study).ok()?;
    Some(Record {
        best: PackedMove::pack(best),
        lower: score,
        upper: score,
        // A human's word is worth more.
        depth: u8::try_from(depth.get()).unwrap_or(u8::MAX).clamp(1, ADVICE_DEPTH - 1),
        halfmoves: 0,
        evaluation_id,
        session: learn::session(),
        time: learn::now(),
        ..blank
    })
}

/// Does a record say the same, or come from a deeper search? What was published before may be deeper, and was refuted
/// since: it has no nodes.
fn covers(present: &Record, new: &Record) -> bool {
    let is_search = matches!(present.origin, Origin::EveryRoot | Origin::Import)
        || present.origin == Origin::Study && present.log2_nodes > 0;
    let said = |record: &Record| {
        let Record { best, lower, upper, depth, origin, evaluation_id, .. } = *record;
        (best, lower, upper, depth, origin, evaluation_id)
    };
    let is_same = said(present) == said(new);
    present.is_live() && (is_same || is_search && present.depth > new.depth)
}
