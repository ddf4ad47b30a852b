//! Whatever lies where the learning file should be: it is named, left alone, and nothing waits for it.
//! And what others do to a file while it is open.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use engram::learn::{
    AppendTime, FileError, LearnFile, Mode, Origin, Store, Written, create, disk::SystemDisk,
    record::CAPACITY,
};

use crate::common::{
    TIMEOUT, home,
    learn::{self, bare},
    random::Random,
    sim_disk::{Refusal, SimDisk},
    until,
};

const HEADER: usize = 64;

/// A file with `count` records.
fn filled(folder: &Path, count: u64) -> PathBuf {
    let path = folder.join("engram.learn");
    let store = Store::open(&path, Mode::Write).unwrap();
    for number in 0..count {
        store.append(bare(number));
    }
    assert!(store.flush(TIMEOUT));
    path
}

fn error(path: &Path) -> String {
    let [read, write] = [Mode::Read, Mode::Write].map(|mode| match Store::open(path, mode) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{} was opened", path.display()),
    });
    assert_eq!(read, write);
    assert!(read.contains(&path.display().to_string()), "{read}");
    read
}

#[test]
fn foreign_files_are_named_and_left_alone() {
    let folder = home();
    let good = fs::read(filled(folder.path(), 3)).unwrap();
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    };
    let mut damaged = good.clone();
    damaged[30] ^= 1;
    let long_zeros = vec![0; good.len() + 1];
    let cases: [(&str, &[u8], &str); 9] = [
        ("text", b"hello", "not a learning file"),
        ("header", &good[..HEADER - 1], "damaged header"),
        ("zeros and more", &long_zeros, "not a learning file"),
        ("one byte in zeros", &changed_zeros(good.len()), "not a learning file"),
        ("newer", &changed(8, 2), "written in format 2, this engine reads 1"),
        ("larger records", &changed(10, 128), "records of another size"),
        ("larger ring", &changed(14, 2), "another capacity"),
        ("other keys", &changed(16, 2), "another kind of position key"),
        ("damaged", &damaged, "damaged header"),
    ];
    for (name, bytes, what) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert!(error(&path).contains(what), "{name}: {}", error(&path));
        assert!(fs::read(&path).unwrap() == bytes, "{name} was changed");
        assert!(create(&SystemDisk, &path).is_err() || name == "newer", "{name}");
        assert!(fs::read(&path).unwrap() == bytes, "{name} was changed");
    }
}

fn changed_zeros(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[5000] = 1;
    bytes
}

#[test]
fn random_bytes_are_no_learning_file_and_random_slots_no_records() {
    let mut random = Random(3);
    let mut bytes = vec![0; 4096 + 64 * CAPACITY];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.next().to_le_bytes());
    }
    let path = Path::new("/disk/x");
    let open = |bytes: Vec<u8>| LearnFile::open_on(Arc::new(SimDisk::with(path, bytes)), path, Mode::Write);
    assert!(matches!(open(bytes.clone()), Err(FileError::Foreign(_))));
    // Behind a right header each slot is looked at, and none is taken.
    let header = engram::learn::header::Header { file_id: 5, created: 6 }.encode();
    bytes[..64].copy_from_slice(&header);
    let (_, ring, report) = open(bytes).unwrap();
    assert_eq!((ring.len(), report.torn), (0, CAPACITY));
}

