//! The incremental keys never drift, and the two portions of the moves are the legal moves.
//!
//! Random games of 100,000 plies in total, from the start position, Chess960 starts and tactical positions,
//! compare every key with a recomputation after each ply, and with what shakmaty and the Polyglot format say.

use std::collections::{HashMap, HashSet};

use engram::{
    position::{CheckSquares, Keys, Position, is_noisy},
    types::{MaterialKey, PackedMove},
};
use shakmaty::{
    Chess, Color, EnPassantMode, Move, MoveList, Position as _, Rank, Role, Square, attacks,
    zobrist::Zobrist64,
};

use crate::common::{chess960, random::Random};

const PLIES: usize = 100_000;

/// Starts of the walks: the usual one, Chess960 and double Chess960, and positions rich in castling,
/// promotions and en passant.
const STARTS: [&str; 15] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1",
    "rknqbbrn/pppppppp/8/8/8/8/PPPPPPPP/RKNQBBRN w GAga - 0 1",
    "nqrkbrnb/pppppppp/8/8/8/8/PPPPPPPP/RNBKNBQR w HAfc - 0 1",
    "1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/pb1nqpb1/1pn1p1p1/2pPP3/1p2N3/P2B1N1p/1PPBQPPP/R3K2R w KQkq - 0 1",
    "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1",
    "1r2k1r1/P1P3P1/8/8/8/8/p1p3p1/1R2K1R1 w GBgb - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
    "8/3p1p2/8/k1P1P2r/8/8/8/4K3 b - - 0 1",
    "k3r3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1",
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "8/8/8/2k5/3n4/4B3/2K5/8 w - - 0 1",
    "rr2k1rr/8/8/8/8/8/8/RR2K1RR w GBgb - 0 1",
];

/// Calls `visit` with each position of random games and the move that led there, `plies` in total. Games
/// end with the last legal move, or by chance, so that openings and endings are both met; castling, en
/// passant and promotion are preferred where they are possible.
pub fn walk(seed: u64, plies: usize, mut visit: impl FnMut(&Position, Option<Move>)) {
    let mut random = Random(seed);
    let mut made = 0;
    for start in STARTS.iter().cycle() {
        let mut here = chess960(start);
        visit(&here, None);
        loop {
            let moves = here.legal_moves();
            if made == plies {
                return;
            }
            if moves.is_empty() || random.below(200) == 0 {
                break;
            }
            let rare = |m: &&Move| m.is_castle() || m.is_en_passant() || m.is_promotion();
            let rare: Vec<Move> = moves.iter().filter(rare).copied().collect();
            let choice = if !rare.is_empty() && random.below(2) == 0 { &rare } else { &*moves };
            let m = choice[random.below(choice.len())];
            here = here.play(m);
            made += 1;
            visit(&here, Some(m));
        }
    }
}

/// May a player castle with a rook beyond which another one stands? Polyglot's key does not know which of the two it is.
fn has_inner_castling_rook(chess: &Chess) -> bool {
    chess.castles().castling_rights().into_iter().any(|castling| {
        let color = if castling.rank() == Rank::First { Color::White } else { Color::Black };
        let king = chess.board().king_of(color).expect("a king");
        let rooks = chess.board().by_piece(Role::Rook.of(color));
        rooks.into_iter().any(|rook| {
            rook.rank() == castling.rank()
                && (king < castling && castling < rook || rook < castling && castling < king)
        })
    })
}

#[test]
fn positions_that_differ_in_a_castling_rook_have_different_keys() {
    let boards = ["4k3/8/8/8/8/8/8/RR2K1RR w", "rr2k1rr/8/8/8/8/8/8/4K3 b"];
    for (board, rights) in boards.into_iter().zip([["A", "B", "H", "G", "-"], ["a", "b", "h", "g", "-"]]) {
        let keys: HashSet<u64> =
            rights.iter().map(|right| chess960(&format!("{board} {right} - 0 1")).key().0).collect();
        assert_eq!(keys.len(), rights.len(), "{board}");
    }
    // The rook that stood beyond leaves, and the right is that of the only rook.
    let (two, one) =
        (chess960("4k3/8/8/8/8/8/8/4K1RR w G - 0 1"), chess960("4k3/8/8/7R/8/8/8/4K1R1 b G - 1 1"));
    let m = two
        .legal_moves()
        .into_iter()
        .find(|m| m.from() == Some(Square::H1) && m.to() == Square::H5)
        .expect("a move");
    assert_eq!(two.play(m).key(), one.key());
}

