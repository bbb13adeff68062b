//! Tokens of Rust code.

/// Returns the tokens of a source file: names, `::`, and single other characters. Comments, strings, characters, lifetimes and
/// items under `#[cfg(test)]` are left out.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let kept = pieces(text).into_iter();
    let kept = kept.filter_map(|(piece, kind)| (kind == Piece::Token).then_some(piece));
    without_tests(&kept.collect::<Vec<_>>())
}

/// Returns the strings of a source file before its tests, with their quotation marks.
pub(crate) fn strings(text: &str) -> Vec<&str> {
    let (text, _) = text
        .split_once("\n#[cfg(test)]\nmod tests {")
        .unwrap_or((text, ""));
    let strings = pieces(text).into_iter();
    let strings = strings.filter_map(|(piece, kind)| (kind == Piece::String).then_some(piece));
    strings.collect()
}

/// Kind of a part of a source file.
#[derive(PartialEq)]
enum Piece {
    Token,
    String,
    Other,
}

/// Returns the parts of a source file.
fn pieces(text: &str) -> Vec<(&str, Piece)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, kind) = match first {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), Piece::Other),
            '/' if rest.starts_with("/*") => (end_of(rest, "*/"), Piece::Other),
            '"' => (string(rest), Piece::String),
            'r' | 'b' | 'c' if raw_string(rest).is_some() => {
                (raw_string(rest).unwrap(), Piece::String)
            }
            '\'' => (character(rest), Piece::Other),
            ':' if rest.starts_with("::") => (2, Piece::Token),
            _ if is_of_name(first) => (name(rest), Piece::Token),
            _ if first.is_whitespace() => (first.len_utf8(), Piece::Other),
            _ => (first.len_utf8(), Piece::Token),
        };
        pieces.push((&rest[..length], kind));
        rest = &rest[length..];
    }
    pieces
}

/// Returns true if the token is a name or a keyword.
pub(crate) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the number of tokens of the group in brackets at the beginning of `tokens`.
pub(crate) fn group(tokens: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (token, count) in tokens.iter().zip(1..) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return count;
        }
    }
    tokens.len()
}

fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        if rest.starts_with(&TEST) {
            rest = &rest[TEST.len()..];
            while let [first, ..] = rest {
                rest = &rest[group(rest)..];
                if matches!(*first, ";" | "{" | ",") {
                    break;
                }
            }
        } else {
            kept.push(*first);
            rest = others;
        }
    }
    kept
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name(rest: &str) -> usize {
    rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())
}

fn end_of(rest: &str, end: &str) -> usize {
    rest.find(end).map_or(rest.len(), |start| start + end.len())
}

fn string(rest: &str) -> usize {
    let mut is_escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let start = rest.bytes().take(8).position(|byte| byte == b'"')?;
    let marks = rest[..start].trim_start_matches(['b', 'c']);
    let marks = marks.strip_prefix('r')?;
    if marks.contains(|c| c != '#') {
        return None;
    }
    let text = start + 1;
    Some(text + end_of(&rest[text..], &format!("\"{marks}")))
}

/// Returns the length of a character or a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, c))) => {
            let after = escaped + c.len_utf8();
            after + end_of(&rest[after..], "'")
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1 + name(&rest[1..]),
    }
}

#[test]
fn tokens_are_found_between_comments_strings_and_tests() {
    let text = r##"
        use a::b; // use c::d;
        /* use e::f; */
        #[cfg(test)]
        mod tests { use g::h; }
        fn f<'a>(x: &'a str) -> char { r#"i::"j"#; "k::\"l"; '\''; 'm' }
        #[cfg(test)]
        #[path = "n.rs"]
        mod n;
        mod o;
    "##;
    let found = tokens(text);
    let expected = "use a :: b ; fn f < > ( x : & str ) - > char { ; ; ; } mod o ;";
    assert_eq!(found.join(" "), expected);
}
