//! Parameters that an adversary can change, with their ranges, and how the search for the worst case changes them.

use takt_scenario::{
    ApplicationReceiver, Flow, FlowSource, LowerPriority, NodeIndex, NodeKind, Pattern, Scenario,
    Scheduler,
};

use crate::options::{Adversary, RunOptions};
use crate::{Choice, NodeClock, Random, Time, build};

/// Parameters that can be changed, with their ranges.
pub(crate) struct Genes {
    /// Cycles of applications; each has a Publisher and a loopback. Empty if there are gates: applications that know them keep
    /// their phases.
    cycles: Vec<Time>,
    /// Loopbacks whose phases can be changed.
    meetings: Vec<Meeting>,
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
    CrossTraffic,
    Interference,
    Forwarding,
    LatePublisher,
    LateLoopback,
    /// The phase of a loopback: the latest message comes just behind its thread.
    Meeting,
}

/// Times of an application's Publisher and loopback, by their clocks.
struct Meeting {
    application: usize,
    /// Index of the flow to the loopback.
    flow: usize,
    sending: Time,
    user: Time,
    talker: NodeClock,
    loopback: NodeClock,
}

impl Meeting {
    fn new(scenario: &Scenario, index: usize, flow: &Flow) -> Option<Self> {
        let FlowSource::Publish(id) = flow.source else {
            return None;
        };
        let application = &scenario.applications[id.0];
        let ApplicationReceiver::Loopback(node) = application.receiver else {
            return None;
        };
        Some(Self {
            application: id.0,
            flow: index,
            sending: application.sending_time().into(),
            user: application.cycle.part(application.phases.user).into(),
            talker: build::clock(scenario, application.publisher),
            loopback: build::clock(scenario, node),
        })
    }

    /// Returns the shift of the loopback with which its thread runs just before a message comes, if that is sent with the shift
    /// of its Publisher and needs so long.
    fn shift(&self, publisher: Time, one_way: Time) -> Time {
        let comes = self.talker.global(self.sending + publisher) + one_way;
        self.loopback.local(comes) - self.user - Time::picoseconds(1)
    }
}

impl Genes {
    pub(crate) fn new(scenario: &Scenario, options: &RunOptions) -> Self {
        let cycles = scenario
            .applications
            .iter()
            .map(|application| application.cycle.into());
        let period = |traffic: &takt_scenario::CrossTraffic| {
            let frames = match traffic.pattern {
                Pattern::Burst(frames) => frames,
                Pattern::Constant | Pattern::Poisson => 1,
            };
            Time::from(traffic.interval).times(frames.into())
        };
        let is_gated =
            |port: &takt_scenario::Port| matches!(port.discipline.scheduler, Scheduler::Taprio(_));
        let gated = scenario.ports.iter().any(is_gated);
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
            may_be_late(application.publisher) || may_be_late(application.receiver.node())
        };
        let flows = scenario.flows().iter().enumerate();
        let meetings = flows.filter_map(|(index, flow)| Meeting::new(scenario, index, flow));
        Self {
            cycles: if gated { Vec::new() } else { cycles.collect() },
            meetings: if gated {
                Vec::new()
            } else {
                meetings.collect()
            },
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
        let (publishers, loopbacks, cross_traffic) = (
            phases(&self.cycles),
            phases(&self.cycles),
            phases(&self.periods),
        );
        let mut choices =
            |number: usize| (0..number).map(|_| self.choice(random)).collect::<Vec<_>>();
        Adversary {
            publishers,
            loopbacks,
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
        one_way: &[Option<Time>],
        random: &mut Random,
    ) -> Adversary {
        let mut next = adversary.clone();
        let genes = self.genes();
        for _ in 0..=random.below(2) {
            let drawn = usize::try_from(random.below(genes.len() as u64)).unwrap_or(0);
            match genes.get(drawn).copied().unwrap_or(Gene::Interference) {
                Gene::Publisher => nudge(&mut next.publishers, &self.cycles, random),
                Gene::Loopback => nudge(&mut next.loopbacks, &self.cycles, random),
                Gene::CrossTraffic => nudge(&mut next.cross_traffic, &self.periods, random),
                Gene::Interference => self.choose(&mut next.interference, random),
                Gene::Forwarding => self.choose(&mut next.forwarding, random),
                Gene::LatePublisher => self.choose(&mut next.late_publishers, random),
                Gene::LateLoopback => self.choose(&mut next.late_loopbacks, random),
                Gene::Meeting => self.meet(&mut next, one_way, random),
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
            genes.extend([Gene::Publisher, Gene::Loopback]);
        }
        if !self.meetings.is_empty() {
            genes.push(Gene::Meeting);
        }
        if !self.periods.is_empty() {
            genes.push(Gene::CrossTraffic);
        }
        if self.forwarding {
            genes.push(Gene::Forwarding);
        }
        if self.late > 0 {
            genes.extend([Gene::LatePublisher, Gene::LateLoopback]);
        }
        genes
    }

    /// Moves a loopback so that its thread just misses the latest message of a try.
    fn meet(&self, next: &mut Adversary, one_way: &[Option<Time>], random: &mut Random) {
        let index = usize::try_from(random.below(self.meetings.len() as u64)).unwrap_or(0);
        let Some(meeting) = self.meetings.get(index) else {
            return;
        };
        let one_way = one_way.get(meeting.flow).copied().flatten();
        let publisher = next.publishers.get(meeting.application);
        let cycle = self.cycles.get(meeting.application);
        let loopback = next.loopbacks.get_mut(meeting.application);
        if let (Some(one_way), Some(publisher), Some(cycle), Some(loopback)) =
            (one_way, publisher, cycle, loopback)
        {
            let shift = meeting.shift(*publisher, one_way).as_picoseconds();
            *loopback = Time::picoseconds(shift.rem_euclid(cycle.as_picoseconds().max(1)));
        }
    }

    fn choose(&self, choices: &mut [Choice], random: &mut Random) {
        let index = random.below(choices.len() as u64);
        if let Some(choice) = choices.get_mut(usize::try_from(index).unwrap_or(0)) {
            *choice = self.choice(random);
        }
    }
}

fn nudge(phases: &mut [Time], most: &[Time], random: &mut Random) {
    let index = usize::try_from(random.below(phases.len() as u64)).unwrap_or(0);
    let (Some(phase), Some(most)) = (phases.get_mut(index), most.get(index)) else {
        return;
    };
    let whole = most.as_picoseconds().max(1);
    let step = whole >> random.below(24);
    let step = if random.below(2) == 0 { step } else { -step };
    *phase = Time::picoseconds((phase.as_picoseconds() + step).rem_euclid(whole));
}
