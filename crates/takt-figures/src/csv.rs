//! CSV files (RFC 4180).

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// A CSV file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct CsvError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the operating system.
    #[source]
    pub error: std::io::Error,
}

/// A CSV file that is being written. The first error is kept, and nothing is written after it.
#[derive(Debug)]
pub struct CsvFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// Row that is being composed.
    line: String,
    /// True from the first error on.
    has_failed: bool,
    /// The first error, until it is returned.
    error: Option<std::io::Error>,
}

impl CsvFile {
    /// Creates the file, or replaces it, and writes the heading.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(path: &Path, heading: &[&str]) -> Result<Self, CsvError> {
        let file = File::create(path).map_err(|error| CsvError {
            path: path.to_owned(),
            error,
        })?;
        let mut csv = Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            line: String::new(),
            has_failed: false,
            error: None,
        };
        csv.row(heading);
        csv.check()?;
        Ok(csv)
    }

    /// Writes a row. An error is kept for [`Self::check`] and [`Self::finish`].
    pub fn row<T: Display>(&mut self, fields: impl IntoIterator<Item = T>) {
        if self.has_failed {
            return;
        }
        self.line.clear();
        for (index, field) in fields.into_iter().enumerate() {
            if index > 0 {
                self.line.push(',');
            }
            let start = self.line.len();
            // Writing into a String does not fail.
            let _ = write!(self.line, "{field}");
            quote(&mut self.line, start);
        }
        self.line.push('\n');
        let written = self.file.write_all(self.line.as_bytes());
        self.note(written);
    }

    /// Returns the first error, if there was one, and after that an error without its cause.
    ///
    /// # Errors
    /// A row could not be written.
    pub fn check(&mut self) -> Result<(), CsvError> {
        if !self.has_failed {
            return Ok(());
        }
        let error = self.error.take();
        Err(CsvError {
            path: self.path.clone(),
            error: error.unwrap_or_else(|| std::io::Error::other("an earlier row is missing")),
        })
    }

    fn note(&mut self, outcome: std::io::Result<()>) {
        if let Err(error) = outcome {
            self.has_failed = true;
            self.error = Some(error);
        }
    }

    /// Writes the buffered rows.
    ///
    /// # Errors
    /// A row could not be written.
    pub fn finish(mut self) -> Result<(), CsvError> {
        self.check()?;
        let flushed = self.file.flush();
        self.note(flushed);
        self.check()
    }
}

/// Puts the field that begins at `start` into quotation marks if it needs them.
fn quote(line: &mut String, start: usize) {
    let field = line.get(start..).unwrap_or_default();
    if field.contains([',', '"', '\n', '\r']) {
        let quoted = format!("\"{}\"", field.replace('"', "\"\""));
        line.replace_range(start.., &quoted);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut csv = CsvFile::create(&path, &["name", "value"]).unwrap();
        csv.row(["plain", "1.5"]);
        csv.row(["a,b", "say \"x\""]);
        csv.row(["two\nlines", ""]);
        csv.finish().unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "name,value\nplain,1.5\n\"a,b\",\"say \"\"x\"\"\"\n\"two\nlines\",\n"
        );
    }

    #[test]
    fn errors_name_the_file() {
        let error = CsvFile::create(Path::new("/nowhere/a.csv"), &["a"]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot write /nowhere/a.csv: ")
        );
        let full = Path::new("/dev/full");
        let mut csv = CsvFile::create(full, &["a"]).unwrap();
        for row in 0..100_000 {
            csv.row([row]);
        }
        let error = csv.check().unwrap_err();
        assert!(error.to_string().starts_with("cannot write /dev/full: "));
        // After an error that was returned, the file is no better.
        let last = csv.line.clone();
        csv.row(["more"]);
        assert_eq!(csv.line, last);
        assert!(csv.check().is_err());
        assert!(csv.finish().is_err());
    }
}
