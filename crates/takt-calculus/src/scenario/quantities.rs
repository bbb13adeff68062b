//! Quantities and names of a scenario in the form that the analyses need.

use takt_scenario::{
    Application, ClockModel, Duration, Flow, FlowSource, NodeIndex, PortIndex, Rate, Scenario,
};

use crate::Rational;

/// Converts a time to seconds.
pub(super) fn seconds(time: Duration) -> Rational {
    Rational::from_parts(time.picos().into(), 1_000_000_000_000u64.into())
}

/// Converts a time by a node's clock to seconds.
pub(super) fn seconds_by(time: Duration, clock: ClockModel) -> Rational {
    seconds(time) / speed(clock)
}

/// Returns the seconds that a clock advances in a second. A clock that stands still or runs backwards counts as one of the lowest
/// speed, as in a simulation.
pub(super) fn speed(clock: ClockModel) -> Rational {
    let billionths = 1_000_000_000i64.saturating_add(clock.drift.billionths());
    Rational::from_parts(billionths.max(1).into(), 1_000_000_000u32.into())
}

/// Converts a rate to bits per second.
pub(super) fn bits_per_second(rate: Rate) -> Rational {
    rate.bits_per_second().into()
}

/// Returns the way back of a flow, if there is one.
pub(super) fn way_back(scenario: &Scenario, source: FlowSource) -> Option<&Flow> {
    let FlowSource::Publish(id) = source else {
        return None;
    };
    let back = FlowSource::Return(id);
    scenario.flows().iter().find(|flow| flow.source == back)
}

/// Returns the node at which an application sends the messages of a flow.
pub(super) fn sender(flow: &Flow, application: &Application) -> NodeIndex {
    match (flow.source, application.receiver.loopback()) {
        (FlowSource::Return(_), Some(loopback)) => loopback,
        _ => application.publisher,
    }
}

/// Returns the class of a flow at a port.
pub(super) fn class_at(scenario: &Scenario, flow: &Flow, port: PortIndex) -> usize {
    scenario.ports[port.0].discipline.class_of(flow.pcp)
}

/// Returns the name of a class of a port.
pub(super) fn class_name(scenario: &Scenario, port: PortIndex, class: usize) -> String {
    let class = scenario.ports[port.0].discipline.classes.get(class);
    class.map_or_else(String::new, |class| class.name.clone())
}
