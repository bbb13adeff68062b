//! Applications that know the gates: the time in the cycle of gates at which a message is sent is known, and so is the window for
//! which the message waits at each hop. It is here, beside the other analyses of a scenario, because those take each window at
//! its worst phase.

use takt_scenario::{Application, Flow, FlowSource, Scenario};

use super::loopback::{Range, missed_publishers, publisher};
use super::quantities::{seconds, sender, way_back};
use super::sound::Mapping;
use crate::Rational;
use crate::curve::Extended;
use crate::port::{PortNetwork, PortNetworkError, ReleaseTimes, Scheduled, Stream};

/// The way of each flow alone. The ways there and back are separate, since a loopback sends by its own cycle.
pub(super) struct Ways<'a> {
    pub(super) flows: Vec<&'a Flow>,
    pub(super) streams: Vec<Stream>,
}

/// Delays that follow from the schedule, for each flow.
pub(super) struct Delays {
    /// From sending to the end of the way, or the reason why it is not known. With a loopback it is the delay there and back.
    pub(super) flows: Vec<Result<Extended, String>>,
    /// From the first port's queue to the end of the last link, each way by itself. `None` if it is not known.
    pub(super) ways: Vec<Option<Extended>>,
}

/// Returns the delays if the gates of all ports have one cycle, and the cycles of the applications are multiples of it.
pub(super) fn delays(mapping: &Mapping<'_>, ways: &Ways<'_>) -> Result<Delays, PortNetworkError> {
    let scenario = mapping.scenario;
    let all = |why: &str| {
        Ok(Delays {
            flows: vec![Err(why.to_owned()); ways.flows.len()],
            ways: vec![None; ways.flows.len()],
        })
    };
    let mut cycles = scenario
        .ports
        .iter()
        .filter_map(|port| Some(port.discipline.scheduler.gates()?.cycle_time));
    let Some(cycle) = cycles.next().map(seconds) else {
        return all("there are no gates");
    };
    if scenario
        .nodes
        .iter()
        // With drift, a message comes at another time of the gates' cycle each time.
        .any(|node| node.clock.drift.billionths() != 0)
    {
        return all("the clocks of nodes drift");
    }
    let offsets = scenario
        .nodes
        .iter()
        // Offsets in both directions count: the largest one bounds the error of all clocks.
        .map(|node| node.clock.offset.picos().unsigned_abs());
    let error = offsets.max().unwrap_or(0);
    let error = Rational::from_parts(error.into(), 1_000_000_000_000u64.into());
    let mut releases: Vec<Option<ReleaseTimes>> = ways
        .flows
        .iter()
        .map(|flow| release(scenario, flow, &cycle))
        .collect();
    let network = PortNetwork::new(mapping.ports.clone(), ways.streams.clone())?;
    // A release is one frame in each cycle. A loopback that may take the messages of two cycles at once sends two: its times are
    // then unknown. As long as every loopback has sent one in each cycle, the messages come to it as found here, so that what
    // holds for the messages found here holds for all.
    let found = loop {
        let found = network.scheduled(&releases, &error);
        let sends_one = |back: &Flow| {
            let there = ways.flows.iter().position(|there| {
                way_back(scenario, there.source).map(|back| back.source) == Some(back.source)
            });
            let there =
                there.and_then(|there| Some((ways.flows[there], found[there].as_ref().ok()?)));
            there.is_some_and(|(flow, there)| takes_one(scenario, flow, there, &error))
        };
        let backs = ways.flows.iter().zip(&mut releases);
        let unknown = backs.filter_map(|(flow, release)| {
            let is_back = matches!(flow.source, FlowSource::Return(_));
            (is_back && release.is_some() && !sends_one(flow)).then_some(release)
        });
        let unknown: Vec<&mut Option<ReleaseTimes>> = unknown.collect();
        if unknown.is_empty() {
            break found;
        }
        // Each round takes at least one release away, so the rounds end.
        for release in unknown {
            *release = None;
        }
    };
    let of = |flow: &Flow| -> Result<&Scheduled, String> {
        let index = ways
            .flows
            .iter()
            .position(|other| other.source == flow.source);
        let found = index.and_then(|index| found.get(index));
        match found {
            Some(Ok(scheduled)) => Ok(scheduled),
            Some(Err(why)) => Err(mapping.not_scheduled(why)),
            None => Err("its path is unknown".to_owned()),
        }
    };
    let delays = ways.flows.iter().map(|flow| {
        let out = of(flow)?;
        let Some(application) = application(scenario, flow) else {
            return Ok(Extended::Finite(out.delay.clone()));
        };
        let arrival = late(scenario, flow, application).least + &out.delay + &error;
        let Some(back) = way_back(scenario, flow.source) else {
            return Ok(Extended::Finite(arrival));
        };
        let cycles = cycles_until_sent(scenario, application, &arrival, &error);
        let returned = late(scenario, back, application).least + &of(back)?.delay;
        Ok(Extended::Finite(cycles + returned + &error))
    });
    // A frame can come earlier than its release by the error of a clock.
    let from_queue = |flow: &&Flow| {
        let scheduled = of(flow).ok()?;
        Some(Extended::Finite(&scheduled.delay + &error))
    };
    Ok(Delays {
        flows: delays.collect(),
        ways: ways.flows.iter().map(from_queue).collect(),
    })
}

