//! Bounds for streams whose talkers and ports share a clock. The time in the cycle at which a frame comes is then known, and with
//! it the window in which the frame is sent. It is here, beside the other analyses, because these take each window at its worst
//! phase.

use super::gates::{GateControlList, Window};
use super::network::{PortNetwork, QueueId, Visit};
use super::{EgressPort, TransmissionSelection};
use crate::Rational;

/// Times at which frames of a stream come to its first step: `offset` after the beginning of a gate cycle that starts at time 0,
/// up to `jitter` later, and at most one in each cycle. In seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseTimes {
    /// Earliest time.
    pub offset: Rational,
    /// Greatest lateness.
    pub jitter: Rational,
}

/// End of a scheduled stream's frames, in seconds since the stream's `offset`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// Latest end: the delay.
    pub delay: Rational,
    /// Difference between the latest and the earliest end.
    pub jitter: Rational,
}

/// Reasons why a stream's way through the windows is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotScheduled {
    /// Queues depend on each other in a circle.
    #[error("queues depend on each other in a cycle")]
    Circle,
    /// A stream at this queue without a known release, or whose way to here is not known.
    #[error("{queue}: the arrival times of frames of stream {stream} are unknown")]
    Unknown {
        /// The queue.
        queue: QueueId,
        /// The stream.
        stream: usize,
    },
    /// A class in whose windows other classes may send, or that waits for more than windows.
    #[error("{0}: other classes may send in its windows")]
    Shared(QueueId),
    /// Ports with different cycles.
    #[error("{0}: its gate control list has another cycle time")]
    Cycle(QueueId),
    /// Windows that cannot send all frames of a cycle before those of the next one come.
    #[error("{0}: frames of one cycle are still queued when those of the next arrive")]
    Full(QueueId),
}

/// Begin and end, in seconds.
type Interval = (Rational, Rational);

/// Arrivals of one stream at a queue in each cycle.
struct Coming {
    /// Time of the arrival, since the stream's own cycle began.
    when: Interval,
    longest: Rational,
    shortest: Rational,
}

impl PortNetwork {
    /// Returns the end of each stream with a [`ReleaseTimes`]. All classes on its way must have windows of their own, or no gates
    /// and no class above them. `clock_error` is the greatest error of any clock, of ports and talkers, in seconds.
    ///
    /// In each cycle, all arrivals are sent before the first of the next cycle: this is checked, not assumed.
    pub fn scheduled(
        &self,
        releases: &[Option<ReleaseTimes>],
        clock_error: &Rational,
    ) -> Vec<Result<Scheduled, NotScheduled>> {
        // Departures of each stream at each queue of its own. Those of shared queues stay unknown, and are never asked for.
        let unknown = |queues: &Vec<QueueId>| vec![Err(NotScheduled::Circle); queues.len()];
        let mut left: Vec<Vec<Result<Interval, NotScheduled>>> =
            self.queues.iter().map(unknown).collect();
        if self.is_cyclic() {
            return left.iter().map(|_| Err(NotScheduled::Circle)).collect();
        }
        let gates = self.ports.iter().find_map(|port| port.gates.as_ref());
        let cycle = gates.map(|gates| gates.cycle_time().clone());
        for queue in &self.order {
            let coming = self.coming(*queue, releases, clock_error, &left);
            let sent = coming.and_then(|coming| {
                let port = &self.ports[queue.port];
                port.send(*queue, &coming, cycle.as_ref(), clock_error)
            });
            for (index, visit) in self.visits(*queue).iter().enumerate() {
                let own = sent.clone().map(|sent| sent[index].clone());
                left[visit.stream][visit.position] = own;
            }
        }
        let streams = 0..self.streams.len();
        streams
            .map(|stream| {
                // `new` refuses streams without a queue.
                let last = self.queues[stream].len() - 1;
                let (early, late) = left[self.owner(stream, last)][last].clone()?;
                let release = releases.get(stream).and_then(Option::as_ref);
                let offset = release.map_or(Rational::ZERO, |release| release.offset.clone());
                let (least, most) = self.trailing(stream);
                Ok(Scheduled {
                    jitter: &late + &most - early - least,
                    delay: late + most - offset,
                })
            })
            .collect()
    }

