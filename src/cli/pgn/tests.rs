use std::io::Read as _;

use shakmaty::Color;

use super::*;

fn read(text: &str) -> Vec<Result<Game, Broken>> {
    Games::new(text.as_bytes()).map(|game| game.expect("memory can be read")).collect()
}

fn plies(text: &str) -> Vec<Option<usize>> {
    read(text).into_iter().map(|game| game.ok().map(|game| game.moves.len())).collect()
}

#[test]
fn games_are_told_apart_with_and_without_tags() {
    let tagged = "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 *\n\n[Event \"b\"]\n\n1. d4 1-0\n";
    assert_eq!(plies(tagged), [Some(2), Some(1)]);
    assert_eq!(plies("1. e4 e5 2. Nf3 *\n\n1. d4 d5 1/2-1/2\n"), [Some(3), Some(2)]);
    assert_eq!(plies("[Event \"no end\"]\n\n1. e4 e5\n\n[Event \"b\"]\n\n1. d4\n"), [Some(2), Some(1)]);
    assert_eq!(plies("[Event \"forfeit\"]\n[Result \"1-0\"]\n\n1-0\n"), [Some(0)]);
    assert_eq!(plies("\u{feff}[Event \"bom\"]\r\n\r\n1. e4\r\n\r\n1... e5 *\r\n"), [Some(2)]);
    assert_eq!(plies(""), []);
    assert_eq!(plies("\n\n  \n"), []);
}

#[test]
fn comments_may_hold_anything() {
    let text = "[Event \"a\"]\n\n1. e4 {one\n[Event \"not a tag\" but text]\n\n* } e5 ; 1. d4 *\n2. Nf3 *\n";
    assert_eq!(plies(text), [Some(3)]);
    let text = "% an escaped line\n[Event \"a\"]\n\n1. e4 (1. d4 d5 (1... Nf6)) e5 $1 2. Nf3! *";
    assert_eq!(plies(text), [Some(3)]);
}

#[test]
fn a_broken_game_names_itself_and_the_next_is_read() {
    let text = "[Event \"a\"]\n\n1. e4 e5 2. Ke3 *\n\n[Event \"b\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
                [Event \"c\"]\n\n1. e4 {no end\n\n[Event \"d\"]\n\n1. d4 *\n";
    let games = read(text);
    let broken: Vec<&Broken> = games.iter().filter_map(|game| game.as_ref().err()).collect();
    assert_eq!(games.len(), 4, "{games:?}");
    assert_eq!(broken.iter().map(|b| (b.number, b.line)).collect::<Vec<_>>(), [(1, 1), (2, 5), (3, 10)]);
    assert!(broken[0].reason.contains("2. Ke3"), "{}", broken[0].reason);
    assert!(broken[1].reason.contains("nonsense"), "{}", broken[1].reason);
    assert!(broken[2].reason.contains("comment"), "{}", broken[2].reason);
    assert!(games[3].is_ok());
}

#[test]
fn a_file_that_is_cut_within_a_tag_is_said_to_be() {
    let whole = "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n[Opening \"QGD\"]\n";
    assert_eq!(plies(whole), [Some(1), Some(0)]);
    for cut in ["[", "[White", "[White \"A", "[White \"A\""] {
        let games = read(&format!("{whole}{cut}"));
        assert!(games.len() == 2 && games[0].is_ok(), "{cut}: {games:?}");
        assert!(games[1].as_ref().unwrap_err().reason.contains("cut short"), "{cut}: {games:?}");
    }
}

#[test]
fn what_is_no_game_is_said_to_be_none() {
    let games = read("this is not a game\nnor is this\n");
    assert!(games[0].as_ref().unwrap_err().reason.contains("no PGN"), "{games:?}");
}

/// It would take an hour to search the rest of the line for each bracket and quote.
#[test]
fn long_lines_of_brackets_and_quotes_are_read() {
    for part in ["[]", "<>", "[\"\"]", "[\\\"\\\"]", "1. e4 * "] {
        for before in ["", "1. e4 "] {
            let text = before.to_owned() + &part.repeat((2 << 20) / part.len());
            assert_eq!(Games::new(text.as_bytes()).count(), 1, "{before}{part}");
        }
    }
}

/// Found by fuzzing: when written again, such a tag ended the tags and split the game in two.
#[test]
fn a_tag_whose_name_is_none_is_left_out() {
    let games = read(
        " [Event \"a\"] [ 1. Variant \"Chess960\"] [_hite \"c\"] [##Site \"d\"]\n[ Site \"b\"]\n\n1. e4 *\n",
    );
    let game = games[0].as_ref().unwrap();
    assert!(game.tags.iter().all(|(name, _)| ["Event", "Site"].contains(&name.as_str())), "{:?}", game.tags);
    let again = read(&write_game(game, &game.tags, &[]));
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].as_ref().unwrap().moves, game.moves);
}

