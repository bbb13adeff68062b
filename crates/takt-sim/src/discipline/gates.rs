//! The gates of scheduled traffic (IEEE 802.1Q, 8.6.8.4), in the form of TAPRIO.

use takt_scenario::Taprio;

use crate::Time;

/// State of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Open until this time; [`Time::MAX`] if it never closes.
    Open(Time),
    /// Closed until this time; [`Time::MAX`] if it never opens.
    Closed(Time),
}

/// A schedule that repeats, also before its base time: it has run for long when a simulation begins.
#[derive(Debug, Clone)]
pub struct Gates {
    base: Time,
    cycle: Time,
    /// End of each entry, and the open gates in it.
    entries: Vec<(Time, u8)>,
    guard_band: Time,
    /// True if frames end before the guard band; false if they only begin before it.
    closes_early: bool,
}

impl Gates {
    /// Makes the schedule of a port.
    pub fn new(taprio: &Taprio) -> Self {
        let mut end = Time::ZERO;
        let entries = taprio.entries.iter().map(|entry| {
            end += entry.interval.into();
            (end, entry.gates)
        });
        let entries = entries.collect();
        Self {
            base: taprio.base_time.into(),
            // Times are divided by the cycle.
            cycle: end.max(Time::picoseconds(1)),
            entries,
            guard_band: taprio.guard_band.into(),
            closes_early: false,
        }
    }

    /// Returns the schedule, later by `shift`.
    #[must_use]
    pub fn shifted(mut self, shift: Time) -> Self {
        self.base += shift;
        self
    }

    /// Returns gates that close at the beginning of their guard band: TAPRIO knows none, so `takt apply` makes it in this way.
    #[must_use]
    pub fn closing_early(mut self) -> Self {
        self.closes_early = true;
        self
    }

    /// Returns the time before the end of a window at which a frame of this duration begins at the latest: the frame ends in the
    /// window, and does not begin in the guard band. Where the gate closes early, the frame also ends before the guard band.
    pub fn room(&self, duration: Time) -> Time {
        if self.closes_early {
            duration + self.guard_band
        } else {
            duration.max(self.guard_band)
        }
    }

