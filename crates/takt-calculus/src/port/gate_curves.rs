//! Curves of gates: the service of a class's windows, and the most bits that leave in them.

use super::gates::{GateControlList, Window};
use super::{ClassTraffic, EgressPort, PortError};
use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// Number of cycles for which a curve has every window. Behind them it is a line that is never better.
const EXACT_CYCLES: u32 = 3;

/// The service of an interval that begins when a frame just does not fit into a window any more.
pub(super) struct Missed {
    /// Last time in the cycle at which a frame of any length can begin in the window.
    pub(super) time: Rational,
    /// Service of the windows after it, if frames always wait.
    pub(super) service: Curve,
}

/// The windows of a class, and the part of the link that other classes take of them.
pub(super) struct Unshaped {
    /// One for each window; `None` if the gate never closes.
    pub(super) missed: Option<Vec<Missed>>,
    /// Bits of lower and higher classes in any interval in which a frame of the class always waits.
    pub(super) taken: Curve,
    /// The strict service, for the worst phase of the cycle.
    pub(super) strict: Curve,
}

impl GateControlList {
    /// Returns the service of a class that always has a frame waiting.
    pub(super) fn service(
        &self,
        port: &EgressPort,
        class: usize,
        higher: &[ClassTraffic],
    ) -> Result<Unshaped, PortError> {
        let rate = port.link_rate();
        let own = &port.classes()[class];
        let others: Vec<usize> = (0..port.classes().len())
            // Classes whose gates are never open together do not meet.
            .filter(|other| *other != class && self.overlap(class, *other))
            .collect();
        let lower = others.iter().filter(|other| **other > class);
        let longest = |classes: &mut dyn Iterator<Item = &usize>| {
            let frames = classes.map(|other| port.classes()[*other].longest.clone());
            frames.max().unwrap_or(Rational::ZERO)
        };
        let blocking = longest(&mut lower.clone());
        // Frames of the other lower classes have ended when the window begins: their own gates are closed before.
        let crossing = longest(&mut lower.filter(|other| self.crosses(**other, class)));
        let missed = self.windows(class).map(|windows| {
            let frame = &own.longest / rate;
            // Frames of other classes would leave parts of a window in which no whole frame fits.
            let exact = others.is_empty() && own.shortest == own.longest;
            let usable = self.usable(&windows, &frame, &(crossing / rate), exact);
            self.missed(&windows, &usable, &self.room(&frame), rate)
        });
        let usable = match &missed {
            None => Curve::rate_latency(rate.clone(), Rational::ZERO)?,
            Some(missed) => worst_phase(missed),
        };
        // Of all lower classes, one frame can be in the way: the one that began before a frame of this class came.
        let mut taken = Curve::leaky_bucket(blocking, Rational::ZERO)?;
        for other in others.iter().filter(|other| **other < class) {
            if let Some(traffic) = higher.get(*other) {
                taken = taken.sum(&traffic.departure);
            }
        }
        let left = usable.residual(&taken, &Rational::ZERO);
        let strict = match self.txtime_delay() {
            None => left,
            Some(delay) => left.later(delay),
        };
        Ok(Unshaped {
            missed,
            taken,
            strict,
        })
    }

    /// Returns the service of a class that is alone in its windows, in `sch_taprio` without offload; `None` if its gate never closes.
    /// Gates close at the beginning of their guard bands. Frames of others that have passed their gates take so many seconds, `spilled`, of each window. The kernel counts the bytes
    /// of a window by a clock of this `speed`.
    pub(super) fn after_others(
        &self,
        class: usize,
        frame: &Rational,
        spilled: &Rational,
        rate: &Rational,
        speed: &Rational,
    ) -> Option<Curve> {
        let slow = speed.clone().min(Rational::ONE);
        // A frame must fit by the node's clock, and into the bytes of the window, which are whole ones.
        let byte = Rational::from(8) / rate;
        let room = self.guard_band() + (frame + byte) / &slow;
        let windows = self.windows(class)?;
        let ends = windows.iter().map(|window| Window {
            start: window.start.clone(),
            length: (&window.length * &slow - &room).max(Rational::ZERO),
        });
        let ends: Vec<Window> = ends.collect();
        let usable = ends.iter().map(|window| Window {
            start: &window.start + spilled,
            length: (&window.length - spilled).max(Rational::ZERO),
        });
        let usable: Vec<Window> = usable.collect();
        let missed = self.missed(&ends, &usable, &Rational::ZERO, rate);
        // Frames of others can also be before a frame that comes within a window.
        Some(worst_phase(&missed).later(spilled))
    }

    /// Returns the part of each window that serves frames if these always wait. A frame that no longer fits leaves the end
    /// unused, less than the room that the longest `frame` needs. If all frames are `exact`ly as long, a window serves whole
    /// frames. A window may begin late by `crossing`.
    fn usable(
        &self,
        windows: &[Window],
        frame: &Rational,
        crossing: &Rational,
        exact: bool,
    ) -> Vec<Window> {
        let room = self.room(frame);
        let usable = windows.iter().map(|window| {
            let length = if exact && !frame.is_zero() {
                frame * self.whole_frames(&window.length, frame)
            } else {
                (&window.length - &room - crossing).max(Rational::ZERO)
            };
            Window {
                start: &window.start + crossing,
                length,
            }
        });
        usable.collect()
    }

