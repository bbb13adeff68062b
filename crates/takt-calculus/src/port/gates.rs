//! Gates that open and close by a list, in a cycle: TAPRIO's time-aware shaper (IEEE 802.1Q, 8.6.8.4 and 8.6.9).

use crate::Rational;

/// Open gates, with a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateControlEntry {
    /// Bit `n` is set if the gate of class `n` is open; 0 is the highest class of the port.
    pub gates: u64,
    /// Length of the entry, in seconds.
    pub interval: Rational,
}

/// A gate control list. A frame is sent only if it ends before the gate closes, and begins before the guard band of that. Gates
/// that stay open from one entry to the next do not close in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateControlList {
    base_time: Rational,
    cycle_time: Rational,
    entries: Vec<GateControlEntry>,
    /// The delay of txtime-assist; `None` without it.
    txtime_delay: Option<Rational>,
    guard_band: Rational,
    /// True if frames end before the guard band; false if they only begin before it.
    closes_early: bool,
}

/// Reasons why gates are invalid, or cannot serve a class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// A cycle or an entry without a positive length.
    #[error("an interval of {0} s is not positive")]
    Interval(Rational),
    /// Entries that do not fill the cycle, or do not fit in it.
    #[error("the entries take {entries} s of a cycle of {cycle_time} s")]
    Cycle {
        /// The sum of the entries' intervals, in seconds.
        entries: Rational,
        /// The cycle, in seconds.
        cycle_time: Rational,
    },
    /// A class for which gate masks have no bit.
    #[error("class {0}: a gate mask has bits for 64 classes at most")]
    Class(usize),
    /// A class whose longest frame fits in no window: it would wait for ever.
    #[error(
        "class {class}: a window of {window} s is shorter than the {needed} s that a frame needs"
    )]
    WindowTooShort {
        /// The class's index.
        class: usize,
        /// Its longest window, in seconds; 0 if its gate never opens.
        window: Rational,
        /// Time of its longest frame on the link, or the guard band if that is longer, in seconds.
        needed: Rational,
    },
    /// Two classes with a gate open in the same entry, with txtime-assist: frames get their txtimes in the order of their
    /// arrival, independently of their class.
    #[error(
        "classes {one} and {other} share a window: txtime-assist does not order their frames by priority"
    )]
    SharedTxtimes {
        /// The higher class's index.
        one: usize,
        /// The lower class's index.
        other: usize,
    },
    /// A negative guard band.
    #[error("a guard band of {0} s is negative")]
    GuardBand(Rational),
    /// A negative delay.
    #[error("a txtime_delay of {0} s is negative")]
    TxtimeDelay(Rational),
}

/// A time in which the gate of a class is open. It starts within the first cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: Rational,
    pub(crate) length: Rational,
}

impl GateControlList {
    /// Makes a list that begins at `base_time` and is repeated every `cycle_time`, in seconds; the entries fill the cycle.
    ///
    /// # Errors
    /// An interval that is not positive, or entries that do not add up to the cycle.
    pub fn new(
        base_time: Rational,
        cycle_time: Rational,
        entries: Vec<GateControlEntry>,
    ) -> Result<Self, GateError> {
        let intervals = entries.iter().map(|entry| &entry.interval);
        for interval in intervals.clone().chain([&cycle_time]) {
            if *interval <= Rational::ZERO {
                return Err(GateError::Interval(interval.clone()));
            }
        }
        let sum = intervals.fold(Rational::ZERO, |sum, interval| sum + interval);
        if sum != cycle_time {
            return Err(GateError::Cycle {
                entries: sum,
                cycle_time,
            });
        }
        Ok(Self {
            base_time,
            cycle_time,
            entries,
            txtime_delay: None,
            guard_band: Rational::ZERO,
            closes_early: false,
        })
    }

    /// Adds `txtime-assist` of `tc-taprio`: a frame gets the first txtime in an entry with its gate open that is at least this
    /// much later than its arrival. Each entry is a window of its own then, and no two classes in use may share one
    /// ([`GateError::SharedTxtimes`]).
    ///
    /// # Errors
    /// A negative delay.
    pub fn with_txtime_assist(mut self, txtime_delay: Rational) -> Result<Self, GateError> {
        if txtime_delay < Rational::ZERO {
            return Err(GateError::TxtimeDelay(txtime_delay));
        }
        self.txtime_delay = Some(txtime_delay);
        Ok(self)
    }

