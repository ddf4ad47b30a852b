//! Records as bytes and as text, and files that take each other in: nothing is lost, no order matters.

use std::{collections::BTreeMap, path::Path, sync::RwLock};

use engram::{
    learn::{
        AppendTime, BEFORE_FIRST, FileError, Flags, LearnFile, LearnedScore, MAX_ADVICE, Merged, Origin,
        Record, RecordError, Ring, Unlearnable, create, exchange, record,
    },
    position::Position,
    types::PackedMove,
};
use proptest::prelude::*;
use shakmaty::{CastlingMode, fen::Fen};

use crate::common::{
    cases,
    learn::{self, positions},
    sim_disk::SimDisk,
};

fn position(fen: &str, mode: CastlingMode) -> Position {
    Position::from_setup(fen.parse::<Fen>().unwrap().into_setup(), mode).unwrap()
}

/// The bounds of a score.
fn bounds() -> impl Strategy<Value = (LearnedScore, LearnedScore)> {
    any::<(i16, i16)>().prop_filter_map("bounds", |(one, other)| {
        let (lower, upper) =
            (LearnedScore::from_bits(one.min(other))?, LearnedScore::from_bits(one.max(other))?);
        let contradict = lower == LearnedScore::NO_UPPER || upper == LearnedScore::NO_LOWER;
        (!contradict && (lower < upper || lower.is_possible())).then_some((lower, upper))
    })
}

prop_compose! {
    /// A record of any position of a random game, with anything in its other fields.
    fn any_record()(
        seed in 0u64..40, pick in any::<prop::sample::Index>(), best in any::<prop::sample::Index>(),
        no_move in any::<bool>(), (lower, upper) in bounds(), depth in any::<u8>(),
        origin in 0..Origin::ALL.len(), confirmed in any::<bool>(),
        numbers in any::<(u16, u8, u8, u16, u32)>(), time in 0u32..8,
    ) -> Record {
        let all = positions(60, seed * 7 + 1);
        let position = &all[pick.index(all.len())];
        let mut record = Record::new(position, Origin::ALL[origin].0).unwrap();
        let moves = position.legal_moves();
        if !no_move && !moves.is_empty() {
            record.best = PackedMove::pack(moves[best.index(moves.len())]);
        }
        let (game_ply, since_root, log2_nodes, evaluation_id, session) = numbers;
        as_origin(record.origin, Record {
            lower, upper, depth, game_ply, since_root, log2_nodes, evaluation_id, session, time,
            flags: Flags { confirmed, ..record.flags }, ..record
        })
    }
}

/// The record as one of this origin: advice has no search, but more moves.
fn as_origin(origin: Origin, record: Record) -> Record {
    match origin {
        Origin::Advice => Record {
            origin,
            also: [record.best; 2],
            since_root: 0,
            log2_nodes: 0,
            evaluation_id: 0,
            ..record
        },
        _ => Record { origin, also: [PackedMove::NONE; 2], ..record },
    }
}

fn file() -> (LearnFile, RwLock<Ring>) {
    let disk = SimDisk::default();
    let path = Path::new("/disk/x");
    create(&disk, path).unwrap();
    learn::open_on(disk, path)
}

/// A file that learned these records, one after the other, and forgot every seventh.
fn learned(records: &[Record]) -> (LearnFile, RwLock<Ring>) {
    let (mut file, ring) = file();
    let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
    for (number, record) in records.iter().enumerate() {
        locked.append(record).unwrap();
        if number % 7 == 6 {
            locked.append(&record.tombstone(5)).unwrap();
        }
    }
    drop(locked);
    (file, ring)
}

fn everything(ring: &RwLock<Ring>) -> Vec<Record> {
    ring.read().unwrap().since(BEFORE_FIRST).map(|(_, record)| record).collect()
}

fn live(ring: &RwLock<Ring>) -> BTreeMap<u64, Record> {
    ring.read().unwrap().iter().map(|(_, record)| (record.key.0, record)).collect()
}

