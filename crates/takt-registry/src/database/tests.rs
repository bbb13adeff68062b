//! Tests of damaged files and of full disks.

use std::fs;
use std::sync::Arc;

use takt_database::DatabaseFault;
use takt_space::Change;
use takt_ua::structures::{AddNodesItem, AddReferencesItem};
use takt_ua::{NodeId, QualifiedName};

use super::*;

fn node(number: u32) -> Change {
    Change::AddNode(Box::new(AddNodesItem {
        requested_new_node_id: NodeId::numeric(7, number).into(),
        browse_name: QualifiedName::new(7, format!("Node{number}").repeat(20).as_str()),
        ..AddNodesItem::default()
    }))
}

fn reference(number: u32) -> Change {
    Change::AddReference(AddReferencesItem {
        source_node_id: NodeId::numeric(7, number),
        target_node_id: NodeId::numeric(0, 85).into(),
        ..AddReferencesItem::default()
    })
}

/// Hands over changes of Provider P.
fn record(
    database: &Database,
    newcomer: Option<NewProvider>,
    changes: impl Into<Arc<[Change]>>,
) -> Result<(), DatabaseError> {
    let registration = Registration {
        owner: "P".to_owned(),
        newcomer,
        changes: changes.into(),
    };
    database.record(registration, None)
}

/// Records a Provider with nodes and references in several transactions.
fn fill(path: &Path) {
    let database = Database::open(path).unwrap();
    let provider = ProviderRecord {
        name: "P".to_owned(),
        user: Some(1000),
        secret_digest: Vec::new(),
    };
    let new = NewProvider {
        record: provider,
        namespace: 7,
        uri: "urn:takt:provider:P".to_owned(),
        charged: Owner::User(1000),
    };
    record(&database, Some(new), [node(1)]).unwrap();
    database.settle_now().unwrap();
    for round in 0..10_u32 {
        let changes: Vec<Change> = (0..30)
            .flat_map(|number| [node(100 * round + number + 2), reference(number + 1)])
            .collect();
        record(&database, None, changes).unwrap();
        database.settle_now().unwrap();
    }
}

fn summary(contents: &Contents) -> String {
    format!(
        "{:?} {:?} {:?} {:?}",
        contents.namespaces, contents.owners, contents.providers, contents.changes
    )
}

fn read(path: &Path) -> Result<String, DatabaseError> {
    let contents = Database::open(path)?.load()?;
    Ok(summary(&contents))
}

/// Returns why the file is refused.
fn fault(path: &Path) -> DatabaseFault {
    match read(path) {
        Err(DatabaseError::File(error)) => error.fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_are_damaged_or_of_another_kind_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    fill(&path);
    let mut bytes = fs::read(&path).unwrap();
    let second = bytes.len() / 8192 * 4096;
    bytes[4096..second].fill(0);
    fs::write(&path, bytes).unwrap();
    assert!(matches!(fault(&path), DatabaseFault::Damaged(_)));
    fs::write(&path, "").unwrap();
    assert!(matches!(fault(&path), DatabaseFault::Empty));
    fs::remove_file(&path).unwrap();
    // Another database, for example a history.
    let history = redb::Database::create(&path).unwrap();
    let transaction = history.begin_write().unwrap();
    let table = redb::TableDefinition::<(), u32>::new("format");
    transaction.open_table(table).unwrap();
    transaction.commit().unwrap();
    drop(history);
    assert!(matches!(fault(&path), DatabaseFault::Foreign(tables) if tables == "format"));
}

#[test]
fn a_database_of_another_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    fill(&path);
    let database = Database::open(&path).unwrap();
    let newer = |transaction: &WriteTransaction| {
        tables::set_format(transaction, 7);
        Ok(())
    };
    database.enter(newer).unwrap();
    database.settle_now().unwrap();
    drop(database);
    match fault(&path) {
        DatabaseFault::Format { found, known } => assert_eq!((found, known), (7, 1)),
        fault => panic!("{fault}"),
    }
}

#[test]
fn one_registry_at_a_time_has_a_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    let first = Database::open(&path).unwrap();
    assert!(matches!(fault(&path), DatabaseFault::InUse));
    drop(first);
    assert!(read(&path).is_ok());
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    for (table, damage) in [
        ("nodes", tables::damage_node as fn(&WriteTransaction)),
        ("references", tables::damage_reference),
    ] {
        let _ = fs::remove_file(&path);
        fill(&path);
        let database = Database::open(&path).unwrap();
        let damaged = database.enter(move |transaction| {
            damage(transaction);
            Ok(())
        });
        damaged.unwrap();
        database.settle_now().unwrap();
        drop(database);
        let error = read(&path).unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Record { table: found, .. } if *found == table),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(text.contains("ns=7;i=1"), "{text}");
    }
}

#[test]
fn a_panic_in_the_database_is_an_error_and_the_file_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    fill(&path);
    let good = read(&path).unwrap();
    let database = Database::open(&path).unwrap();
    record(&database, None, [node(9000)]).unwrap();
    let panics = |_: &WriteTransaction| panic!("page 7 is of no type");
    database.enter(panics).unwrap();
    // The thread of the database has written the change before anyone waits for it.
    while database.losses() < 2 {
        std::thread::yield_now();
    }
    match database.settle_now() {
        Err(DatabaseError::Commit(error)) => assert!(
            matches!(&*error, DatabaseError::File(error)
                if matches!(&error.fault, DatabaseFault::Damaged(reason) if reason == "page 7 is of no type")),
            "{error:?}"
        ),
        other => panic!("{other:?}"),
    }
    // Changes that were not settled are lost; settled ones are kept.
    assert_eq!(summary(&database.load().unwrap()), good);
    record(&database, None, [node(9001)]).unwrap();
    database.settle_now().unwrap();
    drop(database);
    assert!(read(&path).unwrap().contains("9001"));
}

#[test]
fn no_bytes_make_the_decoders_of_records_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.redb");
    fill(&path);
    let bytes = fs::read(&path).unwrap();
    let accepted = bytes.windows(64).step_by(7).filter(|part| decode_any(part));
    assert!(accepted.count() < bytes.len());
    let Change::AddNode(item) = node(1) else {
        panic!("just made");
    };
    assert!(decode_any(&takt_ua::binary::Encode::encode_to_vec(&*item)));
}
