//! Limits of a limit alarm (OPC 10000-9, 5.8.18 to 5.8.20): the state that follows from a value, with deadband and delays.
//!
//! The module has no clock: its owner passes the time.

use std::time::{Duration, Instant};

use takt_ua::ids;

/// Kind of a limit alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One state at a time (OPC 10000-9, 5.8.19).
    Exclusive,
    /// A state for each limit (OPC 10000-9, 5.8.20).
    NonExclusive,
}

impl Kind {
    /// Returns the EventType, which is the type of the Condition.
    pub(crate) fn event_type(self) -> u32 {
        match self {
            Self::Exclusive => ids::EXCLUSIVE_LIMIT_ALARM_TYPE,
            Self::NonExclusive => ids::NON_EXCLUSIVE_LIMIT_ALARM_TYPE,
        }
    }
}

/// State of a limit alarm: the outermost limit that the value has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitState {
    HighHigh,
    High,
    Low,
    LowLow,
}

impl LimitState {
    const ALL: [Self; 4] = [Self::HighHigh, Self::High, Self::Low, Self::LowLow];

    /// Returns a number from 1 on, for files.
    pub(crate) fn code(self) -> u8 {
        let at = Self::ALL.iter().position(|state| *state == self);
        at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0)
    }

    /// Returns the state with a [`code`](Self::code).
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        let at = usize::from(code).checked_sub(1)?;
        Self::ALL.get(at).copied()
    }

    /// Returns true if a value in this state exceeds the limit of the other state as well.
    pub(crate) fn includes(self, other: Self) -> bool {
        self == other
            || matches!(
                (self, other),
                (Self::HighHigh, Self::High) | (Self::LowLow, Self::Low)
            )
    }
}

/// A limit, and the Severity of its Events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    pub(crate) severity: u16,
}

/// Limits of one Variable, in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Limits {
    pub(crate) high_high: Option<Limit>,
    pub(crate) high: Option<Limit>,
    pub(crate) low: Option<Limit>,
    pub(crate) low_low: Option<Limit>,
    /// Distance that the value has to go back from a limit before its state ends.
    pub(crate) deadband: f64,
    /// Time for which the value has to exceed a limit.
    pub(crate) on_delay: Duration,
    /// Time for which the value has to be normal before the alarm ends.
    pub(crate) off_delay: Duration,
}

impl Limits {
    /// Returns the limits that are set, with the names of their fields.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let limits = [
            ("HighHighLimit", self.high_high),
            ("HighLimit", self.high),
            ("LowLimit", self.low),
            ("LowLowLimit", self.low_low),
        ];
        let set = limits.into_iter();
        set.filter_map(|(name, limit)| Some((name, limit?.value)))
    }

    /// Returns true if there is a limit, and they are finite and in order.
    pub(crate) fn is_valid(&self) -> bool {
        let limits = [self.low_low, self.low, self.high, self.high_high];
        let values: Vec<f64> = limits.iter().flatten().map(|limit| limit.value).collect();
        !values.is_empty()
            && values.iter().all(|value| value.is_finite())
            && values.is_sorted_by(|left, right| left < right)
            && self.deadband >= 0.0
            && self.deadband.is_finite()
    }

    /// Returns the limit of a state.
    pub(crate) fn limit(&self, state: LimitState) -> Option<Limit> {
        match state {
            LimitState::HighHigh => self.high_high,
            LimitState::High => self.high,
            LimitState::Low => self.low,
            LimitState::LowLow => self.low_low,
        }
    }

    /// Returns the state of a value after the state `before`.
    fn state(&self, value: f64, before: Option<LimitState>) -> Option<LimitState> {
        use LimitState::{High, HighHigh, Low, LowLow};
        // The deadband holds back the return from a state, not the way into it.
        let back = |states: &[LimitState]| match before {
            Some(before) if states.contains(&before) => self.deadband,
            _ => 0.0,
        };
        let above = |limit: Option<Limit>, back: f64| {
            limit.is_some_and(|limit| {
                value >= limit.value || back > 0.0 && value > limit.value - back
            })
        };
        let below = |limit: Option<Limit>, back: f64| {
            limit.is_some_and(|limit| {
                value <= limit.value || back > 0.0 && value < limit.value + back
            })
        };
        // The outer limits come first: beyond one of them, the inner one is exceeded, too.
        if above(self.high_high, back(&[HighHigh])) {
            Some(HighHigh)
        } else if below(self.low_low, back(&[LowLow])) {
            Some(LowLow)
        } else if above(self.high, back(&[High, HighHigh])) {
            Some(High)
        } else if below(self.low, back(&[Low, LowLow])) {
            Some(Low)
        } else {
            None
        }
    }
}