    fn coming(
        &self,
        queue: QueueId,
        releases: &[Option<ReleaseTimes>],
        clock_error: &Rational,
        left: &[Vec<Result<Interval, NotScheduled>>],
    ) -> Result<Vec<Coming>, NotScheduled> {
        let when = |visit: &Visit| -> Option<Interval> {
            let (early, late) = match visit.position.checked_sub(1) {
                Some(before) => {
                    let owner = self.owner(visit.stream, before);
                    left[owner].get(before)?.clone().ok()?
                }
                // The first queue of a branch is shared, so this is the stream that begins there.
                None => {
                    let release = releases.get(visit.stream)?.as_ref()?;
                    let late = &release.offset + &release.jitter + clock_error;
                    (&release.offset - clock_error, late)
                }
            };
            Some((early + &visit.least, late + &visit.most))
        };
        let visits = self.visits(queue).iter();
        visits
            .map(|visit| {
                let stream = &self.streams[visit.stream];
                Ok(Coming {
                    when: when(visit).ok_or(NotScheduled::Unknown {
                        queue,
                        stream: visit.stream,
                    })?,
                    longest: stream.longest.clone(),
                    shortest: stream.shortest.clone(),
                })
            })
            .collect()
    }

    /// Returns the least and the greatest delay behind a stream's last queue.
    fn trailing(&self, stream: usize) -> Interval {
        let mut sum = (Rational::ZERO, Rational::ZERO);
        for step in self.streams[stream].path.iter().rev() {
            let Some((least, most)) = step.delay() else {
                break;
            };
            sum.0 += least;
            sum.1 += most;
        }
        sum
    }
}

impl EgressPort {
    /// Returns the departures of the arrivals in each cycle.
    fn send(
        &self,
        queue: QueueId,
        coming: &[Coming],
        cycle: Option<&Rational>,
        clock_error: &Rational,
    ) -> Result<Vec<Interval>, NotScheduled> {
        let cycle = cycle.ok_or(NotScheduled::Cycle(queue))?;
        let service = self.slots(queue, cycle)?;
        // A cycle is assumed to begin when the frames of some stream come at the earliest. With the right stream, the cycle ends
        // before they come again.
        for first in coming {
            let begin = &first.when.0 - clock_error;
            let placed: Vec<Interval> = coming
                .iter()
                .map(|frame| {
                    let (early, late) = (&frame.when.0 - clock_error, &frame.when.1 + clock_error);
                    let cycles = Rational::from(((&early - &begin) / cycle).floor()) * cycle;
                    (early - &cycles, late - cycles)
                })
                .collect();
            let end = &begin + cycle;
            let sent = coming.iter().enumerate().map(|(index, frame)| {
                let (early, late) = &placed[index];
                let before = coming.iter().zip(&placed).enumerate();
                let frames =
                    before.filter(|(other, (_, (early, _)))| *other == index || early <= late);
                let frames: Vec<&Rational> = frames.map(|(_, (other, _))| &other.longest).collect();
                let finished = service
                    .finish(late, &frames)
                    .filter(|finished| *finished <= end)?;
                let earliest = service.first(early, &frame.shortest)?;
                // Times are converted back to the stream's own cycle, and to the true time.
                let cycles = &frame.when.0 - clock_error - early;
                Some((
                    earliest + &cycles - clock_error,
                    finished + cycles + clock_error,
                ))
            });
            if let Some(sent) = sent.collect::<Option<Vec<Interval>>>() {
                return Ok(sent);
            }
        }
        // Without arrivals, no cycle was tried.
        if coming.is_empty() {
            return Ok(Vec::new());
        }
        Err(NotScheduled::Full(queue))
    }

