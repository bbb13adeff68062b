//! Distances between two curves: delay and backlog.

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// The longest delay of a frame, and its place between arrivals and service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameDelay {
    /// Time at which the frame arrives.
    pub arrives: Rational,
    /// Time at which it begins on the link.
    pub begins: Rational,
    /// Time at which its last bit has been sent.
    pub ends: Rational,
    /// Bits that have arrived, including the frame.
    pub bits: Rational,
}

/// The greatest backlog, and its place between arrivals and service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The time.
    pub time: Rational,
    /// Bits that have been served at that time.
    pub served: Rational,
    /// Bits that have arrived at that time.
    pub arrived: Rational,
}

impl Curve {
    /// Returns `h(f, g) = sup over t of inf { d ≥ 0 : f(t) ≤ g(t + d) }`: the bound on the delay of arrivals by this curve in a
    /// FIFO server of service curve `service`. Infinite if the service never catches up.
    pub fn horizontal_deviation(&self, service: &Self) -> Extended {
        // A service that ends flat but high enough gives a finite delay. A steeper arrival does not.
        if let (Some(own), Some(rate)) = (self.long_term_rate(), service.long_term_rate())
            && own > rate
        {
            return Extended::Infinity;
        }
        let mut times: Vec<Rational> = self
            .pieces
            .iter()
            .map(|piece| piece.start.clone())
            .collect();
        times.extend(
            service
                .levels()
                .iter()
                .filter_map(|level| self.first_at_least(level)),
        );
        let mut deviation = Extended::ZERO;
        for time in times {
            let (after, slope) = self.right(&time);
            // Rising arrivals exceed the value right behind this time, so the service has to exceed it as well.
            let reached = if slope > Rational::ZERO {
                service.first_above(&after)
            } else {
                service.first_at_least(&after)
            };
            for reached in [service.first_at_least(&self.value(&time)), reached] {
                let Some(reached) = reached else {
                    return Extended::Infinity;
                };
                deviation = deviation.max(Extended::Finite(reached - &time));
            }
        }
        deviation
    }

    /// Returns the longest delay until the last bit of whole frames on a link of `link_rate`. Frames have at least `shortest`
    /// bits, arrive by this curve and are not interrupted once they have begun. A frame begins when `service` exceeds the bits
    /// before it, and then takes the link's time for its length, not the service's. Never more than the horizontal deviation of a
    /// service that is not faster than the link.
    pub(crate) fn frame_delay(
        &self,
        shortest: &Rational,
        service: &Self,
        link_rate: &Rational,
    ) -> Extended {
        match self.longest_frame_delay(shortest, service, link_rate) {
            Some(longest) => Extended::Finite(longest.ends - longest.arrives),
            None => Extended::Infinity,
        }
    }

    /// Returns the place of the longest delay of whole frames of at least `shortest` bits, which arrive by this curve at a queue
    /// with this service, on a link of `link_rate`. `None` if the delay is infinite.
    pub fn longest_frame_delay(
        &self,
        shortest: &Rational,
        service: &Self,
        link_rate: &Rational,
    ) -> Option<FrameDelay> {
        if let (Some(own), Some(rate)) = (self.long_term_rate(), service.long_term_rate())
            && own > rate
        {
            return None;
        }
        let before = |level: &Extended| level.plus(&-shortest).max(Extended::ZERO);
        let mut times: Vec<Rational> = self
            .pieces
            .iter()
            .map(|piece| piece.start.clone())
            .collect();
        // The delay may also be longest where the bits before the frame reach a corner of the service.
        let levels = service.levels().into_iter();
        times.extend(levels.filter_map(|level| self.first_at_least(&level.plus(shortest))));
        let takes = shortest / link_rate;
        let mut longest = FrameDelay {
            arrives: Rational::ZERO,
            begins: Rational::ZERO,
            ends: takes.clone(),
            bits: shortest.clone(),
        };
        for time in times {
            for level in [self.value(&time), self.right(&time).0] {
                let begins = service.first_above(&before(&level))?;
                if &begins - &time > &longest.begins - &longest.arrives {
                    longest = FrameDelay {
                        ends: &begins + &takes,
                        arrives: time.clone(),
                        begins,
                        bits: level.finite().cloned().unwrap_or_default(),
                    };
                }
            }
        }
        Some(longest)
    }

    /// Returns `v(f, g) = sup over t of f(t) − g(t)`: the bound on the backlog of arrivals by this curve in a server of service
    /// curve `service`. Where the service is infinite, nothing waits.
    pub fn vertical_deviation(&self, service: &Self) -> Extended {
        if let (None, Some(_)) = (self.long_term_rate(), service.long_term_rate()) {
            return Extended::Infinity;
        }
        if let (Some(own), Some(rate)) = (self.long_term_rate(), service.long_term_rate())
            && own > rate
        {
            return Extended::Infinity;
        }
        let mut deviation = Extended::ZERO;
        self.compare(service, |_, own, service| {
            deviation = deviation.clone().max(own.plus(&-service));
        });
        deviation
    }

