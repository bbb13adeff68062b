//! Ports: the discipline of each, resolved for the flows that pass it.

use std::ops::Range;

use super::discipline::Written;
use super::{NamedFlow, Reader};
use crate::discipline::{
    CbsFields, Discipline, Queue, ReservedAbove, Taprio, TrafficClass, WrittenQueue, by_fast_clock,
};
use crate::document::Item;
use crate::error::Problem;
use crate::model::{LinkIndex, NodeIndex, Port, PortIndex};
use crate::quantity::{Drift, Duration, Rate};
use crate::{FlowSource, Frame};

/// Shaped classes of a port so far, the highest first. Each one is below those before it.
struct Reserved {
    link: Rate,
    drift: Drift,
    /// Their rates and credits.
    above: ReservedAbove,
    /// Sum of their sending rates, in bit/s.
    slopes: u128,
    /// Their number.
    classes: u32,
    /// Frames of other classes for which the next one waits at most, in bytes on the wire.
    interference: u32,
}

impl Reserved {
    fn new(link: Rate, drift: Drift) -> Self {
        Self {
            link,
            drift,
            above: ReservedAbove::default(),
            slopes: 0,
            classes: 0,
            interference: Frame::LONGEST.physical(),
        }
    }

    fn slopes(&self) -> Rate {
        Rate(u64::try_from(self.slopes).unwrap_or(u64::MAX))
    }

    /// Adds a class with these flows, and returns its queue.
    fn add(&mut self, fields: &CbsFields, frames: &[(Frame, Duration)]) -> Queue {
        let (rates, traffic) = ((self.link, self.above), (self.interference, self.drift));
        let shaper = fields.at_port(frames, rates, traffic);
        self.classes = self.classes.saturating_add(1);
        // A class below waits for a frame of lower priority, and for one of each class above. Frames of a class without a flow are
        // of unknown length.
        let longest = shaper.map_or(0, |shaper| shaper.traffic.longest);
        let frame = match longest {
            0 => Frame::LONGEST.physical(),
            longest => longest,
        };
        // More than eight classes are a mistake, and any number of them is read.
        self.interference = self.interference.saturating_add(frame);
        let Some(shaper) = shaper else {
            return Queue::Fifo(fields.limit);
        };
        self.above.add(&shaper, self.link);
        self.slopes += u128::from(shaper.reserved(self.link).0);
        Queue::Cbs(shaper)
    }
}

