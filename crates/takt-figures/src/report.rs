//! Output of a command: lines and tables for people, or JSON rows for programs.

use serde::Serialize;

use crate::table::{Layout, Table, wrapped};

/// Largest width of a line of a remark.
const NOTE: usize = 100;

/// Output of a command. It passes on each line. For programs a line is a JSON object.
pub struct Report<L> {
    line: L,
    json: bool,
    width: Option<usize>,
    mark: Option<Mark>,
}

/// Mark of results that must not be taken for others.
struct Mark {
    /// Name and value of a field of each JSON row.
    field: (&'static str, String),
    /// Remark for people.
    remark: String,
}

impl<L: FnMut(String)> Report<L> {
    /// Creates the output for people or, with `json`, for programs. Tables keep within the width of the terminal.
    pub fn new(line: L, json: bool) -> Self {
        Self {
            line,
            json,
            width: crate::terminal::width(),
            mark: None,
        }
    }

    /// Marks all results: a remark comes first and behind each table, and each JSON row that is an object has this field.
    #[must_use]
    pub fn marked(
        mut self,
        (name, value): (&'static str, impl Into<String>),
        remark: impl Into<String>,
    ) -> Self {
        let mark = Mark {
            field: (name, value.into()),
            remark: remark.into(),
        };
        self.note(&mark.remark);
        self.mark = Some(mark);
        self
    }

    /// Adds a line for people.
    pub fn line(&mut self, text: impl Into<String>) {
        if !self.json {
            (self.line)(text.into());
        }
    }

    /// Adds lines for people.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.line(line);
        }
    }

    /// Adds a table for people.
    pub fn table(&mut self, table: &Table) {
        if self.json {
            return;
        }
        self.lines(table.lines(self.width));
        if let Some(mark) = &self.mark {
            let remark = mark.remark.clone();
            self.note(&remark);
        }
    }

    /// Returns the widths of a table whose rows come one after the other.
    pub fn layout(&self, table: &Table) -> Layout {
        table.layout(self.width)
    }

    /// Adds a remark on the origin of the results. With JSON it goes to the log, because the output has rows only.
    pub fn note(&mut self, note: &str) {
        if self.json {
            tracing::info!("{note}");
        } else {
            let width = self.width.unwrap_or(NOTE).min(NOTE);
            self.lines(wrapped(note, width));
        }
    }

    /// Adds a JSON row for programs.
    ///
    /// # Errors
    /// The row cannot be represented as JSON.
    pub fn row<T: Serialize>(&mut self, row: &T) -> Result<(), serde_json::Error> {
        if self.json {
            let row = self.row_text(row)?;
            (self.line)(row);
        }
        Ok(())
    }

    /// Returns the text of a JSON row, with the mark of all results.
    ///
    /// # Errors
    /// The row cannot be represented as JSON.
    pub fn row_text<T: Serialize>(&self, row: &T) -> Result<String, serde_json::Error> {
        let Some(Mark { field, .. }) = &self.mark else {
            return serde_json::to_string(row);
        };
        let mut row = serde_json::to_value(row)?;
        if let Some(object) = row.as_object_mut() {
            object.insert(field.0.to_owned(), field.1.as_str().into());
        }
        serde_json::to_string(&row)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::table::Column;

    fn output(json: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let mut report = Report::new(|line| lines.push(line), json);
        let mut table = Table::new([Column::text("name"), Column::number("count")]);
        table.row(["a", "1"]);
        report.note("note");
        report.line("line");
        report.table(&table);
        report.row(&serde_json::json!({"name": "a"})).unwrap();
        lines
    }

    #[test]
    fn text_output_has_tables_and_json_output_has_rows() {
        assert_eq!(
            output(false),
            ["note", "line", "name  count", "a         1"]
        );
        assert_eq!(output(true), [r#"{"name":"a"}"#]);
    }

    #[test]
    fn marked_results_say_so_in_each_table_and_row() {
        let marked = |json| {
            let mut lines = Vec::new();
            let report = Report::new(|line| lines.push(line), json);
            let mut report = report.marked(("profile", "debug"), "not measured");
            let mut table = Table::new([Column::text("name")]);
            table.row(["a"]);
            report.table(&table);
            report.row(&serde_json::json!({"name": "a"})).unwrap();
            lines
        };
        assert_eq!(marked(false), ["not measured", "name", "a", "not measured"]);
        assert_eq!(marked(true), [r#"{"name":"a","profile":"debug"}"#]);
    }
}
