//! Simulation of a case.

use takt_scenario::{ApplicationIndex, FlowSource, Scenario, SimulationOptions};
use takt_sim::{Delays, DropRates, Loopback, Results, RunOptions, Simulation};

use super::loss::LossShares;
use super::times::{RoundTripKind, TimeSummary};

/// Simulated delays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedTimes {
    /// Delays.
    pub delay: TimeSummary,
    /// Differences between neighbouring delays; `None` with less than two messages.
    pub jitter: Option<TimeSummary>,
}

impl SimulatedTimes {
    fn of(delays: &Delays) -> Option<Self> {
        Some(Self {
            delay: TimeSummary::of_simulated(&delays.delay)?,
            jitter: TimeSummary::of_simulated(&delays.jitter),
        })
    }
}

/// Returns the options of the simulation of a run: its loopback sends its last message again, as that of the lab does.
pub(crate) fn options(scenario: &Scenario, seed: u64, messages: u64, trim: u64) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    options.simulation = SimulationOptions {
        seed,
        cycles: messages.max(1),
        trim,
    };
    options.loopback = Loopback::Latest;
    options
}

/// Results of the simulation of a case.
pub(crate) struct CaseSimulation<'a> {
    scenario: &'a Scenario,
    results: Results,
}

impl<'a> CaseSimulation<'a> {
    pub(crate) fn of(scenario: &'a Scenario, options: RunOptions) -> Self {
        Self {
            scenario,
            results: Simulation::new(scenario, options).run(&mut ()),
        }
    }

    pub(crate) fn round_trip(
        &self,
        application: ApplicationIndex,
        kind: RoundTripKind,
    ) -> Option<SimulatedTimes> {
        let statistics = self.results.applications.get(application.0)?;
        SimulatedTimes::of(match kind {
            RoundTripKind::Wire => &statistics.round_trip,
            RoundTripKind::Application => &statistics.application_round_trip,
        })
    }

    pub(crate) fn of_way(&self, source: FlowSource) -> Option<SimulatedTimes> {
        let mut flows = self.scenario.flows().iter().zip(&self.results.flows);
        let (_, statistics) = flows.find(|(flow, _)| flow.source == source)?;
        SimulatedTimes::of(&statistics.one_way)
    }

    pub(crate) fn losses(&self, application: ApplicationIndex) -> LossShares {
        let drops = DropRates::new(self.scenario, &self.results, application);
        let there = self.scenario.flows().iter();
        let mut there = there.filter(|flow| flow.source == FlowSource::Publish(application));
        let there = there.next().map(|flow| flow.ports.as_slice());
        let is_there = |port| there.is_some_and(|ports| ports.contains(port));
        let at_bridges = |wanted: bool| -> u64 {
            let bridges = drops.bridges.iter();
            let bridges = bridges.filter(|(port, _)| is_there(port) == wanted);
            bridges.map(|(_, count)| count).sum()
        };
        LossShares {
            messages: drops.published,
            publisher: Some(drops.publisher),
            way_there: Some(at_bridges(true)),
            loopback: Some(drops.loopback),
            way_back: Some(at_bridges(false)),
            all: Some(drops.all()),
        }
    }

    /// Returns the numbers of missed and repeated counters of an application.
    pub(crate) fn counters(&self, application: ApplicationIndex) -> Option<[u64; 2]> {
        let statistics = self.results.applications.get(application.0)?;
        Some([statistics.counters.missed, statistics.counters.repeated])
    }
}
