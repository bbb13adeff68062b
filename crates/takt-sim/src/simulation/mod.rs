//! The simulation: it processes one event after the other.

mod counting;
mod network;
mod traffic;

use takt_scenario::{FlowSource, Scenario};

use crate::Time;
use crate::application::{Cycles, Departure, Generator};
use crate::build::{self, Forwarding};
use crate::calendar::Calendar;
use crate::discipline::{Drops, Packet};
use crate::frames::{Frame, Frames};
use crate::notes::Notes;
use crate::observer::Observer;
use crate::options::RunOptions;
use crate::port::Port;
use crate::statistics::{ApplicationStatistics, FlowStatistics};
use crate::subscriber_thread::SubscriberThread;

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A frame comes to its next port.
    Enqueue(u32),
    /// A frame arrives.
    Deliver(u32),
    /// A loopback has verified a message.
    Verified(u32),
    /// A port requested to act now.
    Ask(u32),
    /// A message is published.
    Publish(u32),
    /// The user thread of a loopback runs.
    UserThread(u32),
    /// Cross traffic sends.
    Generate(u32),
}

#[derive(Debug)]
struct Way {
    source: FlowSource,
    /// Index of its first port in the list of all ways.
    first: u32,
    hops: u16,
    packet: Packet,
    lead: Time,
    /// Number of counted frames that were given to the first port.
    sent: u64,
    /// Flows that begin as copies of this one, with the number of ports behind which a bridge makes the copy.
    forks: Vec<(u16, u32)>,
}

/// A Publisher.
#[derive(Debug)]
struct Publisher {
    flow: u32,
    counter: u64,
    departure: Departure,
    cycles: Cycles,
}

#[derive(Debug)]
struct Loopback {
    flow: u32,
    cycles: Cycles,
    /// Thread of the Publisher that receives what comes back.
    subscriber: SubscriberThread,
    /// Time for which a received message is verified, at both ends.
    verify: Time,
    /// Frames that came since the last user thread.
    inbox: Vec<u32>,
    /// Last frame that it sent.
    latest: Option<Frame>,
}

#[derive(Debug)]
struct Crossing {
    flow: u32,
    generator: Generator,
    counter: u64,
    frames: u32,
}

/// Time for which frames may wait after the last publication: a shaper without a slope keeps them for ever.
const PATIENCE: Time = Time::microseconds(60_000_000);

/// A scenario that runs. No memory is allocated between events after the number of frames in transit has reached its maximum.
#[derive(Debug)]
pub struct Simulation {
    options: RunOptions,
    calendar: Calendar<Event>,
    now: Time,
    events: u64,
    frame_events: u64,
    frames: Frames,
    ports: Vec<Port>,
    forwarding: Vec<Forwarding>,
    ways: Vec<Way>,
    passed: Vec<u32>,
    /// Publisher of each application.
    publishers: Vec<Publisher>,
    loopbacks: Vec<Option<Loopback>>,
    crossings: Vec<Crossing>,
    publishing: usize,
    user_threads: usize,
    /// Number of frames that a user thread has yet to take.
    inboxed: usize,
    /// Time at which waiting frames are given up.
    end: Time,
    drops: Drops,
    notes: Notes,
    flow_statistics: Vec<FlowStatistics>,
    application_statistics: Vec<ApplicationStatistics>,
}

/// Results of a simulation.
#[derive(Debug)]
pub struct Results {
    /// Simulated time.
    pub simulated: Time,
    /// Number of events.
    pub events: u64,
    /// Number of events at which a frame came to a port, left it, or arrived.
    pub frame_events: u64,
    /// Statistics of each flow, in the scenario's order.
    pub flows: Vec<FlowStatistics>,
    /// Statistics of each application.
    pub applications: Vec<ApplicationStatistics>,
}

