//! Gates that open and close by a list, in a cycle: TAPRIO's time-aware shaper (IEEE 802.1Q, 8.6.8.4 and 8.6.9).

use super::{ClassTraffic, EgressPort, PortError};
use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// For so many cycles a curve has every window; behind them it is a line that is never better.
const EXACT_CYCLES: u32 = 3;

/// What is open for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateControlEntry {
    /// Bit `n` is set if the gate of class `n` is open; 0 is the highest class of the port.
    pub gates: u64,
    /// How long, in seconds.
    pub interval: Rational,
}

/// A gate control list. A frame is sent only if it ends before the gate closes: what else would be a guard band is implied. Gates that stay open from one
/// entry to the next do not close in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateControlList {
    base_time: Rational,
    cycle_time: Rational,
    entries: Vec<GateControlEntry>,
    txtime_delay: Rational,
}

/// Why gates cannot be, or not serve a class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The cycle, or an entry, has no positive length.
    #[error("an interval of {0} s is not positive")]
    Interval(Rational),
    /// The entries do not fill the cycle, or do not fit in it.
    #[error("the entries take {entries} s of a cycle of {cycle_time} s")]
    Cycle {
        /// The sum of the entries' intervals, in seconds.
        entries: Rational,
        /// The cycle, in seconds.
        cycle_time: Rational,
    },
    /// No gate mask has a bit for a class.
    #[error("class {0}: gates are 64 at most")]
    Class(usize),
    /// The longest frame of a class fits in no window: it would wait for ever.
    #[error("class {class}: a window of {window} s is shorter than a frame, which takes {frame} s")]
    WindowTooShort {
        /// The class's index.
        class: usize,
        /// Its longest window, in seconds; 0 if its gate never opens.
        window: Rational,
        /// What its longest frame takes on the link, in seconds.
        frame: Rational,
    },
    /// A negative delay.
    #[error("a txtime_delay of {0} s is negative")]
    TxtimeDelay(Rational),
}

/// A time in which the gate of a class is open, from a start within the first cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: Rational,
    pub(crate) length: Rational,
}

