//! Translation of a scenario's ports to those of the calculus.

use takt_scenario::{
    ClockModel, Credit, FqCodelParameters, LowerPriority, Part, PortIndex, Queue, Rate, Scheduler,
    Taprio,
};

use super::error::ScenarioBoundsError;
use super::quantities::{bits_per_second, class_at, class_name, seconds_by, speed};
use super::reason::names;
use super::sound::Mapping;
use crate::port::{
    EgressPort, GateControlEntry, GateControlList, PortClass, PortError, TransmissionSelection,
};
use crate::{FrameBits, Rational};

/// Bytes of a frame on the wire that Linux does not count: check sequence, preamble and interframe gap.
const UNCOUNTED_BYTES: u64 = 24;

/// Bytes of a VLAN tag. Linux does not count them where the device inserts the tag, because it is not a part of the buffer then.
const TAG_BYTES: u64 = 4;

impl Mapping<'_> {
    /// Adds a port. Classes that no flow is in are left out.
    pub(super) fn add_port(&mut self, id: PortIndex) -> Result<(), ScenarioBoundsError> {
        let scenario = self.scenario;
        let port = &scenario.ports[id.0];
        let link = bits_per_second(scenario.links[port.link.0].rate);
        let clock = scenario.nodes[port.node.0].clock;
        let mut classes = Vec::new();
        let mut indices = Vec::new();
        for (index, class) in port.discipline.classes.iter().enumerate() {
            let flows = scenario
                .flows()
                .iter()
                .filter(|flow| flow.ports.contains(&id) && class_at(scenario, flow, id) == index);
            let sizes: Vec<Rational> = flows.map(|flow| flow.frame.physical_bits()).collect();
            let (Some(shortest), Some(longest)) = (sizes.iter().min(), sizes.iter().max()) else {
                indices.push(None);
                continue;
            };
            indices.push(Some(classes.len()));
            let selection = match &port.discipline.scheduler {
                Scheduler::Taprio(taprio) if taprio.txtime_assist.is_some() => {
                    self.assisted(id, index, taprio, shortest == longest)?
                }
                Scheduler::FqCodel(parameters) => self.fair(parameters),
                scheduler => selection(&class.queue, scheduler, &link, clock),
            };
            classes.push(PortClass {
                selection,
                longest: longest.clone(),
                shortest: shortest.clone(),
            });
        }
        let is_gated = matches!(port.discipline.scheduler, Scheduler::Taprio(_));
        if let LowerPriority::AtMost(frame) = scenario.bounds.lower_priority
            && !is_gated
        {
            // Frames of traffic outside the scenario are below all classes. Gates keep them away.
            classes.push(PortClass {
                selection: TransmissionSelection::StrictPriority,
                longest: frame.physical_bits(),
                shortest: Rational::ZERO,
            });
        }
        let port_error = |reason| self.port_error(id, &indices, reason);
        let mut egress = EgressPort::new(link.clone(), classes).map_err(port_error)?;
        let queues = port.discipline.classes.iter().zip(&indices);
        for (class, index) in queues {
            if let (
                Queue::Cbs {
                    idle_slope,
                    send_slope,
                    hi_credit,
                    lo_credit,
                    ..
                },
                Some(index),
            ) = (&class.queue, index)
            {
                let slopes = Slopes::new(*idle_slope, *send_slope, &link);
                let bits =
                    |credit: &Credit| Rational::from(credit.0) * Rational::from(8) / &slopes.cost;
                let mut high = bits(hi_credit);
                // HiCredit is assumed to leave room for credit that rises higher behind gates.
                if is_gated && let Some((_, needed)) = egress.credit_limits(*index) {
                    high = high.max(needed);
                }
                // By a slow clock a frame ends before it has cost all its credit.
                let gained = &slopes.idle / &link * (speed(clock) - Rational::ONE);
                let longest = &egress.classes()[*index].longest;
                let low = bits(lo_credit) + longest * gained.min(Rational::ZERO);
                egress
                    .check_credit(*index, &low, &high)
                    .map_err(port_error)?;
            }
        }
        if let Some(gates) = self.gates(id, &indices)? {
            egress = egress.with_gates(gates).map_err(port_error)?;
        }
        self.ports.push(egress);
        self.classes.push(indices);
        Ok(())
    }

    /// Returns an error of a port with the names of its classes. `indices` are the calculus's indices of the classes.
    fn port_error(
        &self,
        id: PortIndex,
        indices: &[Option<usize>],
        reason: PortError,
    ) -> ScenarioBoundsError {
        let in_scenario = |class: usize| indices.iter().position(|index| *index == Some(class));
        let name = |class: usize| match in_scenario(class) {
            Some(class) => format!("class {}", class_name(self.scenario, id, class)),
            None => "the class of lower priority".to_owned(),
        };
        let class = reason.class().and_then(in_scenario);
        ScenarioBoundsError::Port {
            port: self.scenario.port_name(id),
            what: reason.with_names(name),
            part: class.map_or(Part::Discipline(id), |class| Part::Class {
                port: id,
                class,
            }),
            reason: Box::new(reason),
        }
    }

    pub(super) fn gates(
        &self,
        id: PortIndex,
        indices: &[Option<usize>],
    ) -> Result<Option<GateControlList>, ScenarioBoundsError> {
        let port = &self.scenario.ports[id.0];
        let Scheduler::Taprio(taprio) = &port.discipline.scheduler else {
            return Ok(None);
        };
        if indices.iter().all(Option::is_none) {
            return Ok(None);
        }
        let clock = self.scenario.nodes[port.node.0].clock;
        let by_clock = |time| seconds_by(time, clock);
        let entries = taprio.entries.iter().map(|entry| {
            let open = indices
                .iter()
                .enumerate()
                .filter(|(class, _)| entry.is_open(*class));
            let gates = open
                .filter_map(|(_, index)| *index)
                .fold(0u64, |gates, index| gates | 1 << index);
            GateControlEntry {
                gates,
                interval: by_clock(entry.interval),
            }
        });
        let port_error = |reason| self.port_error(id, indices, PortError::Gate(reason));
        let (base_time, cycle_time) = (by_clock(taprio.base_time), by_clock(taprio.cycle_time));
        let gates = GateControlList::new(base_time, cycle_time, entries.collect())
            .and_then(|gates| gates.with_guard_band(by_clock(taprio.guard_band)));
        let gates = match taprio.txtime_assist {
            Some(delay) => gates.and_then(|gates| gates.with_txtime_assist(by_clock(delay))),
            None => gates,
        };
        gates.map(Some).map_err(port_error)
    }
}

