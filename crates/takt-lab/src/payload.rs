//! CounterPayload of the papers' applications: a counter, repeated.

use std::sync::Arc;

use takt_cell::Cell;
use takt_scenario::Frame;
use takt_ua::{DateTime, StatusCode, Variant};

/// Bytes of the headers of a NetworkMessage, as the example of open62541 sends them.
const HEADERS: u32 = 32;

/// Bytes of a field: a Variant with a UInt64.
const FIELD: u32 = 9;

/// Cells of a message whose fields all have the same counter: the counter, and its repetitions (RNC).
///
/// Equal fields show whether data is consistent: a message with different values is torn (*OPC UA PubSub over TSN* compares
/// eight counters).
#[derive(Debug, Clone)]
pub struct CounterPayload {
    cells: Vec<Arc<Cell>>,
}

impl CounterPayload {
    /// Creates the cells for a number of fields.
    #[must_use]
    pub fn new(fields: usize) -> Self {
        let cell = |_| Arc::new(Cell::of(&Variant::UInt64(0)));
        Self {
            cells: (0..fields).map(cell).collect(),
        }
    }

    /// Returns the number of fields of a frame's message: at least one, and as many as fit.
    #[must_use]
    pub fn fields_of(frame: Frame) -> usize {
        (frame.payload().saturating_sub(HEADERS) / FIELD).max(1) as usize
    }

    /// Returns the length of a message with this number of fields, in bytes.
    #[must_use]
    pub fn length_of(fields: usize) -> usize {
        HEADERS as usize + FIELD as usize * fields
    }

    /// Returns the cells, in the order of the fields.
    #[must_use]
    pub fn cells(&self) -> &[Arc<Cell>] {
        &self.cells
    }

    /// Sets all fields to a counter. It allocates nothing.
    pub fn set(&self, counter: u64) {
        let now = DateTime::now();
        for cell in &self.cells {
            // A cell of a UInt64 takes every one; only this thread sets it.
            let _ = cell.set_u64(counter, StatusCode::Good, now);
        }
    }

    /// Returns the counter, and the index and value of the first field that differs from it. It allocates nothing.
    #[must_use]
    pub fn get(&self) -> (u64, Option<(usize, u64)>) {
        let value = |cell: &Arc<Cell>| {
            let read = cell.read_scalar::<u64>();
            read.ok().and_then(|(value, _)| value).unwrap_or_default()
        };
        let counter = self.cells.first().map(value).unwrap_or_default();
        let mut values = self.cells.iter().map(value).enumerate();
        (counter, values.find(|(_, value)| *value != counter))
    }

    /// Returns all values.
    #[must_use]
    pub fn values(&self) -> Vec<u64> {
        let value = |cell: &Arc<Cell>| {
            let read = cell.read_scalar::<u64>();
            read.ok().and_then(|(value, _)| value).unwrap_or_default()
        };
        self.cells.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn fields_follow_from_the_frame() {
        for count in [0, 2, 7, 160] {
            let frame = Frame::of_repeated_node_count(count).unwrap();
            let fields = CounterPayload::fields_of(frame);
            assert_eq!(fields, 1 + count as usize);
            assert_eq!(CounterPayload::length_of(fields), frame.payload() as usize);
        }
        assert_eq!(CounterPayload::fields_of(Frame::new(1).unwrap()), 1);
        assert_eq!(CounterPayload::fields_of(Frame::new(100).unwrap()), 7);
    }

    #[test]
    fn a_different_field_is_found() {
        let payload = CounterPayload::new(8);
        payload.set(5);
        assert_eq!(payload.get(), (5, None));
        let torn = &payload.cells()[6];
        torn.set_u64(4, StatusCode::Good, DateTime::now()).unwrap();
        assert_eq!(payload.get(), (5, Some((6, 4))));
        assert_eq!(payload.values(), [5, 5, 5, 5, 5, 5, 4, 5]);
    }
}
