//! The network, seen from outside: what is kept from position to position changes no value, the fast arithmetic
//! is the plain one, and a file that is not a network is refused with a reason.

use std::{fs, sync::Arc};

use engram::{
    eval::{
        Evaluation, Evaluator,
        net::{EMBEDDED, HEADS, INPUTS, Layout, Network, NetworkError, ONE_HEAD, ONE_INPUT, SCALE, head},
    },
    position::Position,
    processor::Instructions,
    types::{Ply, Score},
};
use proptest::prelude::*;
use shakmaty::{Color, Role, Square};

use crate::common::{Engine, cases, chess960, last_score};

/// The network by its definition: every input anew, plain loops, 64 bits.
fn by_definition(layout: &Layout, position: &Position) -> i64 {
    let (board, turn, units) = (position.board(), position.turn(), layout.units);
    let mut output = 0;
    let head = head(board.occupied().count() as u32);
    for (half, side) in [turn, !turn].into_iter().enumerate() {
        let king = board.king_of(side).expect("a king");
        let mirror = if king.file() as u32 >= 4 { 7 } else { 0 };
        let flip = if side == Color::Black { 56 } else { 0 };
        let turned = u32::from(king) ^ mirror ^ flip;
        let bucket = match (turned / 8, turned % 8) {
            (0, 0 | 1) => 0,
            (0, _) => 1,
            (1, _) => 2,
            _ => 3,
        };
        let mut sums: Vec<i64> = layout.input_biases.iter().map(|&bias| i64::from(bias)).collect();
        for (square, piece) in board {
            let kind = Role::ALL.iter().position(|&role| role == piece.role).expect("a role")
                + if piece.color == side { 0 } else { 6 };
            let input = bucket * 768 + kind * 64 + (u32::from(square) ^ mirror ^ flip) as usize;
            assert!(input < INPUTS);
            for (sum, &weight) in sums.iter_mut().zip(&layout.input_weights[input * units..]) {
                *sum += i64::from(weight);
            }
        }
        let weights = &layout.heads[(2 * head + half) * units..][..units];
        for (sum, &weight) in sums.iter().zip(weights) {
            let clipped = (*sum).clamp(0, i64::from(ONE_INPUT));
            output += clipped * clipped * i64::from(weight);
        }
    }
    output = output / i64::from(ONE_INPUT) + i64::from(layout.head_biases[head]);
    let [factor, addend] = pawn_part(&layout.pawns, position, head);
    output = output * factor / 64 + addend * i64::from(ONE_INPUT * ONE_HEAD) / 1024;
    output * i64::from(Score::from_centipawns(SCALE as i32).0) / i64::from(ONE_INPUT * ONE_HEAD)
}

fn pawn_part(pawns: &engram::eval::net::PawnLayout, position: &Position, head: usize) -> [i64; 2] {
    let units = pawns.input_biases.len();
    let mut sums: Vec<i64> = pawns.input_biases.iter().map(|&bias| i64::from(bias)).collect();
    for square in position.board().pawns() {
        let own = position.board().color_at(square) == Some(position.turn());
        let flip = if position.turn() == Color::Black { 56 } else { 0 };
        let input = (u32::from(square) ^ flip) as usize - 8 + if own { 0 } else { 48 };
        for (sum, &weight) in sums.iter_mut().zip(&pawns.input_weights[input * units..]) {
            *sum += i64::from(weight);
        }
    }
    let said = [0, 1].map(|kind| {
        let place = 2 * head + kind;
        let weights = &pawns.outputs[place * units..][..units];
        let weighted = sums
            .iter()
            .zip(weights)
            .map(|(sum, &weight)| (*sum).clamp(0, i64::from(ONE_INPUT)) * i64::from(weight));
        weighted.sum::<i64>() + i64::from(pawns.output_biases[place])
    });
    let one = i64::from(ONE_INPUT * ONE_HEAD);
    [(((said[0] + one) * 64 + one / 2) / one).clamp(0, 255), (said[1] * 1024 / one).clamp(-32767, 32767)]
}

/// Does the network decide here, or is it a known endgame?
fn is_for_the_network(position: &Position) -> bool {
    position.board().occupied().count() > 6
}

fn fresh(evaluation: &Evaluation, position: &Position) -> Score {
    Evaluator::new(evaluation, 1).evaluate(position, Ply::ROOT)
}

