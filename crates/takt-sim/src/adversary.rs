//! The search for the worst case: an adversary moves phases and adds interfering frames so that a message is as late as possible.
//!
//! The search uses random restarts and hill climbing. Every delay that it finds can happen in the model, with any phases of
//! applications and gates unless those are kept; a bound proves that no longer one can.

use takt_scenario::{ApplicationIndex, FlowSource, Scenario};

use crate::genes::{Genes, Seen};
use crate::observer::Passage;
use crate::options::{Adversary, RunOptions};
use crate::trace::Trace;
use crate::{Random, Simulation, Time};

/// Number of tries without a gain, after which the search restarts elsewhere.
const PATIENCE: u32 = 40;
/// Number of the search's stream of random numbers. Lower ones are the simulation's.
const STREAM: u64 = u64::MAX;

/// Delays whose bounds hold only for the phases of the scenario between applications and gates. For these delays, applications and
/// gates keep their phases. All other delays are searched for any phases.
#[derive(Debug, Clone, Default)]
pub struct KeptPhases {
    /// Applications whose round trips are such delays.
    pub round_trips: Vec<ApplicationIndex>,
    /// Flows whose ways are such delays.
    pub flows: Vec<FlowSource>,
}

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

/// Choices, and what they led to.
struct Tried {
    adversary: Adversary,
    /// The delay that the search maximizes.
    delay: Time,
    trace: Trace,
    /// Passages of the message with that delay.
    latest: Vec<Passage>,
}

/// Delay that the search maximizes.
#[derive(Debug, Clone, Copy)]
enum Aim {
    RoundTrip(ApplicationIndex),
    Flow(usize),
}

impl KeptPhases {
    fn has(&self, scenario: &Scenario, aim: Aim) -> bool {
        match aim {
            Aim::RoundTrip(id) => self.round_trips.contains(&id),
            Aim::Flow(index) => {
                let flow = scenario.flows().get(index);
                flow.is_some_and(|flow| self.flows.contains(&flow.source))
            }
        }
    }
}

/// Searches the worst case of each round trip, of each of its ways, and of each other flow, one after the other, in so many
/// simulations altogether. `progress` is called with the number of finished simulations.
pub fn search(
    scenario: &Scenario,
    options: &RunOptions,
    kept: &KeptPhases,
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
    let [free_genes, kept_genes] = [false, true].map(|kept| Genes::new(scenario, options, kept));
    for (index, aim) in aims.iter().enumerate() {
        // The first aims get the remainder of the division. Without aims, nothing is divided.
        let share =
            tries / aims.len() as u64 + u64::from((index as u64) < tries % aims.len() as u64);
        let keeps = kept.has(scenario, *aim);
        let genes = if keeps { &kept_genes } else { &free_genes };
        // Kept phases are phases, too: such a try counts for all aims. The reverse does not hold.
        let may_count = |aim: Aim| keeps || !kept.has(scenario, aim);
        let mut current: Option<Tried> = None;
        let mut patience = 0;
        for _ in 0..share {
            let adversary = match &current {
                Some(tried) if patience < PATIENCE => {
                    let seen = Seen {
                        trace: &tried.trace,
                        latest: &tried.latest,
                    };
                    genes.changed(&tried.adversary, &seen, &mut random)
                }
                _ => {
                    current = None;
                    patience = 0;
                    genes.anything(&mut random)
                }
            };
            let tried = worst.attempt(scenario, options, adversary, *aim, may_count);
            if !progress(worst.tries) {
                return worst;
            }
            let Some(tried) = tried else {
                continue;
            };
            match &current {
                Some(best) if tried.delay < best.delay => patience += 1,
                // Most changes do not change the delay: steps between equal delays lead on to longer ones.
                Some(best) if tried.delay == best.delay => {
                    patience += 1;
                    current = Some(tried);
                }
                _ => {
                    patience = 0;
                    current = Some(tried);
                }
            }
        }
    }
    worst
}

/// Returns the delays to search: each round trip, and each way by itself.
fn aims(scenario: &Scenario) -> Vec<Aim> {
    let mut aims = Vec::new();
    for (index, flow) in scenario.flows().iter().enumerate() {
        if let FlowSource::Publish(id) = flow.source
            && scenario.applications[id.0].receiver.loopback().is_some()
        {
            aims.push(Aim::RoundTrip(id));
        }
        aims.push(Aim::Flow(index));
    }
    aims
}

impl Worst {
    /// Simulates, and keeps delays that are longer than before. Returns `None` if no message arrived of which the search
    /// maximizes the delay.
    fn attempt(
        &mut self,
        scenario: &Scenario,
        options: &RunOptions,
        adversary: Adversary,
        aim: Aim,
        may_count: impl Fn(Aim) -> bool,
    ) -> Option<Tried> {
        let options = RunOptions {
            adversary: Some(adversary.clone()),
            ..options.clone()
        };
        let mut trace = Trace::default();
        let results = Simulation::new(scenario, options).run(&mut trace);
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
        let there_and_back = (0..).map(|index| Aim::RoundTrip(ApplicationIndex(index)));
        let places = self.round_trips.iter_mut().zip(&round_trips);
        let places = places.zip(there_and_back);
        let one_way = self.flows.iter_mut().zip(&flows).zip((0..).map(Aim::Flow));
        for ((place, delay), of) in places.chain(one_way) {
            let Some(delay) = *delay else { continue };
            // Its bound is for the phases of the scenario, and this try had others.
            if !may_count(of) {
                continue;
            }
            if place.as_ref().is_none_or(|found| delay > found.delay) {
                *place = Some(Found {
                    delay,
                    attempt: self.tries,
                    adversary: adversary.clone(),
                });
            }
        }
        let delay = match aim {
            Aim::RoundTrip(id) => round_trips.get(id.0).copied().flatten(),
            Aim::Flow(index) => flows.get(index).copied().flatten(),
        };
        let latest = match aim {
            Aim::RoundTrip(id) => trace.latest(&[FlowSource::Publish(id), FlowSource::Return(id)]),
            Aim::Flow(index) => trace.latest_on(scenario.flows().get(index)?),
        };
        Some(Tried {
            adversary,
            delay: delay?,
            trace,
            latest,
        })
    }

    /// Returns the longest round trip of an application.
    pub fn round_trip(&self, application: ApplicationIndex) -> Option<&Found> {
        self.round_trips.get(application.0)?.as_ref()
    }
}
