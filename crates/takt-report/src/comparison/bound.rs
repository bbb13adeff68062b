//! Bounds of an application.

use takt_analysis::SentStamp;
use takt_calculus::{
    Extended, Rational, Realisation, ScenarioBounds, ScenarioBoundsError, scenario_bounds_with,
};
use takt_scenario::{ApplicationIndex, BoundsModel, FlowSource, Scenario};
use takt_sim::RunOptions;

use super::settings::CaseOffload;
use super::times::RoundTripKind;

/// Bound on a delay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparedBound {
    /// Longest delay in picoseconds, rounded up.
    Finite(u64),
    /// The delay has no bound, for this reason.
    Infinite(String),
    /// The bound is not known, for this reason.
    Unknown(String),
}

impl ComparedBound {
    /// Returns the bound in nanoseconds, rounded.
    #[must_use]
    pub fn nanos(&self) -> Option<f64> {
        match self {
            Self::Finite(picos) => Some(*picos as f64 / 1e3),
            _ => None,
        }
    }

    /// Returns true if a measured delay is above the bound by at least the resolution. Both are in nanoseconds.
    #[must_use]
    pub fn is_below(&self, nanos: i64, resolution: i64) -> bool {
        let nanos = i128::from(nanos) - i128::from(resolution);
        match self {
            Self::Finite(picos) => nanos * 1000 >= i128::from(*picos),
            _ => false,
        }
    }

    fn of(delay: &Extended, reason: impl FnOnce() -> String) -> Self {
        let Some(seconds) = delay.finite() else {
            return Self::Infinite(reason());
        };
        let picos = (seconds * Rational::from(1_000_000_000_000_u64)).ceil();
        match u64::try_from(picos) {
            Ok(picos) => Self::Finite(picos),
            Err(_) => Self::Infinite("the bound is longer than half a year".to_owned()),
        }
    }
}

/// Sound bounds of a scenario.
pub(crate) struct CaseBounds {
    bounds: Result<ScenarioBounds, ScenarioBoundsError>,
    /// True if nothing of the disciplines was done in software.
    is_hardware: bool,
}

impl CaseBounds {
    /// Computes them with the analyses of the scenario, for Linux with as many frames in the driver as in the simulation.
    pub(crate) fn of(scenario: &Scenario, options: &RunOptions, offload: CaseOffload) -> Self {
        let analyses = &scenario.bounds.analyses;
        let driver_queue = u32::try_from(options.driver_queue.max(1)).unwrap_or(u32::MAX);
        let is_hardware = offload == CaseOffload::Full;
        let linux = match is_hardware {
            // Frames are chosen by the network card.
            true => Realisation::Linux { driver_queue },
            // Shapers are those of the kernel, and gates too where the scenario does not offload them.
            false => Realisation::Software { driver_queue },
        };
        let sound = BoundsModel::Sound;
        Self {
            is_hardware,
            bounds: scenario_bounds_with(scenario, sound, linux, analyses, &mut |_, _| {}),
        }
    }

    /// Returns the assumptions that Linux in software breaks, in words.
    pub(crate) fn broken(&self) -> &[&'static str] {
        match &self.bounds {
            Ok(bounds) if !self.is_hardware => &bounds.broken,
            _ => &[],
        }
    }

    /// Returns the assumptions in words.
    pub(crate) fn assumptions(&self) -> &[&'static str] {
        self.bounds.as_ref().map_or(&[], |it| &it.assumptions)
    }

    /// Returns the bound on a round trip: on the wire from the first bit, or from the first port's queue or the time at which that port may
    /// send, as captures stamp sent frames.
    pub(crate) fn round_trip(
        &self,
        application: ApplicationIndex,
        kind: RoundTripKind,
        stamp: SentStamp,
    ) -> ComparedBound {
        let bounds = match &self.bounds {
            Ok(bounds) => bounds,
            Err(error) => return ComparedBound::Unknown(error.to_string()),
        };
        let source = FlowSource::Publish(application);
        let flow = bounds.flows.iter().find(|it| it.source == source);
        let Some(flow) = flow.filter(|flow| flow.round_trip) else {
            return ComparedBound::Unknown("the application has no loopback".to_owned());
        };
        if flow.is_unknown() {
            let reasons = flow.answers.iter().filter_map(|(analysis, answer)| {
                let reason = answer.as_ref().err()?;
                Some(format!("{}: {reason}", analysis.name()))
            });
            return ComparedBound::Unknown(reasons.collect::<Vec<_>>().join("; "));
        }
        let reason = || match &flow.infinite {
            Some(infinite) => format!("{}: {}", infinite.port, infinite.reason),
            None => "no analysis finds a bound".to_owned(),
        };
        match kind {
            RoundTripKind::Wire => match stamp {
                SentStamp::Driver | SentStamp::Unknown => {
                    ComparedBound::of(&flow.from_queue, reason)
                }
                SentStamp::FirstBit => match &flow.from_first_bit {
                    Some(delay) => ComparedBound::of(delay, reason),
                    None => ComparedBound::Unknown("the model has no first bit".to_owned()),
                },
            },
            RoundTripKind::Application => match &flow.application_round_trip {
                Some(delay) => ComparedBound::of(delay, reason),
                None => ComparedBound::Unknown("the application has no loopback".to_owned()),
            },
        }
    }

    /// Returns the bound on one way, from its first bit or its first port's queue to the end of its last link.
    pub(crate) fn of_way(&self, source: FlowSource, stamp: SentStamp) -> ComparedBound {
        let bounds = self.bounds.as_ref().ok();
        let way = bounds.and_then(|bounds| match stamp {
            SentStamp::Driver | SentStamp::Unknown => bounds.of_way(source),
            SentStamp::FirstBit => bounds.of_way_from_first_bit(source),
        });
        match way {
            Some(delay) => ComparedBound::of(delay, || "no analysis finds a bound".to_owned()),
            None => ComparedBound::Unknown("no analysis has a bound on one way".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn less_than_the_resolution_is_no_violation() {
        let bound = ComparedBound::Finite(85_288_000);
        assert!(!bound.is_below(85_295, 8) && bound.is_below(85_296, 8));
        assert!(bound.is_below(85_295, 1));
        let bound = ComparedBound::Finite(1_000_500);
        assert!(!bound.is_below(1_000, 1) && !bound.is_below(1_001, 1) && bound.is_below(1_002, 1));
        let bound = ComparedBound::Finite(1_000_000);
        assert!(!bound.is_below(1_000, 1) && bound.is_below(1_001, 1));
        assert!(!ComparedBound::Infinite(String::new()).is_below(i64::MAX, 1));
        assert!(!ComparedBound::Unknown(String::new()).is_below(i64::MAX, 1));
    }

    #[test]
    fn bounds_are_rounded_up() {
        let seconds = Rational::from_parts(1.into(), 3_000_000_000_000_u64.into());
        let bound = ComparedBound::of(&Extended::Finite(seconds), String::new);
        assert_eq!(bound, ComparedBound::Finite(1));
        let infinite = ComparedBound::of(&Extended::Infinity, || "overload".to_owned());
        assert_eq!(infinite, ComparedBound::Infinite("overload".to_owned()));
        assert_eq!(infinite.nanos(), None);
    }
}
