//! The PGN that `engram analyse` writes is the PGN that it read, and what it adds: without that the games are equal, to
//! our reader and to python-chess.

use std::{fmt::Write as _, fs, io::Read as _, path::Path, process::Command};

use engram::{
    cli::pgn::{Annotation, Game, Games, san},
    position::Position,
};
use ruzstd::decoding::StreamingDecoder;
use shakmaty::{Color, Position as _};

use crate::common::{files, flat, has_python_chess, home, is_full, run, shared, succeed};

const GAMES: usize = 40;

/// A random game with tags, glyphs, comments and variations, as PGN.
fn random_game(random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    let value = ["Müller, \\\"K.\\\"", "x\\\\y", "?", "2026.??.??", "1200"];
    for name in ["Event", "White", "Black", "Date", "ECO", "Opening", "Annotator", "WhiteElo", "Round"] {
        if random.bool() {
            let _ = writeln!(text, "[{name} \"{}\"]", random.choice(value).unwrap());
        }
    }
    text.push('\n');
    if random.u8(..4) == 0 {
        text.push_str("{a preface; with a semicolon} ");
    }
    let mut position = Position::default();
    for ply in 0..random.usize(1..30) {
        let legal = position.legal_moves();
        let Some(&m) = random.choice(legal.iter()) else { break };
        let number = position.chess().fullmoves();
        let dots = if position.turn() == Color::White { "." } else { "..." };
        let (played, next) = san(&position, m);
        let _ = write!(text, "{number}{dots} {played} ");
        for nag in [1, 2, 4, 6, 14, 18, 140] {
            if random.u8(..12) == 0 {
                let _ = write!(text, "${nag} ");
            }
        }
        if random.u8(..4) == 0 {
            let comment =
                ["[%clk 0:01:02]", "good (or not) $4", "1. e4 *", "[Event \\\"no tag\\\"]", "für; Dürer"];
            let _ = write!(text, "{{{}}} ", random.choice(comment).unwrap());
        }
        if random.u8(..5) == 0 {
            let (other, after) = san(&position, legal[random.usize(..legal.len())]);
            let _ = write!(text, "({number}{dots} {other} $2 {{why}} ({number}{dots} {other}) ");
            if let Some(&reply) = after.legal_moves().first() {
                let dots = if position.turn() == Color::White { "..." } else { "." };
                let number = after.chess().fullmoves();
                let _ = write!(text, "{number}{dots} {} ", san(&after, reply).0);
            }
            text.push_str(") ");
        }
        if ply % 7 == 6 {
            text.push('\n');
        }
        position = next;
    }
    text + random.choice(["*", "1-0", "0-1", "1/2-1/2"]).unwrap() + "\n\n"
}

fn read(text: &str) -> Vec<Game> {
    Games::new(text.as_bytes())
        .map(|game| game.unwrap().unwrap_or_else(|broken| panic!("{broken}")))
        .collect()
}

/// Is this a line of ours: a variation that ends with a score by Engram?
fn is_better_line(text: &str) -> bool {
    text.ends_with('}') && text.contains("{Engram ")
}

/// Takes away what the analysis adds to the annotations of a move that had `before`.
fn stripped(after: &[Annotation], before: &[Annotation]) -> Vec<Annotation> {
    let is_ours = |annotation: &Annotation| match annotation {
        Annotation::Comment(text) => {
            text.starts_with("[%eval ") && text.ends_with(']') && text.matches('[').count() == 1
        }
        Annotation::Nag(nag) => [1, 2, 3, 4, 6].contains(nag) && !before.contains(annotation),
        Annotation::Variation(text) => is_better_line(text),
    };
    after.iter().filter(|annotation| !is_ours(annotation)).cloned().collect()
}

/// Annotations without regard to the order of the glyphs: our own comes last, also where the game had it.
fn in_order(mut said: Vec<Annotation>) -> Vec<Annotation> {
    said.sort_by_key(|annotation| match annotation {
        Annotation::Nag(nag) => *nag,
        _ => u32::MAX,
    });
    said.dedup();
    said
}

