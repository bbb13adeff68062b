//! Construction of the simulated parts from a scenario.

use std::collections::HashMap;

use takt_scenario::{Flow, FlowSource, LowerPriority, NodeIndex, PortIndex, Scenario};

use crate::application::{Cycles, Generator};
use crate::choice::Chooser;
use crate::discipline::QueueingDiscipline;
use crate::driver::Driver;
use crate::latency::Latency;
use crate::options::{Adversary, Model, RunOptions};
use crate::port::{Interference, Port};
use crate::subscriber_thread::SubscriberThread;
use crate::wake_up_latencies::distribution;
use crate::{
    ApplicationEnd, Choice, CyclicThread, LineRate, NodeClock, Random, Time, WakeUpLatencies,
};

/// Purposes of random numbers: each has streams of its own.
#[derive(Debug, Clone, Copy)]
enum Stream {
    CrossTraffic = 2,
    Forwarding = 3,
}

fn random(options: &RunOptions, stream: Stream, index: usize) -> Random {
    Random::new(options.simulation.seed, number(stream, index))
}

/// Returns the number of a stream.
const fn number(stream: Stream, index: usize) -> u64 {
    (index as u64) << 2 | stream as u64
}

/// Returns the seed of the forwarding delays of frames that leave a port, so that other programs can draw the same delays:
/// xoshiro256++ whose state is made from this seed by SplitMix64. The delay is the least one, plus the upper 64 bits of the product
/// of the next number and the number of possible picoseconds.
#[must_use]
pub fn forwarding_seed(port: PortIndex, seed: u64) -> u64 {
    Random::seed_of(seed, number(Stream::Forwarding, port.0))
}

/// Time that a bridge needs for frames from one port.
#[derive(Debug)]
pub(crate) struct Forwarding {
    least: Time,
    most: Time,
    chooser: Chooser,
    random: Option<Random>,
}

impl Forwarding {
    pub(crate) fn draw(&mut self) -> Time {
        if self.most == self.least {
            return self.least;
        }
        match &mut self.random {
            Some(random) => random.between(self.least, self.most),
            None => self.least + self.chooser.part(self.most - self.least),
        }
    }
}

pub(crate) fn clock(scenario: &Scenario, node: NodeIndex) -> NodeClock {
    let clock = scenario.nodes.get(node.0).map(|node| node.clock);
    let clock = clock.unwrap_or_default();
    NodeClock {
        offset: Time::picoseconds(clock.offset.picos()),
        drift: clock.drift.billionths(),
    }
}

pub(crate) fn ports(scenario: &Scenario, options: &RunOptions) -> Vec<Port> {
    let ports = (0..scenario.ports.len()).map(PortIndex);
    ports.map(|id| port(scenario, options, id)).collect()
}

fn port(scenario: &Scenario, options: &RunOptions, id: PortIndex) -> Port {
    let port = &scenario.ports[id.0];
    let link = &scenario.links[port.link.0];
    let rate = LineRate::new(link.rate.0);
    let clock = clock(scenario, port.node);
    let shift = options
        .adversary
        .as_ref()
        .and_then(|adversary| adversary.gates.get(id.0).copied());
    let shift = shift.unwrap_or_default();
    let discipline = QueueingDiscipline::new(&port.discipline, rate, clock, shift, options.model);
    let driver = (options.model == Model::Linux).then(|| {
        let gates = QueueingDiscipline::device_gates(&port.discipline, shift, options.model);
        let (classes, frames) = (discipline.classes(), options.driver_queue.max(1));
        Driver::new(&port.discipline, classes, frames, gates, rate)
    });
    let mut built = Port::new(
        discipline,
        rate,
        link.length.propagation().into(),
        clock,
        driver,
    );
    let choice = options
        .adversary
        .as_ref()
        .and_then(|adversary| adversary.interference.get(id.0));
    // Frames that gates keep away do not interfere.
    let is_gated = port.discipline.scheduler.gates().is_some();
    if let (Some(choice), LowerPriority::AtMost(frame), false) =
        (choice, scenario.bounds.lower_priority, is_gated)
    {
        built.interference = Some(Interference {
            longest: rate.duration(frame.physical()),
            chooser: Chooser::new(choice),
        });
    }
    built
}

pub(crate) fn forwarding(scenario: &Scenario, options: &RunOptions) -> Vec<Forwarding> {
    let choices = options
        .adversary
        .as_ref()
        .map(|adversary| &adversary.forwarding);
    let ports = scenario.ports.iter().enumerate();
    let of_port = |(index, port): (usize, &takt_scenario::Port)| {
        let node = &scenario.nodes[port.to.0];
        let choice = choices.and_then(|choices| choices.get(index));
        Forwarding {
            least: node.forwarding_delay_least.into(),
            most: node.forwarding_delay.into(),
            // Without a choice, `random` decides, and this chooser is never asked.
            chooser: Chooser::new(choice.unwrap_or(&Choice::Random(0))),
            random: choice
                .is_none()
                .then(|| random(options, Stream::Forwarding, index)),
        }
    };
    ports.map(of_port).collect()
}

