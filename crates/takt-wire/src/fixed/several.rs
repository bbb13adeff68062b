//! Values of several fields at once, and short values of any type.

use std::ops::Range;

use super::slot::{ScalarPlace, SlotSeries};
use super::value::FixedValue;
use super::{FixedMessage, FixedMessageRef};

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
            // `chunks_mut` panics at 0; the distance of several fields is never 0.
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
        // `scalar_place` returns only sizes of 1, 2, 4 and 8 bytes.
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