/// Found by fuzzing: when written again, the second line of the value began the moves.
#[test]
fn a_tag_value_is_one_line() {
    let games = read("[White \"one\\\n\n1. e4 *\n");
    let game = games[0].as_ref().unwrap();
    assert_eq!(game.tags, [("White".to_owned(), "one\\".to_owned())]);
    assert_eq!(written_again(game).moves, game.moves);
    assert!(read("[White \"one\\\n[B](\"]\n\n1. e4 *\n")[0].is_err());
}

#[test]
fn a_tag_value_with_a_line_break_is_reported() {
    for rest in ["middle of a line\"]", "middle of 3 lines\"]", "1. e4 e5 *\n"] {
        let games = read(&format!("[Event \"in the\n{rest}\n[White \"x\"]\n\n1. e4 *\n"));
        assert_eq!(games.len(), 2, "{rest}: {games:?}");
        let broken = games[0].as_ref().unwrap_err();
        assert!(broken.line == 1 && broken.reason.contains("has no end"), "{rest}: {broken}");
        assert!(games[1].is_ok(), "{rest}: {games:?}");
    }
    // Only the bracket is missing.
    assert_eq!(plies("[Event \"a\"\n1. e4 *\n"), [Some(1)]);
}

#[test]
fn names_of_tags_are_read_in_any_case() {
    let text = "[event \"a\"]\n[white \"low\"]\n[VARIANT \"chess960\"]\n[fen \"4k3/8/8/8/8/8/8/4K1R1 w G - 0 1\"]\n[other \"x\"]\n\n1. O-O *\n";
    let game = read(text).remove(0).unwrap();
    assert_eq!((game.player(Color::White), game.moves.len()), ("low", 1));
    let names: Vec<&str> = game.tags.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Event", "White", "Variant", "FEN", "other"], "as other programs read them");
    assert_eq!(plies(&text.repeat(2)), [Some(1), Some(1)]);
}

#[test]
fn a_date_is_that_of_which_something_is_known() {
    let date = |tags: &str| {
        let game = read(&format!("{tags}\n\n1. e4 *\n")).remove(0).unwrap();
        game.date().map(str::to_owned)
    };
    assert_eq!(date("[Date \"2026.??.??\"]\n[UTCDate \"2026.11.03\"]").as_deref(), Some("2026.??.??"));
    assert_eq!(date("[Date \"????.??.??\"]\n[UTCDate \"2026.11.03\"]").as_deref(), Some("2026.11.03"));
    assert_eq!(date("[Date \"????.??.??\"]"), None);
    assert_eq!(date("[White \"x\"]"), None);
}

/// The game after it was written with its annotations and read again.
fn written_again(game: &Game) -> Game {
    let mut games = read(&write_game(game, &game.tags, &game.comments()));
    assert_eq!(games.len(), 1);
    games.remove(0).expect("it was read before")
}

fn reason(text: &str) -> String {
    read(text).remove(0).expect_err(text).reason
}

#[test]
fn a_word_that_is_no_move_is_named() {
    assert_eq!(
        reason("1. Sf3 Sf6 2. c4 c5 3. Sc3 Sc6 1-0\n"),
        "1. `Sf3` is not a move; pieces are written in English (K Q R B N)"
    );
    assert!(reason("[Event \"a\"]\n\n1. e4 e5 2. Lc4 *\n").starts_with("2. `Lc4` is not a move; "));
    assert!(reason("1. e4 e5 2. \u{1b}[Sf3 *\n").starts_with("2. `\\u{1b}[Sf3` is not a move; "));
    assert_eq!(reason("1. e4 e5 2. Z0 Nf6 *\n"), "2. Z0 is a null move, which only variations may have");
    assert_eq!(reason("1. e4 e5 1-0 1. d4 d5 *\n"), "d4 comes after the result");
    assert_eq!(plies("1. Ng1-f3 Ng8-f6 2. e2-e4 Nf6xe4 3. Bf1-e2 g7-g6 4. 0-0 *\n"), [Some(7)]);
}

