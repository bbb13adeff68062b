//! Curves of gates: the service of a class's windows, and the most bits that leave in them.

use super::gates::{GateControlList, Window};
use super::{ClassTraffic, EgressPort, PortError};
use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// Number of cycles for which a curve has every window. Behind them it is a line that is never better.
const EXACT_CYCLES: u32 = 3;

impl GateControlList {
    /// Returns the strict service of a class that always has a frame waiting, for the worst phase of the cycle.
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
                let usable = self.usable(&windows, &frame, &(crossing / rate), exact);
                self.worst_phase(&windows, &usable, &self.room(&frame), rate)
            }
        };
        let mut taken = Curve::leaky_bucket(blocking, Rational::ZERO)?;
        for other in others.iter().filter(|other| **other < class) {
            if let Some(traffic) = higher.get(*other) {
                taken = taken.sum(&traffic.departure);
            }
        }
        let left = usable.residual(&taken, &Rational::ZERO);
        Ok(match self.txtime_delay() {
            None => left,
            Some(delay) => left.later(delay),
        })
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

    /// Returns the least of the `usable` parts of windows in an interval of any phase, at this rate. The worst phase begins when
    /// the last frame, which needs so much room, just does not fit any more. Service before that time could only be more.
    fn worst_phase(
        &self,
        windows: &[Window],
        usable: &[Window],
        room: &Rational,
        rate: &Rational,
    ) -> Curve {
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
            self.staircase(&later.collect::<Vec<_>>(), rate, true)
        });
        phases
            .reduce(|least, phase| least.minimum(&phase))
            .unwrap_or_else(Curve::zero)
    }

    /// Returns the most bits that the gate of a class lets through in any interval. A frame that begins before the guard band has
    /// ended when the longest `frame` has.
    pub(super) fn shaping(&self, class: usize, rate: &Rational, frame: &Rational) -> Curve {
        let Some(mut windows) = self.windows(class) else {
            return Curve::constant(Extended::Infinity);
        };
        for window in &mut windows {
            let before = &window.length - self.guard_band();
            window.length = if before < Rational::ZERO {
                Rational::ZERO
            } else {
                (before + frame).min(window.length.clone())
            };
        }
        self.best_phase(&windows, rate)
    }

    /// Returns the amounts that grow with this slope while the gate of a class is open: a line below the least in any interval,
    /// and the greatest.
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
                line_below(&self.worst_phase(&windows, &windows, &Rational::ZERO, slope))?,
                self.best_phase(&windows, slope),
            ),
        })
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
            self.staircase(&from_here.collect::<Vec<_>>(), rate, false)
        });
        phases
            .reduce(|most, phase| most.maximum(&phase))
            .unwrap_or_else(Curve::zero)
    }

    /// Returns the bits sent in windows `(start, length)` of a cycle, seen from time 0, at the rate within them. Behind some
    /// cycles the curve is a line that is not above them (`below`) or not below them.
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
        let slope = &per_cycle / self.cycle_time();
        // Greatest distance of the steps from the line through the cycles' beginnings.
        let mut distance = Rational::ZERO;
        for cycle in 0..EXACT_CYCLES {
            let begin = self.cycle_time() * Rational::from(cycle);
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
        let end = self.cycle_time() * Rational::from(EXACT_CYCLES);
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

/// Returns the rate-latency curve below a staircase, with its long-term rate. The time of a convolution with it does not grow
/// with the number of windows.
fn line_below(staircase: &Curve) -> Result<Curve, PortError> {
    let Some(rate) = staircase.long_term_rate().filter(|rate| !rate.is_zero()) else {
        return Ok(Curve::zero());
    };
    let corners = staircase.pieces.iter().filter_map(|piece| {
        let Extended::Finite(value) = &piece.at else {
            return None;
        };
        Some(&piece.start - value / rate)
    });
    let latency = corners.max().unwrap_or(Rational::ZERO);
    Ok(Curve::rate_latency(rate.clone(), latency)?)
}