#[test]
fn damaged_records_are_ignored_and_the_others_kept() {
    let disk = SimDisk::default();
    let path = Path::new("/disk/x");
    create(&disk, path).unwrap();
    let (mut file, ring) = learn::open_on(disk.clone(), path);
    {
        let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
        for number in 0..500 {
            locked.append(&bare(number)).unwrap();
        }
    }
    let good = disk.content(path).unwrap();
    let mut random = Random(17);
    for _ in 0..100 {
        let mut bytes = good.clone();
        let mut hit = std::collections::HashSet::new();
        for _ in 0..=random.below(40) {
            let at = 4096 + random.below(500 * 64);
            bytes[at] ^= 1 << random.below(8);
            hit.insert((at - 4096) / 64);
        }
        let disk = SimDisk::with(path, bytes.clone());
        let (_, ring, report) = LearnFile::open_on(Arc::new(disk), path, Mode::Read).unwrap();
        // A bit that is turned twice is whole again.
        let damaged = hit.iter().filter(|&&slot| {
            let range = 4096 + slot * 64..4096 + slot * 64 + 64;
            bytes[range.clone()] != good[range]
        });
        assert_eq!(report.torn, damaged.count());
        assert_eq!(ring.len(), 500 - report.torn);
        for (_, record) in ring.iter() {
            assert!((0..500).any(|number| bare(number) == record));
        }
    }
}