    /// Returns the place of the greatest backlog. `None` if the backlog is infinite.
    pub fn greatest_backlog(&self, service: &Self) -> Option<Backlog> {
        let most = self.vertical_deviation(service);
        let most = most.finite()?;
        let mut place = None;
        self.compare(service, |time, own, service| {
            if let Some(own) = own.finite()
                && own - service == *most
            {
                place.get_or_insert_with(|| Backlog {
                    time: time.clone(),
                    served: service.clone(),
                    arrived: own.clone(),
                });
            }
        });
        place
    }

    /// Passes the values of both curves, where the service is finite, at all times at which their distance can be the greatest.
    fn compare(&self, service: &Self, mut pass: impl FnMut(&Rational, &Extended, &Rational)) {
        let mut compare = |time: &Rational, own: &Extended, service: &Extended| {
            if let Some(service) = service.finite() {
                pass(time, own, service);
            }
        };
        // Between two times both curves are lines, so their distance is greatest at one of these times or beside it.
        let beside = self.beside(service);
        for (index, (time, own, service)) in beside.iter().copied().enumerate() {
            compare(time, &own.value(time), &service.value(time));
            compare(time, &own.line(time), &service.line(time));
            if let Some((end, ..)) = beside.get(index + 1) {
                compare(end, &own.line(end), &service.line(end));
            }
        }
    }

    /// Returns `inf { t > 0 : f(t) ≤ g(t) }`: the longest busy period of a strict server of service curve `service`, for arrivals
    /// by this curve.
    pub(crate) fn first_not_above(&self, service: &Self) -> Option<Rational> {
        let beside = self.beside(service);
        for (index, (time, own, service)) in beside.iter().copied().enumerate() {
            if *time > Rational::ZERO && own.value(time) <= service.value(time) {
                return Some(time.clone());
            }
            let (value, service_value) = (own.line(time), service.line(time));
            // Right behind this time, equal values stay so only if the arrivals are not steeper.
            if (&value, &own.slope) <= (&service_value, &service.slope) {
                return Some(time.clone());
            }
            if let (Some(value), Some(service_value)) = (value.finite(), service_value.finite())
                && service.slope > own.slope
            {
                let met = time + (value - service_value) / (&service.slope - &own.slope);
                if beside.get(index + 1).is_none_or(|(end, ..)| met < **end) {
                    return Some(met);
                }
            }
        }
        None
    }

    /// Returns the values between which the curve is linear.
    fn levels(&self) -> Vec<Extended> {
        let mut levels = Vec::with_capacity(3 * self.pieces.len());
        for (index, piece) in self.pieces.iter().enumerate() {
            levels.extend([piece.at.clone(), piece.after.clone()]);
            if let Some(end) = self.pieces.get(index + 1) {
                levels.push(piece.line(&end.start));
            }
        }
        levels
    }

    /// Returns `inf { t : f(t) ≥ level }`: the lower pseudo-inverse.
    pub fn first_at_least(&self, level: &Extended) -> Option<Rational> {
        self.first(level, |value| value >= level)
    }

    /// Returns `inf { t : f(t) > level }`: the upper pseudo-inverse. For infinity, which nothing exceeds, it is the time at which
    /// infinity is reached.
    pub(crate) fn first_above(&self, level: &Extended) -> Option<Rational> {
        if *level == Extended::Infinity {
            return self.first_at_least(level);
        }
        self.first(level, |value| value > level)
    }

    fn first(&self, level: &Extended, reached: impl Fn(&Extended) -> bool) -> Option<Rational> {
        // The curve never falls: it is reached from some piece on, or on the line before that piece.
        let is_reached = |piece: &Piece| reached(&piece.at) || reached(&piece.after);
        let first = self.pieces.partition_point(|piece| !is_reached(piece));
        let next = self.pieces.get(first);
        let before = first.checked_sub(1).map(|before| &self.pieces[before]);
        if let Some(before) = before
            && before.slope > Rational::ZERO
            && let (Some(level), Some(after)) = (level.finite(), before.after.finite())
        {
            let time = &before.start + (level - after) / &before.slope;
            if next.is_none_or(|next| time < next.start) {
                return Some(time);
            }
        }
        next.map(|piece| piece.start.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_longest_delay_and_the_greatest_backlog_have_places() {
        let number = |number: i64| Rational::from(number);
        let arrival = Curve::leaky_bucket(number(10), number(1)).unwrap();
        let service = Curve::rate_latency(number(2), number(5)).unwrap();
        // The last frame of 4 begins behind 6 others, and takes half a second on the link.
        let longest = arrival.longest_frame_delay(&number(4), &service, &number(8));
        let expected = FrameDelay {
            arrives: number(0),
            begins: number(8),
            ends: Rational::from_parts(17.into(), 2u32.into()),
            bits: number(10),
        };
        assert_eq!(longest, Some(expected));
        let backlog = arrival.greatest_backlog(&service);
        let expected = Backlog {
            time: number(5),
            served: number(0),
            arrived: number(15),
        };
        assert_eq!(backlog, Some(expected));
        let slow = Curve::rate_latency(Rational::from_parts(1.into(), 2u32.into()), number(0));
        let slow = slow.unwrap();
        assert_eq!(
            arrival.longest_frame_delay(&number(4), &slow, &number(8)),
            None
        );
        assert_eq!(arrival.greatest_backlog(&slow), None);
    }
}
