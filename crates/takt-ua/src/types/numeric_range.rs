//! NumericRange, the index range of a Read or Write (OPC 10000-4, 7.27).

use std::fmt;
use std::str::FromStr;

use super::array::product;
use super::{Array, Elements, UaString, Variant};
use crate::StatusCode;

/// A part of an array, of a matrix, of a String or of a ByteString: one range of indexes per dimension.
///
/// For arrays of Strings or ByteStrings, one more range than there are dimensions selects a part of each element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumericRange {
    /// First and last index of each dimension.
    ranges: Vec<(usize, usize)>,
}

/// Error of a text that is not a NumericRange; the peer is told `BadIndexRangeInvalid`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an index range; expected for example 6, 1:3 or 1:2,0:1")]
pub struct ParseNumericRangeError(String);

impl ParseNumericRangeError {
    /// Returns the StatusCode for the peer.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadIndexRangeInvalid
    }
}

fn index(digits: &str) -> Option<usize> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // An index is at most a UInt32, like the length of a dimension.
    plain
        .then(|| digits.parse::<u32>().ok())
        .flatten()
        .map(|index| index as usize)
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(':') {
        None => index(text).map(|index| (index, index)),
        Some((first, last)) => {
            // The standard has no range with two equal indexes: that is written as one index.
            Some((index(first)?, index(last)?)).filter(|(first, last)| first < last)
        }
    }
}

impl FromStr for NumericRange {
    type Err = ParseNumericRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split(',').map(range).collect() {
            Some(ranges) => Ok(Self { ranges }),
            None => Err(ParseNumericRangeError(text.to_owned())),
        }
    }
}

impl fmt::Display for NumericRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (dimension, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if dimension > 0 { "," } else { "" };
            write!(f, "{comma}{first}")?;
            if last != first {
                write!(f, ":{last}")?;
            }
        }
        Ok(())
    }
}

impl NumericRange {
    /// Returns the range of a request: `None` for the null or empty string, which stand for the whole value;
    /// `BadIndexRangeInvalid` for a malformed one.
    pub fn of_request(text: Option<&str>) -> Result<Option<Self>, StatusCode> {
        match text {
            None | Some("") => Ok(None),
            Some(text) => match text.parse() {
                Ok(range) => Ok(Some(range)),
                Err(error) => Err(ParseNumericRangeError::status_code(&error)),
            },
        }
    }

    /// Returns the selected part of a value.
    ///
    /// Ranges that end behind the value are shortened. The result is `BadIndexRangeNoData` if a range begins behind
    /// the value, if the number of ranges does not fit the value, or if the value has no parts.
    pub fn read(&self, value: &Variant) -> Result<Variant, StatusCode> {
        match value {
            Variant::String(text) => {
                let part = text
                    .as_option()
                    .and_then(|text| substring(text, self.only()?));
                part.map(Variant::from)
                    .ok_or(StatusCode::BadIndexRangeNoData)
            }
            Variant::ByteString(bytes) => {
                let part = bytes
                    .as_option()
                    .and_then(|bytes| subslice(bytes, self.only()?));
                part.map(|part| Variant::ByteString(part.into()))
                    .ok_or(StatusCode::BadIndexRangeNoData)
            }
            Variant::Array(array) => self.read_array(array).map(Variant::from),
            _ => Err(StatusCode::BadIndexRangeNoData),
        }
    }

    /// Replaces the selected part of `target` by `value`, which has the shape of the result of [`read`](Self::read).
    ///
    /// After an error, `target` is unchanged: `BadIndexRangeNoData` if the range exceeds `target` or does not fit it,
    /// `BadIndexRangeDataMismatch` if `value` has another size than the range, `BadTypeMismatch` if it has another
    /// type.
    pub fn write(&self, target: &mut Variant, value: &Variant) -> Result<(), StatusCode> {
        match (target, value) {
            (Variant::String(target), Variant::String(value)) => {
                let range = self.only().ok_or(StatusCode::BadIndexRangeNoData)?;
                *target = replace_text(target, range, value)?;
                Ok(())
            }
            (Variant::ByteString(target), Variant::ByteString(value)) => {
                let range = self.only().ok_or(StatusCode::BadIndexRangeNoData)?;
                let mut bytes = target.as_bytes().to_vec();
                replace_bytes(&mut bytes, range, value.as_bytes())?;
                *target = bytes.into();
                Ok(())
            }
            (Variant::Array(target), Variant::Array(value)) => self.write_array(target, value),
            (Variant::Array(_), _) => Err(StatusCode::BadIndexRangeDataMismatch),
            (Variant::String(_) | Variant::ByteString(_), _) => Err(StatusCode::BadTypeMismatch),
            _ => Err(StatusCode::BadIndexRangeNoData),
        }
    }

