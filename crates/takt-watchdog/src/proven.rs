//! Times that a scenario proves for its flows.

use std::time::Duration;

use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds_with};
use takt_pubsub::monitor::{CommonClock, FlowDescription, FlowDirection};
use takt_scenario::{
    Application, BoundsModel, Distribution, FlowSource, Frame, Node, NodeIndex, PortIndex, Scenario,
};

use crate::components::Component;
use crate::error::WatchError;
use crate::matching::MatchedFlow;
use crate::options::WatchOptions;

/// Resolution of the Timestamp of a message, a DateTime (OPC 10000-6, 5.2.2.5).
const TIMESTAMP_RESOLUTION: Duration = Duration::from_nanos(100);

/// Times of messages that are received: what is proven of them.
#[derive(Debug, Default)]
struct ReceivedTimes {
    delay: Option<Duration>,
    interval: Option<Duration>,
    cycle: Option<Duration>,
}

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

    /// Returns the description of a component's flow. If it has several ways, the times are those that hold on each of them.
    pub(crate) fn describe(
        &self,
        component: &Component,
        flow: &MatchedFlow,
        longest_message: usize,
        options: &WatchOptions,
    ) -> Result<FlowDescription, WatchError> {
        let unknown = || WatchError::NoFlow {
            component: component.name.clone(),
            identity: String::new(),
            known: Vec::new(),
        };
        let application = flow.application(self.scenario).ok_or_else(unknown)?;
        let is_receiving = component.direction == FlowDirection::Receiving;
        let mut reservations: Vec<String> = Vec::new();
        for way in &flow.ways {
            let (sender, receiver) = self.ends(*way).ok_or_else(unknown)?;
            let mut new = self.reservations(*way);
            new.extend(never_late(sender));
            if is_receiving {
                new.extend(never_late(receiver));
            }
            new.retain(|reason| !reservations.contains(reason));
            reservations.append(&mut new);
        }
        if !reservations.is_empty() && !options.allow_unproven {
            return Err(WatchError::Unproven {
                component: component.name.clone(),
                flow: flow.name.clone(),
                reasons: reservations,
            });
        }
        let clocks = match (component.stays_on_host(), options.clocks_within) {
            (true, _) => Some(CommonClock::SameHost),
            (false, stated) => stated.map(CommonClock::Stated),
        };
        let first = *flow.ways.first().ok_or_else(unknown)?;
        let (sender, _) = self.ends(first).ok_or_else(unknown)?;
        let mut description = FlowDescription {
            name: flow.name.clone(),
            component: component.name.clone(),
            direction: component.direction,
            longest_message,
            cycle: nanos(application.cycle),
            is_cyclic: component.is_cyclic,
            delay: None,
            interval: None,
            // The message is protected before the link has it.
            sending: (!is_receiving)
                .then(|| most(&sender.wake_up_latency) + nanos(application.security.protect)),
            clocks: clocks.filter(|_| is_receiving),
            reservations,
            share: options.share,
        };
        if !is_receiving {
            return Ok(description);
        }
        let error = clocks.map_or(Duration::ZERO, CommonClock::error);
        let times: Vec<ReceivedTimes> = flow
            .ways
            .iter()
            .map(|way| self.received(application, *way, error))
            .collect();
        let longest = |of: fn(&ReceivedTimes) -> Option<Duration>| {
            let each: Option<Vec<Duration>> = times.iter().map(of).collect();
            each.and_then(|each| each.into_iter().max())
        };
        description.delay = longest(|times| times.delay);
        description.interval = longest(|times| times.interval);
        description.cycle = longest(|times| times.cycle).unwrap_or(description.cycle);
        Ok(description)
    }

    /// Returns the nodes of sender and receiver.
    fn ends(&self, way: FlowSource) -> Option<(&'a Node, &'a Node)> {
        let flow = self.scenario.flow(way)?;
        let port = |id: &PortIndex| self.scenario.ports.get(id.0);
        let (first, last) = (port(flow.ports.first()?)?, port(flow.ports.last()?)?);
        let node = |id: NodeIndex| self.scenario.nodes.get(id.0);
        Some((node(first.node)?, node(last.to)?))
    }

    /// Returns the times of messages that come on a way. `error` is the greatest difference of the clocks.
    fn received(
        &self,
        application: &Application,
        way: FlowSource,
        error: Duration,
    ) -> ReceivedTimes {
        let times = self.bounds.one_way(self.scenario, way, Frame::SHORTEST);
        let (Some(times), Some((sender, receiver))) = (times, self.ends(way)) else {
            return ReceivedTimes::default();
        };
        let latency = most(&receiver.wake_up_latency);
        // With a txtime, the message is made that much before it is sent, and has its Timestamp then.
        let ahead = nanos(application.txtime.unwrap_or_default());
        let after_link = ahead + latency + TIMESTAMP_RESOLUTION + error;
        ReceivedTimes {
            delay: duration(&times.delay).map(|delay| delay + after_link),
            // A thread that is late delays one message, and not the next one. A latency of the scenario is taken as the longest one, also
            // if the scenario has one value only: real threads are sometimes in time.
            interval: duration(&times.jitter)
                .map(|jitter| jitter + least(&sender.wake_up_latency) + latency),
            cycle: duration(&seen_by(receiver, &times.cycle)),
        }
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
