//! The paper's model of a scenario: a Credit-Based Shaper at each port, one application in its class, Total Flow Analysis. It is
//! here, beside the sound model, because `model = "paper"` reproduces the paper's numbers from scenario files.

use takt_scenario::{
    Analysis, Distribution, Duration, Flow, FlowSource, MessageSecurity, Part, PortIndex, Scenario,
    Scheduler,
};

use super::bounds::{FlowBound, QueueBound, ScenarioBounds};
use super::error::ScenarioBoundsError;
use super::loopback::loopback;
use super::quantities::{bits_per_second, class_at, seconds, way_back};
use super::reason::{Infinite, names};
use crate::cbs::{ShapedPort, bit_by_bit, in_a_row};
use crate::curve::{Curve, Extended};
use crate::port::LoopbackStage;
use crate::{CreditBasedShaper, FrameBits, Rational};

const ASSUMPTIONS: &[&str] = &[
    "arrivals count bits of L2 frames, idleSlopes bits on the wire: each port is given capacity that it does not have",
    "no frame of lower priority delays a frame",
    "bridges forward each bit at once, not complete frames",
    "messages leave the loopback as from a new Publisher: the variation of their delay is left out",
    "the class has one flow; other traffic of the scenario is left out",
    "links, bridges and threads take no time",
];

/// Returns the bounds of applications; cross traffic is not in the paper's model.
pub(super) fn bounds(scenario: &Scenario) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let mut result = ScenarioBounds {
        flows: Vec::new(),
        queues: Vec::new(),
        ways: Vec::new(),
        ways_from_first_bit: Vec::new(),
        scheduled_ways: Vec::new(),
        assumptions: ASSUMPTIONS.to_vec(),
        broken: Vec::new(),
    };
    for flow in scenario.flows() {
        if let FlowSource::Publish(id) | FlowSource::Branch(id, _) = flow.source {
            let mut application = scenario.applications[id.0].clone();
            let receiver = application.receiver.loopback();
            let node = &scenario.nodes[receiver.unwrap_or(application.publisher).0];
            let mut ideal = node.clone();
            // Threads take no time in the paper's model.
            ideal.wake_up_latency = Distribution::Constant(Duration::ZERO);
            application.security = MessageSecurity::default();
            let held = loopback(&application, &ideal, &ideal);
            let trunk = flow.fork.and_then(|fork| {
                let mut flows = result.flows.iter();
                let trunk = flows.find(|known| known.source == fork.of)?;
                trunk.queues.get(..fork.shared).map(<[usize]>::to_vec)
            });
            let bound = one(
                scenario,
                flow,
                &held,
                &trunk.unwrap_or_default(),
                &mut result.queues,
            )?;
            result.flows.push(bound);
        }
    }
    Ok(result)
}