#[test]
fn an_empty_file_is_filled_and_zeros_are_completed() {
    for length in [0, 1, 4096, 4_198_399, 4_198_400] {
        let folder = home();
        let path = folder.path().join("engram.learn");
        fs::write(&path, vec![0; length]).unwrap();
        let mut reader = Store::open(&path, Mode::Read).unwrap();
        reader.read_forward();
        assert_eq!(reader.live().len(), 0);
        let store = Store::open(&path, Mode::Write).unwrap();
        store.append(bare(1));
        assert!(store.flush(TIMEOUT));
        assert_eq!(store.take_messages(), Vec::<String>::new());
        assert_eq!(fs::metadata(&path).unwrap().len(), 4_198_400);
        reader.read_forward();
        assert_eq!(reader.live().len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_without_waiting() {
    use std::process::Command;
    let folder = home();
    assert!(error(folder.path()).contains("a directory"));
    let fifo = folder.path().join("fifo");
    if Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()) {
        assert!(error(&fifo).contains("a FIFO"));
        assert!(create(&SystemDisk, &fifo).is_err());
    }
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(error(&socket).contains("a socket"));
    assert!(error(Path::new("/dev/null")).contains("a device"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_share_one_lock() {
    use std::os::unix::fs::symlink;
    let folder = home();
    let path = filled(folder.path(), 2);
    let deep = folder.path().join("deep");
    fs::create_dir(&deep).unwrap();
    symlink("../engram.learn", deep.join("one")).unwrap();
    symlink(deep.join("one"), folder.path().join("two")).unwrap();
    let store = Store::open(&folder.path().join("two"), Mode::Write).unwrap();
    assert_eq!(store.live().len(), 2);
    assert_eq!(store.append(bare(2)), Written::Now);
    let locks: Vec<_> = [folder.path(), &deep]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().flatten())
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "lock"))
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(locks, ["engram.learn.lock"]);
    assert_eq!(Store::open(&path, Mode::Read).unwrap().live().len(), 3);
    // A link to nothing is made into a link to a learning file; one to itself is an error.
    symlink("not yet there", folder.path().join("new")).unwrap();
    let new = Store::open(&folder.path().join("new"), Mode::Write).unwrap();
    assert!(new.flush(TIMEOUT));
    assert!(folder.path().join("not yet there").is_file());
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(Store::open(&folder.path().join("loop"), Mode::Write).is_err());
}

#[cfg(unix)]
#[test]
fn without_permission_a_file_is_only_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = home();
    let path = filled(folder.path(), 2);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        println!("skipped: this user may write everything; see the test with a disk that refuses");
        return;
    }
    let store = Store::open(&path, Mode::Write).unwrap();
    assert_eq!((store.live().len(), store.append(bare(9))), (2, Written::Never));
    assert_eq!(store.take_messages().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_is_made_in_a_folder_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let folder = home.path().join("folder");
    fs::create_dir(&folder).unwrap();
    // Which root may read nevertheless.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o300)).unwrap();
    assert!(create(&SystemDisk, &folder.join("learn.bin")).is_ok());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn read_only_media_and_disks_without_locks_are_only_read() {
    let disk = SimDisk::default();
    let path = Path::new("/disk/x");
    create(&disk, path).unwrap();
    let (mut file, ring) = learn::open_on(disk.clone(), path);
    for number in 0..2 {
        file.lock(&ring, AppendTime::Any).unwrap().append(&bare(number)).unwrap();
    }
    drop(file);
    let before = disk.content(path);
    for (refusal, what) in [
        (Refusal::Writing(io::ErrorKind::ReadOnlyFilesystem), "cannot be written"),
        (Refusal::Writing(io::ErrorKind::PermissionDenied), "cannot be written"),
        (Refusal::LockFile, "lock file cannot be used"),
        (Refusal::Locks, "lock file cannot be used"),
    ] {
        disk.refuse(refusal);
        let store = Store::open_on(Arc::new(disk.clone()), path, Mode::Write).unwrap();
        assert_eq!((store.live().len(), store.append(bare(9))), (2, Written::Never));
        assert!(store.is_read_only());
        let messages = store.take_messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains(what) && messages[0].contains("nothing new is learned"), "{messages:?}");
        assert!(store.flush(TIMEOUT), "nothing is left to do");
        assert!(disk.content(path) == before);
    }
    // Where there is no file and none can be made, that is said once.
    let known = disk.refused_locks();
    let store = Store::open_on(Arc::new(disk.clone()), Path::new("/disk/new"), Mode::Write).unwrap();
    store.append(bare(1));
    // The third attempt begins after what the second had to say.
    until("locks are refused", || disk.refused_locks() >= known + 3);
    let messages = store.take_messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[test]
fn a_file_replaced_by_its_user_is_noticed_and_the_old_one_left_alone() {
    let folder = home();
    let path = filled(folder.path(), 3);
    let mut store = Store::open(&path, Mode::Write).unwrap();
    store.read_forward();
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = filled(&other, 7);
    let old = folder.path().join("old");
    // Moved away: no reader looks in between, the next append meets the new file.
    fs::rename(&path, &old).unwrap();
    fs::rename(&other, &path).unwrap();
    let before = fs::read(&old).unwrap();
    store.append(bare(100));
    assert!(store.flush(TIMEOUT));
    assert_eq!(store.live().len(), 8);
    store.read_forward();
    assert!(fs::read(&old).unwrap() == before, "the old file was written");
    assert_eq!(store.take_messages().len(), 1);
    // Copied over in place: the same file as the system sees it, with another content.
    fs::write(&path, &before).unwrap();
    store.read_forward();
    assert_eq!(store.live().len(), 3);
    fs::write(&path, &before).unwrap();
    assert_eq!(store.append(bare(101)), Written::Now);
    assert_eq!(store.live().len(), 4);
    // Removed: what it taught is gone with it, a new one is made for the next record.
    fs::remove_file(&path).unwrap();
    store.read_forward();
    assert_eq!(store.live().len(), 0);
    assert!(!path.exists());
    store.append(bare(102));
    assert!(store.flush(TIMEOUT));
    assert_eq!(store.live().len(), 1);
    // The lock file removed: another one is used by all from then on.
    let mut second = Store::open(&path, Mode::Write).unwrap();
    fs::remove_file(folder.path().join("engram.learn.lock")).unwrap();
    assert_eq!(second.append(bare(103)), Written::Now);
    assert_eq!(store.append(bare(104)), Written::Now);
    second.read_forward();
    assert_eq!(second.live().len(), 3);
}

#[test]
fn a_file_cut_short_is_used_as_far_as_it_goes_and_completed() {
    let folder = home();
    let path = filled(folder.path(), 100);
    let mut store = Store::open(&path, Mode::Write).unwrap();
    let cut = |length: u64| fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
    cut(4096 + 64 * 40 + 17);
    store.read_forward();
    assert_eq!(store.live().len(), 40);
    store.append(bare(500));
    assert!(store.flush(TIMEOUT));
    assert_eq!(fs::metadata(&path).unwrap().len(), 4_198_400);
    assert_eq!(store.live().len(), 41);
    drop(store);
    cut(4096 + 64 * 10);
    let store = Store::open(&path, Mode::Write).unwrap();
    assert_eq!(store.live().len(), 10);
    let messages = store.take_messages();
    assert!(messages.len() == 1 && messages[0].contains("cut short"), "{messages:?}");
    // To nothing: it is as good as new.
    cut(0);
    store.append(bare(600));
    assert!(store.flush(TIMEOUT));
    assert_eq!(store.live().len(), 1);
    drop(store);
    // Longer than it should be: what hangs on is nobody's, and stays.
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    let store = Store::open(&path, Mode::Write).unwrap();
    assert_eq!(store.append(bare(601)), Written::Now);
    assert_eq!(store.live().len(), 2);
    assert!(fs::read(&path).unwrap().ends_with(b"more"));
}

#[test]
fn the_last_lap_is_only_read() {
    let path = Path::new("/disk/x");
    let header = engram::learn::header::Header { file_id: 5, created: 6 };
    let last = u64::from(u32::MAX) * CAPACITY as u64;
    for (sequence, allowed) in [(last - 2, 1), (last - 1, 0), (last, 0), (last + 9, 0)] {
        let mut bytes = vec![0; 4096 + 64 * CAPACITY];
        bytes[..64].copy_from_slice(&header.encode());
        let slot = (sequence % CAPACITY as u64) as usize;
        let record = engram::learn::record::encode(&bare(1), 5, sequence);
        bytes[4096 + 64 * slot..][..64].copy_from_slice(&record);
        let (mut file, ring) = learn::open_on(SimDisk::with(path, bytes), path);
        assert_eq!((ring.read().unwrap().len(), file.read_only().is_some()), (1, sequence >= last));
        let mut append =
            |number| file.lock(&ring, AppendTime::Any).and_then(|mut locked| locked.append(&bare(number)));
        for number in 0..allowed {
            append(10 + number).unwrap();
        }
        assert!(matches!(append(99), Err(FileError::ReadOnly(..))), "{sequence}");
    }
}

#[test]
fn two_hundred_thousand_records_leave_the_newest_and_the_advice() {
    let disk = SimDisk::default();
    let path = Path::new("/disk/x");
    create(&disk, path).unwrap();
    let open = || learn::open_on(disk.clone(), path);
    let (mut file, ring) = open();
    let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
    for number in 0..200_000 {
        locked.append(&bare(number)).unwrap();
    }
    drop(locked);
    let newest: Vec<u64> = (200_000 - CAPACITY as u64..200_000).collect();
    for (_, ring) in [(None, ring), {
        let (file, ring) = open();
        (Some(file), ring)
    }] {
        let ring = ring.read().unwrap();
        assert_eq!(ring.len(), CAPACITY);
        assert!(ring.iter().map(|(_, record)| record).eq(newest.iter().map(|&number| bare(number))));
    }
    // With advice before them: it is still there, and the newest of the rest.
    let (mut file, ring) = open();
    let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
    let advice = |number: u64| learn::as_advice(bare(1_000_000 + number));
    for number in 0..500 {
        locked.append(&advice(number)).unwrap();
    }
    for number in 0..200_000 {
        locked.append(&bare(number)).unwrap();
    }
    drop(locked);
    let (_, reopened) = open();
    for ring in [ring, reopened] {
        let ring = ring.read().unwrap();
        assert!((0..500).all(|number| ring.get(advice(number).key) == Some(advice(number))));
        let rest: Vec<_> =
            ring.iter().map(|(_, record)| record).filter(|record| record.origin != Origin::Advice).collect();
        assert!(rest.len() >= CAPACITY - 2 * 500, "{}", rest.len());
        let first = 200_000 - rest.len() as u64;
        assert!(rest.into_iter().eq((first..200_000).map(bare)));
    }
}
