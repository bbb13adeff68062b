//! Locations of values: of one, of several of one type, or of one short value of any type.

use std::marker::PhantomData;
use std::ops::Range;

use takt_ua::BuiltInType;

use super::layout::{FieldKind, FieldPlace, FixedLayout};
use super::{FixedMessage, FixedMessageRef, FixedValue};
use crate::raw_data::{Rank, RawType};

/// Location of a value of a type in all messages of a layout.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot<T> {
    pub(super) offset: usize,
    value: PhantomData<T>,
}

/// Locations of the values of consecutive fields of one type, at equal distances. They are stored and read at once,
/// which takes a fraction of the time of the same number of [`Slot`]s.
#[derive(Debug, PartialEq, Eq)]
pub struct SlotSeries<T> {
    first: usize,
    /// Distance in bytes from one value to the next.
    distance: usize,
    count: usize,
    value: PhantomData<T>,
}

/// Location of a value of 1, 2, 4 or 8 bytes, of any type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalarPlace {
    offset: usize,
    size: usize,
}

impl<T> Slot<T> {
    /// Returns the offset in bytes from the start of the NetworkMessage.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl<T> Clone for Slot<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slot<T> {}

impl<T> SlotSeries<T> {
    /// Returns the number of fields.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }
}

impl<T> Clone for SlotSeries<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SlotSeries<T> {}

impl<T: FixedValue> SlotSeries<T> {
    /// Returns the bytes of the message from the first value to the end of the last one.
    #[inline]
    fn range(&self) -> Range<usize> {
        let length = match self.count {
            0 => 0,
            count => (count - 1) * self.distance + T::SIZE,
        };
        self.first..self.first + length
    }
}

impl FixedMessage {
    /// Returns the locations of consecutive fields; `None` if they are not all of this type, or not at equal
    /// distances.
    pub fn slots<T: FixedValue>(
        &self,
        data_set_message: usize,
        fields: Range<usize>,
    ) -> Option<SlotSeries<T>> {
        self.layout.slots(data_set_message, fields)
    }

    /// Stores the values of consecutive fields; returns `false`, and changes nothing, if there are more or fewer
    /// values than fields.
    #[inline]
    pub fn store_all<T: FixedValue>(&mut self, slots: SlotSeries<T>, values: &[T]) -> bool {
        let target = self.bytes.get_mut(slots.range());
        let Some(target) = target.filter(|_| values.len() == slots.count) else {
            return false;
        };
        // With a constant distance the compiler makes one copy of all values.
        if slots.distance == T::SIZE {
            let places = target.chunks_exact_mut(T::SIZE);
            places
                .zip(values)
                .for_each(|(place, value)| value.store(place));
        } else {
            let places = target.chunks_mut(slots.distance.max(1));
            places
                .zip(values)
                .for_each(|(place, value)| value.store(place));
        }
        true
    }

    /// Returns the location of a field if it is one value of 1, 2, 4 or 8 bytes.
    pub fn scalar_place(&self, data_set_message: usize, field: usize) -> Option<ScalarPlace> {
        self.layout.scalar_place(data_set_message, field)
    }

    /// Stores the lower bytes of a number, little-endian.
    #[inline]
    pub fn store_scalar(&mut self, place: ScalarPlace, bytes: u64) {
        let Some(target) = self.bytes.get_mut(place.offset..) else {
            return;
        };
        match place.size {
            1 => (bytes as u8).store(target),
            2 => (bytes as u16).store(target),
            4 => (bytes as u32).store(target),
            _ => bytes.store(target),
        }
    }
}

impl FixedMessageRef<'_> {
    /// Returns the location of a field if it is one value of 1, 2, 4 or 8 bytes.
    pub fn scalar_place(&self, data_set_message: usize, field: usize) -> Option<ScalarPlace> {
        self.layout.scalar_place(data_set_message, field)
    }

    /// Reads a value as the lower bytes of a number, little-endian; 0 for a location of another layout outside of
    /// this one.
    #[inline]
    pub fn get_scalar(&self, place: ScalarPlace) -> u64 {
        let Some(source) = self.bytes.get(place.offset..) else {
            return 0;
        };
        match place.size {
            1 => u8::load(source).into(),
            2 => u16::load(source).into(),
            4 => u32::load(source).into(),
            _ => u64::load(source),
        }
    }

    /// Reads the values of consecutive fields; returns `false`, and reads nothing, if there are more or fewer fields
    /// than places.
    #[inline]
    pub fn get_all<T: FixedValue>(&self, slots: SlotSeries<T>, values: &mut [T]) -> bool {
        let source = self.bytes.get(slots.range());
        let Some(source) = source.filter(|_| values.len() == slots.count) else {
            return false;
        };
        if slots.distance == T::SIZE {
            let places = source.chunks_exact(T::SIZE);
            places
                .zip(values)
                .for_each(|(place, value)| *value = T::load(place));
        } else {
            let places = source.chunks(slots.distance.max(1));
            places
                .zip(values)
                .for_each(|(place, value)| *value = T::load(place));
        }
        true
    }
}

impl FixedLayout {
    pub(super) fn slot<T: FixedValue>(
        &self,
        data_set_message: usize,
        field: usize,
    ) -> Option<Slot<T>> {
        let place = self.field(data_set_message, field)?;
        (scalar_type(place)? == T::BUILT_IN_TYPE).then_some(Slot {
            offset: place.value.start,
            value: PhantomData,
        })
    }

    fn scalar_place(&self, data_set_message: usize, field: usize) -> Option<ScalarPlace> {
        let place = self.field(data_set_message, field)?;
        let size = scalar_type(place)?.encoded_size()?;
        matches!(size, 1 | 2 | 4 | 8).then_some(ScalarPlace {
            offset: place.value.start,
            size,
        })
    }

    pub(super) fn slots<T: FixedValue>(
        &self,
        data_set_message: usize,
        fields: Range<usize>,
    ) -> Option<SlotSeries<T>> {
        let count = fields.len();
        let offsets: Option<Vec<usize>> = fields
            .map(|field| Some(self.slot::<T>(data_set_message, field)?.offset))
            .collect();
        let offsets = offsets?;
        let distance = match offsets.as_slice() {
            [first, second, ..] => second - first,
            _ => T::SIZE,
        };
        let equal = offsets
            .windows(2)
            .all(|pair| pair.first().map(|at| at + distance) == pair.last().copied());
        equal.then_some(SlotSeries {
            first: offsets.first().copied().unwrap_or(0),
            distance,
            count,
            value: PhantomData,
        })
    }
}

/// Returns the type of a field that is one value of a fixed size.
fn scalar_type(place: &FieldPlace) -> Option<BuiltInType> {
    match &place.kind {
        FieldKind::Scalar(built_in_type) => Some(*built_in_type),
        FieldKind::Raw(field) => match (&field.raw_type, &field.rank) {
            (RawType::Fixed(built_in_type), Rank::Scalar) => Some(*built_in_type),
            _ => None,
        },
        FieldKind::Array(_) => None,
    }
}
