//! TOML file: structures that serde reads and writes, each of which is converted to and from the structure of the standard.
//!
//! Parts without a shorter form can be written as the structure of the standard. A written file is read again and compared, so
//! that nothing is lost silently.

mod connection;
mod data_set;
mod data_type;
mod document;
mod field;
mod group;
mod link_times;
mod mask;
mod problem;
mod property;
mod reader_group;
mod scalar;
mod security;
mod settings;
mod table;
mod value;
mod writer_group;

use super::{ConfigurationFile, TomlError, UnrepresentableError, to_binary_file};
use document::Document;

/// Reads a TOML configuration; `docs/pubsub.md` is its reference.
///
/// # Errors
/// [`TomlError`], with line and column, if the text is not TOML, or a part is unknown, missing or wrong.
pub fn from_toml(text: &str) -> Result<ConfigurationFile, TomlError> {
    let document: Document = ::toml::from_str(text)
        .map_err(|error| TomlError::new(text, error.message(), error.span()))?;
    document
        .read()
        .map_err(|problem| TomlError::new(text, &problem.message, Some(problem.span)))
}

/// Writes a TOML configuration.
///
/// # Errors
/// TOML cannot represent all of it. [`from_toml`] returns exactly the file that was written.
pub fn to_toml(file: &ConfigurationFile) -> Result<String, UnrepresentableError> {
    let text = ::toml::to_string(&Document::write(file))
        .map_err(|error| UnrepresentableError::Text(error.to_string()))?;
    let read = from_toml(&text)?;
    if to_binary_file(&read)? == to_binary_file(file)? {
        return Ok(text);
    }
    Err(UnrepresentableError::Lost(lost(file, &read)))
}

/// Returns the name of the part that is read back with another value.
fn lost(file: &ConfigurationFile, read: &ConfigurationFile) -> String {
    let (file, read) = (&file.configuration, &read.configuration);
    let connections = file.connections.iter().zip(&read.connections);
    let data_sets = file
        .published_data_sets
        .iter()
        .zip(&read.published_data_sets);
    let mut parts = Vec::new();
    for (connection, found) in connections.filter(|(connection, found)| connection != found) {
        parts.push(format!("connection '{}'", connection.name));
        let groups = connection.writer_groups.iter().zip(&found.writer_groups);
        let groups = groups.filter(|(group, found)| group != found);
        parts.extend(groups.map(|(group, _)| format!("WriterGroup '{}'", group.name)));
        let groups = connection.reader_groups.iter().zip(&found.reader_groups);
        let groups = groups.filter(|(group, found)| group != found);
        parts.extend(groups.map(|(group, _)| format!("ReaderGroup '{}'", group.name)));
    }
    let data_sets = data_sets.filter(|(data_set, found)| data_set != found);
    parts.extend(data_sets.map(|(data_set, _)| format!("PublishedDataSet '{}'", data_set.name)));
    if parts.is_empty() {
        parts.push("the configuration".to_owned());
    }
    parts.join(", ")
}
