//! The gates of scheduled traffic (IEEE 802.1Q, 8.6.8.4), as TAPRIO opens and closes them.

use crate::Time;

/// One line of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateEntry {
    /// The classes whose gates are open: bit 0 is the highest class.
    pub open: u16,
    /// For how long.
    pub interval: Time,
}

/// What a gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// It is open, until this time; [`Time::MAX`] if it never closes.
    Open(Time),
    /// It is closed, until this time; [`Time::MAX`] if it never opens.
    Closed(Time),
}

/// A schedule that repeats, before its base time too: it has been there for long when a simulation begins.
#[derive(Debug, Clone)]
pub struct Gates {
    base: Time,
    cycle: Time,
    /// Where each entry ends, and what is open in it.
    entries: Vec<(Time, u16)>,
}

impl Gates {
    /// A schedule. Its last entry goes on until the cycle ends, if that is longer; a cycle that is not positive is the sum of the entries.
    pub fn new(base: Time, cycle: Time, entries: &[GateEntry]) -> Self {
        let sum = entries
            .iter()
            .fold(Time::ZERO, |sum, entry| sum + entry.interval);
        let cycle = if cycle > Time::ZERO { cycle } else { sum };
        let mut ends = Vec::with_capacity(entries.len());
        let mut end = Time::ZERO;
        for (index, entry) in entries.iter().enumerate() {
            end += entry.interval;
            let last = index + 1 == entries.len();
            ends.push((if last { cycle } else { end.min(cycle) }, entry.open));
        }
        Self {
            base,
            cycle: cycle.max(Time::picoseconds(1)),
            entries: ends,
        }
    }

    /// What the gate of a class does at this time.
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

    /// The cycle, and where each entry ends and what is open in it.
    pub(super) fn schedule(&self) -> (Time, &[(Time, u16)]) {
        (self.cycle, &self.entries)
    }

    /// When the cycle began that this time is in.
    pub(super) fn cycle_start(&self, now: Time) -> Time {
        let cycles = (now - self.base)
            .as_picoseconds()
            .div_euclid(self.cycle.as_picoseconds());
        self.base + self.cycle.times(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    fn entry(open: u16, interval: i64) -> GateEntry {
        GateEntry {
            open,
            interval: us(interval),
        }
    }

    #[test]
    fn windows_repeat() {
        // Class 1 for 150 µs, class 0 for 60, both for 40.
        let entries = [entry(0b10, 150), entry(0b01, 60), entry(0b11, 40)];
        let gates = Gates::new(us(1000), us(250), &entries);
        assert_eq!(gates.window(0, us(999)), Window::Closed(us(1150 - 0)));
        assert_eq!(gates.window(0, us(1000)), Window::Closed(us(1150)));
        assert_eq!(gates.window(0, us(1150)), Window::Open(us(1250)));
        assert_eq!(gates.window(0, us(1249)), Window::Open(us(1250)));
        assert_eq!(gates.window(0, us(1250)), Window::Closed(us(1400)));
        assert_eq!(gates.window(1, us(1160)), Window::Closed(us(1210)));
        assert_eq!(gates.window(1, us(1210)), Window::Open(us(1400)));
        assert_eq!(gates.window(1, us(11_210)), Window::Open(us(11_400)));
        assert_eq!(gates.window(2, us(1210)), Window::Closed(Time::MAX));
    }

    #[test]
    fn always_open() {
        let gates = Gates::new(us(0), us(100), &[entry(1, 40), entry(3, 60)]);
        assert_eq!(gates.window(0, us(12)), Window::Open(Time::MAX));
        assert_eq!(gates.window(1, us(12)), Window::Closed(us(40)));
        assert_eq!(gates.window(1, us(40)), Window::Open(us(100)));
        let gates = Gates::new(us(0), us(0), &[]);
        assert_eq!(gates.window(5, us(12)), Window::Open(Time::MAX));
    }

    #[test]
    fn the_last_entry_lasts_until_the_cycle_ends() {
        let gates = Gates::new(us(0), us(100), &[entry(1, 40), entry(2, 10)]);
        assert_eq!(gates.window(1, us(99)), Window::Open(us(100)));
        assert_eq!(gates.window(0, us(99)), Window::Closed(us(100)));
    }
}
