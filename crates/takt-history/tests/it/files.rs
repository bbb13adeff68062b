//! Files that are damaged, of another kind or of another version: each is refused at the start.

use std::fs;
use std::path::Path;

use crate::support::*;
use takt_history::*;
use takt_ua::Variant;

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

/// Returns why the file is refused.
fn fault(path: &Path) -> DatabaseFault {
    match open(path).unwrap_err() {
        HistoryError::File(error) => {
            assert!(error.to_string().starts_with("the history "), "{error}");
            error.fault
        }
        error => panic!("{error}"),
    }
}

#[test]
fn files_that_are_damaged_or_of_another_kind_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.redb");
    fill(&path);
    let mut bytes = fs::read(&path).unwrap();
    // Half of the pages, because some of them may be unused. The header stays: the file is still a database.
    let second = bytes.len() / 8192 * 4096;
    bytes[4096..second].fill(0);
    fs::write(&path, bytes).unwrap();
    assert!(matches!(fault(&path), DatabaseFault::Damaged(_)));
    fs::write(&path, "").unwrap();
    assert!(matches!(fault(&path), DatabaseFault::Empty));
    fs::remove_file(&path).unwrap();

    // Another database, for example that of a registry.
    let registry = redb::Database::create(&path).unwrap();
    let transaction = registry.begin_write().unwrap();
    let table = redb::TableDefinition::<&str, u64>::new("meta");
    transaction.open_table(table).unwrap();
    transaction.commit().unwrap();
    drop(registry);
    assert!(matches!(fault(&path), DatabaseFault::Foreign(tables) if tables == "meta"));
}

#[test]
fn a_file_of_another_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.redb");
    fill(&path);
    let database = redb::Database::open(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    let table = redb::TableDefinition::<(), u32>::new("format");
    transaction
        .open_table(table)
        .unwrap()
        .insert((), 7)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    match fault(&path) {
        DatabaseFault::Format { found, known } => assert_eq!((found, known), (7, 1)),
        fault => panic!("{fault}"),
    }
}
