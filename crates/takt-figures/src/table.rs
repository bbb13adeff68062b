//! Tables of text: aligned columns with headings, within the width of a terminal.

use std::ops::Range;

use crate::text::escaped;

/// Blanks between two columns.
const GAP: usize = 2;
/// Width that a column of text keeps if there is not enough room.
const NARROW: usize = 14;

/// Column with its heading and the alignment of its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    heading: String,
    unit: String,
    group: String,
    is_number: bool,
    is_whole: bool,
    at_least: usize,
}

impl Column {
    /// Creates a column of text, aligned to the left. If there is not enough room, its cells are wrapped.
    pub fn text(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            unit: String::new(),
            group: String::new(),
            is_number: false,
            is_whole: false,
            at_least: 0,
        }
    }

    /// Creates a column of numbers, aligned to the right. Its cells are never wrapped.
    pub fn number(heading: impl Into<String>) -> Self {
        Self {
            is_number: true,
            ..Self::text(heading)
        }
    }

    /// Never wraps the cells, such as identifiers that are copied into a command.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Adds the unit below the heading.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = format!("({unit})");
        self
    }

    /// Puts the column below a heading that it has in common with its neighbours of the same group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// Sets the smallest width, for tables whose rows are not known when the heading is printed.
    #[must_use]
    pub fn at_least(mut self, width: usize) -> Self {
        self.at_least = width;
        self
    }

    /// Returns the width without wrapped cells. The heading is wrapped at blanks.
    fn width<'c>(&self, cells: impl Iterator<Item = &'c String>) -> usize {
        let cells = cells.map(|cell| length(cell));
        let words = self.heading.split(' ').chain([self.unit.as_str()]);
        let words = words.map(length);
        cells.chain(words).max().unwrap_or(0).max(self.at_least)
    }
}

/// Returns cells without commands to the terminal: a name of a file or of a stranger must not begin a line of its own.
fn printable_cells<T: Into<String>>(cells: impl IntoIterator<Item = T>) -> Vec<String> {
    let cells = cells.into_iter().map(Into::into);
    cells.map(|cell| escaped(&cell)).collect()
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    Cells(Vec<String>),
    Text(String),
}

/// Table of columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with a cell for each column.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(Row::Cells(printable_cells(cells)));
    }

    /// Adds a line between rows that belongs to no column, for example the title of a section.
    pub fn text(&mut self, text: impl Into<String>) {
        self.rows.push(Row::Text(escaped(&text.into())));
    }

    /// Returns true if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines of the table. Within `width`, columns of text are wrapped first. Columns that still have no room go into
    /// further blocks below, each of which repeats the leading columns of text.
    #[must_use]
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let layout = self.layout(width);
        let mut lines = Vec::new();
        for block in layout.blocks(width) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let is_first = block.is_first;
            lines.extend(layout.head_of(&block.columns));
            for row in &self.rows {
                match row {
                    Row::Cells(cells) => lines.extend(layout.row_of(&block.columns, cells)),
                    Row::Text(text) if is_first => {
                        lines.extend(wrapped(text, width.unwrap_or(usize::MAX)));
                    }
                    Row::Text(_) => {}
                }
            }
        }
        lines
    }

    /// Returns the widths of the columns, for the rows of the table.
    #[must_use]
    pub fn layout(&self, width: Option<usize>) -> Layout {
        let cells = |column: usize| {
            self.rows.iter().filter_map(move |row| match row {
                Row::Cells(cells) => cells.get(column),
                Row::Text(_) => None,
            })
        };
        let columns = self.columns.iter().enumerate();
        let mut widths: Vec<usize> = columns
            .map(|(index, column)| column.width(cells(index)))
            .collect();
        if let Some(width) = width {
            self.narrow(&mut widths, width);
        }
        let mut layout = Layout {
            columns: self.columns.clone(),
            widths,
        };
        layout.widen_groups();
        layout
    }

    /// Takes width from the widest columns of text until the table fits or all of them are narrow.
    fn narrow(&self, widths: &mut [usize], width: usize) {
        let mut missing = total(widths).saturating_sub(width);
        while missing > 0 {
            let columns = self.columns.iter().zip(widths.iter_mut());
            let wide = columns
                .filter(|(column, width)| !column.is_number && !column.is_whole && **width > NARROW)
                .map(|(_, width)| width)
                .max();
            let Some(widest) = wide else {
                return;
            };
            // One by one, so that the wide columns share the loss and end equally wide.
            *widest -= 1;
            missing -= 1;
        }
    }
}

/// Columns of a table with their widths. Prints rows that come one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    columns: Vec<Column>,
    widths: Vec<usize>,
}

/// Columns side by side.
struct Block {
    columns: Vec<usize>,
    is_first: bool,
}

impl Layout {
    /// Returns the lines of the heading.
    #[must_use]
    pub fn head(&self) -> Vec<String> {
        self.head_of(&self.all())
    }

    /// Returns the lines of a row.
    #[must_use]
    pub fn row<T: Into<String>>(&self, cells: impl IntoIterator<Item = T>) -> Vec<String> {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        self.row_of(&self.all(), &cells)
    }

    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// Distributes the columns over blocks that fit. Columns of a group stay together.
    fn blocks(&self, width: Option<usize>) -> Vec<Block> {
        let all = self.all();
        let width = width.unwrap_or(usize::MAX);
        if self.total_of(&all) <= width {
            return vec![Block {
                columns: all,
                is_first: true,
            }];
        }
        let is_text = |column: &&Column| !column.is_number;
        let keys = self.columns.iter().take_while(is_text).count();
        let keys: Vec<usize> = (0..keys).collect();
        let mut blocks = vec![keys.clone()];
        for group in self.groups(keys.len()..self.columns.len()) {
            let Some(block) = blocks.last_mut() else {
                break;
            };
            let more: Vec<usize> = block.iter().copied().chain(group.clone()).collect();
            // A group that is too wide for any block is shown nevertheless, in one of its own.
            if self.total_of(&more) <= width || block.len() == keys.len() {
                *block = more;
            } else {
                blocks.push(keys.iter().copied().chain(group).collect());
            }
        }
        let blocks = blocks.into_iter().enumerate();
        let block = |(index, columns)| Block {
            columns,
            is_first: index == 0,
        };
        blocks.map(block).collect()
    }

