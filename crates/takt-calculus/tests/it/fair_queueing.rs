//! Frames that pass a port with FQ_CoDel one by one: no frame of a flow is later than the bound of that flow, and
//! bounds are near the delays that random traffic finds.
//!
//! `TAKT_SIMULATED_SCENARIOS=20000 cargo test --release -p takt-calculus --test fair_queueing` for a long run.

use std::collections::VecDeque;

use takt_calculus::{
    Curve, EgressPort, Extended, FixedPoint, PortBounds, PortClass, PortNetwork, QueueId, Rational,
    Step, Stream, TransmissionSelection,
};

/// Random numbers of a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }

    fn pick<const N: usize>(&mut self, values: [u64; N]) -> u64 {
        values[usize::try_from(self.below(N as u64)).unwrap()]
    }
}

/// A flow: at most `burst` frames in each period, each late by up to `late`. Times are those of a bit on the link.
#[derive(Debug, Clone)]
struct Flow {
    shortest: u64,
    longest: u64,
    burst: u64,
    period: u64,
    late: u64,
}

/// A port with a queue for each flow.
#[derive(Debug, Clone)]
struct Port {
    flows: Vec<Flow>,
    quantum: u64,
    uncounted: u64,
    /// Bits of a tag, and whether the port counts them.
    tag: (u64, bool),
    /// Longest frame below the flows; 0 for none.
    below: u64,
    /// True if all flows but the first send whatever they like.
    is_free: bool,
    /// Frames of the driver, if frames that find no other one pass the lists (Linux).
    driver: Option<u32>,
}

/// A frame that waits: its bits, and the time at which it came.
type Waiting = (u64, u64);

/// Deficit Round Robin with lists of new and old flows, as in section 4 of RFC 8290.
#[derive(Default)]
struct Lists {
    queues: Vec<VecDeque<Waiting>>,
    deficits: Vec<i64>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Lists {
    fn enqueue(&mut self, flow: usize, frame: Waiting, quantum: u64) {
        self.queues[flow].push_back(frame);
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.deficits[flow] = i64::try_from(quantum).unwrap();
            self.new.push_back(flow);
        }
    }

    fn dequeue(&mut self, quantum: u64, uncounted: u64) -> Option<(usize, Waiting)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = *list.front()?;
            if self.deficits[flow] <= 0 {
                list.pop_front();
                self.deficits[flow] += i64::try_from(quantum).unwrap();
                self.old.push_back(flow);
            } else if let Some(frame) = self.queues[flow].pop_front() {
                self.deficits[flow] -= i64::try_from(frame.0 - uncounted).unwrap();
                return Some((flow, frame));
            } else {
                list.pop_front();
                if is_new && !self.old.is_empty() {
                    self.old.push_back(flow);
                }
            }
        }
    }
}

/// Queue of a port: lists, and frames that have left them or passed them by and wait for the link.
struct Queue {
    lists: Lists,
    quantum: u64,
    uncounted: u64,
    driver: Option<u32>,
    ahead: VecDeque<(usize, Waiting)>,
}

impl Queue {
    fn len(&self) -> usize {
        self.lists.queues.iter().map(VecDeque::len).sum()
    }

    fn arrive(&mut self, flow: usize, frame: Waiting) {
        // The last frame is one that the driver refused.
        let passes = |driver: u32| self.ahead.len() <= driver as usize && self.len() == 0;
        if self.driver.is_some_and(passes) {
            self.ahead.push_back((flow, frame));
        } else {
            self.lists.enqueue(flow, frame, self.quantum);
        }
    }

    /// Returns the frame that the link sends next.
    fn next(&mut self) -> Option<(usize, Waiting)> {
        let Some(driver) = self.driver else {
            return self.lists.dequeue(self.quantum, self.uncounted);
        };
        let next = self.ahead.pop_front();
        while self.ahead.len() < driver as usize
            && let Some(frame) = self.lists.dequeue(self.quantum, self.uncounted)
        {
            self.ahead.push_back(frame);
        }
        next
    }
}

impl Port {
    fn random(is_free: bool, driver: bool, numbers: &mut Numbers) -> Self {
        let uncounted = 2 * numbers.below(2);
        let tag = (numbers.below(2) * numbers.below(4), numbers.one_in(2));
        let quantum = numbers.within(3, 40);
        let flows = (0..numbers.within(2, 4)).map(|_| {
            let longest = uncounted + tag.0 + numbers.within(1, 40);
            let is_mixed = numbers.one_in(3);
            let shortest = if is_mixed {
                numbers.within(uncounted + tag.0 + 1, longest)
            } else {
                longest
            };
            let burst = numbers.pick([1, 1, 2, 5]);
            Flow {
                shortest,
                longest,
                burst,
                period: burst * longest * numbers.within(2, 12),
                late: numbers.below(2) * numbers.below(150),
            }
        });
        Self {
            flows: flows.collect(),
            quantum,
            uncounted,
            tag,
            below: numbers.below(2) * numbers.below(50),
            is_free,
            driver: driver.then(|| u32::try_from(numbers.within(1, 3)).unwrap()),
        }
    }

