//! Options of a simulation.

use takt_scenario::{Scenario, SimulationOptions};

use crate::{Choice, Time};

/// Model of the Credit-Based Shaper, and of the place where frames are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Model {
    /// Linux: `sch_cbs` in software, lengths as the kernel counts them; disciplines hand frames to the driver before the link is free.
    #[default]
    Linux,
    /// IEEE 802.1Q: frames are chosen when the link is free, and count as long as they occupy it. This is what bounds assume.
    Ieee,
}

/// Behaviour of a loopback that received several messages in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Loopback {
    /// It sends all of them. This is what bounds assume.
    #[default]
    All,
    /// It sends one message in each cycle: the last one that came, again if none has come since. This is the behaviour of
    /// open62541's example.
    Latest,
}

/// Choices of an adversary, by the scenario's indices. Missing entries change nothing.
#[derive(Debug, Clone, Default)]
pub struct Adversary {
    /// Shift of each Publisher.
    pub publishers: Vec<Time>,
    /// Shift of each loopback.
    pub loopbacks: Vec<Time>,
    /// Shift of the gates of each port, by the clock of its node.
    pub gates: Vec<Time>,
    /// Begin of each cross traffic.
    pub cross_traffic: Vec<Time>,
    /// Interfering part of the frame that `lower_priority` allows, at each port without gates.
    pub interference: Vec<Choice>,
    /// Used part of the longest forwarding delay, behind each port.
    pub forwarding: Vec<Choice>,
    /// Used part of the longest wake-up latency of each Publisher's thread.
    pub late_publishers: Vec<Choice>,
    /// Used part of the longest wake-up latency of each loopback's threads.
    pub late_loopbacks: Vec<Choice>,
}

/// Options of a simulation.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Seed, cycles, and number of cycles that are cut off at both ends.
    pub simulation: SimulationOptions,
    /// Time after which nothing is published, if there is one.
    pub duration: Option<Time>,
    /// Model of the disciplines.
    pub model: Model,
    /// Behaviour of loopbacks.
    pub loopback: Loopback,
    /// Number of frames that each class of a discipline may hand to the driver before the link is free. Of [`Model::Linux`] only;
    /// at least 1.
    pub driver_queue: usize,
    /// Choices of an adversary.
    pub adversary: Option<Adversary>,
}

impl RunOptions {
    /// Returns the options of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            simulation: scenario.simulation,
            duration: None,
            model: Model::default(),
            loopback: Loopback::default(),
            driver_queue: 1,
            adversary: None,
        }
    }

    /// Returns the options with this number of cycles. If the cut ends would be all of them, nothing is cut off.
    #[must_use]
    pub fn with_cycles(mut self, cycles: u64) -> Self {
        self.simulation.cycles = cycles;
        if self.simulation.trim.saturating_mul(2) >= cycles {
            self.simulation.trim = 0;
        }
        self
    }
}
