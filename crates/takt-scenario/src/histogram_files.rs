//! Histogram files of a scenario: each is read once, so that all values of a scenario have the same contents of a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Size in bytes of the longest histogram file; those of cyclictest have some kilobytes.
const LONGEST: u64 = 16 << 20;

/// Texts of the histogram files that were read, by their names in the scenario. Copies share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct HistogramFiles {
    texts: Arc<Mutex<BTreeMap<String, Arc<str>>>>,
}

impl HistogramFiles {
    /// Returns the text of a file, which is read if it was not yet.
    pub(crate) fn read(&self, directory: &Path, name: &str) -> Result<Arc<str>, String> {
        if let Some(text) = self.get(name) {
            return Ok(text);
        }
        let path = directory.join(name);
        let unreadable =
            |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        // A device could be read without end.
        let file = std::fs::metadata(&path).map_err(|error| unreadable(&error))?;
        if !file.is_file() || file.len() > LONGEST {
            return Err(unreadable(&"not a file of at most 16 MiB"));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first: its text is the one that counts.
        let text = texts.entry(name.to_owned()).or_insert_with(|| text.into());
        Ok(Arc::clone(text))
    }

    /// Returns the text of a file that was read.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<str>> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(name).map(Arc::clone)
    }
}
