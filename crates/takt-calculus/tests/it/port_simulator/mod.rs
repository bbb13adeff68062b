//! Ports that send frames one by one by the rules of IEEE 802.1Q, with exact times. Tests compare bounds with this simulator,
//! which uses no curves.

use std::collections::{BTreeMap, VecDeque};

use takt_calculus::{EgressPort, LoopbackStage, QueueId, Rational, Step, TransmissionSelection};

/// Gates of a class: windows `(start, end)` of a cycle, or all of the cycle if there are none. No frame begins within the guard
/// band before an end.
#[derive(Clone, Default)]
pub(crate) struct Gates {
    pub(crate) cycle: Rational,
    pub(crate) guard_band: Rational,
    pub(crate) windows: Vec<Vec<(Rational, Rational)>>,
}

/// A frame in transit.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) stream: usize,
    pub(crate) size: Rational,
    pub(crate) born: Rational,
    /// Time at which it came to the current queue.
    arrived: Rational,
    step: usize,
}

enum Event {
    Arrive(Frame),
    Done(usize),
    Wake(usize),
}

struct Port<'a> {
    port: &'a EgressPort,
    gates: Gates,
    queues: Vec<VecDeque<Frame>>,
    credits: Vec<Rational>,
    updated: Rational,
    sending: Option<usize>,
}

/// Observations of a simulation.
#[derive(Default)]
pub(crate) struct Seen {
    /// Greatest and least delay of each stream, from birth to the end of its way.
    pub(crate) delays: BTreeMap<usize, (Rational, Rational)>,
    /// Longest time in each queue `(port, class)`.
    pub(crate) queue_delays: BTreeMap<(usize, usize), Rational>,
    /// Greatest backlog of each queue in bits, right behind an arrival.
    pub(crate) backlogs: BTreeMap<(usize, usize), Rational>,
    /// Frames that passed each queue, in order.
    pub(crate) passed: BTreeMap<(usize, usize), Vec<Passed>>,
    /// Transmissions of each queue: begin and number of bits.
    pub(crate) sent: BTreeMap<(usize, usize), Vec<(Rational, Rational)>>,
}

/// A frame that passed a queue.
pub(crate) struct Passed {
    pub(crate) arrived: Rational,
    pub(crate) begun: Rational,
    pub(crate) done: Rational,
    pub(crate) size: Rational,
}

pub(crate) struct Simulator<'a> {
    ports: Vec<Port<'a>>,
    paths: Vec<&'a [Step]>,
    events: BTreeMap<(Rational, usize), Event>,
    number: usize,
    /// Time at which the last frame came out of a delay, between two queues, or for one stream alone.
    ordered: BTreeMap<([Option<QueueId>; 2], Option<usize>), Rational>,
    choose: &'a mut dyn FnMut() -> u32,
    /// Time in the cycle at which the loopback of each stream takes frames.
    pub(crate) phases: BTreeMap<usize, Rational>,
    pub(crate) seen: Seen,
}

impl<'a> Simulator<'a> {
    /// Makes a simulator. `choose` returns 0 to 4: the used part of a delay's variation, in quarters.
    pub(crate) fn new(
        ports: &'a [EgressPort],
        gates: &[Gates],
        paths: Vec<&'a [Step]>,
        choose: &'a mut dyn FnMut() -> u32,
    ) -> Self {
        let ports = ports.iter().enumerate().map(|(index, port)| Port {
            port,
            gates: gates.get(index).cloned().unwrap_or_default(),
            queues: vec![VecDeque::new(); port.classes().len()],
            credits: vec![Rational::ZERO; port.classes().len()],
            updated: Rational::ZERO,
            sending: None,
        });
        Self {
            ports: ports.collect(),
            paths,
            events: BTreeMap::new(),
            number: 0,
            ordered: BTreeMap::new(),
            choose,
            phases: BTreeMap::new(),
            seen: Seen::default(),
        }
    }

    fn at(&mut self, time: Rational, event: Event) {
        self.number += 1;
        // Events at one time happen in the order in which they were added.
        self.events.insert((time, self.number), event);
    }

    /// Adds a frame of a talker.
    pub(crate) fn send(&mut self, stream: usize, time: Rational, size: Rational) {
        let frame = Frame {
            stream,
            size,
            born: time.clone(),
            arrived: time.clone(),
            step: 0,
        };
        self.at(time, Event::Arrive(frame));
    }

