//! Qdiscs of Linux for one class: pfifo and bfifo, cbs and etf, written from `net/sched` of Linux 6.12. Times are whole nanoseconds
//! for cbs, and whole picoseconds otherwise, by the node's clock. Timers are on time.

use std::collections::VecDeque;

use takt_scenario::Queue;
use takt_sim::discipline::DropReason;

use crate::port_models::port::{Frame, Port, has_room, limit};

/// Frames that a qdisc drops.
pub(crate) type Drops = Vec<(Frame, DropReason)>;

/// State of `sch_cbs`: credits in bytes, slopes and the rate of the port in bytes per second.
struct Cbs {
    last: i64,
    credits: i64,
    idle_slope: i64,
    send_slope: i64,
    port_rate: i64,
    most: i64,
    least: i64,
}

/// State of `sch_etf`.
struct Etf {
    /// Txtime of the last released frame.
    last: i64,
    delta: i64,
    is_deadline: bool,
    /// True if frames leave at their txtime: nothing behind the qdisc holds them until then.
    is_exact: bool,
}

enum Kind {
    Fifo,
    Cbs(Cbs),
    Etf(Etf),
}

pub(crate) struct Qdisc {
    queue: Queue,
    waiting: VecDeque<Frame>,
    kind: Kind,
    /// Time of the watchdog, by the node's clock.
    pub(crate) watchdog: Option<i64>,
}

/// Most frames in `sch_etf`. The kernel has no limit but those of the sockets.
const ETF_LIMIT: usize = 1000;
const SECOND: i64 = 1_000_000_000;

impl Qdisc {
    /// Makes the qdisc of a class, in front of a driver or of the link itself.
    pub(crate) fn new(queue: &Queue, port: &Port, has_driver: bool) -> Self {
        let kind = match (queue.shaper(), queue.launch()) {
            (Some(shaper), _) => Kind::Cbs(Cbs {
                last: port.clock.shows(0).div_euclid(1000),
                credits: 0,
                idle_slope: i64::try_from(shaper.idle_slope.0 / 8).unwrap(),
                send_slope: -i64::try_from(shaper.send_slope.value().0 / 8).unwrap(),
                port_rate: port.rate / 8,
                most: shaper.hi_credit.value().0,
                least: shaper.lo_credit.value().0,
            }),
            (_, Some(etf)) => Kind::Etf(Etf {
                last: i64::MIN,
                delta: i64::try_from(etf.delta.picos()).unwrap(),
                is_deadline: etf.deadline_mode,
                is_exact: etf.offload && !has_driver,
            }),
            (None, None) => {
                assert!(matches!(queue, Queue::Fifo(_)), "no model of {queue}");
                Kind::Fifo
            }
        };
        Self {
            queue: queue.clone(),
            waiting: VecDeque::new(),
            kind,
            watchdog: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn enqueue(&mut self, frame: Frame, now: i64, drops: &mut Drops) {
        if let Kind::Etf(etf) = &self.kind {
            let Some(txtime) = frame.txtime else {
                drops.push((frame, DropReason::NoTxTime));
                return;
            };
            // A frame from before the last one that was released would leave out of order.
            if txtime < now || txtime < etf.last {
                drops.push((frame, DropReason::TxTimeInvalid));
                return;
            }
            if self.waiting.len() == ETF_LIMIT {
                drops.push((frame, DropReason::QueueFull));
                return;
            }
            // Frames with one txtime keep their order, as in the kernel's tree.
            let later = |other: &Frame| other.txtime > Some(txtime);
            let place = self.waiting.iter().position(later);
            self.waiting
                .insert(place.unwrap_or(self.waiting.len()), frame);
            return;
        }
        // An empty queue keeps no positive credit. `sch_cbs` notices that only when the next frame comes.
        if let Kind::Cbs(cbs) = &mut self.kind
            && self.waiting.is_empty()
            && cbs.credits > 0
        {
            cbs.credits = 0;
            cbs.last = now.div_euclid(1000);
        }
        let lengths = self.waiting.iter().map(|frame| frame.length);
        if has_room(limit(&self.queue), lengths, frame.length) {
            self.waiting.push_back(frame);
        } else {
            drops.push((frame, DropReason::QueueFull));
        }
    }

    /// Returns the frame that may leave now, without removing it, or sets the watchdog. `sch_cbs` itself hands the frame on when taprio
    /// looks at it; here its credit is spent when taprio takes it.
    pub(crate) fn next(&mut self, now: i64, drops: &mut Drops) -> Option<Frame> {
        self.watchdog = None;
        match &mut self.kind {
            Kind::Fifo => {}
            Kind::Cbs(cbs) => {
                let nanoseconds = now.div_euclid(1000);
                let wait = cbs.wait(nanoseconds);
                self.watchdog = wait.map(|wait| (nanoseconds + wait) * 1000);
            }
            Kind::Etf(etf) => {
                // The link may be busy at that time.
                let is_kept = etf.is_exact && !etf.is_deadline;
                while let Some(frame) = self.waiting.front()
                    && frame.txtime < Some(now)
                    && !is_kept
                {
                    drops.push((*frame, DropReason::TxTimeMissed));
                    self.waiting.pop_front();
                }
                let delta = if etf.is_exact { 0 } else { etf.delta };
                let release = self.waiting.front()?.txtime? - delta;
                self.watchdog = (release > now && !etf.is_deadline).then_some(release);
            }
        }
        self.waiting
            .front()
            .filter(|_| self.watchdog.is_none())
            .copied()
    }

    /// Removes the frame that [`Self::next`] returned.
    pub(crate) fn take(&mut self, now: i64) {
        let frame = self.waiting.pop_front().unwrap();
        match &mut self.kind {
            Kind::Fifo => {}
            Kind::Cbs(cbs) => cbs.spend(now.div_euclid(1000), frame.length.into()),
            Kind::Etf(etf) => etf.last = frame.txtime.unwrap(),
        }
    }
}

impl Cbs {
    /// Returns the time until a frame may leave, if none may leave now.
    fn wait(&mut self, now: i64) -> Option<i64> {
        if now < self.last && self.credits >= 0 {
            return Some(self.last - now);
        }
        if now >= self.last && self.credits < 0 {
            let gained = i128::from(now - self.last) * i128::from(self.idle_slope);
            let gained = i64::try_from(gained / i128::from(SECOND)).unwrap();
            self.credits = (self.credits + gained).min(self.most);
            if self.credits < 0 {
                self.last = now;
            }
        }
        if self.credits >= 0 {
            return None;
        }
        // The kernel rounds down, and its timer is late enough to make up for that. While a frame is sent, its timer fires at the end
        // first, which changes nothing.
        let missing = i128::from(-self.credits) * i128::from(SECOND);
        let wait = -(-missing).div_euclid(self.idle_slope.into());
        Some(self.last - now + i64::try_from(wait).unwrap())
    }

    fn spend(&mut self, now: i64, length: i64) {
        self.credits = (self.credits + length * self.send_slope / self.port_rate).max(self.least);
        self.last = now + length * SECOND / self.port_rate;
    }
}