    /// Adds a guard band: a time in seconds before each gate closes in which no frame begins. Gates that never close have none.
    ///
    /// # Errors
    /// A negative time.
    pub fn with_guard_band(mut self, guard_band: Rational) -> Result<Self, GateError> {
        if guard_band < Rational::ZERO {
            return Err(GateError::GuardBand(guard_band));
        }
        self.guard_band = guard_band;
        Ok(self)
    }

    /// Returns gates that close at the beginning of their guard band, so that a frame also ends before it. TAPRIO knows no guard
    /// band, and `takt apply` makes it in this way.
    #[must_use]
    pub fn closing_early(mut self) -> Self {
        self.closes_early = true;
        self
    }

    /// Returns the list of a port further on, whose windows are later by `shift` seconds.
    #[must_use]
    pub fn shifted(mut self, shift: &Rational) -> Self {
        self.base_time += shift;
        self
    }

    /// Returns the start of the first cycle, in seconds.
    pub fn base_time(&self) -> &Rational {
        &self.base_time
    }

    /// Returns the length of a cycle, in seconds.
    pub fn cycle_time(&self) -> &Rational {
        &self.cycle_time
    }

    /// Returns the least time from a frame's arrival until it is sent, with txtime-assist.
    pub(super) fn txtime_delay(&self) -> Option<&Rational> {
        self.txtime_delay.as_ref()
    }

    pub(super) fn guard_band(&self) -> &Rational {
        &self.guard_band
    }

    /// Returns the time before its gate closes at which a frame of this duration must begin.
    pub(super) fn room(&self, frame: &Rational) -> Rational {
        if self.closes_early {
            frame + &self.guard_band
        } else {
            frame.clone().max(self.guard_band.clone())
        }
    }

    /// Returns the number of frames of this duration that a window serves if frames always wait. The last one begins at the
    /// latest possible time.
    pub(super) fn whole_frames(&self, window: &Rational, frame: &Rational) -> Rational {
        let until = window - self.room(frame);
        if frame.is_zero() || until < Rational::ZERO {
            return Rational::ZERO;
        }
        Rational::from((until / frame).floor()) + Rational::ONE
    }

    fn is_open(entry: &GateControlEntry, class: usize) -> bool {
        // A class above 63 has no bit. `check` refuses such classes.
        u32::try_from(class)
            .ok()
            .and_then(|class| entry.gates.checked_shr(class))
            .is_some_and(|gates| gates & 1 == 1)
    }

    /// Returns the windows of a class, in the order of their starts; `None` if its gate never closes. With txtime-assist each
    /// entry is a window, since a txtime is in one entry.
    pub(crate) fn windows(&self, class: usize) -> Option<Vec<Window>> {
        let entries = self.open_entries(class);
        if self.txtime_delay.is_some() {
            return Some(entries);
        }
        if entries.len() == self.entries.len() {
            return None;
        }
        let mut windows: Vec<Window> = Vec::new();
        for entry in entries {
            match windows.last_mut() {
                Some(last) if &last.start + &last.length == entry.start => {
                    last.length += entry.length;
                }
                _ => windows.push(entry),
            }
        }
        // A window that continues in the next cycle begins in this one.
        if let [first, .., last] = windows.as_mut_slice()
            && first.start.is_zero()
            && &last.start + &last.length == self.cycle_time
        {
            last.length += &first.length;
            windows.remove(0);
        }
        Some(windows)
    }

    /// Returns the entries with the gate of a class open.
    fn open_entries(&self, class: usize) -> Vec<Window> {
        let mut time = Rational::ZERO;
        let mut windows = Vec::new();
        for entry in &self.entries {
            if Self::is_open(entry, class) {
                windows.push(Window {
                    start: time.clone(),
                    length: entry.interval.clone(),
                });
            }
            time += &entry.interval;
        }
        windows
    }

