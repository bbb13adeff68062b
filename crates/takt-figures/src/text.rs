//! Texts of strangers, without commands to the terminal.

/// Returns a text with escapes (`\n`, `\u{1b}`) instead of control characters, and of characters that change the order of others.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match commands(one) {
            true => escaped.extend(one.escape_default()),
            false => escaped.push(one),
        }
    }
    escaped
}

/// Returns a text of a stranger with spaces instead of control characters, which could change the terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|one| if commands(one) { ' ' } else { one })
        .collect()
}

/// Returns a text of several lines, with escapes in each of them.
#[must_use]
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}

/// Returns a text of a file with `?` instead of control characters, with the same lengths: places in it stay.
#[must_use]
pub fn shown_source(text: &str) -> String {
    let of_line = |one: char| matches!(one, '\n' | '\t');
    let shown = text
        .chars()
        .map(|one| match commands(one) && !of_line(one) {
            true => "?".repeat(one.len_utf8()),
            false => one.to_string(),
        });
    shown.collect()
}

/// Returns one line for the standard output, without commands to the terminal: a line break in it is shown as such. It may be JSON,
/// in which the escapes are valid.
#[must_use]
pub fn escaped_output(text: &str) -> std::borrow::Cow<'_, str> {
    let is_layout = |one: char| one == '\t';
    if !text.chars().any(|one| commands(one) && !is_layout(one)) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match (one, commands(one) && !is_layout(one)) {
            ('\n', _) => escaped.push_str("\\n"),
            (_, true) => escaped.push_str(&format!("\\u{:04x}", u32::from(one))),
            (_, false) => escaped.push(one),
        }
    }
    escaped.into()
}

/// Returns true for control characters, and for those that change the direction of a text.
fn commands(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_the_terminal_are_shown() {
        let text = "a\u{1b}[2J\u{9b}b\u{202e}c";
        assert_eq!(escaped(text), "a\\u{1b}[2J\\u{9b}b\\u{202e}c");
        assert_eq!(printable(text), "a [2J b c");
        assert_eq!(shown_source(text).len(), text.len());
        assert!(!shown_source(text).chars().any(commands));
        assert_eq!(escaped_lines("a\nb\r"), "a\nb\\r");
        assert_eq!(
            escaped_output("{\"a\": \"\u{9b}\"}\n\tb"),
            "{\"a\": \"\\u009b\"}\\n\tb"
        );
        assert_eq!(escaped_output("a\u{1b}[2J\u{202e}"), "a\\u001b[2J\\u202e");
    }
}
