//! Messages of which some trace points are known: a window that moves with the counters.

use takt_control::{TracePoint, TraceRecord};

use crate::interval::index;
use crate::survey::is_after;

/// Number of counters of the window.
const COUNTERS: usize = 1 << 17;

/// Times of a message at its trace points.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MessageTimes {
    pub(crate) counter: u64,
    times: [Option<i64>; 8],
    /// Trace points that were counted, as bits.
    counted: u8,
}

impl MessageTimes {
    pub(crate) fn at(&self, point: TracePoint) -> Option<i64> {
        self.times.get(index(point)).copied().flatten()
    }

    /// Returns the time between two trace points in nanoseconds, if both are known.
    pub(crate) fn nanos(&self, from: TracePoint, to: TracePoint) -> Option<i64> {
        Some(self.at(to)?.saturating_sub(self.at(from)?))
    }

    /// Notes that the message is counted at a trace point; returns true for the first time.
    pub(crate) fn count(&mut self, point: TracePoint) -> bool {
        let bit = 1 << index(point);
        let is_first = self.counted & bit == 0;
        self.counted |= bit;
        is_first
    }
}

/// Ring of messages: the counter tells the place. A new message takes the place of one that is older by the length of
/// the window, which is then complete.
pub(crate) struct Window {
    places: Vec<Option<MessageTimes>>,
    /// Number of records that came after their message had left the window.
    pub(crate) late: u64,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self {
            places: vec![None; COUNTERS],
            late: 0,
        }
    }

    fn place(&mut self, counter: u64) -> Option<&mut Option<MessageTimes>> {
        let place = counter % COUNTERS as u64;
        self.places.get_mut(usize::try_from(place).ok()?)
    }

    /// Returns a message of the window.
    pub(crate) fn message(&mut self, counter: u64) -> Option<&mut MessageTimes> {
        let message = self.place(counter)?.as_mut();
        message.filter(|message| message.counter == counter)
    }

    /// Notes a record, unless the trace point of the message is known; returns the message that leaves the window.
    pub(crate) fn note(&mut self, record: TraceRecord) -> Option<MessageTimes> {
        let mut leaving = None;
        let place = self.place(record.counter)?;
        let is_known = place.is_some_and(|it| it.counter == record.counter);
        if !is_known {
            if place.is_some_and(|it| is_after(it.counter, record.counter)) {
                self.late += 1;
                return None;
            }
            leaving = place.replace(MessageTimes {
                counter: record.counter,
                ..MessageTimes::default()
            });
        }
        let times = place.as_mut().map(|it| &mut it.times);
        if let Some(time) = times.and_then(|times| times.get_mut(index(record.point))) {
            // A repeated message does not change the time of the first one.
            time.get_or_insert(record.nanos);
        }
        leaving
    }

    /// Takes all messages out of the window.
    pub(crate) fn finish(&mut self) -> impl Iterator<Item = MessageTimes> + use<> {
        std::mem::take(&mut self.places).into_iter().flatten()
    }
}
