//! The one game: which positions belong to it, and that what was lost in it is learned however the GUI sends it. The real
//! binary over pipes.

use std::{collections::BTreeMap, path::Path};

use engram::{
    learn::{LearnFile, Mode, Origin, kept_games},
    position::Position,
};

use crate::common::{
    Engine,
    learn::{self, LOST_GAME, lost_game},
    learn_file, succeed, until,
};

/// An engine that learns in `path`. Its evaluation is the classical one, whose weights are final: which positions of the
/// game are drops does not change with the network.
fn engine(path: &Path) -> Engine {
    learn::engine(path, &["Evaluation value classical"])
}

/// The drops that the loss confirmed and the outcomes of moves, by ply and whether it is a drop, with the move of the record.
type Lessons = BTreeMap<(u16, bool), u16>;

fn lessons(path: &Path) -> Lessons {
    let (_, ring, _) = LearnFile::open(path, Mode::Read).expect("it opens");
    let records = ring.iter().map(|(_, record)| record);
    let confirmed = records.filter(|record| {
        record.origin == Origin::Outcome || record.origin == Origin::Drop && record.flags.confirmed
    });
    confirmed.map(|record| ((record.game_ply, record.origin == Origin::Drop), record.best.bits())).collect()
}

/// What is learned if `play` plays the game.
fn learned(play: impl FnOnce(&mut Engine)) -> Lessons {
    let (_folder, path) = learn_file();
    let mut engine = engine(&path);
    engine.search_until_told("learning drop");
    engine.send("ucinewgame");
    play(&mut engine);
    engine.quit();
    lessons(&path)
}

/// Every second position of the game up to `plies`, searched.
fn play(engine: &mut Engine, plies: impl Iterator<Item = usize>) {
    plies.for_each(|plies| drop(engine.search(&lost_game(plies), "go depth 6")));
}

fn whole() -> Lessons {
    let whole = learned(|engine| play(engine, (0..=10).step_by(2)));
    assert!(whole.keys().any(|(_, is_drop)| *is_drop) && whole.len() >= 4, "{whole:?}");
    whole
}

/// A second search of a position may see a drop that the first did not.
fn without_new_drops(found: Lessons, whole: &Lessons) -> Lessons {
    found.into_iter().filter(|(key, _)| !key.1 || whole.contains_key(key)).collect()
}

#[test]
fn a_takeback_and_a_look_at_another_position_take_no_lesson_away() {
    let whole = whole();
    for back in [2, 4, 6] {
        let found = learned(|engine| {
            play(engine, (0..=8).step_by(2));
            play(engine, (8 - back..=10).step_by(2));
        });
        assert_eq!(without_new_drops(found, &whole), whole, "{back} plies taken back, and on");
    }
    let looks: [(&str, &[&str], &str); 5] = [
        ("the beginning", &["startpos"], "go depth 6"),
        ("one position after another", &["startpos", "startpos moves e2e4 e7e5"], "go depth 6"),
        ("another game", &["startpos moves d2d4 d7d5 c2c4 e7e6 b1c3"], "go depth 6"),
        ("another position", &["fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"], "go depth 6"),
        ("an analysis", &["startpos moves e2e4 e7e5 d1h5 b8c6 h5e5 c6e5 a2a3 d7d5"], "go infinite"),
    ];
    for (name, positions, go) in looks {
        let found = learned(|engine| {
            play(engine, (0..=8).step_by(2));
            for position in positions {
                engine.send(&format!("position {position}"));
                engine.send(go);
                engine.expect("info depth 6 seldepth ");
                engine.stop();
            }
            play(engine, (10..=10).step_by(2));
        });
        assert_eq!(without_new_drops(found, &whole), whole, "a look at {name}, and back");
    }
}

#[test]
fn a_game_of_positions_without_moves_is_a_game() {
    let fen = |plies: usize| {
        let moves = LOST_GAME[..plies].iter();
        let after = moves.fold(Position::default(), |position, uci| {
            position.play(position.legal_move(uci).expect("legal"))
        });
        format!("fen {}", after.fen())
    };
    let found = learned(|engine| {
        (0..=10).step_by(2).for_each(|plies| drop(engine.search(&fen(plies), "go depth 6")));
    });
    let whole = whole();
    assert_eq!(found, whole);
    // Moves are taken back in such a game as well.
    let found = learned(|engine| {
        for plies in [0, 2, 4, 6, 8, 4, 6, 8, 10] {
            engine.search(&fen(plies), "go depth 6");
        }
    });
    assert_eq!(without_new_drops(found, &whole), whole);
}

#[test]
fn another_game_that_is_played_on_ends_the_one_before() {
    let (_folder, path) = learn_file();
    let mut engine = engine(&path);
    engine.search_until_told("learning drop");
    engine.send("ucinewgame");
    play(&mut engine, (0..=10).step_by(2));
    // Created by a thread of its own, which may take longer.
    until("there is a learning file", || LearnFile::open(&path, Mode::Read).is_ok());
    assert!(lessons(&path).is_empty());
    // No `ucinewgame`.
    engine.search("startpos moves d2d4 d7d5 c2c4 e7e6", "go depth 6");
    assert!(lessons(&path).is_empty(), "it may be a look aside");
    engine.search("startpos moves d2d4 d7d5 c2c4 e7e6 b1c3 g8f6", "go depth 6");
    // Written by a thread of its own.
    until("a lesson is learned", || !lessons(&path).is_empty());
    engine.quit();
}