proptest! {
    #![proptest_config(cases(40))]

    /// A walk up and down a tree, with jumps, asks one evaluator what a new one is asked each time.
    #[test]
    fn what_is_remembered_changes_no_value(choices in prop::collection::vec(any::<(u16, u8)>(), 1..120)) {
        let evaluation = Evaluation::default();
        let layout = Layout::from_bytes(EMBEDDED).expect("a network");
        let mut evaluator = Evaluator::new(&evaluation, 1);
        let mut line = vec![Position::default()];
        for (choice, back) in choices {
            // Mostly a move further, sometimes some plies back.
            if back % 4 == 0 {
                line.truncate(line.len().saturating_sub(usize::from(back / 4 % 8)).max(1));
            }
            let present = line.last().expect("the root stays").clone();
            let moves = present.legal_moves();
            if moves.is_empty() || line.len() > 200 {
                line.truncate(1);
                continue;
            }
            let child = present.play(moves[usize::from(choice) % moves.len()]);
            line.push(child.clone());
            // Not every position is asked: those the table knows are not.
            if back % 3 != 0 {
                let value = evaluator.evaluate(&child, Ply(line.len() as u16 - 1));
                prop_assert_eq!(value, fresh(&evaluation, &child), "{}", child.fen());
                if is_for_the_network(&child) {
                    let plain = Score(by_definition(&layout, &child) as i32).clamp_evaluation();
                    prop_assert_eq!(value, plain, "{}", child.fen());
                }
            }
        }
    }
}

#[test]
fn every_generation_of_instructions_gives_the_same_values() {
    let layout = Layout::from_bytes(EMBEDDED).expect("a network");
    let mut evaluators: Vec<(Instructions, Evaluator)> = Vec::new();
    for instructions in Instructions::available() {
        let network = Network::from_bytes(EMBEDDED).expect("a network").with_instructions(instructions);
        assert_eq!(network.instructions(), instructions);
        evaluators.push((instructions, Evaluator::new(&Evaluation::Network(Arc::new(network)), 1)));
    }
    assert_eq!(evaluators.last().map(|(last, _)| *last), Some(Instructions::best()));
    let mut compared = 0;
    for parent in engram::cli::bench::POSITIONS.map(chess960) {
        // Captures, king moves and promotions among them.
        let children = parent.legal_moves().into_iter().map(|m| parent.play(m));
        for (ply, child) in [parent.clone()].into_iter().chain(children).enumerate() {
            let values = evaluators.iter_mut().map(|(instructions, evaluator)| {
                (*instructions, evaluator.evaluate(&child, Ply(u16::from(ply > 0))))
            });
            for (instructions, value) in values.filter(|_| is_for_the_network(&child)) {
                let plain = Score(by_definition(&layout, &child) as i32).clamp_evaluation();
                assert_eq!(value, plain, "{instructions}: {}", child.fen());
                compared += 1;
            }
        }
    }
    assert!(compared > 500);
}

#[test]
fn a_board_full_of_pieces_and_one_of_kings_alone_are_evaluated() {
    let evaluation = Evaluation::default();
    let layout = Layout::from_bytes(EMBEDDED).expect("a network");
    for full in [
        "kqQQQQQQ/qqQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQK w - - 0 1",
        "krnnnnnn/rrrrrrrr/bbbbbbbb/bbbbbbbb/RRRRRRRR/RRRRRRRR/BBBBBBBB/NNNNNNNK w - - 0 1",
        "krbnqbnr/pppppppp/pppppppp/pppppppp/PPPPPPPP/PPPPPPPP/PPPPPPPP/RNBQNBRK b - - 0 1",
    ] {
        let full = chess960(full);
        let plain = Score(by_definition(&layout, &full) as i32).clamp_evaluation();
        assert_eq!(fresh(&evaluation, &full), plain, "{}", full.fen());
    }
    assert_eq!(fresh(&evaluation, &chess960("8/8/4k3/8/8/3K4/8/8 w - - 0 1")), Score::ZERO);
}

