//! Sound bounds of a scenario.

use takt_scenario::{Analysis, Flow, FlowSource, NodeIndex, PortIndex, Scenario};

use super::bounds::ScenarioBounds;
use super::error::ScenarioBoundsError;
use super::loopback::{loopback, publisher};
use super::quantities::{class_at, seconds, seconds_by, way_back};
use super::realisation::Realisation;
use crate::curve::{Curve, CurveError};
use crate::port::{
    Branch, EgressPort, FixedPoint, PortAnalyses, PortNetwork, QueueId, SoftwarePort, Step, Stream,
};
use crate::{FrameBits, Rational};

/// Number of exact steps of a staircase, besides those that come together because delays on the way vary. Behind them, arrivals
/// are the line above: a queue that is never empty for so many cycles is near overload, and the line is then a good
/// approximation.
const STEPS: u32 = 4;
/// Greatest variation of delays, in cycles, for which staircases are used. For a greater one, only the line above is used.
const MOST_STEPS: u32 = 64;
/// Number of queues on all paths together, above which arrivals are leaky buckets: sums of staircases have as many pieces as
/// steps.
const STEPS_UP_TO: usize = 20_000;

/// Assumption that gates and shapers in software replace by their own.
pub(super) const AS_IN_802_1Q: &str = "shapers and gates behave as in IEEE 802.1Q";

pub(super) const ASSUMPTIONS: &[&str] = &[
    "a Publisher sends one message in each cycle; a loopback takes all messages that have arrived",
    "threads are never later than the latency of their node; each clock has the offset and the drift that its node states",
    "nothing varies that the scenario does not vary: a message that always comes at one time of the loopback's cycle is always sent in the same cycle",
    "queues are long enough for the backlog given here, so that nothing is dropped",
    "hiCredit of a shaper behind gates, or below a class without a shaper, has room for all credit that it can gain",
    AS_IN_802_1Q,
    "gates of different ports may have any offset, except in the analysis `schedule`",
    "no frame preempts another; the links carry the traffic of the scenario only, and that of `lower_priority`",
];

/// Assumptions for FQ_CoDel where each flow has a queue of its own, besides [`ASSUMPTIONS`].
pub(super) const OF_FAIR_QUEUEING: &[&str] = &[
    "FQ_CoDel gives each flow a queue of its own: the hashes of no two flows at a port are equal",
    "each buffer in a queue of FQ_CoDel is one frame: segmentation by the device (TSO, GSO) is off, or no flow uses it",
];

/// Assumption for bridges whose forwarding delay the scenario does not tell.
pub(super) const OF_INSTANT_BRIDGES: &str = "bridges put a frame into the next queue as soon as its last bit has arrived, because the scenario has no `forwarding_delay` for them: bridges in software take tens of microseconds for each frame";

/// Assumption for FQ_CoDel of Linux with one frame in the driver.
pub(super) const ONE_FRAME_IN_DRIVER: &str = "Linux lets a frame pass that finds FQ_CoDel empty: at most one frame waits in the driver besides the one on the link";
/// The same for another number of frames.
pub(super) const FRAMES_IN_DRIVER: &str = "Linux lets a frame pass that finds FQ_CoDel empty: the driver holds at most the given number of frames besides the one on the link";

/// Assumption for gates in software.
pub(super) const OF_SOFTWARE_GATES: &str = "gates of sch_taprio in software, kernel 6.3 or later: traffic of `lower_priority` has windows of its own; each qdisc runs at the beginning of each entry and when the driver has room; the driver holds at most the given number of frames of each class besides the one on the link";
/// Assumption for shapers in software.
pub(super) const OF_SOFTWARE_SHAPERS: &str = "shapers of sch_cbs in software: timers fire at the first nanosecond at which credit is enough, at least 1 ns later than the kernel computes, which rounds down; the driver holds at most the given number of frames of each class besides the one on the link, and sends the highest class first";