#[test]
fn without_what_was_added_the_games_are_those_that_were_read() {
    let (_folder, path) = files();
    let mut random = fastrand::Rng::with_seed(26);
    let text: String = (0..GAMES).map(|_| random_game(&mut random)).collect();
    fs::write(path("in.pgn"), &text).unwrap();
    succeed(&["analyse", &path("in.pgn"), "--depth", "2", "--pgn", &path("out.pgn")]);
    let (before, after) = (read(&text), read(&fs::read_to_string(path("out.pgn")).unwrap()));
    assert_eq!((before.len(), after.len()), (GAMES, GAMES));
    let mut judged = 0;
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((&before.moves, before.outcome), (&after.moves, after.outcome));
        assert_eq!(before.start.fen(), after.start.fen());
        let has = |name: &str| before.tags.iter().any(|(tag, _)| tag == name);
        let is_ours = |name: &str| match name {
            "WhiteAccuracy" | "BlackAccuracy" => true,
            "ECO" | "Opening" | "Annotator" => !has(name) || before.tag(name).is_none(),
            _ => false,
        };
        let kept = |game: &Game| -> Vec<_> {
            game.tags.iter().filter(|(name, _)| !is_ours(name)).cloned().collect()
        };
        assert_eq!(kept(before), kept(after));
        assert_eq!(before.preface, stripped(&after.preface, &before.preface));
        for (ply, (said, now)) in before.annotations.iter().zip(&after.annotations).enumerate() {
            assert_eq!(in_order(said.clone()), in_order(stripped(now, said)), "ply {ply}");
            judged += usize::from(
                now.iter().any(|a| matches!(a, Annotation::Variation(text) if is_better_line(text))),
            );
        }
    }
    assert!(judged > GAMES, "random games are full of mistakes: {judged}");
    // To analyse what was written changes nothing.
    succeed(&["analyse", &path("out.pgn"), "--depth", "2", "--pgn", &path("again.pgn")]);
    let [once, twice] = ["out.pgn", "again.pgn"].map(|name| fs::read_to_string(path(name)).unwrap());
    let differ = once.lines().zip(twice.lines()).find(|(one, other)| one != other);
    assert!(once == twice, "{differ:?}");
    if let Some(compared) = python_agrees(path("in.pgn").as_ref(), path("out.pgn").as_ref()) {
        assert_eq!(compared, [GAMES, 0]);
    }
}

/// Analyses a game to this depth: the text of the PGN, with single spaces.
fn analysed(game: &str, depth: &str) -> String {
    let folder = home();
    let path = folder.path().join("game.pgn").to_str().unwrap().to_owned();
    fs::write(&path, game).unwrap();
    succeed(&["analyse", &path, "--depth", depth, "--threads", "1", "--pgn", "-"])
}

