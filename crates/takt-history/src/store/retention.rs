//! Bounds of the store by size and age.

use std::collections::HashMap;
use std::time::Duration;

use redb::{ReadTransaction, ReadableTable, Table, WriteTransaction};
use takt_ua::DateTime;

use super::file::Failure;
use super::options::{HistoryStoreOptions, VariableKey};
use super::tables::{self, BLOCKS, SIZES};
/// Time between two searches for old records of all Variables.
const INTERVAL: Duration = Duration::from_secs(10);

/// Sizes of all Variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    sizes: HashMap<VariableKey, u64>,
    changed: Vec<VariableKey>,
    /// Time of the last search for old records, since the boot.
    searched: Option<Duration>,
}

impl Usage {
    pub(super) fn load(transaction: &ReadTransaction) -> Result<Self, Failure> {
        let mut usage = Self::default();
        for entry in transaction.open_table(SIZES)?.iter()? {
            let (key, size) = entry?;
            usage.sizes.insert(VariableKey(key.value()), size.value());
        }
        Ok(usage)
    }

    pub(super) fn total(&self) -> u64 {
        self.sizes.values().sum()
    }

    /// Changes the size of a Variable.
    pub(super) fn change(&mut self, key: VariableKey, change: i64) {
        let size = self.sizes.entry(key).or_default();
        *size = size.saturating_add_signed(change);
        if !self.changed.contains(&key) {
            self.changed.push(key);
        }
    }

    /// Returns the Variable with the most bytes.
    fn largest(&self) -> Option<VariableKey> {
        // The key decides between equal sizes, because the order of a HashMap is different in each run.
        let largest = self.sizes.iter().max_by_key(|(key, size)| (**size, **key));
        largest.filter(|(_, size)| **size > 0).map(|(key, _)| *key)
    }

    /// Writes the changed sizes.
    pub(super) fn save(&mut self, transaction: &WriteTransaction) -> Result<(), Failure> {
        let mut table = transaction.open_table(SIZES)?;
        for key in self.changed.drain(..) {
            let size = self.sizes.get(&key).copied().unwrap_or(0);
            table.insert(key.0, size)?;
        }
        Ok(())
    }
}

/// Removes records that are too old, and those for which there is no space. Ages count from the first time; the second one is that
/// since the boot.
pub(super) fn expire(
    transaction: &WriteTransaction,
    usage: &mut Usage,
    (options, ages): (&HistoryStoreOptions, &HashMap<VariableKey, Duration>),
    (now, since_boot): (DateTime, Duration),
) -> Result<(), Failure> {
    let mut table = transaction.open_table(BLOCKS)?;
    let is_due = usage
        .searched
        .is_none_or(|last| since_boot.saturating_sub(last) >= INTERVAL);
    if is_due {
        usage.searched = Some(since_boot);
        let keys: Vec<VariableKey> = usage.sizes.keys().copied().collect();
        for key in keys {
            if let Some(age) = ages.get(&key).copied().or(options.max_age) {
                remove_before(&mut table, usage, key, before(now, age))?;
            }
        }
    }
    // The largest Variable gives way, so that a fast one does not remove the history of slow ones.
    while usage.total() > options.max_size {
        let Some(key) = usage.largest() else { break };
        let first = table.range((key.0, i64::MIN)..=(key.0, i64::MAX))?.next();
        let first = first.transpose()?;
        let first = first.map(|(place, block)| (place.value(), tables::size(block.value())));
        match first {
            Some((place, size)) => {
                table.remove(place)?;
                usage.change(key, -size);
            }
            // The size was wrong: it counted no block. Without this the loop would not end.
            None => {
                usage.sizes.insert(key, 0);
                usage.changed.push(key);
            }
        }
    }
    Ok(())
}

fn before(now: DateTime, age: Duration) -> i64 {
    let age = i64::try_from(age.as_nanos() / 100).unwrap_or(i64::MAX);
    now.0.saturating_sub(age)
}

/// Removes the blocks of a Variable whose records are all before `limit`, but not its last block.
fn remove_before(
    table: &mut Table<'_, (u32, i64), &[u8]>,
    usage: &mut Usage,
    key: VariableKey,
    limit: i64,
) -> Result<(), Failure> {
    loop {
        let found = {
            let mut blocks = table.range((key.0, i64::MIN)..=(key.0, i64::MAX))?;
            let first = blocks.next().transpose()?;
            let second = blocks.next().transpose()?;
            match (first, second) {
                // All records of the first block are before the start of the second one.
                (Some((place, block)), Some((next, _))) if next.value().1 <= limit => {
                    (place.value(), tables::size(block.value()))
                }
                _ => return Ok(()),
            }
        };
        table.remove(found.0)?;
        usage.change(key, -found.1);
    }
}