impl Mapping<'_> {
    /// Makes the class of FQ_CoDel. With no more flows than queues, each flow is assumed to have a queue of its own.
    fn fair(&self, parameters: &FqCodelParameters) -> TransmissionSelection {
        let flows = u64::try_from(self.scenario.flows().len()).unwrap_or(u64::MAX);
        if flows > parameters.flows || parameters.quantum.0 == 0 {
            return TransmissionSelection::FlowQueueing;
        }
        let bits = |bytes: u64| Rational::from(bytes) * Rational::from(8);
        TransmissionSelection::FairQueueing {
            quantum: bits(parameters.quantum.0),
            uncounted: bits(UNCOUNTED_BYTES),
            tag: bits(TAG_BYTES),
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
        let keeps_times = matches!(
            queue,
            Queue::Etf {
                offload: true,
                deadline_mode: false,
                ..
            }
        );
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
struct Slopes {
    idle: Rational,
    cost: Rational,
}

impl Slopes {
    fn new(idle_slope: Rate, send_slope: Rate, link: &Rational) -> Self {
        let idle = bits_per_second(idle_slope);
        let cost = (&idle + bits_per_second(send_slope)) / link;
        Self {
            idle: idle / &cost,
            cost,
        }
    }
}

fn selection(
    queue: &Queue,
    scheduler: &Scheduler,
    link: &Rational,
    clock: ClockModel,
) -> TransmissionSelection {
    match (scheduler, queue) {
        (
            _,
            Queue::Cbs {
                idle_slope,
                send_slope,
                ..
            },
        ) => TransmissionSelection::CreditBased {
            // Credit is gained by the node's clock.
            idle_slope: Slopes::new(*idle_slope, *send_slope, link).idle * speed(clock),
        },
        (Scheduler::Mqprio, Queue::Etf { delta, offload, .. }) => {
            TransmissionSelection::EarliestTxTime {
                delta: if *offload {
                    Rational::ZERO
                } else {
                    seconds_by(*delta, clock)
                },
            }
        }
        _ => TransmissionSelection::StrictPriority,
    }
}
