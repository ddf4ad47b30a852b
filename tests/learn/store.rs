//! The learning file as an engine uses it: made when it is missing, shared, found again, never waited for.

use engram::learn::{BEFORE_FIRST, LearnFile, Mode, Store, Written};

use crate::common::{
    TIMEOUT, home,
    learn::{bare, positions, record},
    until,
};

#[test]
fn what_one_engine_learns_the_next_one_knows() {
    let folder = home();
    let path = folder.path().join("sub/engram.learn");
    let positions = positions(50, 1);
    {
        let store = Store::open(&path, Mode::Write).unwrap();
        for (number, position) in (0..).zip(&positions) {
            store.append(record(position, number));
        }
        assert!(store.flush(TIMEOUT));
        assert_eq!(store.live().len(), positions.len());
        assert_eq!(store.take_messages(), Vec::<String>::new());
    }
    let store = Store::open(&path, Mode::Write).unwrap();
    assert_eq!(store.live().len(), positions.len());
    for (number, position) in (0..).zip(&positions) {
        let known = store.live().get(position.key()).unwrap();
        assert_eq!(known, record(position, number));
        let (again, best) = known.position_and_move().unwrap();
        assert_eq!((again.fen(), best.is_some()), (position.fen(), position.has_legal_move()));
    }
}

#[test]
fn a_second_engine_hears_what_the_first_learns() {
    let folder = home();
    let path = folder.path().join("engram.learn");
    let first = Store::open(&path, Mode::Write).unwrap();
    assert!(first.flush(TIMEOUT));
    first.append(bare(1));
    assert!(first.flush(TIMEOUT));
    let mut second = Store::open(&path, Mode::Write).unwrap();
    let before = second.live().sequence();
    assert_eq!(first.append(bare(2)), Written::Now);
    second.read_forward();
    let news: Vec<_> = second.live().since(before).map(|(_, record)| record).collect();
    assert_eq!(news, [bare(2)]);
    assert_eq!(second.append(bare(3)), Written::Now);
    assert_eq!(first.append(bare(4)), Written::Now);
    second.read_forward();
    assert_eq!(second.live().sequence(), BEFORE_FIRST + 4);
    assert_eq!(second.live().len(), 4);
}

#[test]
fn the_newest_of_a_key_counts_and_a_tombstone_ends_it() {
    let folder = home();
    let path = folder.path().join("engram.learn");
    let store = Store::open(&path, Mode::Write).unwrap();
    let mut first = bare(1);
    let mut second = first.clone();
    first.depth = 30;
    second.depth = 3;
    store.append(first.clone());
    store.append(second.clone());
    store.append(bare(2));
    assert!(store.flush(TIMEOUT));
    assert_eq!(store.live().get(first.key), Some(second.clone()));
    assert_eq!(store.live().len(), 2);
    store.append(second.tombstone(0));
    assert_eq!(store.live().get(first.key), None);
    assert_eq!(store.live().len(), 1);
    store.append(first.clone());
    assert_eq!(store.live().get(first.key), Some(first));
    assert_eq!(store.live().len(), 2);
    assert!(store.flush(TIMEOUT));
    drop(store);
    let (_, ring, report) = LearnFile::open(&path, Mode::Read).unwrap();
    assert_eq!((ring.len(), report.live, report.replaced, report.torn), (2, 2, 3, 0));
}

#[test]
fn a_reader_waits_for_a_file_and_writes_nothing() {
    let folder = home();
    let path = folder.path().join("engram.learn");
    let mut reader = Store::open(&path, Mode::Read).unwrap();
    reader.read_forward();
    assert_eq!(reader.append(bare(1)), Written::Never);
    assert!(!path.exists());
    let writer = Store::open(&path, Mode::Write).unwrap();
    writer.append(bare(1));
    assert!(writer.flush(TIMEOUT));
    reader.read_forward();
    assert_eq!(reader.live().len(), 1);
}

#[test]
fn a_lock_held_by_others_delays_nothing_and_loses_nothing() {
    let folder = home();
    let path = folder.path().join("engram.learn");
    let store = Store::open(&path, Mode::Write).unwrap();
    assert!(store.flush(TIMEOUT));
    let lock = std::fs::File::options().write(true).open(folder.path().join("engram.learn.lock")).unwrap();
    lock.lock().unwrap();
    for number in 0..10 {
        assert_eq!(store.append(bare(number)), Written::Queued);
    }
    until("the holder is named", || {
        store.take_messages().iter().any(|message| message.contains("another process holds the lock"))
    });
    assert_eq!(store.live().len(), 0);
    lock.unlock().unwrap();
    until("all records are there", || store.live().len() == 10);
    let order: Vec<_> = store.live().iter().map(|(_, record)| record.key).collect();
    assert_eq!(order, (0..10).map(|number| bare(number).key).collect::<Vec<_>>());
}