#[test]
fn only_our_own_marks_and_lines_are_replaced() {
    let tags = "[Annotator \"Engram 0.1.0\"]\n[ECO \"X00\"]\n\n";
    let moves =
        "1. e4 e5 (1... c5 {+-}) (1... e6 2. d4 {#}) (1... d5 {-0.5?}) (1... Nf6 {+0.35}) 2. Nf3 $2 Nc6 *\n";
    let mut text = analysed(&format!("{tags}{moves}"), "3");
    for kept in
        ["(1... c5 {+-}) (1... e6 2. d4 {#}) (1... d5 {-0.5?}) (1... Nf6 {+0.35})", "2. Nf3 $2", "X00"]
    {
        assert!(flat(&text).contains(kept), "{kept}: {text}");
        assert!(!text.contains("[Opening "), "the name of another code: {text}");
        text = analysed(&text, "3");
    }

    // The name of the annotator says nothing about whose marks there are.
    let game = "[Annotator \"Kasparov\"]\n\n1. f3 $4 $2 {so} e5 2. g4 $6 Qh4# 0-1\n";
    let deep = analysed(game, "4");
    assert!(flat(&deep).contains("2. g4 $6 $4 {[%eval #-1]} (2. "), "{deep}");
    assert!(deep.contains("[Annotator \"Kasparov\"]"), "{deep}");
    assert_eq!(analysed(&analysed(&analysed(game, "2"), "3"), "4"), deep, "the last analysis alone counts");

    // The author's glyph is his where ours is the same, and in every later analysis.
    let his = analysed("1. f3 $2 e5 2. g4 $4 Qh4# 0-1\n", "4");
    assert!(flat(&his).contains("2. g4 $4 {[%eval #-1]} (2. ") && his.contains("{Engram agrees: "), "{his}");
    let again = flat(&analysed(&his, "4"));
    assert_eq!(again, flat(&his));
    assert!(flat(&analysed(&analysed(&his, "1"), "2")).contains("1. f3 $2"), "{his}");

    // An author may write of Engram, too.
    let report = "1. f3 $4 (1. e4 {Engram 15 preferred this}) (1. d4 {Engram agrees}) ({Engram:} 1. c4 {Engram +}) \
                  e5 2. g4 Qh4# 0-1\n";
    let said = flat(&analysed(report, "4"));
    for kept in
        ["1. f3 $4", "(1. e4 {Engram 15 preferred this})", "(1. d4 {Engram agrees})", "1. c4 {Engram +})"]
    {
        assert!(said.contains(kept), "{kept}: {said}");
    }

    // What is added to a line of ours is the user's, and so is the line then.
    let added = deep.replacen("{Engram", "{my word} {Engram", 1);
    assert!(flat(&analysed(&added, "4")).contains("{my word} {Engram "), "{added}");
}

#[test]
fn results_in_variations_are_kept() {
    let folder = home();
    let path = folder.path().join("game.pgn").to_str().unwrap().to_owned();
    let game = "1. e4 e5 (1... f6 2. d4 g5 3. Qh5# 1-0) (1... c5 2. Nf3 1/2-1/2 {agreed}) (1... e6 2. d4 d5 * $14) \
                2. Nf3 *\n";
    fs::write(&path, game).unwrap();
    let (out, _, _) = run(&["analyse", &path, "--depth", "1", "--variations", "--pgn", "-"]);
    let text = flat(&out);
    for kept in ["3. Qh5# 1-0)", "{agreed} 1/2-1/2)", "d5 $14 {[%eval "] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(text.contains("]} *) 2. Nf3"), "{text}");
}

#[test]
fn comments_of_any_text_are_wrapped_and_read_again() {
    let long = "word ".repeat(60);
    let game =
        format!("1. e4 {{[ {long}}} e5 {{{}% no escape [%eval 1] a [%eval 2] b}} *\n", "x".repeat(70) + " ");
    let text = analysed(&game, "1");
    assert!(text.lines().all(|line| line.len() < 165 && !line.starts_with('%')), "{text}");
    let said = flat(&text);
    assert!(said.contains(&format!("[ {long}").trim_end().to_owned()), "{text}");
    assert!(said.contains("x % no escape a b}"), "{text}");
}

