//! Ports: the discipline of each, resolved for the flows that pass it.

use std::ops::Range;

use super::discipline::{Shaper, Written, WrittenQueue};
use super::{NamedFlow, Reader};
use crate::document::Item;
use crate::error::Problem;
use crate::model::{
    Discipline, LinkIndex, NodeIndex, Port, PortIndex, Queue, Scheduler, Taprio, TrafficClass,
};
use crate::quantity::{Credit, Drift, Duration, Rate, Share};
use crate::{FlowSource, Frame};

/// Sum over the shaped classes above one at a port.
#[derive(Default)]
struct Reserved {
    /// Sum of their sending rates, in bit/s.
    slopes: u128,
    /// Their number.
    classes: u32,
    /// Sum of their longest frames, in bytes on the wire.
    longest: u32,
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
                .filter(|flow| flow.flow.ports.contains(&PortIndex(index)))
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
        let mut reserved = Reserved::default();
        let mut classes = Vec::with_capacity(written.classes.len());
        for (index, class) in written.classes.iter().enumerate() {
            let queue = match &class.queue {
                WrittenQueue::Complete(queue) => queue.clone(),
                WrittenQueue::Shaped(shaper) => {
                    let flows = passing
                        .iter()
                        .filter(|flow| written.class_of(flow.flow.pcp) == index);
                    let frames: Vec<(Frame, Duration)> = flows
                        .map(|flow| (flow.flow.frame, flow.flow.interval))
                        .collect();
                    self.shaped(shaper, &class.name, (rate, drift), &frames, &mut reserved)
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
        if reserved.slopes >= u128::from(rate.0) && reserved.classes > 1 {
            let sum = Rate(u64::try_from(reserved.slopes).unwrap_or(u64::MAX));
            let message = format!(
                "the idleSlopes of all classes together, {sum}, are not less than the link's {rate}"
            );
            self.problem(message, &written.span);
        }
        if let Scheduler::Taprio(taprio) = &mut discipline.scheduler {
            taprio.base_time = taprio.base_time.plus(shift);
        }
        if let Scheduler::Taprio(taprio) = &discipline.scheduler {
            for flow in passing {
                self.check_windows(taprio, &discipline, (rate, drift), flow, &written.span);
            }
        }
        discipline
    }

    /// Returns the queue of a class with a shaper at a port: slopes and credits follow from the flows of the class and from the
    /// classes above, unless the file states them. A class without a flow and without an idleSlope of its own reserves nothing,
    /// and is not shaped.
    fn shaped(
        &mut self,
        shaper: &Shaper,
        class: &str,
        (rate, drift): (Rate, Drift),
        frames: &[(Frame, Duration)],
        reserved: &mut Reserved,
    ) -> Queue {
        let limit = shaper.limit;
        let idle_slope = match shaper.idle_slope {
            Some(slope) => slope,
            None if frames.is_empty() => {
                reserved.classes += 1;
                return Queue::Fifo { limit };
            }
            None => reservation(frames, shaper.provisioning),
        };
        let send_slope = shaper
            .send_slope
            .unwrap_or(Rate(rate.0.saturating_sub(idle_slope.0)));
        let longest = frames.iter().map(|(frame, _)| frame.physical()).max();
        let longest = longest.unwrap_or(0);
        // The class waits for a frame of lower priority, then for one of each class above, then for the credit that these gained
        // meanwhile.
        let waits = (1 + reserved.classes) * Frame::LONGEST.physical() + reserved.longest;
        let left = u128::from(rate.0).saturating_sub(reserved.slopes);
        let hi_credit = shaper
            .hi_credit
            .unwrap_or_else(|| Credit(portion(waits, by_fast_clock(idle_slope.0, drift), left)));
        let lo_credit = shaper
            .lo_credit
            .unwrap_or_else(|| Credit(-portion(longest, send_slope.0, rate.0.into())));
        // Long-term rate of the class in bit/s: idleSlope, unless the file states another sendSlope.
        let both = u128::from(idle_slope.0) + u128::from(send_slope.0);
        let sends = (u128::from(idle_slope.0) * u128::from(rate.0)).div_ceil(both.max(1));
        let sends = u64::try_from(sends).unwrap_or(u64::MAX);
        reserved.slopes += u128::from(by_fast_clock(sends, drift));
        reserved.classes += 1;
        reserved.longest += longest;
        self.check_slope(idle_slope, rate, shaper, class);
        Queue::Cbs {
            idle_slope,
            send_slope,
            hi_credit,
            lo_credit,
            limit,
        }
    }

    /// Reports flows that etf drops: it takes only frames with a txtime of their socket, which has no effect behind the first
    /// port.
    fn check_etf(&mut self, discipline: &Discipline, port: usize, passing: &[&NamedFlow]) {
        for flow in passing {
            let class = discipline.class_of(flow.flow.pcp);
            let timed = flow.flow.ports.first() == Some(&PortIndex(port))
                && !matches!(flow.flow.source, FlowSource::Cross(_));
            let queue = discipline.classes.get(class).map(|class| &class.queue);
            if !timed
                && matches!(
                    queue,
                    Some(Queue::Etf {
                        skip_sock_check: false,
                        ..
                    })
                )
            {
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

    fn check_slope(&mut self, idle_slope: Rate, rate: Rate, shaper: &Shaper, class: &str) {
        if idle_slope >= rate {
            let message = format!(
                "the idleSlope of class `{class}`, {idle_slope}, is not less than the link's {rate}"
            );
            self.problem(message, &shaper.span);
        }
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

/// Returns the rate that flows of one frame per interval each need, in bits on the wire, changed by a share; rounded up to whole
/// bits.
fn reservation(frames: &[(Frame, Duration)], provisioning: Share) -> Rate {
    let part = u128::from((Share::ONE.0 + provisioning.0).max(0).unsigned_abs());
    let one = u128::from(Share::ONE.0.unsigned_abs());
    let needs = frames.iter().map(|(frame, interval)| {
        let bits = 8 * u128::from(frame.physical()) * 1_000_000_000_000;
        (bits * part).div_ceil(u128::from(interval.0.max(1)) * one)
    });
    Rate(u64::try_from(needs.sum::<u128>()).unwrap_or(u64::MAX))
}

/// Returns a slope or a time by the clock of a fast node, rounded up; a slow clock does not change it.
fn by_fast_clock(value: u64, drift: Drift) -> u64 {
    let billion = 1_000_000_000;
    let speed = billion + u128::from(drift.0.max(0).unsigned_abs());
    u64::try_from((u128::from(value) * speed).div_ceil(billion)).unwrap_or(u64::MAX)
}

/// Returns `bytes · slope / rate`, rounded up.
fn portion(bytes: u32, slope: u64, rate: u128) -> i64 {
    let portion = (u128::from(bytes) * u128::from(slope)).div_ceil(rate.max(1));
    i64::try_from(portion).unwrap_or(i64::MAX)
}