impl Simulation {
    /// Makes a simulation of a scenario at time 0.
    pub fn new(scenario: &Scenario, options: RunOptions) -> Self {
        let flows = scenario.flows();
        // A histogram of two digits takes an eighth of the memory.
        let digits = if flows.len() > 100 { 2 } else { 3 };
        let mut passed = Vec::new();
        let mut ways = Vec::with_capacity(flows.len());
        let forks = build::forks(scenario);
        for ((index, flow), forks) in flows.iter().enumerate().zip(forks) {
            ways.push(Way {
                source: flow.source,
                first: number(passed.len()),
                hops: u16::try_from(flow.ports.len()).unwrap_or(u16::MAX),
                packet: Packet {
                    frame: 0,
                    flow: number(index),
                    length: flow.frame.l2(),
                    wire: flow.frame.physical(),
                    priority: flow.pcp,
                    txtime: None,
                },
                lead: build::lead(scenario, flow),
                sent: 0,
                forks,
            });
            passed.extend(flow.ports.iter().map(|port| number(port.0)));
        }
        let most_hops = ways.iter().map(|way: &Way| way.hops).max();
        let most_hops = most_hops.unwrap_or(0).into();
        let pairs = build::flows_of(scenario);
        let threads = build::applications(scenario, &options);
        let (mut publishers, mut loopbacks) = (Vec::new(), Vec::new());
        let ends = pairs.into_iter().zip(threads).zip(&scenario.applications);
        for (((flow, answer), threads), application) in ends {
            let mut cycles = threads.publisher;
            publishers.push(Publisher {
                flow: number(flow),
                counter: 0,
                departure: cycles.publish(),
                cycles,
            });
            let loopback = answer.zip(threads.loopback);
            loopbacks.push(loopback.map(|(flow, (cycles, subscriber))| Loopback {
                flow: number(flow),
                cycles,
                subscriber,
                verify: application.security.verify.into(),
                inbox: Vec::new(),
                latest: None,
            }));
        }
        let cross = (0..)
            .zip(flows)
            .filter(|(_, flow)| matches!(flow.source, FlowSource::Cross(_)));
        let crossings =
            cross
                .zip(build::generators(scenario, &options))
                .map(|((flow, _), generator)| Crossing {
                    flow,
                    generator,
                    counter: 0,
                    frames: 0,
                });
        let mut simulation = Self {
            calendar: Calendar::new(),
            now: Time::ZERO,
            events: 0,
            frame_events: 0,
            frames: Frames::new(most_hops),
            ports: build::ports(scenario, &options),
            forwarding: build::forwarding(scenario, &options),
            ways,
            notes: Notes::new(flows.len(), passed.len()),
            passed,
            publishing: publishers.len(),
            user_threads: 0,
            inboxed: 0,
            end: Time::MAX,
            publishers,
            loopbacks,
            crossings: crossings.collect(),
            drops: Drops::new(),
            flow_statistics: flows
                .iter()
                .map(|flow| FlowStatistics::new(digits, flow.ports.len()))
                .collect(),
            application_statistics: scenario
                .applications
                .iter()
                .map(|it| ApplicationStatistics::new(digits, it.receiver.nodes().len()))
                .collect(),
            options,
        };
        simulation.begin();
        simulation
    }

    fn begin(&mut self) {
        for (index, publisher) in self.publishers.iter().enumerate() {
            self.calendar
                .push(publisher.departure.at, Event::Publish(number(index)));
            if let Some(loopback) = &mut self.loopbacks[index] {
                let time = loopback.cycles.user_thread();
                self.calendar.push(time, Event::UserThread(number(index)));
                self.user_threads += 1;
            }
        }
        for index in 0..self.crossings.len() {
            self.plan_crossing(index);
        }
    }

    /// Runs until nothing is published any more and no frame can move.
    pub fn run(mut self, observer: &mut impl Observer) -> Results {
        // At the end only user threads are left, which wait for messages for ever.
        while self.publishing > 0 || self.inboxed > 0 || self.calendar.len() > self.user_threads {
            let Some((now, event)) = self.calendar.pop() else {
                break;
            };
            if now > self.end {
                break;
            }
            self.now = now;
            self.events += 1;
            match event {
                Event::Enqueue(frame) => self.enqueue(frame, observer),
                Event::Deliver(frame) => self.deliver(frame, observer),
                Event::Verified(frame) => self.take(frame),
                Event::Ask(port) => {
                    if self.ports[port as usize].is_asked(now) {
                        self.act(port, observer);
                    }
                }
                Event::Publish(application) => self.publish(application as usize, observer),
                Event::UserThread(application) => self.user_thread(application as usize, observer),
                Event::Generate(crossing) => self.generate(crossing as usize, observer),
            }
        }
        self.count_all();
        Results {
            simulated: self.now,
            events: self.events,
            frame_events: self.frame_events,
            flows: self.flow_statistics,
            applications: self.application_statistics,
        }
    }

    fn is_over(&self) -> bool {
        self.options.duration.is_some_and(|end| self.now >= end)
    }

    /// Returns true if a message is counted: those at both ends are not.
    fn is_counted(&self, counter: u64) -> bool {
        let (cycles, trim) = (self.options.simulation.cycles, self.options.simulation.trim);
        counter >= trim && counter < cycles.saturating_sub(trim)
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