#[test]
fn what_a_variation_says_is_kept_whatever_it_is() {
    let text = "1. e4 (1. Sf3 Sf6 {a ; b} +- (1... -- 2 e2-e4 1-0)) e5 2. Nf3 *\n";
    let games = read(text);
    let game = games[0].as_ref().unwrap();
    let variation = Annotation::Variation("1. Sf3 Sf6 {a ; b} $18 (1... -- 2. e2-e4 1-0)".to_owned());
    assert_eq!(game.annotations[0], [variation]);
    assert_eq!(written_again(game).annotations, game.annotations);
    assert!(reason("1. e4 (1. d4\n%x [y) *\n").contains("has no end"));
    let text = "1. e4 (1. d4 [y \"z\"] %x <c4 x>) *\n";
    let game = read(text).remove(0).unwrap();
    let variation = Annotation::Variation("1. d4 {[y \"z\"]} {%x} {<c4 x>}".to_owned());
    assert_eq!(game.annotations[0], [variation]);
    assert_eq!(written_again(&game).annotations, game.annotations);
}

#[test]
fn control_characters_are_not_kept() {
    let text =
        "{a\u{1b}[2Jb} 1. e4 \u{1b} {c\u{7}} \u{1b}]0; ;\u{9b}d\n(1. d4 \u{1b}[Event \"x\"] {\u{8}}) *\n";
    let game = read(text).remove(0).unwrap();
    let written = write_game(&game, &game.tags, &game.comments());
    assert!(!written.contains(|c: char| c.is_control() && c != '\n'), "{written:?}");
    assert!(written.contains("{a [2Jb}"), "{written:?}");
    assert_eq!(written_again(&game).annotations, game.annotations, "{written:?}");
}

fn sans(text: &str) -> String {
    let game = read(text).remove(0).unwrap_or_else(|broken| panic!("{broken}"));
    line(&game.start, &game.moves)
}

#[test]
fn captures_are_read_with_and_without_their_sign() {
    assert_eq!(sans("1. e4 d5 2. ed5 Qd5 3. Nxf3 Qe4+ *\n"), "1. e4 d5 2. exd5 Qxd5 3. Nf3 Qe4+");
    assert_eq!(sans("1. e4 Nf6 2. e5 d5 3. ed6 exd6 *\n"), "1. e4 Nf6 2. e5 d5 3. exd6 exd6");
    let promotion = "[FEN \"1n1k4/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. ab8Q+ *\n";
    assert_eq!(sans(promotion), "1. axb8=Q+");
    assert_eq!(sans("1. e4 d5 2. ed c6 3. dxc Nf6 4. cb *\n"), "1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7");
    // No pawn takes without its file, and the move meant must be the only one.
    assert_eq!(reason("1. e4 d5 2. d5 *\n"), "2. d5 is not a legal move");
    assert_eq!(reason("1. Nc3 Nc6 2. e3 e6 3. Nxe2 *\n"), "3. Nxe2 is not a legal move");
}

#[test]
fn castling_is_read_with_every_dash() {
    for castling in ["O‐O", "O‑O", "O‒O", "O–O", "O—O", "O―O", "O−O", "0-0", "0−0", "o-o", "O-0", "0-0!?"]
    {
        let text = format!("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. {castling} Nf6 1-0\n");
        assert!(sans(&text).ends_with("4. O-O Nf6"), "{castling}");
    }
}

