//! Finds the lessons: positions of lost games in which another move is played now, because of the learning file.

use std::{collections::BTreeMap, path::Path};

use shakmaty::Move;

use super::{GameLessons, Lesson, LessonArguments, Lessons, SHOWN};
use crate::{
    cli::{
        CliError, counted, in_parallel,
        learn::{
            opened::Opened,
            own_games::{GameResult, Moves, OwnGame, OwnGames},
            text::Printer,
            why,
        },
        progress_bar,
    },
    learn::{Origin, Record, Ring},
    position::Position,
    processor::cores,
    types::Score,
};

/// A move is judged by the score so many own moves later.
const LATER: u16 = 5;
/// A record so many plies after a position may change its move.
const AHEAD: u16 = 4;

/// A position of a game that a record may change.
struct Moment<'a> {
    /// Among the lost games.
    game: usize,
    ply: u16,
    position: &'a Position,
    played: Move,
    moves: &'a Moves,
}

/// Finds what is played differently now, by searches with the file and without.
///
/// # Errors
/// The file cannot be read.
pub(in crate::cli::learn) fn find<'a>(
    file: &Opened,
    games: &'a OwnGames,
    arguments: &LessonArguments,
    out: Printer,
) -> Result<Lessons<'a>, CliError> {
    let mut all: Vec<&OwnGame> = games.games.iter().collect();
    all.sort_by(|one, other| one.date.cmp(&other.date));
    let wanted: Vec<&OwnGame> = all.iter().copied().filter(|game| arguments.filter.matches(game)).collect();
    let lost = |game: &&&OwnGame| game.result == Some(GameResult::Lost) && game.is_known;
    let mut chosen: Vec<&OwnGame> = wanted.iter().filter(lost).copied().collect();
    if arguments.nodes == 0 {
        chosen.clear();
    }
    let older = chosen.len().saturating_sub(arguments.lost);
    chosen.drain(..older);
    let courses: Vec<&Moves> = chosen.iter().map(|game| game.moves()).collect();
    let ring = file.ring();
    let moments: Vec<Moment<'_>> = chosen
        .iter()
        .zip(&courses)
        .enumerate()
        .flat_map(|(index, (game, moves))| {
            let places = moments(game, moves, &ring).into_iter();
            places.map(move |(ply, position, played)| Moment { game: index, ply, position, played, moves })
        })
        .collect();
    let mut found: Vec<Vec<Lesson>> = chosen.iter().map(|_| Vec::new()).collect();
    let answers = search(file.file.path(), &moments, arguments.nodes, out)?;
    for (moment, answer) in moments.iter().zip(answers) {
        let Some((now, score)) = answer else { continue };
        found[moment.game].push(lesson(moment, now, score, &ring, chosen[moment.game]));
    }
    let mut lessons = Lessons {
        is_searched: arguments.nodes > 0,
        games: Vec::new(),
        unchanged: found.iter().filter(|lessons| lessons.is_empty()).count(),
        older,
        // Records without a result may be those of an analysis.
        not_lost: wanted
            .iter()
            .filter(|game| game.is_known && !lost(game) && (game.pgn().is_some() || game.result.is_some()))
            .count(),
        opponents: BTreeMap::new(),
        openings: BTreeMap::new(),
    };
    for (&game, mut learned) in chosen.iter().zip(found).filter(|(_, learned)| !learned.is_empty()) {
        learned.sort_by_key(|lesson| -lesson.cost());
        let others = learned.len().saturating_sub(SHOWN);
        learned.truncate(SHOWN);
        lessons.games.push(GameLessons { game, lessons: learned, others, next: next(game, &all) });
    }
    lessons.games.sort_by_key(|game| -game.lessons[0].cost());
    lessons.count(&wanted);
    Ok(lessons)
}

/// The next game that was played with the opening and the colour of this one: from the same first position, and with the
/// same name if the first position alone does not say it.
fn next<'a>(game: &OwnGame, games: &[&'a OwnGame]) -> Option<&'a OwnGame> {
    let opening = |game: &OwnGame| (game.side, game.start, game.opening.clone());
    if game.opening.is_none() && game.start == Position::default().key() {
        return None;
    }
    let this = games.iter().position(|other| std::ptr::eq(*other, game))?;
    let mut later = games[this + 1..].iter().copied();
    later.find(|other| other.result.is_some() && opening(other) == opening(game))
}

