//! The queueing disciplines of Linux, and the shaper of IEEE 802.1Q, as state machines: packets and times in, packets and times out.
//!
//! Times are those of the node's clock. The model covers the times of releases and the drops, but not the processor's time.

mod classes;
mod codel;
mod fq_codel;
mod gates;
mod packet;
mod queue;
mod quotient;
mod txtime_assist;
mod window_budgets;

use takt_scenario::{Discipline, Scheduler};

use crate::options::Model;
use crate::{LineRate, NodeClock, Time};

pub use classes::{Classes, Lengths};
pub use codel::CodelParameters;
pub use fq_codel::FqCodel;
pub use gates::{Gates, Window};
pub use packet::{DropReason, Drops, Next, Packet, Release};
pub use queue::*;
pub use txtime_assist::TxTimeAssist;
pub use window_budgets::WindowBudgets;

/// Discipline of a port.
#[derive(Debug)]
pub enum QueueingDiscipline {
    /// FQ_CoDel: a queue for each flow.
    FqCodel(Box<FqCodel>),
    /// Traffic classes: MQPRIO, and TAPRIO if there are gates.
    Classes(Classes),
}

impl QueueingDiscipline {
    /// Makes the discipline of a port, whose gates are later by a shift. The clock is that of the port's node.
    pub(crate) fn new(
        written: &Discipline,
        rate: LineRate,
        clock: NodeClock,
        shift: Time,
        model: Model,
    ) -> Self {
        let classes = || Classes::of_port(written, rate, clock, model);
        match &written.scheduler {
            Scheduler::FqCodel(parameters) => Self::FqCodel(Box::new(FqCodel::new(parameters))),
            Scheduler::Mqprio => Self::Classes(classes()),
            // The queues of classes then lead to the driver, as below mqprio.
            Scheduler::Taprio(_) if has_device_gates(written, model) => Self::Classes(classes()),
            Scheduler::Taprio(taprio) => {
                let gated = classes().with_gates(Gates::new(taprio).shifted(shift));
                Self::Classes(match taprio.txtime_assist {
                    Some(delay) => gated.with_txtime_assist(delay.into()),
                    None => gated,
                })
            }
        }
    }

    /// Returns the gates of a port's device, later by a shift; `None` if the kernel has the gates, or there are none.
    pub(crate) fn device_gates(written: &Discipline, shift: Time, model: Model) -> Option<Gates> {
        let taprio = written.scheduler.gates()?;
        has_device_gates(written, model).then(|| Gates::new(taprio).shifted(shift).closing_early())
    }

    /// Adds a packet. The discipline may drop this packet, or others.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        match self {
            Self::FqCodel(fq_codel) => fq_codel.enqueue(packet, now, drops),
            Self::Classes(classes) => classes.enqueue(packet, now, drops),
        }
    }

    /// Removes and returns the next packet of one of these classes: bit 0 is the highest.
    pub fn dequeue(&mut self, now: Time, from: u16, drops: &mut Drops) -> Release {
        match self {
            Self::FqCodel(_) if from & 1 == 0 => Release::Nothing,
            Self::FqCodel(fq_codel) => fq_codel
                .dequeue(now, drops)
                .map_or(Release::Nothing, |packet| Release::Packet(packet, 0)),
            Self::Classes(classes) => classes.dequeue(now, from, drops),
        }
    }

    /// Takes note that the link became free at this time, and that no packet waited: flows of FQ_CoDel that had their turn are
    /// new again.
    pub fn found_empty(&mut self, now: Time) {
        if let Self::FqCodel(fq_codel) = self {
            let nothing = fq_codel.dequeue(now, &mut Drops::new());
            debug_assert!(nothing.is_none());
        }
    }

    /// Returns true if a packet may be sent now.
    pub fn is_ready(&mut self, now: Time, drops: &mut Drops) -> bool {
        match self {
            Self::FqCodel(fq_codel) => !fq_codel.is_empty(),
            Self::Classes(classes) => {
                matches!(classes.select(now, u16::MAX, drops), Release::Packet(..))
            }
        }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        match self {
            Self::FqCodel(_) => 1,
            Self::Classes(classes) => classes.len(),
        }
    }

    /// Returns true if packets of each class are requested separately.
    pub fn has_classes_apart(&self) -> bool {
        match self {
            Self::FqCodel(_) => false,
            Self::Classes(classes) => classes.are_apart(),
        }
    }

    /// Returns true if the next packet passes the discipline by, because none waits (`TCQ_F_CAN_BYPASS`). It has no part in the rules of
    /// the discipline, so this matters for FQ_CoDel only: queues of one kind of packets have no such rules.
    pub fn is_bypassed_when_empty(&self) -> bool {
        match self {
            Self::FqCodel(fq_codel) => fq_codel.is_empty(),
            Self::Classes(_) => false,
        }
    }

    /// Returns the class of packets of this priority.
    pub fn class_of(&self, priority: u8) -> u8 {
        match self {
            Self::FqCodel(_) => 0,
            Self::Classes(classes) => classes.class_of(priority),
        }
    }
}

/// Returns true if the device has the gates. The model of IEEE 802.1Q has one place for all that it chooses.
fn has_device_gates(written: &Discipline, model: Model) -> bool {
    let gates = written.scheduler.gates();
    model == Model::Linux && gates.is_some_and(|taprio| taprio.offload)
}

#[cfg(test)]
pub(crate) mod test {
    use super::Packet;

    /// Makes a packet of so many bytes for the kernel, 24 more on the wire.
    pub(crate) fn packet(frame: u32, length: u32) -> Packet {
        Packet {
            frame,
            flow: 0,
            length,
            wire: length + 24,
            priority: 0,
            txtime: None,
        }
    }
}