#[test]
fn a_sign_that_cannot_be_a_move_costs_no_game() {
    let text = "[White \"x\"]\n\n♦ 1. e4 ~ e5 += =/& 2. Nf3, RR Nc6 ♦ Black resigns [%x 1] <3> $ 0-1 ff\n";
    let game = read(text).remove(0).unwrap();
    assert_eq!(line(&game.start, &game.moves), "1. e4 e5 2. Nf3 Nc6");
    let said = |index: usize| game.annotations[index].iter().map(ToString::to_string).collect::<String>();
    assert_eq!(game.preface, [Annotation::Comment("♦".to_owned())]);
    assert_eq!(said(0), "$13");
    assert_eq!(said(1), "$14$44");
    assert_eq!(said(2), "{,}$145");
    assert_eq!(said(3), "{♦ Black resigns [%x 1] <3> $ ff}", "kept word by word");
    assert_eq!(written_again(&game).annotations, game.annotations);
    // A null move is none, and what may be a move is not skipped.
    for word in ["--", "Sf3", "PxP", "de", "0~0", "Castles"] {
        assert!(read(&format!("1. e4 {word} e5 *\n"))[0].is_err(), "{word}");
    }
}

#[test]
fn every_printed_glyph_is_read_in_the_moves_and_behind_a_move() {
    let signs = (1..=255).filter_map(|nag| Some((nag, glyph::sign(nag)?)));
    // A separate sign of mate has no meaning.
    for (_, sign) in signs.filter(|(_, sign)| *sign != "#") {
        for text in [format!("1. e4 {sign} e5 *\n"), format!("1. e4{sign} e5 *\n")] {
            let game = read(&text).remove(0).unwrap_or_else(|broken| panic!("{text}: {broken}"));
            assert_eq!(game.moves.len(), 2, "{text}");
            let [Annotation::Nag(nag)] = game.annotations[0][..] else { panic!("{text}: {game:?}") };
            assert_eq!(glyph::sign(nag), Some(sign));
        }
    }
    let game = read("1. e4 $256 $4294967295 $4294967296 *\n").remove(0).unwrap();
    let [Annotation::Nag(256), Annotation::Nag(u32::MAX), Annotation::Comment(text)] =
        &game.annotations[0][..]
    else {
        panic!("{game:?}")
    };
    assert_eq!(text, "$4294967296");
}

/// The result of each game.
fn outcomes(text: &str) -> Vec<String> {
    read(text)
        .into_iter()
        .map(|game| game.map_or_else(|broken| broken.reason, |game| game.outcome.to_string()))
        .collect()
}

#[test]
fn a_result_is_that_of_the_moves_or_of_the_tag() {
    let tagged =
        |tag: &str, moves: &str| outcomes(&format!("[Event \"a\"]\n[Result \"{tag}\"]\n\n{moves}\n"));
    assert_eq!(tagged("0-1", "1. e4 e5 *"), ["0-1"], "an unknown result says nothing");
    assert_eq!(tagged("0-1", "1. e4 e5"), ["0-1"]);
    assert_eq!(tagged("0-1", "1. e4 e5 1-0"), ["1-0"]);
    assert_eq!(tagged("1-0", "1. f3 e5 2. g4 Qh4# 1-0"), ["0-1"], "the board knows better");
    assert_eq!(tagged("*", "1. f3 e5 2. g4 Qh4# *"), ["0-1"], "and where nothing is said");
    assert_eq!(outcomes("1. e4 e5 2. Qh5 Ke7 3. Qxe5#"), ["1-0"]);
    for (tag, expected) in [
        ("1/2", "1/2-1/2"),
        ("½-½", "1/2-1/2"),
        ("½", "1/2-1/2"),
        (" 1-0 ", "1-0"),
        ("1 - 0", "1-0"),
        ("0:1", "0-1"),
        ("0–1", "0-1"),
        ("1-O", "1-0"),
        ("+--", "1-0"),
        ("+:-", "1-0"),
        ("+ - -", "1-0"),
        ("-:+", "0-1"),
        ("--+", "0-1"),
        ("0-0", "*"),
        ("-:-", "*"),
        ("White wins", "*"),
    ] {
        assert_eq!(tagged(tag, "1. e4 e5"), [expected], "{tag}");
        if tag != "White wins" {
            assert_eq!(tagged(tag, tag), [expected], "forfeit: {tag}");
        }
    }
    assert_eq!(tagged("0-0", "1. e4 e5 0-0"), ["*"], "both lost");
    assert_eq!(tagged("*", "1. e4 e5 2. 0-0"), ["2. 0-0 is not a legal move"]);
    assert_eq!(outcomes("1. e4 e5 -:+\n1. d4 ½\n1. c4 0:1\n"), ["0-1", "1/2-1/2", "0-1"]);
}