/// Returns the bound of a flow. `trunk` are the queues at its beginning that are those of another flow.
fn one(
    scenario: &Scenario,
    flow: &Flow,
    held: &LoopbackStage,
    trunk: &[usize],
    queues: &mut Vec<QueueBound>,
) -> Result<FlowBound, ScenarioBoundsError> {
    let back = way_back(scenario, flow.source);
    let ways = [Some(flow), back];
    let mut delay = Extended::ZERO;
    let mut least = Rational::ZERO;
    let mut passed = Vec::new();
    let mut infinite = None;
    if back.is_some() {
        delay = Extended::Finite(held.most.clone());
        least += &held.least;
    }
    for way in ways.into_iter().flatten() {
        let link =
            |port: &PortIndex| bits_per_second(scenario.links[scenario.ports[port.0].link.0].rate);
        let Some(first) = way.ports.first() else {
            continue;
        };
        let message = way.frame.l2_bits();
        let shapers = way
            .ports
            .iter()
            .map(|port| shaper(scenario, way, *port, &link(port)));
        let shapers: Vec<CreditBasedShaper> = shapers.collect::<Result<_, _>>()?;
        let published = bit_by_bit(&message, &seconds(way.interval), &link(first))?;
        let (ports, _) = in_a_row(published, shapers, |output| output)?;
        for (port, bounds) in way.ports.iter().zip(ports) {
            least += &message / link(port);
            delay = delay.sum(&bounds.delay);
            if let Some(known) = trunk.get(passed.len()) {
                infinite.clone_from(&queues[*known].infinite);
                passed.push(*known);
                continue;
            }
            passed.push(queues.len());
            let queue = queue_bound(scenario, *port, class_at(scenario, way, *port), bounds);
            // `in_a_row` ends at the first infinite delay, so only the last queue can have a reason.
            infinite.clone_from(&queue.infinite);
            queues.push(queue);
        }
        // The sum stays infinite, and arrivals behind this queue are not known.
        if infinite.is_some() {
            break;
        }
    }
    Ok(FlowBound {
        name: scenario.flow_name(flow.source),
        source: flow.source,
        round_trip: back.is_some(),
        answers: vec![(Analysis::TotalFlow, Ok(delay.clone()))],
        jitter: delay.plus(&-&least),
        best_case: least,
        application_round_trip: None,
        from_queue: delay.clone(),
        from_first_bit: None,
        needs_phases: false,
        delay,
        infinite,
        queues: passed,
    })
}

fn queue_bound(
    scenario: &Scenario,
    port: PortIndex,
    class: usize,
    bounds: ShapedPort,
) -> QueueBound {
    let (port_name, class_name) = names(scenario, port, class);
    let rate = |curve: &Curve| {
        let rate = curve.long_term_rate();
        rate.map_or(Extended::Infinity, |rate| Extended::Finite(rate.clone()))
    };
    let is_infinite = bounds.delay == Extended::Infinity;
    let infinite = is_infinite.then(|| {
        let (arrival, service) = (rate(&bounds.arrival), rate(&bounds.service));
        Infinite::overload(port_name.clone(), class_name.clone(), &arrival, &service)
    });
    QueueBound {
        port,
        class,
        port_name,
        class_name,
        arrival: bounds.arrival,
        service: bounds.service,
        shortest: Rational::ZERO,
        link_rate: bits_per_second(scenario.links[scenario.ports[port.0].link.0].rate),
        keeps_order: true,
        delay: bounds.delay,
        backlog: bounds.backlog,
        utilisation: bounds.utilisation,
        infinite,
    }
}

fn shaper(
    scenario: &Scenario,
    flow: &Flow,
    port: PortIndex,
    link: &Rational,
) -> Result<CreditBasedShaper, ScenarioBoundsError> {
    let class = class_at(scenario, flow, port);
    let discipline = &scenario.ports[port.0].discipline;
    let not_modelled = |what: &str| {
        let (port_name, class_name) = names(scenario, port, class);
        ScenarioBoundsError::NotModelled {
            place: format!("{port_name}, class {class_name}"),
            what: what.to_owned(),
            part: Part::Class { port, class },
        }
    };
    let Some(shaper) = discipline
        .classes
        .get(class)
        .and_then(|class| class.queue.shaper())
    else {
        return Err(not_modelled(
            "the paper's model has Credit-Based Shapers only; `model = \"sound\"` has all disciplines",
        ));
    };
    if discipline.scheduler != Scheduler::Mqprio || class != 0 {
        return Err(not_modelled(
            "the paper's model has the highest class below mqprio only",
        ));
    }
    let others = scenario.flows().iter().filter(|other| {
        other.own_ports().contains(&port) && class_at(scenario, other, port) == class
    });
    if others.count() > 1 {
        return Err(not_modelled("the paper's model has one flow in a class"));
    }
    // As in the paper: bits of L2 frames, and no frame of lower priority. `ASSUMPTIONS` tells the user.
    let (message, none) = (flow.frame.l2_bits(), Rational::ZERO);
    Ok(CreditBasedShaper::new(
        bits_per_second(shaper.idle_slope),
        link.clone(),
        message,
        none,
    )?)
}
