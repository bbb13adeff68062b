//! Gates and shapers of Linux in software: `sch_taprio` and `sch_cbs` without offload. `docs/bounds.md` derives the curves.
//!
//! Both hand frames to the driver before the link is free. A frame in the driver is neither gated nor shaped any more.

use super::gates::GateControlList;
use super::losses::Losses;
use super::no_service::NoService;
use super::{ClassService, EgressPort, InSoftware, PortError, TransmissionSelection};
use crate::Rational;
use crate::curve::Curve;

/// Frames that `sch_taprio` hands over together: the first one, and eight more of its class (`try_bulk_dequeue_skb_slow`).
const TOGETHER: u32 = 9;
/// Bits of each frame on the wire that `sch_cbs` never counts: check sequence, preamble and interframe gap.
const UNCOUNTED: u32 = 192;
/// Bits of credit that each frame of a shaper can lose to rounding, besides those of arrivals behind it: a byte when it comes, one
/// when the hardware takes it, and the nanoseconds and bytes per second of the kernel.
const ROUNDED: u32 = 92;
/// Highest rate of a link for which the kernel knows the time of a byte exactly enough, in bit/s.
const FASTEST: u64 = 400_000_000_000;

/// A port whose gates and shapers are those of Linux in software.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftwarePort {
    /// Most frames of each class in the driver, besides the one on the link.
    pub driver_queue: u32,
    /// Seconds that the clock of the node advances in a second.
    pub speed: Rational,
    /// True for each class whose frames wait for launch times (`sch_etf`, not in deadline mode).
    pub launches: Vec<bool>,
    /// True for each class whose etf has offload, in any mode: the device has room for more of its frames than [`Self::driver_queue`].
    pub kept_by_device: Vec<bool>,
    /// Settings of each class with a shaper.
    pub shapers: Vec<Option<SoftwareShaper>>,
    /// Most frames of a shaped class that come while one of its frames waits. The bound holds if no more come.
    pub later: u32,
    /// Longest frame of traffic that is in no class of a port with gates, in bits on the wire; 0 without such traffic. Its gates are
    /// closed while those of any class are open.
    pub outside: Rational,
}

/// Settings of `sch_cbs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftwareShaper {
    /// idleSlope as configured, in bit/s.
    pub idle_slope: Rational,
    /// Credit that a bit costs: idleSlope and sendSlope, divided by the rate of the link.
    pub cost: Rational,
    /// hiCredit in bits.
    pub hi_credit: Rational,
    /// Most bits of a frame on the wire that `sch_cbs` does not count: check sequence, preamble, interframe gap, padding, and the
    /// VLAN tag where it is not in the data.
    pub most_uncounted: Rational,
}

impl SoftwarePort {
    /// Value of [`Self::later`] for any number of frames. Then no shaper has a guaranteed service.
    pub const ANY: u32 = u32::MAX;
}

impl EgressPort {
    /// Returns true if rounding can take more credit from a shaper in software than its service takes into account, with these
    /// arrivals and this delay of the class.
    pub(crate) fn loses_more(&self, class: usize, arrival: &Curve, delay: &Rational) -> bool {
        let software = self.software.get(class).and_then(Option::as_ref);
        let losses = software.and_then(|it| it.losses.as_ref());
        let class = self.classes.get(class);
        class
            .zip(losses)
            .is_some_and(|(class, losses)| losses.are_more(&class.shortest, arrival, delay))
    }

    /// Returns the port with gates and shapers of Linux in software. Gates come before ([`Self::with_gates`]). Gates of
    /// `txtime-assist` have no effect of their own, and stay as they are.
    ///
    /// # Errors
    /// None that a valid port can cause.
    pub fn in_software(mut self, software: &SoftwarePort) -> Result<Self, PortError> {
        let gates = self.gates.clone();
        let gates = gates.filter(|gates| gates.txtime_delay().is_none());
        let mut classes = Vec::with_capacity(self.classes.len());
        for class in 0..self.classes.len() {
            classes.push(match (&gates, self.is_shaped(class)) {
                (Some(gates), _) => Some(self.gated_in_software(gates, class, software)?),
                (None, true) => Some(self.shaped_in_software(class, software)?),
                (None, false) => None,
            });
        }
        self.software = classes;
        Ok(self)
    }

    /// Returns the reason why a class has no guaranteed service in software, if it has none.
    pub fn no_service(&self, class: usize) -> Option<&NoService> {
        self.software.get(class)?.as_ref()?.none.as_ref()
    }