#[test]
fn games_without_tags_and_results_are_divided_by_empty_lines() {
    assert_eq!(plies("1. e4 e5\n\n1. d4 d5\n\n1. c4 c5\n"), [Some(2); 3]);
    assert_eq!(plies("e4 e5\n\nd4 d5\n\n\nc4 c5\n"), [Some(2); 3]);
    assert_eq!(plies("1.e4 e5\n\n{the second} 1.d4 d5\n\n1 c4 c5"), [Some(2); 3]);
    assert_eq!(plies("[Event \"a\"]\n\n1. e4 e5\n\n1. d4 d5\n"), [Some(2), Some(2)]);
    assert_eq!(plies("1. e4 Sf3\n\n1. d4 d5\n"), [None, Some(2)]);
    // The same game.
    for text in [
        "1. e4 e5\n\n2. Nf3\n\nNc6\n\n3. Bb5",
        "1. e4\n\n1... e5 2. Nf3\n\n{so} Nc6 3. Bb5",
        "1. e4\n\n1. ... e5 2. Nf3 Nc6 (2... d6\n\n1. d4) 3. Bb5",
        "[Event \"a\"]\n\n{so}\n\n1. e4 e5\n\nNf3 Nc6\n\nBb5",
    ] {
        assert_eq!(plies(text), [Some(5)], "{text}");
    }
}

#[test]
fn comments_stay_with_their_game_wherever_they_stand() {
    let text = "; first\n{before\nthe tags}\n[Event \"a\"]\n{between} [White \"x\"]\n; more\n\n1. e4 e5 1-0\n\
                {Black lost} ; on time\n{of two\n\nlines}\n♦ [x  y]\n[Event \"b\"]\n\n1. d4 *\n\n{the third} 1. c4 *\n; the end\n";
    let games: Vec<Game> = read(text).into_iter().map(|game| game.unwrap()).collect();
    let said = |annotations: &[Annotation]| annotations.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(said(&games[0].preface), "{first}{before the tags}{between}{more}");
    assert_eq!(said(&games[0].annotations[1]), "{Black lost}{on time}{of two lines}{♦ [x y]}");
    assert_eq!((said(&games[1].preface), said(&games[1].annotations[0])), (String::new(), String::new()));
    assert_eq!(
        (said(&games[2].preface), said(&games[2].annotations[0])),
        ("{the third}".into(), "{the end}".into())
    );
    assert_eq!(games.iter().map(|game| game.line).collect::<Vec<_>>(), [4, 14, 18]);
    assert_eq!(
        plies("1. e4 *\n{second} 1. d4 d5 *\n"),
        [Some(1), Some(2)],
        "the next game begins on its line"
    );
}

#[test]
fn ordinary_chess_has_many_names() {
    for name in [
        "",
        " Standard ",
        "Classical",
        "regular",
        "-",
        "?",
        "normal",
        "From Position",
        "Standard Chess",
        "chess",
    ] {
        assert_eq!(plies(&format!("[Variant \"{name}\"]\n\n1. e4 *\n")), [Some(1)], "{name}");
    }
    let start = "[Variant \"Fischer-Random\"]\n[FEN \" startpos \"]\n\n1. e4 *\n";
    assert_eq!(plies(start), [Some(1)]);
}

#[test]
fn tags_are_counted_in_linear_time_and_each_event_begins_a_game() {
    let games =
        plies(&format!("{}{}\n1. e4 *\n", "[A \"\"]\n".repeat(100_000), "[Event \"\"]\n".repeat(100_000)));
    assert_eq!(games.len(), 100_000);
    let one_line = format!("{}{}\n1. e4 *\n", "[A \"\"]".repeat(100_000), "[Event \"\"]".repeat(100_000));
    assert_eq!(plies(&one_line), [Some(1)]);
}

#[test]
fn a_file_without_line_ends_is_one_broken_game() {
    let text = std::io::repeat(b'x').take(40 << 20);
    let games: Vec<_> = Games::new(std::io::BufReader::new(text)).collect();
    let [Ok(Err(broken))] = games.as_slice() else { panic!("{}", games.len()) };
    assert!(broken.reason.contains("longer than any game"), "{broken}");
}