    /// Returns the range, if there is exactly one.
    fn only(&self) -> Option<(usize, usize)> {
        match self.ranges.as_slice() {
            [range] => Some(*range),
            _ => None,
        }
    }

    /// Returns the ranges of the dimensions, and the range within each element if there is one more.
    fn split(&self, array: &Array) -> Result<(Selection, Option<(usize, usize)>), StatusCode> {
        let lengths = array.lengths();
        let textual = matches!(
            array.elements,
            Elements::String(_) | Elements::ByteString(_)
        );
        let (ranges, within) = match self.ranges.split_last() {
            Some((within, ranges)) if textual && ranges.len() == lengths.len() => {
                (ranges, Some(*within))
            }
            _ => (self.ranges.as_slice(), None),
        };
        // The dimensions of an Array are a public field, which need not fit the elements.
        let consistent =
            product(lengths.iter().map(|length| i64::from(*length))) == Some(array.len());
        Selection::new(ranges, &lengths)
            .filter(|_| consistent)
            .map(|selection| (selection, within))
            .ok_or(StatusCode::BadIndexRangeNoData)
    }

    fn read_array(&self, array: &Array) -> Result<Array, StatusCode> {
        let (selection, within) = self.split(array)?;
        let mut elements = array.elements.select(selection.indexes());
        if let Some(range) = within {
            let any = match &mut elements {
                Elements::String(texts) => keep(texts, |text| {
                    substring(text.as_option()?, range).map(Into::into)
                }),
                Elements::ByteString(strings) => keep(strings, |bytes| {
                    subslice(bytes.as_option()?, range).map(Into::into)
                }),
                _ => false,
            };
            if !any {
                return Err(StatusCode::BadIndexRangeNoData);
            }
        }
        let dimensions = if array.dimensions.is_empty() {
            Vec::new()
        } else {
            selection.lengths()
        };
        Ok(Array {
            elements,
            dimensions,
        })
    }

    fn write_array(&self, target: &mut Array, value: &Array) -> Result<(), StatusCode> {
        let (selection, within) = self.split(target)?;
        if target.element_type() != value.element_type() {
            return Err(StatusCode::BadTypeMismatch);
        }
        // A write must not change only a part of what it names.
        if selection.is_cut {
            return Err(StatusCode::BadIndexRangeNoData);
        }
        let lengths = selection.lengths();
        // A plain array may stand for a matrix, row by row.
        let same_shape = value.dimensions.is_empty()
            || target.dimensions.is_empty()
            || value.dimensions == lengths;
        if selection.count() != value.len() || !same_shape {
            return Err(StatusCode::BadIndexRangeDataMismatch);
        }
        let Some(range) = within else {
            target.elements.assign(selection.indexes(), &value.elements);
            return Ok(());
        };
        // Copies are changed first, so that an error in a later element leaves the earlier elements unchanged.
        let mut changed = target.elements.select(selection.indexes());
        match (&mut changed, &value.elements) {
            (Elements::String(texts), Elements::String(parts)) => {
                for (text, part) in texts.iter_mut().zip(parts) {
                    *text = replace_text(text, range, part)?;
                }
            }
            (Elements::ByteString(strings), Elements::ByteString(parts)) => {
                for (string, part) in strings.iter_mut().zip(parts) {
                    let mut bytes = string.as_bytes().to_vec();
                    replace_bytes(&mut bytes, range, part.as_bytes())?;
                    *string = bytes.into();
                }
            }
            _ => return Err(StatusCode::BadTypeMismatch),
        }
        target.elements.assign(selection.indexes(), &changed);
        Ok(())
    }
}