    /// Returns true if the gates of two classes are ever open together.
    pub(super) fn overlap(&self, one: usize, other: usize) -> bool {
        let both =
            |entry: &&GateControlEntry| Self::is_open(entry, one) && Self::is_open(entry, other);
        self.entries.iter().any(|entry| both(&entry))
    }

    /// Returns true if a window of a class begins while the gate of another stays open.
    pub(super) fn crosses(&self, other: usize, class: usize) -> bool {
        let entries = self.entries.iter();
        // The list repeats: behind the last entry comes the first.
        let next = self.entries.iter().cycle().skip(1);
        entries.zip(next).any(|(entry, next)| {
            !Self::is_open(entry, class)
                && Self::is_open(next, class)
                && Self::is_open(entry, other)
                && Self::is_open(next, other)
        })
    }

    /// Checks that each class in use has windows of its own where it must: txtime-assist gives no class precedence.
    pub(super) fn check_shared(&self, classes: &[usize]) -> Result<(), GateError> {
        for (position, one) in classes.iter().enumerate() {
            let mut lower = classes[position + 1..].iter();
            if self.txtime_delay.is_some()
                && let Some(other) = lower.find(|other| self.overlap(*one, **other))
            {
                return Err(GateError::SharedTxtimes {
                    one: *one,
                    other: *other,
                });
            }
        }
        Ok(())
    }

    /// Checks that the longest frame of a class, of this duration in seconds, fits in a window.
    pub(super) fn check(&self, class: usize, frame: &Rational) -> Result<(), GateError> {
        if class >= 64 {
            return Err(GateError::Class(class));
        }
        let Some(windows) = self.windows(class) else {
            return Ok(());
        };
        let window = windows.into_iter().map(|window| window.length).max();
        let window = window.unwrap_or(Rational::ZERO);
        // Where the gate closes early, a window of this length may still be too short: then the class has no bound.
        let needed = frame.clone().max(self.guard_band.clone());
        // A class that is not in use needs no window.
        if !frame.is_zero() && window < needed {
            return Err(GateError::WindowTooShort {
                class,
                window,
                needed,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn list(guard_band: i64) -> GateControlList {
        let entry = |(gates, interval): (u64, i64)| GateControlEntry {
            gates,
            interval: interval.into(),
        };
        let entries = [(0b01, 100), (0b10, 60)].map(entry);
        GateControlList::new(Rational::ZERO, 160.into(), entries.to_vec())
            .unwrap()
            .with_guard_band(guard_band.into())
            .unwrap()
    }

    #[test]
    fn whole_frames_begin_before_the_guard_band() {
        let frames = |guard_band, window: i64, frame: i64| {
            list(guard_band).whole_frames(&window.into(), &frame.into())
        };
        for (guard_band, window, frame, expected) in [
            (0, 100, 40, 2),
            (0, 80, 40, 2),
            (0, 39, 40, 0),
            (40, 100, 40, 2),
            // The last frame begins at 100 − 60.
            (60, 100, 40, 2),
            (61, 100, 40, 1),
            (100, 100, 40, 1),
            (101, 100, 40, 0),
            // Short frames: from 0 to 50, one every 10.
            (50, 100, 10, 6),
            (0, 100, 0, 0),
        ] {
            let found = frames(guard_band, window, frame);
            assert_eq!(found, expected.into(), "{guard_band} {window} {frame}");
        }
    }

    #[test]
    fn frames_that_begin_in_time_are_sent_completely() {
        use crate::curve::Extended;
        // A frame of 10 that begins at 70 at the latest ends at 80.
        let most = |guard_band, time: i64| {
            let shaping = list(guard_band).shaping(0, &Rational::ONE, &10.into());
            shaping.value(&time.into())
        };
        assert_eq!(most(0, 100), Extended::Finite(100.into()));
        assert_eq!(most(10, 100), Extended::Finite(100.into()));
        assert_eq!(most(30, 100), Extended::Finite(80.into()));
        assert_eq!(most(30, 170), Extended::Finite(90.into()));
        assert_eq!(most(100, 100), Extended::Finite(10.into()));
        assert_eq!(most(101, 100), Extended::ZERO);
    }
}