fn text(ring: &RwLock<Ring>) -> String {
    ring.read().unwrap().iter().map(|(_, record)| exchange::line(&record).unwrap() + "\n").collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_record_survives_bytes_and_text(record in any_record(), file_id in any::<u64>(), place in any::<u32>()) {
        let sequence = BEFORE_FIRST + 1 + u64::from(place);
        let slot = (sequence % 65_536) as u32;
        let bytes = record::encode(&record, file_id, sequence);
        prop_assert_eq!(record::sequence(&bytes, file_id, slot), Some(sequence));
        prop_assert_eq!(record::sequence(&bytes, file_id ^ 1, slot), None);
        prop_assert_eq!(record::sequence(&bytes, file_id, slot ^ 1), None);
        prop_assert_eq!(record::decode(&bytes), Some(record.clone()));
        let line = exchange::line(&record).unwrap();
        prop_assert_eq!(exchange::parse_line(&line, 0, 0), Ok(Some(record)));
    }

    #[test]
    fn a_file_merged_with_itself_does_not_change(records in prop::collection::vec(any_record(), 1..40)) {
        let (mut file, ring) = learned(&records);
        let before = (everything(&ring), ring.read().unwrap().sequence());
        let taken = file.merge(&ring, &before.0).unwrap();
        prop_assert_eq!((taken.new, taken.refused), (0, 0));
        prop_assert_eq!((everything(&ring), ring.read().unwrap().sequence()), before);
    }

    #[test]
    fn both_directions_of_a_merge_agree(
        first in prop::collection::vec(any_record(), 0..40),
        second in prop::collection::vec(any_record(), 0..40),
    ) {
        let ((mut a, ring_a), (mut b, ring_b)) = (learned(&first), learned(&second));
        let (all_a, all_b) = (everything(&ring_a), everything(&ring_b));
        a.merge(&ring_a, &all_b).unwrap();
        b.merge(&ring_b, &all_a).unwrap();
        prop_assert_eq!(live(&ring_a), live(&ring_b));
        // And again: nothing more happens.
        prop_assert_eq!(a.merge(&ring_a, &everything(&ring_b)).unwrap().new, 0);
    }

    #[test]
    fn nothing_learned_elsewhere_takes_the_place_of_advice(
        advice in any_record(), learned_there in any_record(), earlier in any::<bool>(),
    ) {
        let advice = Record { time: 1000, ..as_origin(Origin::Advice, advice) };
        let time = if earlier { 500 } else { 2000 };
        let learned_there = Record { time, key: advice.key, ..as_origin(Origin::Drop, learned_there) };
        let ((mut a, ring_a), (mut b, ring_b)) = (learned(std::slice::from_ref(&advice)), learned(&[learned_there]));
        let (all_a, all_b) = (everything(&ring_a), everything(&ring_b));
        a.merge(&ring_a, &all_b).unwrap();
        b.merge(&ring_b, &all_a).unwrap();
        prop_assert_eq!(live(&ring_a), BTreeMap::from([(advice.key.0, advice.clone())]));
        prop_assert_eq!(live(&ring_b), live(&ring_a));
        // But it can be taken back.
        let taken_back = advice.tombstone(3000);
        b.merge(&ring_b, &[taken_back]).unwrap();
        prop_assert!(live(&ring_b).is_empty());
    }

    #[test]
    fn a_tombstone_cancels_its_record_in_every_file(record in any_record(), deepest in any::<bool>()) {
        let record = Record { depth: if deepest { 255 } else { record.depth }, ..record };
        let (mut other, ring) = file();
        other.merge(&ring, std::slice::from_ref(&record)).unwrap();
        prop_assert_eq!(other.merge(&ring, &[record.tombstone(record.time)]).unwrap().new, 1);
        prop_assert!(live(&ring).is_empty());
    }

    #[test]
    fn an_exported_and_imported_file_exports_the_same_bytes(records in prop::collection::vec(any_record(), 0..40)) {
        let (_, ring) = learned(&records);
        let exported = text(&ring);
        let parsed: Vec<Record> =
            exported.lines().map(|line| exchange::parse_line(line, 9, 9).unwrap().unwrap()).collect();
        let (mut other, other_ring) = file();
        other.merge(&other_ring, &parsed).unwrap();
        prop_assert_eq!(text(&other_ring), exported);
        prop_assert_eq!(live(&other_ring), live(&ring));
    }

    #[test]
    fn no_line_of_text_is_too_strange(line in "\\PC{0,120}", cut in any::<prop::sample::Index>(), record in any_record()) {
        let _ = exchange::parse_line(&line, 0, 0);
        let own = exchange::line(&record).unwrap();
        let _ = exchange::parse_line(&own[..cut.index(own.len())], 0, 0);
        let _ = exchange::parse_line(&format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {line}"), 0, 0);
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 64)) {
        let bytes: record::Bytes = bytes.try_into().unwrap();
        prop_assert_eq!(record::sequence(&bytes, 1, 2), None);
        if let Some(record) = record::decode(&bytes) {
            prop_assert_eq!(&record.payload()[..record::PAYLOAD], &bytes[..record::PAYLOAD]);
            let _ = record.position_and_move();
        }
    }
}