    /// Returns the service of a class that is alone in its windows. In each window, frames of others that are in the driver go first.
    fn gated_in_software(
        &self,
        gates: &GateControlList,
        class: usize,
        software: &SoftwarePort,
    ) -> Result<InSoftware, PortError> {
        let rate = &self.link_rate;
        let shaping = Curve::leaky_bucket(Rational::ZERO, rate.clone())?;
        let none = |reason| Ok(no_service(reason, shaping.clone()));
        if self.is_shaped(class) {
            return none(NoService::ShaperBehindGates);
        }
        let used = |other: &usize| *other != class && !self.classes[*other].longest.is_zero();
        let others: Vec<usize> = (0..self.classes.len()).filter(used).collect();
        if let Some(other) = others.iter().find(|other| gates.overlap(class, **other)) {
            return none(NoService::SharedWindow(*other));
        }
        let megabits = rate / Rational::from(1_000_000);
        if Rational::from(megabits.floor()) != megabits {
            return none(NoService::LinkRate);
        }
        if *rate > Rational::from(FASTEST) {
            return none(NoService::LinkTooFast);
        }
        if software.launches.get(class).is_some_and(|it| *it) {
            return none(NoService::LaunchBehindGates);
        }
        let is_kept = |other: &usize| software.kept_by_device.get(*other).is_some_and(|it| *it);
        if let Some(other) = others.iter().copied().find(is_kept) {
            return none(NoService::LaunchesOfOthers(other));
        }
        let longest = others.iter().map(|other| &self.classes[*other].longest);
        let longest = longest.fold(software.outside.clone(), |most, frame| {
            most.max(frame.clone())
        });
        let others = others.len() + usize::from(!software.outside.is_zero());
        let spilled = longest * Rational::from(frames_of_others(others, software));
        let frame = &self.classes[class].longest / rate;
        let minimum =
            match gates.after_others(class, &frame, &(&spilled / rate), rate, &software.speed) {
                Some(service) => service,
                None => Curve::rate_latency(rate.clone(), Rational::ZERO)?,
            };
        if minimum.long_term_rate().is_some_and(Rational::is_zero) {
            return none(NoService::ShortWindows(spilled));
        }
        Ok(InSoftware {
            service: ClassService {
                strict: minimum.clone(),
                minimum,
                shaping,
            },
            none: None,
            losses: None,
        })
    }

    /// Returns the service of the highest class, with a shaper in software, and the most bits that leave of any shaped class.
    fn shaped_in_software(
        &self,
        class: usize,
        software: &SoftwarePort,
    ) -> Result<InSoftware, PortError> {
        let link = Curve::leaky_bucket(Rational::ZERO, self.link_rate.clone())?;
        let settings = software.shapers.get(class).and_then(Option::as_ref);
        let TransmissionSelection::CreditBased { idle_slope } = &self.classes[class].selection
        else {
            return Ok(no_service(NoService::NoSettings, link));
        };
        let Some(settings) = settings else {
            return Ok(no_service(NoService::NoSettings, link));
        };
        let own = &self.classes[class];
        let shaping = self.shaping_in_software(class, idle_slope, settings, software)?;
        let used = |other: &usize| !self.classes[*other].longest.is_zero();
        if let Some(higher) = (0..class).find(used) {
            return Ok(no_service(NoService::ShaperBelow(higher), shaping));
        }
        if software.later == SoftwarePort::ANY {
            return Ok(no_service(NoService::ManyFrames, shaping));
        }
        // The rate at which the kernel gains credit, in seconds of the link. It counts whole bytes per second.
        let gained = &settings.idle_slope * &software.speed;
        let bits = |bits: u32| Rational::from(bits);
        let slack = bits(UNCOUNTED) * &gained / idle_slope - bits(ROUNDED);
        // Least time from one frame to the next.
        let apart =
            |frame: &Rational| (frame - &settings.most_uncounted) / idle_slope - bits(24) / &gained;
        let least = apart(&own.shortest);
        let blocking = self.longest_below(class) / &self.link_rate;
        if gained < Rational::from(10_000) || gained > Rational::from(10_000_000_000_u64) {
            return Ok(no_service(NoService::ShaperRate, shaping));
        }
        if slack <= Rational::ZERO {
            return Ok(no_service(NoService::ShaperCost, shaping));
        }
        let is_slow = least >= &own.shortest / &self.link_rate
            && apart(&own.longest) >= &own.longest / &self.link_rate
            && &least * Rational::from(software.driver_queue) >= blocking;
        if !is_slow {
            return Ok(no_service(NoService::ShaperTooFast, shaping));
        }
        // A bit costs so much credit, in the rate at which credit is gained.
        let cost = &gained / idle_slope;
        let losses = Losses {
            longest: own.longest.clone().max(&own.longest * cost - &slack),
            gained,
            slack,
            later: software.later.into(),
            driver_queue: software.driver_queue.into(),
        };
        let latency = blocking + losses.latency();
        Ok(InSoftware {
            service: ClassService {
                minimum: Curve::rate_latency(idle_slope.clone(), latency)?,
                strict: Curve::zero(),
                shaping,
            },
            none: None,
            losses: Some(losses),
        })
    }

