//! FQ_CoDel of Linux, written from `net/sched/sch_fq_codel.c` and `include/net/codel_impl.h` of Linux 6.12. Instead of a hash, each flow has
//! a queue of its own, modulo the number of queues. The driver is that of `linux.rs`, with one class, or the link takes each frame
//! when it is free.

use std::collections::VecDeque;

use takt_scenario::{FqCodelParameters, Scheduler};
use takt_sim::discipline::DropReason;

use crate::port_models::observed::Outcomes;
use crate::port_models::port::{Frame, Outcome, Port};

/// MTU of the device with its header: CoDel never drops the last frame.
const MTU: i64 = 1514;
/// Most frames that a full queue drops at once.
const BATCH: u64 = 64;

/// Queue of a flow, with the state of its CoDel. Times are in units of 1024 ns.
struct Flow {
    frames: VecDeque<Frame>,
    deficit: i64,
    count: u32,
    last_count: u32,
    is_dropping: bool,
    /// Reciprocal of the square root of the count, with 16 bits.
    reciprocal: u16,
    first_above: Option<i64>,
    drop_next: i64,
}

struct Model<'a> {
    port: &'a Port,
    parameters: &'a FqCodelParameters,
    flows: Vec<Flow>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    outcomes: Outcomes,
    now: i64,
}

/// Returns the unit of CoDel's clock: nanoseconds without their last 10 bits.
fn unit(picoseconds: i64) -> i64 {
    picoseconds.div_euclid(1000) >> 10
}

fn sum(frames: &VecDeque<Frame>) -> i64 {
    frames.iter().map(|frame| i64::from(frame.length)).sum()
}

impl Flow {
    fn new() -> Self {
        Self {
            frames: VecDeque::new(),
            deficit: 0,
            count: 0,
            last_count: 0,
            is_dropping: false,
            reciprocal: 0,
            first_above: None,
            // The kernel's clock has run for long.
            drop_next: i64::MIN / 2,
        }
    }

    fn newton_step(&mut self) {
        // The shifts of the kernel's `codel_Newton_step`: with other roundings, frames would be dropped at other times.
        let root = u64::from(self.reciprocal) << 16;
        let square = (root * root) >> 32;
        let value = (3u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        let value = value.wrapping_mul(root) >> 31;
        self.reciprocal = (value >> 16) as u16;
    }

    fn control_law(&self, time: i64, interval: i64) -> i64 {
        time + ((interval * (i64::from(self.reciprocal) << 16)) >> 32)
    }
}

impl Model<'_> {
    fn backlog(&self) -> i64 {
        self.flows.iter().map(|flow| sum(&flow.frames)).sum()
    }

    fn drop(&mut self, frame: Frame, reason: DropReason) {
        let outcome = Outcome::Dropped(self.now, reason);
        assert_eq!(self.outcomes.insert(frame.id, outcome), None);
    }

