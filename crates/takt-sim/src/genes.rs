//! Parameters that an adversary can change, with their ranges, and how the search for the worst case changes them.

use takt_scenario::{
    ApplicationIndex, FlowSource, LowerPriority, NodeIndex, NodeKind, Pattern, PortIndex, Scenario,
};

use crate::moves::{self, pick, wrapped};
use crate::observer::Passage;
use crate::options::{Adversary, RunOptions};
use crate::trace::Trace;
use crate::{Choice, Random, Time};

/// Parameters that can be changed, with their ranges.
pub(crate) struct Genes<'a> {
    scenario: &'a Scenario,
    /// Cycles of applications; each has a Publisher and a loopback. Empty if they keep their phases.
    cycles: Vec<Time>,
    /// Cycle of the gates of each port; 0 without gates. Empty if they keep their phases.
    gates: Vec<Time>,
    /// Ports with gates that can be shifted.
    gated: Vec<usize>,
    /// Applications with loopbacks whose phases can be changed.
    loopbacks: Vec<ApplicationIndex>,
    /// Time after which each cross traffic repeats itself.
    periods: Vec<Time>,
    ports: usize,
    /// True if frames outside the scenario may interfere.
    interference: bool,
    /// True if bridges' delays vary.
    forwarding: bool,
    /// Number of applications whose threads may be late. 0 if no thread of any application is.
    late: usize,
    messages: u64,
}

/// A parameter that can be changed.
#[derive(Debug, Clone, Copy)]
enum Gene {
    Publisher,
    Loopback,
    Gates,
    CrossTraffic,
    Interference,
    Forwarding,
    LatePublisher,
    LateLoopback,
    /// The phase of a loopback: its thread runs just before the latest message.
    MissedThread,
    /// The phase of gates: they close just before the latest message.
    MissedGate,
    /// The phase of another flow: its frame comes to a port just before the latest message.
    MetFrame,
}

/// Knowledge of the last try.
pub(crate) struct Seen<'a> {
    pub(crate) trace: &'a Trace,
    /// Passages of the message whose delay the search maximizes.
    pub(crate) latest: &'a [Passage],
}

