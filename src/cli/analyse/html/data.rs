//! The data for the page's script, as JSON. All scores are White's.

use std::path::Path;

use serde::Serialize;
use shakmaty::{CastlingMode, Color, Move};

use super::{
    clocks, phases,
    variations::{self, VariationData},
    words,
};
use crate::{
    cli::{
        analyse::{
            annotate::{self, without_commands},
            epd::EpdRecord,
            judge::{MoveJudgement, capped},
            marks::for_white,
            output::one_decimal,
            pool::Finding,
            report::{GameReport, Judged},
        },
        pawns,
        pgn::{self, Annotation, Game},
    },
    position::Position,
    types::Score,
    uci::translate,
};

/// Plies shown of each line.
const LINE_PLIES: usize = 16;

/// Centipawns; for a proven result the winner (1 White, -1 Black) and its text.
#[derive(Serialize)]
#[serde(untagged)]
pub enum ScoreData {
    Centipawns(i32),
    Proven(i32, String),
}

impl ScoreData {
    pub fn new(score: Score) -> ScoreData {
        match score.mate_plies() {
            Some(0) => ScoreData::Proven(score.0.signum(), "#".to_owned()),
            _ if score.is_decisive() => ScoreData::Proven(score.0.signum(), pawns(score)),
            _ => ScoreData::Centipawns(score.centipawns()),
        }
    }
}

/// A line: its score, its moves as the script plays them, and as people read them.
#[derive(Serialize)]
pub struct LineData(ScoreData, String, String);

/// Consecutive positions and what was found in each: those of a game, or a single one.
#[derive(Serialize)]
pub struct AnalysedPositions {
    fen: String,
    chess960: bool,
    moves: String,
    san: String,
    scores: Vec<ScoreData>,
    depths: Vec<i32>,
    lines: Vec<Vec<LineData>>,
}

/// A game of the input, without what its row has.
#[derive(Serialize)]
pub struct GameData {
    facts: Vec<String>,
    /// The number of its first moves that belong to an opening.
    book: usize,
    /// The plies at which middlegame and endgame begin.
    phases: [usize; 2],
    /// Ply, judgement and explanation.
    verdicts: Vec<(usize, &'static str, String)>,
    /// Plies of the critical moments.
    critical: Vec<usize>,
    /// Ply and comment of the input.
    comments: Vec<(usize, String)>,
    /// Ply and glyphs of the input, such as `!?`.
    glyphs: Vec<(usize, String)>,
    /// Variations of the input, by the ply of the move that they replace.
    variations: Vec<(usize, VariationData)>,
    /// Seconds used for each move; empty without clocks.
    times: Vec<Option<f64>>,
    /// Seconds on the clock after each move; empty without clocks.
    clocks: Vec<Option<f64>>,
    pgn: String,
    #[serde(flatten)]
    analysed: AnalysedPositions,
}

/// A player in one game.
#[derive(Serialize)]
pub struct PlayerData<'a> {
    name: &'a str,
    title: Option<&'a str>,
    elo: Option<&'a str>,
    moves: usize,
    accuracy: Option<f64>,
    /// Average centipawn loss.
    loss: Option<f64>,
    /// Inaccuracies, mistakes, blunders.
    counts: [usize; 3],
    /// Moves, accuracy and average loss in opening, middlegame and endgame.
    phases: [(usize, Option<f64>, Option<f64>); 3],
}

/// A position in the table of all.
#[derive(Serialize)]
pub struct PositionRow<'a> {
    id: &'a str,
    best: String,
    score: ScoreData,
    depth: i32,
    solved: Option<bool>,
}

/// A game in the table of all.
#[derive(Serialize)]
pub struct GameRow<'a> {
    number: usize,
    /// The name of its file without folders.
    file: String,
    players: [PlayerData<'a>; 2],
    result: String,
    date: String,
    event: &'a str,
    opening: Option<String>,
    moves: usize,
}

/// The block of a position, and its row.
pub fn position<'a>(record: &'a EpdRecord, finding: &Finding) -> (AnalysedPositions, PositionRow<'a>) {
    let position = &record.position;
    let score = || ScoreData::new(for_white(position, finding));
    let block = AnalysedPositions {
        fen: position.fen(),
        chess960: translate::notation(position, false).is_chess960(),
        moves: String::new(),
        san: String::new(),
        scores: vec![score()],
        depths: vec![finding.depth],
        lines: vec![lines(position, finding)],
    };
    let row = PositionRow {
        id: if record.file.is_empty() { "Position" } else { &record.id },
        best: finding.best().map_or_else(String::new, |m| pgn::line(position, &[m])),
        score: score(),
        depth: finding.depth,
        solved: record.result(finding).solved,
    };
    (block, row)
}

