//! Samples of the comparison of middleware: one row for each answered request.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::delays::DelayFileError;
use crate::texts::Texts;

/// Columns, in the syntax of Parquet's messages.
const SCHEMA: &str = "message samples {
    REQUIRED BYTE_ARRAY peer (UTF8);
    REQUIRED BYTE_ARRAY mode (UTF8);
    REQUIRED BYTE_ARRAY condition (UTF8);
    REQUIRED INT64 bytes;
    REQUIRED INT64 round;
    REQUIRED INT64 nanos;
}";

/// Answered request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRow<'a> {
    /// Peer, with the options of its variant.
    pub peer: &'a str,
    /// Kind of the request.
    pub mode: &'a str,
    /// Load of the machine, or rest.
    pub condition: &'a str,
    /// Bytes of the payload.
    pub bytes: u32,
    /// Number of the round, from 0 on.
    pub round: u32,
    /// Round trip in nanoseconds.
    pub nanos: i64,
}

/// Writes a file. A file of this name is replaced.
///
/// # Errors
/// The file cannot be written.
pub fn write_samples<'a>(
    path: &Path,
    rows: impl Iterator<Item = SampleRow<'a>>,
) -> Result<(), DelayFileError> {
    let mut texts = [Texts::default(), Texts::default(), Texts::default()];
    let mut numbers = [Vec::new(), Vec::new(), Vec::new()];
    for row in rows {
        for (column, text) in texts.iter_mut().zip([row.peer, row.mode, row.condition]) {
            column.add(text);
        }
        let values = [i64::from(row.bytes), i64::from(row.round), row.nanos];
        for (column, value) in numbers.iter_mut().zip(values) {
            column.push(value);
        }
    }
    write(path, &texts, &numbers).map_err(|error| DelayFileError {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn write(path: &Path, texts: &[Texts; 3], numbers: &[Vec<i64>; 3]) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, properties)?;
    let mut group = writer.next_row_group()?;
    let (mut texts, mut numbers) = (texts.iter(), numbers.iter());
    while let Some(mut column) = group.next_column()? {
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                if let Some(texts) = texts.next() {
                    writer.write_batch(&texts.values, None, None)?;
                }
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                if let Some(numbers) = numbers.next() {
                    writer.write_batch(numbers, None, None)?;
                }
            }
            _ => {}
        }
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn samples_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        let row = |round: u32| SampleRow {
            peer: "fastdds transport=shm",
            mode: if round == 0 { "echo" } else { "ack" },
            condition: "idle",
            bytes: 1024,
            round,
            nanos: 80_000 + i64::from(round),
        };
        write_samples(&path, (0..3).map(row)).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let found: Vec<String> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().to_string())
            .collect();
        assert_eq!(found.len(), 3);
        for part in [
            "peer: \"fastdds transport=shm\"",
            "mode: \"ack\"",
            "condition: \"idle\"",
            "bytes: 1024",
            "nanos: 80002",
        ] {
            assert!(found[2].contains(part), "{part}: {found:?}");
        }
        assert!(write_samples(Path::new("/nowhere/a.parquet"), (0..1).map(row)).is_err());
    }
}