fn application<'s>(scenario: &'s Scenario, flow: &Flow) -> Option<&'s Application> {
    let id = flow.source.application()?;
    scenario.applications.get(id.0)
}

/// Returns the lateness of a message at the node where a flow begins.
fn late(scenario: &Scenario, flow: &Flow, application: &Application) -> Range {
    publisher(application, &scenario.nodes[sender(flow, application).0])
}

/// Times in the cycle of gates at which a flow's frames come; `None` if they are not known.
fn release(scenario: &Scenario, flow: &Flow, gates: &Rational) -> Option<ReleaseTimes> {
    let application = application(scenario, flow)?;
    let cycles = seconds(application.cycle) / gates;
    // Otherwise messages come several times in a cycle of the gates, or not always at the same time of it.
    if cycles < Rational::ONE || cycles.clone().fract() != Rational::ZERO {
        return None;
    }
    let late = late(scenario, flow, application);
    let sent = seconds(application.sending_time());
    let before = Rational::from((&sent / gates).floor()) * gates;
    Some(ReleaseTimes {
        offset: sent - before + &late.least,
        jitter: late.most - late.least,
    })
}

/// Returns true if all messages that come to a loopback by this schedule wait for the same cycle of it: no user thread runs while
/// they may come. If they come at exactly the time of a thread, and never at another time, then it takes all of them or none.
fn takes_one(scenario: &Scenario, flow: &Flow, there: &Scheduled, error: &Rational) -> bool {
    let Some(application) = application(scenario, flow) else {
        return false;
    };
    let Some(node) = application.receiver.loopback() else {
        return false;
    };
    let node = &scenario.nodes[node.0];
    let cycle = seconds(application.cycle);
    let user = &cycle * super::loopback::part(application.phases.user);
    // The thread of a cycle may be late, and then takes what has come until then.
    let latest = seconds(application.sending_time())
        + late(scenario, flow, application).least
        + &there.delay
        + seconds(application.security.verify)
        + error * Rational::from(2)
        - user;
    let earliest =
        &latest - &there.jitter - error * Rational::from(4) - seconds(node.wake_up_latency.most());
    let threads = |time: Rational| {
        let cycles = time / &cycle;
        (cycles.ceil(), cycles.floor())
    };
    threads(earliest) == threads(latest) && missed_publishers(application, node).is_zero()
}

/// Returns the time from when a message is sent until the loopback sends it again, by the cycles of both: messages that come
/// before the user thread of a cycle are sent at the same time of that cycle. A message that comes exactly when the thread runs may
/// miss it.
fn cycles_until_sent(
    scenario: &Scenario,
    application: &Application,
    arrival: &Rational,
    error: &Rational,
) -> Rational {
    let cycle = seconds(application.cycle);
    let user = &cycle * super::loopback::part(application.phases.user);
    let verified = seconds(application.security.verify);
    let at = seconds(application.sending_time()) + arrival + verified + error - user;
    let next = Rational::from((at / &cycle).floor()) + Rational::ONE;
    let missed = match application.receiver.loopback() {
        Some(node) => missed_publishers(application, &scenario.nodes[node.0]),
        None => Rational::ZERO,
    };
    next.max(Rational::ZERO) * &cycle + missed
}
