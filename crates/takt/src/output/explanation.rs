//! Layout of an error and its advice: lines that fit the terminal, except for commands, which stay whole so that they can be copied.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, ReportHandler, Severity, SourceCode};

/// Characters in a command at which a line would be broken, and those that stand for them during the layout.
const BREAKS: [(char, char); 2] = [(' ', '\u{A0}'), ('-', '\u{2011}')];

/// Returns an error with its advice as shown on a terminal.
pub fn rendered(error: &miette::Report) -> String {
    let rendered = format!("{:?}", Whole(error.as_ref()));
    BREAKS.iter().fold(rendered, |text, (original, stand_in)| {
        text.replace(*stand_in, original.encode_utf8(&mut [0; 4]))
    })
}

/// An error whose commands are not broken.
struct Whole<'a>(&'a dyn Diagnostic);

/// Replaces the characters at which lines are broken in the parts of a text between backticks.
fn whole(text: &str) -> String {
    let replaced = |part: &str| {
        BREAKS
            .iter()
            .fold(part.to_owned(), |part, (original, stand_in)| {
                part.replace(*original, stand_in.encode_utf8(&mut [0; 4]))
            })
    };
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part.to_owned(),
        _ => replaced(part),
    });
    parts.collect::<Vec<_>>().join("`")
}

impl fmt::Display for Whole<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&whole(&self.0.to_string()))
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
        self.0.source()
    }
}

impl Diagnostic for Whole<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = whole(&self.0.help()?.to_string());
        Some(Box::new(help))
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.url()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.0.related()
    }

    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.0.diagnostic_source()
    }
}

#[cfg(test)]
mod tests {
    use crate::explain;

    #[test]
    fn commands_stay_whole() {
        let command =
            "`takt trust renew Spindle --certificates /a/long/path/of/a/folder/of-certificates`";
        let text = "words that fill a line and another one until the command begins";
        let report = explain::with_help(
            format!("{text}: {command} {text}"),
            format!("{text} {text} {command}"),
        );
        let rendered = super::rendered(&report);
        assert_eq!(rendered.matches(command).count(), 2, "{rendered}");
        let longest = rendered.lines().filter(|line| !line.contains(command));
        let longest = longest.map(|line| line.chars().count()).max();
        assert!(longest < Some(90), "{rendered}");
    }
}
