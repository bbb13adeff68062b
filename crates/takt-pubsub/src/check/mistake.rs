//! Mistakes, and the places at which they are found.

use std::fmt;

/// Weight of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MistakeSeverity {
    /// Data would be lost, sent unprotected or under another name, or nothing would run: the configuration does not start.
    Error,
    /// The configuration runs, but probably not as it was meant.
    Warning,
}

/// Mistake in a configuration. Its text names table, entry and key of the TOML file, and how to correct it; control characters of
/// the file are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationMistake {
    /// Weight of the mistake.
    pub severity: MistakeSeverity,
    /// Table of the entry: `connections.writer_groups`.
    pub table: &'static str,
    /// Names from the outside in: `UDP/Fast`. An entry without a name has its number, from 1: `UDP/#2`.
    pub entry: String,
    /// Key, or parameter of the standard.
    pub key: &'static str,
    /// Description of the mistake.
    pub what: String,
    /// Description of the correction.
    pub fix: String,
}

impl fmt::Display for ConfigurationMistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            entry,
            key,
            what,
            fix,
            ..
        } = self;
        let text = match (table.is_empty(), entry.is_empty()) {
            (true, _) => format!("{key}: {what}. {fix}"),
            (false, true) => format!("[[{table}]] {key}: {what}. {fix}"),
            (false, false) => format!("[[{table}]] {entry}: {key}: {what}. {fix}"),
        };
        formatter.write_str(&escaped(&text))
    }
}

impl std::error::Error for ConfigurationMistake {}

/// Returns a text with escapes instead of the characters that command a terminal, or change the order of others.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match commands(one) {
            true => escaped.extend(one.escape_unicode()),
            false => escaped.push(one),
        }
    }
    escaped
}

/// Returns true for control characters, and for those that change the direction of a text.
pub(super) fn commands(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Entry of a table, which notes its mistakes.
pub(super) struct Place<'m> {
    found: &'m mut Vec<ConfigurationMistake>,
    table: &'static str,
    entry: String,
}

impl<'m> Place<'m> {
    /// Returns the file as a whole.
    pub(super) fn file(found: &'m mut Vec<ConfigurationMistake>) -> Self {
        Self {
            found,
            table: "",
            entry: String::new(),
        }
    }

    /// Returns an entry of a table in this place; `index` counts from 0.
    pub(super) fn entry(&mut self, table: &'static str, name: &str, index: usize) -> Place<'_> {
        let own = match name {
            "" => format!("#{}", index + 1),
            name => name.to_owned(),
        };
        let entry = match self.entry.as_str() {
            "" => own,
            outer => format!("{outer}/{own}"),
        };
        let place = Place {
            found: self.found,
            table,
            entry,
        };
        if name.chars().any(commands) {
            place.found.push(ConfigurationMistake {
                severity: MistakeSeverity::Error,
                table,
                entry: place.entry.clone(),
                key: "name",
                what: "has control characters".to_owned(),
                fix: "Use letters, digits and spaces".to_owned(),
            });
        }
        place
    }

    /// Returns the path of the entry.
    pub(super) fn path(&self) -> &str {
        &self.entry
    }

    /// Returns the number of errors so far, in all places.
    pub(super) fn errors(&self) -> usize {
        let found = self.found.iter();
        found
            .filter(|mistake| mistake.severity == MistakeSeverity::Error)
            .count()
    }

    pub(super) fn error(
        &mut self,
        key: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.note(MistakeSeverity::Error, key, what.into(), fix.into());
    }

    pub(super) fn warning(
        &mut self,
        key: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.note(MistakeSeverity::Warning, key, what.into(), fix.into());
    }

    fn note(&mut self, severity: MistakeSeverity, key: &'static str, what: String, fix: String) {
        self.found.push(ConfigurationMistake {
            severity,
            table: self.table,
            entry: self.entry.clone(),
            key,
            what,
            fix,
        });
    }
}
