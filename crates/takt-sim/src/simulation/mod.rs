//! What happens, one event after the other.

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
use crate::options::Options;
use crate::port::Port;
use crate::statistics::{ApplicationStatistics, FlowStatistics};

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A frame comes to its next port.
    Enqueue(u32),
    /// A frame arrives.
    Deliver(u32),
    /// A port asked to be asked.
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
    /// Where its ports begin in the list of all ways.
    first: u32,
    hops: u16,
    packet: Packet,
    lead: Time,
    /// Frames that were given to the first port and count.
    sent: u64,
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
    /// Frames that came since the last user thread.
    inbox: Vec<u32>,
    /// What it sent last.
    latest: Option<Frame>,
}

#[derive(Debug)]
struct Crossing {
    flow: u32,
    generator: Generator,
    counter: u64,
    frames: u32,
}

/// How long frames may wait when nothing is published any more: a shaper without a slope keeps them for good.
const PATIENCE: Time = Time::microseconds(60_000_000);

/// A scenario that runs. Between events nothing is allocated, once there are as many frames under way as there will be.
#[derive(Debug)]
pub struct Simulation {
    options: Options,
    calendar: Calendar<Event>,
    now: Time,
    events: u64,
    frame_events: u64,
    frames: Frames,
    ports: Vec<Port>,
    forwarding: Vec<Forwarding>,
    ways: Vec<Way>,
    passed: Vec<u32>,
    /// Of each application.
    publishers: Vec<Publisher>,
    loopbacks: Vec<Option<Loopback>>,
    crossings: Vec<Crossing>,
    publishing: usize,
    user_threads: usize,
    /// Frames that a user thread has yet to take.
    inboxed: usize,
    /// When frames that are still waiting are given up.
    end: Time,
    drops: Drops,
    notes: Notes,
    flow_statistics: Vec<FlowStatistics>,
    application_statistics: Vec<ApplicationStatistics>,
}

/// What came of a simulation.
#[derive(Debug)]
pub struct Results {
    /// How long it lasted, in simulated time.
    pub simulated: Time,
    /// Events that happened.
    pub events: u64,
    /// Those of them at which a frame came to a port, left it, or arrived.
    pub frame_events: u64,
    /// Of each flow, in the scenario's order.
    pub flows: Vec<FlowStatistics>,
    /// Of each application.
    pub applications: Vec<ApplicationStatistics>,
}

impl Simulation {
    /// A simulation of a scenario at time 0.
    pub fn new(scenario: &Scenario, options: Options) -> Self {
        let flows = scenario.flows();
        // A histogram of two digits takes an eighth of the memory.
        let digits = if flows.len() > 100 { 2 } else { 3 };
        let mut passed = Vec::new();
        let mut ways = Vec::with_capacity(flows.len());
        for (index, flow) in flows.iter().enumerate() {
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
            });
            passed.extend(flow.ports.iter().map(|port| number(port.0)));
        }
        let most_hops = ways.iter().map(|way: &Way| way.hops).max();
        let most_hops = most_hops.unwrap_or(0).into();
        let pairs = build::flows_of(scenario);
        let cycles = build::applications(scenario, &options);
        let (mut publishers, mut loopbacks) = (Vec::new(), Vec::new());
        for ((flow, answer), (mut cycles, loopback)) in pairs.into_iter().zip(cycles) {
            publishers.push(Publisher {
                flow: number(flow),
                counter: 0,
                departure: cycles.publish(),
                cycles,
            });
            loopbacks.push(answer.zip(loopback).map(|(flow, cycles)| Loopback {
                flow: number(flow),
                cycles,
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
                .map(|_| ApplicationStatistics::new(digits))
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
        // What is left when nothing else is, are user threads that wait for messages for good.
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

    /// Messages at both ends are not counted.
    fn is_counted(&self, counter: u64) -> bool {
        let (cycles, trim) = (self.options.simulation.cycles, self.options.simulation.trim);
        counter >= trim && counter < cycles.saturating_sub(trim)
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
