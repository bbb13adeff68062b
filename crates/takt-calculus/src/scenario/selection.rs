//! Server of each discipline: the rule of the calculus by which a class may send. A new discipline is an arm of the `match` here.

use takt_scenario::{CbsParameters, FqCodelParameters, Part, PortIndex, Queue, Scheduler, Taprio};

use super::error::ScenarioBoundsError;
use super::quantities::{bits_per_second, seconds_by, speed};
use super::reason::names;
use super::sound::Mapping;
use crate::Rational;
use crate::port::TransmissionSelection;

/// Bytes of a frame on the wire that Linux does not count: check sequence, preamble and interframe gap.
const UNCOUNTED_BYTES: u64 = 24;

/// Bytes of a VLAN tag. Linux does not count them where the device inserts the tag, because it is not a part of the buffer then.
const TAG_BYTES: u64 = 4;

impl Mapping<'_> {
    /// Returns the rule by which a class at a port may send its first frame. `one_length` is true if all its frames have one length.
    /// The calculus has a server for each rule. A discipline that is never idle while a frame waits has one of those that are there:
    /// `StrictPriority` if it keeps the order of frames, otherwise `FlowQueueing`.
    pub(super) fn selection(
        &self,
        id: PortIndex,
        class: usize,
        one_length: bool,
    ) -> Result<TransmissionSelection, ScenarioBoundsError> {
        let port = &self.scenario.ports[id.0];
        let clock = self.scenario.nodes[port.node.0].clock;
        match &port.discipline.scheduler {
            Scheduler::FqCodel(parameters) => return Ok(self.fair(parameters)),
            Scheduler::Taprio(taprio) if taprio.txtime_assist.is_some() => {
                return self.assisted(id, class, taprio, one_length);
            }
            Scheduler::Mqprio | Scheduler::Taprio(_) => {}
        }
        Ok(match &port.discipline.classes[class].queue {
            Queue::Fifo(_) => TransmissionSelection::StrictPriority,
            Queue::Cbs(shaper) => {
                let link = bits_per_second(self.scenario.links[port.link.0].rate);
                // Credit is gained by the node's clock.
                let idle_slope = Slopes::new(shaper, &link).idle * speed(clock);
                TransmissionSelection::CreditBased { idle_slope }
            }
            // Below gates, launch times have no curve of their own.
            Queue::Etf(_) if port.discipline.scheduler.gates().is_some() => {
                TransmissionSelection::StrictPriority
            }
            Queue::Etf(etf) => TransmissionSelection::EarliestTxTime {
                delta: match etf.offload {
                    true => Rational::ZERO,
                    false => seconds_by(etf.delta, clock),
                },
            },
        })
    }

    /// Makes the class of FQ_CoDel. With no more flows than queues, each flow is assumed to have a queue of its own.
    fn fair(&self, parameters: &FqCodelParameters) -> TransmissionSelection {
        let flows = u64::try_from(self.scenario.flows().len()).unwrap_or(u64::MAX);
        // `EgressPort` refuses a quantum of 0, with which no flow ever has its turn.
        if flows > parameters.flows || parameters.quantum.0 == 0 {
            return TransmissionSelection::FlowQueueing;
        }
        let bits = |bytes: u64| Rational::from(bytes) * Rational::from(8);
        TransmissionSelection::FairQueueing {
            quantum: bits(parameters.quantum.0),
            uncounted: bits(UNCOUNTED_BYTES),
            tag: bits(TAG_BYTES),
            driver_queue: self.realisation.driver_queue(),
        }
    }

    /// Makes a class below txtime-assist. Gates have no effect there, and the txtimes act as ETF in hardware does. A frame can
    /// pass a longer one that no longer fits into one window and waits for another.
    fn assisted(
        &self,
        id: PortIndex,
        class: usize,
        taprio: &Taprio,
        one_length: bool,
    ) -> Result<TransmissionSelection, ScenarioBoundsError> {
        let queue = &self.scenario.ports[id.0].discipline.classes[class].queue;
        let etf = queue.launch();
        let keeps_times = etf.is_some_and(|etf| etf.offload && !etf.deadline_mode);
        if !keeps_times {
            let (port, name) = names(self.scenario, id, class);
            return Err(ScenarioBoundsError::NotModelled {
                place: port,
                what: format!(
                    "frames of `{name}` would be sent before the times of txtime_assist: only etf with offload waits for these times"
                ),
                part: Part::Class { port: id, class },
            });
        }
        Ok(if one_length || taprio.windows(class).len() < 2 {
            TransmissionSelection::StrictPriority
        } else {
            TransmissionSelection::FlowQueueing
        })
    }
}

/// Slopes of a Credit-Based Shaper in the calculus's units.
///
/// Credit gains `idleSlope` over time and loses `sendSlope` instead while a frame is sent at the link's rate `C`: it is idleSlope
/// times the time, less `(idleSlope + sendSlope) / C` for each bit sent. Divided by that cost, it is the credit of a shaper whose
/// bits cost one each, and whose idleSlope is `idleSlope C / (idleSlope + sendSlope)`. Where sendSlope is the rest of the link's
/// rate, as in IEEE 802.1Q, the cost is 1.
pub(super) struct Slopes {
    pub(super) idle: Rational,
    pub(super) cost: Rational,
}

impl Slopes {
    pub(super) fn new(shaper: &CbsParameters, link: &Rational) -> Self {
        let idle = bits_per_second(shaper.idle_slope);
        let cost = (&idle + bits_per_second(shaper.send_slope.value())) / link;
        Self {
            idle: idle / &cost,
            cost,
        }
    }
}