/// The state of one value over time.
#[derive(Debug)]
pub(crate) struct LimitMonitor {
    limits: Limits,
    state: Option<LimitState>,
    /// State that has to last for a delay, and the time of its beginning.
    pending: Option<(Option<LimitState>, Instant)>,
}

impl LimitMonitor {
    /// Begins with a state, that of the last run.
    pub(crate) fn new(limits: Limits, state: Option<LimitState>) -> Self {
        Self {
            limits,
            state,
            pending: None,
        }
    }

    /// Takes a value. Returns the new state if it is another one.
    pub(crate) fn update(&mut self, value: f64, now: Instant) -> Option<Option<LimitState>> {
        // NaN is neither above nor below a limit.
        if value.is_nan() {
            return None;
        }
        let state = self.limits.state(value, self.state);
        if state == self.state {
            self.pending = None;
            return None;
        }
        let since = match self.pending {
            // The delay is that of the alarm, not of one limit, so it does not begin again at the next limit.
            Some((pending, since)) if pending.is_some() == state.is_some() => since,
            _ => now,
        };
        self.pending = Some((state, since));
        let delay = match state {
            Some(_) => self.limits.on_delay,
            None => self.limits.off_delay,
        };
        if now.saturating_duration_since(since) < delay {
            return None;
        }
        self.pending = None;
        self.state = state;
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::LimitState::{High, HighHigh, LowLow};
    use super::*;

    fn limit(value: f64) -> Option<Limit> {
        Some(Limit {
            value,
            severity: 500,
        })
    }

    fn limits() -> Limits {
        Limits {
            high_high: limit(90.0),
            high: limit(80.0),
            low: limit(10.0),
            low_low: limit(0.0),
            deadband: 2.0,
            ..Limits::default()
        }
    }

    #[test]
    fn a_state_ends_beyond_the_deadband() {
        let mut monitor = LimitMonitor::new(limits(), None);
        let now = Instant::now();
        let mut update = |value| monitor.update(value, now);
        assert_eq!(update(79.9), None);
        assert_eq!(update(80.0), Some(Some(High)));
        assert_eq!(update(78.5), None);
        assert_eq!(update(95.0), Some(Some(HighHigh)));
        assert_eq!(update(88.5), None);
        assert_eq!(update(87.0), Some(Some(High)));
        assert_eq!(update(f64::NAN), None);
        assert_eq!(update(78.0), Some(None));
        assert_eq!(update(-1.0), Some(Some(LowLow)));
    }

    #[test]
    fn delays_suppress_short_excursions() {
        let second = Duration::from_secs(1);
        let mut monitor = LimitMonitor::new(
            Limits {
                on_delay: second,
                off_delay: 2 * second,
                ..limits()
            },
            None,
        );
        let start = Instant::now();
        let mut update = |value, seconds: u32| monitor.update(value, start + second * seconds);
        assert_eq!(update(85.0, 0), None);
        assert_eq!(update(50.0, 1), None);
        assert_eq!(update(85.0, 2), None);
        assert_eq!(update(95.0, 3), Some(Some(HighHigh)));
        assert_eq!(update(50.0, 4), None);
        assert_eq!(update(50.0, 5), None);
        assert_eq!(update(50.0, 6), Some(None));
    }

    #[test]
    fn limits_are_in_order() {
        assert!(limits().is_valid());
        assert!(!Limits::default().is_valid());
        let crossed = Limits {
            high: limit(95.0),
            ..limits()
        };
        assert!(!crossed.is_valid());
        let endless = Limits {
            high_high: limit(f64::INFINITY),
            ..limits()
        };
        assert!(!endless.is_valid());
    }
}