    /// Returns the neighbours of the same group. A column without group is alone.
    fn groups(&self, columns: Range<usize>) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for index in columns {
            let group = |index: usize| self.columns.get(index).map(|column| &column.group);
            match groups.last_mut() {
                Some(last)
                    if group(last.start) == group(index)
                        && group(index).is_some_and(|group| !group.is_empty()) =>
                {
                    last.end = index + 1;
                }
                _ => groups.push(index..index + 1),
            }
        }
        groups
    }

    /// Makes each group at least as wide as its name.
    fn widen_groups(&mut self) {
        for group in self.groups(0..self.columns.len()) {
            let name = self.columns.get(group.start).map(|it| length(&it.group));
            // A space and a piece of the line stand at each end of the name.
            let needed = name.filter(|name| *name > 0).map_or(0, |name| name + 4);
            let columns: Vec<usize> = group.clone().collect();
            let missing = needed.saturating_sub(self.total_of(&columns));
            if let Some(last) = self.widths.get_mut(group.end - 1) {
                *last += missing;
            }
        }
    }

    fn total_of(&self, columns: &[usize]) -> usize {
        let widths: Vec<usize> = columns.iter().map(|column| self.width(*column)).collect();
        total(&widths)
    }

    fn width(&self, column: usize) -> usize {
        self.widths.get(column).copied().unwrap_or(0)
    }

    fn head_of(&self, columns: &[usize]) -> Vec<String> {
        let mut lines: Vec<String> = self.group_line(columns).into_iter().collect();
        let headings: Vec<Vec<String>> = columns
            .iter()
            .filter_map(|column| self.columns.get(*column))
            .zip(columns)
            .map(|(column, index)| {
                let mut heading = wrapped(&column.heading, self.width(*index));
                if !column.unit.is_empty() {
                    heading.push(column.unit.clone());
                }
                heading
            })
            .collect();
        let height = headings.iter().map(Vec::len).max().unwrap_or(0);
        // Short headings are at the bottom, beside the last lines of the others.
        let at_bottom = headings.into_iter().map(|mut heading| {
            let above = height - heading.len();
            heading.splice(0..0, std::iter::repeat_n(String::new(), above));
            heading
        });
        let at_bottom: Vec<Vec<String>> = at_bottom.collect();
        lines.extend(self.side_by_side(columns, &at_bottom));
        lines
    }

    /// Returns the names of groups, each between dashes over its columns; `None` without groups.
    fn group_line(&self, columns: &[usize]) -> Option<String> {
        let mut line = String::new();
        let mut index = 0;
        let group = |index: usize| {
            let column = self.columns.get(*columns.get(index)?)?;
            Some(column.group.as_str())
        };
        while let Some(name) = group(index) {
            let mut end = index + 1;
            while !name.is_empty() && group(end) == Some(name) {
                end += 1;
            }
            let width = self.total_of(columns.get(index..end).unwrap_or_default());
            if index > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            line.push_str(&match name {
                "" => " ".repeat(width),
                name => format!("{:─^width$}", format!(" {name} ")),
            });
            index = end;
        }
        (!line.trim_end().is_empty()).then(|| line.trim_end().to_owned())
    }

    fn row_of(&self, columns: &[usize], cells: &[String]) -> Vec<String> {
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|index| {
                let cell = cells.get(*index).map(String::as_str).unwrap_or_default();
                match self.columns.get(*index) {
                    Some(column) if !column.is_number => wrapped(cell, self.width(*index)),
                    _ => vec![cell.to_owned()],
                }
            })
            .collect();
        self.side_by_side(columns, &cells)
    }

    /// Puts lines of cells beside each other.
    fn side_by_side(&self, columns: &[usize], cells: &[Vec<String>]) -> Vec<String> {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut line = String::new();
            for (index, cell) in columns.iter().zip(cells) {
                let text = cell.get(number).map(String::as_str).unwrap_or_default();
                let width = self.width(*index);
                let is_number = self.columns.get(*index).is_some_and(|it| it.is_number);
                if !line.is_empty() || index != columns.first().unwrap_or(index) {
                    line.push_str(&" ".repeat(GAP));
                }
                line.push_str(&if is_number {
                    format!("{text:>width$}")
                } else {
                    format!("{text:<width$}")
                });
            }
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Breaks a text into lines of at most `width` characters: at blanks, and within longer words. Blanks at the beginning are kept
/// in each line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    // With a width of 0, the division of long words below would never end.
    let width = width.saturating_sub(indent.len()).max(1);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else {
            break;
        };
        if line.is_empty() {
            line.push_str(word);
        } else if length(line) + 1 + length(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
        while let Some(line) = lines.last_mut()
            && let Some((end, _)) = line.char_indices().nth(width)
        {
            let rest = line.split_off(end);
            lines.push(rest);
        }
    }
    lines.iter().map(|line| format!("{indent}{line}")).collect()
}

mod html;
mod markdown;
#[cfg(test)]
mod tests;
