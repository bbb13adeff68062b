//! Files of takt-database, which has no test executable of its own: a damaged file, or one of another kind, is refused when it is
//! opened, and stays as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle};
use takt_database::*;

const NUMBERS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("numbers");

const KIND: DatabaseKind = DatabaseKind {
    content: "collection",
    table: "numbers",
    cache: 1 << 20,
};

/// Error of a transaction of the tests.
#[derive(Debug)]
enum TestError {
    File(DatabaseFileError),
    Redb(redb::Error),
}

impl<E: Into<redb::Error>> From<E> for TestError {
    fn from(error: E) -> Self {
        Self::Redb(error.into())
    }
}

impl TransactionError for TestError {
    fn from_file(error: DatabaseFileError) -> Self {
        Self::File(error)
    }

    fn into_redb(self) -> Result<redb::Error, Self> {
        match self {
            Self::Redb(error) => Ok(error),
            error => Err(error),
        }
    }
}

fn open(path: &Path) -> Result<Database, TestError> {
    DatabaseFile::new(KIND, path).open(|transaction| {
        transaction.open_table(NUMBERS)?;
        Ok(())
    })
}

/// Returns the fault of a file that is not opened.
fn fault(path: &Path) -> DatabaseFault {
    let seen = DatabaseFile::new(KIND, path).glance();
    match open(path) {
        Err(TestError::File(error)) => {
            if let Err(seen) = seen {
                assert_eq!(seen.to_string(), error.to_string());
            }
            let text = error.to_string();
            let start = format!("the collection {} ", path.display());
            assert!(text.starts_with(&start), "{text}");
            error.fault
        }
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("the file was opened"),
    }
}

/// Makes a file with pages of several commits.
fn fill(path: &Path) {
    let database = open(path).unwrap();
    for commit in 0..20 {
        let transaction = database.begin_write().unwrap();
        let mut table = transaction.open_table(NUMBERS).unwrap();
        for number in 0..20 {
            let key = 20 * commit + number;
            table
                .insert(key, key.to_be_bytes().repeat(60).as_slice())
                .unwrap();
        }
        drop(table);
        transaction.commit().unwrap();
    }
}

fn content(database: &Database) -> Vec<(u64, Vec<u8>)> {
    let table = database.begin_read().unwrap().open_table(NUMBERS).unwrap();
    let rows = table.iter().unwrap().map(|row| {
        let (key, value) = row.unwrap();
        (key.value(), value.value().to_vec())
    });
    rows.collect()
}

/// Damages copies in many ways: each is refused when it is opened, or has its whole content. Returns the number of refused ones.
fn damaged_copies(damage: impl Fn(&mut Vec<u8>, usize)) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.redb");
    fill(&path);
    let whole = fs::read(&path).unwrap();
    let good = content(&open(&path).unwrap());
    assert_eq!(good.len(), 400);
    let copy = directory.path().join("copy.redb");
    let mut refused = 0;
    // Changes of unused pages may go unnoticed.
    let is_used = |offset: &usize| whole[*offset..].iter().take(4096).any(|byte| *byte != 0);
    for offset in (0..whole.len()).step_by(4096).filter(is_used) {
        let mut bytes = whole.clone();
        damage(&mut bytes, offset);
        fs::write(&copy, &bytes).unwrap();
        match open(&copy) {
            Ok(database) => assert!(content(&database) == good, "page at {offset}"),
            Err(TestError::File(error)) => {
                assert_eq!(error.path, copy);
                let is_damage =
                    matches!(&error.fault, DatabaseFault::Damaged(why) if !why.is_empty());
                assert!(is_damage, "page at {offset}: {error}");
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
    let path = directory.path().join("numbers.redb");
    fs::write(&path, "").unwrap();
    assert!(matches!(fault(&path), DatabaseFault::Empty));
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);

    for bytes in [vec![7; 100_000], b"no database at all".to_vec()] {
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(fault(&path), DatabaseFault::Damaged(_)));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(fault(&path), DatabaseFault::NoFile));
    fs::remove_dir(&path).unwrap();

    let other = Database::create(&path).unwrap();
    let transaction = other.begin_write().unwrap();
    let table = TableDefinition::<&str, u64>::new("meta");
    transaction.open_table(table).unwrap();
    transaction.commit().unwrap();
    drop(other);
    // Twice, because the first refusal must not have changed the file.
    for _ in 0..2 {
        match fault(&path) {
            DatabaseFault::Foreign(tables) => assert_eq!(tables, table.name()),
            fault => panic!("{fault:?}"),
        }
    }
}

#[test]
fn a_new_file_is_complete_and_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.redb");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    drop(open(&path).unwrap());
    let files: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode(), 0o600);
    // A copy may have another mode.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&path).unwrap());
    assert_eq!(mode(), 0o600);

    let missing = open(&directory.path().join("missing/numbers.redb"));
    let Err(TestError::File(missing)) = missing else {
        panic!("{missing:?}");
    };
    let io = missing.io_error().map(std::io::Error::kind);
    assert_eq!(io, Some(std::io::ErrorKind::NotFound), "{missing}");
}

#[test]
fn one_process_at_a_time_has_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.redb");
    let first = open(&path).unwrap();
    assert!(matches!(fault(&path), DatabaseFault::InUse));
    drop(first);
    assert!(open(&path).is_ok());
}

#[test]
fn a_panic_is_damage_and_the_file_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.redb");
    fill(&path);
    let file = DatabaseFile::new(KIND, &path);
    let database = open(&path).unwrap();
    let failed = file.guarded(|| -> Result<(), TestError> { panic!("page 7 is of no type") });
    let Err(TestError::File(error)) = failed else {
        panic!("{failed:?}");
    };
    assert!(
        matches!(&error.fault, DatabaseFault::Damaged(reason) if reason == "page 7 is of no type"),
        "{error}"
    );
    file.close(database).unwrap();
    let again: Result<_, TestError> = file.open_again();
    assert_eq!(content(&again.unwrap()).len(), 400);
}

#[test]
fn a_glance_refuses_other_kinds_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.redb");
    let file = DatabaseFile::new(KIND, &path);
    assert_eq!(file.glance().unwrap(), 0);
    assert!(!path.exists());
    fill(&path);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(file.glance().unwrap(), bytes.len() as u64);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // As a crash leaves it: the check when it is opened tells more.
    let copy = directory.path().join("copy.redb");
    let open = open(&path).unwrap();
    fs::copy(&path, &copy).unwrap();
    let crashed = DatabaseFile::new(KIND, &copy);
    assert!(crashed.glance().unwrap() > 0);
    let in_use = file.glance().unwrap_err();
    assert!(matches!(in_use.fault, DatabaseFault::InUse), "{in_use}");
    drop(open);
    let other = DatabaseKind {
        table: "others",
        ..KIND
    };
    let foreign = DatabaseFile::new(other, &path).glance().unwrap_err();
    assert!(matches!(&foreign.fault, DatabaseFault::Foreign(tables) if tables == "numbers"));
    for (bytes, is_empty) in [(&b""[..], true), (b"no database at all", false)] {
        fs::write(&path, bytes).unwrap();
        let fault = file.glance().unwrap_err().fault;
        assert_eq!(matches!(fault, DatabaseFault::Empty), is_empty, "{fault}");
    }
}
