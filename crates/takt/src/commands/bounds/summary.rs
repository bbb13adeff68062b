//! Summary of a long table: its worst rows.

use std::cmp::Reverse;

/// Largest number of rows of a table that is printed completely.
const COMPLETE: usize = 100;
/// Number of rows of a summary.
const WORST: usize = 20;

/// Rows of a table that are printed.
pub(super) struct Shown<T> {
    pub(super) rows: Vec<T>,
    /// Number of all rows, if not all are printed.
    of: Option<usize>,
}

impl<T> Shown<T> {
    /// Selects the rows: all of them with `all` or if there are few, otherwise those with the greatest key.
    pub(super) fn new<K: Ord>(
        rows: impl IntoIterator<Item = T>,
        all: bool,
        key: impl Fn(&T) -> K,
    ) -> Self {
        let mut rows: Vec<T> = rows.into_iter().collect();
        let count = rows.len();
        if all || count <= COMPLETE {
            return Self { rows, of: None };
        }
        // The sort is stable: rows with the same key keep their order.
        rows.sort_by_cached_key(|row| Reverse(key(row)));
        rows.truncate(WORST);
        Self {
            rows,
            of: Some(count),
        }
    }

    /// Returns a line below a table that is not complete. `rows` names its rows.
    pub(super) fn note(&self, rows: &str) -> Option<String> {
        let of = self.of?;
        let shown = self.rows.len();
        Some(format!("{shown} of {of} {rows}; --all prints all of them"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_table_shows_its_worst_rows() {
        let shown = Shown::new(0..101, false, |row| *row);
        assert_eq!(shown.rows, (81..101).rev().collect::<Vec<_>>());
        let note = shown.note("numbers");
        assert_eq!(
            note.as_deref(),
            Some("20 of 101 numbers; --all prints all of them")
        );
        for (count, all) in [(100, false), (101, true)] {
            let shown = Shown::new(0..count, all, |row| *row);
            assert_eq!(shown.rows, (0..count).collect::<Vec<_>>());
            assert_eq!(shown.note("numbers"), None);
        }
    }
}
