//! A process that is killed again and again while it records: all records that it reported as durable are there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::support::*;
use takt_history::*;
use takt_ua::Variant;

const FILE: &str = "TAKT_TEST_HISTORY_FILE";

/// The recording process: it runs only if the other test starts it.
#[test]
fn record_until_killed() {
    let Ok(path) = std::env::var(FILE) else {
        return;
    };
    let mut store = Store::open(path.as_ref(), HistoryStoreOptions::default()).unwrap();
    let keys: Vec<_> = (0..20)
        .map(|number| store.variable(&number.to_string(), None).unwrap())
        .collect();
    let mut last = store.reader().records(keys[0]).unwrap();
    let last = last.at_or_before(time(1e9)).unwrap();
    let mut next = last.map_or(0, |record| seconds(record.source_timestamp) as u32 + 1);
    loop {
        let value = Variant::Double(f64::from(next));
        let records = keys
            .iter()
            .map(|key| (*key, record(f64::from(next), &value, 0)));
        store
            .append(records.collect(), moment(f64::from(next)))
            .unwrap();
        println!("durable {next}");
        std::io::stdout().flush().unwrap();
        next += 1;
    }
}

#[test]
fn durable_records_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let mut durable = 0;
    for round in 0..12 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::record_until_killed", "--exact", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut numbers = lines.map_while(Result::ok).filter_map(|line| {
            // The first line begins with text of the test harness.
            let number = line.split("durable ").nth(1)?;
            number.parse::<u32>().ok()
        });
        // Records are stored while this process reads: the kill comes in the middle of a commit.
        let seen = numbers.nth(3 * round);
        child.kill().unwrap();
        child.wait().unwrap();
        durable = numbers.last().or(seen).unwrap_or(durable);

        let mut store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
        let mut lengths = Vec::new();
        for number in 0..20 {
            let key = store.variable(&number.to_string(), None).unwrap();
            let mut records = store.reader().records(key).unwrap();
            for expected in 0..=durable {
                let found = records
                    .at_or_after(time(f64::from(expected)))
                    .unwrap()
                    .unwrap();
                assert_eq!(
                    found.to_owned(),
                    record(
                        f64::from(expected),
                        &Variant::Double(f64::from(expected)),
                        0
                    )
                );
            }
            let last = records.at_or_before(time(1e9)).unwrap().unwrap();
            lengths.push(seconds(last.source_timestamp));
        }
        // A commit has all of its records, or none.
        assert!(
            lengths.iter().all(|length| *length == lengths[0]),
            "{lengths:?}"
        );
    }
    assert!(durable > 20, "the process recorded little: {durable}");
}