#[test]
fn a_result_in_a_variation_does_not_end_the_game() {
    let text = "[Event \"a\"]\n\n1. e4 e5 (1... c5 2. Nf3 1-0\n) 2. d4 {(} *\n\n1. d4 *\n";
    assert_eq!(plies(text), [Some(3), Some(1)]);
    assert_eq!(plies("1. e4 1-0 {White\nwon}\n\n1. d4 *\n"), [Some(1), Some(1)]);
}

#[test]
fn comments_to_the_end_of_a_line_are_kept() {
    let games = read("[Event \"a\"]\n; be}fore\n\n1. e4 ; the best\n1... e5 (c5 ; too\n) *\n");
    let game = games[0].as_ref().unwrap();
    let comment = |text: &str| Annotation::Comment(text.to_owned());
    assert_eq!(game.preface, [comment("be)fore")]);
    assert_eq!(game.annotations[0], [comment("the best")]);
    assert_eq!(game.annotations[1], [Annotation::Variation("c5 {too}".to_owned())]);
    let again = written_again(game);
    assert_eq!((&again.preface, &again.annotations), (&game.preface, &game.annotations));
}

#[test]
fn comments_before_the_first_tag_are_no_game() {
    for text in ["; made by\n; hand\n\n", "% escaped\n", "{ made\nby hand }\n"] {
        let games = read(&format!("{text}[Event \"a\"]\n\n1. e4 *\n\n; the end\n"));
        let line = 1 + text.matches('\n').count();
        assert_eq!(games.len(), 1, "{text}");
        assert_eq!(games[0].as_ref().map(|game| (game.number, game.line)), Ok((1, line)), "{text}");
    }
    assert_eq!(plies("; made by hand\n1. e4 *\n"), [Some(1)]);
}

#[test]
fn games_of_tags_alone_are_told_apart() {
    let text =
        "[Event \"a\"]\n[White \"x\"]\n\n[Event \"b\"]\n[White \"y\"]\n\n; no moves\n\n[White \"z\"]\n";
    let games = read(text);
    let named: Vec<_> = games.iter().map(|game| game.as_ref().unwrap().player(Color::White)).collect();
    assert_eq!(named, ["x", "y", "z"]);
    // An empty line within the tags, a tag twice, tags on a line: one game.
    assert_eq!(plies("[Event \"a\"]\n\n[White \"x\"]\n[ECO \"A\"]\n[ECO \"B\"]\n\n1. e4 *\n"), [Some(1)]);
    assert_eq!(
        plies("[Event \"a\"] [White \"x\"] 1. e4 *\n[Event \"b\"][White \"x\"]\n1. e4 e5\n"),
        [Some(1), Some(2)]
    );
}

#[test]
fn old_line_ends_and_letters_are_read() {
    let text = b"[White \"M\xfcller\"]\r\r1. e4 {f\xfcr D\xfcrer} *\r\r[White \"b\"]\r\r1. d4 d5 *\r";
    let games: Vec<_> = Games::new(&text[..]).map(|game| game.unwrap().unwrap()).collect();
    assert_eq!(games.iter().map(|game| (game.line, game.moves.len())).collect::<Vec<_>>(), [(1, 1), (5, 2)]);
    assert_eq!(games[0].player(Color::White), "Müller");
    assert_eq!(games[0].annotations[0], [Annotation::Comment("für Dürer".to_owned())]);
}

#[test]
fn chess960_games_castle_as_their_position_needs() {
    let text = "[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1\"]\n\n1. e4 e5 2. d3 *\n";
    assert_eq!(plies(text), [Some(3)]);
    // The king that castles has the squares of a move by one.
    let castles = |name: &str| {
        let start = "4k3/8/8/8/8/8/4P3/5KR1 w G - 0 1";
        plies(&format!("[Variant \"{name}\"]\n[FEN \"{start}\"]\n\n1. O-O Kd7 *\n"))
    };
    for name in ["chess 960", "Fischerandom", "Fischer-Random Chess", "wild/fr", "DFRC", "Freestyle Chess"] {
        assert_eq!(castles(name), [Some(2)], "{name}");
    }
    for name in ["Atomic", "Atomic960", "Antichess960", "Crazyhouse960", "Capablanca 960", "Freestyle Atomic"]
    {
        let game = read(&format!("[Variant \"{name}\"]\n\n1. e4 *\n")).remove(0);
        assert!(game.is_err_and(|broken| broken.reason.contains(name)), "{name}");
    }
}
