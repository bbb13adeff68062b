//! Reasons why a bound is infinite, in words.

use takt_scenario::Scenario;

use crate::Rational;
use crate::curve::Extended;
use crate::port::NoService;

/// The reason why a bound is infinite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Infinite {
    /// Port that is the reason.
    pub port: String,
    /// Class at the port.
    pub class: String,
    /// Long-term arrivals divided by service, if that is the reason.
    pub utilisation: Option<Extended>,
    /// Reason in words: the overload and its amount.
    pub reason: String,
}

impl Infinite {
    /// Makes the reason for more arrivals than service; rates in bit/s.
    pub(super) fn overload(
        port: String,
        class: String,
        arrival: &Extended,
        service: &Extended,
    ) -> Self {
        let (utilisation, reason) = match (arrival, service) {
            (Extended::Finite(arrival), Extended::Finite(service)) if !service.is_zero() => {
                let utilisation = arrival / service;
                let more = (&utilisation - Rational::ONE) * Rational::from(100);
                let reason = format!(
                    "{} arrive in the long run, {} are served: {} % too much",
                    rate(arrival),
                    rate(service),
                    decimal(&more, 2)
                );
                (Extended::Finite(utilisation), reason)
            }
            (Extended::Finite(arrival), _) => {
                let reason = format!(
                    "{} arrive in the long run, and no service is left for them",
                    rate(arrival)
                );
                (Extended::Infinity, reason)
            }
            _ => (Extended::Infinity, "the arrivals are unbounded".to_owned()),
        };
        Self {
            port,
            class,
            utilisation: Some(utilisation),
            reason,
        }
    }

    /// Makes the reason for gates or a shaper in software that guarantee a class nothing. `name` returns the name of a class of the
    /// port, and `link_rate` is in bit/s.
    pub(super) fn in_software(
        port: String,
        class: String,
        none: &NoService,
        link_rate: &Rational,
        name: impl Fn(usize) -> String,
    ) -> Self {
        let reason = match none {
            NoService::SharedWindow(other) => format!(
                "sch_taprio in software: its gate is open together with that of {}, and the release of the kernel and the device decide which of both is served first; give it windows of its own",
                name(*other)
            ),
            NoService::ShortWindows(bits) => {
                let micros = bits / link_rate * Rational::from(1_000_000);
                format!(
                    "sch_taprio in software: frames of other classes in the driver take up to {} \u{b5}s of each of its windows, and leave no room for a frame in any window, so that none is certain to be sent; lengthen the windows, or use gates of the device (`flags 0x2`)",
                    decimal(&micros, 3)
                )
            }
            NoService::ShaperBehindGates => "sch_taprio in software takes frames from a shaper while the gate is closed, which spends credit: no bound is known".to_owned(),
            NoService::ShaperBelow(other) => format!(
                "sch_cbs in software gains no credit while it has some, so that each time at which it waits for {} takes service from it for good: at a load near idleSlope the delay has no limit; use shapers of the device (`offload 1`)",
                name(*other)
            ),
            NoService::ShaperTooFast => "sch_cbs in software: frames can come closer together than the driver sends them behind a frame of a lower class, and the shaper then loses credit: at a load near idleSlope the delay has no limit; use shapers of the device (`offload 1`)".to_owned(),
            NoService::LinkRate => "sch_taprio in software: the kernel's time of a byte is not exact at this rate of the link, which is no whole number of Mbit/s".to_owned(),
            NoService::LinkTooFast => "sch_taprio in software: the kernel's time of a byte is not exact at this rate of the link, which is above 400 Gbit/s".to_owned(),
            NoService::LaunchBehindGates => "sch_taprio in software looks at frames of etf before their txtimes, and each look takes their bytes from the budget of the window: no bound is known; use `txtime_assist`, or gates of the device (`flags 0x2`)".to_owned(),
            NoService::LaunchesOfOthers(other) => format!(
                "sch_taprio in software: the device keeps frames of {} until their launch times, up to 64 frames that have passed their gate, and sends them in windows of other classes; use gates of the device (`flags 0x2`), or etf without offload",
                name(*other)
            ),
            NoService::ShaperRate => "sch_cbs in software: its idleSlope is outside the range of the proof, from 10 kbit/s to 10 Gbit/s".to_owned(),
            NoService::ShaperCost => "sch_cbs in software: idleSlope and sendSlope together are outside the range of the proof, because they are too far below the rate of the link".to_owned(),
            NoService::NoSettings => "sch_cbs in software: the kernel's settings of its shaper are not known".to_owned(),
            NoService::ManyFrames => "sch_cbs in software loses credit with each frame that comes, and too many can come while one waits".to_owned(),
        };
        Self {
            port,
            class,
            utilisation: None,
            reason,
        }
    }

    /// Makes the reason for delays that cause each other in a circle. `growth` is the factor by which they grow in each round.
    pub(super) fn no_fixed_point(
        port: String,
        class: String,
        rounds: u32,
        growth: Option<&Rational>,
    ) -> Self {
        let reason = match growth {
            Some(growth) => format!(
                "delays depend on each other in a cycle, and each round through it multiplies them by {} or more: reduce the \
                 load or the hops of the flows on the cycle",
                decimal(growth, 2)
            ),
            None => format!(
                "delays depend on each other in a cycle and still grow after {rounds} rounds"
            ),
        };
        Self {
            port,
            class,
            utilisation: None,
            reason,
        }
    }
}

impl std::fmt::Display for Infinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, class {}: {}", self.port, self.class, self.reason)
    }
}

/// Returns a rate in Mbit/s, truncated.
fn rate(rate: &Rational) -> String {
    let mega = rate / Rational::from(1_000_000);
    format!("{} Mbit/s", decimal(&mega, 6))
}

/// Returns a number with at most `digits` digits behind the point, truncated towards zero; zeros at the end are left out.
pub(super) fn decimal(number: &Rational, digits: u32) -> String {
    let scale = Rational::from(10u64.pow(digits));
    let scaled = (number * scale).trunc().to_string();
    let (sign, scaled) = match scaled.strip_prefix('-') {
        Some(rest) => ("-", rest.to_owned()),
        None => ("", scaled),
    };
    let width = digits as usize + 1;
    let padded = format!("{scaled:0>width$}");
    let (whole, fraction) = padded.split_at(padded.len() - digits as usize);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// Returns the names of a port and a class.
pub(super) fn names(
    scenario: &Scenario,
    port: takt_scenario::PortIndex,
    class: usize,
) -> (String, String) {
    (
        scenario.port_name(port),
        super::quantities::class_name(scenario, port, class),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_truncated() {
        let fraction = |up: i64, down: u32| Rational::from_parts(up.into(), down.into());
        assert_eq!(decimal(&fraction(2, 3), 2), "0.66");
        assert_eq!(decimal(&fraction(-2, 3), 2), "-0.66");
        assert_eq!(decimal(&fraction(50, 1), 6), "50");
        assert_eq!(decimal(&fraction(5, 4), 6), "1.25");
    }
}