#[test]
fn every_key_equals_its_recomputation() {
    let mut inner = 0;
    let (mut castled, mut promoted, mut passed, mut captured) = (0, 0, 0, 0);
    walk(1, PLIES, |here, m| {
        assert_eq!(*here.keys(), Keys::from_scratch(here.chess()), "after {m:?} in {}", here.fen());
        let is_inner = has_inner_castling_rook(here.chess());
        inner += usize::from(is_inner);
        let Zobrist64(theirs) = here.chess().zobrist_hash(EnPassantMode::PseudoLegal);
        assert_eq!(here.key().0 != theirs, is_inner, "after {m:?} in {}", here.fen());
        let Zobrist64(theirs) = here.chess().zobrist_hash(EnPassantMode::Legal);
        assert_eq!(here.repetition_key().0 != theirs, is_inner, "after {m:?} in {}", here.fen());
        match m {
            Some(Move::Castle { .. }) => castled += 1,
            Some(Move::EnPassant { .. }) => passed += 1,
            Some(m) if m.is_promotion() => promoted += 1,
            Some(m) if m.is_capture() => captured += 1,
            _ => {}
        }
    });
    println!("{castled} castlings, {passed} en passant, {promoted} promotions, {captured} other captures");
    assert!(
        castled > 100 && passed > 50 && promoted > 100 && captured > 1000 && inner > 100,
        "the walks are too tame"
    );
}

#[test]
fn a_guessed_key_is_the_key_after_a_plain_move() {
    let (mut plain, mut all) = (0, 0);
    let rights = |position: &Position| {
        let chess = position.chess();
        (chess.castles().castling_rights(), chess.pseudo_legal_ep_square())
    };
    walk(6, PLIES / 10, |here, _| {
        for &m in &here.legal_moves() {
            let child = here.play(m);
            all += 1;
            let is_inner = has_inner_castling_rook(here.chess()) || has_inner_castling_rook(child.chess());
            if matches!(m, Move::Normal { promotion: None, .. })
                && rights(here) == rights(&child)
                && !is_inner
            {
                plain += 1;
                assert_eq!(
                    here.keys().after_plain_move(m, here.turn()),
                    child.key(),
                    "{m:?} in {}",
                    here.fen()
                );
            }
        }
    });
    println!("{plain} plain moves of {all}");
    assert!(plain > all * 3 / 4, "a guess that rarely fits brings the wrong line near: {plain} of {all}");
}

#[test]
fn noisy_and_quiet_moves_are_the_legal_moves() {
    let (mut noisy, mut quiet, mut pinned, mut checks) = (MoveList::new(), MoveList::new(), 0, 0);
    walk(4, PLIES, |here, _| {
        if here.in_check() {
            return;
        }
        noisy.clear();
        quiet.clear();
        here.noisy_moves(|m| noisy.push(m));
        here.quiet_moves(|m| quiet.push(m));
        assert!(noisy.iter().all(|&m| is_noisy(m)) && !quiet.iter().any(|&m| is_noisy(m)), "{}", here.fen());
        let all: HashSet<Move> = noisy.iter().chain(&quiet).copied().collect();
        assert_eq!(all.len(), noisy.len() + quiet.len(), "a move comes twice in {}", here.fen());
        assert_eq!(all, here.legal_moves().into_iter().collect(), "{}", here.fen());
        let squares = CheckSquares::new(here);
        for &m in quiet.iter().filter(|m| matches!(m, Move::Normal { .. })) {
            let is_check = here.play(m).in_check();
            let said = squares.gives_check(m);
            // A promoted piece may give check through the square that the pawn left, which is missed.
            let missed = m.promotion().is_some() && is_check && !said;
            assert!(said == is_check || missed, "{m:?} in {}", here.fen());
            checks += usize::from(is_check);
        }
        let king = here.board().king_of(here.turn()).expect("a king");
        let exposed =
            attacks::queen_attacks(king, here.board().occupied()) & here.board().by_color(here.turn());
        pinned += usize::from(exposed.into_iter().any(|square| {
            let without = here.board().occupied().without(square);
            (here.board().attacks_to(king, !here.turn(), without)).any()
        }));
    });
    assert!(pinned > 1000, "only {pinned} positions have a pin");
    assert!(checks > 1000, "only {checks} quiet checks");
}

#[test]
fn a_null_move_keeps_the_keys_right() {
    let (mut passed, mut refused) = (0, 0);
    walk(2, PLIES / 4, |here, _| {
        let Some(null) = here.null_move() else {
            assert!(here.in_check(), "passing refused in {}", here.fen());
            refused += 1;
            return;
        };
        assert!(!here.in_check());
        assert_eq!(null.turn(), !here.turn());
        assert_eq!(null.board(), here.board());
        assert_eq!(*null.keys(), Keys::from_scratch(null.chess()), "null move in {}", here.fen());
        assert_ne!(null.key(), here.key());
        passed += 1;
    });
    assert!(passed > 1000 && refused > 100);
}