/// The places of a game where the side that learned moved, with a record there or a few plies later.
fn moments<'a>(game: &OwnGame, moves: &'a Moves, ring: &Ring) -> Vec<(u16, &'a Position, Move)> {
    let is_known = |position: &Position| ring.get(position.key()).is_some();
    let mut near =
        moves.positions.range(..).filter(|(_, position)| is_known(position)).map(|(&ply, _)| ply).peekable();
    let places = moves.moves.iter().filter_map(|(&ply, &m)| Some((ply, moves.positions.get(&ply)?, m)));
    let own = places.filter(|(_, position, _)| position.turn() == game.side);
    own.filter(|&(ply, ..)| {
        while near.next_if(|&record| record < ply).is_some() {}
        near.peek().is_some_and(|&record| record - ply <= AHEAD)
    })
    .collect()
}

/// For each moment the move and score of a search with the file, if it is another move than that of the game and than
/// that of a search without the file. As many at once as there are cores.
fn search(
    file: &Path,
    moments: &[Moment<'_>],
    nodes: u64,
    out: Printer,
) -> Result<Vec<Option<(Move, Score)>>, CliError> {
    let progress = progress_bar(Some(moments.len() as u64), "{bar:30} {pos} of {len} positions, {eta} left");
    let ask = |index: usize| -> Result<_, CliError> {
        let Moment { position, played, .. } = moments[index];
        if out.output.is_closed() {
            return Ok(None);
        }
        let with = why::ask(position, Some(file), nodes)?;
        let Some(now) = with.best.filter(|&now| now != played) else { return Ok(None) };
        let is_learned = why::ask(position, None, nodes)?.best != Some(now);
        Ok(with.result.filter(|_| is_learned).map(|result| (now, result.score)))
    };
    let mut answers: Vec<_> = moments.iter().map(|_| None).collect();
    in_parallel(moments.len(), cores().min(moments.len()), ask, |index, answer| {
        answers[index] = answer;
        progress.inc(1);
        Ok(())
    })?;
    progress.finish_and_clear();
    Ok(answers)
}

fn lesson(moment: &Moment<'_>, now: Move, score: Score, ring: &Ring, game: &OwnGame) -> Lesson {
    let Moment { ply, position, played, moves, .. } = *moment;
    let mut own_later = moves.scores.range(ply.saturating_add(1)..=ply.saturating_add(2 * LATER));
    let later = own_later.next_back().map(|(&later, &score)| ((later - ply) / 2, score));
    let (before, position) = (moves.scores.get(&ply).copied(), position.clone());
    Lesson { ply, before, later, now, score, reason: reason(moment, now, ring, game), position, played }
}

/// Which record says it: of the position itself, of the position after the move of the game, or the next one.
fn reason(moment: &Moment<'_>, now: Move, ring: &Ring, game: &OwnGame) -> String {
    let Moment { ply, position, moves, .. } = *moment;
    let whose = |record: &Record| match (record.origin, game.session == Some(record.session)) {
        (Origin::Advice, _) => "as advised",
        (Origin::Study, _) if record.is_published() => "found in a tree",
        (Origin::Study, _) => "found by a study",
        (Origin::Opening, _) => "found when the opening was studied",
        (_, true) => "learned from this game",
        (_, false) => "learned from another game",
    };
    // That a game went on from an opening says nothing about it.
    let known = |position: &Position| ring.get(position.key()).filter(|record| !record.is_unsearched());
    let here = known(position);
    if let Some(record) = here.as_ref().filter(|record| position.unpack(record.best) == Some(now)) {
        return whose(record).to_owned();
    }
    let first = moves.positions.range(ply..).find_map(|(&at, position)| Some((at, known(position)?)));
    match first {
        Some((at, record)) if at - ply <= 1 => whose(&record).to_owned(),
        Some((at, record)) => {
            let later = counted(usize::from((at - ply) / 2), "move");
            format!("because of a position {later} later ({})", whose(&record))
        }
        None => "learned from another game".to_owned(),
    }
}
