//! Queueing disciplines with the names of Linux (`tc`), and the mechanisms with the names of IEEE 802.1Q.
//! `docs/add-a-qdisc.md` describes a new one.

mod description;
mod limit;
mod queue;
mod scheduler;
mod shapes;

pub use description::DisciplineDescription;
pub use limit::Limit;
pub use queue::*;
pub use scheduler::*;

use crate::document::Table;
use crate::quantity::Rate;
pub(crate) use queue::{CbsFields, FIELDS as OF_QUEUE, WrittenQueue, by_fast_clock};
pub(crate) use scheduler::{FIELDS as OF_SCHEDULER, has_classes};
pub(crate) use shapes::DISCIPLINE;

/// Returns the descriptions of the disciplines that a port may have, in the order of help texts.
pub fn disciplines() -> impl Iterator<Item = &'static DisciplineDescription> {
    // A FIFO queue is what each class of `mqprio` has by default, so it is no choice of its own.
    let queues = queue::QUEUES.iter().filter(|queue| queue.name != "fifo");
    scheduler::SCHEDULERS.iter().chain(queues)
}

/// Returns a discipline's scheduler and the queue of its highest class, with the default of each parameter. Gates have no entry
/// then, and a shaper reserves nothing.
pub fn with_defaults(description: &DisciplineDescription) -> (Scheduler, Queue) {
    let (nothing, place) = (Table::default(), 0..0);
    let kind = description.template.scheduler;
    let scheduler = Scheduler::read(kind, &nothing, &[], &place, &mut Vec::new());
    (scheduler, Queue::with_defaults(description.name))
}

/// A discipline: it selects the frame that a port sends next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discipline {
    /// Name in the file.
    pub name: String,
    /// Selection between classes.
    pub scheduler: Scheduler,
    /// Classes, highest first. At least one; each PCP is in one of them. [`Scheduler::FqCodel`] has one.
    pub classes: Vec<TrafficClass>,
}

impl Discipline {
    /// Returns the index of the class for frames of this PCP.
    pub fn class_of(&self, pcp: u8) -> usize {
        class_of(self.classes.iter().map(|class| &class.priorities), pcp)
    }

    /// Returns the queue for frames of this PCP.
    pub fn queue_of(&self, pcp: u8) -> Option<&Queue> {
        let class = self.classes.get(self.class_of(pcp));
        class.map(|class| &class.queue)
    }

    /// Returns the shaped classes above one, on a link.
    pub fn reserved_above(&self, class: usize, link: Rate) -> ReservedAbove {
        let above = self.classes.iter().take(class);
        let mut reserved = ReservedAbove::default();
        for shaper in above.filter_map(|class| class.queue.shaper()) {
            reserved.add(shaper, link);
        }
        reserved
    }

    /// Returns the discipline at an interface of another rate than the link, by which Linux computes. Computed slopes and credits
    /// of shapers follow the rate, and credits of the scenario stay.
    #[must_use]
    pub fn at_interface(&self, rate: Rate) -> Self {
        let mut changed = self.clone();
        // The order is from the highest class on: credits of a class follow from those above it.
        for class in 0..changed.classes.len() {
            let above = changed.reserved_above(class, rate);
            if let Queue::Cbs(shaper) = &mut changed.classes[class].queue {
                *shaper = shaper.at_interface(rate, above);
            }
        }
        changed
    }
}

/// Returns the index of the first class that has this PCP, or of the last class.
pub(crate) fn class_of<'a>(
    priorities: impl ExactSizeIterator<Item = &'a Vec<u8>>,
    pcp: u8,
) -> usize {
    let last = priorities.len().saturating_sub(1);
    let mut priorities = priorities;
    let found = priorities.position(|priorities| priorities.contains(&pcp));
    found.unwrap_or(last)
}

/// A traffic class of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficClass {
    /// Name, unique in a discipline.
    pub name: String,
    /// PCPs of its frames.
    pub priorities: Vec<u8>,
    /// Queue of its frames.
    pub queue: Queue,
}
