//! Reading of cells.

use std::time::Duration;

use takt_ua::binary::{Decode, Decoder, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

use crate::bulk;
use crate::layout::{META, TIME, VALUE, WITHHELD};
use crate::scalar::{Element, Scalar};
use crate::slots::Busy;
use crate::sync::{AtomicU64, Ordering};
use crate::words::{PADDING, append};
use crate::{Cell, CellError, Shape};

/// Properties of a value that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Size in bytes of the value's encoding as a Variant; 0 if there is no value.
    pub length: usize,
    /// Quality of the value.
    pub status: StatusCode,
    /// Time at which the source had the value; [`DateTime::MIN`] if unknown.
    pub source_timestamp: DateTime,
    /// Time at which the server got the value from its source; `None` if the cell is the source, so that the value is
    /// always current.
    pub server_timestamp: Option<DateTime>,
    /// Number that grows with every set.
    pub generation: u64,
}

/// A short encoded value (OPC 10000-6, 5.2.2.16): meaningless unless [`Reading::length`] is 1 and the size of its
/// type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedScalar {
    /// First byte of a Variant: the type, and whether it is an array.
    pub encoding_mask: u8,
    /// Bytes behind the encoding mask, the first one lowest; bytes behind the value are meaningless.
    pub bytes: u64,
}

impl Reading {
    /// Smallest maxAge that accepts a value of any age: the largest Int32, in milliseconds.
    pub const ANY_AGE: Duration = Duration::from_millis(i32::MAX as u64);

    /// Returns whether the value is recent enough for a client that gives this maxAge (OPC 10000-4, 5.11.2.2), so
    /// that its source need not be asked.
    ///
    /// It always is if the cell is the source. Otherwise it is if the server timestamp is not longer ago than
    /// `max_age` at the time `now`, and not in the future, as after the clock was set back. A `max_age` of zero asks
    /// for a new value, one of [`ANY_AGE`](Self::ANY_AGE) or more accepts any value.
    #[must_use]
    pub fn satisfies(&self, max_age: Duration, now: DateTime) -> bool {
        let Some(server_timestamp) = self.server_timestamp else {
            return true;
        };
        if max_age.is_zero() || max_age >= Self::ANY_AGE {
            return !max_age.is_zero();
        }
        // In units of 100 ns.
        let age = i128::from(now.0) - i128::from(server_timestamp.0);
        u128::try_from(age).is_ok_and(|age| age * 100 <= max_age.as_nanos())
    }
}

/// Contents of a slot at some moment: valid only after the sequence was checked.
struct View<'a> {
    length: usize,
    status: StatusCode,
    time: DateTime,
    server_time: Option<DateTime>,
    value: &'a [AtomicU64],
}

/// First words of a slot at some moment, and the last one: all of a number. Valid only after the sequence was checked.
struct Head {
    meta: u64,
    time: u64,
    /// First two words of the value.
    first: u64,
    second: u64,
    /// Server time of a cached value.
    last: u64,
}

impl Head {
    /// Loads the words. A slot that is too short for a number has the others at 0.
    #[inline]
    fn load(words: &[AtomicU64], cached: bool) -> Self {
        let last = if cached { last(words) } else { 0 };
        // One check of the length instead of one for each word.
        match words.first_chunk::<HEAD_WORDS>() {
            Some(words) => Self {
                meta: words[META].load(Ordering::Relaxed),
                time: words[TIME].load(Ordering::Relaxed),
                first: words[VALUE].load(Ordering::Relaxed),
                second: words[VALUE + 1].load(Ordering::Relaxed),
                last,
            },
            None => Self {
                meta: load(words, META),
                time: load(words, TIME),
                first: load(words, VALUE),
                second: load(words, VALUE + 1),
                last,
            },
        }
    }
}

/// Number of words before the third one of the value.
const HEAD_WORDS: usize = VALUE + 2;

/// Returns the length of the value in a word with its properties, in bytes.
#[inline]
fn stated_length(meta: u64) -> usize {
    usize::try_from(meta >> 32).unwrap_or(usize::MAX)
}

