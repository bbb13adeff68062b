//! Locations of values: of one, of several of one type, or of one short value of any type.

use std::marker::PhantomData;
use std::ops::Range;

use takt_ua::BuiltInType;

use super::layout::{FieldKind, FieldPlace, FixedLayout};
use super::value::FixedValue;
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
    pub(super) first: usize,
    /// Distance in bytes from one value to the next.
    pub(super) distance: usize,
    pub(super) count: usize,
    value: PhantomData<T>,
}

/// Location of a value of 1, 2, 4 or 8 bytes, of any type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalarPlace {
    pub(super) offset: usize,
    pub(super) size: usize,
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
    pub(super) fn range(&self) -> Range<usize> {
        let length = match self.count {
            0 => 0,
            count => (count - 1) * self.distance + T::SIZE,
        };
        self.first..self.first + length
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

    pub(super) fn scalar_place(
        &self,
        data_set_message: usize,
        field: usize,
    ) -> Option<ScalarPlace> {
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
            // Fields are in the order of the message, so the second one is behind the first.
            [first, second, ..] => second - first,
            // One value has no distance; this one makes `store_all` take its fast way.
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
        FieldKind::Array(_) | FieldKind::Text(_) => None,
    }
}
