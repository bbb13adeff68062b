//! Borrowed values and arrays that are kept in their encoded form.

use std::marker::PhantomData;

use super::decoder::Limits;
use super::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// One value in its encoded form, checked when it was decoded.
pub struct Encoded<'a, T> {
    bytes: &'a [u8],
    // `fn() -> T`, because there is no `T` in it: it is `Send` and `Sync` for every `T`.
    value: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Encoded<'a, T> {
    /// Decodes the value. It is never `None`, because a decoder has accepted the bytes.
    #[inline]
    pub fn get(&self) -> Option<T> {
        T::decode(&mut Decoder::with_limits(self.bytes, Limits::VALIDATED)).ok()
    }

    /// Returns the encoded value.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Encoded<'a, T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let start = decoder.rest();
        // The value is checked now, because `get` reads it without limits.
        T::skip(decoder)?;
        let length = start.len() - decoder.remaining();
        Ok(Self {
            bytes: start.get(..length).unwrap_or_default(),
            value: PhantomData,
        })
    }
}

impl<T> Encode for Encoded<'_, T> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.bytes(self.bytes)
    }
}

// Not derived: that would need `T: Clone`, although no `T` is copied.
impl<T> Clone for Encoded<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Encoded<'_, T> {}

impl<T> PartialEq for Encoded<'_, T> {
    /// Compares encodings.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<'a, T: Decode<'a> + std::fmt::Debug> std::fmt::Debug for Encoded<'a, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// An array whose elements stay encoded (OPC 10000-6, 5.2.5). They are checked when the list is decoded,
/// and decoded one by one, without allocating, by [`iter`](Self::iter).
pub struct ListRef<'a, T> {
    count: usize,
    bytes: &'a [u8],
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> ListRef<'a, T> {
    /// Decodes `count` elements whose number is not encoded directly before them.
    ///
    /// # Errors
    /// An error if an element cannot be decoded.
    #[inline]
    pub fn take(decoder: &mut Decoder<'a>, count: usize) -> Result<Self, DecodeError> {
        let start = decoder.rest();
        T::skip_elements(decoder, count)?;
        let length = start.len() - decoder.remaining();
        Ok(Self {
            count,
            bytes: start.get(..length).unwrap_or_default(),
            element: PhantomData,
        })
    }

    /// Returns the element at `index`; the elements before it are decoded too.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.iter().nth(index)
    }

    /// Returns the number of elements; 0 for the null array.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the elements, decoded one by one.
    #[inline]
    pub fn iter(&self) -> ListIter<'a, T> {
        ListIter {
            remaining: self.count,
            decoder: Decoder::with_limits(self.bytes, Limits::VALIDATED),
            element: PhantomData,
        }
    }

    /// Returns the encoded elements, without their count.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a, T: Decode<'a>> IntoIterator for ListRef<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Decode<'a>> IntoIterator for &ListRef<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for ListRef<'a, T> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let count = decoder.array_length(T::MIN_SIZE)?.unwrap_or(0);
        Self::take(decoder, count)
    }
}

impl<T> Encode for ListRef<'_, T> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The null array is written as the empty one, which means the same (OPC 10000-6, 5.1.11).
        encoder.array_length(Some(self.count))?;
        encoder.bytes(self.bytes)
    }
}

impl<T> Clone for ListRef<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ListRef<'_, T> {}

impl<T> Default for ListRef<'_, T> {
    #[inline]
    fn default() -> Self {
        Self {
            count: 0,
            bytes: &[],
            element: PhantomData,
        }
    }
}

impl<T> PartialEq for ListRef<'_, T> {
    /// Compares encodings.
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.bytes == other.bytes
    }
}

impl<'a, T: Decode<'a> + std::fmt::Debug> std::fmt::Debug for ListRef<'a, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterator over the elements of a [`ListRef`].
#[derive(Debug, Clone)]
pub struct ListIter<'a, T> {
    remaining: usize,
    decoder: Decoder<'a>,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Iterator for ListIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.remaining = self.remaining.checked_sub(1)?;
        // The elements were checked when the list was decoded, so this cannot fail.
        T::decode(&mut self.decoder).ok()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<'a, T: Decode<'a>> ExactSizeIterator for ListIter<'a, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_may_be_counted_elsewhere() {
        let bytes = [1, 0, 2, 0, 3, 0, 9];
        let mut decoder = Decoder::new(&bytes);
        let list: ListRef<'_, u16> = ListRef::take(&mut decoder, 3).unwrap();
        assert_eq!(decoder.remaining(), 1);
        assert_eq!(list.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(list.get(2), Some(3));
        assert_eq!(list.get(3), None);
        assert!(ListRef::<u16>::take(&mut Decoder::new(&bytes), 4).is_err());
    }
}
