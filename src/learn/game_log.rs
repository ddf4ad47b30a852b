//! The log of a game, beside the learning file, from which the game is learned if its process is killed, or cannot write
//! the records: one line for each search (the line to its root and its result), and one at the end of the game. It stays
//! until the records of the game are in the file. The next process that opens the learning file learns from the logs
//! that were left behind: their games are over.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};
use shakmaty::{Color, KnownOutcome, Outcome, Position as _, uci::UciMove};

use super::{
    exchange,
    game::{GameSearch, Line, PlayedGame},
    kept_games::{KeptGame, LEARNED},
    policy::Rules,
    record::Record,
    score::LearnedScore,
    session::Recorder,
    stamp,
};
use crate::{
    files::{LeftLog, ProcessLog, left_logs},
    types::Depth,
};

/// The log of a game; it is begun with the first search.
#[derive(Debug, Default)]
pub struct GameLog(Option<ProcessLog>);

impl GameLog {
    /// Writes a search of the game.
    ///
    /// # Errors
    /// Those of the system.
    pub fn searched(&mut self, learn_file: &Path, search: &GameSearch, opponent: &str) -> io::Result<()> {
        let log = match &mut self.0 {
            Some(log) => log,
            none => none.insert(ProcessLog::begin(learn_file, stamp::session())?),
        };
        log.write(&serde_json::to_string(&SavedSearch::new(search, opponent))?)
    }

    /// Writes that the game is over, and returns its log, if anything was searched.
    pub fn ended(&mut self, winner: Option<Color>) -> Option<ProcessLog> {
        let mut log = self.0.take()?;
        let result = winner.map_or("*", |winner| winner.fold_wb("1-0", "0-1"));
        let line = serde_json::to_string(&SavedEnd { result: result.to_owned() });
        if let Err(error) = line.map_err(io::Error::from).and_then(|line| log.write(&line)) {
            // Then the scores show who won.
            log::debug!("the end of a game is not in its log: {error}");
        }
        Some(log)
    }
}

/// A game that was not learned from.
pub struct LeftGame {
    /// Its records; none if they are in the file already.
    pub records: Vec<Record>,
    /// The game, if it is to be kept.
    pub kept: Option<KeptGame>,
    /// Its log.
    pub log: ProcessLog,
}

/// The games that were not learned from, by their logs beside `learn_file`.
///
/// # Errors
/// The folder cannot be read.
pub fn take_over(learn_file: &Path, rules: &Rules, recorder: &Recorder<'_>) -> io::Result<Vec<LeftGame>> {
    let taken = |LeftLog { session, lines, log }| {
        let (game, opponent, winner) = replay(&lines, rules)?;
        let mut records = Vec::new();
        if !lines.iter().any(|line| line == LEARNED) {
            // Those that could not be written when the score dropped.
            let drops = [Color::White, Color::Black].into_iter().flat_map(|side| game.drops(side));
            records.extend(drops.filter(|drop| (recorder.live)(drop.key).is_none()).cloned());
            records.extend(winner.into_iter().flat_map(|winner| recorder.game_ended(&game, winner)));
        }
        // All records of a game are of one session: that of the process that played it.
        records.iter_mut().for_each(|record| record.session = session);
        let outcome = winner.map_or(Outcome::Unknown, |winner| KnownOutcome::Decisive { winner }.into());
        let kept = KeptGame::new(&game, game.line(), &opponent, session, (outcome, "abandoned"));
        Some(LeftGame { records, kept, log })
    };
    Ok(left_logs(learn_file)?.into_iter().filter_map(taken).collect())
}

/// The game of a log, the opponent, and who won; none if a line cannot be read: a newer version may have written it.
fn replay(lines: &[String], rules: &Rules) -> Option<(PlayedGame, String, Option<Color>)> {
    let (mut game, mut opponent, mut ended) = (PlayedGame::default(), String::new(), None);
    for line in lines.iter().filter(|&line| line != LEARNED) {
        if let Ok(end) = serde_json::from_str::<SavedEnd>(line) {
            ended = Some(end.result.parse::<Outcome>().ok().and_then(|outcome| outcome.winner()));
        } else {
            let saved = serde_json::from_str::<SavedSearch>(line).ok()?;
            game.searched(rules, saved.read()?);
            opponent = saved.opponent;
        }
    }
    let winner = ended.unwrap_or_else(|| game.winner());
    Some((game, opponent, winner))
}

