//! Ports and the streams that pass them: the calculus's model of a network of bridges and hosts.

use super::variation::{LoopbackStage, Variation};
use super::{EgressPort, PortError};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// The queue of a class at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    /// The port's index.
    pub port: usize,
    /// The class's index at the port; 0 is the highest.
    pub class: usize,
}

impl std::fmt::Display for QueueId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "port {}, class {}", self.port, self.class)
    }
}

/// A stage on the way of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A queue, and the link behind it until the last bit is sent.
    Queue(QueueId),
    /// Any stage that takes between `least` and `most` seconds for every frame, and keeps the order of the frames of one class: a
    /// cable, a bridge from one port to the next.
    Delay {
        /// Least delay, in seconds.
        least: Rational,
        /// Greatest delay, in seconds.
        most: Rational,
    },
    /// An application that sends the stream's frames again. It keeps their order, but frames of other streams may pass them.
    Loopback(LoopbackStage),
}

impl Step {
    /// Returns the least and the greatest delay, in seconds. `None` for a queue.
    pub(crate) fn delay(&self) -> Option<(&Rational, &Rational)> {
        match self {
            Self::Queue(_) => None,
            Self::Delay { least, most } => Some((least, most)),
            Self::Loopback(LoopbackStage { least, most, .. }) => Some((least, most)),
        }
    }
}

/// Traffic of one talker (a stream in IEEE 802.1Q).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// The frames that come to the first step, in bits over seconds.
    pub arrival: Curve,
    /// The longest frame, in bits on the wire.
    pub longest: Rational,
    /// The shortest frame, in bits on the wire.
    pub shortest: Rational,
    /// The stages of the way, in order.
    pub path: Vec<Step>,
    /// Beginning of the path that is that of another stream. `None` if the whole path is its own.
    pub branch: Option<Branch>,
}

/// Beginning of a stream's path at which its frames are those of another stream: a bridge replicates them behind (multicast). The
/// frames are in the shared queues once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// Index of the other stream, which must be an earlier one with the same frames and the same stages to there.
    pub of: usize,
    /// Number of shared queues, at least one. The last of them is the other stream's own; those before may belong to the stream
    /// whose branch that is.
    pub queues: usize,
}

/// Reasons why a network cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortNetworkError {
    /// A stream without a queue.
    #[error("stream {stream} passes no queue")]
    NoQueue {
        /// The stream's index.
        stream: usize,
    },
    /// A queue that does not exist.
    #[error("stream {stream} passes {queue}, which does not exist")]
    UnknownQueue {
        /// The stream's index.
        stream: usize,
        /// The queue.
        queue: QueueId,
    },
    /// A negative delay, or a least delay that is greater than the greatest.
    #[error("stream {stream}: delays from {least} s to {most} s are not a valid range")]
    Delay {
        /// The stream's index.
        stream: usize,
        /// The least delay, in seconds.
        least: Rational,
        /// The greatest delay, in seconds.
        most: Rational,
    },
    /// A loopback whose cycle is not above 0, or whose lateness is negative.
    #[error("stream {stream}: a loopback's cycle must be above 0, and its lateness at least 0")]
    Loopback {
        /// The stream's index.
        stream: usize,
    },
    /// A branch of a later stream, or of one with other frames or another beginning of the path.
    #[error("stream {stream}: its beginning is not that of the stream whose branch it is")]
    Branch {
        /// The stream's index.
        stream: usize,
    },
    /// A stream whose frames are longer or shorter than those of a class on its path, or whose arrival curve is below its longest
    /// frame.
    #[error(
        "stream {stream}: its frame sizes are outside those of {queue}, or its arrival curve is below its longest frame"
    )]
    Frames {
        /// The stream's index.
        stream: usize,
        /// The queue.
        queue: QueueId,
    },
    /// A port whose service cannot be computed.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A stream at a queue, and its way from the queue before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) stream: usize,
    /// Position of the queue in the stream's path, counted from 0.
    pub(crate) position: usize,
    /// The queue before.
    pub(crate) from: Option<QueueId>,
    /// Delay between both queues, in seconds.
    pub(crate) least: Rational,
    pub(crate) most: Rational,
    /// True if a loopback is between both queues.
    pub(crate) sent_again: bool,
    /// The part of `most` before the loopback.
    pub(crate) before_loopback: Rational,
}

/// Ports, and streams that pass their queues. Streams may depend on each other in a circle.
#[derive(Debug, Clone)]
pub struct PortNetwork {
    pub(crate) ports: Vec<EgressPort>,
    pub(crate) streams: Vec<Stream>,
    /// Queues of each stream's path.
    pub(crate) queues: Vec<Vec<QueueId>>,
    /// Variation of the delays right before each queue of each stream's path.
    pub(crate) variations: Vec<Vec<Variation>>,
    /// Visits of each class of each port. The frames of branches visit shared queues once, as those of the stream whose own the queue
    /// is.
    pub(crate) visits: Vec<Vec<Vec<Visit>>>,
    /// Streams that have some queues of each stream on their paths as shared ones.
    branches: Vec<Vec<usize>>,
    /// All queues, each behind those that it depends on as far as possible. From the index on, they depend on each other.
    pub(crate) order: Vec<QueueId>,
    pub(crate) cyclic_from: usize,
}