    /// Returns the bounds if each flow has a queue of its own, or if the order is unknown.
    fn bounds(&self, is_fair: bool) -> PortBounds {
        let selection = if is_fair {
            TransmissionSelection::FairQueueing {
                quantum: self.quantum.into(),
                uncounted: self.uncounted.into(),
                tag: self.tag.0.into(),
                driver_queue: self.driver,
            }
        } else {
            TransmissionSelection::FlowQueueing
        };
        let class = |selection, shortest: Option<u64>, longest: Option<u64>| PortClass {
            selection,
            longest: longest.unwrap().into(),
            shortest: shortest.unwrap().into(),
        };
        let shortest = self.flows.iter().map(|flow| flow.shortest).min();
        let longest = self.flows.iter().map(|flow| flow.longest).max();
        let below = TransmissionSelection::StrictPriority;
        let classes = vec![
            class(selection, shortest, longest),
            class(below, Some(0), Some(self.below)),
        ];
        let streams = self.flows.iter().enumerate().map(|(index, flow)| {
            let bits = Rational::from(flow.burst * flow.longest);
            Stream {
                arrival: match self.is_limited(index) {
                    true => Curve::staircase(bits, flow.period.into(), 6).unwrap(),
                    false => Curve::burst_delay(Rational::ZERO).unwrap(),
                },
                longest: flow.longest.into(),
                shortest: flow.shortest.into(),
                path: vec![
                    Step::Delay {
                        least: Rational::ZERO,
                        most: flow.late.into(),
                    },
                    Step::Queue(QueueId { port: 0, class: 0 }),
                ],
                branch: None,
            }
        });
        let port = EgressPort::new(Rational::ONE, classes).unwrap();
        let network = PortNetwork::new(vec![port], streams.collect()).unwrap();
        network.total_flow(true, &FixedPoint::default()).unwrap()
    }

    fn is_limited(&self, flow: usize) -> bool {
        flow == 0 || !self.is_free
    }

    /// Returns random arrivals of limited flows: time, flow and bits, in order.
    fn arrivals(&self, numbers: &mut Numbers) -> Vec<(u64, usize, u64)> {
        let mut arrivals = Vec::new();
        // Frames that all come together wait the longest.
        let is_together = numbers.one_in(2);
        let limited = |(index, _): &(usize, &Flow)| self.is_limited(*index);
        for (index, flow) in self.flows.iter().enumerate().filter(limited) {
            let phases = if is_together {
                flow.longest
            } else {
                flow.period
            };
            let phase = numbers.below(phases);
            let pauses = numbers.pick([0, 3, 8]);
            let mut last = 0;
            for cycle in 0..30 {
                if pauses > 0 && numbers.one_in(pauses) {
                    continue;
                }
                for _ in 0..flow.burst {
                    let late = match numbers.below(3) {
                        0 => 0,
                        1 => flow.late,
                        _ => numbers.below(flow.late + 1),
                    };
                    last = last.max(phase + cycle * flow.period + late);
                    let bits = match numbers.one_in(4) {
                        true => numbers.within(flow.shortest, flow.longest),
                        false => flow.longest,
                    };
                    arrivals.push((last, index, bits));
                }
            }
        }
        // Frames that come at the same time come in any order.
        let mut mixed: Vec<_> = arrivals
            .into_iter()
            .map(|(time, flow, bits)| (time, numbers.below(4), flow, bits))
            .collect();
        mixed.sort_by_key(|(time, order, flow, _)| (*time, (*order + *flow as u64) % 4, *flow));
        let in_order = mixed.into_iter();
        in_order
            .map(|(time, _, flow, bits)| (time, flow, bits))
            .collect()
    }

    /// Returns the longest delay of each flow with random traffic.
    fn simulate(&self, numbers: &mut Numbers) -> Vec<u64> {
        let stripped = if self.tag.1 { 0 } else { self.tag.0 };
        let mut queue = Queue {
            lists: Lists {
                queues: vec![VecDeque::new(); self.flows.len()],
                deficits: vec![0; self.flows.len()],
                ..Lists::default()
            },
            quantum: self.quantum,
            uncounted: self.uncounted + stripped,
            driver: self.driver,
            ahead: VecDeque::new(),
        };
        let mut delays = vec![0; self.flows.len()];
        let mut arrivals = self.arrivals(numbers).into_iter().peekable();
        let mut now = 0;
        let eager = numbers.within(1, 6);
        // Flows without limits never stop.
        let is_done = |queue: &Queue| {
            let queues = &queue.lists.queues;
            let mut limited = (0..queues.len()).filter(|flow| self.is_limited(*flow));
            let mut ahead = queue.ahead.iter();
            limited.all(|flow| queues[flow].is_empty())
                && !ahead.any(|(flow, _)| self.is_limited(*flow))
        };
        while arrivals.peek().is_some() || !is_done(&queue) {
            for (index, flow) in self.flows.iter().enumerate() {
                if !self.is_limited(index)
                    && queue.lists.queues[index].is_empty()
                    && numbers.one_in(eager)
                {
                    for _ in 0..numbers.within(1, 1 + self.quantum / flow.longest) {
                        queue.arrive(index, (flow.longest, now));
                    }
                }
            }
            // Frames that come when the link becomes free come before or after that.
            let has_come =
                |time: u64, numbers: &mut Numbers| time < now || time == now && numbers.one_in(2);
            while let Some((time, flow, bits)) =
                arrivals.next_if(|(time, ..)| has_come(*time, numbers))
            {
                queue.arrive(flow, (bits, time));
            }
            if let Some((flow, (bits, came))) = queue.next() {
                now += bits;
                delays[flow] = delays[flow].max(now - came);
                continue;
            }
            let Some((time, flow, bits)) = arrivals.next() else {
                break;
            };
            queue.arrive(flow, (bits, time));
            now = now.max(time);
            // A frame of lower priority may just have begun.
            if numbers.one_in(2) {
                now += numbers.below(self.below + 1);
            }
        }
        delays
    }
}