/// What python-chess, a reader by others, sees in both files: how many games, how many that differ because it finds faults
/// in the first file; nothing where there is no python-chess.
fn python_agrees(before: &Path, after: &Path) -> Option<[usize; 2]> {
    if !has_python_chess() {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/compare_pgn.py");
    let output = Command::new("python3").args([&script, before, after]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let numbers: Vec<usize> =
        text(&output.stdout).split(' ').map_while(|number| number.parse().ok()).collect();
    let &[games, odd, 0] = &numbers[..] else { panic!("{}", text(&output.stderr)) };
    Some([games, odd])
}

/// Files of `../shared/data/games` with the number of their games, of those that cannot be read whole (moves that are not
/// legal), and of those that python-chess finds fault with. `ENGRAM_FULL=1` takes the large ones as well.
#[test]
fn public_games_come_back_whole() {
    let Some(folder) = shared("games") else { return };
    let temp = home();
    let (input, output) = (temp.path().join("in.pgn"), temp.path().join("out.pgn"));
    for (name, games, broken, odd, is_large) in [
        // A null move.
        ("pgn-quirks/anastasian-lewis.pgn", 0, 1, 1, false),
        ("pgn-quirks/chessbase-empty-line.pgn", 1, 0, 0, false),
        ("pgn-quirks/cutechess-fischerrandom.pgn", 4, 0, 0, false),
        ("pgn-quirks/kasparov-deep-blue-1997.pgn", 6, 0, 0, false),
        ("pgn-quirks/molinari-bordais-1979.pgn", 1, 0, 0, false),
        ("pgn-quirks/nepomniachtchi-liren-game1.pgn", 1, 0, 0, false),
        ("pgn-quirks/stockfish-learning.pgn", 1, 0, 0, false),
        ("pgn-quirks/uci-moves.pgn", 1, 0, 0, false),
        ("pgn-quirks/utf8-bom.pgn", 2, 0, 0, false),
        ("mate-positions.pgn", 67, 0, 0, false),
        // Variations with moves that are not legal; a game with its tags in one line, which python-chess passes over.
        ("pgn-parser-test.pgn", 17, 1, 3, false),
        ("tata-steel-2022.pgn", 91, 0, 0, false),
        ("tcec-frc-with-evals.pgn", 4, 0, 0, false),
        ("tcec-dfrc-with-evals.pgn", 10, 0, 0, false),
        ("tcec-cup16-final-with-evals.pgn.zst", 22, 0, 0, false),
        ("london1851.pgn", 251, 0, 0, true),
        ("capablanca.pgn", 597, 0, 0, true),
        ("world-championships.pgn", 984, 0, 0, true),
        ("master-games-superbook2.pgn.zst", 6487, 0, 0, true),
        ("tcec-compact.pgn.zst", 20_614, 0, 0, true),
    ] {
        if is_large && !is_full() {
            continue;
        }
        let path = folder.join(name);
        let mut text = fs::read(&path).unwrap();
        if name.ends_with(".zst") {
            let mut plain = Vec::new();
            StreamingDecoder::new(&text[..]).unwrap().read_to_end(&mut plain).unwrap();
            text = plain;
        }
        fs::write(&input, text).unwrap();
        let pgn = ["--pgn", output.to_str().unwrap(), "--force"];
        let budget = ["--nodes", "50", "--hash", "4"];
        let (_, err, code) = run(&[&["analyse", path.to_str().unwrap()], &budget[..], &pgn[..]].concat());
        assert_eq!(err.matches(" is skipped: ").count(), broken, "{name}: {err}");
        assert_eq!(code, if broken > 0 { 3 } else { 0 }, "{name}: {err}");
        if let Some(compared) = python_agrees(&input, &output) {
            assert_eq!(compared, [games, odd], "{name}");
        }
    }
}

#[test]
fn the_result_is_the_same_in_the_tag_and_behind_the_moves() {
    for (tagged, moves, result) in [
        ("1-0", "1. f3 e5 2. g4 Qh4# 1-0", "0-1"),
        ("*", "1. e4 e5 1-0", "1-0"),
        ("1/2-1/2", "1. e4 e5 *", "1/2-1/2"),
        ("1-O", "1. e4 e5 *", "1-0"),
        ("*", "1. e4 e5 *", "*"),
    ] {
        let text = analysed(&format!("[Result \"{tagged}\"]\n\n{moves}\n"), "1");
        assert!(text.contains(&format!("[Result \"{result}\"]")), "{text}");
        assert!(text.trim_end().ends_with(&format!(" {result}")), "{text}");
    }
}
