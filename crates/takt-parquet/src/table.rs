//! Tables whose columns are known only when they are written.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Number of rows that are kept in memory, and written together.
const ROWS: usize = 1 << 16;

/// A table that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {reason}", path.display())]
pub struct ParquetTableError {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub reason: String,
}

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    Text,
    /// Integer of 64 bits.
    Integer,
    /// Floating-point number of 64 bits.
    Number,
}

/// Cell of a row. One of another type than its column is null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParquetCell<'a> {
    /// No value.
    Null,
    /// Text.
    Text(&'a str),
    /// Integer.
    Integer(i64),
    /// Number.
    Number(f64),
}

/// Values of a column that are not written yet.
enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
}

struct Column {
    values: Values,
    /// 1 for each value, 0 for each null.
    levels: Vec<i16>,
}

/// Parquet file with a row for each row of a table. Dropping it leaves an incomplete file: [`Self::finish`] completes it.
pub struct ParquetTable {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
}

impl ParquetTable {
    /// Creates the file with these columns, named `name`. A file of this name is replaced.
    ///
    /// # Errors
    /// The file cannot be created, or a name occurs twice.
    pub fn create(
        path: &Path,
        name: &str,
        columns: &[(String, CellKind)],
    ) -> Result<Self, ParquetTableError> {
        let created = || {
            let fields = columns.iter().map(|(name, kind)| field(name, *kind));
            let fields = fields.collect::<Result<Vec<_>, _>>()?;
            let schema = Type::group_type_builder(name).with_fields(fields).build()?;
            let file = File::create(path)?;
            let properties = Arc::new(WriterProperties::builder().build());
            SerializedFileWriter::new(file, Arc::new(schema), properties)
        };
        let columns = columns.iter().map(|(_, kind)| Column {
            values: match kind {
                CellKind::Text => Values::Text(Vec::new()),
                CellKind::Integer => Values::Integer(Vec::new()),
                CellKind::Number => Values::Number(Vec::new()),
            },
            levels: Vec::new(),
        });
        Ok(Self {
            path: path.to_owned(),
            columns: columns.collect(),
            rows: 0,
            writer: created().map_err(|error| failed(path, &error))?,
        })
    }

    /// Adds a row. Missing cells at its end are null.
    ///
    /// # Errors
    /// Rows could not be written.
    pub fn add<'a>(
        &mut self,
        cells: impl IntoIterator<Item = ParquetCell<'a>>,
    ) -> Result<(), ParquetTableError> {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let cell = cells.next().unwrap_or(ParquetCell::Null);
            let is_there = match (&mut column.values, cell) {
                (Values::Text(values), ParquetCell::Text(text)) => {
                    values.push(ByteArray::from(text));
                    true
                }
                (Values::Integer(values), ParquetCell::Integer(number)) => {
                    values.push(number);
                    true
                }
                (Values::Number(values), ParquetCell::Number(number)) => {
                    values.push(number);
                    true
                }
                _ => false,
            };
            column.levels.push(is_there.into());
        }
        self.rows += 1;
        if self.rows < ROWS {
            return Ok(());
        }
        self.write().map_err(|error| failed(&self.path, &error))
    }

    /// Writes the rows that are in memory.
    fn write(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let mut group = self.writer.next_row_group()?;
        let mut columns = self.columns.iter_mut();
        while let (Some(mut writer), Some(column)) = (group.next_column()?, columns.next()) {
            let levels = Some(column.levels.as_slice());
            match (writer.untyped(), &mut column.values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                    writer.write_batch(values, levels, None)?;
                    values.clear();
                }
                (ColumnWriter::Int64ColumnWriter(writer), Values::Integer(values)) => {
                    writer.write_batch(values, levels, None)?;
                    values.clear();
                }
                (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
                    writer.write_batch(values, levels, None)?;
                    values.clear();
                }
                _ => {}
            }
            column.levels.clear();
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(mut self) -> Result<(), ParquetTableError> {
        let written = self.write();
        let closed = written.and_then(|()| self.writer.close().map(|_| ()));
        closed.map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &ParquetError) -> ParquetTableError {
    ParquetTableError {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

fn field(name: &str, kind: CellKind) -> Result<Arc<Type>, ParquetError> {
    let physical = match kind {
        CellKind::Text => PhysicalType::BYTE_ARRAY,
        CellKind::Integer => PhysicalType::INT64,
        CellKind::Number => PhysicalType::DOUBLE,
    };
    let is_text = kind == CellKind::Text;
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(is_text.then_some(LogicalType::String));
    field.build().map(Arc::new)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rows.parquet");
        let columns = [
            ("case".to_owned(), CellKind::Text),
            ("seed".to_owned(), CellKind::Integer),
            ("values.a.mean ns".to_owned(), CellKind::Number),
        ];
        let mut table = ParquetTable::create(&path, "rows", &columns).unwrap();
        let count = ROWS as i64 + 3;
        for number in 0..count {
            let text = number.to_string();
            let seed = match number % 2 {
                0 => ParquetCell::Integer(number),
                _ => ParquetCell::Null,
            };
            let mean = ParquetCell::Number(number as f64 / 4.0);
            table.add([ParquetCell::Text(&text), seed, mean]).unwrap();
        }
        table.finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let mut number = 0;
        for row in reader.get_row_iter(None).unwrap() {
            let text = row.unwrap().to_string();
            let seed = match number % 2 {
                0 => number.to_string(),
                _ => "null".to_owned(),
            };
            assert!(
                text.contains(&format!("case: \"{number}\", seed: {seed}")),
                "{text}"
            );
            assert!(text.contains("values.a.mean ns"), "{text}");
            number += 1;
        }
        assert_eq!(number, count);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let error = ParquetTable::create(Path::new("/nowhere/rows.parquet"), "rows", &[]);
        let text = error.map(|_| ()).unwrap_err().to_string();
        assert!(text.starts_with("cannot write /nowhere/"), "{text}");
    }
}
