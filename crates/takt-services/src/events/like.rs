//! Patterns of the operator Like (OPC 10000-4, 7.7.3, table of wildcards).

use super::steps::Steps;

/// One element of a pattern.
enum Token<'p> {
    /// `%`: any number of characters.
    Any,
    /// A character, or `_`: one character.
    One(Matcher<'p>),
}

/// Condition on one character.
enum Matcher<'p> {
    Every,
    Is(char),
    /// A list in brackets: its characters, and true if it begins with `^`.
    List(&'p str, bool),
}

impl Matcher<'_> {
    fn matches(&self, character: char, steps: &mut Steps) -> bool {
        match self {
            Self::Every => true,
            Self::Is(expected) => *expected == character,
            Self::List(list, is_negated) => is_in_list(list, character, steps) != *is_negated,
        }
    }
}

/// Returns true if a list in brackets has the character: `abc`, `a-f`, or both.
fn is_in_list(list: &str, character: char, steps: &mut Steps) -> bool {
    let mut rest = list.chars();
    while let Some(first) = rest.next() {
        steps.take(1);
        let mut ahead = rest.clone();
        // A `-` without a character behind it stands for itself.
        if let (Some('-'), Some(last)) = (ahead.next(), ahead.next()) {
            rest = ahead;
            if (first..=last).contains(&character) {
                return true;
            }
        } else if first == character {
            return true;
        }
    }
    false
}

/// Returns the first element of a pattern, and the rest; `None` at the end. A bracket that is not closed, and a `\` at the end,
/// stand for themselves.
fn token(pattern: &str) -> Option<(Token<'_>, &str)> {
    let mut characters = pattern.chars();
    let first = characters.next()?;
    let rest = characters.as_str();
    let is = |character, rest| Some((Token::One(Matcher::Is(character)), rest));
    match first {
        '%' => Some((Token::Any, rest)),
        '_' => Some((Token::One(Matcher::Every), rest)),
        '\\' => match characters.next() {
            Some(escaped) => is(escaped, characters.as_str()),
            None => is('\\', rest),
        },
        '[' => match rest.split_once(']') {
            Some((list, rest)) => {
                let (list, is_negated) = match list.strip_prefix('^') {
                    Some(list) => (list, true),
                    None => (list, false),
                };
                Some((Token::One(Matcher::List(list, is_negated)), rest))
            }
            None => is('[', rest),
        },
        other => is(other, rest),
    }
}

/// Returns true if the whole text matches the pattern; `None` if that takes too many steps.
///
/// Only the last `%` is ever tried again, so the effort is at most the product of both lengths.
pub(super) fn matches(text: &str, pattern: &str, steps: &mut Steps) -> Option<bool> {
    let (mut text, mut pattern) = (text, pattern);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if !steps.take(1) {
            return None;
        }
        match token(pattern) {
            Some((Token::Any, rest)) => {
                pattern = rest;
                retry = Some((text, rest));
                continue;
            }
            Some((Token::One(matcher), rest)) => {
                let mut characters = text.chars();
                if let Some(character) = characters.next()
                    && matcher.matches(character, steps)
                {
                    (text, pattern) = (characters.as_str(), rest);
                    continue;
                }
            }
            None if text.is_empty() => return Some(true),
            None => {}
        }
        let Some((from, after)) = retry else {
            return Some(false);
        };
        let mut characters = from.chars();
        if characters.next().is_none() {
            return Some(false);
        }
        (text, pattern) = (characters.as_str(), after);
        retry = Some((text, after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(text: &str, pattern: &str) -> bool {
        matches(text, pattern, &mut Steps::new(100_000)).unwrap()
    }

    #[test]
    fn patterns_of_the_standard() {
        for (text, pattern) in [
            ("Spindle is hot", "%hot"),
            ("Spindle is hot", "Sp%is%"),
            ("", "%"),
            ("abc", "a_c"),
            ("abc", "a[abc]c"),
            ("a5", "a[0-9]"),
            ("ax", "a[^0-9]"),
            ("100%", "100\\%"),
            ("a_b", "a\\_b"),
            ("a[b", "a[b"),
            ("aXbXc", "a%X%c"),
            ("mississippi", "m%iss%ippi"),
            ("\u{e4}\u{f6}", "_\u{f6}"),
        ] {
            assert!(like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [
            ("abc", "ab"),
            ("abc", "a[^b]c"),
            ("", "_"),
            ("100 percent", "100\\%"),
            ("a5", "a[^0-9]"),
            ("Abc", "abc"),
            ("mississippi", "m%issx%"),
        ] {
            assert!(!like(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_given_up() {
        let text = "a".repeat(60_000);
        let pattern = "%a".repeat(5_000) + "b";
        let mut steps = Steps::new(50_000);
        assert_eq!(matches(&text, &pattern, &mut steps), None);
        let list = format!("%[{}]b", "x".repeat(40_000));
        assert_eq!(matches(&text, &list, &mut Steps::new(50_000)), None);
    }
}
