//! Frames that a simulation of one port saw: arrivals, and the end of each frame.

use std::collections::BTreeMap;

use takt_scenario::{FlowSource, PortIndex, Scenario};
use takt_sim::{Message, MessageOutcome, Model, Observer, Passage, RunOptions, Simulation};

use crate::port_models::port::{Frame, Outcome, Port};

/// Frames by the index of their flow and their counter.
pub(crate) type Outcomes = BTreeMap<(usize, u64), Outcome>;

struct Watcher<'a> {
    scenario: &'a Scenario,
    port: &'a Port,
    model: Model,
    frames: Vec<Frame>,
    outcomes: Outcomes,
}

impl Watcher<'_> {
    fn flow(&self, source: FlowSource) -> usize {
        let mut flows = self.scenario.flows().iter();
        flows.position(|flow| flow.source == source).unwrap()
    }

    fn frame(&mut self, source: FlowSource, counter: u64, queued: i64, outcome: Outcome) {
        let flow = self.flow(source);
        let frame = self.scenario.flows()[flow].frame;
        let class = self.port.class_of(self.scenario.flows()[flow].pcp);
        let (arrival, txtime) = match source {
            FlowSource::Publish(id) => self.port.given(&self.scenario.applications[id.0], counter),
            _ => (queued, None),
        };
        assert!(txtime.is_some() || arrival == queued);
        self.frames.push(Frame {
            id: (flow, counter),
            class,
            // Behind its gates, the kernel knows the bytes on the wire: `tc` gives it a size table.
            length: match (self.model, self.port.gates_of_discipline(true)) {
                (Model::Linux, Some(_)) => frame.physical(),
                _ => frame.l2(),
            },
            wire: frame.physical(),
            arrival,
            txtime,
        });
        assert_eq!(self.outcomes.insert((flow, counter), outcome), None);
    }
}

impl Observer for Watcher<'_> {
    fn message(&mut self, message: &Message) {
        if let MessageOutcome::Lost(port, reason) = message.outcome {
            assert_eq!(port, PortIndex(0));
            let (published, ended) = (message.published, message.ended.as_picoseconds());
            let outcome = Outcome::Dropped(ended, reason);
            let published = published.as_picoseconds();
            self.frame(message.source, message.counter, published, outcome);
        }
    }

    fn passage(&mut self, passage: &Passage) {
        let outcome = Outcome::Sent(passage.arrived.as_picoseconds());
        let queued = passage.queued.as_picoseconds();
        self.frame(passage.source, passage.counter, queued, outcome);
    }
}

/// Simulates a scenario whose only used port is the first, and returns the frames in the order of their arrival, and their ends.
pub(crate) fn simulate(
    scenario: &Scenario,
    port: &Port,
    model: Model,
    driver_queue: usize,
    seed: u64,
) -> (Vec<Frame>, Outcomes) {
    let mut options = RunOptions::new(scenario);
    options.simulation.cycles = 40;
    options.simulation.seed = seed;
    options.model = model;
    options.driver_queue = driver_queue;
    let mut watcher = Watcher {
        scenario,
        port,
        model,
        frames: Vec::new(),
        outcomes: BTreeMap::new(),
    };
    Simulation::new(scenario, options).run(&mut watcher);
    let (mut frames, outcomes) = (watcher.frames, watcher.outcomes);
    frames.sort_by_key(|frame| (frame.arrival, frame.id));
    (frames, outcomes)
}