impl<'a> Genes<'a> {
    /// Makes the parameters for a scenario. With `kept` phases, applications and gates keep theirs.
    pub(crate) fn new(scenario: &'a Scenario, options: &RunOptions, kept: bool) -> Self {
        let cycles = scenario
            .applications
            .iter()
            .map(|application| application.cycle.into());
        let period = |traffic: &takt_scenario::CrossTraffic| {
            let frames = match traffic.pattern {
                Pattern::Burst(frames) => frames,
                Pattern::Constant | Pattern::Poisson => 1,
            };
            // A burst of n frames comes in every n-th interval, so its phase has that range.
            Time::from(traffic.interval).times(frames.into())
        };
        let ports = (0..scenario.ports.len()).map(PortIndex);
        let gates = ports.map(|port| {
            let gates = moves::gates(scenario, port);
            gates.map_or(Time::ZERO, |gates| gates.cycle_time.into())
        });
        let gates: Vec<Time> = if kept { Vec::new() } else { gates.collect() };
        let is_used = |port: usize| {
            let mut flows = scenario.flows().iter();
            flows.any(|flow| flow.ports.contains(&PortIndex(port)))
        };
        // Gates at ports that no flow passes change no delay.
        let gated = (0..gates.len()).filter(|port| gates[*port] > Time::ZERO && is_used(*port));
        let bridges = scenario
            .nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Bridge);
        let varies =
            |node: &takt_scenario::Node| node.forwarding_delay_least < node.forwarding_delay;
        let may_be_late = |id: NodeIndex| {
            let latency = &scenario.nodes[id.0].wake_up_latency;
            latency.least() < latency.most()
        };
        let is_late = |application: &takt_scenario::Application| {
            let mut receivers = application.receiver.nodes().iter();
            may_be_late(application.publisher) || receivers.any(|node| may_be_late(*node))
        };
        let loopbacks = (0..scenario.applications.len()).map(ApplicationIndex);
        let loopbacks = loopbacks.filter(|id| {
            let receiver = &scenario.applications[id.0].receiver;
            receiver.loopback().is_some() && !kept
        });
        Self {
            scenario,
            cycles: if kept { Vec::new() } else { cycles.collect() },
            gated: gated.collect(),
            gates,
            loopbacks: loopbacks.collect(),
            periods: scenario.cross_traffic.iter().map(period).collect(),
            ports: scenario.ports.len(),
            interference: matches!(scenario.bounds.lower_priority, LowerPriority::AtMost(_)),
            forwarding: bridges.into_iter().any(varies),
            late: if scenario.applications.iter().any(is_late) {
                scenario.applications.len()
            } else {
                0
            },
            messages: options.simulation.cycles,
        }
    }

    pub(crate) fn anything(&self, random: &mut Random) -> Adversary {
        let phase = |most: &Time, random: &mut Random| random.between(Time::ZERO, *most);
        let mut phases = |most: &[Time]| {
            most.iter()
                .map(|most| phase(most, random))
                .collect::<Vec<_>>()
        };
        let (publishers, loopbacks) = (phases(&self.cycles), phases(&self.cycles));
        let (gates, cross_traffic) = (phases(&self.gates), phases(&self.periods));
        let mut choices =
            |number: usize| (0..number).map(|_| self.choice(random)).collect::<Vec<_>>();
        Adversary {
            publishers,
            loopbacks,
            gates,
            cross_traffic,
            interference: choices(self.ports),
            forwarding: choices(if self.forwarding { self.ports } else { 0 }),
            late_publishers: choices(self.late),
            late_loopbacks: choices(self.late),
        }
    }

    fn choice(&self, random: &mut Random) -> Choice {
        let times = random.below(self.messages + 1);
        match random.below(4) {
            0 | 1 => Choice::First(times),
            2 => Choice::Later(times),
            _ => Choice::Random(random.bits()),
        }
    }

    /// Returns a copy with one change: a phase by a part of its cycle, most often a small one, or a choice.
    pub(crate) fn changed(
        &self,
        adversary: &Adversary,
        seen: &Seen<'_>,
        random: &mut Random,
    ) -> Adversary {
        let mut next = adversary.clone();
        let genes = self.genes();
        for _ in 0..=random.below(2) {
            let Some(gene) = pick(&genes, random) else {
                break;
            };
            match gene {
                Gene::Publisher => nudge_any(&mut next.publishers, &self.cycles, random),
                Gene::Loopback => {
                    if let Some(id) = pick(&self.loopbacks, random) {
                        nudge(&mut next.loopbacks, &self.cycles, id.0, random);
                    }
                }
                Gene::Gates => {
                    if let Some(port) = pick(&self.gated, random) {
                        nudge(&mut next.gates, &self.gates, *port, random);
                    }
                }
                Gene::CrossTraffic => nudge_any(&mut next.cross_traffic, &self.periods, random),
                Gene::Interference => self.choose(&mut next.interference, random),
                Gene::Forwarding => self.choose(&mut next.forwarding, random),
                Gene::LatePublisher => self.choose(&mut next.late_publishers, random),
                Gene::LateLoopback => self.choose(&mut next.late_loopbacks, random),
                Gene::MissedThread => self.miss_thread(&mut next, seen, random),
                Gene::MissedGate => self.miss_gate(&mut next, seen, random),
                Gene::MetFrame => self.meet_frame(&mut next, seen, random),
            }
        }
        next
    }

    /// Returns the parameters that make a difference.
    fn genes(&self) -> Vec<Gene> {
        let mut genes = Vec::new();
        if self.interference {
            genes.push(Gene::Interference);
        }
        if !self.cycles.is_empty() {
            genes.push(Gene::Publisher);
        }
        if !self.loopbacks.is_empty() {
            genes.extend([Gene::Loopback, Gene::MissedThread]);
        }
        if !self.gated.is_empty() {
            genes.extend([Gene::Gates, Gene::MissedGate]);
        }
        if !self.periods.is_empty() {
            genes.push(Gene::CrossTraffic);
        }
        // A message can only meet frames of another flow whose phase may change.
        if !self.periods.is_empty() || self.cycles.len() > 1 || !self.loopbacks.is_empty() {
            genes.push(Gene::MetFrame);
        }
        if self.forwarding {
            genes.push(Gene::Forwarding);
        }
        if self.late > 0 {
            genes.extend([Gene::LatePublisher, Gene::LateLoopback]);
        }
        genes
    }

    /// Shifts a loopback so that its thread just misses a message: the one whose delay the search maximizes, or the latest one on
    /// the way there.
    fn miss_thread(&self, next: &mut Adversary, seen: &Seen<'_>, random: &mut Random) {
        let Some(id) = pick(&self.loopbacks, random).copied() else {
            return;
        };
        let there = FlowSource::Publish(id);
        let of_flow = seen.trace.latest(&[there]);
        let passages = match random.below(2) {
            0 => seen.latest,
            _ => of_flow.as_slice(),
        };
        let last = passages.iter().rfind(|passage| passage.source == there);
        let last = last.or(of_flow.last());
        let shift = last.and_then(|last| moves::missed_thread(self.scenario, id, last));
        if let (Some(shift), Some(loopback)) = (shift, next.loopbacks.get_mut(id.0)) {
            *loopback = shift;
        }
    }

    /// Shifts gates on the way of the latest message so that it just misses them.
    fn miss_gate(&self, next: &mut Adversary, seen: &Seen<'_>, random: &mut Random) {
        if let Some(passage) = pick(seen.latest, random)
            && let Some(gates) = next.gates.get_mut(passage.port.0)
            && let Some(shift) = moves::missed_gate(self.scenario, passage, random)
        {
            *gates = shift;
        }
    }

    /// Changes the phase of another flow so that one of its frames comes to a port just before the latest message.
    fn meet_frame(&self, next: &mut Adversary, seen: &Seen<'_>, random: &mut Random) {
        let is_free = |source| match source {
            // With kept phases the list is empty, and no application's flow may move.
            FlowSource::Publish(id) | FlowSource::Return(id) | FlowSource::Branch(id, _) => {
                id.0 < self.cycles.len()
            }
            FlowSource::Cross(id) => id.0 < self.periods.len(),
        };
        let Some(passage) = pick(seen.latest, random) else {
            return;
        };
        let change = moves::met_frame(self.scenario, passage, seen.trace, is_free, random);
        let Some(change) = change else {
            return;
        };
        let (phases, index, most) = match change.source {
            FlowSource::Publish(id) | FlowSource::Branch(id, _) => {
                (&mut next.publishers, id.0, &self.cycles)
            }
            FlowSource::Return(id) => (&mut next.loopbacks, id.0, &self.cycles),
            FlowSource::Cross(id) => (&mut next.cross_traffic, id.0, &self.periods),
        };
        if let (Some(phase), Some(most)) = (phases.get_mut(index), most.get(index)) {
            *phase = wrapped(*phase + change.later, *most);
        }
    }

    fn choose(&self, choices: &mut [Choice], random: &mut Random) {
        let index = random.below(choices.len() as u64);
        if let Some(choice) = choices.get_mut(usize::try_from(index).unwrap_or(0)) {
            *choice = self.choice(random);
        }
    }
}

fn nudge_any(phases: &mut [Time], most: &[Time], random: &mut Random) {
    let index = usize::try_from(random.below(phases.len() as u64)).unwrap_or(0);
    nudge(phases, most, index, random);
}

fn nudge(phases: &mut [Time], most: &[Time], index: usize, random: &mut Random) {
    let (Some(phase), Some(most)) = (phases.get_mut(index), most.get(index)) else {
        return;
    };
    // Steps of all magnitudes are equally likely: from the whole cycle to an eight-millionth of it.
    let step = most.as_picoseconds().max(1) >> random.below(24);
    let step = if random.below(2) == 0 { step } else { -step };
    *phase = wrapped(*phase + Time::picoseconds(step), *most);
}