    /// Returns the `usable` parts of windows, at this rate, in the intervals that begin when the last frame, which needs so much
    /// room, just does not fit any more.
    fn missed(
        &self,
        windows: &[Window],
        usable: &[Window],
        room: &Rational,
        rate: &Rational,
    ) -> Vec<Missed> {
        let phases = windows.iter().enumerate().map(|(index, window)| {
            let missed = &window.start + (&window.length - room).max(Rational::ZERO);
            let later = (1..=usable.len()).map(|offset| {
                let next = (index + offset) % usable.len();
                let again = if next <= index {
                    self.cycle_time().clone()
                } else {
                    Rational::ZERO
                };
                let next = &usable[next];
                (&next.start + again - &missed, next.length.clone())
            });
            Missed {
                service: self.staircase(&later.collect::<Vec<_>>(), rate, EXACT_CYCLES, true),
                time: missed,
            }
        });
        phases.collect()
    }

    /// Returns the most bits that the gate of a class lets through in any interval. A frame that begins before the guard band has
    /// ended when the longest `frame` has.
    pub(super) fn shaping(&self, class: usize, rate: &Rational, frame: &Rational) -> Curve {
        let Some(mut windows) = self.windows(class) else {
            return Curve::constant(Extended::Infinity);
        };
        for window in &mut windows {
            let before = &window.length - self.guard_band();
            // No frame begins in a window that is shorter than its guard band.
            window.length = if before < Rational::ZERO {
                Rational::ZERO
            } else {
                (before + frame).min(window.length.clone())
            };
        }
        self.best_phase(&windows, rate)
    }

    /// Returns the amounts that grow with this slope while the gate of a class is open: the least and the greatest in any
    /// interval.
    pub(super) fn while_open(
        &self,
        class: usize,
        slope: &Rational,
    ) -> Result<(Curve, Curve), PortError> {
        Ok(match self.windows(class) {
            None => {
                let always = Curve::leaky_bucket(Rational::ZERO, slope.clone())?;
                (always.clone(), always)
            }
            Some(windows) => (
                worst_phase(&self.missed(&windows, &windows, &Rational::ZERO, slope)),
                self.best_phase(&windows, slope),
            ),
        })
    }

    /// Returns the amount that grows with this slope while the gate of a class is open, in the intervals that end at a time, by
    /// their lengths: exact for a cycle, and then a line that is never above, so that convolutions stay short.
    pub(super) fn while_open_before(
        &self,
        class: usize,
        slope: &Rational,
        end: &Rational,
    ) -> Curve {
        let cycle = self.cycle_time();
        let mut before: Vec<(Rational, Rational)> = Vec::new();
        for window in self.windows(class).into_iter().flatten() {
            // Time from the window's end until `end`, at most a cycle.
            let past = end - &window.start - &window.length;
            let past = &past - Rational::from((&past / cycle).floor()) * cycle;
            // A window that is open at `end` began before it, and its rest belongs to the cycle before.
            let open = (&past + &window.length - cycle).max(Rational::ZERO);
            before.push((past, window.length - &open));
            before.push((Rational::ZERO, open));
        }
        before.sort();
        self.staircase(&before, slope, 1, true)
    }

    /// Returns the greatest sum of the windows in an interval of any phase, at this rate.
    fn best_phase(&self, windows: &[Window], rate: &Rational) -> Curve {
        let phases = windows.iter().enumerate().map(|(index, window)| {
            let from_here = (0..windows.len()).map(|offset| {
                let next = (index + offset) % windows.len();
                let again = if next < index {
                    self.cycle_time().clone()
                } else {
                    Rational::ZERO
                };
                let next = &windows[next];
                (&next.start + again - &window.start, next.length.clone())
            });
            self.staircase(&from_here.collect::<Vec<_>>(), rate, EXACT_CYCLES, false)
        });
        phases
            .reduce(|most, phase| most.maximum(&phase))
            .unwrap_or_else(Curve::zero)
    }

    /// Returns the bits sent in windows `(start, length)` of a cycle, seen from time 0, at the rate within them. Behind the exact
    /// cycles the curve is a line that is not above them (`below`) or not below them.
    fn staircase(
        &self,
        windows: &[(Rational, Rational)],
        rate: &Rational,
        exact_cycles: u32,
        below: bool,
    ) -> Curve {
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
        let slope = &per_cycle / self.cycle_time();
        // Greatest distance of the steps from the line through the cycles' beginnings.
        let mut distance = Rational::ZERO;
        for cycle in 0..exact_cycles {
            let begin = self.cycle_time() * Rational::from(cycle);
            for (start, length) in windows.iter().filter(|(_, length)| !length.is_zero()) {
                let start = &begin + start;
                let value = Extended::Finite(sent.clone());
                if below {
                    distance = distance.max(&slope * &start - &sent);
                }
                // The window begins at 0 or meets the one before: the flat piece between them would have no length.
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
        let end = self.cycle_time() * Rational::from(exact_cycles);
        let value = Extended::Finite(sent.clone());
        if below {
            // The curve is flat until it reaches the line.
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

/// Returns the least service in an interval of any phase: it begins when a frame just does not fit any more. Service before that
/// time could only be more.
fn worst_phase(missed: &[Missed]) -> Curve {
    let phases = missed.iter().map(|missed| missed.service.clone());
    phases
        .reduce(|least, phase| least.minimum(&phase))
        .unwrap_or_else(Curve::zero)
}
