//! Translation of a scenario's ports to those of the calculus.

use takt_scenario::{Credit, LowerPriority, Part, PortIndex};

use super::error::ScenarioBoundsError;
use super::quantities::{bits_per_second, class_at, class_name, seconds_by, speed};
use super::realisation::Realisation;
use super::reason::names;
use super::selection::Slopes;
use super::sound::Mapping;
use crate::port::{
    EgressPort, GateControlEntry, GateControlList, PortClass, PortError, SoftwarePort,
    SoftwareShaper, TransmissionSelection,
};
use crate::{FrameBits, Rational};

/// Bits of a VLAN tag. Linux does not count them where the tag is not in the data of a buffer.
const TAG: u32 = 32;

impl Mapping<'_> {
    /// Adds a port. Classes that no flow is in are left out.
    pub(super) fn add_port(&mut self, id: PortIndex) -> Result<(), ScenarioBoundsError> {
        let scenario = self.scenario;
        let port = &scenario.ports[id.0];
        let link = bits_per_second(scenario.links[port.link.0].rate);
        let clock = scenario.nodes[port.node.0].clock;
        let mut classes = Vec::new();
        let mut indices = Vec::new();
        for index in 0..port.discipline.classes.len() {
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
            let selection = self.selection(id, index, shortest == longest)?;
            classes.push(PortClass {
                selection,
                longest: longest.clone(),
                shortest: shortest.clone(),
            });
        }
        let is_gated = port.discipline.scheduler.gates().is_some();
        if let LowerPriority::AtMost(frame) = scenario.bounds.lower_priority
            && !is_gated
        {
            // Frames of traffic outside the scenario are below all classes. Gates keep them away, except in software: `outside` below.
            classes.push(PortClass {
                selection: TransmissionSelection::StrictPriority,
                longest: frame.physical_bits(),
                // The scenario states only the longest frame of this traffic.
                shortest: Rational::ZERO,
            });
        }
        let port_error = |reason| self.port_error(id, &indices, reason);
        let mut egress = EgressPort::new(link.clone(), classes).map_err(port_error)?;
        let queues = port.discipline.classes.iter().zip(&indices);
        for (class, index) in queues {
            if let (Some(shaper), Some(index)) = (class.queue.shaper(), index) {
                let slopes = Slopes::new(shaper, &link);
                let bits =
                    |credit: Credit| Rational::from(credit.0) * Rational::from(8) / &slopes.cost;
                let mut high = bits(shaper.hi_credit.value());
                // HiCredit is assumed to leave room for credit that rises higher behind gates.
                if is_gated && let Some((_, needed)) = egress.credit_limits(*index) {
                    high = high.max(needed);
                }
                // By a slow clock a frame ends before it has cost all its credit.
                let gained = &slopes.idle / &link * (speed(clock) - Rational::ONE);
                let longest = &egress.classes()[*index].longest;
                let low = bits(shaper.lo_credit.value()) + longest * gained.min(Rational::ZERO);
                egress
                    .check_credit(*index, &low, &high)
                    .map_err(port_error)?;
            }
        }
        if let Some(gates) = self.gates(id, &indices)? {
            egress = egress.with_gates(gates).map_err(port_error)?;
        }
        let device = port.discipline.scheduler.gates();
        let device = device.is_some_and(|taprio| taprio.offload);
        if self.realisation.is_software() && device {
            self.refuse_shapers(id, &indices)?;
        } else if self.realisation.is_software() {
            let software = self.software(id, &indices, &link);
            egress = egress.in_software(&software).map_err(port_error)?;
        }
        self.ports.push(egress);
        self.classes.push(indices);
        Ok(())
    }

    /// Refuses shapers of the kernel whose frames then wait for gates of the device.
    fn refuse_shapers(
        &self,
        id: PortIndex,
        indices: &[Option<usize>],
    ) -> Result<(), ScenarioBoundsError> {
        let classes = self.scenario.ports[id.0].discipline.classes.iter();
        let mut used = classes.zip(indices).enumerate();
        let shaped =
            used.find(|(_, (class, index))| index.is_some() && class.queue.shaper().is_some());
        let Some((class, _)) = shaped else {
            return Ok(());
        };
        let (place, name) = names(self.scenario, id, class);
        Err(ScenarioBoundsError::NotModelled {
            place,
            what: format!(
                "the shaper of `{name}` in software, whose frames then wait for gates of the device"
            ),
            part: Part::Class { port: id, class },
        })
    }

    /// Returns the settings of the kernel's gates and shapers at a port.
    fn software(&self, id: PortIndex, indices: &[Option<usize>], link: &Rational) -> SoftwarePort {
        let port = &self.scenario.ports[id.0];
        let used = port.discipline.classes.iter().zip(indices).enumerate();
        let used = used.filter(|(_, (_, index))| index.is_some());
        let launches = used.clone().map(|(_, (class, _))| {
            let etf = class.queue.launch();
            etf.is_some_and(|etf| !etf.deadline_mode)
        });
        let launches = launches.collect();
        let kept_by_device = used
            .clone()
            .map(|(_, (class, _))| class.queue.launch().is_some_and(|etf| etf.offload));
        let kept_by_device = kept_by_device.collect();
        let uncounted = |index: usize| {
            let flows = self.scenario.flows().iter();
            let flows = flows.filter(|flow| {
                flow.ports.contains(&id) && class_at(self.scenario, flow, id) == index
            });
            let frames = flows.map(|flow| flow.frame.physical_bits() - flow.frame.l2_bits());
            frames.max().unwrap_or(Rational::ZERO) + Rational::from(TAG)
        };
        let shapers = used.map(|(index, (class, _))| {
            let shaper = class.queue.shaper()?;
            // The kernel counts whole bytes per second.
            let idle_slope =
                Rational::from(shaper.idle_slope.bits_per_second() / 8) * Rational::from(8);
            Some(SoftwareShaper {
                idle_slope,
                cost: Slopes::new(shaper, link).cost,
                hi_credit: Rational::from(shaper.hi_credit.value().0) * Rational::from(8),
                most_uncounted: uncounted(index),
            })
        });
        SoftwarePort {
            driver_queue: self.realisation.driver_queue().unwrap_or(1),
            speed: speed(self.scenario.nodes[port.node.0].clock),
            launches,
            kept_by_device,
            shapers: shapers.collect(),
            later: self.later,
            outside: match self.scenario.bounds.lower_priority {
                LowerPriority::AtMost(frame) => frame.physical_bits(),
                LowerPriority::Declared => Rational::ZERO,
            },
        }
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
        let Some(taprio) = port.discipline.scheduler.gates() else {
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
        let gates = match self.realisation {
            Realisation::Ieee => gates,
            Realisation::Linux { .. } | Realisation::Software { .. } => {
                gates.map(GateControlList::closing_early)
            }
        };
        let gates = match taprio.txtime_assist {
            Some(delay) => gates.and_then(|gates| gates.with_txtime_assist(by_clock(delay))),
            None => gates,
        };
        gates.map(Some).map_err(port_error)
    }
}