/// The elements of an array that ranges select, in row-major order.
struct Selection {
    /// Per dimension: first index, number of indexes, distance between neighbours.
    dimensions: Vec<(usize, usize, usize)>,
    /// True if a range exceeds the array.
    is_cut: bool,
}

impl Selection {
    /// Creates a selection; `None` if there is not one range per dimension, or if one begins behind its dimension.
    fn new(ranges: &[(usize, usize)], lengths: &[u32]) -> Option<Self> {
        if ranges.len() != lengths.len() {
            return None;
        }
        let mut dimensions = Vec::with_capacity(lengths.len());
        let (mut stride, mut is_cut) = (1_usize, false);
        for ((first, last), length) in ranges.iter().zip(lengths).rev() {
            let length = *length as usize;
            let last_index = length
                .checked_sub(1)
                .filter(|last_index| first <= last_index)?;
            is_cut |= *last > last_index;
            dimensions.push((*first, last.min(&last_index) - first + 1, stride));
            stride = stride.saturating_mul(length);
        }
        dimensions.reverse();
        Some(Self { dimensions, is_cut })
    }

    fn lengths(&self) -> Vec<u32> {
        self.dimensions
            .iter()
            .map(|(_, count, _)| u32::try_from(*count).unwrap_or(u32::MAX))
            .collect()
    }

    fn count(&self) -> usize {
        self.dimensions
            .iter()
            .fold(1, |product, (_, count, _)| product.saturating_mul(*count))
    }

    fn indexes(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).map(|number| {
            // The position in the last dimension changes first.
            let mut number = number;
            self.dimensions
                .iter()
                .rev()
                .fold(0_usize, |index, (first, count, stride)| {
                    let position = first + number % count;
                    number /= count;
                    index.saturating_add(position.saturating_mul(*stride))
                })
        })
    }
}

/// Replaces each element by a part of it, or by null if it has no such part. Returns whether any element has one.
fn keep<T: Default>(elements: &mut [T], part: impl Fn(&T) -> Option<T>) -> bool {
    let mut any = false;
    for element in elements {
        let part = part(element);
        any |= part.is_some();
        *element = part.unwrap_or_default();
    }
    any
}

fn subslice(bytes: &[u8], (first, last): (usize, usize)) -> Option<&[u8]> {
    let rest = bytes.get(first..).filter(|rest| !rest.is_empty())?;
    Some(rest.get(..=last - first).unwrap_or(rest))
}

/// Returns a part of a text. Characters are counted, not bytes.
fn substring(text: &str, (first, last): (usize, usize)) -> Option<&str> {
    let (start, _) = text.char_indices().nth(first)?;
    let rest = text.get(start..)?;
    match rest.char_indices().nth(last - first + 1) {
        Some((end, _)) => rest.get(..end),
        None => Some(rest),
    }
}

fn replace_bytes(
    bytes: &mut [u8],
    (first, last): (usize, usize),
    value: &[u8],
) -> Result<(), StatusCode> {
    let part = bytes
        .get_mut(first..=last)
        .ok_or(StatusCode::BadIndexRangeNoData)?;
    if part.len() != value.len() {
        return Err(StatusCode::BadIndexRangeDataMismatch);
    }
    part.copy_from_slice(value);
    Ok(())
}

fn replace_text(
    text: &UaString,
    (first, last): (usize, usize),
    value: &UaString,
) -> Result<UaString, StatusCode> {
    let text = text.as_str();
    let part =
        substring(text, (first, last)).filter(|part| part.chars().count() == last - first + 1);
    let part = part.ok_or(StatusCode::BadIndexRangeNoData)?;
    if value.as_str().chars().count() != last - first + 1 {
        return Err(StatusCode::BadIndexRangeDataMismatch);
    }
    // The length in bytes of the text before the part.
    let start: usize = text.chars().take(first).map(char::len_utf8).sum();
    let front = text.get(..start).unwrap_or_default();
    let back = text.get(start + part.len()..).unwrap_or_default();
    Ok(format!("{front}{value}{back}").into())
}

#[cfg(test)]
mod tests;
