//! Files that are damaged, or of another kind: each is refused at the start, and stays as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::*;
use takt_history::*;
use takt_ua::{DateTime, Variant};

fn open(path: &Path) -> Result<Store, HistoryError> {
    Store::open(path, HistoryStoreOptions::default())
}

/// Makes a file with records of several Variables, in several commits.
fn fill(path: &Path) {
    let mut store = open(path).unwrap();
    let keys: Vec<_> = (0..5)
        .map(|number| store.variable(&format!("Variable {number}"), None).unwrap())
        .collect();
    for commit in 0..20 {
        let records = keys.iter().flat_map(|key| {
            (0..100).map(move |number| {
                let at = f64::from(100 * commit + number);
                (*key, record(at, &Variant::Double(at.sin()), 0))
            })
        });
        store.append(records.collect(), moment(0.)).unwrap();
    }
}

/// Returns all records.
fn read(path: &Path) -> Result<Vec<HistoryRecord>, HistoryError> {
    let mut store = open(path)?;
    let mut all = Vec::new();
    for number in 0..5 {
        let key = store.variable(&format!("Variable {number}"), None)?;
        let mut records = store.reader().records(key)?;
        let mut at = DateTime(0);
        while let Some(record) = records.at_or_after(at)? {
            at = DateTime(record.source_timestamp.0 + 1);
            all.push(record.to_owned());
        }
    }
    Ok(all)
}

/// Damages copies in many ways: each is refused when it is opened, or read unchanged. Returns the number of refused ones.
fn damaged_copies(damage: impl Fn(&mut Vec<u8>, usize)) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.redb");
    fill(&path);
    let good = read(&path).unwrap();
    assert_eq!(good.len(), 10_000);
    let whole = fs::read(&path).unwrap();
    let copy = directory.path().join("copy.redb");
    let mut refused = 0;
    let used = |offset: &usize| whole[*offset..].iter().take(4096).any(|byte| *byte != 0);
    for offset in (0..whole.len()).step_by(4096).filter(used) {
        let mut bytes = whole.clone();
        damage(&mut bytes, offset);
        fs::write(&copy, &bytes).unwrap();
        match open(&copy) {
            Ok(store) => {
                drop(store);
                assert!(read(&copy).unwrap() == good, "page at {offset}");
            }
            Err(HistoryError::Damaged { path, reason }) => {
                assert_eq!(path, copy);
                assert!(!reason.is_empty());
                refused += 1;
            }
            Err(error) => panic!("page at {offset}: {error:?}"),
        }
    }
    refused
}

#[test]
fn zeroed_pages_are_damage() {
    let refused = damaged_copies(|bytes, offset| bytes[offset..offset + 4096].fill(0));
    assert!(refused > 20, "{refused}");
}

#[test]
fn changed_bytes_are_damage() {
    let refused = damaged_copies(|bytes, offset| bytes[offset + 40] ^= 0x55);
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_truncated_file_is_damage() {
    let refused = damaged_copies(|bytes, offset| bytes.truncate(offset + 100));
    assert!(refused > 20, "{refused}");
}

#[test]
fn files_of_another_kind_are_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.redb");
    fs::write(&path, "").unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, HistoryError::Empty { .. }), "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);

    for bytes in [vec![7; 100_000], b"no database at all".to_vec()] {
        fs::write(&path, &bytes).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("history.redb"));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, HistoryError::NoFile { .. }), "{error}");
    fs::remove_dir(&path).unwrap();

    // Another database, for example that of a registry.
    let registry = redb::Database::create(&path).unwrap();
    let transaction = registry.begin_write().unwrap();
    let table = redb::TableDefinition::<&str, u64>::new("meta");
    transaction
        .open_table(table)
        .unwrap()
        .insert("format", 1)
        .unwrap();
    transaction.commit().unwrap();
    drop(registry);
    for _ in 0..2 {
        match open(&path).unwrap_err() {
            HistoryError::Foreign { tables, .. } => assert_eq!(tables, "meta"),
            error => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_new_file_is_complete_and_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.redb");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    drop(open(&path).unwrap());
    let files: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode(), 0o600);
    // A copy may have another mode.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&path).unwrap());
    assert_eq!(mode(), 0o600);

    let missing = open(&directory.path().join("missing/history.redb")).unwrap_err();
    let io = missing.io_error().map(std::io::Error::kind);
    assert_eq!(io, Some(std::io::ErrorKind::NotFound), "{missing}");
}