impl Reader<'_> {
    /// Makes two ports for each link. `shifts` are those of the topology's ports.
    pub(super) fn ports(
        &mut self,
        disciplines: &[Written],
        shifts: &[Duration],
        flows: &[NamedFlow],
    ) -> Vec<Port> {
        let document = self.document;
        let usual = document
            .get("discipline")
            .and_then(|item| self.discipline_of(item, disciplines));
        // The default of Linux is the last one: see `disciplines`.
        let usual = usual.unwrap_or(disciplines.len() - 1);
        let count = 2 * self.links.len();
        let mut chosen = vec![usual; count];
        let mut shift: Vec<Duration> = shifts.to_vec();
        shift.resize(count, Duration::ZERO);
        for (item, table) in document.tables("ports") {
            let node = self.node_field(table, "node");
            let to = table.get("to").map(|item| self.node(item));
            let discipline = table
                .get("discipline")
                .map(|item| self.discipline_of(item, disciplines));
            // Unknown names are reported already.
            let (Some(node), false) = (node, to == Some(None)) else {
                continue;
            };
            let is_meant = |next: &NodeIndex| to.is_none_or(|to| to == Some(*next));
            let meant: Vec<usize> = self.neighbours[node.0]
                .iter()
                .filter(|(next, _)| is_meant(next))
                .map(|(_, port)| *port)
                .collect();
            if meant.is_empty() {
                self.no_port(node, table.get("to").unwrap_or(item));
            }
            for port in meant {
                if let Some(Some(discipline)) = discipline {
                    chosen[port] = discipline;
                }
                if let Some(said) = table.quantity("shift") {
                    shift[port] = said;
                }
            }
        }
        let mut ports = Vec::with_capacity(count);
        for (index, (chosen, shift)) in chosen.into_iter().zip(shift).enumerate() {
            let link = &self.links[index / 2];
            let (node, to, rate) = (link.ends[index % 2], link.ends[1 - index % 2], link.rate);
            let drift = self.nodes[node.0].clock.drift;
            let passing: Vec<&NamedFlow> = flows
                .iter()
                .filter(|flow| flow.flow.own_ports().contains(&PortIndex(index)))
                .collect();
            let discipline =
                self.resolve(&disciplines[chosen], index, (rate, drift), shift, &passing);
            ports.push(Port {
                node,
                to,
                link: LinkIndex(index / 2),
                discipline,
            });
        }
        ports
    }

    /// Reports a missing port, with the links of the node.
    fn no_port(&mut self, node: NodeIndex, place: &Item) {
        let from = self.name(node);
        let message = match place.text() {
            Some(to) => format!("no link joins `{from}` and `{to}`"),
            None => format!("`{from}` has no link"),
        };
        let ends = self.neighbours[node.0].iter();
        let ends: Vec<&str> = ends.map(|(next, _)| self.name(*next)).collect();
        let problem = Problem::new(message, place.span.clone());
        let problem = match ends.is_empty() {
            true => problem,
            false => problem.with_help(format!("`{from}` has links to {}", ends.join(", "))),
        };
        self.problems.push(problem);
    }

    fn discipline_of(&mut self, item: &Item, disciplines: &[Written]) -> Option<usize> {
        let name = item.text()?;
        let found = disciplines.iter().position(|written| written.name == name);
        if found.is_none() {
            let problem = Problem::new(
                format!("there is no discipline `{name}`"),
                item.span.clone(),
            );
            let names = disciplines.iter().map(|written| written.name.as_str());
            self.problems.push(problem.did_you_mean(name, names));
        }
        found
    }

    fn resolve(
        &mut self,
        written: &Written,
        index_of_port: usize,
        (rate, drift): (Rate, Drift),
        shift: Duration,
        passing: &[&NamedFlow],
    ) -> Discipline {
        let mut reserved = Reserved::new(rate, drift);
        let mut classes = Vec::with_capacity(written.classes.len());
        for (index, class) in written.classes.iter().enumerate() {
            let queue = match &class.queue {
                WrittenQueue::Complete(queue) => queue.clone(),
                WrittenQueue::Shaped(fields) => {
                    let flows = passing
                        .iter()
                        .filter(|flow| written.class_of(flow.flow.pcp) == index);
                    let frames: Vec<(Frame, Duration)> = flows
                        .map(|flow| (flow.flow.frame, flow.flow.interval))
                        .collect();
                    let queue = reserved.add(fields, &frames);
                    self.check_slope(&queue, rate, fields, &class.name);
                    queue
                }
            };
            classes.push(TrafficClass {
                name: class.name.clone(),
                priorities: class.priorities.clone(),
                queue,
            });
        }
        let mut discipline = Discipline {
            name: written.name.clone(),
            scheduler: written.scheduler.clone(),
            classes,
        };
        self.check_etf(&discipline, index_of_port, passing);
        // A single class is the matter of `check_slope`.
        if reserved.slopes >= u128::from(rate.0) && reserved.classes > 1 {
            let sum = reserved.slopes();
            let message = format!(
                "the idleSlopes of all classes together, {sum}, are not less than the link's {rate}"
            );
            self.problem(message, &written.span);
        }
        if let Some(taprio) = discipline.scheduler.gates_mut() {
            taprio.base_time = taprio.base_time.plus(shift);
        }
        if let Some(taprio) = discipline.scheduler.gates() {
            for flow in passing {
                self.check_windows(taprio, &discipline, (rate, drift), flow, &written.span);
            }
        }
        discipline
    }

    /// Reports flows that etf drops: it takes only frames with a txtime of their socket, which has no effect behind the first
    /// port.
    fn check_etf(&mut self, discipline: &Discipline, port: usize, passing: &[&NamedFlow]) {
        for flow in passing {
            let timed = flow.flow.ports.first() == Some(&PortIndex(port))
                && !matches!(flow.flow.source, FlowSource::Cross(_));
            let queue = discipline.queue_of(flow.flow.pcp);
            if !timed && queue.is_some_and(Queue::needs_txtime) {
                let message = format!(
                    "frames of `{}` have no txtime, and the etf of `{}` at this port drops them: give the port another \
                     discipline, or skip_sock_check",
                    flow.name, discipline.name
                );
                let place = self
                    .document
                    .get("discipline")
                    .map_or(0..0, |item| item.span.clone());
                self.problems.push(Problem::new(message, place));
            }
        }
    }

    fn check_slope(&mut self, queue: &Queue, rate: Rate, fields: &CbsFields, class: &str) {
        let Some(shaper) = queue.shaper().filter(|it| it.idle_slope >= rate) else {
            return;
        };
        let idle_slope = shaper.idle_slope;
        let message = format!(
            "the idleSlope of class `{class}`, {idle_slope}, is not less than the link's {rate}"
        );
        self.problem(message, &fields.span);
    }

    /// Reports flows whose frames no window lets pass. Gates follow the node's clock. By a fast clock a frame takes longer, and
    /// the reading at which a gate opens may be skipped. By a slow one a frame takes less, but Linux decides by the link's rate.
    /// Linux sends no frame that would end in the very moment in which its gate closes (`taprio_dequeue`).
    fn check_windows(
        &mut self,
        taprio: &Taprio,
        discipline: &Discipline,
        (rate, drift): (Rate, Drift),
        flow: &NamedFlow,
        span: &Range<usize>,
    ) {
        let class = discipline.class_of(flow.flow.pcp);
        let windows = taprio.windows(class);
        let name = discipline
            .classes
            .get(class)
            .map_or("", |class| &class.name);
        let takes = rate.duration(flow.flow.frame.physical().into());
        let skipped = by_fast_clock(1, drift) - 1;
        let takes = Duration(by_fast_clock(takes.0, drift)).plus(Duration(skipped));
        let longer = takes.plus(Duration(1));
        let (needed, why) = if takes < taprio.guard_band {
            (taprio.guard_band, "for the guard band".to_owned())
        } else if drift.0 > 0 {
            (longer, format!("at {rate} by a clock that gains {drift}"))
        } else {
            (longer, format!("at {rate}"))
        };
        let more = if needed == longer { "more than " } else { "" };
        let shown = needed.min(takes.max(taprio.guard_band));
        let flow_name = &flow.name;
        let message = match windows.iter().map(|(_, long)| *long).max() {
            None => format!(
                "the gate of class `{name}` never opens, but `{flow_name}` is in it (PCP {})",
                flow.flow.pcp
            ),
            Some(longest) if longest < needed => {
                let bytes = flow.flow.frame.physical();
                format!(
                    "a frame of `{flow_name}`, {bytes} B on the wire, needs {more}{shown} {why}, but no window of \
                     class `{name}` is longer than {longest}"
                )
            }
            Some(_) => return,
        };
        self.problems.push(Problem::new(message, span.clone()));
    }
}
