//! Simulation of a case.

use takt_analysis::SentStamp;
use takt_scenario::{ApplicationIndex, FlowSource, Scenario, SimulationOptions};
use takt_sim::{
    Delays, DropRates, Loopback, Message, MessageOutcome, Model, Observer, Results, RunOptions,
    Simulation,
};

use super::loss::LossShares;
use super::settings::CaseOffload;
use super::times::{RoundTripKind, TimeSummary};

/// Simulated delays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedTimes {
    /// Delays.
    pub delay: TimeSummary,
    /// Differences between neighbouring delays; `None` with less than two messages.
    pub jitter: Option<TimeSummary>,
    /// Longest delay of all messages, those at both ends included, in nanoseconds.
    pub longest: f64,
    /// The message with the longest delay on the wire; `None` for times of threads.
    pub worst: Option<SimulatedMessage>,
}

/// A simulated message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedMessage {
    /// Counter.
    pub counter: u64,
    /// Time at which it was published, in nanoseconds since the simulation began.
    pub published: i64,
}

impl SimulatedTimes {
    /// Returns the times without the messages at both ends. `all` are those of all messages.
    fn of(delays: &Delays, all: &Delays, worst: Option<SimulatedMessage>) -> Option<Self> {
        let longest = all.delay.extremes.most().or(delays.delay.extremes.most())?;
        Some(Self {
            delay: TimeSummary::of_simulated(&delays.delay)?,
            jitter: TimeSummary::of_simulated(&delays.jitter),
            longest: longest.as_picoseconds() as f64 / 1e3,
            worst,
        })
    }
}

/// The message with the longest delay of each flow, in the order of the scenario.
struct WorstMessages {
    stamp: SentStamp,
    sources: Vec<FlowSource>,
    worst: Vec<Option<(takt_sim::Time, SimulatedMessage)>>,
}

impl Observer for WorstMessages {
    fn message(&mut self, message: &Message) {
        let mut sources = self.sources.iter();
        let place = sources.position(|source| *source == message.source);
        let Some(worst) = place.and_then(|place| self.worst.get_mut(place)) else {
            return;
        };
        let delay = match self.stamp {
            SentStamp::Driver | SentStamp::Unknown => message.ended - message.published,
            SentStamp::FirstBit => message.ended - message.first_bit,
        };
        let is_longer = worst.is_none_or(|(longest, _)| delay > longest);
        if message.outcome == MessageOutcome::Arrived && is_longer {
            let message = SimulatedMessage {
                counter: message.counter,
                published: message.published.as_nanoseconds(),
            };
            *worst = Some((delay, message));
        }
    }
}

/// Returns the options of the simulation of a run: its loopback sends its last message again, as that of the lab does.
/// With all offloads, the devices have the disciplines: those of IEEE 802.1Q.
pub(crate) fn options(
    scenario: &Scenario,
    seed: u64,
    messages: u64,
    trim: u64,
    offload: CaseOffload,
) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    if offload == CaseOffload::Full {
        options.model = Model::Ieee;
    }
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
    stamp: SentStamp,
    results: Results,
    /// Results of all messages, those at both ends included.
    all: Results,
    worst: WorstMessages,
}

impl<'a> CaseSimulation<'a> {
    /// Simulates a case. Delays on the wire begin where `stamp` says.
    pub(crate) fn of(scenario: &'a Scenario, options: RunOptions, stamp: SentStamp) -> Self {
        let sources = scenario.flows().iter().map(|flow| flow.source);
        let mut worst = WorstMessages {
            stamp,
            sources: sources.collect(),
            worst: vec![None; scenario.flows().len()],
        };
        // A simulation counts with one trim only, so it runs twice. The same seed gives the same messages.
        let mut untrimmed = options.clone();
        untrimmed.simulation.trim = 0;
        let all = Simulation::new(scenario, untrimmed).run(&mut worst);
        Self {
            scenario,
            stamp,
            results: Simulation::new(scenario, options).run(&mut ()),
            all,
            worst,
        }
    }

    pub(crate) fn round_trip(
        &self,
        application: ApplicationIndex,
        kind: RoundTripKind,
    ) -> Option<SimulatedTimes> {
        let counted = self.results.applications.get(application.0)?;
        let all = self.all.applications.get(application.0)?;
        match kind {
            RoundTripKind::Wire => {
                let worst = self.worst_of(FlowSource::Return(application));
                match self.stamp {
                    SentStamp::Driver | SentStamp::Unknown => {
                        SimulatedTimes::of(&counted.round_trip, &all.round_trip, worst)
                    }
                    SentStamp::FirstBit => SimulatedTimes::of(
                        &counted.round_trip_from_first_bit,
                        &all.round_trip_from_first_bit,
                        worst,
                    ),
                }
            }
            RoundTripKind::Application => SimulatedTimes::of(
                &counted.application_round_trip,
                &all.application_round_trip,
                None,
            ),
        }
    }

    pub(crate) fn of_way(&self, source: FlowSource) -> Option<SimulatedTimes> {
        let mut flows = self.scenario.flows().iter();
        let place = flows.position(|flow| flow.source == source)?;
        let counted = self.results.flows.get(place)?;
        let all = self.all.flows.get(place)?;
        match self.stamp {
            SentStamp::Driver | SentStamp::Unknown => {
                SimulatedTimes::of(&counted.one_way, &all.one_way, None)
            }
            SentStamp::FirstBit => SimulatedTimes::of(
                &counted.one_way_from_first_bit,
                &all.one_way_from_first_bit,
                None,
            ),
        }
    }

    fn worst_of(&self, source: FlowSource) -> Option<SimulatedMessage> {
        let mut sources = self.worst.sources.iter();
        let place = sources.position(|it| *it == source)?;
        let (_, message) = (*self.worst.worst.get(place)?)?;
        Some(message)
    }

    pub(crate) fn losses(&self, application: ApplicationIndex) -> LossShares {
        let drops = DropRates::new(self.scenario, &self.results, application);
        let flows = self.scenario.flows().iter();
        let there = flows.filter(|flow| {
            let is_return = matches!(flow.source, FlowSource::Return(_));
            flow.source.application() == Some(application) && !is_return
        });
        let is_there = |port| there.clone().any(|flow| flow.ports.contains(port));
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