#[test]
fn the_network_knows_what_a_queen_is_worth() {
    let evaluation = Evaluation::default();
    let start = chess960("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    let without = chess960("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert!(fresh(&evaluation, &start).0.abs() < 100, "{:?}", fresh(&evaluation, &start));
    assert!(fresh(&evaluation, &without).0 > 500, "{:?}", fresh(&evaluation, &without));
    assert_ne!(Evaluation::default().fingerprint(), Evaluation::Classical.fingerprint());
}

#[test]
fn a_file_is_written_and_read_back() {
    let layout = Layout::from_bytes(EMBEDDED).expect("a network");
    assert_eq!(layout.to_bytes(), EMBEDDED);
    assert_eq!(layout.heads.len(), HEADS * 2 * layout.units);
}

#[test]
fn a_file_that_is_no_network_is_refused_with_a_reason() {
    let refused = |bytes: &[u8]| Network::from_bytes(bytes).map(Arc::new).expect_err("no network");
    assert_eq!(refused(b""), NetworkError::Foreign);
    assert_eq!(refused(&[0; 4096]), NetworkError::Foreign);
    assert!(matches!(refused(&EMBEDDED[..EMBEDDED.len() - 1]), NetworkError::Length { .. }));
    assert!(matches!(refused(&[EMBEDDED, b"x"].concat()), NetworkError::Length { .. }));
    let changed = |place: usize| {
        let mut bytes = EMBEDDED.to_vec();
        bytes[place] ^= 1;
        refused(&bytes)
    };
    assert!(matches!(changed(8), NetworkError::Version(_)));
    assert_eq!(changed(12), NetworkError::Inputs(INPUTS as u32 ^ 1));
    assert_eq!(changed(EMBEDDED.len() / 2), NetworkError::Checksum);
    assert_eq!(changed(EMBEDDED.len() - 1), NetworkError::Checksum);
    assert_eq!(changed(24), NetworkError::Scale(SCALE ^ 1));
    let mut without_pawns = EMBEDDED.to_vec();
    without_pawns[32] = 0;
    assert_eq!(refused(&without_pawns), NetworkError::PawnUnits(0));
    for place in 0..64 {
        let mut bytes = EMBEDDED.to_vec();
        bytes[place] ^= 0x80;
        // The bytes after the eight numbers are not read.
        assert_eq!(Layout::from_bytes(&bytes).is_ok(), place >= 36, "{place}");
    }
    let mut small = Layout::from_bytes(EMBEDDED).expect("a network");
    small.units = 8;
    small.input_weights.truncate(INPUTS * 8);
    small.input_biases.truncate(8);
    small.heads.truncate(HEADS * 2 * 8);
    assert!(matches!(refused(&small.to_bytes()), NetworkError::Units { found: 8, .. }));
}

/// What `eval` says of the network's value.
fn value(engine: &mut Engine) -> String {
    engine.send("eval");
    let lines = engine.expect("Final evaluation");
    lines.into_iter().find(|line| line.starts_with("Network ")).expect("the network's value")
}

#[test]
fn another_file_replaces_the_network_and_a_damaged_one_does_not() {
    let mut engine = Engine::ready();
    let folder = engine.home().to_owned();
    let said = |engine: &mut Engine, name: &str| {
        engine.send(&format!("setoption name EvalFile value {}", folder.join(name).display()));
        let infos = engine.sync();
        (value(engine), infos)
    };
    let (own, infos) = said(&mut engine, "none");
    assert!(infos.iter().any(|line| line.contains("cannot be read")), "{infos:?}");
    let mut other = Layout::from_bytes(EMBEDDED).expect("a network");
    other.head_biases.iter_mut().for_each(|bias| *bias += ONE_INPUT * ONE_HEAD);
    fs::write(folder.join("other"), other.to_bytes()).expect("a file");
    let (higher, infos) = said(&mut engine, "other");
    assert!(higher != own && infos.is_empty(), "{own} {higher} {infos:?}");
    let (stays, infos) = said(&mut engine, "none");
    assert_eq!(stays, higher);
    assert!(infos.iter().any(|line| line.contains("cannot be read")), "{infos:?}");
    let mut damaged = other.to_bytes();
    damaged[1000] ^= 1;
    fs::write(folder.join("damaged"), damaged).expect("a file");
    let (stays, infos) = said(&mut engine, "damaged");
    assert_eq!(stays, higher);
    let is_told = |line: &String| line.contains("checksum") && line.ends_with("; EvalFile stays as it was");
    assert!(infos.iter().any(is_told), "{infos:?}");
    engine.send("setoption name EvalFile value <empty>");
    assert_eq!(value(&mut engine), own);
    engine.quit();
}

#[test]
fn a_network_that_differs_in_few_positions_is_another_one_and_is_used() {
    let mut other = Layout::from_bytes(EMBEDDED).expect("a network");
    // It decides with five to eight pieces.
    other.head_biases[1] += ONE_INPUT * ONE_HEAD;
    let bytes = other.to_bytes();
    let network = Evaluation::Network(Arc::new(Network::from_bytes(&bytes).expect("a network")));
    assert_ne!(network.fingerprint(), Evaluation::default().fingerprint());
    let mut engine = Engine::ready();
    let file = engine.home().join("other");
    fs::write(&file, bytes).expect("a file");
    let score = |engine: &mut Engine| {
        last_score(&engine.search("fen 8/5k2/3r4/8/8/2R5/1P3K2/8 w - - 0 1", "go depth 1").1)
    };
    let own = score(&mut engine);
    engine.send(&format!("setoption name EvalFile value {}", file.display()));
    assert_ne!(score(&mut engine), own);
    engine.quit();
}

#[test]
fn squares_of_a_view_are_those_of_the_board_turned_and_mirrored() {
    use engram::eval::net::View;
    let white = View::new(Color::White, Square::E1);
    let black = View::new(Color::Black, Square::E8);
    assert_eq!(
        white.input(Color::White, Role::Pawn, Square::A2),
        black.input(Color::Black, Role::Pawn, Square::A7)
    );
    assert_eq!(
        View::new(Color::White, Square::D1).input(Color::White, Role::Knight, Square::B1),
        white.input(Color::White, Role::Knight, Square::G1)
    );
}
