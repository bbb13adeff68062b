//! The Credit-Based Shaper of any class: the highest, or below others that have one (IEEE 802.1Q, 8.6.8.2; Azua and Boyer, RTNS 2014;
//! Daigmorte, Boyer and Zhao, Modelling in network calculus a TSN architecture mixing Time-Triggered, Credit Based Shaper and Best-Effort queues, 2018).

use super::gates::GateControlList;
use super::{ClassTraffic, EgressPort, PortError, TransmissionSelection};
use crate::Rational;
use crate::credit_limits::{CreditLimits, cost};
use crate::curve::{Curve, Extended};

impl EgressPort {
    /// Returns the limits of a class's credit, if it and all classes above it have a Credit-Based Shaper. `docs/bounds.md`
    /// derives them.
    pub(super) fn credit(&self, class: usize) -> Option<CreditLimits> {
        let (own, idle_slope) = shaper(self, class)?;
        let mut higher_slopes = Rational::ZERO;
        let mut higher_lows = Rational::ZERO;
        let used = |index: &usize| !self.classes[*index].longest.is_zero();
        for index in (0..class).filter(used) {
            let (higher, slope) = shaper(self, index)?;
            higher_slopes += slope;
            higher_lows += cost(higher, slope, &self.link_rate);
        }
        let waiting = (self.longest_below(class) + higher_lows) / (&self.link_rate - higher_slopes);
        Some(CreditLimits::new(
            idle_slope.clone(),
            &self.link_rate,
            own,
            &waiting,
        ))
    }

    pub(super) fn is_shaped(&self, class: usize) -> bool {
        shaper(self, class).is_some()
    }

    /// Returns the credit of a class with a shaper after its longest frame, if that began without credit.
    pub(super) fn lowest_credit(&self, class: usize) -> Option<Rational> {
        let (frame, idle_slope) = shaper(self, class)?;
        Some(-cost(frame, idle_slope, &self.link_rate))
    }

    /// Returns the minimum and strict service of a class with a shaper. `unshaped` is the strict service that higher classes
    /// would leave it without a shaper, and `gained` the least credit gained. `docs/bounds.md` derives both for gates, and for
    /// classes above that have no shaper.
    fn held_back(
        &self,
        class: usize,
        gained: &Curve,
        unshaped: &Curve,
    ) -> Result<(Curve, Curve), PortError> {
        let low = self.lowest_credit(class).unwrap_or(Rational::ZERO);
        let lost = Curve::leaky_bucket(-low, Rational::ZERO)?;
        let after_loss = gained.residual(&lost, &Rational::ZERO);
        Ok((
            gained.convolution(unshaped),
            after_loss.convolution(unshaped),
        ))
    }

    /// Returns the minimum and strict service of a class with a shaper below a class that has none. Its credit gains all the
    /// time, independently of the frames that are sent (IEEE 802.1Q, 8.6.8.2).
    pub(super) fn shaped_below_unshaped(
        &self,
        class: usize,
        unshaped: Curve,
    ) -> Result<(Curve, Curve), PortError> {
        let Some((_, idle_slope)) = shaper(self, class) else {
            return Ok((unshaped.clone(), unshaped));
        };
        let gained = Curve::leaky_bucket(Rational::ZERO, idle_slope.clone())?;
        self.held_back(class, &gained, &unshaped)
    }
}

/// Credit-Based Shapers behind gates: credit stands still while the gate is closed.
impl EgressPort {
    /// Returns the minimum and the strict service of a class, with or without a shaper.
    pub(super) fn behind_gates(
        &self,
        gates: &GateControlList,
        class: usize,
        higher: &[ClassTraffic],
    ) -> Result<(Curve, Curve), PortError> {
        let unshaped = gates.service(self, class, higher)?;
        let Some((_, idle_slope)) = shaper(self, class) else {
            return Ok((unshaped.strict.clone(), unshaped.strict));
        };
        let (gained, _) = gates.while_open(class, idle_slope)?;
        // The time of a convolution with a line does not grow with the number of windows.
        let (minimum, strict) =
            self.held_back(class, &gained.rate_latency_below()?, &unshaped.strict)?;
        let in_one_phase = unshaped.in_one_phase(gates, class, idle_slope, &self.link_rate)?;
        let minimum = match in_one_phase {
            Some(service) => minimum.maximum(&service),
            None => minimum,
        };
        Ok((minimum, strict))
    }

    /// Returns the most bits of a class with a shaper that leave in any interval, if its credit has a limit; otherwise only the
    /// windows limit them.
    pub(super) fn shaping_behind_gates(
        &self,
        gates: &GateControlList,
        class: usize,
    ) -> Result<Option<Curve>, PortError> {
        let Some((frame, idle_slope)) = shaper(self, class) else {
            return Ok(None);
        };
        let mut higher = Vec::with_capacity(class);
        for other in 0..class {
            let departure = self.shaping(other)?;
            higher.push(ClassTraffic {
                arrival: departure.clone(),
                departure,
            });
        }
        let (_, gained) = gates.while_open(class, idle_slope)?;
        let unshaped = gates.service(self, class, &higher)?.strict;
        let Extended::Finite(high) = gained.vertical_deviation(&unshaped) else {
            return Ok(None);
        };
        let limits = high + cost(frame, idle_slope, &self.link_rate);
        let limits = Curve::leaky_bucket(limits, Rational::ZERO)?;
        Ok(Some(gained.sum(&limits)))
    }
}

fn shaper(port: &EgressPort, class: usize) -> Option<(&Rational, &Rational)> {
    let class = port.classes.get(class)?;
    match &class.selection {
        TransmissionSelection::CreditBased { idle_slope } => Some((&class.longest, idle_slope)),
        _ => None,
    }
}
