//! Port by IEEE 802.1Q: when the link is free, the highest class with a frame that may begin sends it. Strict priority is 8.6.8.1,
//! the Credit-Based Shaper 8.6.8.2, and gates are 8.6.8.4.

use std::collections::VecDeque;

use takt_sim::discipline::DropReason;

use crate::port_models::clock::first;
use crate::port_models::observed::Outcomes;
use crate::port_models::port::{Frame, Outcome, Port, has_room, limit};

/// Traffic class.
struct Class {
    waiting: VecDeque<Frame>,
    /// IdleSlope and sendSlope in bit/s, if there is a shaper.
    slopes: Option<(i128, i128)>,
    /// Credit in 10⁻¹² bits, since slopes are in bit/s and times in picoseconds.
    credit: i128,
    /// Time of the credit, by the node's clock: when the last frame is sent, if that is later. A shaper takes the rate of the link
    /// for granted, so its frame takes as long by any clock.
    counted: i64,
}

struct Model<'a> {
    port: &'a Port,
    classes: Vec<Class>,
    now: i64,
    /// End of the frame that is being sent.
    sending: Option<i64>,
}

impl Model<'_> {
    /// Returns the credit of a class at a time, if nothing arrives or begins before. It rises while the gate is open, and frames
    /// wait or it is negative.
    fn credit(&self, index: usize, time: i64) -> i128 {
        let class = &self.classes[index];
        let local = self.port.clock.shows(time);
        let (Some((idle_slope, _)), true) = (class.slopes, local >= class.counted) else {
            return class.credit;
        };
        let open = match &self.port.gates {
            Some(gates) => gates.open(index, class.counted, local),
            None => local - class.counted,
        };
        let gained = class.credit + idle_slope * i128::from(open);
        match (class.waiting.is_empty(), class.credit < 0) {
            (false, _) => gained,
            (true, true) => gained.min(0),
            (true, false) => 0,
        }
    }

    /// Returns the time at which the first frame of a class may begin, if nothing arrives before.
    fn begin(&self, index: usize) -> Option<i64> {
        let frame = self.classes[index].waiting.front()?;
        let time = first(self.now, |time| self.credit(index, time) >= 0);
        let Some(gates) = &self.port.gates else {
            return Some(time);
        };
        let (clock, needs) = (self.port.clock, self.port.needs(frame.wire));
        let mut begin = time;
        loop {
            let local = clock.shows(begin);
            if gates.admit(index, local, clock.shows(begin + needs) - local, false) {
                return Some(begin);
            }
            begin = clock.reaches(gates.entry(local).1, begin);
            // The windows of `setup` hold the longest frame, so one of the next cycle does at the latest.
            assert!(clock.shows(begin) - clock.shows(time) < 3 * gates.cycle);
        }
    }

    fn advance(&mut self, time: i64) {
        for index in 0..self.classes.len() {
            let (credit, local) = (self.credit(index, time), self.port.clock.shows(time));
            let class = &mut self.classes[index];
            class.credit = credit;
            class.counted = class.counted.max(local);
        }
        self.now = time;
    }
}

/// Returns the end of each frame.
pub(crate) fn outcomes(port: &Port, frames: &[Frame]) -> Outcomes {
    let class = |class: &takt_scenario::TrafficClass| Class {
        waiting: VecDeque::new(),
        slopes: (class.queue.shaper()).map(|shaper| {
            (
                shaper.idle_slope.0.into(),
                shaper.send_slope.value().0.into(),
            )
        }),
        credit: 0,
        counted: port.clock.shows(0),
    };
    let mut model = Model {
        port,
        classes: port.discipline.classes.iter().map(class).collect(),
        now: 0,
        sending: None,
    };
    let mut outcomes = Outcomes::new();
    let mut arrivals = frames.iter().peekable();
    loop {
        let arrival = arrivals.peek().map(|frame| frame.arrival);
        if let Some(end) = model.sending {
            // At one time, the link becomes free first. Then a frame is chosen, and then others arrive.
            if arrival.is_none_or(|arrival| end <= arrival) {
                model.advance(end);
                model.sending = None;
                continue;
            }
        } else {
            let begins = (0..model.classes.len())
                // Of classes that may begin at one time, the one with the lowest index is the highest.
                .filter_map(|index| Some((model.begin(index)?, index)))
                .min();
            if let Some((begin, index)) = begins
                && arrival.is_none_or(|arrival| begin <= arrival)
            {
                model.advance(begin);
                let frame = model.classes[index].waiting.pop_front().unwrap();
                let needs = port.needs(frame.wire);
                model.sending = Some(begin + needs);
                outcomes.insert(frame.id, Outcome::Sent(begin + needs));
                let class = &mut model.classes[index];
                if let Some((_, send_slope)) = class.slopes {
                    class.credit -= send_slope * i128::from(needs);
                    class.counted += needs;
                }
                continue;
            }
        }
        let Some(frame) = arrivals.next() else {
            return outcomes;
        };
        model.advance(frame.arrival);
        let waiting = &mut model.classes[frame.class].waiting;
        let lengths = waiting.iter().map(|frame| frame.length);
        if has_room(
            limit(&port.discipline.classes[frame.class].queue),
            lengths,
            frame.length,
        ) {
            waiting.push_back(*frame);
        } else {
            outcomes.insert(
                frame.id,
                Outcome::Dropped(frame.arrival, DropReason::QueueFull),
            );
        }
    }
}
