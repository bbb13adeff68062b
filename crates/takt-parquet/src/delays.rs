//! Delays of messages: one row for each delay of each message.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::texts::Texts;

/// Columns, in the syntax of Parquet's messages.
const SCHEMA: &str = "message delays {
    REQUIRED BYTE_ARRAY run (UTF8);
    REQUIRED BYTE_ARRAY case (UTF8);
    REQUIRED BYTE_ARRAY application (UTF8);
    REQUIRED BYTE_ARRAY interval (UTF8);
    REQUIRED INT64 counter (INTEGER(64, false));
    REQUIRED INT64 began (TIMESTAMP(NANOS, true));
    REQUIRED INT64 delay_ns;
    REQUIRED BOOLEAN counted;
}";

/// Number of rows that are kept in memory, and written together.
const ROWS: usize = 1 << 20;

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {reason}", path.display())]
pub struct DelayFileError {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub reason: String,
}

/// Delay of a message in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayRow<'a> {
    /// Run.
    pub run: &'a str,
    /// Case of the run.
    pub case: &'a str,
    /// Application.
    pub application: &'a str,
    /// Interval between two trace points.
    pub interval: &'a str,
    /// Counter of the message.
    pub counter: u64,
    /// Beginning of the interval in nanoseconds since 1970, UTC.
    pub began: i64,
    /// Delay in nanoseconds.
    pub nanos: i64,
    /// False if the message is left out at an end of the run.
    pub is_counted: bool,
}

/// Parquet file with a row for each delay. Dropping it leaves an incomplete file: [`Self::finish`] completes it.
pub struct DelayFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    /// Number of rows that are written together.
    rows: usize,
    texts: [Texts; 4],
    counters: Vec<i64>,
    began: Vec<i64>,
    nanos: Vec<i64>,
    counted: Vec<bool>,
    error: Option<ParquetError>,
}

impl DelayFile {
    /// Creates the file. A file of this name is replaced.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> Result<Self, DelayFileError> {
        let failed = |reason: String| DelayFileError {
            path: path.to_owned(),
            reason,
        };
        let schema = parse_message_type(SCHEMA).map_err(|error| failed(error.to_string()))?;
        let file = File::create(path).map_err(|error| failed(error.to_string()))?;
        let mut properties = WriterProperties::builder();
        // Neighbouring counters and times differ by little.
        for column in ["counter", "began", "delay_ns"] {
            let column = ColumnPath::from(column);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(file, Arc::new(schema), properties);
        Ok(Self {
            path: path.to_owned(),
            writer: writer.map_err(|error| failed(error.to_string()))?,
            rows: ROWS,
            texts: Default::default(),
            counters: Vec::new(),
            began: Vec::new(),
            nanos: Vec::new(),
            counted: Vec::new(),
            error: None,
        })
    }

    /// Adds a row. An error is reported by [`Self::finish`].
    pub fn add(&mut self, row: &DelayRow<'_>) {
        if self.error.is_some() {
            return;
        }
        let texts = [row.run, row.case, row.application, row.interval];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.add(text);
        }
        self.counters.push(row.counter.cast_signed());
        self.began.push(row.began);
        self.nanos.push(row.nanos);
        self.counted.push(row.is_counted);
        if self.counters.len() >= self.rows {
            self.error = self.write().err();
        }
    }

    /// Writes the rows that are in memory.
    fn write(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut texts = self.texts.iter_mut();
        let mut numbers = [&mut self.counters, &mut self.began, &mut self.nanos].into_iter();
        while let Some(mut column) = group.next_column()? {
            match column.untyped() {
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    if let Some(texts) = texts.next() {
                        writer.write_batch(&texts.values, None, None)?;
                        texts.values.clear();
                    }
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    if let Some(numbers) = numbers.next() {
                        writer.write_batch(numbers, None, None)?;
                        numbers.clear();
                    }
                }
                ColumnWriter::BoolColumnWriter(writer) => {
                    writer.write_batch(&self.counted, None, None)?;
                    self.counted.clear();
                }
                _ => {}
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(mut self) -> Result<(), DelayFileError> {
        if self.error.is_none() && !self.counters.is_empty() {
            self.error = self.write().err();
        }
        let path = self.path;
        let closed = match self.error {
            Some(error) => Err(error),
            None => self.writer.close().map(|_| ()),
        };
        closed.map_err(|error| DelayFileError {
            path,
            reason: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    fn row(number: u64) -> DelayRow<'static> {
        DelayRow {
            run: "line",
            case: if number.is_multiple_of(2) {
                "001"
            } else {
                "002"
            },
            application: "control",
            interval: "wire round trip",
            counter: u64::MAX - number,
            began: 1_790_000_000_000_000_000 + number.cast_signed(),
            nanos: number.cast_signed() - 5,
            is_counted: number > 2,
        }
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("delays.parquet");
        let mut file = DelayFile::create(&path).unwrap();
        file.rows = 2_000;
        let count = 2_010;
        (0..count).for_each(|number| file.add(&row(number)));
        file.finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let mut number = 0;
        for found in reader.get_row_iter(None).unwrap() {
            let text = found.unwrap().to_string();
            let it = row(number);
            let expected = [
                format!("case: \"{}\"", it.case),
                "interval: \"wire round trip\"".to_owned(),
                format!("counter: {}", it.counter),
                format!("delay_ns: {}", it.nanos),
                format!("counted: {}", it.is_counted),
            ];
            for part in expected {
                assert!(text.contains(&part), "{part}: {text}");
            }
            number += 1;
        }
        assert_eq!(number, count);
        // Four texts, three numbers and a truth value in each row take a few bits.
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes < count * 4, "{bytes}");
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let error = DelayFile::create(Path::new("/nowhere/delays.parquet"));
        let error = error.map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /nowhere/"));
    }

    #[test]
    fn a_file_without_rows_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.parquet");
        DelayFile::create(&path).unwrap().finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