    /// Returns the most bits of a shaped class that leave in any interval: those for which there is credit, the frame that makes it
    /// negative, and those in the driver before.
    fn shaping_in_software(
        &self,
        class: usize,
        idle_slope: &Rational,
        settings: &SoftwareShaper,
        software: &SoftwarePort,
    ) -> Result<Curve, PortError> {
        let own = &self.classes[class];
        let link = Curve::leaky_bucket(Rational::ZERO, self.link_rate.clone())?;
        let counted = &own.shortest - &settings.most_uncounted - Rational::from(8) / &settings.cost;
        if counted <= Rational::ZERO {
            return Ok(link);
        }
        let more = &own.shortest / counted;
        let nanosecond = Rational::from_parts(1.into(), 1_000_000_000_u32.into());
        let credit = &settings.hi_credit / &settings.cost + idle_slope * nanosecond;
        let in_driver = &own.longest * Rational::from(u64::from(software.driver_queue) + 2);
        let burst = &more * credit + in_driver;
        Ok(link.minimum(&Curve::leaky_bucket(burst, more * idle_slope)?))
    }
}

fn no_service(reason: NoService, shaping: Curve) -> InSoftware {
    InSoftware {
        service: ClassService {
            minimum: Curve::zero(),
            strict: Curve::zero(),
            shaping,
        },
        none: Some(reason),
        losses: None,
    }
}

/// Returns the most frames of so many other classes that have passed their gates and are not sent yet: that on the link, those in the
/// driver, those released together, and one of another class that was released behind them.
fn frames_of_others(others: usize, software: &SoftwarePort) -> u64 {
    let count = u64::try_from(others).unwrap_or(u64::MAX);
    match others {
        0 => 0,
        _ => (u64::from(software.driver_queue).saturating_mul(count))
            .saturating_add(u64::from(TOGETHER) + 1 + u64::from(others > 1)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::PortClass;
    use super::super::gates::GateControlEntry;
    use super::*;

    const GIGABIT: u64 = 1_000_000_000;

    /// Returns a port with one class of frames of 1542 B.
    fn port(rate: u64, selection: TransmissionSelection) -> EgressPort {
        let class = PortClass {
            selection,
            longest: 12_336.into(),
            shortest: 12_336.into(),
        };
        EgressPort::new(rate.into(), vec![class]).unwrap()
    }

    /// Returns the settings of a shaper with an idleSlope and a sendSlope in bit/s, if the class has one.
    fn settings(rate: u64, slopes: Option<(u64, u64)>) -> SoftwarePort {
        let shaper = slopes.map(|(idle, send)| SoftwareShaper {
            idle_slope: idle.into(),
            cost: Rational::from(idle + send) / Rational::from(rate),
            hi_credit: 12_336.into(),
            most_uncounted: 224.into(),
        });
        SoftwarePort {
            driver_queue: 1,
            speed: Rational::ONE,
            launches: vec![false],
            kept_by_device: vec![false],
            shapers: vec![shaper],
            later: 4,
            outside: Rational::ZERO,
        }
    }

    fn shaped(idle: u64, send: u64) -> EgressPort {
        let settings = settings(GIGABIT, Some((idle, send)));
        let cost = &settings.shapers[0].as_ref().unwrap().cost;
        let idle_slope = Rational::from(idle) / cost;
        let port = port(GIGABIT, TransmissionSelection::CreditBased { idle_slope });
        port.in_software(&settings).unwrap()
    }

    fn gated(rate: u64, launches: bool) -> Option<NoService> {
        let entry = |gates| GateControlEntry {
            gates,
            interval: Rational::ONE,
        };
        let gates = GateControlList::new(Rational::ZERO, 2.into(), vec![entry(1), entry(0)]);
        let port = port(rate, TransmissionSelection::StrictPriority);
        let mut settings = settings(rate, None);
        settings.launches = vec![launches];
        let port = port.with_gates(gates.unwrap()).unwrap();
        port.in_software(&settings).unwrap().no_service(0).cloned()
    }

    /// With a sendSlope of the link's rate, a frame takes longer to gain its credit than its length at idleSlope.
    #[test]
    fn a_frame_that_costs_more_credit_takes_longer() {
        let longest = |port: &EgressPort| {
            let losses = port.software[0].as_ref().unwrap().losses.as_ref();
            losses.unwrap().longest.clone()
        };
        assert_eq!(longest(&shaped(100_000_000, 900_000_000)), 12_336.into());
        let tenth = |tenths: u32| Rational::from_parts(tenths.into(), 10_u32.into());
        // 12336 bits at a cost of 1.1, without 192 x 1.1 - 92.
        assert_eq!(longest(&shaped(100_000_000, GIGABIT)), tenth(134_504));
    }

    #[test]
    fn each_limit_of_the_proof_has_a_reason() {
        assert_eq!(gated(GIGABIT, false), None);
        assert_eq!(gated(GIGABIT, true), Some(NoService::LaunchBehindGates));
        assert_eq!(gated(GIGABIT + 1, false), Some(NoService::LinkRate));
        assert_eq!(gated(500 * GIGABIT, false), Some(NoService::LinkTooFast));
        let reason = |idle, send| shaped(idle, send).no_service(0).cloned();
        assert_eq!(reason(100_000_000, 900_000_000), None);
        assert_eq!(reason(8_000, 999_992_000), Some(NoService::ShaperRate));
        assert_eq!(
            reason(100_000_000, 100_000_000),
            Some(NoService::ShaperCost)
        );
    }
}
