//! Rows that are there: an index into the files of a campaign's folder. Rows stay in the files, since a campaign may have a million.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::case::RowKey;
use crate::error::CampaignError;
use crate::folder::{JOURNAL, ROWS};
use crate::row::CampaignRow;

/// Place and short description of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRow {
    in_journal: bool,
    offset: u64,
    /// Length in bytes, with the end of the line.
    length: usize,
    /// Seed of the row.
    pub(crate) seed: Option<u64>,
    /// Value of the stop rule's quantity.
    pub(crate) value: Option<f64>,
    /// True if the row has a failure in place of quantities.
    pub(crate) has_failed: bool,
}

/// Rows of a folder, to which rows are added.
#[derive(Debug)]
pub(crate) struct RowStore {
    /// Rows of an earlier, complete run.
    complete: Option<(PathBuf, File)>,
    journal: (PathBuf, File),
    /// End of the journal's last row.
    end: u64,
    /// Quantity of the stop rule.
    quantity: Option<String>,
    rows: HashMap<RowKey, StoredRow>,
    /// Number of lines that are no rows.
    pub(crate) damaged: usize,
}

impl RowStore {
    /// Opens the rows of a folder. A row that was not written completely is removed.
    pub(crate) fn open(directory: &Path, quantity: Option<&str>) -> Result<Self, CampaignError> {
        let path = directory.join(JOURNAL);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let journal = options.open(&path);
        let journal = journal.map_err(|error| CampaignError::io(&path, error))?;
        let complete = directory.join(ROWS);
        let complete = match File::open(&complete) {
            Ok(file) => Some((complete, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(CampaignError::io(&complete, error)),
        };
        let mut store = Self {
            complete,
            journal: (path, journal),
            end: 0,
            quantity: quantity.map(str::to_owned),
            rows: HashMap::new(),
            damaged: 0,
        };
        store.index(false)?;
        store.end = store.index(true)?;
        let (path, journal) = &store.journal;
        // The next row begins a line.
        let cut = journal.set_len(store.end);
        cut.map_err(|error| CampaignError::io(path, error))?;
        Ok(store)
    }

    /// Returns the number of rows of a folder.
    pub(crate) fn count(directory: &Path) -> usize {
        let lines = |name| {
            let file = File::open(directory.join(name)).map(BufReader::new);
            file.map_or(0, |file| file.split(b'\n').map_while(Result::ok).count())
        };
        lines(JOURNAL).max(lines(ROWS))
    }

    /// Notes the rows of a file, and returns the end of its last complete line.
    fn index(&mut self, in_journal: bool) -> Result<u64, CampaignError> {
        let (path, file) = match (in_journal, &self.complete) {
            (true, _) => &self.journal,
            (false, Some(complete)) => complete,
            (false, None) => return Ok(0),
        };
        let failed = |error| CampaignError::io(path, error);
        let mut reader = BufReader::new(file.try_clone().map_err(failed)?);
        let (mut offset, mut line) = (0, Vec::new());
        let (mut found, mut damaged) = (Vec::new(), 0);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if line.last() != Some(&b'\n') {
                break;
            }
            let row = serde_json::from_slice::<CampaignRow>(&line).ok();
            match row.and_then(|row| Some((row.key()?, row))) {
                Some((key, row)) => {
                    found.push((key, self.stored(&row, in_journal, offset, length)));
                }
                // The power failed before the disk had the line.
                None => damaged += 1,
            }
            offset += length as u64;
        }
        self.rows.extend(found);
        self.damaged += damaged;
        Ok(offset)
    }

    fn stored(&self, row: &CampaignRow, in_journal: bool, offset: u64, length: usize) -> StoredRow {
        let quantity = self.quantity.as_deref();
        StoredRow {
            in_journal,
            offset,
            length,
            seed: row.seed,
            value: quantity.and_then(|quantity| row.number(quantity)),
            has_failed: row.failure.is_some(),
        }
    }

    /// Adds a row to the journal.
    pub(crate) fn add(&mut self, key: RowKey, row: &CampaignRow) -> Result<(), CampaignError> {
        let (path, journal) = &self.journal;
        let failed = |error| CampaignError::io(path, error);
        let line = serde_json::to_string(row).map_err(|error| failed(error.into()))? + "\n";
        journal
            .write_all_at(line.as_bytes(), self.end)
            .map_err(failed)?;
        let stored = self.stored(row, true, self.end, line.len());
        self.rows.insert(key, stored);
        self.end += line.len() as u64;
        Ok(())
    }

    /// Returns the description of a row.
    pub(crate) fn get(&self, key: &RowKey) -> Option<&StoredRow> {
        self.rows.get(key)
    }

    /// Returns the keys and descriptions of all rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&RowKey, &StoredRow)> {
        self.rows.iter()
    }

    /// Reads the line of a row.
    pub(crate) fn line(&self, row: &StoredRow) -> Result<Vec<u8>, CampaignError> {
        let (path, file) = match (row.in_journal, &self.complete) {
            (false, Some(complete)) => complete,
            _ => &self.journal,
        };
        let mut line = vec![0; row.length];
        let read = file.read_exact_at(&mut line, row.offset);
        read.map_err(|error| CampaignError::io(path, error))?;
        Ok(line)
    }

    /// Leaves the folder as it was: an empty journal would look like rows that are missing.
    pub(crate) fn abandon(self) {
        if self.end == 0 {
            // It is removed by the next complete run otherwise.
            let _ = fs::remove_file(self.journal.0);
        }
    }

    /// Removes the journal, whose rows are in the complete file now.
    pub(crate) fn finish(self) -> Result<(), CampaignError> {
        let (path, _) = self.journal;
        fs::remove_file(&path).map_err(|error| CampaignError::io(&path, error))
    }
}
