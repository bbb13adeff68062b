//! How far two curves are apart: delay and backlog.

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

impl Curve {
    /// `h(f, g) = sup over t of inf { d ≥ 0 : f(t) ≤ g(t + d) }`: the bound on the delay of what arrives by this curve in a FIFO server of
    /// service curve `service`. Infinite if the service never catches up.
    pub fn horizontal_deviation(&self, service: &Self) -> Extended {
        // A flat end of the service that is high enough is no obstacle; a steeper arrival is.
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

    /// The longest delay until the last bit of whole frames of at least `shortest` bits, which arrive by this curve and are not interrupted once they
    /// are begun, on a link of `link_rate`: a frame begins when `service` exceeds what came before it, and then takes the link's time for
    /// its length, not the service's. Never more than the horizontal deviation of a service that is not faster than the link.
    pub(crate) fn frame_delay(
        &self,
        shortest: &Rational,
        service: &Self,
        link_rate: &Rational,
    ) -> Extended {
        if let (Some(own), Some(rate)) = (self.long_term_rate(), service.long_term_rate())
            && own > rate
        {
            return Extended::Infinity;
        }
        let before = |level: &Extended| level.plus(&-shortest).max(Extended::ZERO);
        let mut times: Vec<Rational> = self
            .pieces
            .iter()
            .map(|piece| piece.start.clone())
            .collect();
        let levels = service.levels().into_iter();
        times.extend(levels.filter_map(|level| self.first_at_least(&level.plus(shortest))));
        let mut deviation = Extended::ZERO;
        for time in times {
            for level in [self.value(&time), self.right(&time).0] {
                let Some(begun) = service.first_above(&before(&level)) else {
                    return Extended::Infinity;
                };
                deviation = deviation.max(Extended::Finite(begun - &time));
            }
        }
        deviation.plus(&(shortest / link_rate))
    }

    /// `v(f, g) = sup over t of f(t) − g(t)`: the bound on the backlog of what arrives by this curve in a server of service curve
    /// `service`. Where the service is infinite, nothing waits.
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
        let mut compare = |own: &Extended, service: &Extended| {
            if let Some(service) = service.finite() {
                deviation = deviation.clone().max(own.plus(&-service));
            }
        };
        let beside = self.beside(service);
        for (index, (time, own, service)) in beside.iter().copied().enumerate() {
            compare(&own.value(time), &service.value(time));
            compare(&own.line(time), &service.line(time));
            if let Some((end, ..)) = beside.get(index + 1) {
                compare(&own.line(end), &service.line(end));
            }
        }
        deviation
    }

    /// `inf { t > 0 : f(t) ≤ g(t) }`: when nothing waits any more of what arrives by this curve in a strict server of service curve `service`, seen from
    /// when something began to wait.
    pub(crate) fn first_not_above(&self, service: &Self) -> Option<Rational> {
        let beside = self.beside(service);
        for (index, (time, own, service)) in beside.iter().copied().enumerate() {
            if *time > Rational::ZERO && own.value(time) <= service.value(time) {
                return Some(time.clone());
            }
            let (value, service_value) = (own.line(time), service.line(time));
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

    /// The values between which the curve is linear.
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

    /// `inf { t : f(t) ≥ level }`: the lower pseudo-inverse.
    pub fn first_at_least(&self, level: &Extended) -> Option<Rational> {
        self.first(level, |value| value >= level)
    }

    /// `inf { t : f(t) > level }`: the upper pseudo-inverse. Nothing is above infinity: that is first reached.
    pub(crate) fn first_above(&self, level: &Extended) -> Option<Rational> {
        if *level == Extended::Infinity {
            return self.first_at_least(level);
        }
        self.first(level, |value| value > level)
    }

    fn first(&self, level: &Extended, reached: impl Fn(&Extended) -> bool) -> Option<Rational> {
        // The curve never falls: it is reached in the pieces from some one on, or on the line before that.
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