/// Assumption that Linux breaks where a class has a Credit-Based Shaper.
pub(super) const BROKEN_BY_CBS: &str = "shapers: sch_cbs in software does not count 24 bytes of each frame, so that a class may send more than its idleSlope, and it gains no credit while it has some; the bounds hold for shapers of the device (`offload 1`)";
/// Assumption that Linux breaks where a port has gates.
pub(super) const BROKEN_BY_TAPRIO: &str = "gates: sch_taprio in software does not know when the link is free, and releases up to nine frames at once, which may end behind their window; the bounds hold for gates of the device (`flags 0x2`)";

/// The calculus's model of the scenario.
pub(super) struct Mapping<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) realisation: Realisation,
    /// Most frames that may come to a shaper in software while one of its frames waits.
    pub(super) later: u32,
    /// Index in the calculus of each class of each port of the scenario; `None` if no flow is in it.
    pub(super) classes: Vec<Vec<Option<usize>>>,
    pub(super) ports: Vec<EgressPort>,
    pub(super) streams: Vec<Stream>,
    /// First flow of each stream.
    pub(super) sources: Vec<&'a Flow>,
    /// True if streams arrive by staircases, which is exact; false if they arrive by the leaky buckets above.
    pub(super) in_steps: bool,
}

/// Numbers of frames that may come behind a waiting one, for shapers in software: tried in this order until no more can come.
const LATER: [u32; 5] = [4, 11, 64, 512, SoftwarePort::ANY];

pub(super) fn bounds(
    scenario: &Scenario,
    realisation: Realisation,
    analyses: &[Analysis],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let mut later = LATER.iter().copied();
    loop {
        let later = later.next().unwrap_or(SoftwarePort::ANY);
        let mapping = Mapping::of(scenario, realisation, later)?;
        let network = PortNetwork::new(mapping.ports.clone(), mapping.streams.clone())?;
        let found = network.analyse_with(analyses, &FixedPoint::default(), progress)?;
        if later < SoftwarePort::ANY && mapping.more_come(&found) {
            continue;
        }
        let mut bounds = mapping.named(&found);
        if analyses.contains(&Analysis::Schedule) {
            match mapping.has_software_gates() {
                true => bounds.refuse_schedule(),
                false => mapping.add_schedule(&mut bounds)?,
            }
        }
        return Ok(bounds);
    }
}

impl<'a> Mapping<'a> {
    fn of(
        scenario: &'a Scenario,
        realisation: Realisation,
        later: u32,
    ) -> Result<Self, ScenarioBoundsError> {
        let flows = scenario.flows().iter();
        let mut mapping = Self {
            scenario,
            realisation,
            later,
            classes: Vec::new(),
            ports: Vec::new(),
            streams: Vec::new(),
            sources: Vec::new(),
            in_steps: flows.map(|flow| flow.own_ports().len()).sum::<usize>() <= STEPS_UP_TO,
        };
        for port in 0..scenario.ports.len() {
            mapping.add_port(PortIndex(port))?;
        }
        for flow in scenario.flows() {
            mapping.add_stream(flow)?;
        }
        Ok(mapping)
    }

    /// Returns true if more frames than [`Self::later`] can come to a shaper in software while one of its frames waits.
    fn more_come(&self, found: &PortAnalyses) -> bool {
        let ports = self.ports.iter().enumerate();
        let mut queues = ports.flat_map(|(port, egress)| {
            (0..egress.classes().len()).map(move |class| (egress, QueueId { port, class }))
        });
        queues.any(|(egress, queue)| {
            let Some(bounds) = found.total_flow.queue(queue) else {
                return false;
            };
            let delay = bounds.delay.finite();
            delay.is_some_and(|delay| egress.loses_more(queue.class, &bounds.arrival, delay))
        })
    }

