//! Paths of BrowseNames as text.

use takt_ua::QualifiedName;

use crate::error::ClientError;

/// Character before a reserved character that belongs to a name (OPC 10000-4, A.2).
const ESCAPE: char = '&';

/// Segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// BrowseName. Its namespace counts only if `any_namespace` is false.
    pub(super) name: QualifiedName,
    /// True if the segment names no namespace.
    pub(super) any_namespace: bool,
}

/// Parses a path. `2:Speed` is a name of namespace 2, and `Speed` a name of any namespace. `/` divides segments; `&/` is a slash
/// in a name, `&:` a colon, and `&&` an ampersand.
pub(super) fn parse(path: &str) -> Result<Vec<Segment>, ClientError> {
    let mut segments = Vec::new();
    let mut name = String::new();
    let mut namespace = None;
    let mut characters = path.chars();
    loop {
        let end = match characters.next() {
            Some(ESCAPE) => {
                // An ampersand before any other character is an ordinary one.
                let escaped = characters.clone().next();
                match escaped.filter(|character| "/.<>:#!&".contains(*character)) {
                    Some(character) => {
                        characters.next();
                        name.push(character);
                    }
                    None => name.push(ESCAPE),
                }
                false
            }
            // Other colons are part of the name.
            Some(':') if namespace.is_none() && is_number(&name) => {
                let index = name.parse::<u16>().map_err(|_| {
                    ClientError::Invalid(format!(
                        "`{name}:` in `{path}` is no NamespaceIndex: the largest one is {}",
                        u16::MAX
                    ))
                })?;
                namespace = Some(index);
                name.clear();
                false
            }
            Some('/') => true,
            Some(character) => {
                name.push(character);
                false
            }
            None => {
                push(&mut segments, &mut name, &mut namespace);
                return Ok(segments);
            }
        };
        if end {
            push(&mut segments, &mut name, &mut namespace);
        }
    }
}

/// Adds a segment, unless it is empty.
fn push(segments: &mut Vec<Segment>, name: &mut String, namespace: &mut Option<u16>) {
    let namespace = namespace.take();
    let name = std::mem::take(name);
    if name.is_empty() && namespace.is_none() {
        return;
    }
    segments.push(Segment {
        name: QualifiedName::new(namespace.unwrap_or(0), name.as_str()),
        any_namespace: namespace.is_none(),
    });
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl std::fmt::Display for Segment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.any_namespace {
            true => formatter.write_str(self.name.name.as_str()),
            false => write!(formatter, "{}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<(Option<u16>, String)> {
        let segments = parse(path).unwrap();
        let name = |segment: Segment| {
            let namespace = (!segment.any_namespace).then_some(segment.name.namespace);
            (namespace, segment.name.name.as_str().to_owned())
        };
        segments.into_iter().map(name).collect()
    }

    fn any(name: &str) -> (Option<u16>, String) {
        (None, name.to_owned())
    }

    #[test]
    fn segments_are_divided_by_slashes() {
        assert_eq!(names("Machine/Spindle"), [any("Machine"), any("Spindle")]);
        assert_eq!(names("/Machine//Spindle/"), names("Machine/Spindle"));
        assert_eq!(names(""), []);
    }

    #[test]
    fn a_number_before_a_colon_is_a_namespace() {
        let in_two = (Some(2), "Speed".to_owned());
        assert_eq!(names("2:Speed"), [in_two]);
        assert_eq!(names("2:a:b"), [(Some(2), "a:b".to_owned())]);
        assert_eq!(names("a:b"), [any("a:b")]);
        assert_eq!(names("0:"), [(Some(0), String::new())]);
        let error = parse("70000:Speed").unwrap_err().to_string();
        assert!(error.contains("70000"), "{error}");
    }

    #[test]
    fn reserved_characters_are_escaped() {
        assert_eq!(names("Line&/1/Speed"), [any("Line/1"), any("Speed")]);
        assert_eq!(names("2&:Speed"), [any("2:Speed")]);
        assert_eq!(names("R&&D"), [any("R&D")]);
        assert_eq!(names("R&D"), [any("R&D")]);
        assert_eq!(names("end&"), [any("end&")]);
    }
}