impl GateControlList {
    /// A list that begins at `base_time` and is repeated every `cycle_time`, in seconds; the entries fill the cycle.
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
            txtime_delay: Rational::ZERO,
        })
    }

    /// With `txtime-assist` of `tc-taprio`: a frame gets the first txtime in a window that is at least this much later than its arrival.
    ///
    /// # Errors
    /// A negative delay.
    pub fn with_txtime_assist(mut self, txtime_delay: Rational) -> Result<Self, GateError> {
        if txtime_delay < Rational::ZERO {
            return Err(GateError::TxtimeDelay(txtime_delay));
        }
        self.txtime_delay = txtime_delay;
        Ok(self)
    }

    /// The list as a port further on has it, whose windows are later by `shift` seconds.
    #[must_use]
    pub fn shifted(mut self, shift: &Rational) -> Self {
        self.base_time += shift;
        self
    }

    /// When the first cycle begins, in seconds.
    pub fn base_time(&self) -> &Rational {
        &self.base_time
    }

    /// How long a cycle is, in seconds.
    pub fn cycle_time(&self) -> &Rational {
        &self.cycle_time
    }

    pub(super) fn txtime_delay(&self) -> &Rational {
        &self.txtime_delay
    }

    fn is_open(entry: &GateControlEntry, class: usize) -> bool {
        u32::try_from(class)
            .ok()
            .and_then(|class| entry.gates.checked_shr(class))
            .is_some_and(|gates| gates & 1 == 1)
    }

    /// The windows of a class, in the order of their starts; `None` if its gate never closes.
    pub(crate) fn windows(&self, class: usize) -> Option<Vec<Window>> {
        let closed = self
            .entries
            .iter()
            .position(|entry| !Self::is_open(entry, class))?;
        // From behind a closed entry on, around the cycle: no window is cut in two.
        let mut windows: Vec<Window> = Vec::new();
        let mut time: Rational = self.entries[..=closed]
            .iter()
            .fold(Rational::ZERO, |sum, entry| sum + &entry.interval);
        let mut before = false;
        for offset in 1..=self.entries.len() {
            let entry = &self.entries[(closed + offset) % self.entries.len()];
            let open = Self::is_open(entry, class);
            if open && !before {
                windows.push(Window {
                    start: time.clone(),
                    length: entry.interval.clone(),
                });
            } else if open && let Some(last) = windows.last_mut() {
                last.length += &entry.interval;
            }
            before = open;
            time += &entry.interval;
        }
        for window in &mut windows {
            if window.start >= self.cycle_time {
                window.start = &window.start - &self.cycle_time;
            }
        }
        windows.sort_by(|one, other| one.start.cmp(&other.start));
        Some(windows)
    }

    /// Whether the gates of two classes are ever open together.
    pub(super) fn overlap(&self, one: usize, other: usize) -> bool {
        let both =
            |entry: &&GateControlEntry| Self::is_open(entry, one) && Self::is_open(entry, other);
        self.entries.iter().any(|entry| both(&entry))
    }

    /// Whether a window of a class begins while the gate of another stays open.
    fn crosses(&self, other: usize, class: usize) -> bool {
        let entries = self.entries.iter();
        let next = self.entries.iter().cycle().skip(1);
        entries.zip(next).any(|(entry, next)| {
            !Self::is_open(entry, class)
                && Self::is_open(next, class)
                && Self::is_open(entry, other)
                && Self::is_open(next, other)
        })
    }

    /// Whether the longest frame of a class, which takes so many seconds, fits in a window.
    pub(super) fn check(&self, class: usize, frame: &Rational) -> Result<(), GateError> {
        if class >= 64 {
            return Err(GateError::Class(class));
        }
        let Some(windows) = self.windows(class) else {
            return Ok(());
        };
        let window = windows.into_iter().map(|window| window.length).max();
        let window = window.unwrap_or(Rational::ZERO);
        if !frame.is_zero() && window < *frame {
            return Err(GateError::WindowTooShort {
                class,
                window,
                frame: frame.clone(),
            });
        }
        Ok(())
    }

    /// The service of a class that always has a frame waiting, from any phase of the cycle on: strict.
    pub(super) fn service(
        &self,
        port: &EgressPort,
        class: usize,
        higher: &[ClassTraffic],
    ) -> Result<Curve, PortError> {
        let rate = port.link_rate();
        let own = &port.classes()[class];
        let others: Vec<usize> = (0..port.classes().len())
            .filter(|other| *other != class && self.overlap(class, *other))
            .collect();
        let lower = others.iter().filter(|other| **other > class);
        let longest = |classes: &mut dyn Iterator<Item = &usize>| {
            let frames = classes.map(|other| port.classes()[*other].longest.clone());
            frames.max().unwrap_or(Rational::ZERO)
        };
        let blocking = longest(&mut lower.clone());
        let crossing = longest(&mut lower.filter(|other| self.crosses(**other, class)));
        let usable = match self.windows(class) {
            None => Curve::rate_latency(rate.clone(), Rational::ZERO)?,
            Some(windows) => {
                let frame = &own.longest / rate;
                let exact = others.is_empty() && own.shortest == own.longest;
                self.worst_phase(&windows, rate, &frame, &(crossing / rate), exact)
            }
        };
        let mut taken = Curve::leaky_bucket(blocking, Rational::ZERO)?;
        for other in others.iter().filter(|other| **other < class) {
            if let Some(traffic) = higher.get(*other) {
                taken = taken.sum(&traffic.departure);
            }
        }
        let left = usable.residual(&taken, &Rational::ZERO);
        if self.txtime_delay.is_zero() {
            return Ok(left);
        }
        Ok(left.convolution(&Curve::burst_delay(self.txtime_delay.clone())?))
    }

    /// The least that windows serve in an interval of any phase. A frame that does not fit any more leaves the end of a window unused, less than
    /// `frame`; if all frames are `exact`ly as long, what is not a multiple of it. A window may begin late by `crossing`.
    fn worst_phase(
        &self,
        windows: &[Window],
        rate: &Rational,
        frame: &Rational,
        crossing: &Rational,
        exact: bool,
    ) -> Curve {
        let usable: Vec<Window> = windows
            .iter()
            .map(|window| {
                let length = if exact && !frame.is_zero() {
                    frame * Rational::from((&window.length / frame).floor())
                } else {
                    (&window.length - frame - crossing).max(Rational::ZERO)
                };
                Window {
                    start: &window.start + crossing,
                    length,
                }
            })
            .collect();
        // The worst is to come when the last frame just does not fit any more. What is served until then could only be more.
        let phases = windows.iter().enumerate().map(|(index, window)| {
            let missed = &window.start + (&window.length - frame).max(Rational::ZERO);
            let later = (1..=usable.len()).map(|offset| {
                let next = (index + offset) % usable.len();
                let again = if next <= index {
                    self.cycle_time.clone()
                } else {
                    Rational::ZERO
                };
                let next = &usable[next];
                (&next.start + again - &missed, next.length.clone())
            });
            self.staircase(&later.collect::<Vec<_>>(), rate, true)
        });
        phases
            .reduce(|least, phase| least.minimum(&phase))
            .unwrap_or_else(Curve::zero)
    }

    /// The most that the gate of a class lets through in any interval.
    pub(super) fn shaping(&self, class: usize, rate: &Rational) -> Curve {
        let Some(windows) = self.windows(class) else {
            return Curve::constant(Extended::Infinity);
        };
        let phases = windows.iter().enumerate().map(|(index, window)| {
            let from_here = (0..windows.len()).map(|offset| {
                let next = (index + offset) % windows.len();
                let again = if next < index {
                    self.cycle_time.clone()
                } else {
                    Rational::ZERO
                };
                let next = &windows[next];
                (&next.start + again - &window.start, next.length.clone())
            });
            self.staircase(&from_here.collect::<Vec<_>>(), rate, false)
        });
        phases
            .reduce(|most, phase| most.maximum(&phase))
            .unwrap_or_else(Curve::zero)
    }

    /// What is sent in windows `(start, length)` of a cycle, seen from time 0, at the rate within them; behind some cycles a line that is not above it
    /// (`below`) or not below it.
    fn staircase(&self, windows: &[(Rational, Rational)], rate: &Rational, below: bool) -> Curve {
        let mut pieces = vec![Piece::new(
            Rational::ZERO,
            Extended::ZERO,
            Extended::ZERO,
            Rational::ZERO,
        )];
        let mut sent = Rational::ZERO;
        let per_cycle = windows
            .iter()
            .fold(Rational::ZERO, |sum, (_, length)| sum + rate * length);
        let slope = &per_cycle / &self.cycle_time;
        // How far the steps are from the line through the cycles' beginnings, at most.
        let mut distance = Rational::ZERO;
        for cycle in 0..EXACT_CYCLES {
            let begin = &self.cycle_time * Rational::from(cycle);
            for (start, length) in windows.iter().filter(|(_, length)| !length.is_zero()) {
                let start = &begin + start;
                let value = Extended::Finite(sent.clone());
                if below {
                    distance = distance.max(&slope * &start - &sent);
                }
                if pieces.last().is_some_and(|last| last.start == start) {
                    pieces.pop();
                }
                pieces.push(Piece::new(
                    start.clone(),
                    value.clone(),
                    value,
                    rate.clone(),
                ));
                sent += rate * length;
                let end = start + length;
                let value = Extended::Finite(sent.clone());
                if !below {
                    distance = distance.max(&sent - &slope * &end);
                }
                pieces.push(Piece::new(end, value.clone(), value, Rational::ZERO));
            }
        }
        let end = &self.cycle_time * Rational::from(EXACT_CYCLES);
        let value = Extended::Finite(sent.clone());
        if below {
            // Flat until the line is reached.
            if !slope.is_zero() {
                let start = &end + distance / &slope;
                pieces.push(Piece::new(start, value.clone(), value, slope));
            }
        } else {
            let after = Extended::Finite(&slope * &end + distance);
            pieces.retain(|piece| piece.start < end);
            pieces.push(Piece::new(end, value, after, slope));
        }
        Curve { pieces }.simplified()
    }
}
