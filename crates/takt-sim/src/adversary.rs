//! The search for the worst case: an adversary moves phases and adds interfering frames so that a message is as late as possible.
//!
//! The search uses random restarts and hill climbing. Every delay that it finds can happen in the model; a bound proves that no
//! longer one can.

use takt_scenario::{ApplicationId, FlowSource, NodeKind, Pattern, Receiver, Scenario, Scheduler};

use crate::options::{Adversary, Options};
use crate::{Choice, Random, Simulation, Time};

/// Number of tries without a gain, after which the search restarts elsewhere.
const PATIENCE: u32 = 40;
/// Number of the search's stream of random numbers. Lower ones are the simulation's.
const STREAM: u64 = u64::MAX;

/// The longest delays that were found.
#[derive(Debug, Clone)]
pub struct Worst {
    /// Longest round trip of each application with a loopback.
    pub round_trips: Vec<Option<Found>>,
    /// Longest delay of each flow, in the scenario's order.
    pub flows: Vec<Option<Found>>,
    /// Number of simulations.
    pub tries: u64,
}

/// A delay that occurred.
#[derive(Debug, Clone)]
pub struct Found {
    /// Delay.
    pub delay: Time,
    /// Number of the try.
    pub attempt: u64,
    /// Choices that led to the delay.
    pub adversary: Adversary,
}

/// Delay that the search maximizes.
#[derive(Debug, Clone, Copy)]
enum Aim {
    RoundTrip(usize),
    Flow(usize),
}

/// Searches the worst case of each application and of cross traffic in so many simulations, in turns. `progress` is called with
/// the number of finished simulations.
pub fn search(
    scenario: &Scenario,
    options: &Options,
    tries: u64,
    mut progress: impl FnMut(u64) -> bool,
) -> Worst {
    let aims = aims(scenario);
    let mut worst = Worst {
        round_trips: vec![None; scenario.applications.len()],
        flows: vec![None; scenario.flows().len()],
        tries: 0,
    };
    let mut random = Random::new(options.simulation.seed, STREAM);
    let genes = Genes::new(scenario, options);
    for (index, aim) in aims.iter().enumerate() {
        let share =
            tries / aims.len() as u64 + u64::from((index as u64) < tries % aims.len() as u64);
        let mut current: Option<(Time, Adversary)> = None;
        let mut patience = 0;
        for _ in 0..share {
            let adversary = match &current {
                Some((_, adversary)) if patience < PATIENCE => {
                    genes.changed(adversary, &mut random)
                }
                _ => {
                    current = None;
                    patience = 0;
                    genes.anything(&mut random)
                }
            };
            let delay = worst.attempt(scenario, options, &adversary, *aim);
            if !progress(worst.tries) {
                return worst;
            }
            let Some(delay) = delay else {
                continue;
            };
            match &current {
                Some((best, _)) if delay < *best => patience += 1,
                Some((best, _)) if delay == *best => {
                    patience += 1;
                    current = Some((delay, adversary));
                }
                _ => {
                    patience = 0;
                    current = Some((delay, adversary));
                }
            }
        }
    }
    worst
}

fn aims(scenario: &Scenario) -> Vec<Aim> {
    let aim = |(index, flow): (usize, &takt_scenario::Flow)| match flow.source {
        FlowSource::Publish(id) => Some(match scenario.applications[id.0].receiver {
            Receiver::Loopback(_) => Aim::RoundTrip(id.0),
            Receiver::Subscriber(_) => Aim::Flow(index),
        }),
        FlowSource::Return(_) => None,
        FlowSource::Cross(_) => Some(Aim::Flow(index)),
    };
    scenario
        .flows()
        .iter()
        .enumerate()
        .filter_map(aim)
        .collect()
}

impl Worst {
    /// Simulates, keeps delays that are longer than before, and returns the delay that the search maximizes.
    fn attempt(
        &mut self,
        scenario: &Scenario,
        options: &Options,
        adversary: &Adversary,
        aim: Aim,
    ) -> Option<Time> {
        let options = Options {
            adversary: Some(adversary.clone()),
            ..options.clone()
        };
        let results = Simulation::new(scenario, options).run(&mut ());
        self.tries += 1;
        let round_trips = results
            .applications
            .iter()
            .map(|it| it.round_trip.delay.extremes.most());
        let flows = results
            .flows
            .iter()
            .map(|it| it.one_way.delay.extremes.most());
        let round_trips: Vec<_> = round_trips.collect();
        let flows: Vec<_> = flows.collect();
        let places = self.round_trips.iter_mut().zip(&round_trips);
        for (place, delay) in places.chain(self.flows.iter_mut().zip(&flows)) {
            let Some(delay) = *delay else { continue };
            if place.as_ref().is_none_or(|found| delay > found.delay) {
                *place = Some(Found {
                    delay,
                    attempt: self.tries,
                    adversary: adversary.clone(),
                });
            }
        }
        match aim {
            Aim::RoundTrip(index) => round_trips.get(index).copied().flatten(),
            Aim::Flow(index) => flows.get(index).copied().flatten(),
        }
    }

    /// Returns the longest round trip of an application.
    pub fn round_trip(&self, application: ApplicationId) -> Option<&Found> {
        self.round_trips.get(application.0)?.as_ref()
    }
}

/// Parameters that can be changed, with their ranges.
struct Genes {
    /// Cycles of applications; each has a Publisher and a loopback. Empty if there are gates: applications that know them keep
    /// their phases.
    cycles: Vec<Time>,
    /// Time after which each cross traffic repeats itself.
    periods: Vec<Time>,
    ports: usize,
    /// True if bridges' delays vary.
    forwarding: bool,
    messages: u64,
}

impl Genes {
    fn new(scenario: &Scenario, options: &Options) -> Self {
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
        Self {
            cycles: if gated { Vec::new() } else { cycles.collect() },
            periods: scenario.cross_traffic.iter().map(period).collect(),
            ports: scenario.ports.len(),
            forwarding: bridges.into_iter().any(varies),
            messages: options.simulation.cycles,
        }
    }

    fn anything(&self, random: &mut Random) -> Adversary {
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
        let mut choices = || {
            (0..self.ports)
                .map(|_| self.choice(random))
                .collect::<Vec<_>>()
        };
        Adversary {
            publishers,
            loopbacks,
            cross_traffic,
            interference: choices(),
            forwarding: if self.forwarding {
                choices()
            } else {
                Vec::new()
            },
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
    fn changed(&self, adversary: &Adversary, random: &mut Random) -> Adversary {
        let mut next = adversary.clone();
        for _ in 0..=random.below(2) {
            let kinds = if self.forwarding { 5 } else { 4 };
            match random.below(kinds) {
                0 => nudge(&mut next.publishers, &self.cycles, random),
                1 => nudge(&mut next.loopbacks, &self.cycles, random),
                2 if !self.periods.is_empty() => {
                    nudge(&mut next.cross_traffic, &self.periods, random)
                }
                4 => self.choose(&mut next.forwarding, random),
                _ => self.choose(&mut next.interference, random),
            }
        }
        next
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