/// The line at the end of a game.
#[derive(Serialize, Deserialize)]
struct SavedEnd {
    result: String,
}

/// A line of the log; `learn/FORMAT.md` explains it.
#[derive(Serialize, Deserialize)]
struct SavedSearch {
    start: String,
    chess960: bool,
    moves: String,
    depth: i32,
    score: String,
    #[serde(default)]
    announced: Option<String>,
    teaches: bool,
    drop: Option<String>,
    #[serde(default)]
    opponent: String,
}

impl SavedSearch {
    fn new(search: &GameSearch, opponent: &str) -> SavedSearch {
        let moves: Vec<String> = search.line.moves.iter().map(UciMove::to_string).collect();
        SavedSearch {
            start: search.line.start.clone(),
            chess960: search.position.chess().castles().mode().is_chess960(),
            moves: moves.join(" "),
            depth: search.depth.get(),
            score: LearnedScore::from_score(search.score).to_string(),
            announced: search.announced.map(|m| m.to_string()),
            teaches: search.teaches,
            drop: search.drop.as_ref().and_then(|record| exchange::line(record).ok()),
            opponent: opponent.to_owned(),
        }
    }

    fn read(&self) -> Option<GameSearch> {
        let start = exchange::position(&self.start, Some(self.chess960)).ok()?;
        let moves: Option<Vec<UciMove>> = self.moves.split_whitespace().map(|uci| uci.parse().ok()).collect();
        let moves = moves?;
        Some(GameSearch {
            position: start.along(&start.line(&moves)?).pop()?,
            line: Line { start: self.start.clone(), moves },
            depth: Depth(self.depth.clamp(0, Depth::MAX.get())),
            score: self.score.parse::<LearnedScore>().ok()?.to_score(),
            announced: self.announced.as_ref().and_then(|uci| uci.parse().ok()),
            teaches: self.teaches,
            drop: self.drop.as_ref().and_then(|line| exchange::parse_line(line, 0, 0).ok()?),
            in_tree: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learn::policy::LearningMode, position::Position, types::Score};

    #[test]
    fn a_game_that_was_left_behind_is_learned_as_it_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        // In a folder that the writer thread has not made yet.
        let file = folder.path().join("data").join("learn.bin");
        let rules = Rules { mode: LearningMode::Drop, drop: 33, min_depth: Depth(4) };
        let recorder = Recorder { live: &|_| None, evaluation_id: 1 };
        let learned = |ended: Option<Option<Color>>| {
            let start = Position::default();
            let record = Record::new(&start, super::super::Origin::Drop).expect("it fits");
            let line = Line { start: start.fen(), moves: Vec::new() };
            let search = GameSearch {
                position: start,
                line,
                depth: Depth(5),
                score: Score::from_centipawns(-100),
                announced: None,
                teaches: true,
                drop: Some(record),
                in_tree: false,
            };
            let mut log = GameLog::default();
            log.searched(&file, &search, "").expect("written");
            // Here the process ends, without having written the records.
            drop(match ended {
                Some(winner) => log.ended(winner),
                None => log.0,
            });
            let mut left = take_over(&file, &rules, &recorder).expect("read");
            assert_eq!(left.len(), 1);
            let LeftGame { records, kept, mut log } = left.remove(0);
            // As where the game cannot be kept.
            log.write(LEARNED).expect("written");
            drop(log);
            let again = take_over(&file, &rules, &recorder).expect("read").remove(0);
            assert!(again.records.is_empty() && again.kept.is_some() == kept.is_some());
            again.log.remove();
            let confirmed = records.iter().filter(|record| record.flags.confirmed).count();
            (records.len() - confirmed, confirmed)
        };
        assert_eq!(learned(Some(Some(Color::Black))), (1, 1), "the drop itself, then confirmed");
        let mut newer = ProcessLog::begin(&file, 9).expect("a log");
        newer.write("{\"a newer version\": 2}").expect("written");
        drop(newer);
        let left = take_over(&file, &rules, &recorder).expect("read");
        assert!(left.is_empty(), "it is left to who can read it");
        assert_eq!(
            [None, Some(None), Some(Some(Color::White))].map(learned),
            [(1, 0); 3],
            "who won is not known"
        );
    }
}