    pub(crate) fn run(&mut self) {
        while let Some(((now, _), event)) = self.events.pop_first() {
            let port = match event {
                Event::Arrive(frame) => self.arrive(&now, frame),
                // The frame that this was for may have left since. `try_send` decides by the present state.
                Event::Wake(port) => Some(port),
                Event::Done(port) => {
                    self.ports[port].update(&now);
                    let class = self.ports[port].sending.take().unwrap();
                    let mut frame = self.ports[port].queues[class].pop_front().unwrap();
                    let takes = &frame.size / self.ports[port].port.link_rate();
                    self.seen
                        .passed
                        .entry((port, class))
                        .or_default()
                        .push(Passed {
                            arrived: frame.arrived.clone(),
                            begun: &now - takes,
                            done: now.clone(),
                            size: frame.size.clone(),
                        });
                    let delay = &now - &frame.arrived;
                    let longest = self.seen.queue_delays.entry((port, class)).or_default();
                    *longest = delay.max(longest.clone());
                    frame.step += 1;
                    self.at(now.clone(), Event::Arrive(frame));
                    Some(port)
                }
            };
            if let Some(port) = port {
                self.ports[port].update(&now);
                self.try_send(port, &now);
            }
        }
    }

    fn arrive(&mut self, now: &Rational, mut frame: Frame) -> Option<usize> {
        match self.paths[frame.stream].get(frame.step) {
            None => {
                let delay = now - &frame.born;
                let seen = self
                    .seen
                    .delays
                    .entry(frame.stream)
                    .or_insert((delay.clone(), delay.clone()));
                *seen = (delay.clone().max(seen.0.clone()), delay.min(seen.1.clone()));
                None
            }
            Some(Step::Delay { least, most }) => {
                let part = (most - least) * Rational::from((self.choose)()) / Rational::from(4);
                // Frames between the same two queues keep their order.
                let queue = |step: Option<&Step>| match step {
                    Some(Step::Queue(queue)) => Some(*queue),
                    _ => None,
                };
                let path = self.paths[frame.stream];
                let ends =
                    [frame.step.wrapping_sub(1), frame.step + 1].map(|step| queue(path.get(step)));
                let alone = ends.contains(&None).then_some(frame.stream);
                let last = self.ordered.entry((ends, alone)).or_default();
                *last = (now + least + part).max(last.clone());
                let time = last.clone();
                frame.step += 1;
                self.at(time, Event::Arrive(frame));
                None
            }
            Some(Step::Loopback(loopback)) => {
                let time = self.sent_again(now, frame.stream, loopback);
                frame.step += 1;
                self.at(time, Event::Arrive(frame));
                None
            }
            Some(Step::Queue(queue)) => {
                let port = &mut self.ports[queue.port];
                port.update(now);
                frame.arrived = now.clone();
                port.queues[queue.class].push_back(frame);
                // The frame on the link stays in its queue until its end. Its bits that were sent are no backlog.
                let sent = match (port.sending == Some(queue.class), &port.sending) {
                    (true, _) => {
                        let begun = &self.seen.sent[&(queue.port, queue.class)];
                        (now - &begun.last().unwrap().0) * port.port.link_rate()
                    }
                    _ => Rational::ZERO,
                };
                let waiting = port.queues[queue.class]
                    .iter()
                    .fold(Rational::ZERO, |sum, frame| sum + &frame.size);
                let most = self
                    .seen
                    .backlogs
                    .entry((queue.port, queue.class))
                    .or_default();
                *most = (waiting - sent).max(most.clone());
                Some(queue.port)
            }
        }
    }

    /// Returns the time at which a loopback sends a frame of a stream again. Frames of one stream keep their order.
    fn sent_again(&mut self, now: &Rational, stream: usize, loopback: &LoopbackStage) -> Rational {
        let mut part = |of: &Rational| of * Rational::from((self.choose)()) / Rational::from(4);
        let time = match &loopback.cycle {
            None => now + &loopback.least + part(&(&loopback.most - &loopback.least)),
            // The thread runs at the phase of the stream in each cycle, or later. What it takes is sent at another fixed time.
            Some(cycle) => {
                let phase = self.phases.get(&stream).cloned().unwrap_or_default();
                let first = now - part(&loopback.late) - &phase;
                let thread = Rational::from((first / cycle).ceil()) * cycle + phase;
                thread + &loopback.least + &loopback.late + part(&loopback.sending)
            }
        };
        let last = self.ordered.entry(([None; 2], Some(stream))).or_default();
        *last = time.max(last.clone());
        last.clone()
    }

