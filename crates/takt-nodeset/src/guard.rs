//! Limits of a document that are checked before it is parsed.
//!
//! The XML parser compares every attribute of a tag with every other, and copies the namespace declarations in scope
//! for each element that adds one. Both are fine for real documents and quadratic for malicious ones, so one linear
//! pass over the markup counts attributes, declarations and nesting. It recognizes only tags, attributes and their
//! nesting; all other errors are reported by the parser.

use crate::ParseLimits;
use crate::error::Reason;

/// Largest number of attributes of one tag; NodeSet2 elements have fewer than twenty.
const MAX_ATTRIBUTES_PER_TAG: usize = 64;
/// Largest number of namespace declarations in scope at one place.
const MAX_NAMESPACES_IN_SCOPE: usize = 64;

/// Checks `xml` against `limits`; on failure it returns the byte offset of the offending tag.
pub(crate) fn check(xml: &str, limits: &ParseLimits) -> Result<(), (usize, Reason)> {
    if xml.len() > limits.max_bytes {
        return Err((0, exceeded("bytes", limits.max_bytes)));
    }
    let bytes = xml.as_bytes();
    let mut open: Vec<usize> = Vec::new(); // namespace declarations of each open element
    let (mut in_scope, mut attributes, mut tags) = (0usize, 0usize, 0usize);
    let mut at = 0;
    while let Some(start) = find(bytes, at, b"<") {
        tags += 1;
        // An element has up to two tags: one at its start, one at its end.
        if tags > limits.max_elements.saturating_mul(2) {
            return Err((start, exceeded("elements", limits.max_elements)));
        }
        let rest = &bytes[start..];
        let end = if rest.starts_with(b"<!--") {
            after(bytes, start + 4, b"-->")
        } else if rest.starts_with(b"<![CDATA[") {
            after(bytes, start + 9, b"]]>")
        } else if rest.starts_with(b"<?") {
            after(bytes, start + 2, b"?>")
        } else if rest.starts_with(b"<!") {
            // A DTD is refused by the parser, which reports the position.
            return Ok(());
        } else if rest.starts_with(b"</") {
            // The parser reports a tag that closes no element.
            in_scope -= open.pop().unwrap_or(0);
            after(bytes, start + 2, b">")
        } else {
            let Some(tag) = Tag::scan(bytes, start + 1) else {
                return Ok(());
            };
            attributes += tag.attributes;
            if tag.attributes > MAX_ATTRIBUTES_PER_TAG {
                return Err((
                    start,
                    exceeded("attributes in one tag", MAX_ATTRIBUTES_PER_TAG),
                ));
            }
            if attributes > limits.max_attributes {
                return Err((start, exceeded("attributes", limits.max_attributes)));
            }
            if in_scope + tag.namespaces > MAX_NAMESPACES_IN_SCOPE {
                return Err((
                    start,
                    exceeded("namespaces in scope", MAX_NAMESPACES_IN_SCOPE),
                ));
            }
            if !tag.is_empty {
                if open.len() >= limits.max_depth {
                    return Err((start, exceeded("nested elements", limits.max_depth)));
                }
                open.push(tag.namespaces);
                in_scope += tag.namespaces;
            }
            Some(tag.end)
        };
        // Unterminated markup is reported by the parser.
        let Some(end) = end else { return Ok(()) };
        at = end;
    }
    Ok(())
}

fn exceeded(what: &'static str, limit: usize) -> Reason {
    Reason::LimitExceeded { what, limit }
}

struct Tag {
    attributes: usize,
    namespaces: usize,
    is_empty: bool,
    /// Offset after the closing `>`.
    end: usize,
}

impl Tag {
    /// Scans a start tag from behind its `<`. `None` if it does not end.
    fn scan(bytes: &[u8], mut at: usize) -> Option<Self> {
        let mut tag = Self {
            attributes: 0,
            namespaces: 0,
            is_empty: false,
            end: 0,
        };
        let mut name_start = at;
        loop {
            match *bytes.get(at)? {
                b'>' => {
                    tag.is_empty = bytes[at - 1] == b'/';
                    tag.end = at + 1;
                    return Some(tag);
                }
                // Each attribute has one such sign outside its value.
                b'=' => {
                    tag.attributes += 1;
                    tag.namespaces += usize::from(bytes[name_start..at].starts_with(b"xmlns"));
                }
                // Signs within a value mean nothing.
                quote @ (b'"' | b'\'') => {
                    at = find(bytes, at + 1, &[quote])?;
                    name_start = at + 1;
                }
                byte if byte.is_ascii_whitespace() => {
                    let run = bytes[at..].iter().position(|b| !b.is_ascii_whitespace())?;
                    at += run;
                    // `xmlns:a = "x"`: blanks before the sign do not start another name.
                    if bytes[at] != b'=' {
                        name_start = at;
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// Returns the offset of `needle` at or after `from`.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let haystack = bytes.get(from..)?;
    let found = match needle {
        [single] => haystack.iter().position(|byte| byte == single),
        _ => haystack
            .windows(needle.len())
            .position(|window| window == needle),
    };
    found.map(|offset| from + offset)
}

/// Returns the offset behind `needle` at or after `from`.
fn after(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    find(bytes, from, needle).map(|offset| offset + needle.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(xml: &str) -> Result<(), (usize, Reason)> {
        check(xml, &ParseLimits::DEFAULT)
    }

    fn refused(xml: &str) -> &'static str {
        match verdict(xml) {
            Err((_, Reason::LimitExceeded { what, .. })) => what,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn ordinary_markup_passes() {
        verdict("<?xml version='1.0'?><!-- <a> --><a b='>' c = \"'\"><![CDATA[<<<]]><d/></a>")
            .unwrap();
        verdict("<a").unwrap();
        verdict("<!-- never ends").unwrap();
        verdict("</a></a>").unwrap();
        verdict("").unwrap();
    }

    #[test]
    fn many_attributes_are_refused() {
        let mut xml = String::from("<a");
        for i in 0..100 {
            xml += &format!(" a{i}=''");
        }
        assert_eq!(refused(&(xml + "/>")), "attributes in one tag");
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert_eq!(refused(&"<a>".repeat(1000)), "nested elements");
        verdict(&"<a></a>".repeat(1000)).unwrap();
    }

    #[test]
    fn namespaces_in_scope_are_counted_along_the_nesting() {
        let nested: String = (0..70).map(|i| format!("<a xmlns:p{i} = 'u'>")).collect();
        assert_eq!(refused(&nested), "namespaces in scope");
        let siblings: String = (0..70).map(|i| format!("<a xmlns:p{i}='u'></a>")).collect();
        verdict(&siblings).unwrap();
    }

    #[test]
    fn blanks_are_scanned_once_per_run() {
        // 1 MiB of blanks in a tag must not cost a trillion steps.
        let xml = format!("<a{}/>", " ".repeat(1 << 20));
        let started = std::time::Instant::now();
        verdict(&xml).unwrap();
        assert!(started.elapsed().as_secs() < 5);
    }
}