    /// Adds one stream for a flow. Messages that a loopback sends back belong to the same stream, further on. Each way to one of several
    /// subscribers is a stream, which shares its beginning with another one.
    fn add_stream(&mut self, flow: &'a Flow) -> Result<(), ScenarioBoundsError> {
        let scenario = self.scenario;
        let mut path = Vec::new();
        match flow.source {
            FlowSource::Return(_) => return Ok(()),
            FlowSource::Cross(_) => self.way(flow, &mut path),
            FlowSource::Publish(id) | FlowSource::Branch(id, _) => {
                let application = &scenario.applications[id.0];
                let node = |id: NodeIndex| &scenario.nodes[id.0];
                self.check_txtimes(flow, application)?;
                let late = publisher(application, node(application.publisher));
                path.push(Step::Delay {
                    least: late.least,
                    most: late.most,
                });
                self.way(flow, &mut path);
                if let (Some(back), Some(receiver)) = (
                    way_back(scenario, flow.source),
                    application.receiver.loopback(),
                ) {
                    let held = loopback(application, node(application.publisher), node(receiver));
                    path.push(Step::Loopback(held));
                    self.way(back, &mut path);
                }
            }
        }
        let bits = flow.frame.physical_bits();
        let clock = |id: NodeIndex| scenario.nodes[id.0].clock;
        let arrival = match flow.source {
            FlowSource::Cross(id) => {
                let traffic = &scenario.cross_traffic[id.0];
                match traffic.arrival_bound() {
                    Some(bound) => {
                        let burst = &bits * Rational::from(bound.frames);
                        let interval = seconds_by(bound.interval, clock(traffic.from));
                        self.periodic(burst, interval, &path)?
                    }
                    // Poisson traffic has no arrival curve: everything may come at once.
                    None => Curve::burst_delay(Rational::ZERO)?,
                }
            }
            FlowSource::Publish(id) | FlowSource::Return(id) | FlowSource::Branch(id, _) => {
                let publisher = scenario.applications[id.0].publisher;
                let cycle = seconds_by(flow.interval, clock(publisher));
                self.periodic(bits.clone(), cycle, &path)?
            }
        };
        self.streams.push(Stream {
            arrival,
            longest: bits.clone(),
            shortest: bits,
            path,
            branch: branch(flow, &self.sources),
        });
        self.sources.push(flow);
        Ok(())
    }

    /// Returns the arrivals of so many bits at once in each cycle: a staircase, exact for some cycles behind the variation of the
    /// delays on the path, and then the line above.
    fn periodic(
        &self,
        bits: Rational,
        cycle: Rational,
        path: &[Step],
    ) -> Result<Curve, CurveError> {
        if !self.in_steps {
            let rate = &bits / cycle;
            return Curve::leaky_bucket(bits, rate);
        }
        let delays = path.iter().filter_map(Step::delay);
        let varies = delays.fold(Rational::ZERO, |sum, (least, most)| sum + most - least);
        let together = u32::try_from((varies / &cycle).floor()).unwrap_or(MOST_STEPS);
        Curve::staircase(bits, cycle, STEPS + together.min(MOST_STEPS))
    }

    pub(super) fn way(&self, flow: &Flow, path: &mut Vec<Step>) {
        let scenario = self.scenario;
        for (position, id) in flow.ports.iter().enumerate() {
            let port = &scenario.ports[id.0];
            let class = class_at(scenario, flow, *id);
            if let Some(class) = self.classes[id.0][class] {
                path.push(Step::Queue(QueueId { port: id.0, class }));
            }
            let cable = seconds(scenario.links[port.link.0].length.propagation());
            let (mut least, mut most) = (cable.clone(), cable);
            // The last link ends at a host, which forwards nothing.
            if position + 1 < flow.ports.len() {
                let bridge = &scenario.nodes[port.to.0];
                least += seconds(bridge.forwarding_delay_least);
                most += seconds(bridge.forwarding_delay);
            }
            path.push(Step::Delay { least, most });
        }
    }
}

/// Returns the shared beginning of a flow. `sources` are the flows of the streams so far.
pub(super) fn branch(flow: &Flow, sources: &[&Flow]) -> Option<Branch> {
    let fork = flow.fork?;
    let of = sources.iter().position(|other| other.source == fork.of)?;
    // A flow has a queue at each of its ports.
    Some(Branch {
        of,
        queues: fork.shared,
    })
}
