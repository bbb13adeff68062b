//! Alarms of a Provider.

use std::time::Duration;

use takt_client::model::OWN_NAMESPACE;
use takt_space::Value;
use takt_ua::NodeId;

use crate::alarms::limits::{Limit, Limits};
use crate::alarms::{Kind, Watched};

/// A limit alarm on a Variable: an ExclusiveLimitAlarmType (OPC 10000-9, 5.8.19), or with [`non_exclusive`](Self::non_exclusive) a
/// NonExclusiveLimitAlarmType (OPC 10000-9, 5.8.20).
///
/// The alarm is active while the value of the Variable exceeds a limit. Each limit has a Severity, from 1 to 1000, and has to be
/// acknowledged when it is exceeded. Clients monitor its Events at the Server Object of the Provider or of the registry.
///
/// ```
/// use takt_app::{LimitAlarm, Provider, Variable};
///
/// let oven = Provider::builder("Oven")
///     .variable(Variable::stored("Chamber/Temperature", 20.0))
///     .alarm(
///         LimitAlarm::new("Chamber/Overtemperature", "Chamber/Temperature")
///             .high(180.0, 500)
///             .high_high(200.0, 900)
///             .deadband(2.0),
///     );
/// ```
#[derive(Debug, Clone)]
pub struct LimitAlarm {
    pub(super) path: String,
    pub(super) variable: String,
    pub(super) limits: Limits,
    pub(super) needs_confirmation: bool,
    pub(super) kind: Kind,
    pub(super) max_time_shelved: Option<Duration>,
}

impl LimitAlarm {
    /// Creates an alarm without limits. Its path is its place below the Provider's Object, and its name; `variable` is the path
    /// of a Variable of the same Provider whose values are numbers.
    pub fn new(path: impl Into<String>, variable: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            variable: variable.into(),
            limits: Limits::default(),
            needs_confirmation: false,
            kind: Kind::Exclusive,
            max_time_shelved: None,
        }
    }

    /// Sets HighHighLimit, in the unit of the Variable, and the Severity above it.
    #[must_use]
    pub fn high_high(mut self, value: f64, severity: u16) -> Self {
        self.limits.high_high = Some(Limit { value, severity });
        self
    }

    /// Sets HighLimit, in the unit of the Variable, and the Severity above it.
    #[must_use]
    pub fn high(mut self, value: f64, severity: u16) -> Self {
        self.limits.high = Some(Limit { value, severity });
        self
    }

    /// Sets LowLimit, in the unit of the Variable, and the Severity below it.
    #[must_use]
    pub fn low(mut self, value: f64, severity: u16) -> Self {
        self.limits.low = Some(Limit { value, severity });
        self
    }

    /// Sets LowLowLimit, in the unit of the Variable, and the Severity below it.
    #[must_use]
    pub fn low_low(mut self, value: f64, severity: u16) -> Self {
        self.limits.low_low = Some(Limit { value, severity });
        self
    }

    /// Sets the distance, in the unit of the Variable, that the value has to go back from a limit before its state ends.
    #[must_use]
    pub fn deadband(mut self, distance: f64) -> Self {
        self.limits.deadband = distance;
        self
    }

    /// Sets the time for which the value has to exceed a limit before the alarm is active.
    #[must_use]
    pub fn on_delay(mut self, delay: Duration) -> Self {
        self.limits.on_delay = delay;
        self
    }

    /// Sets the time for which the value has to be normal before the alarm is inactive.
    #[must_use]
    pub fn off_delay(mut self, delay: Duration) -> Self {
        self.limits.off_delay = delay;
        self
    }

    /// Returns the alarm as it is watched, with the value of its Variable.
    pub(super) fn watched(&self, value: Value) -> Watched {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let source = NodeId::string(OWN_NAMESPACE, &self.variable);
        Watched {
            id: NodeId::string(OWN_NAMESPACE, &self.path),
            name: name.to_owned(),
            source: (source, self.variable.clone(), value),
            needs_confirmation: self.needs_confirmation,
            limits: self.limits,
            kind: self.kind,
            max_time_shelved: self.max_time_shelved,
        }
    }

    /// Gives each limit a state of its own: above HighHighLimit, HighHighState and HighState are both active. An exclusive alarm has
    /// one state at a time.
    #[must_use]
    pub fn non_exclusive(mut self) -> Self {
        self.kind = Kind::NonExclusive;
        self
    }

    /// Lets operators shelve the alarm (OPC 10000-9, 5.8.17): for a time, or until it is inactive, in both cases for at most `longest`,
    /// its MaxTimeShelved.
    #[must_use]
    pub fn shelvable(mut self, longest: Duration) -> Self {
        self.max_time_shelved = Some(longest);
        self
    }

    /// Requires that operators confirm the alarm after they have acknowledged it (OPC 10000-9, 5.7.2, ConfirmedState).
    #[must_use]
    pub fn needs_confirmation(mut self) -> Self {
        self.needs_confirmation = true;
        self
    }
}