/// Returns a delay in bits on the link, if it is finite.
fn number(delay: &Extended) -> Option<f64> {
    Some(delay.finite()?.to_f64().value())
}

/// Returns the number of random ports of a run.
fn cases() -> u64 {
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS");
    cases.map_or(400, |cases| cases.parse().unwrap())
}

/// Flows whose delays were compared with their bounds.
#[derive(Debug, Default)]
struct Compared {
    flows: usize,
    /// Flows whose bound is below the one for any order.
    lower: usize,
    /// Flows that are as late as their bound.
    attained: usize,
    /// Bounds divided by delays.
    ratios: Vec<f64>,
}

impl Compared {
    /// Simulates a port, and checks that no frame is later than the bound of its flow.
    fn port(&mut self, port: &Port, numbers: &mut Numbers) {
        let (bounds, of_all) = (port.bounds(true), port.bounds(false));
        let mut longest = vec![0; port.flows.len()];
        for _ in 0..60 {
            for (longest, delay) in longest.iter_mut().zip(port.simulate(numbers)) {
                *longest = delay.max(*longest);
            }
        }
        for (index, flow) in port.flows.iter().enumerate() {
            let Some(bound) = number(&bounds.streams[index].delay) else {
                continue;
            };
            // The bound begins before the delay that makes frames late.
            let bound = bound - flow.late as f64;
            let found = longest[index] as f64;
            assert!(found <= bound, "flow {index}: {found} > {bound}\n{port:?}");
            self.flows += 1;
            self.attained += usize::from(found == bound);
            let any_order = number(&of_all.streams[index].delay);
            self.lower += usize::from(any_order.is_none_or(|all| all - flow.late as f64 > bound));
            self.ratios.push(bound / found);
        }
    }

    fn median(&mut self) -> f64 {
        self.ratios.sort_by(f64::total_cmp);
        self.ratios[self.ratios.len() / 2]
    }
}

#[test]
fn no_frame_is_later_than_the_bound_of_its_flow() {
    let (mut numbers, mut compared) = (Numbers(12), Compared::default());
    for _ in 0..cases() {
        compared.port(&Port::random(false, false, &mut numbers), &mut numbers);
    }
    let median = compared.median();
    let Compared {
        flows,
        lower,
        attained,
        ..
    } = compared;
    eprintln!(
        "{flows} flows, {lower} below the bound of all, {attained} attained, median {median:.3}"
    );
    assert!(lower * 10 > flows, "{lower} of {flows}");
    assert!(attained * 20 > flows, "{attained} of {flows}");
    assert!(median < 1.9, "{median}");
}

/// Only turns limit the other flows here: their arrivals have no bound.
#[test]
fn a_flow_beside_flows_without_limits_has_a_bound() {
    let (mut numbers, mut compared) = (Numbers(5), Compared::default());
    for _ in 0..cases() {
        compared.port(&Port::random(true, false, &mut numbers), &mut numbers);
    }
    let median = compared.median();
    let Compared {
        flows,
        lower,
        attained,
        ..
    } = compared;
    eprintln!(
        "{flows} flows, {lower} below the bound of all, {attained} attained, median {median:.3}"
    );
    assert_eq!(lower, flows);
    assert!(flows as u64 > cases() / 3, "{flows}");
    // The search for such turns is blind, and rarely finds the longest ones.
    assert!(attained > 0);
    assert!(median < 3.0, "{median}");
}

/// Linux: frames that find no other one pass the lists, and frames wait in the driver.
#[test]
fn no_frame_behind_a_driver_is_later_than_the_bound_of_its_flow() {
    for is_free in [false, true] {
        let (mut numbers, mut compared) = (Numbers(29), Compared::default());
        for _ in 0..cases() {
            compared.port(&Port::random(is_free, true, &mut numbers), &mut numbers);
        }
        let median = compared.median();
        let Compared {
            flows, attained, ..
        } = compared;
        eprintln!("{flows} flows, {attained} attained, median {median:.3}");
        // The search for turns of flows without limits is blind.
        assert!(attained > 0 || is_free);
        assert!(median < 3.0, "{is_free}: {median}");
    }
}
