//! Port of the models: rate, clock, gates and classes as the scenario states them.

use takt_scenario::{Application, Discipline, Limit, Queue, Scenario, Scheduler};
use takt_sim::discipline::DropReason;

use crate::port_models::clock::{Clock, Gates};

/// Frame that arrives at the port, with times in picoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) id: (usize, u64),
    pub(crate) class: usize,
    /// Length by the kernel, in bytes.
    pub(crate) length: u32,
    /// Length on the wire, in bytes.
    pub(crate) wire: u32,
    pub(crate) arrival: i64,
    /// Txtime by the clock of the node.
    pub(crate) txtime: Option<i64>,
}

/// End of a frame at the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Time at which the last bit was sent.
    Sent(i64),
    /// Time of the drop, and its reason.
    Dropped(i64, DropReason),
}

/// First port of a scenario.
#[derive(Debug)]
pub(crate) struct Port {
    /// Rate of the link in bit/s.
    pub(crate) rate: i64,
    pub(crate) clock: Clock,
    /// Lateness of threads on the node.
    pub(crate) late: i64,
    pub(crate) discipline: Discipline,
    pub(crate) gates: Option<Gates>,
    /// True if the device has the gates in the model of Linux.
    pub(crate) has_device_gates: bool,
    /// Delay of txtime-assist.
    pub(crate) assist: Option<i64>,
}

fn picoseconds(duration: takt_scenario::Duration) -> i64 {
    i64::try_from(duration.picos()).unwrap()
}

impl Port {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let port = &scenario.ports[0];
        let node = &scenario.nodes[port.node.0];
        let taprio = port.discipline.scheduler.gates();
        let has_device_gates = taprio.is_some_and(|taprio| taprio.offload);
        let (gates, assist) = match &port.discipline.scheduler {
            Scheduler::Taprio(taprio) => {
                let entries = taprio.entries.iter();
                let gates = Gates {
                    base: picoseconds(taprio.base_time),
                    cycle: picoseconds(taprio.cycle_time),
                    entries: entries
                        .map(|entry| (entry.gates, picoseconds(entry.interval)))
                        .collect(),
                    guard_band: picoseconds(taprio.guard_band),
                };
                (Some(gates), taprio.txtime_assist.map(picoseconds))
            }
            _ => (None, None),
        };
        Self {
            rate: i64::try_from(scenario.links[0].rate.0).unwrap(),
            clock: Clock {
                offset: node.clock.offset.picos(),
                drift: node.clock.drift.billionths(),
            },
            late: picoseconds(node.wake_up_latency.most()),
            discipline: port.discipline.clone(),
            gates,
            has_device_gates,
            assist,
        }
    }

    /// Returns the gates that the discipline has: all but those of the device.
    pub(crate) fn gates_of_discipline(&self, is_linux: bool) -> Option<&Gates> {
        let gates = self.gates.as_ref();
        gates.filter(|_| !(is_linux && self.has_device_gates))
    }

    /// Returns the gates of the device.
    pub(crate) fn gates_of_device(&self, is_linux: bool) -> Option<&Gates> {
        let gates = self.gates.as_ref();
        gates.filter(|_| is_linux && self.has_device_gates)
    }

    pub(crate) fn class_of(&self, pcp: u8) -> usize {
        self.discipline.class_of(pcp)
    }

    /// Returns the time that so many bytes need on the link, rounded up.
    pub(crate) fn needs(&self, bytes: u32) -> i64 {
        let bits = i128::from(bytes) * 8 * 1_000_000_000_000;
        i64::try_from(-(-bits).div_euclid(self.rate.into())).unwrap()
    }

    /// Returns the time at which the application gives a message to the port, and its txtime by the node's clock.
    pub(crate) fn given(&self, application: &Application, counter: u64) -> (i64, Option<i64>) {
        let cycle = picoseconds(application.cycle);
        // The first cycle is the first that begins at time 0 or later.
        let begun = -(-self.clock.shows(0)).div_euclid(cycle);
        let cycle = cycle * (begun + i64::try_from(counter).unwrap());
        let sending = cycle + picoseconds(application.sending_time());
        let lead = application.txtime.map(picoseconds);
        let thread = sending - lead.unwrap_or(0);
        (
            self.clock.reaches(thread, 0) + self.late,
            lead.map(|_| sending),
        )
    }
}

/// Returns true if a queue with these lengths has room for one more.
pub(crate) fn has_room(limit: Limit, lengths: impl Iterator<Item = u32>, length: u32) -> bool {
    match limit {
        Limit::Frames(most) => (lengths.count() as u64) < most,
        Limit::Bytes(most) => lengths.map(u64::from).sum::<u64>() + u64::from(length) <= most.0,
    }
}

/// Returns the capacity of a queue.
pub(crate) fn limit(queue: &Queue) -> Limit {
    match queue {
        Queue::Fifo(limit) => *limit,
        Queue::Cbs(shaper) => shaper.limit,
        other => panic!("{other} has no capacity of its own"),
    }
}