    fn try_send(&mut self, index: usize, now: &Rational) {
        let port = &mut self.ports[index];
        if port.sending.is_some() {
            return;
        }
        let mut wake: Option<Rational> = None;
        for class in 0..port.queues.len() {
            let Some(frame) = port.queues[class].front() else {
                continue;
            };
            let takes = &frame.size / port.port.link_rate();
            let ready = port.ready(class, &takes, now);
            if ready == *now {
                port.sending = Some(class);
                let size = frame.size.clone();
                let sent = self.seen.sent.entry((index, class)).or_default();
                sent.push((now.clone(), size));
                self.at(now + takes, Event::Done(index));
                return;
            }
            wake = Some(wake.map_or(ready.clone(), |wake| wake.min(ready)));
        }
        if let Some(wake) = wake {
            self.at(wake, Event::Wake(index));
        }
    }
}

impl Port<'_> {
    fn idle_slope(&self, class: usize) -> Option<&Rational> {
        match &self.port.classes()[class].selection {
            TransmissionSelection::CreditBased { idle_slope } => Some(idle_slope),
            _ => None,
        }
    }

    /// Updates credits to a time; nothing has happened since the last update.
    fn update(&mut self, now: &Rational) {
        for class in 0..self.queues.len() {
            let Some(slope) = self.idle_slope(class).cloned() else {
                continue;
            };
            let open = self.open(class, &self.updated, now);
            let passed = open
                .iter()
                .fold(Rational::ZERO, |sum, (start, end)| sum + end - start);
            let credit = &mut self.credits[class];
            if self.sending == Some(class) {
                *credit = &*credit - (self.port.link_rate() - slope) * &passed;
            } else if !self.queues[class].is_empty() {
                *credit = &*credit + slope * &passed;
            } else {
                *credit =
                    (credit.clone().min(Rational::ZERO) + slope * &passed).min(Rational::ZERO);
            }
        }
        self.updated = now.clone();
    }

    /// Returns the times in an interval at which the gate of a class is open.
    fn open(&self, class: usize, from: &Rational, to: &Rational) -> Vec<(Rational, Rational)> {
        let windows = self.gates.windows.get(class);
        let Some(windows) = windows.filter(|windows| !windows.is_empty()) else {
            return vec![(from.clone(), to.clone())];
        };
        let cycle = &self.gates.cycle;
        let number = |time: &Rational| i64::try_from((time / cycle).floor()).unwrap();
        let mut all: Vec<_> = (number(from) - 2..=number(to) + 1)
            .flat_map(|number| {
                let cycle = cycle * Rational::from(number);
                windows
                    .iter()
                    .map(move |(start, end)| (&cycle + start, &cycle + end))
            })
            .collect();
        all.sort();
        // A window that continues in the next cycle is listed twice.
        let (mut open, mut until) = (Vec::new(), from.clone());
        for (start, end) in all {
            let (start, end) = (start.max(until.clone()), end.min(to.clone()));
            if start < end {
                until = end.clone();
                open.push((start, end));
            }
        }
        open
    }

    /// Returns the earliest time at which a frame of this duration may be sent, by the present state.
    fn ready(&self, class: usize, takes: &Rational, now: &Rational) -> Rational {
        if let Some(slope) = self.idle_slope(class)
            && self.credits[class] < Rational::ZERO
        {
            let mut missing = -&self.credits[class] / slope;
            // The gates of the tests are open for more than a hundredth of the time.
            let horizon = now
                + (&missing + Rational::ONE) * Rational::from(100)
                + &self.gates.cycle * Rational::from(2);
            for (start, end) in self.open(class, now, &horizon) {
                if start.clone() + &missing <= end {
                    return start + missing;
                }
                missing -= end - start;
            }
            panic!("the gate opens hardly ever");
        }
        let Some(windows) = self
            .gates
            .windows
            .get(class)
            .filter(|windows| !windows.is_empty())
        else {
            return now.clone();
        };
        let cycle = Rational::from((now / &self.gates.cycle).floor()) * &self.gates.cycle;
        // A window that continues in the next cycle belongs to the cycle in which it begins.
        let candidates = [-1i32, 0, 1, 2].into_iter().flat_map(|number| {
            let cycle = &cycle + &self.gates.cycle * Rational::from(number);
            windows
                .iter()
                .map(move |(start, end)| (&cycle + start, &cycle + end))
        });
        candidates
            .map(|(start, end)| (start.max(now.clone()), end))
            .filter(|(start, end)| start + takes <= *end && start + &self.gates.guard_band <= *end)
            .map(|(start, _)| start)
            .min()
            .unwrap()
    }
}