/// Returns the status in a word with the properties of a value.
#[inline]
fn status(meta: u64) -> StatusCode {
    StatusCode((meta & u64::from(u32::MAX)) as u32)
}

/// Reading. None of these functions waits; all except [`Cell::get`] allocate nothing.
///
/// # Errors
/// [`CellError::Busy`] if the value was set repeatedly while it was being copied, which takes three sets during each
/// of many attempts. [`CellError::Encode`] if the value does not fit its destination.
impl Cell {
    /// Returns the value with its status and source timestamp. Allocates for strings and arrays.
    ///
    /// There is no value if the status is Bad (OPC 10000-4, 7.11).
    pub fn get(&self) -> Result<DataValue, CellError> {
        let mut stack = [0; 64];
        let mut heap = Vec::new();
        let mut encoder = if self.capacity <= stack.len() {
            Encoder::fixed(&mut stack)
        } else {
            Encoder::growing(&mut heap, self.capacity)
        };
        let reading = self.encode_value(&mut encoder)?;
        let value = Variant::decode(&mut Decoder::with_limits(encoder.written(), self.limits()))?;
        Ok(DataValue {
            value: (value != Variant::Empty && !reading.status.is_bad()).then_some(value),
            status: Some(reading.status),
            source_timestamp: (!reading.source_timestamp.is_null())
                .then_some(reading.source_timestamp),
            server_timestamp: reading.server_timestamp,
            ..DataValue::default()
        })
    }

    /// Returns the properties of the value, without the value.
    pub fn reading(&self) -> Result<Reading, CellError> {
        self.read(|_| ()).map(|((), reading)| reading)
    }

    /// Copies the encoded value to the start of a buffer. Unlike a DataValue, this returns the last value even if the
    /// status is Bad, as long as there is one.
    pub fn read_into(&self, buffer: &mut [u8]) -> Result<Reading, CellError> {
        self.append(&mut Encoder::fixed(buffer), |view, encoder| {
            append(view.value, view.length, encoder)
        })
    }

    /// Reads one number, Boolean, DateTime or StatusCode; `None` if there is no value.
    ///
    /// # Errors
    /// [`CellError::WrongType`] besides [`CellError::Busy`].
    #[inline]
    pub fn read_scalar<T: Scalar>(&self) -> Result<(Option<T>, Reading), CellError> {
        let (scalar, reading) = self.read_encoded_scalar()?;
        if reading.length == 0 {
            return Ok((None, reading));
        }
        expect(scalar.encoding_mask, Shape::scalar(T::TYPE))?;
        Ok((Some(T::from_word(scalar.bytes)), reading))
    }

    /// Reads a value of at most eight bytes besides its encoding mask, of any type, as encoded.
    #[inline]
    pub fn read_encoded_scalar(&self) -> Result<(EncodedScalar, Reading), CellError> {
        let outcome = self.slots().read(|words| Head::load(words, self.cached));
        let (head, generation) = outcome.map_err(|Busy| CellError::Busy)?;
        let stated = stated_length(head.meta);
        if stated == WITHHELD {
            return Err(CellError::Withheld);
        }
        let reading = Reading {
            length: stated.min(self.capacity),
            status: status(head.meta),
            source_timestamp: DateTime(head.time.cast_signed()),
            server_timestamp: self.cached.then(|| DateTime(head.last.cast_signed())),
            generation,
        };
        let scalar = EncodedScalar {
            encoding_mask: encoding(head.first),
            bytes: head.first >> 32 | head.second << 32,
        };
        Ok((scalar, reading))
    }