/// The block of a game, and its row.
pub fn game(report: &GameReport) -> (GameData, GameRow<'_>) {
    let game = &report.game;
    let phases = phases::begins(&report.positions);
    // Unknown parts of a date are left out.
    let date = game.date().unwrap_or_default().replace(".??", "").replace("????", "");
    let round = game.tag("Round").filter(|round| *round != "-").map(|round| format!("round {round}"));
    let named = |name: &str| game.tag(name).map(str::to_owned);
    // Nothing where nothing is known.
    let known = |times: Vec<Option<f64>>| if times.iter().any(Option::is_some) { times } else { Vec::new() };
    let block = GameData {
        facts: [named("Event"), named("Site"), Some(date.clone()), round].into_iter().flatten().collect(),
        book: report.book,
        phases,
        verdicts: verdicts(report),
        critical: report.critical().into_iter().map(|index| index + 1).collect(),
        comments: comments(game),
        glyphs: glyphs(game),
        variations: variations::all(&report.variations),
        times: known(clocks::seconds_used(game)),
        clocks: known(clocks::seconds_left(game)),
        pgn: annotate::game_pgn(report),
        analysed: analysed(report),
    };
    let row = GameRow {
        number: game.number,
        file: Path::new(&game.file).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        players: Color::ALL.map(|side| player(report, side, phases)),
        result: game.outcome.to_string(),
        date,
        event: game.tag("Event").unwrap_or_default(),
        opening: report.opening_name(),
        moves: game.moves.len().div_ceil(2),
    };
    (block, row)
}

fn analysed(report: &GameReport) -> AnalysedPositions {
    let start = &report.positions[0];
    let san: Vec<&str> = report.moves.iter().map(|m| m.san.as_str()).collect();
    let found = report.positions.iter().zip(&report.findings);
    AnalysedPositions {
        fen: start.fen(),
        chess960: translate::notation(start, false).is_chess960(),
        moves: uci(&report.game.moves),
        san: san.join(" "),
        scores: report.scores.iter().copied().map(ScoreData::new).collect(),
        depths: report.findings.iter().map(|finding| finding.depth).collect(),
        lines: found.map(|(position, finding)| lines(position, finding)).collect(),
    }
}

pub fn lines(position: &Position, finding: &Finding) -> Vec<LineData> {
    let shown = finding.lines.iter().filter(|line| !line.moves.is_empty());
    shown
        .map(|line| {
            let moves = &line.moves[..line.moves.len().min(LINE_PLIES)];
            let mut position = position.clone();
            let mut san = Vec::with_capacity(moves.len());
            let score = ScoreData::new(line.score.relative_to(position.turn()));
            for &m in moves {
                let (word, next) = pgn::san(&position, m);
                san.push(word);
                position = next;
            }
            LineData(score, uci(moves), san.join(" "))
        })
        .collect()
}

/// Moves as the script plays them: castling is king takes rook, so that Chess960 is no special case.
pub fn uci(moves: &[Move]) -> String {
    let words: Vec<String> = moves.iter().map(|m| m.to_uci(CastlingMode::Chess960).to_string()).collect();
    words.join(" ")
}

fn verdicts(report: &GameReport) -> Vec<(usize, &'static str, String)> {
    let judged =
        |(index, m): (usize, &Judged)| Some((index + 1, m.judgement?.word(), words::verdict(report, index)?));
    report.moves.iter().enumerate().filter_map(judged).collect()
}

/// The comments of a game before the moves and after each, without embedded commands.
pub fn comments(game: &Game) -> Vec<(usize, String)> {
    let comment = |(ply, annotations): (usize, &Vec<Annotation>)| {
        let texts = annotations.iter().filter_map(|annotation| match annotation {
            Annotation::Comment(text) => Some(without_commands(text, "[%")),
            Annotation::Nag(_) | Annotation::Variation(_) => None,
        });
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| (ply, texts.join(" ")))
    };
    std::iter::once(&game.preface).chain(&game.annotations).enumerate().filter_map(comment).collect()
}

/// The author's glyphs of the moves.
fn glyphs(game: &Game) -> Vec<(usize, String)> {
    let signs = |annotations: &Vec<Annotation>| variations::signs(annotate::by_author(annotations));
    let all = (1..).zip(game.annotations.iter().map(signs));
    all.filter(|(_, signs)| !signs.is_empty()).collect()
}

fn player(report: &GameReport, side: Color, phases: [usize; 2]) -> PlayerData<'_> {
    let tag = |white, black| report.game.tag(side.fold_wb(white, black)).filter(|value| *value != "-");
    let losses = losses(report);
    let [middlegame, endgame] = phases;
    let within = |from: usize, to: usize| {
        let counted = move |index: usize| (from..to).contains(&index);
        let own = losses.iter().enumerate().filter(|&(index, &(mover, _))| mover == side && counted(index));
        let own: Vec<f64> = own.map(|(_, &(_, loss))| f64::from(loss)).collect();
        let loss = (!own.is_empty()).then(|| one_decimal(own.iter().sum::<f64>() / own.len() as f64));
        (own.len(), report.accuracies.of(side, counted).map(one_decimal), loss)
    };
    let (moves, accuracy, loss) = within(0, usize::MAX);
    let count = |judgement| report.count(side, judgement);
    PlayerData {
        name: report.game.player(side),
        title: tag("WhiteTitle", "BlackTitle"),
        elo: tag("WhiteElo", "BlackElo"),
        moves,
        accuracy,
        loss,
        counts: [MoveJudgement::Inaccuracy, MoveJudgement::Mistake, MoveJudgement::Blunder].map(count),
        phases: [within(0, middlegame), within(middlegame, endgame), within(endgame, usize::MAX)],
    }
}

/// The side that made each move, and the centipawns that it lost.
fn losses(report: &GameReport) -> Vec<(Color, i32)> {
    let scores: Vec<i32> = report.scores.iter().copied().map(capped).collect();
    let loss = |(pair, side): (&[i32], Color)| (side, (side.fold_wb(1, -1) * (pair[0] - pair[1])).max(0));
    scores.windows(2).zip(report.moves.iter().map(|m| m.side)).map(loss).collect()
}
