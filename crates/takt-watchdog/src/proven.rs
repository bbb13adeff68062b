//! Times that a scenario proves for its flows.

use std::time::Duration;

use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds_with};
use takt_pubsub::monitor::{CommonClock, FlowDescription, FlowDirection};
use takt_scenario::{BoundsModel, Distribution, FlowSource, Frame, Node, Scenario};

use crate::components::Component;
use crate::error::WatchError;
use crate::frames::application;
use crate::options::WatchOptions;

/// Resolution of the Timestamp of a message, a DateTime (OPC 10000-6, 5.2.2.5).
const TIMESTAMP_RESOLUTION: Duration = Duration::from_nanos(100);

/// The bounds of a scenario, under the sound model.
pub(crate) struct ScenarioTimes<'a> {
    scenario: &'a Scenario,
    bounds: ScenarioBounds,
}

impl<'a> ScenarioTimes<'a> {
    pub(crate) fn of(scenario: &'a Scenario, options: &WatchOptions) -> Result<Self, WatchError> {
        let bounds = scenario_bounds_with(
            scenario,
            // The model of the paper is not sound, whatever the scenario says.
            BoundsModel::Sound,
            options.realisation,
            &scenario.bounds.analyses,
            &mut |_, _| {},
        )?;
        Ok(Self { scenario, bounds })
    }

    /// Returns the description of a component's flow.
    pub(crate) fn describe(
        &self,
        component: &Component,
        source: FlowSource,
        longest_message: usize,
        options: &WatchOptions,
    ) -> Result<FlowDescription, WatchError> {
        let scenario = self.scenario;
        let unknown = || WatchError::NoFlow {
            component: component.name.clone(),
            identity: String::new(),
            known: Vec::new(),
        };
        let found = application(scenario, source).ok_or_else(unknown)?;
        let (publisher, receiver) = (found.publisher, found.receiver.node());
        let (from, to) = match source {
            FlowSource::Return(_) => (receiver, publisher),
            FlowSource::Publish(_) | FlowSource::Cross(_) => (publisher, receiver),
        };
        let node = |index: takt_scenario::NodeIndex| scenario.nodes.get(index.0);
        let (sender, receiver) = (
            node(from).ok_or_else(unknown)?,
            node(to).ok_or_else(unknown)?,
        );
        let is_receiving = component.direction == FlowDirection::Receiving;
        let mut reservations = self.reservations(source);
        reservations.extend(never_late(sender));
        if is_receiving {
            reservations.extend(never_late(receiver));
        }
        if !reservations.is_empty() && !options.allow_unproven {
            return Err(WatchError::Unproven {
                component: component.name.clone(),
                flow: scenario.flow_name(source),
                reasons: reservations,
            });
        }
        let clocks = match (component.stays_on_host(), options.clocks_within) {
            (true, _) => Some(CommonClock::SameHost),
            (false, stated) => stated.map(CommonClock::Stated),
        };
        let times = self.bounds.one_way(scenario, source, Frame::SHORTEST);
        let times = times.as_ref().filter(|_| is_receiving);
        let latency = &receiver.wake_up_latency;
        let jitter = times.and_then(|times| duration(&times.jitter));
        let delay = times.and_then(|times| duration(&times.delay));
        // With a txtime, the message is made that much before it is sent, and has its Timestamp then.
        let ahead = nanos(found.txtime.unwrap_or_default());
        let error = clocks.map_or(Duration::ZERO, CommonClock::error);
        let after_link = ahead + most(latency) + TIMESTAMP_RESOLUTION + error;
        Ok(FlowDescription {
            name: scenario.flow_name(source),
            component: component.name.clone(),
            direction: component.direction,
            longest_message,
            cycle: times
                .and_then(|times| duration(&seen_by(receiver, &times.cycle)))
                .unwrap_or(nanos(found.cycle)),
            delay: delay.map(|delay| delay + after_link),
            is_cyclic: component.is_cyclic,
            // A thread that is late delays one message, and not the next one. A latency of the scenario is taken as the longest one, also if
            // the scenario has one value only: real threads are sometimes in time.
            interval: jitter.map(|jitter| jitter + least(&sender.wake_up_latency) + most(latency)),
            sending: (!is_receiving).then(|| most(&sender.wake_up_latency)),
            clocks: clocks.filter(|_| is_receiving),
            reservations,
            share: options.share,
        })
    }

    /// Returns the reasons why the bounds of a flow may not hold.
    fn reservations(&self, source: FlowSource) -> Vec<String> {
        let mut reasons: Vec<String> = self
            .bounds
            .broken
            .iter()
            .map(|it| (*it).to_owned())
            .collect();
        let times = self.bounds.one_way(self.scenario, source, Frame::SHORTEST);
        let is_finite = times.is_some_and(|times| times.delay.finite().is_some());
        if !is_finite {
            // The reason is that of its application, there and back together.
            let first = match source {
                FlowSource::Return(id) => FlowSource::Publish(id),
                other => other,
            };
            let flows = self.bounds.flows.iter();
            let mut infinite = flows
                .filter(|flow| flow.source == first)
                .filter_map(|flow| flow.infinite.as_ref());
            reasons.push(match infinite.next() {
                Some(why) => format!("its delay has no bound: {why}"),
                None => "no analysis bounds its delay".to_owned(),
            });
        }
        reasons
    }
}

/// Returns a reservation about threads that are never late, which threads are not.
fn never_late(node: &Node) -> Option<String> {
    let is_never_late = most(&node.wake_up_latency).is_zero();
    is_never_late.then(|| {
        format!(
            "the scenario says that threads on {} are never late (wake_up_latency is 0)",
            node.name
        )
    })
}

/// Returns a time as the clock of a node counts it.
fn seen_by(node: &Node, seconds: &Rational) -> Extended {
    let billionths = 1_000_000_000i64.saturating_add(node.clock.drift.billionths());
    let speed = Rational::from_parts(billionths.max(1).into(), 1_000_000_000u32.into());
    Extended::Finite(seconds * speed)
}

fn most(latency: &Distribution) -> Duration {
    nanos(latency.most())
}

fn least(latency: &Distribution) -> Duration {
    nanos(latency.least())
}

/// Converts a time of a scenario, rounded up.
fn nanos(time: takt_scenario::Duration) -> Duration {
    Duration::from_nanos(time.picos().div_ceil(1000))
}

/// Converts a bound, rounded up; `None` if it is infinite or longer than any time.
fn duration(seconds: &Extended) -> Option<Duration> {
    let nanos = (seconds.finite()? * Rational::from(1_000_000_000u32)).ceil();
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}