    /// Copies an array of numbers or Booleans to the start of a slice and returns their number; `None` if there is no
    /// value.
    ///
    /// # Errors
    /// [`CellError::WrongType`], and [`CellError::Encode`] if the slice is too short, besides [`CellError::Busy`].
    pub fn read_slice<T: Element>(
        &self,
        elements: &mut [T],
    ) -> Result<(Option<usize>, Reading), CellError> {
        let (outcome, reading) = self.read(|view| {
            if view.length == 0 {
                return Ok(None);
            }
            let first = load(view.value, 0);
            expect(encoding(first), Shape::array(T::TYPE))?;
            // A null array has length -1; a length that does not fit the cell is from another moment.
            let length = (first >> 32) as u32;
            let length = usize::try_from(length.cast_signed())
                .unwrap_or(0)
                .min(self.capacity / T::SIZE);
            let available = elements.len();
            let Some(target) = elements.get_mut(..length) else {
                return Err(full(length * T::SIZE, available * T::SIZE));
            };
            let words = view.value.get(1..).unwrap_or_default();
            copy_elements(words, target);
            Ok(Some(length))
        })?;
        outcome.map(|length| (length, reading))
    }

    /// Appends the value as a Variant (OPC 10000-6, 5.2.2.16), the null Variant if there is none; the last value even
    /// if the status is Bad.
    #[inline]
    pub fn encode_value(&self, encoder: &mut Encoder<'_>) -> Result<Reading, CellError> {
        self.append(encoder, |view, encoder| match view.length {
            0 => encoder.u8(0),
            length => append(view.value, length, encoder),
        })
    }

    /// Appends a DataValue (OPC 10000-6, 5.2.2.17) with the timestamps that a client requests (OPC 10000-4, 7.40), as
    /// in the response of a Read.
    ///
    /// A status of Good is left out, as the standard requires; so are null times, and the value if the status is Bad
    /// (OPC 10000-4, 7.11).
    #[inline]
    pub fn encode_data_value(
        &self,
        encoder: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        server_timestamp: DateTime,
    ) -> Result<Reading, CellError> {
        let timestamps = (timestamps, server_timestamp);
        self.encode_data_value_as(encoder, timestamps, |status| status)
    }

    /// Appends a DataValue as [`encode_data_value`](Self::encode_data_value) does, with the status that a function makes of that of the
    /// value.
    #[inline]
    pub(crate) fn encode_data_value_as(
        &self,
        encoder: &mut Encoder<'_>,
        (timestamps, server_timestamp): (TimestampsToReturn, DateTime),
        status: impl Fn(StatusCode) -> StatusCode,
    ) -> Result<Reading, CellError> {
        let source =
            timestamps == TimestampsToReturn::Source || timestamps == TimestampsToReturn::Both;
        let server =
            timestamps == TimestampsToReturn::Server || timestamps == TimestampsToReturn::Both;
        let server_timestamp = if server {
            server_timestamp
        } else {
            DateTime::MIN
        };
        self.append(encoder, |mut view, encoder| {
            view.status = status(view.status);
            if view.status.is_bad() {
                view.length = 0;
            }
            if !source {
                view.time = DateTime::MIN;
            }
            // The server timestamp of a cached value is stored with it.
            let server_timestamp = match view.server_time {
                Some(time) if server => time,
                _ => server_timestamp,
            };
            data_value(&view, server_timestamp, encoder)
        })
    }