/// White and Black of the kept games.
fn kept(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(kept_games::path(path)).expect("games");
    let named = |name: &str| -> Vec<String> {
        let begin = format!("[{name} \"");
        text.lines()
            .filter_map(|line| Some(line.strip_prefix(&begin)?.strip_suffix("\"]")?.to_owned()))
            .collect()
    };
    named("White").into_iter().zip(named("Black")).collect()
}

/// White's game, and then one as Black that begins with the same move, without `ucinewgame` in between.
#[test]
fn the_next_game_is_not_played_for_both_sides() {
    // The length of the first game, and the opponents.
    for (plies, first, second) in [(10, "?", "?"), (2, "Ann", "Engram"), (10, "Engram", "Ann")] {
        let (_folder, path) = learn_file();
        let mut engine = engine(&path);
        engine.search_until_told("learning drop");
        engine.send("ucinewgame");
        let against = |engine: &mut Engine, name: &str| {
            if name != "?" {
                engine.send(&format!("setoption name UCI_Opponent value none none computer {name}"));
            }
        };
        against(&mut engine, first);
        play(&mut engine, (0..=plies).step_by(2));
        against(&mut engine, second);
        for plies in [1, 3, 5] {
            let moves = &["e2e4", "e7e5", "g1f3", "b8c6", "b1c3"][..plies];
            engine.search(&format!("startpos moves {}", moves.join(" ")), "go depth 6");
        }
        engine.quit();
        let name = |name: &str| name.replace("Engram", "Engram (opponent)");
        let expected = [("Engram".to_owned(), name(first)), (name(second), "Engram".to_owned())];
        assert_eq!(kept(&path), expected, "after {plies} plies");
    }
}

/// A mate is the end of the game where one move, or the announced one and a reply, lead to it, and nothing is analysed.
#[test]
fn a_line_that_is_only_looked_at_is_not_the_end_of_the_game() {
    let game = "startpos moves e2e4 e7e5 d1h5 b8c6 f1c4";
    const MATE: &str = " g8f6 h5f7";
    let looks: [(&[(&str, &str)], bool); 6] = [
        (&[(MATE, "isready")], true),
        (&[(" g8f6", "go depth 1 searchmoves a2a3"), (MATE, "isready")], true),
        (&[(" g8f6", "go infinite"), (MATE, "go infinite")], false),
        (&[(" g8f6", "go infinite"), (MATE, "isready")], false),
        (&[(" a7a6 h5f7", "isready")], false),
        (&[(" g8f6 a2a3", "isready"), (" g8f6 a2a3 a7a6 h5f7", "isready")], false),
    ];
    for (looks, is_end) in looks {
        let (_folder, path) = learn_file();
        let mut engine = engine(&path);
        engine.search_until_told("learning drop");
        engine.send("ucinewgame");
        engine.search("startpos moves e2e4 e7e5 d1h5", "go depth 6");
        engine.search(game, "go depth 6");
        assert_eq!(engine.search(game, "go depth 1 searchmoves g8f6").0, "g8f6");
        for (moves, then) in looks {
            let position = format!("{game}{moves}");
            match *then {
                "isready" => engine.begin(&position, then),
                "go infinite" => {
                    engine.begin(&position, then);
                    engine.stop();
                }
                _ => drop(engine.search(&position, then)),
            }
        }
        engine.send(&format!("position {game}"));
        engine.quit();
        let text = std::fs::read_to_string(kept_games::path(&path)).expect("games");
        let is_mate = text.contains("Qxf7# ") && text.contains("[Termination \"normal\"]");
        assert_eq!((is_mate, text.contains("Qxf7")), (is_end, is_end), "{looks:?}: {text}");
        assert_eq!(!lessons(&path).is_empty(), is_end, "{looks:?}: {:?}", lessons(&path));
    }
}

/// A report of a GUI: each position is searched, from the first or from the last on, without a word that it is an analysis.
#[test]
fn a_game_of_others_is_no_game_of_the_engine() {
    let moves: Vec<&str> = "e2e4 a7a6 d1h5 h7h6 h5f7 e8f7 a2a3 a6a5 b2b3 a5a4".split(' ').collect();
    let forwards: Vec<usize> = (0..=moves.len()).collect();
    let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
    for order in [forwards, backwards] {
        let (_folder, path) = learn_file();
        let mut engine = engine(&path);
        engine.search_until_told("learning drop");
        engine.send("ucinewgame");
        for plies in order {
            engine.search(&format!("startpos moves {}", moves[..plies].join(" ")), "go depth 6");
        }
        engine.quit();
        assert!(lessons(&path).is_empty(), "{:?}", lessons(&path));
        assert!(!kept_games::path(&path).exists(), "it is not kept");
    }
}

#[test]
fn a_kept_game_of_chess960_is_read_again() {
    let (_folder, path) = learn_file();
    let mut engine = engine(&path);
    engine.search_until_told("learning drop");
    engine.send("setoption name UCI_Chess960 value true");
    engine.send("ucinewgame");
    play(&mut engine, (0..=10).step_by(2));
    engine.quit();
    let games = kept_games::path(&path);
    succeed(&["analyse", games.to_str().expect("text"), "--depth", "1"]);
}
