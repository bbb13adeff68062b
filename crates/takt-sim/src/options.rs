//! How a scenario is simulated.

use takt_scenario::{Scenario, SimulationOptions};

use crate::{Choice, Time};

/// Whose Credit-Based Shaper is simulated, and where frames are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Model {
    /// Linux: `sch_cbs` in software, lengths as the kernel counts them; disciplines hand frames to the driver before the link is free.
    #[default]
    Linux,
    /// IEEE 802.1Q: frames are chosen when the link is free, and count as long as they occupy it. This is what bounds assume.
    Ieee,
}

/// What a loopback does with several messages that came in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Loopback {
    /// It sends all of them. This is what bounds assume.
    #[default]
    All,
    /// It sends one message in each cycle: the one that came last, again if none has come since. So open62541's example does it.
    Latest,
}

/// What an adversary chose. Indices are the scenario's; where there is none, nothing is changed.
#[derive(Debug, Clone, Default)]
pub struct Adversary {
    /// What each Publisher is moved by.
    pub publishers: Vec<Time>,
    /// What each loopback is moved by.
    pub loopbacks: Vec<Time>,
    /// When each cross traffic begins.
    pub cross_traffic: Vec<Time>,
    /// At each port without gates, how much of the frame that `lower_priority` allows is in the way.
    pub interference: Vec<Choice>,
    /// Behind each port, how much of the time that its bridge may need it does.
    pub forwarding: Vec<Choice>,
}

/// How a scenario is simulated.
#[derive(Debug, Clone)]
pub struct Options {
    /// Seed, cycles, and how many of them are cut off at both ends.
    pub simulation: SimulationOptions,
    /// Nothing is published after this time, if there is one.
    pub duration: Option<Time>,
    /// Whose disciplines.
    pub model: Model,
    /// What loopbacks do.
    pub loopback: Loopback,
    /// Frames that each class of a discipline may hand to the driver before the link is free. Of [`Model::Linux`] only; at least 1.
    pub driver_queue: usize,
    /// What an adversary chose.
    pub adversary: Option<Adversary>,
}

impl Options {
    /// As the scenario says.
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
}