    fn enqueue(&mut self, frame: Frame) {
        let count = usize::try_from(self.parameters.flows).unwrap();
        let index = frame.id.0 % count;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, Flow::new);
        }
        self.flows[index].frames.push_back(frame);
        if !self.new_flows.contains(&index) && !self.old_flows.contains(&index) {
            self.new_flows.push_back(index);
            self.flows[index].deficit = i64::try_from(self.parameters.quantum.0).unwrap();
        }
        // The kernel looks at its limits after it has queued the frame, so that the frame itself may be dropped.
        let frames: usize = self.flows.iter().map(|flow| flow.frames.len()).sum();
        let memory = u64::try_from(self.backlog()).unwrap();
        if frames as u64 <= self.parameters.limit && memory <= self.parameters.memory_limit.0 {
            return;
        }
        // The first of the longest queues loses half of its bytes.
        let longest = self.flows.iter().map(|flow| sum(&flow.frames)).max();
        let longest = longest.unwrap_or(0);
        let flows = &self.flows;
        let index = flows.iter().position(|flow| sum(&flow.frames) == longest);
        let index = index.unwrap();
        let (mut dropped, mut bytes) = (0, 0);
        loop {
            let frame = self.flows[index].frames.pop_front().unwrap();
            bytes += i64::from(frame.length);
            dropped += 1;
            self.drop(frame, DropReason::QueueFull);
            if dropped >= BATCH || bytes >= longest >> 1 {
                break;
            }
        }
        // In the kernel, the drops of a full queue make CoDel drop more often as well.
        self.flows[index].count += u32::try_from(dropped).unwrap();
    }

    /// Removes the first frame of a flow, and returns true as well if CoDel may drop it.
    fn pull(&mut self, index: usize) -> (Option<Frame>, bool) {
        let now = unit(self.port.clock.shows(self.now));
        let frame = self.flows[index].frames.pop_front();
        let backlog = self.backlog();
        let target = unit(i64::try_from(self.parameters.target.picos()).unwrap());
        let interval = unit(i64::try_from(self.parameters.interval.picos()).unwrap());
        let flow = &mut self.flows[index];
        let Some(arrived) = frame else {
            flow.first_above = None;
            return (None, false);
        };
        let delay = now - unit(self.port.clock.shows(arrived.arrival));
        if delay < target || backlog <= MTU {
            flow.first_above = None;
            return (frame, false);
        }
        match flow.first_above {
            None => {
                flow.first_above = Some(now + interval);
                (frame, false)
            }
            Some(first_above) => (frame, now > first_above),
        }
    }

    fn codel(&mut self, index: usize) -> Option<Frame> {
        let now = unit(self.port.clock.shows(self.now));
        let interval = unit(i64::try_from(self.parameters.interval.picos()).unwrap());
        let had_frame = !self.flows[index].frames.is_empty();
        // Not by `pull`: the kernel returns here before it would reset `first_above`.
        if !had_frame {
            self.flows[index].is_dropping = false;
            return None;
        }
        let (mut frame, mut drop) = self.pull(index);
        if self.flows[index].is_dropping {
            if !drop {
                self.flows[index].is_dropping = false;
            }
            while self.flows[index].is_dropping && now >= self.flows[index].drop_next {
                self.flows[index].count += 1;
                self.flows[index].newton_step();
                if let Some(frame) = frame {
                    self.drop(frame, DropReason::Codel);
                }
                (frame, drop) = self.pull(index);
                let flow = &mut self.flows[index];
                if drop {
                    flow.drop_next = flow.control_law(flow.drop_next, interval);
                } else {
                    flow.is_dropping = false;
                }
            }
        } else if drop {
            if let Some(frame) = frame {
                self.drop(frame, DropReason::Codel);
            }
            (frame, _) = self.pull(index);
            let flow = &mut self.flows[index];
            flow.is_dropping = true;
            let delta = flow.count.wrapping_sub(flow.last_count);
            // The queue was under control a short time ago. CoDel begins with the rate of drops that it had then.
            if delta > 1 && now - flow.drop_next < 16 * interval {
                flow.count = delta;
                flow.newton_step();
            } else {
                flow.count = 1;
                flow.reciprocal = u16::MAX;
            }
            flow.last_count = flow.count;
            flow.drop_next = flow.control_law(now, interval);
        }
        frame
    }

    fn dequeue(&mut self) -> Option<Frame> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let head = if is_new {
                self.new_flows.front()
            } else {
                self.old_flows.front()
            };
            let index = *head?;
            let spent = self.flows[index].deficit <= 0;
            let frame = if spent { None } else { self.codel(index) };
            if let Some(frame) = frame {
                self.flows[index].deficit -= i64::from(frame.length);
                return Some(frame);
            }
            if is_new {
                self.new_flows.pop_front();
            } else {
                self.old_flows.pop_front();
            }
            if spent {
                self.flows[index].deficit += i64::try_from(self.parameters.quantum.0).unwrap();
                self.old_flows.push_back(index);
            } else if is_new && !self.old_flows.is_empty() {
                // Behind the old flows once, so that a flow that is empty again and again does not starve them.
                self.old_flows.push_back(index);
            }
        }
    }
}

/// Returns the end of each frame, if the driver takes so many frames before the link is free. Without any, the link takes them.
pub(crate) fn outcomes(port: &Port, frames: &[Frame], room: usize) -> Outcomes {
    let Scheduler::FqCodel(parameters) = &port.discipline.scheduler else {
        panic!("another scheduler");
    };
    let mut model = Model {
        port,
        parameters,
        flows: Vec::new(),
        new_flows: VecDeque::new(),
        old_flows: VecDeque::new(),
        outcomes: Outcomes::new(),
        now: 0,
    };
    let (mut ring, mut sending) = (VecDeque::new(), None);
    // Frame that came when none waited: it passes by all rules, and waits for the driver.
    let mut bypassing: Option<Frame> = None;
    let mut arrivals = frames.iter().peekable();
    loop {
        loop {
            while ring.len() < room
                && let Some(frame) = bypassing.take().or_else(|| model.dequeue())
            {
                ring.push_back(frame);
            }
            if sending.is_some() {
                break;
            }
            let next = match room {
                0 => model.dequeue(),
                _ => ring.pop_front(),
            };
            let Some(frame) = next else {
                break;
            };
            let end = model.now + port.needs(frame.wire);
            model.outcomes.insert(frame.id, Outcome::Sent(end));
            sending = Some(end);
        }
        let arrival = arrivals.peek().map(|frame| frame.arrival);
        let Some(next) = [sending, arrival].into_iter().flatten().min() else {
            return model.outcomes;
        };
        model.now = next;
        if sending == Some(next) {
            sending = None;
        } else if let Some(frame) = arrivals.next() {
            let waits = model.flows.iter().any(|flow| !flow.frames.is_empty());
            match room > 0 && !waits && bypassing.is_none() {
                true => bypassing = Some(*frame),
                false => model.enqueue(*frame),
            }
        }
    }
}
