//! Tokens of an expression.

use std::ops::Range;

use super::tree::ExpressionMistake;

/// A token and its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A number; a share was divided by 100.
    Number(f64),
    /// Nanoseconds.
    Time(f64),
    /// A text in quotes.
    Text(String),
    /// A function, a quantity, or one of `and`, `or`, `not`, `within` and `of`.
    Word(String),
    /// A quantity in backticks, whose name has blanks.
    Quoted(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

/// Units of times, in nanoseconds.
const UNITS: [(&str, f64); 5] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("\u{b5}s", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];

/// Signs, the longer ones first.
const SIGNS: [&str; 14] = [
    "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ",", "%",
];

/// Most tokens of an expression: each operator makes its tree deeper, and a file must not exhaust the stack.
const MOST: usize = 300;

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionMistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = match first {
            '"' => quoted(rest, '"', at).map(|(text, length)| (TokenKind::Text(text), length))?,
            '`' => quoted(rest, '`', at).map(|(text, length)| (TokenKind::Quoted(text), length))?,
            '0'..='9' => number(rest, at)?,
            _ if first.is_alphabetic() || first == '_' => {
                let length = word(rest);
                (TokenKind::Word(rest[..length].to_owned()), length)
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (TokenKind::Sign(sign), sign.len()),
                None => {
                    let message = format!("`{first}` has no meaning here");
                    let span = at..at + first.len_utf8();
                    return Err(ExpressionMistake::new(message, &span));
                }
            },
        };
        let span = at..at + length;
        at = span.end;
        if tokens.len() == MOST {
            let message = format!("an expression has at most {MOST} names, numbers and signs");
            return Err(ExpressionMistake::new(message, &span));
        }
        tokens.push(Token { kind, span });
    }
    Ok(tokens)
}

/// Returns a text in quotes, and its length with them.
fn quoted(rest: &str, quote: char, at: usize) -> Result<(String, usize), ExpressionMistake> {
    match rest[1..].find(quote) {
        Some(length) => Ok((rest[1..=length].to_owned(), length + 2)),
        None => Err(ExpressionMistake::new(
            format!("this {quote} has no second one"),
            &(at..at + 1),
        )),
    }
}

/// Returns the length of a word: letters, digits, points and underscores.
fn word(rest: &str) -> usize {
    let is_part = |it: char| it.is_alphanumeric() || it == '.' || it == '_';
    rest.find(|it| !is_part(it)).unwrap_or(rest.len())
}

/// Returns a number with its unit.
fn number(rest: &str, at: usize) -> Result<(TokenKind, usize), ExpressionMistake> {
    let is_digit = |it: char| it.is_ascii_digit() || it == '.';
    let digits = rest.find(|it| !is_digit(it)).unwrap_or(rest.len());
    let value: f64 = rest[..digits].parse().map_err(|_| {
        let message = format!("`{}` is no number", &rest[..digits]);
        ExpressionMistake::new(message, &(at..at + digits))
    })?;
    let behind = rest[digits..].trim_start();
    let blanks = rest.len() - digits - behind.len();
    if behind.starts_with('%') {
        return Ok((TokenKind::Number(value / 100.0), digits + blanks + 1));
    }
    let length = word(behind);
    let unit = UNITS.iter().find(|(name, _)| *name == &behind[..length]);
    Ok(match unit {
        Some((_, nanoseconds)) => {
            let time = TokenKind::Time(value * nanoseconds);
            (time, digits + blanks + length)
        }
        None => (TokenKind::Number(value), digits),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_units() {
        let kinds = |text: &str| -> Vec<TokenKind> {
            let tokens = tokens(text).unwrap().into_iter();
            tokens.map(|token| token.kind).collect()
        };
        assert_eq!(kinds("250 us"), [TokenKind::Time(250e3)]);
        assert_eq!(kinds("1.5ms"), [TokenKind::Time(1.5e6)]);
        assert_eq!(kinds("5 %"), [TokenKind::Number(0.05)]);
        let expected = [TokenKind::Number(2.0), TokenKind::Sign("*")];
        assert_eq!(kinds("2*"), expected);
        let expected = [TokenKind::Number(2.0), TokenKind::Word("of".to_owned())];
        assert_eq!(kinds("2 of"), expected);
        assert_eq!(kinds("`a b.c`"), [TokenKind::Quoted("a b.c".to_owned())]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let span = |text: &str| tokens(text).unwrap_err().span;
        assert_eq!(span("1 + ?"), 4..5);
        assert_eq!(span("ours(\"a"), 5..6);
        assert_eq!(span("\u{b5} 1.2.3"), 3..8);
    }
}
