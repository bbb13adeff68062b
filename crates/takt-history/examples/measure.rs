//! Bytes per record, records per second, and the time of queries: of the store, of a database with one row for each record, and of
//! a file to which records are only appended. Usage: `cargo run --release -p takt-history --example measure`

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase, TableDefinition};
use takt_history::{
    Aggregate, AggregateSettings, Budget, HistoryRecord, HistoryStoreOptions, ProcessedQuery,
    QueryOutput, QueryProgress, RawQuery, Store, StoreTime, ValueForm, block,
};
use takt_ua::{DateTime, StatusCode};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const RECORDS: i64 = 1_000_000;
const VARIABLES: i64 = 10;
/// Records of all Variables in one commit.
const BATCH: i64 = 5_000;
const START: i64 = 133_000_000_000_000_000;

fn record(number: i64) -> HistoryRecord {
    let mut value = vec![11];
    value.extend_from_slice(&(number as f64 * 0.7).sin().to_le_bytes());
    let time = START + number * 100_000;
    HistoryRecord {
        source_timestamp: DateTime(time),
        server_timestamp: DateTime(time + 700 + number % 13),
        status: StatusCode::Good,
        value,
    }
}

fn report(name: &str, took: Duration, path: &Path) -> Outcome<()> {
    // The blocks on the disk count, because a file may have holes.
    let bytes = std::fs::metadata(path)?.blocks() * 512;
    println!(
        "{name:<24} {:>6.1} bytes/record {:>10.0} records/s",
        bytes as f64 / RECORDS as f64,
        RECORDS as f64 / took.as_secs_f64()
    );
    Ok(())
}

fn batches() -> impl Iterator<Item = Vec<(i64, HistoryRecord)>> {
    (0..RECORDS / BATCH).map(|batch| {
        let numbers = batch * BATCH..(batch + 1) * BATCH;
        numbers
            .map(|number| (number % VARIABLES, record(number)))
            .collect()
    })
}

fn store(folder: &Path) -> Outcome<()> {
    let path = folder.join("store.redb");
    let mut store = Store::open(
        &path,
        HistoryStoreOptions {
            max_size: 1 << 30,
            max_age: None,
        },
    )?;
    let mut keys = Vec::new();
    for number in 0..VARIABLES {
        keys.push(store.variable(&number.to_string(), None)?);
    }
    let begin = Instant::now();
    for batch in batches() {
        let records = batch
            .into_iter()
            .map(|(variable, record)| (keys[variable as usize], record));
        store.append(records.collect(), StoreTime::now())?;
    }
    report("blocks in redb", begin.elapsed(), &path)?;

    let one = store.variable("one", None)?;
    for batch in batches() {
        let records = batch.into_iter().map(|(_, record)| (one, record));
        store.append(records.collect(), StoreTime::now())?;
    }
    let end = DateTime(START + RECORDS * 100_000);
    let mut records = store.reader().records(one)?;
    let begin = Instant::now();
    let mut query = RawQuery::new(Some(DateTime(START)), Some(end), 0, false)
        .map_err(|status| status.to_string())?;
    let mut count = 0;
    loop {
        let mut output = QueryOutput::new(ValueForm::default(), 10_000, usize::MAX);
        let progress = query.run(&mut records, &mut output, &mut Budget::new(usize::MAX))?;
        count += output.count();
        if progress == QueryProgress::Complete {
            break;
        }
    }
    println!(
        "{count} raw values in {:.0} ms",
        begin.elapsed().as_secs_f64() * 1e3
    );
    for (aggregate, interval) in [(Aggregate::Average, 0.0), (Aggregate::TimeAverage, 1000.0)] {
        let begin = Instant::now();
        let settings = AggregateSettings::new(false);
        let query = ProcessedQuery::new(aggregate, DateTime(START), end, interval, settings);
        let mut query = query.map_err(|status| status.to_string())?;
        let mut output = QueryOutput::new(ValueForm::default(), u32::MAX, usize::MAX);
        query.run(&mut records, &mut output, &mut Budget::new(usize::MAX))?;
        println!(
            "{} of {RECORDS} records in {} intervals in {:.0} ms",
            aggregate.name(),
            output.count(),
            begin.elapsed().as_secs_f64() * 1e3
        );
    }
    let begin = Instant::now();
    let mut slice = Budget::new(10_000);
    let query = ProcessedQuery::new(
        Aggregate::Average,
        DateTime(START),
        end,
        0.0,
        AggregateSettings::new(false),
    );
    let mut query = query.map_err(|status| status.to_string())?;
    query.run(
        &mut records,
        &mut QueryOutput::new(ValueForm::default(), 10, 1000),
        &mut slice,
    )?;
    println!(
        "a slice of 10000 records takes {:.1} ms",
        begin.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}

fn rows(folder: &Path) -> Outcome<()> {
    const ROWS: TableDefinition<'static, (u32, i64), &[u8]> = TableDefinition::new("rows");
    let path = folder.join("rows.redb");
    let database = Database::create(&path)?;
    let begin = Instant::now();
    for batch in batches() {
        let transaction = database.begin_write()?;
        {
            let mut table = transaction.open_table(ROWS)?;
            for (variable, record) in batch {
                let row = block::encode([record.as_ref()]);
                let key = (u32::try_from(variable)?, record.source_timestamp.0);
                table.insert(key, row.as_slice())?;
            }
        }
        transaction.commit()?;
    }
    report("rows in redb", begin.elapsed(), &path)?;
    let begin = Instant::now();
    let table = database.begin_read()?.open_table(ROWS)?;
    let mut count = 0;
    for row in table.range::<(u32, i64)>(..)? {
        count += block::Block::decode(row?.1.value())?.len();
    }
    println!(
        "{count} rows in {:.0} ms",
        begin.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}

fn log(folder: &Path) -> Outcome<()> {
    let path = folder.join("log");
    let mut file = File::create(&path)?;
    let begin = Instant::now();
    for batch in batches() {
        for variable in 0..VARIABLES {
            let records = batch.iter().filter(|(of, _)| *of == variable);
            file.write_all(&block::encode(records.map(|(_, record)| record.as_ref())))?;
        }
        file.sync_data()?;
    }
    report("appended blocks", begin.elapsed(), &path)
}

fn main() -> Outcome<()> {
    // The usual folder for temporary files may be in memory, where a commit costs little.
    let folder = tempfile::tempdir_in(".")?;
    println!("{RECORDS} Doubles of {VARIABLES} Variables, {BATCH} in each commit");
    store(folder.path())?;
    rows(folder.path())?;
    log(folder.path())
}
