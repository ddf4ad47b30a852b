//! Printed values are parsed as the same values; lines of other programs are understood.

use proptest::{collection::vec, option, prelude::*};
use shakmaty::{Role, Square, uci::UciMove};

use super::*;
use crate::types::Bound;

#[path = "../../tests/common/random.rs"]
mod random;

fn command(line: &str) -> Command {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn mistake(line: &str) -> String {
    match line.parse::<Command>() {
        Ok(command) => panic!("{line} is read as {command:?}"),
        Err(error) => error.to_string(),
    }
}

fn go(line: &str) -> Go {
    match command(line) {
        Command::Go(go) => go,
        other => panic!("{line}: {other:?}"),
    }
}

fn info(line: &str) -> Info {
    match line.parse() {
        Ok(Message::Info(info)) => info,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn white_space_and_unknown_leading_words_are_skipped() {
    for line in ["debug on", "   debug     on  ", "\t  debug \t  \t\ton\t  ", "joho debug on"] {
        assert_eq!(command(line), Command::Debug(true), "{line:?}");
    }
    assert_eq!("  \t ".parse::<Command>(), Err(CommandError::Empty));
    assert!(mistake("debug joho on").contains("debug on|off"));
    assert!(mistake("joho").contains("`joho`"));
    // A convenience is not a command of the protocol and is not recognised inside a line.
    assert!(mistake("please d").contains("unknown command"));
}

#[test]
fn options_have_names_and_values_with_spaces() {
    assert_eq!(
        command("setoption name  Clear   Hash "),
        Command::SetOption { name: "Clear Hash".to_owned(), value: None }
    );
    assert_eq!(
        command(r"setoption name NalimovPath value c:\chess\tb\4;c:\my  chess\5 "),
        Command::SetOption {
            name: "NalimovPath".to_owned(),
            value: Some(r"c:\chess\tb\4;c:\my  chess\5".to_owned())
        }
    );
    for line in ["setoption name X value", "setoption name X value <empty>"] {
        assert_eq!(command(line), Command::SetOption { name: "X".to_owned(), value: Some(String::new()) });
    }
    assert!(mistake("setoption").contains("setoption name NAME value VALUE"));
    assert!(mistake("setoption name").contains("not complete"));
    assert!(mistake("setoption Hash 3").contains("`Hash`"));
}

#[test]
fn positions_come_with_and_without_moves() {
    let e2e4 = UciMove::Normal { from: Square::E2, to: Square::E4, promotion: None };
    for line in ["position startpos moves e2e4", "position   startpos  moves  E2E4"] {
        assert_eq!(command(line), Command::Position { start: "startpos".to_owned(), moves: vec![e2e4] });
    }
    assert_eq!(
        command("position fen 4k3/8/8/8/8/8/8/4K2R  w K - moves e1g1 h7h8Q 0000"),
        Command::Position {
            start: "4k3/8/8/8/8/8/8/4K2R w K -".to_owned(),
            moves: vec![
                UciMove::Normal { from: Square::E1, to: Square::G1, promotion: None },
                UciMove::Normal { from: Square::H7, to: Square::H8, promotion: Some(Role::Queen) },
                UciMove::Null,
            ],
        }
    );
    for line in
        ["position", "position fen", "position fen moves e2e4", "position 4k3/8 w", "position startpos e2e4"]
    {
        assert!(mistake(line).contains("position startpos|fen"), "{line}");
    }
    for line in
        ["position startpos moves e2e9", "position startpos moves Q@f7", "position startpos moves e2e4e5"]
    {
        assert!(mistake(line).contains("is not a move"), "{line}");
    }
}

#[test]
fn go_takes_its_parameters_in_any_order() {
    let all = go("go infinite searchmoves e2e4 d2d4 depth 3 wtime -5 btime 7 winc 1 binc 2 movestogo 40 \
                  nodes 9 mate 2 movetime 100 ponder");
    let expected = Go {
        search_moves: vec!["e2e4".parse().unwrap(), "d2d4".parse().unwrap()],
        ponder: true,
        wtime: Some(-5),
        btime: Some(7),
        winc: Some(1),
        binc: Some(2),
        movestogo: Some(40),
        depth: Some(3),
        nodes: Some(9),
        mate: Some(2),
        movetime: Some(100),
        infinite: true,
        unknown: Vec::new(),
    };
    assert_eq!(all, expected);
    assert_eq!(go("go"), Go::default());
    assert_eq!(go("go depth 3 depth 5").depth, Some(5));
    assert_eq!(go("go nodes 99999999999999999999999").nodes, Some(i64::MAX as u64));
    assert_eq!(command("go perft 5"), Command::Perft(5));
}

#[test]
fn go_takes_the_nearest_number_that_makes_sense() {
    let go_with = |set: fn(&mut Go)| {
        let mut go = Go::default();
        set(&mut go);
        go
    };
    for (line, expected) in [
        ("go movetime 0", go_with(|go| go.movetime = Some(1))),
        ("go movetime -1", go_with(|go| go.movetime = Some(1))),
        ("go movetime 0.4", go_with(|go| go.movetime = Some(1))),
        ("go mate 0", go_with(|go| go.mate = Some(1))),
        ("go depth -1", go_with(|go| go.depth = Some(0))),
        ("go movestogo -5", go_with(|go| go.movestogo = Some(0))),
        ("go wtime 300.5", go_with(|go| go.wtime = Some(300))),
        ("go wtime -1e300", go_with(|go| go.wtime = Some(-i64::MAX))),
        ("go nodes 1e6", go_with(|go| go.nodes = Some(1_000_000))),
    ] {
        assert_eq!(go(line), expected, "{line}");
    }
}

#[test]
fn go_passes_over_what_it_does_not_understand() {
    for (line, depth, unknown) in [
        ("go depth 3 joho", Some(3), "joho"),
        ("go joho depth 3", Some(3), "joho"),
        ("go depth 3 dpeth 4", Some(3), "dpeth 4"),
        ("go depth three movetime 7", None, "depth three"),
        ("go depth movetime 7", None, "depth"),
        ("go searchmoves e2e4 king d2d4", None, "king"),
        ("go infinite joho", None, "joho"),
        // Nothing else limits the search, and it has to end.
        ("go depth", Some(1), "depth"),
        ("go depth NaN", Some(1), "depth NaN"),
        ("go ponder wtime soon", Some(1), "wtime soon"),
    ] {
        let go = go(line);
        assert_eq!((go.depth, go.unknown.join(" ").as_str()), (depth, unknown), "{line}");
    }
    assert_eq!(go("go searchmoves e2e4 king d2d4").search_moves.len(), 2);
    for line in ["go deep 3", "go 5"] {
        assert!(mistake(line).contains("is not understood: write `go [searchmoves"), "{line}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(command("\u{feff}uci"), Command::Uci);
    assert_eq!(command("\u{feff} d"), Command::Show);
    assert_eq!("\u{feff}".parse::<Command>(), Err(CommandError::Empty));
}

#[test]
fn long_and_strange_lines_are_quoted_in_short() {
    let text = mistake(&format!("\u{7}{}", "x".repeat(1 << 20)));
    assert!(text.len() < 200 && !text.contains('\u{7}'), "{text}");
}

#[test]
fn what_other_engines_say_is_understood() {
    assert_eq!("id name Shredder X.Y".parse(), Ok(Message::IdName("Shredder X.Y".to_owned())));
    let stockfish = info(
        "info depth 2 seldepth 3 multipv 1 score cp -21 upperbound wdl 8 954 38 nodes 72 nps 36000 \
         hashfull 0 tbhits 0 time 2 pv e2e4 c7c6",
    );
    assert_eq!(stockfish.score, Some(InfoScore { value: ScoreValue::Centipawns(-21), bound: Bound::Upper }));
    assert_eq!((stockfish.wdl, stockfish.pv.len(), stockfish.time), (Some([8, 954, 38]), 2, Some(2)));
    let old =
        info("info score lowerbound mate +3 depth 1 cpuload 500 sbhits x refutation d1h5 g6h5 nodes 13");
    assert_eq!(old.score, Some(InfoScore { value: ScoreValue::Mate(3), bound: Bound::Lower }));
    assert_eq!((old.depth, old.nodes), (Some(1), Some(13)));
    assert_eq!(info("info nodes many depth 4").depth, Some(4));
    assert_eq!(info("info string depth 4").string.as_deref(), Some("depth 4"));
    assert_eq!(Info::text("a folder\nbestmove a1a1\r\n").string.as_deref(), Some("a folder; bestmove a1a1"));
    for line in ["bestmove (none)", "bestmove 0000", "bestmove NULL ponder 0000"] {
        assert_eq!(line.parse(), Ok(Message::BestMove { best: None, ponder: None }));
    }
    let promotion = UciMove::Normal { from: Square::H7, to: Square::H8, promotion: Some(Role::Queen) };
    assert_eq!(
        "bestmove h7h8Q ponder".parse(),
        Ok(Message::BestMove { best: Some(promotion), ponder: None })
    );
    assert!("Stockfish 17 by the Stockfish developers".parse::<Message>().is_err());
    assert!("bestmove".parse::<Message>().is_err());
}

#[test]
fn the_examples_of_the_specification_are_read() {
    let kind = |line: &str| match line.parse() {
        Ok(Message::Option(option)) => option.kind,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(kind("option name Nullmove type check default true"), OptionKind::Check { default: true });
    assert_eq!(
        kind("option name Selectivity type spin default 2 min 0 max 4"),
        OptionKind::Spin { default: 2, min: 0, max: 4 }
    );
    assert_eq!(
        kind("option name Style type combo default Normal var Solid var Normal var Very Risky"),
        OptionKind::Combo {
            default: "Normal".to_owned(),
            values: ["Solid", "Normal", "Very Risky"].map(str::to_owned).to_vec(),
        }
    );
    assert_eq!(
        kind(r"option name NalimovPath type string default c:\"),
        OptionKind::String { default: r"c:\".to_owned() }
    );
    assert_eq!(kind("option name Clear Hash type button"), OptionKind::Button);
    assert_eq!(kind("option name X type string default"), OptionKind::String { default: String::new() });
}

fn a_move() -> impl Strategy<Value = UciMove> {
    let role = prop_oneof![Just(Role::Knight), Just(Role::Bishop), Just(Role::Rook), Just(Role::Queen)];
    (0u32..64, 0u32..64, option::of(role)).prop_map(|(from, to, promotion)| UciMove::Normal {
        from: Square::new(from),
        to: Square::new(to),
        promotion,
    })
}

/// Words that are not keywords: keywords are never capitalised.
fn words() -> impl Strategy<Value = String> {
    vec("[A-Z][A-Za-z0-9_]{0,8}", 1..4).prop_map(|words| words.join(" "))
}

fn text() -> impl Strategy<Value = String> {
    "[!-~]([ -~]{0,30}[!-~])?"
}

fn moves() -> impl Strategy<Value = Vec<UciMove>> {
    vec(a_move(), 0..6)
}

fn a_go() -> impl Strategy<Value = Go> {
    let time = || option::of(-1_000_000i64..100_000_000);
    let count = || option::of(0..=i64::MAX as u64);
    let positive = || option::of(1..=i64::MAX as u64);
    (
        (moves(), any::<bool>(), any::<bool>()),
        (time(), time(), time(), time()),
        (count(), count(), count(), positive(), positive()),
    )
        .prop_map(|(flags, times, counts)| Go {
            search_moves: flags.0,
            ponder: flags.1,
            infinite: flags.2,
            wtime: times.0,
            btime: times.1,
            winc: times.2,
            binc: times.3,
            movetime: counts.4,
            movestogo: counts.0,
            depth: counts.1,
            nodes: counts.2,
            mate: counts.3,
            unknown: Vec::new(),
        })
}

fn a_command() -> impl Strategy<Value = Command> {
    let fen =
        "[1-8pnbrqkPNBRQK]{1,8}/[1-8pnbrqk/]{3,20} [wb] (-|[KQkq]{1,4}) (-|[a-h][36])( [0-9]{1,2} [1-9])?";
    let start = prop_oneof![Just("startpos".to_owned()), fen];
    prop_oneof![
        Just(Command::Uci),
        Just(Command::IsReady),
        (words(), option::of(prop_oneof![Just(String::new()), text()]))
            .prop_map(|(name, value)| Command::SetOption { name, value }),
        Just(Command::UciNewGame),
        (start, moves()).prop_map(|(start, moves)| Command::Position { start, moves }),
        a_go().prop_map(Command::Go),
        Just(Command::Stop),
        Just(Command::PonderHit),
        any::<bool>().prop_map(Command::Debug),
        text().prop_map(Command::Register),
        Just(Command::Quit),
        option::of(0..=i64::MAX as u64).prop_map(Command::Bench),
        Just(Command::Show),
        Just(Command::Eval),
        (0..=i64::MAX as u64).prop_map(Command::Perft),
        Just(Command::Help),
    ]
}

fn an_info() -> impl Strategy<Value = Info> {
    let number = || option::of(0..=i64::MAX as u64);
    let value =
        prop_oneof![any::<i32>().prop_map(ScoreValue::Centipawns), any::<i32>().prop_map(ScoreValue::Mate)];
    let bound = prop_oneof![Just(Bound::Exact), Just(Bound::Lower), Just(Bound::Upper)];
    let score = option::of((value, bound).prop_map(|(value, bound)| InfoScore { value, bound }));
    (
        (number(), number(), number(), number(), number(), number(), number(), number()),
        (number(), score, option::of(any::<[u16; 3]>()), option::of(a_move())),
        (moves(), option::of(prop_oneof![Just(String::new()), text()])),
    )
        .prop_map(|(numbers, (currmovenumber, score, wdl, currmove), (pv, string))| Info {
            depth: numbers.0,
            seldepth: numbers.1,
            multipv: numbers.2,
            nodes: numbers.3,
            nps: numbers.4,
            hashfull: numbers.5,
            tbhits: numbers.6,
            time: numbers.7,
            currmovenumber,
            score,
            wdl,
            currmove,
            pv,
            string,
        })
}

fn a_message() -> impl Strategy<Value = Message> {
    let state = words();
    let kind = prop_oneof![
        any::<bool>().prop_map(|default| OptionKind::Check { default }),
        any::<[i64; 3]>()
            .prop_filter("parsed numbers are saturated symmetrically", |n| !n.contains(&i64::MIN))
            .prop_map(|[default, min, max]| OptionKind::Spin { default, min, max }),
        (words(), vec(words(), 0..4)).prop_map(|(default, values)| OptionKind::Combo { default, values }),
        Just(OptionKind::Button),
        prop_oneof![Just(String::new()), text()].prop_map(|default| OptionKind::String { default }),
    ];
    prop_oneof![
        text().prop_map(Message::IdName),
        text().prop_map(Message::IdAuthor),
        Just(Message::UciOk),
        Just(Message::ReadyOk),
        (words(), kind).prop_map(|(name, kind)| Message::Option(OptionDeclaration { name, kind })),
        an_info().prop_map(Message::Info),
        (option::of(a_move()), option::of(a_move()))
            .prop_map(|(best, ponder)| Message::BestMove { best, ponder }),
        state.prop_map(Message::Registration),
    ]
}

proptest! {
    #![proptest_config(random::cases(256))]

    #[test]
    fn a_printed_command_is_read_as_the_same(command in a_command()) {
        prop_assert_eq!(command.to_string().parse::<Command>(), Ok(command));
    }

    #[test]
    fn a_printed_message_is_read_as_the_same(message in a_message()) {
        prop_assert_eq!(message.to_string().parse::<Message>(), Ok(message));
    }

    #[test]
    fn no_line_makes_the_grammar_panic(line in ".{0,80}") {
        let _ = (line.parse::<Command>(), line.parse::<Message>());
    }

    #[test]
    fn no_order_of_known_words_makes_the_grammar_panic(line in vec(
        prop_oneof![
            Just("go"), Just("position"), Just("fen"), Just("startpos"), Just("moves"), Just("setoption"),
            Just("name"), Just("value"), Just("depth"), Just("wtime"), Just("-5"), Just("searchmoves"),
            Just("e2e4"), Just("0000"), Just("info"), Just("score"), Just("cp"), Just("mate"), Just("pv"),
            Just("string"), Just("option"), Just("type"), Just("spin"), Just("combo"), Just("var"),
            Just("default"), Just("register"), Just("code"), Just("debug"), Just("bestmove"), Just("ponder"),
        ],
        0..12,
    )) {
        let line = line.join(" ");
        if let Ok(mut command) = line.parse::<Command>() {
            if let Command::Go(go) = &mut command {
                go.unknown.clear();
            }
            prop_assert_eq!(command.to_string().parse::<Command>(), Ok(command));
        }
        if let Ok(message) = line.parse::<Message>() {
            prop_assert_eq!(message.to_string().parse::<Message>(), Ok(message));
        }
    }
}

/// Found by fuzzing: the unlimited range was printed with a number that is parsed as another one.
#[test]
fn a_range_without_end_survives_being_written() {
    for line in ["option name Cores type spin", "option name Cores type spin default 3 max 7"] {
        let read: Message = line.parse().unwrap();
        assert_eq!(read.to_string().parse::<Message>().unwrap(), read);
    }
}
