//! Values that stand one behind the other, checked once and then decoded as they are reached.

use std::marker::PhantomData;

use takt_ua::binary::{Decode, DecodeError, Decoder, Limits};

/// For bytes that were decoded before and are known to be good.
const VALIDATED: Limits = Limits {
    max_string_length: usize::MAX,
    max_array_length: usize::MAX,
    max_depth: usize::MAX,
};

/// A number of values that stay encoded. They were checked when the sequence was made, and are decoded one by one,
/// without allocating, by [`iter`](Self::iter).
pub struct Sequence<'a, T> {
    count: usize,
    bytes: &'a [u8],
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Sequence<'a, T> {
    /// Takes `count` values from a decoder.
    pub(crate) fn take(decoder: &mut Decoder<'a>, count: usize) -> Result<Self, DecodeError> {
        let start = decoder.rest();
        T::skip_elements(decoder, count)?;
        let length = start.len() - decoder.remaining();
        Ok(Self {
            count,
            bytes: start.get(..length).unwrap_or_default(),
            element: PhantomData,
        })
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The encoded values.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The values, decoded one by one.
    #[inline]
    pub fn iter(&self) -> SequenceIter<'a, T> {
        SequenceIter {
            remaining: self.count,
            decoder: Decoder::with_limits(self.bytes, VALIDATED),
            element: PhantomData,
        }
    }

    /// One of the values; those before it are decoded, too.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.iter().nth(index)
    }
}

impl<'a, T: Decode<'a>> IntoIterator for Sequence<'a, T> {
    type Item = T;
    type IntoIter = SequenceIter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Clone for Sequence<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sequence<'_, T> {}

impl<T> PartialEq for Sequence<'_, T> {
    /// Compares encodings.
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.bytes == other.bytes
    }
}

impl<'a, T: Decode<'a> + std::fmt::Debug> std::fmt::Debug for Sequence<'a, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterator over the values of a [`Sequence`].
#[derive(Debug, Clone)]
pub struct SequenceIter<'a, T> {
    remaining: usize,
    decoder: Decoder<'a>,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Iterator for SequenceIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.remaining = self.remaining.checked_sub(1)?;
        // The values were checked when the sequence was made, so this cannot fail.
        T::decode(&mut self.decoder).ok()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<'a, T: Decode<'a>> ExactSizeIterator for SequenceIter<'a, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_once_and_decoded_when_reached() {
        let bytes = [1, 0, 2, 0, 3, 0, 9];
        let mut decoder = Decoder::new(&bytes);
        let sequence: Sequence<'_, u16> = Sequence::take(&mut decoder, 3).unwrap();
        assert_eq!(decoder.remaining(), 1);
        assert_eq!(sequence.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(sequence.get(2), Some(3));
        assert_eq!(sequence.get(3), None);
        assert!(Sequence::<u16>::take(&mut Decoder::new(&bytes), 4).is_err());
    }
}