    fn slots(&self, queue: QueueId, cycle: &Rational) -> Result<Slots<'_>, NotScheduled> {
        let class = &self.classes[queue.class];
        let known = matches!(
            class.selection,
            TransmissionSelection::StrictPriority | TransmissionSelection::EarliestTxTime { .. }
        );
        if !known {
            return Err(NotScheduled::Shared(queue));
        }
        let used = |other: &usize| *other != queue.class && !self.classes[*other].longest.is_zero();
        let others = (0..self.classes.len()).filter(used);
        let mut slots = Slots {
            rate: &self.link_rate,
            cycle: cycle.clone(),
            base: Rational::ZERO,
            late: Rational::ZERO,
            windows: None,
        };
        let Some(gates) = &self.gates else {
            if others.clone().any(|other| other < queue.class) {
                return Err(NotScheduled::Shared(queue));
            }
            slots.late = self.longest_below(queue.class) / &self.link_rate;
            return Ok(slots);
        };
        if gates.cycle_time() != cycle {
            return Err(NotScheduled::Cycle(queue));
        }
        if others
            .clone()
            .any(|other| gates.overlap(queue.class, other))
        {
            return Err(NotScheduled::Shared(queue));
        }
        slots.base = gates.base_time().clone();
        slots.late = gates.txtime_delay().cloned().unwrap_or_default();
        slots.windows = gates.windows(queue.class).map(|windows| (gates, windows));
        Ok(slots)
    }
}

/// Times at which a class may send.
struct Slots<'a> {
    rate: &'a Rational,
    cycle: Rational,
    base: Rational,
    /// Time that passes before anything is sent: one lower frame, or the delay of `txtime-assist`.
    late: Rational,
    /// Windows of the class; it may always send if there are none.
    windows: Option<(&'a GateControlList, Vec<Window>)>,
}

impl Slots<'_> {
    /// Returns the windows that end behind a time, for two cycles, or their remaining parts: from, to.
    fn from(&self, time: &Rational) -> Option<Vec<Interval>> {
        let (_, windows) = self.windows.as_ref()?;
        // The search begins a cycle earlier, because the last window of a cycle may continue in the next one.
        let begin = Rational::from(((time - &self.base) / &self.cycle).floor() - 1) * &self.cycle;
        let begin = begin + &self.base;
        // Windows further on are of no use: `send` refuses frames that end behind their own cycle.
        let cycles = (0..4u32).map(|number| &begin + &self.cycle * Rational::from(number));
        let all = cycles.flat_map(|cycle| {
            windows.iter().map(move |window| {
                let start = &cycle + &window.start;
                let end = &start + &window.length;
                (start, end)
            })
        });
        let left = all.filter(|(_, end)| end > time);
        Some(
            left.map(|(start, end)| (start.max(time.clone()), end))
                .collect(),
        )
    }

    /// Returns the time until which frames that are all there at `time` are sent, in any order. If some were sent before, the
    /// result is not later.
    fn finish(&self, time: &Rational, frames: &[&Rational]) -> Option<Rational> {
        let time = time + &self.late;
        let takes: Vec<Rational> = frames.iter().map(|frame| *frame / self.rate).collect();
        let (longest, shortest) = (takes.iter().max()?, takes.iter().min()?);
        let mut remaining = takes.iter().fold(Rational::ZERO, |sum, frame| sum + frame);
        let (Some((gates, _)), Some(windows)) = (&self.windows, self.from(&time)) else {
            return Some(time + remaining);
        };
        for (start, end) in windows {
            let open = end - &start;
            // Any of the frames can be the last. It must have the room that the end of a window leaves.
            if &remaining - shortest + gates.room(shortest) <= open {
                return Some(start + remaining);
            }
            // A frame that no longer fits leaves the end unused: less than the longest frame needs.
            let used = if longest == shortest {
                longest * gates.whole_frames(&open, longest)
            } else {
                (open - gates.room(longest)).max(Rational::ZERO)
            };
            remaining -= used;
        }
        None
    }

    /// Returns the earliest time at which a frame can be sent. `txtime-assist` and other frames only delay it.
    fn first(&self, time: &Rational, frame: &Rational) -> Option<Rational> {
        let takes = frame / self.rate;
        let (Some((gates, _)), Some(windows)) = (&self.windows, self.from(time)) else {
            return Some(time + takes);
        };
        let room = gates.room(&takes);
        let fits = windows
            .into_iter()
            .find(|(start, end)| start + &room <= *end);
        fits.map(|(start, _)| start + takes)
    }
}
