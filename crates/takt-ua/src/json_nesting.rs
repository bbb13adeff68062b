//! Nested values in JSON: their depth, arrays and matrices, and places in errors, as both JSON forms read them.

use serde_json::Value;

use crate::{Array, BuiltInType, Elements};

/// Largest depth of nested values. Deeper JSON is refused; deeper ExtensionObjects are written undecoded.
pub(crate) const MAX_DEPTH: usize = 100;

/// Error of a JSON form.
pub(crate) trait NestingError: Sized {
    /// Creates the error of values that are nested too deeply.
    fn too_deep() -> Self;

    /// Creates the error of a value that is not an array of the same length as its neighbours.
    fn wrong_length(length: usize, found: &Value) -> Self;

    /// Returns the same error, in an element of an array.
    fn in_element(self, index: usize) -> Self;
}

/// Reads an array, or a matrix of nested arrays, which all have the same lengths. `nests` is false if arrays in the array
/// are elements. `push` reads an element at a depth, and appends it.
pub(crate) fn array<E: NestingError>(
    value: &Value,
    built_in_type: BuiltInType,
    nests: bool,
    depth: usize,
    mut push: impl FnMut(&Value, usize, &mut Elements) -> Result<(), E>,
) -> Result<Array, E> {
    let mut lengths = Vec::new();
    let mut first = Some(value);
    while let Some(Value::Array(elements)) = first {
        lengths.push(elements.len());
        // The first element of each level tells the lengths; `collect` refuses elements that differ.
        first = elements.first().filter(|_| nests);
    }
    let mut elements = Elements::empty(built_in_type);
    collect(value, &lengths, depth, &mut elements, &mut push)?;
    let dimensions = match lengths.as_slice() {
        [_] => Vec::new(),
        // An empty matrix would need a dimension of 0, which the standard does not allow.
        _ if elements.is_empty() => Vec::new(),
        lengths => lengths
            .iter()
            .map(|length| u32::try_from(*length).unwrap_or(u32::MAX))
            .collect(),
    };
    Ok(Array {
        elements,
        dimensions,
    })
}

/// Appends the elements of nested arrays.
fn collect<E: NestingError>(
    value: &Value,
    lengths: &[usize],
    depth: usize,
    elements: &mut Elements,
    push: &mut impl FnMut(&Value, usize, &mut Elements) -> Result<(), E>,
) -> Result<(), E> {
    if depth >= MAX_DEPTH {
        return Err(E::too_deep());
    }
    let Some((length, inner)) = lengths.split_first() else {
        return push(value, depth + 1, elements);
    };
    match value {
        Value::Array(rows) if rows.len() == *length => {
            rows.iter().enumerate().try_for_each(|(index, row)| {
                collect(row, inner, depth + 1, elements, push)
                    .map_err(|error| error.in_element(index))
            })
        }
        other => Err(E::wrong_length(*length, other)),
    }
}

/// Returns the depth of a value.
pub(crate) fn depth_of(value: &Value) -> usize {
    // The parser has limited the depth, and so this recursion.
    let deepest = match value {
        Value::Object(fields) => fields.values().map(depth_of).max(),
        Value::Array(elements) => elements.iter().map(depth_of).max(),
        _ => return 0,
    };
    deepest.unwrap_or(0) + 1
}

/// Returns the place of an error: the place `inner` within a field or element.
pub(crate) fn place(step: &str, inner: &str) -> String {
    let dot = if inner.is_empty() || inner.starts_with('[') {
        ""
    } else {
        "."
    };
    format!("{step}{dot}{inner}")
}
