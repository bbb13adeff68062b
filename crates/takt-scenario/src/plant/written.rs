//! Parts of the network, as a scenario has them.

use super::file::PlantFile;
use crate::document::Table;
use crate::toml_text::{fields, key, value};

/// A table of the file, as TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTable {
    /// Heading: `[[links]]`, `[disciplines.tsn]`.
    pub heading: String,
    /// Line of the table in the file, from 1.
    pub line: usize,
    /// Keys and values.
    pub fields: Vec<(String, String)>,
}

impl PlantFile {
    /// Returns the tables of one part of the network: `topology`, `links`, `disciplines`, `ports`, `cross_traffic`, `bounds`,
    /// `simulation`. Empty if the file does not have it.
    #[must_use]
    pub fn written_tables(&self, part: &str) -> Vec<WrittenTable> {
        let written = |heading: String, place: usize, table: &Table| WrittenTable {
            heading,
            line: self.line(place),
            fields: fields(table),
        };
        let Some(item) = self.document.get(part) else {
            return Vec::new();
        };
        match item.table() {
            Some(tables) if part == "disciplines" => {
                let tables = tables.fields.iter();
                let tables = tables.filter_map(|(name, item)| {
                    let heading = format!("[disciplines.{}]", key(&name.name));
                    Some(written(heading, name.span.start, item.table()?))
                });
                tables.collect()
            }
            Some(table) => vec![written(format!("[{part}]"), item.span.start, table)],
            None => {
                let tables = self.document.tables(part);
                let tables = tables
                    .map(|(item, table)| written(format!("[[{part}]]"), item.span.start, table));
                tables.collect()
            }
        }
    }

    /// Returns a field at the beginning of the file that is no table, as TOML, with its line from 1.
    #[must_use]
    pub fn written_field(&self, name: &str) -> Option<(String, usize)> {
        let item = self.document.get(name)?;
        Some((value(item), self.line(item.span.start)))
    }
}
