//! The store: one file of a database with the blocks of all Variables.
//!
//! The database (redb) writes each commit to new pages and then one root, with checksums. After a crash the last complete commit
//! counts. The key of a block is its Variable and the time of its first record, so a range of time is a range of keys.

mod age_clock;
mod file;
mod options;
mod reader;
mod retention;
mod tables;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redb::{ReadableTable, WriteTransaction};
use takt_ua::{DateTime, StatusCode};

use crate::error::HistoryError;
use crate::record::HistoryRecord;
use age_clock::{AgeClock, KeptAge};
use file::Shared;
use retention::Usage;
use tables::{AGE, BLOCKS, NAMESPACES, VARIABLES};

pub use age_clock::StoreTime;
pub use options::{HistoryStoreOptions, VariableKey};
pub use reader::{StoreReader, StoredRecords};

/// Largest value in bytes that is recorded.
pub const MAX_VALUE: usize = 64 << 10;

/// Records that [`Store::append`] has made durable, and records that it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appended {
    /// Number of durable records.
    pub recorded: u64,
    /// Number of records with a value above [`MAX_VALUE`], or a timestamp out of range. Instead of a value that is too large,
    /// BadNoData is recorded.
    pub refused: u64,
}

/// The file, open for writing by one thread. [`StoreReader`]s read it at the same time.
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    options: HistoryStoreOptions,
    keys: HashMap<String, VariableKey>,
    /// Maximum age of single Variables.
    ages: HashMap<VariableKey, Duration>,
    usage: Usage,
    age_clock: AgeClock,
}

impl Store {
    /// Looks at an existing file without changing it, and without reading all of it. Returns its length in bytes, 0 if there is no
    /// file: [`open`](Self::open) reads that much.
    ///
    /// # Errors
    /// The file is empty, or of another kind, or another process uses it. Damage of most pages is not seen.
    pub fn glance(path: &Path) -> Result<u64, HistoryError> {
        Ok(file::file(path).glance()?)
    }

    /// Opens the file and verifies the checksums of all its pages, or creates it.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn open(path: &Path, options: HistoryStoreOptions) -> Result<Self, HistoryError> {
        let shared = Arc::new(Shared::open(path)?);
        let mut store = Self {
            shared,
            options,
            keys: HashMap::new(),
            ages: HashMap::new(),
            usage: Usage::default(),
            // Replaced by `load`, with the clock of the file.
            age_clock: AgeClock::new(String::new(), None, false),
        };
        store.load(age_clock::boot())?;
        Ok(store)
    }

    /// Loads the Variables and their sizes.
    fn load(&mut self, boot: String) -> Result<(), HistoryError> {
        let (keys, usage, age) = self.shared.read(|transaction| {
            let table = transaction.open_table(VARIABLES)?;
            let mut keys = HashMap::new();
            for entry in table.iter()? {
                let (name, key) = entry?;
                keys.insert(name.value().to_owned(), VariableKey(key.value()));
            }
            let age = transaction.open_table(AGE)?.get(())?.map(|kept| {
                let (boot, since_boot, now) = kept.value();
                KeptAge {
                    boot: boot.to_owned(),
                    since_boot: Duration::from_millis(since_boot),
                    now: DateTime(now),
                }
            });
            Ok((keys, Usage::load(transaction)?, age))
        })?;
        self.keys = keys;
        self.age_clock = AgeClock::new(boot, age, usage.total() > 0);
        self.usage = usage;
        Ok(())
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Returns the key of the Variable with this name, which is made durable if it is new. `max_age` replaces that of the store.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn variable(
        &mut self,
        name: &str,
        max_age: Option<Duration>,
    ) -> Result<VariableKey, HistoryError> {
        let key = match self.keys.get(name) {
            Some(key) => *key,
            None => {
                // Variables are never removed, so the next number is unused.
                let last = self.keys.values().map(|key| key.0).max().unwrap_or(0);
                let key = VariableKey(last.saturating_add(1));
                self.shared.write(|transaction| {
                    transaction.open_table(VARIABLES)?.insert(name, key.0)?;
                    Ok(())
                })?;
                self.keys.insert(name.to_owned(), key);
                key
            }
        };
        match max_age {
            Some(age) => self.ages.insert(key, age),
            None => self.ages.remove(&key),
        };
        Ok(key)
    }

    /// Returns the NamespaceArray by which the NodeIds in records are meant; empty if it was never set.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn namespaces(&self) -> Result<Vec<String>, HistoryError> {
        self.shared.read(|transaction| {
            let table = transaction.open_table(NAMESPACES)?;
            let uris = table.iter()?.map(|entry| Ok(entry?.1.value().to_owned()));
            uris.collect()
        })
    }

    /// Makes the NamespaceArray of the file durable. An index that records have keeps its URI.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set_namespaces(&mut self, uris: &[String]) -> Result<(), HistoryError> {
        self.shared.write(|transaction| {
            let mut table = transaction.open_table(NAMESPACES)?;
            for (index, uri) in (0_u16..).zip(uris) {
                table.insert(index, uri.as_str())?;
            }
            Ok(())
        })
    }

    /// Returns true if records have a limit of age.
    #[must_use]
    pub fn has_ages(&self) -> bool {
        self.options.max_age.is_some() || !self.ages.is_empty()
    }

    /// Returns a reader of the same file, for any thread.
    #[must_use]
    pub fn reader(&self) -> StoreReader {
        StoreReader::new(Arc::clone(&self.shared))
    }

    /// Returns the bytes of all records as they count for [`HistoryStoreOptions::max_size`].
    #[must_use]
    pub fn size(&self) -> u64 {
        self.usage.total()
    }

    /// Adds records of any Variables, removes old ones, and waits until the disk has all of that. A record replaces one of its
    /// Variable with the same source timestamp. Ages count by the time since the boot: a real-time clock that is ahead for less than
    /// an hour removes nothing.
    ///
    /// # Errors
    /// The file cannot be written, for example because the disk is full: none of the records is kept. The file is opened again
    /// at the next use.
    pub fn append(
        &mut self,
        records: Vec<(VariableKey, HistoryRecord)>,
        now: StoreTime,
    ) -> Result<Appended, HistoryError> {
        let mut appended = Appended::default();
        let mut of: HashMap<VariableKey, Vec<HistoryRecord>> = HashMap::new();
        for (key, mut record) in records {
            let is_in_range = is_in_range(&record);
            match is_in_range && record.value.len() <= MAX_VALUE {
                true => appended.recorded += 1,
                false => appended.refused += 1,
            }
            if record.value.len() > MAX_VALUE {
                // The value before does not hold any more.
                record.value = Vec::new();
                record.status = StatusCode::BadNoData;
            }
            if is_in_range {
                of.entry(key).or_default().push(record);
            }
        }
        let now = (self.age_clock.read(now), now.since_boot);
        // The clock is written only if a record can become too old.
        let age = self.has_ages().then(|| self.age_clock.kept()).flatten();
        // A copy, because the transaction may fail and then changes nothing.
        let mut usage = self.usage.clone();
        let limits = (&self.options, &self.ages);
        self.shared.write(|transaction| {
            for (key, mut records) in of {
                // The last one of several records with the same time counts.
                records.reverse();
                records.sort_by_key(|record| record.source_timestamp);
                records.dedup_by_key(|record| record.source_timestamp);
                usage.change(key, insert(transaction, key, records)?);
            }
            retention::expire(transaction, &mut usage, limits, now)?;
            if let Some(age) = age {
                let since_boot = u64::try_from(age.since_boot.as_millis()).unwrap_or(u64::MAX);
                let row = (age.boot.as_str(), since_boot, age.now.0);
                transaction.open_table(AGE)?.insert((), row)?;
            }
            usage.save(transaction)
        })?;
        self.usage = usage;
        Ok(appended)
    }
}

