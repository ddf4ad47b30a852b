use super::*;

#[test]
fn a_time_control_is_seconds_and_increment() {
    let milliseconds = |time, increment| Pace::Clock {
        time: Duration::from_millis(time),
        increment: Duration::from_millis(increment),
    };
    assert_eq!(clock("10+0.1"), Ok(milliseconds(10_000, 100)));
    assert_eq!(clock("0.5"), Ok(milliseconds(500, 0)));
    for wrong in ["", "+1", "0+1", "-3+1", "1e99", "ten", "10+-1"] {
        assert!(clock(wrong).is_err(), "{wrong}");
    }
    for wrong in ["-1", "51", "NaN", ""] {
        assert!(percent(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn openings_are_epd_or_fen_and_say_where_they_are_wrong() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("openings.epd");
    let read = |text: &str, take| {
        fs::write(&path, text).expect("written");
        openings(&path, take, 1)
    };
    let good = "# ours\n\
                rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - bm Nf3; id \"open game\";\n\
                rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 3 7\n\n\
                rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -;\n";
    let fens: Vec<String> = read(good, None).expect("three openings").iter().map(Position::fen).collect();
    assert_eq!(fens.len(), 3);
    assert!(fens[0].ends_with("w KQkq - 0 1") && fens[1].ends_with("b KQkq - 3 7"), "{fens:?}");
    assert_eq!(read(good, Some(2)).expect("two openings").len(), 2);
    assert_eq!(read(good, Some(9)).expect("all there are").len(), 3);
    let wrong = read("\n\nrnbqkbnr/pppp w KQkq -\n", None).expect_err("half a board");
    assert!(wrong.to_string().contains("line 3"), "{wrong}");
    let over = read("7k/6Q1/6K1/8/8/8/8/8 b - - 0 70\n", None).expect_err("mate");
    assert!(over.to_string().contains("over"), "{over}");
    let none = read("# nothing\n", None).expect_err("no position");
    assert!(none.to_string().contains("holds no positions"), "{none}");
}
