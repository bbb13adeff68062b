//! Keys for the properties of launch times and times of reception.

use takt_ua::structures::KeyValuePair;
use takt_ua::{QualifiedName, Variant};

/// Adds the property of a key.
pub(super) fn read_word(
    properties: &mut Vec<KeyValuePair>,
    name: &'static str,
    word: Option<String>,
) {
    let pair = |word: String| KeyValuePair {
        key: QualifiedName::new(0, name),
        value: Variant::from(word.as_str()),
    };
    properties.extend(word.map(pair));
}

/// Returns the key for a property, and the other properties. A property that is not the last one is none, because reading
/// the file would change the order.
pub(super) fn write_word(
    properties: &[KeyValuePair],
    name: &'static str,
) -> (Option<String>, Vec<KeyValuePair>) {
    let Some((last, others)) = properties.split_last() else {
        return (None, Vec::new());
    };
    match &last.value {
        Variant::String(word)
            if last.key == QualifiedName::new(0, name) && word.as_option().is_some() =>
        {
            (Some(word.to_string()), others.to_vec())
        }
        _ => (None, properties.to_vec()),
    }
}
