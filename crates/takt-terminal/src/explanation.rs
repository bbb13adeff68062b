//! Layout of an error and its advice: lines that fit the terminal, except for commands, which stay whole so that they can be copied.

use std::fmt;

use miette::{
    Diagnostic, LabeledSpan, MietteDiagnostic, MietteHandlerOpts, Report, ReportHandler, Severity,
    SourceCode,
};
use takt_figures::text::escaped_lines;

/// Characters at which a line would be broken, and letters for private use that stand for them during the layout.
const BREAKS: [(char, char); 3] = [(' ', '\u{E000}'), ('-', '\u{E001}'), ('/', '\u{E002}')];

/// Explains an error, with advice.
pub fn with_help(error: impl fmt::Display, help: impl Into<String>) -> Report {
    Report::new(MietteDiagnostic::new(error.to_string()).with_help(help.into()))
}

/// Returns an error with its advice as shown on a terminal.
pub(crate) fn rendered(error: &Report) -> String {
    let rendered = format!("{:?}", Whole::of(error.as_ref()));
    BREAKS.iter().fold(rendered, |text, (original, stand_in)| {
        text.replace(*stand_in, original.encode_utf8(&mut [0; 4]))
    })
}

/// An error whose commands are not broken, and whose texts are escaped.
struct Whole<'a> {
    error: &'a dyn Diagnostic,
    cause: Option<Box<Cause>>,
}

impl<'a> Whole<'a> {
    fn of(error: &'a dyn Diagnostic) -> Self {
        let cause = Cause::of(error.source());
        Self { error, cause }
    }
}

/// Cause of an error, escaped.
#[derive(Debug)]
struct Cause {
    text: String,
    cause: Option<Box<Cause>>,
}

impl Cause {
    fn of(error: Option<&dyn std::error::Error>) -> Option<Box<Self>> {
        let error = error?;
        Some(Box::new(Self {
            text: escaped_lines(&error.to_string()),
            cause: Self::of(error.source()),
        }))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause: &Self = self.cause.as_deref()?;
        Some(cause)
    }
}

/// Replaces the characters at which lines are broken in the parts of a text between backticks, and elsewhere in options, paths and URLs.
fn whole(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part.split_inclusive([' ', '\n']).map(whole_word).collect(),
        _ => replaced(part),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Replaces them in a word, if it is an option, a path or a URL. The space behind it stays.
fn whole_word(word: &str) -> String {
    let text = word.trim_end();
    let begins = |start| text.trim_start_matches('(').starts_with(start);
    match begins("--") || begins("/") || text.contains("://") {
        true => replaced(text) + &word[text.len()..],
        false => word.to_owned(),
    }
}

fn replaced(text: &str) -> String {
    BREAKS
        .iter()
        .fold(text.to_owned(), |text, (original, stand_in)| {
            text.replace(*original, stand_in.encode_utf8(&mut [0; 4]))
        })
}

impl fmt::Display for Whole<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&whole(&escaped_lines(&self.error.to_string())))
    }
}

impl fmt::Debug for Whole<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = MietteHandlerOpts::new().break_words(false).build();
        handler.debug(self, formatter)
    }
}

impl std::error::Error for Whole<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause: &Cause = self.cause.as_deref()?;
        Some(cause)
    }
}

impl Diagnostic for Whole<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.error.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.error.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = whole(&escaped_lines(&self.error.help()?.to_string()));
        Some(Box::new(help))
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.error.url()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.error.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let shown = self.error.labels()?.map(|label| {
            let text = label.label().map(escaped_lines);
            match label.primary() {
                true => LabeledSpan::new_primary_with_span(text, *label.inner()),
                false => LabeledSpan::new_with_span(text, *label.inner()),
            }
        });
        Some(Box::new(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::with_help;

    #[test]
    fn texts_in_errors_command_no_terminal() {
        let report = with_help("name \u{1b}]0;x\u{7}", "`takt \u{202e}\r`\nand more");
        let rendered = super::rendered(&report);
        for text in ["name \\u{1b}]0;x\\u{7}", "\\u{202e}\\r"] {
            assert!(rendered.contains(text), "{rendered}");
        }
    }

    #[test]
    fn causes_command_no_terminal() {
        let inner = || std::io::Error::other("level 3 \u{1b}]0;x\u{7}");
        let report = miette::Report::msg("level 1 \u{1b}]0;x\u{7}");
        let report = miette::Report::from_err(inner())
            .wrap_err("level 2 \u{1b}]0;x\u{7}")
            .wrap_err(report.to_string());
        let rendered = super::rendered(&report);
        for level in 1..=3 {
            let text = format!("level {level} \\u{{1b}}]0;x\\u{{7}}");
            assert!(rendered.contains(&text), "{rendered}");
        }
    }

    #[test]
    fn commands_stay_whole() {
        let command =
            "`takt trust renew Spindle --certificates /a/long/path/of/a/folder/of-certificates`";
        let text = "words that fill a line and another one until the command begins";
        let report = with_help(
            format!("{text}: {command} {text}"),
            format!("{text} {text} {command}"),
        );
        let rendered = super::rendered(&report);
        assert_eq!(rendered.matches(command).count(), 2, "{rendered}");
        let longest = rendered.lines().filter(|line| !line.contains(command));
        let longest = longest.map(|line| line.chars().count()).max();
        assert!(longest < Some(90), "{rendered}");

        // Options in a sentence stay whole too, wherever the line ends.
        for width in 40..80 {
            let filling = "x".repeat(width);
            let report = with_help("error", format!("{filling} --user-private-key names it"));
            let rendered = super::rendered(&report);
            assert!(rendered.contains("--user-private-key"), "{rendered}");
        }
    }
}
