//! `engram learn why`: which records change the move?

use std::path::Path;

use serde_json::json;

use super::{
    opened::Opened,
    text::{self, Printer},
};
use crate::{
    cli::{CliError, pgn, refused, write_records},
    engine::blocking::{Answer, BlockingEngine},
    learn::{
        Record,
        exchange::LineError,
        policy,
        reachability::{Reachable, Signature},
    },
    notice::Notice,
    position::Position,
    types::Bound,
    uci::translate,
};

/// Maximum number of records named; more are rarely needed together.
const MAX_NAMED: usize = 4;

pub(super) fn why(file: &Opened, fen: &str, nodes: u64, out: Printer) -> Result<(), CliError> {
    let output = out.output;
    let position = crate::cli::position(Some(fen), false)?;
    let without = ask(&position, None, nodes)?;
    let with = ask(&position, Some(file.file.path()), nodes)?;
    let changed = without.best != with.best;
    let root = file.ring().get(position.key());
    let is_advised = |best| root.is_some_and(|record| record.advised().any(|m| position.unpack(m) == best));
    let advised = with.best.is_some() && is_advised(with.best);
    let named =
        if changed && !advised { deciding_records(file, &position, &without, nodes)? } else { Vec::new() };
    if out.json {
        let answer_json = |answer: &Answer| {
            json!({
                "move": answer.best.map(|m| m.to_uci(translate::notation(&position, false)).to_string()),
                "score": answer.result.as_ref().map(|found| translate::score(found.score, found.bound).to_string()),
                "depth": answer.result.as_ref().map(|found| found.depth.get()),
                "messages": answer.notices.iter().map(Notice::to_string).collect::<Vec<_>>(),
            })
        };
        let records: Vec<_> = named.iter().map(|(sequence, record)| text::value(*sequence, record)).collect();
        output.line(json!({
            "fen": position.fen(), "nodes": nodes, "without": answer_json(&without), "with": answer_json(&with),
            "changed": changed, "advised": advised, "records": records,
        }));
        return Ok(());
    }
    output.line(format_args!("without the file: {}", describe(&position, &without)));
    output.line(format_args!("with the file:    {}", describe(&position, &with)));
    for notice in &with.notices {
        output.line(format_args!("                  {notice}"));
    }
    match (changed, named.is_empty()) {
        (true, _) if advised => output.line("the advice decides"),
        (false, _) if advised => output.line("the move is advised, and is played without the file too"),
        (false, _) => output.line("the file does not change the move"),
        (true, true) => output.line("no small set of records changes the move by itself"),
        (true, false) => output.line("the move changes because of"),
    }
    out.records(&named);
    Ok(())
}

fn describe(position: &Position, answer: &Answer) -> String {
    let best = answer.best.map_or_else(|| "no move".to_owned(), |m| pgn::san(position, m).0);
    match &answer.result {
        Some(found) => {
            format!("{best}, {} at depth {}", translate::score(found.score, Bound::Exact), found.depth.get())
        }
        None => best,
    }
}

/// Searches a position with a learning file or without.
pub(super) fn ask(position: &Position, file: Option<&Path>, nodes: u64) -> Result<Answer, CliError> {
    let mut searcher = BlockingEngine::new(nodes);
    if let Some(file) = file {
        searcher.engine.set_learning(|learning| {
            learning.read_only = true;
            learning.file = Some(file.to_owned());
            learning.rules.mode = policy::LearningMode::Drop;
        });
    }
    Ok(searcher.search(position, &[])?)
}

/// A small set of records that alone changes the move, the most important first.
///
/// Of the records within reach, nearest in the game first, the last one of the shortest prefix that changes the move is
/// needed. It is kept, and the search repeated for the shortest prefix that changes the move together with those kept.
fn deciding_records(
    file: &Opened,
    position: &Position,
    without: &Answer,
    nodes: u64,
) -> Result<Vec<(u64, Record)>, CliError> {
    let reach = Reachable::of(position);
    let ring = file.ring();
    let mut candidates: Vec<(u64, Record)> =
        ring.iter().filter(|(_, record)| reach.allows(&Signature::of_packed(&record.setup))).collect();
    drop(ring);
    let ply = Record::new(position, crate::learn::Origin::Drop).map_err(LineError::from)?.game_ply;
    candidates.sort_by_key(|(_, record)| (record.key != position.key(), record.game_ply.abs_diff(ply)));
    let mut needed: Vec<(u64, Record)> = Vec::new();
    let changes = |needed: &[(u64, Record)], prefix: &[(u64, Record)]| -> Result<bool, CliError> {
        let folder = tempfile::tempdir().map_err(refused(&std::env::temp_dir(), "written"))?;
        let path = folder.path().join("records");
        write_records(&path, needed.iter().chain(prefix).map(|(_, record)| record))?;
        Ok(ask(position, Some(&path), nodes)?.best != without.best)
    };
    while needed.len() < MAX_NAMED {
        if !needed.is_empty() && changes(&needed, &[])? {
            return Ok(needed);
        }
        if !changes(&needed, &candidates)? {
            break;
        }
        let (mut without_change, mut with_change) = (0, candidates.len());
        while with_change - without_change > 1 {
            let middle = without_change.midpoint(with_change);
            if changes(&needed, &candidates[..middle])? {
                with_change = middle;
            } else {
                without_change = middle;
            }
        }
        candidates.truncate(with_change);
        needed.extend(candidates.pop());
    }
    Ok(if needed.is_empty() || changes(&needed, &[])? { needed } else { Vec::new() })
}