impl Drop for Store {
    /// Closes the file, for readers as well.
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// Returns true if the difference of two such times is within 64 bits.
fn is_in_range(record: &HistoryRecord) -> bool {
    (0..i64::MAX / 4).contains(&record.source_timestamp.0)
        && (0..i64::MAX / 4).contains(&record.server_timestamp.0)
}

/// Inserts sorted records into the blocks of a Variable. Returns the change of its size.
fn insert(
    transaction: &WriteTransaction,
    key: VariableKey,
    records: Vec<HistoryRecord>,
) -> Result<i64, file::Failure> {
    let mut table = transaction.open_table(BLOCKS)?;
    let mut records = records.into_iter().peekable();
    let mut change = 0;
    while let Some(first) = records.peek() {
        let time = first.source_timestamp.0;
        // The block that begins at or before the record, or the first one.
        let target = {
            let before = table.range((key.0, i64::MIN)..=(key.0, time))?.next_back();
            let found = match before {
                Some(found) => Some(found?),
                None => {
                    let after = table.range((key.0, time)..=(key.0, i64::MAX))?.next();
                    after.transpose()?
                }
            };
            found.map(|(place, block)| (place.value().1, block.value().to_vec()))
        };
        // The block begins after the record if that is the first one of its Variable.
        let after = time.max(target.as_ref().map_or(time, |(start, _)| *start));
        // Records from the next block's start on belong to that block.
        let limit = {
            let next = table
                .range((key.0, after.saturating_add(1))..=(key.0, i64::MAX))?
                .next();
            next.transpose()?.map(|(place, _)| place.value().1)
        };
        let mut merged = Vec::new();
        if let Some((start, block)) = target {
            // Removed first: a new first record changes the key of the block.
            table.remove((key.0, start))?;
            change -= tables::size(&block);
            merged = tables::decode(&block).map_err(file::Failure::Block)?;
        }
        let mut added = Vec::new();
        while let Some(record) =
            records.next_if(|record| limit.is_none_or(|limit| record.source_timestamp.0 < limit))
        {
            added.push(record);
        }
        for (start, block) in tables::divide(merge(merged, added)) {
            change += tables::size(&block);
            table.insert((key.0, start), block.as_slice())?;
        }
    }
    Ok(change)
}

/// Merges two sorted lists; of two records with the same time the added one counts.
fn merge(old: Vec<HistoryRecord>, added: Vec<HistoryRecord>) -> Vec<HistoryRecord> {
    // Most records are appended in the order of time, and need no sort.
    let is_behind = match (old.last(), added.first()) {
        (Some(last), Some(first)) => last.source_timestamp < first.source_timestamp,
        _ => true,
    };
    let mut merged = old;
    if is_behind {
        merged.extend(added);
        return merged;
    }
    // A stable sort keeps the added one behind the old one.
    merged.extend(added);
    merged.reverse();
    merged.sort_by_key(|record| record.source_timestamp);
    merged.dedup_by_key(|record| record.source_timestamp);
    merged
}
