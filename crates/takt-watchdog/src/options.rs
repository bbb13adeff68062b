//! Options of the watch.

use std::time::Duration;

use takt_calculus::Realisation;

/// Options of [`watched_flows`](crate::watched_flows).
#[derive(Debug, Clone, PartialEq)]
pub struct WatchOptions {
    /// Share of a proven time from which on a message is near its bound, above 0 and at most 1.
    pub share: f64,
    /// Greatest difference of the clocks of all hosts, if the user knows one, for example by PTP. Without it, delays are measured
    /// only where both ends are on this host. This module does not look for PTP: what the clock of another host does, only that
    /// host knows.
    pub clocks_within: Option<Duration>,
    /// True if flows are watched whose times are not proven, with the reasons as
    /// [reservations](takt_pubsub::monitor::FlowDescription::reservations).
    pub allow_unproven: bool,
    /// Realisation of the queueing disciplines for which the times are proven.
    pub realisation: Realisation,
    /// Names of flows by names of components, where they differ.
    pub names: Vec<(String, String)>,
}

impl WatchOptions {
    /// Usual share: messages are reported while a fifth of the proven time is left.
    pub const SHARE: f64 = 0.8;
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            share: Self::SHARE,
            clocks_within: None,
            allow_unproven: false,
            realisation: Realisation::default(),
            names: Vec::new(),
        }
    }
}