    /// Reads by appending; bytes of failed attempts are removed.
    #[inline]
    fn append(
        &self,
        encoder: &mut Encoder<'_>,
        mut write: impl FnMut(View<'_>, &mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<Reading, CellError> {
        let start = encoder.position();
        let outcome = self.read(|view| {
            encoder.truncate(start);
            write(view, encoder)
        });
        match outcome {
            Ok((Ok(()), reading)) => Ok(reading),
            Ok((Err(error), _)) => {
                encoder.truncate(start);
                Err(error.into())
            }
            Err(error) => {
                encoder.truncate(start);
                Err(error)
            }
        }
    }

    /// Repeats `copy` until it has seen a consistent value.
    #[inline]
    fn read<R>(&self, mut copy: impl FnMut(View<'_>) -> R) -> Result<(R, Reading), CellError> {
        let outcome = self.slots().read(|words| {
            let meta = load(words, META);
            let stated = stated_length(meta);
            // The length is limited to the cell, because it may be from another moment.
            let length = stated.min(self.capacity);
            let status = status(meta);
            let time = DateTime(load(words, TIME).cast_signed());
            let server_time = self.cached.then(|| DateTime(last(words).cast_signed()));
            let value = words.get(VALUE..).unwrap_or_default();
            let result = copy(View {
                length,
                status,
                time,
                server_time,
                value,
            });
            let reading = Reading {
                length,
                status,
                source_timestamp: time,
                server_timestamp: server_time,
                generation: 0,
            };
            (result, reading, stated == WITHHELD)
        });
        match outcome {
            Ok(((_, _, true), _)) => Err(CellError::Withheld),
            Ok(((result, reading, _), generation)) => Ok((
                result,
                Reading {
                    generation,
                    ..reading
                },
            )),
            Err(Busy) => Err(CellError::Busy),
        }
    }
}

// Encoding mask of a DataValue.
const HAS_VALUE: u8 = 0x01;
const HAS_STATUS: u8 = 0x02;
const HAS_SOURCE_TIMESTAMP: u8 = 0x04;
const HAS_SERVER_TIMESTAMP: u8 = 0x08;

fn mask(view: &View<'_>, server_timestamp: DateTime) -> u8 {
    let bit = |present: bool, bit: u8| if present { bit } else { 0 };
    bit(view.length > 0, HAS_VALUE)
        | bit(view.status != StatusCode::Good, HAS_STATUS)
        | bit(!view.time.is_null(), HAS_SOURCE_TIMESTAMP)
        | bit(!server_timestamp.is_null(), HAS_SERVER_TIMESTAMP)
}

/// Appends the mask and its parts, with shortcuts for the most frequent sizes: numbers of 4 and 8 bytes.
#[inline]
fn data_value(
    view: &View<'_>,
    server_timestamp: DateTime,
    encoder: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    encoder.u8(mask(view, server_timestamp))?;
    let [_, _, _, head @ ..] = load(view.value, 0).to_le_bytes();
    match view.length {
        5 => encoder.bytes(&head)?,
        9 => {
            let [a, b, c, d, ..] = load(view.value, 1).to_le_bytes();
            encoder.bytes(&head)?;
            encoder.bytes(&[a, b, c, d])?;
        }
        length => append(view.value, length, encoder)?,
    }
    if view.status != StatusCode::Good {
        encoder.u32(view.status.0)?;
    }
    if !view.time.is_null() {
        encoder.i64(view.time.0)?;
    }
    if !server_timestamp.is_null() {
        encoder.i64(server_timestamp.0)?;
    }
    Ok(())
}

#[inline]
fn load(words: &[AtomicU64], index: usize) -> u64 {
    words
        .get(index)
        .map_or(0, |word| word.load(Ordering::Relaxed))
}

#[inline]
fn last(words: &[AtomicU64]) -> u64 {
    words.last().map_or(0, |word| word.load(Ordering::Relaxed))
}

/// Returns the encoding mask in the first word of a value.
#[inline]
fn encoding(first: u64) -> u8 {
    first.to_le_bytes()[PADDING]
}

#[inline]
fn expect(encoding: u8, asked: Shape) -> Result<(), CellError> {
    if asked.accepts(encoding) {
        Ok(())
    } else {
        Err(CellError::WrongType {
            expected: Shape::of(encoding),
            found: asked,
        })
    }
}

#[cold]
fn full(needed: usize, available: usize) -> CellError {
    let bytes = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    CellError::Encode(EncodeError::BufferFull {
        needed: bytes(needed),
        available: bytes(available),
    })
}

/// Copies elements from words, as many as the target holds.
#[inline]
fn copy_elements<T: Element>(words: &[AtomicU64], target: &mut [T]) {
    let Some(bytes) = T::as_bytes_mut(target) else {
        for (elements, word) in target.chunks_mut(8 / T::SIZE).zip(words) {
            let word = word.load(Ordering::Relaxed);
            for (place, element) in elements.iter_mut().enumerate() {
                *element = T::from_word(word >> (8 * T::SIZE * place));
            }
        }
        return;
    };
    bulk::load(words, bytes);
}
