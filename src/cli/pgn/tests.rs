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
fn what_is_no_game_is_said_to_be_none() {
    let games = read("this is not a game\nnor is this\n");
    assert!(games[0].as_ref().unwrap_err().reason.contains("no PGN"), "{games:?}");
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
    let games = read("[White \"one\\\n1. e4 *\n");
    let game = games[0].as_ref().unwrap();
    assert_eq!(game.tags, [("White".to_owned(), "one\\".to_owned())]);
    assert_eq!(written_again(game).moves, game.moves);
    assert!(read("[White \"one\\\n[B](\"]\n\n1. e4 *\n")[0].is_err());
}

/// The game after it was written with its annotations and read again.
fn written_again(game: &Game) -> Game {
    let annotations = std::iter::once(&game.preface).chain(&game.annotations);
    let comments: Vec<Comment> =
        annotations.map(|said| said.iter().map(Annotation::to_string).collect()).collect();
    let mut games = read(&write_game(game, &game.tags, &comments));
    assert_eq!(games.len(), 1);
    games.remove(0).expect("it was read before")
}

fn reason(text: &str) -> String {
    read(text).remove(0).expect_err(text).reason
}

#[test]
fn a_word_that_is_no_move_is_named() {
    assert_eq!(reason("1. Sf3 Sf6 2. c4 c5 3. Sc3 Sc6 1-0\n"), "1. `Sf3` is not a move");
    assert_eq!(reason("[Event \"a\"]\n\n1. e4 e5 2. Lc4 *\n"), "2. `Lc4` is not a move");
    assert_eq!(reason("1. e4 e5 2. \u{1b}[2J *\n"), "2. `\\u{1b}[2J` is not a move");
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
    assert!(reason("1. e4 (1. d4 [y \"z\"]) *\n").contains("`[y`"));
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
    let other = "[Variant \"Atomic\"]\n\n1. e4 *\n";
    assert!(read(other)[0].as_ref().unwrap_err().reason.contains("Atomic"));
}
