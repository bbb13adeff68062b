//! Texts of strangers, without commands to the terminal.

/// Returns a text with escapes (`\n`, `\u{1b}`) instead of control characters.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match one.is_control() {
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
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect()
}
