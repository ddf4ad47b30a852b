//! The text of each [`Notice`].

use std::fmt::{Display, Formatter, Result};

use shakmaty::uci::UciMove;

use super::translate::score;
use crate::{
    notice::{Failure, Notice},
    search::{advice_margin, advice_min_depth},
    types::Bound,
};

/// `1 record`, `2 records`, `3 entries`, `4 searches`.
pub(crate) fn counted(count: impl TryInto<u64>, what: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match what.strip_suffix('y') {
        _ if count == 1 => format!("{count} {what}"),
        Some(stem) => format!("{count} {stem}ies"),
        None if what.ends_with("ch") => format!("{count} {what}es"),
        None => format!("{count} {what}s"),
    }
}

/// The moves, with spaces between them.
fn listed(moves: &[UciMove]) -> String {
    moves.iter().map(UciMove::to_string).collect::<Vec<_>>().join(" ")
}

impl Display for Notice {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Notice::SearchPanic => f.write_str(
                "internal error in a search thread; please report it with the moves of the game and standard error \
                 (docs/guis.md)",
            ),
            Notice::NoThread => {
                f.write_str("no thread can be started for the search; a legal move is played: set Threads lower")
            }
            Notice::Resumed(depth) => write!(f, "analysis resumed after iteration {}", depth.get()),
            Notice::Tablebases { files, pieces } => {
                write!(f, "found {}, up to {pieces} pieces", counted(*files, "tablebase file"))
            }
            Notice::NoTablebases => f.write_str(
                "no tablebases are used: SyzygyPath names no folder with .rtbw and .rtbz files (in lower case)",
            ),
            Notice::Tree { path, searches } => {
                write!(f, "tree {}: {}", path.display(), counted(*searches, "search"))
            }
            Notice::TreeMove { line, score: found, depth } => {
                let found = score(*found, Bound::Exact);
                write!(f, "tree: {found}, {} plies deep: {}", depth.get(), listed(line))
            }
            Notice::NewHashFile { path, mib } => write!(f, "hash file {}: {mib} MiB, new", path.display()),
            Notice::HashFile { path, mib, fill, generation } => {
                let (path, whole, tenth) = (path.display(), fill / 10, fill % 10);
                write!(f, "hash file {path}: {mib} MiB, {whole}.{tenth} % full, generation {generation}")
            }
            Notice::HashFileGone { path, replaced } => {
                let what = if *replaced { "replaced" } else { "removed" };
                write!(f, "hash file {} was {what}", path.display())
            }
            Notice::HashFileUnused => {
                f.write_str("the hash file is not used with contempt or at limited strength")
            }
            Notice::LimitedMemory => f.write_str("learning: off while the strength is limited"),
            Notice::Learning { path, all, records } => {
                let mode = if *all { "all" } else { "drop" };
                write!(f, "learning {mode}: {} in {}", counted(*records, "record"), path.display())
            }
            Notice::Records { now, before } => {
                write!(f, "learning: {} now, {before} before", counted(*now, "record"))
            }
            Notice::LeftGames(records) => write!(
                f,
                "learning: {} from games whose engine was killed or could not write them",
                counted(*records, "record")
            ),
            Notice::InReach { records, new } => {
                write!(f, "learning: {} can still be reached, {new} of them new in the table", counted(*records, "learned position"))
            }
            Notice::Advised(moves) => write!(f, "learning: advised here: {}", listed(moves)),
            Notice::AdviceOverruled { advised, best } => write!(
                f,
                "learning: not as advised ({}), but {best}: the advised move gets mated, or a \
                 search of {} plies or more finds it more than {} centipawns worse",
                listed(advised),
                advice_min_depth(),
                advice_margin()
            ),
            Notice::LearnedCutoffs(cutoffs) => {
                write!(f, "learning: {} by learned scores", counted(*cutoffs, "cutoff"))
            }
            Notice::ScoreFell { inside, waits } => {
                let when = if *inside { "during the search" } else { "since the last move" };
                let waits = if *waits { "; it is written when the file is free" } else { "" };
                write!(f, "learning: position learned, whose evaluation dropped {when}{waits}")
            }
            Notice::NoGameLog(error) => write!(
                f,
                "learning: the log of the game cannot be written ({error}); what is learned at the end of the game is \
                 lost if the engine is killed before"
            ),
            Notice::NotWritten { records, path } => write!(
                f,
                "learning: {} could not be written to {} (locked by another process, or a disk error); the next engine that can \
                 write to it learns what the logs of games beside it hold",
                counted(*records, "record"),
                path.display()
            ),
            Notice::Studied { openings, games, held } => write!(
                f,
                "learning: studied {} of openings and {}; a better move was found in {held} of the games",
                counted(*openings, "position"),
                counted(*games, "lost game")
            ),
            Notice::Failed(failure, why) => match failure {
                Failure::Other => f.write_str(why),
                Failure::HashFile => write!(f, "{why}; the transposition table is not kept in a file"),
                Failure::Tree => write!(f, "nothing is played from the tree: {why}"),
                Failure::Learning => write!(f, "nothing is learned: {why}"),
                Failure::Study => write!(f, "learning: nothing is studied: {why}"),
                Failure::StudyBrokeOff => write!(f, "learning: nothing more is studied: {why}"),
                Failure::Book => write!(
                    f,
                    "the result of the last game could not be added to the copy of the book ({why}); BookLearning = false turns this off"
                ),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_notice_contains_a_keyword_of_the_protocol() {
        // Some GUIs look for them in texts, too: "score fell" would end a match of c-chess-cli.
        let keywords = [
            "depth", "seldepth", "time", "nodes", "pv", "multipv", "score", "currmove", "hashfull", "nps",
            "tbhits", "string",
        ];
        let (code, _) = include_str!("notice.rs").split_once("mod tests").expect("this module");
        let texts: Vec<&str> = code.split('"').skip(1).step_by(2).collect();
        assert!(texts.iter().any(|text| text.contains("analysis resumed")));
        for text in texts {
            assert!(!text.split_whitespace().any(|word| keywords.contains(&word)), "{text}");
        }
    }
}
