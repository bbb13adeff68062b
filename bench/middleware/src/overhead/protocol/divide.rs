//! Division of a stream, message by message.

use super::super::message::{Part, Purpose};

/// Function that returns the first message of a stream, if it is complete. Its arguments: the rest of the stream, and the number of
/// messages before.
pub(super) type Next = fn(rest: &[u8], before: usize) -> Option<Part>;

/// Divides a stream with a function that returns its first message.
pub(super) fn divide(bytes: &[u8], next: Next) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let part = next(rest, parts.len()).filter(|part| part.bytes > 0);
        let part =
            part.unwrap_or_else(|| Part::new("not recognised", Purpose::Unknown, rest.len()));
        rest = rest.get(part.bytes..).unwrap_or_default();
        parts.push(part);
    }
    parts
}