#[test]
fn positions_have_the_same_repetition_key_exactly_if_fide_calls_them_the_same() {
    // shakmaty's `==` compares pieces, side to move, castling rights and the legal en-passant square.
    let mut seen: HashMap<u64, Chess> = HashMap::new();
    let mut positions: HashSet<Chess> = HashSet::new();
    let mut again = 0;
    walk(3, PLIES, |here, _| {
        let known = seen.entry(here.repetition_key().0).or_insert_with(|| here.chess().clone());
        assert_eq!(known, here.chess(), "two positions share the repetition key of {}", here.fen());
        if !positions.insert(here.chess().clone()) {
            again += 1;
        }
    });
    assert_eq!(seen.len(), positions.len(), "one position has two repetition keys");
    assert!(again > 1000, "too few positions were met twice: {again}");
}

#[test]
fn a_pinned_capturer_changes_the_position_key_but_not_the_repetition_key() {
    // After d7-d5 the pawn e5 stands beside, but is pinned by the rook on e8.
    let before = chess960("k3r3/3p4/8/4P3/8/8/8/4K3 b - - 0 1");
    let after = before.play(before.legal_move("d7d5").unwrap());
    let without = chess960("k3r3/8/8/3pP3/8/8/8/4K3 w - - 0 2");
    assert_eq!(after.chess(), without.chess());
    assert_ne!(after.key(), without.key());
    assert_eq!(after.repetition_key(), without.repetition_key());
    for position in [after, without] {
        let read = Position::from_fen(&position.fen()).unwrap();
        assert_eq!((read.key(), read.fen()), (position.key(), position.fen()), "a FEN names its position");
    }
}

#[test]
fn a_clock_beyond_all_rules_stays_small() {
    let late = Position::from_fen("7k/5Q2/6K1/8/8/8/8/8 w - - 2147483647 1").unwrap();
    assert_eq!(late.halfmoves(), 255);
    assert_eq!(late.play(late.legal_move("f7a7").unwrap()).halfmoves(), 255);
}

#[test]
fn position_keys_are_polyglots() {
    // The examples of the format's description (M. Van den Bergh).
    for (fen, key) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b_9618_1691_fc9c),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0x823c_9b50_fd11_4196),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2", 0x0756_b944_61c5_0fb0),
        ("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2", 0x662f_afb9_65db_29d4),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", 0x22a4_8b5a_8e47_ff78),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3", 0x652a_607c_a3f2_42c1),
        ("rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4", 0x00fd_d303_c946_bdd9),
        ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", 0x3c81_23ea_7b06_7637),
        ("rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4", 0x5c3f_9b82_9b27_9560_u64),
    ] {
        assert_eq!(chess960(fen).key().0, key, "{fen}");
    }
}

#[test]
fn the_material_key_counts_men_and_nothing_else() {
    let mut known: HashMap<MaterialKey, Vec<usize>> = HashMap::new();
    let mut keys: HashMap<Vec<usize>, MaterialKey> = HashMap::new();
    walk(4, PLIES / 2, |here, _| {
        let board = here.board();
        let of = |color: Color| Role::ALL.map(|role| (board.by_color(color) & board.by_role(role)).count());
        let counts: Vec<usize> = Color::ALL.into_iter().flat_map(of).collect();
        let key = here.keys().material;
        assert_eq!(known.entry(key).or_insert_with(|| counts.clone()), &counts, "{}", here.fen());
        assert_eq!(*keys.entry(counts).or_insert(key), key, "{}", here.fen());
    });
    assert!(known.len() > 500);
}

#[test]
fn every_legal_move_survives_packing() {
    walk(5, PLIES / 10, |here, _| {
        for m in here.legal_moves() {
            let packed = PackedMove::pack(m);
            assert!(!packed.is_none());
            assert_eq!(PackedMove::from_bits(packed.bits()), packed);
            assert_eq!(here.unpack(packed), Some(m), "{m:?} in {}", here.fen());
        }
        assert_eq!(here.unpack(PackedMove::NONE), None);
    });
}

#[test]
fn any_bits_unpack_to_a_legal_move_or_to_nothing() {
    let mut random = Random(6);
    let mut positions = STARTS.map(chess960).to_vec();
    walk(6, PLIES / 10, |here, _| {
        if random.below(150) == 0 {
            positions.push(here.clone());
        }
    });
    for here in &positions {
        let legal: HashSet<Move> = here.legal_moves().into_iter().collect();
        let mut found = HashSet::new();
        for bits in 0..=u16::MAX {
            if let Some(m) = here.unpack(PackedMove::from_bits(bits)) {
                assert!(legal.contains(&m), "{bits:#06x} became {m:?} in {}", here.fen());
                found.insert(m);
            }
        }
        assert_eq!(found.len(), legal.len(), "{}", here.fen());
    }
}
