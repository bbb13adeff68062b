//! What happens, one event after the other.

use takt_scenario::{FlowSource, PortId, Scenario};

use crate::Time;
use crate::application::{Cycles, Departure, Generator};
use crate::build::{self, Forwarding};
use crate::calendar::Calendar;
use crate::discipline::{DropReason, Drops, Packet};
use crate::frames::{Frame, Frames};
use crate::observer::{Message, Observer, Outcome};
use crate::options::{Loopback, Options};
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
}

#[derive(Debug)]
struct Running {
    publish: u32,
    answer: Option<u32>,
    publisher: Cycles,
    loopback: Option<Cycles>,
    departure: Departure,
    counter: u64,
    finished: bool,
    /// Frames that came since the last user thread.
    inbox: Vec<u32>,
    /// What the loopback sent last.
    latest: Option<Frame>,
}

#[derive(Debug)]
struct Crossing {
    flow: u32,
    generator: Generator,
    counter: u64,
    frames: u32,
}

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
    applications: Vec<Running>,
    crossings: Vec<Crossing>,
    publishing: usize,
    user_threads: usize,
    /// Frames that a user thread has yet to take.
    inboxed: usize,
    drops: Drops,
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
            });
            passed.extend(flow.ports.iter().map(|port| number(port.0)));
        }
        let pairs = build::flows_of(scenario);
        let cycles = build::applications(scenario, &options);
        let applications =
            pairs
                .into_iter()
                .zip(cycles)
                .map(|((publish, answer), (mut publisher, loopback))| Running {
                    publish: number(publish),
                    answer: answer.map(number),
                    departure: publisher.publish(),
                    publisher,
                    loopback,
                    counter: 0,
                    finished: false,
                    inbox: Vec::new(),
                    latest: None,
                });
        let applications: Vec<Running> = applications.collect();
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
            frames: Frames::default(),
            ports: build::ports(scenario, &options),
            forwarding: build::forwarding(scenario, &options),
            ways,
            passed,
            publishing: applications.len(),
            user_threads: 0,
            inboxed: 0,
            applications,
            crossings: crossings.collect(),
            drops: Drops::new(),
            flow_statistics: flows
                .iter()
                .map(|flow| FlowStatistics::new(flow.ports.len(), digits))
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
        for index in 0..self.applications.len() {
            let application = &mut self.applications[index];
            self.calendar
                .push(application.departure.at, Event::Publish(number(index)));
            if let Some(loopback) = &mut application.loopback {
                let time = loopback.user_thread();
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

    fn publish(&mut self, index: usize, observer: &mut impl Observer) {
        let over = self.is_over();
        let cycles = self.options.simulation.cycles;
        let application = &mut self.applications[index];
        if over || application.counter >= cycles {
            application.finished = true;
            self.publishing -= 1;
            return;
        }
        let departure = application.departure;
        let (flow, counter) = (application.publish, application.counter);
        // The message is due when its port may send it.
        let lead = self.ways[flow as usize].lead;
        let due = departure
            .txtime
            .map(|txtime| application.publisher.global(txtime - lead));
        application.counter += 1;
        application.departure = application.publisher.publish();
        let next = application.departure.at;
        self.calendar.push(next, Event::Publish(number(index)));
        let counted = self.is_counted(counter);
        self.application_statistics[index].published += u64::from(counted);
        let published = due.map_or(self.now, |due| due.max(self.now));
        let frame = self.frames.insert(Frame {
            flow,
            hop: 0,
            counted,
            counter,
            published,
            departed: published,
            queued: published,
            txtime: departure.txtime,
        });
        self.enqueue(frame, observer);
    }

    fn user_thread(&mut self, index: usize, observer: &mut impl Observer) {
        let application = &mut self.applications[index];
        let (Some(loopback), Some(flow)) = (&mut application.loopback, application.answer) else {
            return;
        };
        let departure = loopback.answer(self.now);
        let next = loopback.user_thread();
        let lead = self.ways[flow as usize].lead;
        let due = departure.txtime.map_or(departure.at, |txtime| {
            loopback.global(txtime - lead).max(departure.at)
        });
        self.calendar.push(next, Event::UserThread(number(index)));
        let mut inbox = std::mem::take(&mut application.inbox);
        self.inboxed -= inbox.len();
        if self.options.loopback == Loopback::Latest {
            let last = inbox.pop();
            for place in inbox.drain(..) {
                let frame = *self.frames.get(place);
                self.application_statistics[index].overwritten += u64::from(frame.counted);
                self.frames.remove(place);
                observer.message(&self.message(&frame, Outcome::Overwritten));
            }
            match (last, self.applications[index].latest, self.publishing > 0) {
                (Some(last), _, _) => inbox.push(last),
                (None, Some(latest), true) => inbox.push(self.frames.insert(latest)),
                (None, _, _) => {}
            }
            self.applications[index].latest = inbox
                .last()
                .map(|place| *self.frames.get(*place))
                .or(self.applications[index].latest);
        }
        for place in inbox.drain(..) {
            let frame = self.frames.get(place);
            frame.flow = flow;
            frame.hop = 0;
            frame.departed = due;
            frame.queued = due;
            frame.txtime = departure.txtime;
            self.calendar.push(departure.at, Event::Enqueue(place));
        }
        self.applications[index].inbox = inbox;
    }

    fn plan_crossing(&mut self, index: usize) {
        let crossing = &mut self.crossings[index];
        let (at, frames) = crossing.generator.next();
        crossing.frames = frames;
        self.calendar.push(at, Event::Generate(number(index)));
    }

    fn generate(&mut self, index: usize, observer: &mut impl Observer) {
        let crossing = &mut self.crossings[index];
        // Alone, it sends as many frames as an application would.
        let alone =
            self.applications.is_empty() && crossing.counter < self.options.simulation.cycles;
        if self.options.duration.is_some_and(|end| self.now >= end)
            || (self.publishing == 0 && !alone)
        {
            return;
        }
        let (flow, frames, first) = (crossing.flow, crossing.frames, crossing.counter);
        crossing.counter += u64::from(frames);
        for counter in first..first + u64::from(frames) {
            let frame = self.frames.insert(Frame {
                flow,
                hop: 0,
                counted: true,
                counter,
                published: self.now,
                departed: self.now,
                queued: self.now,
                txtime: None,
            });
            self.enqueue(frame, observer);
        }
        self.plan_crossing(index);
    }

    /// A frame comes to a port, the first or the next.
    fn enqueue(&mut self, place: u32, observer: &mut impl Observer) {
        self.frame_events += 1;
        let frame = self.frames.get(place);
        let way = &self.ways[frame.flow as usize];
        let port = self.passed[way.first as usize + usize::from(frame.hop)];
        let mut packet = way.packet;
        packet.frame = place;
        if frame.hop == 0 {
            packet.txtime = frame.txtime;
            self.flow_statistics[frame.flow as usize].sent += u64::from(frame.counted);
        } else {
            frame.queued = self.now;
        }
        self.ports[port as usize].enqueue(packet, self.now, &mut self.drops);
        self.act(port, observer);
    }

    fn act(&mut self, index: u32, observer: &mut impl Observer) {
        let port = &mut self.ports[index as usize];
        let action = port.act(self.now, &mut self.drops);
        if let Some(time) = action.ask {
            self.calendar.push(time, Event::Ask(index));
        }
        if let Some((packet, end)) = action.sent {
            self.frame_events += 1;
            let arrival = end + port.propagation;
            let frame = self.frames.get(packet.frame);
            let way = &self.ways[frame.flow as usize];
            if frame.counted {
                let hop =
                    &mut self.flow_statistics[frame.flow as usize].hops[usize::from(frame.hop)];
                hop.record(arrival - frame.queued);
            }
            frame.hop += 1;
            if frame.hop == way.hops {
                self.calendar.push(arrival, Event::Deliver(packet.frame));
            } else {
                let forwarded = arrival + self.forwarding[index as usize].draw();
                port.forwarded = port.forwarded.max(forwarded);
                self.calendar
                    .push(port.forwarded, Event::Enqueue(packet.frame));
            }
        }
        while let Some((packet, reason)) = self.drops.pop() {
            self.lose(PortId(index as usize), packet, reason, observer);
        }
    }

    fn lose(
        &mut self,
        port: PortId,
        packet: Packet,
        reason: DropReason,
        observer: &mut impl Observer,
    ) {
        let frame = *self.frames.get(packet.frame);
        self.frames.remove(packet.frame);
        if frame.counted {
            self.flow_statistics[frame.flow as usize].lose(port, reason);
        }
        observer.message(&self.message(&frame, Outcome::Lost(port, reason)));
    }

    fn deliver(&mut self, place: u32, observer: &mut impl Observer) {
        self.frame_events += 1;
        let frame = *self.frames.get(place);
        if frame.counted {
            self.flow_statistics[frame.flow as usize].arrive(self.now, self.now - frame.departed);
        }
        match self.ways[frame.flow as usize].source {
            FlowSource::Publish(id) if self.applications[id.0].loopback.is_some() => {
                self.applications[id.0].inbox.push(place);
                self.inboxed += 1;
                return;
            }
            FlowSource::Publish(id) => {
                if frame.counted {
                    let _ = self.application_statistics[id.0].receive(frame.counter);
                }
            }
            FlowSource::Return(id) => {
                let statistics = &mut self.application_statistics[id.0];
                if frame.counted && statistics.receive(frame.counter) {
                    statistics.round_trip.record(self.now - frame.published);
                }
            }
            FlowSource::Cross(_) => {
                self.frames.remove(place);
                return;
            }
        }
        self.frames.remove(place);
        observer.message(&self.message(&frame, Outcome::Arrived));
    }

    fn message(&self, frame: &Frame, outcome: Outcome) -> Message {
        Message {
            source: self.ways[frame.flow as usize].source,
            counter: frame.counter,
            published: frame.published,
            ended: self.now,
            outcome,
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