impl PortNetwork {
    /// Makes a network of these ports and streams. Streams must keep to their arrival curves, and to what
    /// [`LoopbackStage::cycle`] demands of talkers: neither is checked.
    ///
    /// # Errors
    /// A stream without a queue, with an unknown queue, with an impossible delay or loopback, with frames that its classes do
    /// not permit, or with a branch that is none.
    pub fn new(ports: Vec<EgressPort>, streams: Vec<Stream>) -> Result<Self, PortNetworkError> {
        let mut visits: Vec<Vec<Vec<Visit>>> = ports
            .iter()
            .map(|port| vec![Vec::new(); port.classes().len()])
            .collect();
        let mut queues = vec![Vec::new(); streams.len()];
        let mut variations = vec![Vec::new(); streams.len()];
        for (index, stream) in streams.iter().enumerate() {
            check_branch(&streams, index)?;
            let shared = stream.branch.map_or(0, |branch| branch.queues);
            let mut visit = Visit {
                stream: index,
                position: 0,
                from: None,
                least: Rational::ZERO,
                most: Rational::ZERO,
                sent_again: false,
                before_loopback: Rational::ZERO,
            };
            let mut variation = Variation::default();
            for step in &stream.path {
                if let Some((least, most)) = step.delay() {
                    if *least < Rational::ZERO || least > most {
                        return Err(PortNetworkError::Delay {
                            stream: index,
                            least: least.clone(),
                            most: most.clone(),
                        });
                    }
                    if matches!(step, Step::Loopback(_)) && !visit.sent_again {
                        visit.sent_again = true;
                        // The delay of the loopback itself is added below.
                        visit.before_loopback = visit.most.clone();
                    }
                    visit.least += least;
                    visit.most += most;
                }
                match step {
                    Step::Delay { least, most } => variation.add_spread(most - least),
                    Step::Loopback(loopback) if loopback.is_valid() => {
                        variation.add_loopback(loopback.clone());
                    }
                    Step::Loopback(_) => {
                        return Err(PortNetworkError::Loopback { stream: index });
                    }
                    Step::Queue(queue) => {
                        check(&ports, stream, index, *queue)?;
                        let next = Visit {
                            stream: index,
                            position: visit.position + 1,
                            from: Some(*queue),
                            least: Rational::ZERO,
                            most: Rational::ZERO,
                            sent_again: false,
                            before_loopback: Rational::ZERO,
                        };
                        let come = std::mem::replace(&mut visit, next);
                        if come.position >= shared {
                            visits[queue.port][queue.class].push(come);
                        }
                        queues[index].push(*queue);
                        variations[index].push(std::mem::take(&mut variation));
                    }
                }
            }
            if visit.from.is_none() {
                return Err(PortNetworkError::NoQueue { stream: index });
            }
        }
        let (order, cyclic_from) = order(&visits);
        let mut branches = vec![Vec::new(); streams.len()];
        for (index, stream) in streams.iter().enumerate() {
            for position in 0..stream.branch.map_or(0, |branch| branch.queues) {
                let of: &mut Vec<usize> = &mut branches[owner(&streams, index, position)];
                if of.last() != Some(&index) {
                    of.push(index);
                }
            }
        }
        Ok(Self {
            ports,
            streams,
            queues,
            variations,
            visits,
            branches,
            order,
            cyclic_from,
        })
    }

    /// Returns the ports.
    pub fn ports(&self) -> &[EgressPort] {
        &self.ports
    }

    /// Returns the streams.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Returns true if queues depend on each other in a circle.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic_from < self.order.len()
    }

    /// Returns the number of queues on all paths together, shared ones once.
    pub(crate) fn hops(&self) -> usize {
        self.visits.iter().flatten().map(Vec::len).sum()
    }

    /// Returns the stream that has the queue at a position of a stream's path as its own: another one if the queue is shared.
    pub(crate) fn owner(&self, stream: usize, position: usize) -> usize {
        owner(&self.streams, stream, position)
    }

    /// Returns the streams whose frames a visit is: its own, and those of branches behind.
    pub(crate) fn carried(&self, visit: &Visit) -> impl Iterator<Item = usize> {
        let (own, position) = (visit.stream, visit.position);
        let is_carried = move |stream: &usize| self.owner(*stream, position) == own;
        let branches = self.branches[own].iter().copied().filter(is_carried);
        std::iter::once(own).chain(branches)
    }

    pub(crate) fn visits(&self, queue: QueueId) -> &[Visit] {
        &self.visits[queue.port][queue.class]
    }

    /// Returns the least time in which a stream's frame passes a queue: that of its shortest frame on the link.
    pub(crate) fn least_delay(&self, stream: usize, queue: QueueId) -> Rational {
        &self.streams[stream].shortest / self.ports[queue.port].link_rate()
    }

    /// Returns the least time that a stream's frame needs for its way, in seconds.
    pub fn best_case(&self, stream: usize) -> Rational {
        let steps = self.streams[stream].path.iter();
        steps.fold(Rational::ZERO, |sum, step| {
            sum + match (step, step.delay()) {
                (Step::Queue(queue), _) => self.least_delay(stream, *queue),
                (_, Some((least, _))) => least.clone(),
                _ => Rational::ZERO,
            }
        })
    }
}