    /// Returns the number of the entry at a time, and its begin and end.
    pub(super) fn entry(&self, now: Time) -> (usize, Time, Time) {
        let start = self.cycle_start(now);
        let position = now - start;
        let number = self.entries.iter().position(|(end, _)| position < *end);
        // Only a schedule without entries has none: a position is always less than the cycle.
        let number = number.unwrap_or(0);
        let end = |number: usize| self.entries.get(number).map_or(self.cycle, |it| it.0);
        let begin = number.checked_sub(1).map_or(Time::ZERO, end);
        (number, start + begin, start + end(number))
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the time from the begin of an entry until the guard band of a class begins; `None` if its gate never closes.
    pub(super) fn open_from(&self, entry: usize, class: u8) -> Option<Time> {
        let begin = entry
            .checked_sub(1)
            .and_then(|before| self.entries.get(before));
        // All cycles are alike, so the one at the base time stands for the others.
        let begin = self.base + begin.map_or(Time::ZERO, |it| it.0);
        match self.window(class, begin) {
            Window::Open(Time::MAX) => None,
            Window::Open(closes) => Some((closes - begin - self.guard_band).max(Time::ZERO)),
            Window::Closed(_) => Some(Time::ZERO),
        }
    }

    /// Returns the state of the gate of a class at this time.
    pub fn window(&self, class: u8, now: Time) -> Window {
        if self.entries.is_empty() {
            return Window::Open(Time::MAX);
        }
        let start = self.cycle_start(now);
        let position = now - start;
        let current = self.entries.iter().position(|(end, _)| position < *end);
        let current = current.unwrap_or(self.entries.len() - 1);
        let is_open = |index: usize| self.entries[index % self.entries.len()].1 >> class & 1 == 1;
        let open = is_open(current);
        let change =
            // One round is enough. Neighbouring entries with the same state are one window.
            (current + 1..=current + self.entries.len()).find(|index| is_open(*index) != open);
        let time = change.map_or(Time::MAX, |index| {
            let before = self.entries[(index - 1) % self.entries.len()].0;
            let cycles = (index - 1) / self.entries.len();
            start + before + self.cycle.times(i64::try_from(cycles).unwrap_or(i64::MAX))
        });
        if open {
            Window::Open(time)
        } else {
            Window::Closed(time)
        }
    }

    /// Returns the longest time for which the gate of a class stays open; [`Time::MAX`] if it never closes.
    pub(crate) fn longest_window(&self, class: u8) -> Time {
        let begins = (0..self.entries.len()).map(|entry| match entry.checked_sub(1) {
            Some(before) => self.base + self.entries[before].0,
            None => self.base,
        });
        let lengths = begins.map(|begin| match self.window(class, begin) {
            Window::Open(Time::MAX) => Time::MAX,
            Window::Open(closes) => closes - begin,
            Window::Closed(_) => Time::ZERO,
        });
        // Without entries, all gates are open.
        lengths.max().unwrap_or(Time::MAX)
    }

    /// Returns the time for which the gate of a class is open in an interval.
    pub fn open_time(&self, class: u8, from: Time, to: Time) -> Time {
        self.opened(class, to) - self.opened(class, from)
    }

    /// Returns the time at which the gate of a class has been open for `time`, which must be positive, since `from`;
    /// [`Time::MAX`] if it never opens.
    pub fn when_open_for(&self, class: u8, from: Time, time: Time) -> Time {
        let in_cycle = self.open_until(class, self.cycle);
        if in_cycle <= Time::ZERO {
            return Time::MAX;
        }
        let target = self.opened(class, from) + time;
        // The moment at which a window ends belongs to it.
        let cycles = (target.as_picoseconds() - 1).div_euclid(in_cycle.as_picoseconds());
        let mut left = target - in_cycle.times(cycles);
        let mut begin = Time::ZERO;
        for (end, open) in &self.entries {
            let length = *end - begin;
            if open >> class & 1 == 1 {
                if left <= length {
                    break;
                }
                left = left - length;
            }
            begin = *end;
        }
        self.base + self.cycle.times(cycles) + begin + left
    }

    /// Returns the time for which the gate of a class was open since the base time, negative before it.
    fn opened(&self, class: u8, now: Time) -> Time {
        let start = self.cycle_start(now);
        let cycles = (start - self.base)
            .as_picoseconds()
            .div_euclid(self.cycle.as_picoseconds());
        self.open_until(class, self.cycle).times(cycles) + self.open_until(class, now - start)
    }

    /// Returns the time for which it is open before this position in a cycle.
    fn open_until(&self, class: u8, position: Time) -> Time {
        let (mut sum, mut begin) = (Time::ZERO, Time::ZERO);
        for (end, open) in &self.entries {
            if open >> class & 1 == 1 && position > begin {
                sum += position.min(*end) - begin;
            }
            begin = *end;
        }
        sum
    }

    /// Returns the cycle, and the end and the open gates of each entry.
    pub(super) fn schedule(&self) -> (Time, &[(Time, u8)]) {
        (self.cycle, &self.entries)
    }

    /// Returns the begin of the cycle of this time.
    pub(super) fn cycle_start(&self, now: Time) -> Time {
        let cycles = (now - self.base)
            .as_picoseconds()
            .div_euclid(self.cycle.as_picoseconds());
        self.base + self.cycle.times(cycles)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use takt_scenario::{Duration, GateEntry};

    use super::*;

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    /// Makes a schedule of gates, each for so many microseconds.
    pub(crate) fn schedule(base: u64, entries: &[(u8, u64)]) -> Taprio {
        let us = |microseconds: u64| Duration(microseconds * 1_000_000);
        let entry = |(gates, interval): &(u8, u64)| GateEntry {
            gates: *gates,
            interval: us(*interval),
        };
        Taprio {
            base_time: us(base),
            cycle_time: us(entries.iter().map(|entry| entry.1).sum()),
            entries: entries.iter().map(entry).collect(),
            txtime_assist: None,
            offload: false,
            guard_band: Duration::ZERO,
        }
    }

    #[test]
    fn windows_repeat() {
        // Class 1 is open for 150 µs, class 0 for 60, both for 40.
        let gates = Gates::new(&schedule(1000, &[(0b10, 150), (0b01, 60), (0b11, 40)]));
        assert_eq!(gates.window(0, us(999)), Window::Open(us(1000)));
        assert_eq!(gates.window(0, us(1000)), Window::Closed(us(1150)));
        assert_eq!(gates.window(0, us(1150)), Window::Open(us(1250)));
        assert_eq!(gates.window(0, us(1249)), Window::Open(us(1250)));
        assert_eq!(gates.window(0, us(1250)), Window::Closed(us(1400)));
        assert_eq!(gates.window(1, us(1160)), Window::Closed(us(1210)));
        assert_eq!(gates.window(1, us(1210)), Window::Open(us(1400)));
        assert_eq!(gates.window(1, us(11_210)), Window::Open(us(11_400)));
        assert_eq!(gates.window(2, us(1210)), Window::Closed(Time::MAX));
        assert_eq!(gates.window(0, us(-101)), Window::Closed(us(-100)));
        assert_eq!(gates.window(0, us(-100)), Window::Open(us(0)));
        let longest = [0, 1, 2].map(|class| gates.longest_window(class));
        assert_eq!(longest, [us(100), us(190), Time::ZERO]);
    }

    #[test]
    fn time_while_a_gate_is_open() {
        // The gate is open from 60 to 100 µs of each 100, and from 0 to 20.
        let gates = Gates::new(&schedule(1000, &[(0b01, 20), (0b10, 40), (0b01, 40)]));
        let open = |from, to| gates.open_time(0, us(from), us(to));
        assert_eq!(open(1000, 1100), us(60));
        assert_eq!(open(1010, 1070), us(20));
        assert_eq!(open(1030, 1050), us(0));
        assert_eq!(open(850, 2070), us(40 + 11 * 60 + 30));
        let when = |from, time| gates.when_open_for(0, us(from), us(time));
        assert_eq!(when(1000, 20), us(1020));
        assert_eq!(when(1000, 21), us(1061));
        assert_eq!(when(1030, 1), us(1061));
        assert_eq!(when(1030, 60), us(1120));
        assert_eq!(when(1030, 61), us(1161));
        assert_eq!(when(850, 60), us(920));
        assert_eq!(gates.when_open_for(2, us(0), us(1)), Time::MAX);
    }

    #[test]
    fn always_open() {
        let gates = Gates::new(&schedule(0, &[(1, 40), (3, 60)]));
        assert_eq!(gates.window(0, us(12)), Window::Open(Time::MAX));
        assert_eq!(gates.window(1, us(12)), Window::Closed(us(40)));
        assert_eq!(gates.window(1, us(40)), Window::Open(us(100)));
        assert_eq!(gates.longest_window(0), Time::MAX);
        let gates = Gates::new(&schedule(0, &[]));
        assert_eq!(gates.window(5, us(12)), Window::Open(Time::MAX));
    }
}
