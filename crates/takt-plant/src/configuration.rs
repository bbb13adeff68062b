//! Configurations with the places of their values.

use std::fmt;

use takt_pubsub::configuration::ConfigurationFile;
use takt_scenario::toml_text::visible;

use crate::lines::{Lines, Step};

/// A PubSub configuration, and the file that it comes from.
#[derive(Debug, Clone)]
pub struct PlantConfiguration {
    pub(crate) name: String,
    pub(crate) file: ConfigurationFile,
    lines: Lines,
}

/// File and line of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
    /// Name of the file.
    pub file: String,
    /// Line from 1; `None` for a file without lines.
    pub line: Option<usize>,
}

impl PlantConfiguration {
    /// Creates a configuration; `name` is that of its file, and `text` its content if it is TOML.
    #[must_use]
    pub fn new(name: &str, file: ConfigurationFile, text: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            file,
            lines: text.map(Lines::of_toml).unwrap_or_default(),
        }
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the origin of a value.
    pub(crate) fn origin(&self, path: &[Step<'_>]) -> ValueOrigin {
        ValueOrigin {
            file: self.name.clone(),
            line: self.lines.line(path),
        }
    }
}

/// Writes `press.toml:12`, without characters that command a terminal.
impl fmt::Display for ValueOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = visible(&self.file);
        match self.line {
            Some(line) => write!(formatter, "{file}:{line}"),
            None => formatter.write_str(&file),
        }
    }
}
