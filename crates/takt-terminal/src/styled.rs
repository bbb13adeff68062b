//! Text in colours of a terminal.

use takt_figures::text::escaped;

/// Role of a part of a line. The terminal's own colours are used, so that light and dark themes both work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The terminal's default.
    Plain,
    /// Title.
    Title,
    /// Name or explanation of a value.
    Label,
    /// Course of a value over time.
    Course,
    /// Good result.
    Good,
    /// Bad StatusCode.
    Bad,
}

impl Style {
    /// Select Graphic Rendition (ECMA-48 SGR) that starts the style.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Title => "\x1b[1m",
            Self::Label => "\x1b[2m",
            Self::Course => "\x1b[36m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
        }
    }
}

/// Line of parts with styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine(Vec<(Style, String)>);

impl StyledLine {
    /// Creates an empty line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part. Control characters and line breaks in it, which may come from strangers, are escaped.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.0.push((style, escaped(text.as_ref())));
        self
    }

    /// Returns the text without colours, at most `width` characters.
    #[must_use]
    pub fn plain(&self, width: usize) -> String {
        let text = self.0.iter().flat_map(|(_, text)| text.chars());
        text.take(width).collect()
    }

    /// Returns the text with colours, at most `width` characters.
    #[must_use]
    pub fn coloured(&self, width: usize) -> String {
        let mut left = width;
        let mut out = String::new();
        for (style, text) in &self.0 {
            let shown: String = text.chars().take(left).collect();
            left -= shown.chars().count();
            match style.code() {
                "" => out.push_str(&shown),
                code => out.push_str(&format!("{code}{shown}\x1b[0m")),
            }
        }
        out
    }
}

impl From<&str> for StyledLine {
    fn from(text: &str) -> Self {
        Self::new().with(Style::Plain, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_width() {
        let line = StyledLine::new()
            .with(Style::Bad, "abc")
            .with(Style::Plain, "def");
        assert_eq!(line.plain(4), "abcd");
        assert_eq!(line.coloured(4), "\x1b[31mabc\x1b[0md");
        assert_eq!(line.coloured(2), "\x1b[31mab\x1b[0m");
    }

    #[test]
    fn a_stranger_commands_no_terminal() {
        let text = "a\x1b[2J\nb\u{9b}\u{202e}";
        let shown = "a\\u{1b}[2J\\nb\\u{9b}\\u{202e}";
        let line = StyledLine::from(text).with(Style::Bad, text);
        assert_eq!(line.plain(usize::MAX), [shown, shown].concat());
        let coloured = format!("{shown}\x1b[31m{shown}\x1b[0m");
        assert_eq!(line.coloured(usize::MAX), coloured);
    }
}
