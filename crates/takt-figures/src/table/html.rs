//! Tables as HTML.

use std::fmt::Write as _;

use super::{Column, Row, Table};
use crate::chart::escaped;

/// Largest number of columns that a tablet has room for.
const NARROW: usize = 12;

impl Column {
    /// Returns group, heading and unit, for a cell that stands alone.
    fn label(&self) -> String {
        let mut label = self.heading.clone();
        if !self.group.is_empty() {
            label = format!("{}: {label}", self.group);
        }
        if !self.unit.is_empty() {
            label = format!("{label} {}", self.unit);
        }
        label
    }
}

impl Table {
    /// Returns the table as an HTML element. On a narrow screen, each row is a block of cells with their headings (`page.css`), so
    /// that no column is hidden. The first column has the headings of rows. A cell that begins with ✗ stands out.
    pub(crate) fn html(&self, caption: &str) -> String {
        let mut out = String::new();
        let caption = escaped(caption);
        let class = match self.columns.len() > NARROW {
            true => "table wide",
            false => "table",
        };
        // Writing into a String does not fail.
        let _ = writeln!(
            out,
            "<p class=\"caption\">{caption}</p>\n\
             <div class=\"{class}\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table>\n<thead>"
        );
        self.head(&mut out);
        out.push_str("</thead>\n<tbody>\n");
        let is_text = |index: usize| self.columns.get(index).is_some_and(|it| !it.is_number);
        for row in &self.rows {
            match row {
                Row::Text(text) => {
                    let _ = writeln!(
                        out,
                        "<tr><th class=\"section\" colspan=\"{}\">{}</th></tr>",
                        self.columns.len(),
                        escaped(text)
                    );
                }
                Row::Cells(cells) => {
                    out.push_str("<tr>");
                    for (index, cell) in cells.iter().enumerate() {
                        let (name, scope) = match index {
                            0 => ("th", " scope=\"row\""),
                            _ => ("td", ""),
                        };
                        // The sign begins verdicts that fail (`tables.rs` of takt-report).
                        let class = match (cell.starts_with('\u{2717}'), is_text(index)) {
                            (true, true) => " class=\"text bad\"",
                            (true, false) => " class=\"bad\"",
                            (false, true) => " class=\"text\"",
                            (false, false) => "",
                        };
                        let label = self.columns.get(index).map(Column::label);
                        let _ = write!(
                            out,
                            "<{name}{scope}{class} data-label=\"{}\">{}</{name}>",
                            escaped(&label.unwrap_or_default()),
                            escaped(cell)
                        );
                    }
                    out.push_str("</tr>\n");
                }
            }
        }
        out.push_str("</tbody>\n</table></div>\n");
        out
    }

    /// Writes the headings: names of groups above those of columns, if there are groups.
    fn head(&self, out: &mut String) {
        let has_groups = self.columns.iter().any(|it| !it.group.is_empty());
        if has_groups {
            out.push_str("<tr>");
            let mut index = 0;
            while let Some(column) = self.columns.get(index) {
                let same = self.columns.iter().skip(index);
                let count = match column.group.is_empty() {
                    true => 1,
                    false => same.take_while(|it| it.group == column.group).count(),
                };
                let _ = match column.group.is_empty() {
                    true => write!(out, "<td></td>"),
                    false => write!(
                        out,
                        "<th class=\"group\" scope=\"colgroup\" colspan=\"{count}\">{}</th>",
                        escaped(&column.group)
                    ),
                };
                index += count;
            }
            out.push_str("</tr>\n");
        }
        out.push_str("<tr>");
        for column in &self.columns {
            let class = if column.is_number {
                ""
            } else {
                " class=\"text\""
            };
            let unit = match column.unit.as_str() {
                "" => String::new(),
                unit => format!(" <small>{}</small>", escaped(unit)),
            };
            let heading = escaped(&column.heading);
            let _ = write!(out, "<th scope=\"col\"{class}>{heading}{unit}</th>");
        }
        out.push_str("</tr>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn cells_are_escaped_and_aligned() {
        let mut table = Table::new([
            Column::text("case"),
            Column::number("max").unit("\u{b5}s").group("wire"),
            Column::text("verdict").group("wire"),
        ]);
        table.text("a section");
        table.row(["a<b", "1.5", "\u{2717} fail"]);
        let html = table.html("times");
        for part in [
            "<p class=\"caption\">times</p>",
            "<td></td><th class=\"group\" scope=\"colgroup\" colspan=\"2\">wire</th>",
            "<th scope=\"col\">max <small>(\u{b5}s)</small></th>",
            "<th class=\"section\" colspan=\"3\">a section</th>",
            "<th scope=\"row\" class=\"text\" data-label=\"case\">a&lt;b</th>",
            "<td data-label=\"wire: max (\u{b5}s)\">1.5</td>",
            "<td class=\"text bad\" data-label=\"wire: verdict\">\u{2717} fail</td>",
            "<div class=\"table\" role",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
    }

    #[test]
    fn a_table_of_many_columns_is_wide() {
        let table = Table::new((0..=NARROW).map(|number| Column::number(format!("c{number}"))));
        assert!(table.html("").contains("<div class=\"table wide\""));
    }
}
