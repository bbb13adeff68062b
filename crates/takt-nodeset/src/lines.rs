//! Conversion of byte offsets to lines and columns.

use crate::model::Position;

/// Line index of a text. It is built once per document; its size is a thousandth of the text's size, regardless of
/// the number of lines.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// Number of line breaks before each block.
    breaks_before: Vec<u32>,
}

impl<'a> Lines<'a> {
    const BLOCK: usize = 4096;

    pub(crate) fn new(text: &'a str) -> Self {
        let mut breaks = 0u32;
        let blocks = text.as_bytes().chunks(Self::BLOCK);
        let breaks_before = blocks
            .map(|block| {
                let before = breaks;
                breaks = breaks.saturating_add(count(block));
                before
            })
            .collect();
        Self {
            text,
            breaks_before,
        }
    }

    /// Returns the line, counted from 1, of a byte.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        let offset = offset.min(self.text.len());
        // The end of the text may be behind the last block.
        let block = (offset / Self::BLOCK).min(self.breaks_before.len().saturating_sub(1));
        let before = self.breaks_before.get(block).copied().unwrap_or(0);
        let rest = self
            .text
            .as_bytes()
            .get(block * Self::BLOCK..offset)
            .unwrap_or_default();
        before.saturating_add(count(rest)).saturating_add(1)
    }

    /// Returns the line and column of a byte. It takes time in proportion to the length of the line: for errors only.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        // Continuation bytes of UTF-8 are not counted as characters.
        let characters = before
            .iter()
            .skip(line_start)
            .filter(|byte| **byte & 0xC0 != 0x80)
            .count();
        let column = u32::try_from(characters + 1).unwrap_or(u32::MAX);
        Position {
            line: self.line(offset),
            column,
        }
    }
}

fn count(bytes: &[u8]) -> u32 {
    let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_editors_do() {
        let text = "ab\ncö€d\n\nx";
        let lines = Lines::new(text);
        let at = |needle: &str| {
            let Position { line, column } = lines.position(text.find(needle).unwrap());
            (line, column)
        };
        assert_eq!(
            [at("a"), at("b"), at("c"), at("d"), at("x")],
            [(1, 1), (1, 2), (2, 1), (2, 4), (4, 1)]
        );
        assert_eq!(lines.line(text.len() + 99), 4);
        assert_eq!(Lines::new("").position(0), Position { line: 1, column: 1 });
    }

    #[test]
    fn agrees_across_blocks() {
        let text = "0123456789\n".repeat(3000);
        let lines = Lines::new(&text);
        for line in [0usize, 1, 371, 372, 373, 744, 745, 2999] {
            let position = lines.position(line * 11 + 4);
            assert_eq!(
                position,
                Position {
                    line: u32::try_from(line).unwrap() + 1,
                    column: 5
                }
            );
        }
    }
}