/// The threads of an application.
pub(crate) struct Threads {
    pub(crate) publisher: Cycles,
    /// The loopback, and the Publisher's thread that receives what comes back; `None` if there is no loopback.
    pub(crate) loopback: Option<(Cycles, SubscriberThread)>,
}

/// Makes the threads of each application.
pub(crate) fn applications(scenario: &Scenario, options: &RunOptions) -> Vec<Threads> {
    let shift = |of: fn(&Adversary) -> &Vec<Time>, index: usize| {
        let adversary = options.adversary.as_ref();
        let shift = adversary.and_then(|adversary| of(adversary).get(index).copied());
        shift.unwrap_or_default()
    };
    let applications = scenario.applications.iter().enumerate();
    let late = |of: fn(&Adversary) -> &Vec<Choice>, index: usize| {
        let adversary = options.adversary.as_ref();
        adversary.and_then(|adversary| of(adversary).get(index))
    };
    let seed = options.simulation.seed;
    let build = |(index, application): (usize, &takt_scenario::Application)| {
        let latencies =
            |node, end, thread| WakeUpLatencies::of(scenario, node, index, (end, thread), seed);
        let cycles = |node: NodeIndex, end, shift, late: Option<&Choice>| {
            let threads = [CyclicThread::User, CyclicThread::Publisher]
                .map(|thread| latencies(node, end, thread));
            let chosen = late.map(|late| Latency::chosen(distribution(scenario, node), late));
            Cycles::new(application, clock(scenario, node), threads, shift).with_chosen(chosen)
        };
        let publisher = cycles(
            application.publisher,
            ApplicationEnd::Publisher,
            shift(|it| &it.publishers, index),
            late(|it| &it.late_publishers, index),
        );
        let loopback = application.receiver.loopback().map(|node| {
            let cycles = cycles(
                node,
                ApplicationEnd::Loopback,
                shift(|it| &it.loopbacks, index),
                late(|it| &it.late_loopbacks, index),
            );
            let talker = application.publisher;
            let subscriber = SubscriberThread::new(
                application,
                clock(scenario, talker),
                latencies(talker, ApplicationEnd::Publisher, CyclicThread::Subscriber),
                shift(|it| &it.publishers, index),
            );
            (cycles, subscriber)
        });
        Threads {
            publisher,
            loopback,
        }
    };
    applications.map(build).collect()
}

pub(crate) fn generators(scenario: &Scenario, options: &RunOptions) -> Vec<Generator> {
    let traffic = scenario.cross_traffic.iter().enumerate();
    traffic
        .map(|(index, traffic)| generator(scenario, options, index, traffic))
        .collect()
}

/// Returns the source of the flow of cross traffic with this index.
pub(crate) fn generator(
    scenario: &Scenario,
    options: &RunOptions,
    index: usize,
    traffic: &takt_scenario::CrossTraffic,
) -> Generator {
    let adversary = options.adversary.as_ref();
    let phase = adversary.and_then(|it| it.cross_traffic.get(index).copied());
    let random = random(options, Stream::CrossTraffic, index);
    Generator::new(traffic, clock(scenario, traffic.from), random, phase)
}

/// Returns the time between leaving the first port and the txtime, for frames of this flow.
pub(crate) fn lead(scenario: &Scenario, flow: &Flow) -> Time {
    let port = flow
        .ports
        .first()
        .and_then(|port| scenario.ports.get(port.0));
    let etf = port.and_then(|port| port.discipline.queue_of(flow.pcp)?.launch());
    // With offload, the hardware waits for the txtime itself.
    etf.filter(|etf| !etf.offload)
        .map_or(Time::ZERO, |etf| etf.delta.into())
}

/// Returns the flows that begin as copies of each flow, with the number of ports behind which a bridge makes the copy.
pub(crate) fn forks(scenario: &Scenario) -> Vec<Vec<(u16, u32)>> {
    let flows = scenario.flows();
    let mut forks = vec![Vec::new(); flows.len()];
    let index = (0..).zip(flows);
    let index: HashMap<FlowSource, usize> = index.map(|(at, flow)| (flow.source, at)).collect();
    for (copy, flow) in (0..).zip(flows) {
        if let Some(fork) = flow.fork
            && let Some(of) = index.get(&fork.of)
        {
            forks[*of].push((u16::try_from(fork.shared).unwrap_or(u16::MAX), copy));
        }
    }
    forks
}

/// Returns the flows of each application: that of published messages, and that of returned ones.
pub(crate) fn flows_of(scenario: &Scenario) -> Vec<(usize, Option<usize>)> {
    let mut found = vec![(0, None); scenario.applications.len()];
    for (index, flow) in scenario.flows().iter().enumerate() {
        match flow.source {
            FlowSource::Publish(id) => found[id.0].0 = index,
            FlowSource::Return(id) => found[id.0].1 = Some(index),
            FlowSource::Cross(_) | FlowSource::Branch(..) => {}
        }
    }
    found
}
