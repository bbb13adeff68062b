//! Tables as Markdown.

use std::fmt::Write as _;

use super::{Row, Table};

impl Table {
    /// Returns the table as a Markdown table (GitHub Flavored Markdown, section 4.10). Names of groups are left out. A line between
    /// rows is in the first column.
    #[must_use]
    pub fn markdown(&self) -> String {
        let headings = self.columns.iter().map(|it| match it.unit.as_str() {
            "" => it.heading.clone(),
            unit => format!("{} {unit}", it.heading),
        });
        let mut out = line(headings);
        let rule = |is_number: bool| if is_number { "---:" } else { "---" };
        out.push_str(&line(
            self.columns.iter().map(|it| rule(it.is_number).to_owned()),
        ));
        for row in &self.rows {
            out.push_str(&match row {
                Row::Text(text) => line([text.clone()]),
                Row::Cells(cells) => line(cells.iter().cloned()),
            });
        }
        out
    }
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        // A bar would begin another cell. Writing into a String does not fail.
        let _ = write!(line, " {} |", cell.replace('|', "\\|"));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn cells_are_between_bars() {
        let mut table = Table::new([Column::text("peer"), Column::number("max").unit("ms")]);
        table.row(["a|b", "1.5"]);
        table.text("a section");
        let expected = "| peer | max (ms) |\n| --- | ---: |\n| a\\|b | 1.5 |\n| a section |\n";
        assert_eq!(table.markdown(), expected);
    }
}