/// What the format says, not what the code does: the line and the bytes are those of `learn/FORMAT.md`.
#[test]
fn a_record_is_the_line_and_the_bytes_of_the_format() {
    let format = include_str!("../../learn/FORMAT.md");
    let line = format.lines().find(|line| line.contains("; move ")).unwrap();
    let row = |line: &str| line.split(' ').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    let rows = format.lines().filter_map(row).filter(|row: &Vec<u8>| row.len() == 16);
    let bytes: record::Bytes = rows.flatten().collect::<Vec<u8>>().try_into().unwrap();
    let (file_id, slot, sequence) = (0x1122_3344_5566_7788, 5, 3 * 65_536 + 5);
    let record = exchange::parse_line(line, 0, 0).unwrap().unwrap();
    assert_eq!(record::encode(&record, file_id, sequence), bytes);
    assert_eq!(record::sequence(&bytes, file_id, slot), Some(sequence));
    assert_eq!(record::decode(&bytes).as_ref(), Some(&record));
    assert_eq!(exchange::line(&record).unwrap(), line);
}

#[test]
fn a_full_file_is_taken_into_a_new_one_whole() {
    let (mut full, full_ring) = file();
    let mut locked = full.lock(&full_ring, AppendTime::Any).unwrap();
    for number in 0..record::CAPACITY as u64 {
        let record = learn::bare(number);
        locked.append(&if number % 100 == 7 { learn::as_advice(record) } else { record }).unwrap();
    }
    drop(locked);
    let all = live(&full_ring);
    let (mut new, new_ring) = file();
    for merged in [all.len(), 0] {
        let mut records = everything(&full_ring);
        assert_eq!(engram::learn::keep_what_fits(&mut records, &new_ring.read().unwrap()), 0);
        assert_eq!(new.merge(&new_ring, &records).unwrap().new, merged);
        assert!(live(&new_ring) == all);
    }
}

#[test]
fn there_is_room_for_so_much_advice_and_no_more() {
    let (mut file, ring) = file();
    let advice = |number, time| learn::as_advice(Record { time, ..learn::bare(number) });
    let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
    for number in 1..MAX_ADVICE as u64 {
        locked.append(&advice(number, 1)).unwrap();
    }
    drop(locked);
    file.advise(&ring, &advice(0, 1)).unwrap();
    let one_more = advice(MAX_ADVICE as u64, 1);
    assert!(matches!(file.advise(&ring, &one_more), Err(FileError::TooMuchAdvice)));
    // Of a position with advice it takes the place of that.
    let merged = file.merge(&ring, &[one_more, advice(0, 2)]).unwrap();
    assert_eq!(merged, Merged { new: 1, refused: 1, ..Merged::default() });
    file.advise(&ring, &advice(1, 2)).unwrap();
    assert_eq!(ring.read().unwrap().advice_len(), MAX_ADVICE);
}

