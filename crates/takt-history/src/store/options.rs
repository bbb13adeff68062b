//! Limits of a store, and the numbers of its Variables.

use std::time::Duration;

/// Number of a Variable in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableKey(pub(crate) u32);

/// Limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryStoreOptions {
    /// Bytes of all records in the file. If there are more, the Variable with the most gives up its oldest ones.
    pub max_size: u64,
    /// Age from which records are removed; `None`: only the size counts. The last block of a Variable is kept.
    pub max_age: Option<Duration>,
}

impl HistoryStoreOptions {
    /// Default of [`max_size`](Self::max_size).
    pub const DEFAULT_SIZE: u64 = 256 << 20;
}

impl Default for HistoryStoreOptions {
    fn default() -> Self {
        Self {
            max_size: Self::DEFAULT_SIZE,
            max_age: None,
        }
    }
}