/// Returns the stream that has the queue at a position of a stream's path as its own.
fn owner(streams: &[Stream], stream: usize, position: usize) -> usize {
    let mut stream = stream;
    // The other stream is an earlier one, so this ends.
    while let Some(branch) = streams[stream].branch
        && position < branch.queues
    {
        stream = branch.of;
    }
    stream
}

/// Checks that a branch begins as the stream whose branch it is.
fn check_branch(streams: &[Stream], index: usize) -> Result<(), PortNetworkError> {
    let stream = &streams[index];
    let Some(branch) = stream.branch else {
        return Ok(());
    };
    let same = |other: &Stream| {
        let is_queue = |step: &&Step| matches!(step, Step::Queue(_));
        let begins = |path: &[Step]| {
            let ends = path.iter().enumerate().filter(|(_, step)| is_queue(step));
            ends.map(|(end, _)| end).nth(branch.queues.checked_sub(1)?)
        };
        let end = begins(&stream.path);
        let own = other.branch.map_or(0, |branch| branch.queues);
        branch.queues > own
            && end.is_some_and(|end| other.path.get(..=end) == stream.path.get(..=end))
            && other.arrival == stream.arrival
            && (&other.longest, &other.shortest) == (&stream.longest, &stream.shortest)
    };
    match branch.of < index && streams.get(branch.of).is_some_and(same) {
        true => Ok(()),
        false => Err(PortNetworkError::Branch { stream: index }),
    }
}

fn check(
    ports: &[EgressPort],
    stream: &Stream,
    index: usize,
    queue: QueueId,
) -> Result<(), PortNetworkError> {
    let class = ports
        .get(queue.port)
        .and_then(|port| port.classes().get(queue.class))
        .ok_or(PortNetworkError::UnknownQueue {
            stream: index,
            queue,
        })?;
    // Frames arrive as a whole, so the curve must permit the longest one at once.
    let whole = stream.arrival.right(&Rational::ZERO).0 >= Extended::Finite(stream.longest.clone());
    let fits = stream.longest <= class.longest
        && stream.shortest >= class.shortest
        && stream.shortest <= stream.longest;
    if whole && fits {
        Ok(())
    } else {
        Err(PortNetworkError::Frames {
            stream: index,
            queue,
        })
    }
}

/// Returns the queues in the order of their dependencies, and the index from which on there is no such order. The service of a
/// class depends on all higher classes of its port.
fn order(visits: &[Vec<Vec<Visit>>]) -> (Vec<QueueId>, usize) {
    let queues = || {
        visits.iter().enumerate().flat_map(|(port, classes)| {
            (0..classes.len()).map(move |class| QueueId { port, class })
        })
    };
    let mut behind: Vec<Vec<Vec<QueueId>>> = visits
        .iter()
        .map(|classes| vec![Vec::new(); classes.len()])
        .collect();
    let mut before: Vec<Vec<usize>> = visits
        .iter()
        .map(|classes| vec![0; classes.len()])
        .collect();
    for queue in queues() {
        // The class right above is enough: it depends on those above it in turn.
        let mut sources: Vec<QueueId> = visits[queue.port][queue.class]
            .iter()
            .filter_map(|visit| visit.from)
            .chain(queue.class.checked_sub(1).map(|class| QueueId {
                port: queue.port,
                class,
            }))
            .collect();
        // A source counts once, as it is subtracted once below.
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            behind[source.port][source.class].push(queue);
            before[queue.port][queue.class] += 1;
        }
    }
    let mut order: Vec<QueueId> = queues()
        .filter(|queue| before[queue.port][queue.class] == 0)
        .collect();
    let mut done = 0;
    while let Some(queue) = order.get(done).copied() {
        done += 1;
        for next in &behind[queue.port][queue.class] {
            before[next.port][next.class] -= 1;
            if before[next.port][next.class] == 0 {
                order.push(*next);
            }
        }
    }
    let cyclic_from = order.len();
    order.extend(queues().filter(|queue| before[queue.port][queue.class] > 0));
    (order, cyclic_from)
}
