//! Times of an application's messages on one way, for comparison with measured ones.

use takt_scenario::{FlowSource, Frame, Scenario};

use super::bounds::ScenarioBounds;
use super::loopback::publisher;
use super::quantities::{bits_per_second, seconds, seconds_by, sender};
use crate::curve::Extended;
use crate::{FrameBits, Rational};

/// Times of an application's messages on one way, in seconds: from the planned time of sending to the end of the last link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneWayTimes {
    /// Longest delay: with the lateness of the sending thread, for any phases of applications and gates.
    pub delay: Extended,
    /// Shortest delay, of the shortest frame that is sent.
    pub least: Rational,
    /// Longest delay less the shortest one: two messages that were planned `n` cycles apart arrive at most `n` cycles and this
    /// time apart.
    pub jitter: Extended,
    /// Cycle of the sender, by a clock without drift.
    pub cycle: Rational,
}

impl ScenarioBounds {
    /// Returns the times of an application's messages to one of its receivers, or back from its loopback; `None` if there is no such way.
    ///
    /// `scenario` has to be that of the bounds. `shortest` is the shortest frame of the flow, if not all are as long as the scenario says:
    /// it may arrive earlier than those, and never later than the bound.
    #[must_use]
    pub fn one_way(
        &self,
        scenario: &Scenario,
        source: FlowSource,
        shortest: Frame,
    ) -> Option<OneWayTimes> {
        let application = scenario.applications.get(source.application()?.0)?;
        let flow = scenario.flow(source)?;
        let sender = scenario.nodes.get(sender(flow, application).0)?;
        let late = publisher(application, sender);
        let mut least = late.least;
        for (position, id) in flow.ports.iter().enumerate() {
            let port = scenario.ports.get(id.0)?;
            let link = scenario.links.get(port.link.0)?;
            least += shortest.physical_bits() / bits_per_second(link.rate);
            least += seconds(link.length.propagation());
            // The last link ends at a host, which forwards nothing.
            if position + 1 < flow.ports.len() {
                least += seconds(scenario.nodes.get(port.to.0)?.forwarding_delay_least);
            }
        }
        // Those of the analysis `schedule` hold for the phases of the scenario only.
        let ways = self.ways.iter().filter(|(way, _)| *way == source);
        let delay = ways.map(|(_, delay)| delay).min()?.plus(&late.most);
        Some(OneWayTimes {
            jitter: delay.plus(&-&least),
            delay,
            least,
            cycle: seconds_by(flow.interval, sender.clock),
        })
    }
}