#[test]
fn every_position_of_random_games_survives_packing() {
    for position in positions(20_000, 5) {
        let record = Record::new(&position, Origin::Drop).unwrap();
        let again = record.position().unwrap();
        assert_eq!(again.key(), position.key());
        assert_eq!(again.chess(), position.chess(), "{}", position.fen());
        assert_eq!(again.halfmoves(), position.halfmoves());
    }
}

#[test]
fn odd_positions_survive_packing() {
    for (fen, mode) in [
        // En passant that is pseudo-legal only: the capturer is pinned.
        ("8/8/8/K1pP3r/8/8/8/4k3 w - c6 0 1", CastlingMode::Standard),
        ("8/8/8/K1pP4/8/8/8/4k3 w - c6 0 1", CastlingMode::Standard),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", CastlingMode::Standard),
        // Chess960: inner and outer rooks, rights of one side only.
        ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", CastlingMode::Chess960),
        ("4k3/8/8/8/8/8/8/RR2K1RR w GB - 3 9", CastlingMode::Chess960),
        ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 255 200", CastlingMode::Standard),
        // Impossible, but analysed: much material, and a check that no move gives.
        ("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", CastlingMode::Standard),
        ("4k3/8/8/8/8/4n3/3b1r2/4K3 w - - 0 1", CastlingMode::Standard),
    ] {
        let position = position(fen, mode);
        let record = Record::new(&position, Origin::Drop).unwrap();
        assert_eq!(record.position().map(|again| again.key()), Ok(position.key()), "{fen}");
        let line = exchange::line(&record).unwrap();
        assert_eq!(exchange::parse_line(&line, 0, 0), Ok(Some(record)), "{line}");
    }
}

#[test]
fn more_than_32_pieces_are_not_learned() {
    let crowd = position("qqqqkqqq/qqqqqqqq/q7/8/8/8/QQQQQQQQ/QQQQKQQQ b - - 0 1", CastlingMode::Standard);
    assert_eq!(Record::new(&crowd, Origin::Drop), Err(Unlearnable::TooManyPieces));
}

#[test]
fn a_record_that_contradicts_itself_is_found() {
    let good = Record::new(&Position::default(), Origin::Drop).unwrap();
    let with = |change: fn(&mut Record)| {
        let mut record = good.clone();
        change(&mut record);
        record.position_and_move().err()
    };
    assert_eq!(with(|_| ()), None);
    assert_eq!(with(|record| record.key.0 ^= 1), Some(RecordError::Key));
    assert_eq!(with(|record| record.setup = [0; 24]), Some(RecordError::Setup));
    assert_eq!(with(|record| record.setup[8] = 0xCC), Some(RecordError::Setup));
    assert_eq!(with(|record| record.best = PackedMove::from_bits(0xFFFF)), Some(RecordError::Move));
    assert_eq!(with(|record| record.best = PackedMove::from_bits(8 | 8 << 6)), Some(RecordError::Move));
}

/// Found by fuzzing: bits beside a move that mean nothing for it were dropped by an export without a word.
#[test]
fn a_move_in_an_unusual_packing_is_a_contradiction() {
    let mut record = learn::record(&Position::default(), 1);
    assert!(record.position_and_move().is_ok_and(|(_, best)| best.is_some()));
    record.best = PackedMove::from_bits(record.best.bits() | 0x8000);
    assert_eq!(record.position_and_move().unwrap_err(), RecordError::Move);
    assert_eq!(exchange::line(&record), Err(RecordError::Move));
}
