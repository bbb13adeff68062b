//! Trace points in memory: written during the run without allocation, read after it.

/// Place on the way of a message (`docs/measurements.md`; *OPC UA PubSub over TSN*, Fig. 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TracePoint {
    /// T1: the Publisher's thread hands the message to the kernel.
    T1 = 1,
    /// T2: the first bit leaves the Publisher's port.
    T2 = 2,
    /// T3: the last bit has arrived at the port of the loopback.
    T3 = 3,
    /// T4: the loopback's thread takes the message.
    T4 = 4,
    /// T5: the loopback's thread hands the answer to the kernel.
    T5 = 5,
    /// T6: the first bit of the answer leaves the port of the loopback.
    T6 = 6,
    /// T7: the last bit of the answer has arrived at the Publisher's port.
    T7 = 7,
    /// T8: the thread of the Publisher's node takes the answer.
    T8 = 8,
}

impl TracePoint {
    /// All trace points, in the order of a message's way.
    pub const ALL: [Self; 8] = [
        Self::T1,
        Self::T2,
        Self::T3,
        Self::T4,
        Self::T5,
        Self::T6,
        Self::T7,
        Self::T8,
    ];

    /// Returns the trace point with a number from 1 to 8.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// Returns its number, from 1 to 8.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Message at a trace point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Trace point.
    pub point: TracePoint,
    /// Counter of the message.
    pub counter: u64,
    /// Time: nanoseconds of CLOCK_TAI.
    pub nanos: i64,
}

/// Trace records in memory that is reserved at the start. Records for which no room is left are counted.
#[derive(Debug)]
pub struct Trace {
    records: Vec<TraceRecord>,
    lost: u64,
}

impl Trace {
    /// Reserves memory for a number of records, 24 bytes each, and touches it, so that the run has no page fault.
    #[must_use]
    pub fn with_capacity(records: usize) -> Self {
        let blank = TraceRecord {
            point: TracePoint::T1,
            counter: 0,
            nanos: 0,
        };
        // A value other than 0 makes `vec!` write the memory. Zeros could be pages that do not exist yet.
        let mut memory = vec![blank; records];
        memory.clear();
        Self {
            records: memory,
            lost: 0,
        }
    }

    /// Adds a record. It allocates nothing.
    #[inline]
    pub fn add(&mut self, point: TracePoint, counter: u64, nanos: i64) {
        if self.records.len() < self.records.capacity() {
            self.records.push(TraceRecord {
                point,
                counter,
                nanos,
            });
        } else {
            self.lost += 1;
        }
    }

    /// Returns the records in the order in which they were added.
    #[must_use]
    pub fn records(&self) -> &[TraceRecord] {
        &self.records
    }

    /// Returns the number of records for which no room was left.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_room_are_counted() {
        let mut trace = Trace::with_capacity(2);
        for counter in 0..5 {
            trace.add(TracePoint::T4, counter, 7);
        }
        let counters: Vec<_> = trace
            .records()
            .iter()
            .map(|record| record.counter)
            .collect();
        assert_eq!((counters, trace.lost()), (vec![0, 1], 3));
    }

    #[test]
    fn numbers_are_those_of_the_names() {
        for point in TracePoint::ALL {
            assert_eq!(TracePoint::from_number(point.number()), Some(point));
            assert_eq!(format!("{point:?}"), format!("T{}", point.number()));
        }
        assert_eq!(TracePoint::from_number(0), None);
        assert_eq!(TracePoint::from_number(9), None);
    }
}
