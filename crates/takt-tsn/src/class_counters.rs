//! Counters of an interface for each class.

use crate::kernel_state::KernelState;
use crate::qdisc::QdiscParent;
use crate::read_back::QdiscCounters;

/// Counters of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassCounters {
    /// Number of the class, from 0 for the highest; `None` for a discipline without classes.
    pub class: Option<usize>,
    /// Priorities of the class, 0 to 15.
    pub priorities: Vec<u8>,
    /// Name of its discipline.
    pub queue: String,
    /// Sum over its queues.
    pub counters: QdiscCounters,
}

impl std::ops::AddAssign for QdiscCounters {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.sent_bytes, other.sent_bytes);
        add(&mut self.sent_frames, other.sent_frames);
        add(&mut self.dropped, other.dropped);
        add(&mut self.overlimits, other.overlimits);
        add(&mut self.requeues, other.requeues);
        add(&mut self.backlog_bytes, other.backlog_bytes);
        add(&mut self.backlog_frames, other.backlog_frames);
    }
}

/// Returns the counters of the classes, highest first. They are those of the disciplines at the queues: taprio's own
/// classes all show the counters of the whole interface.
pub fn class_counters(state: &KernelState) -> Vec<ClassCounters> {
    let Some(root) = state.root() else {
        return Vec::new();
    };
    let Some(map) = root.kind.as_ref().and_then(|kind| kind.class_map()) else {
        return vec![ClassCounters {
            class: None,
            priorities: (0..16).collect(),
            queue: root.name.clone(),
            counters: root.counters,
        }];
    };
    let class = |(number, queues): (usize, &u16)| {
        // Queues count from 0. The classes of the kernel that stand for them count from 1.
        let first = map.first_queue(number);
        let parents = (first..first.saturating_add(*queues))
            .map(|queue| QdiscParent::Class(root.handle, queue + 1));
        let mut counters = QdiscCounters::default();
        let mut queue = String::new();
        for parent in parents {
            if let Some(found) = state.qdiscs.iter().find(|qdisc| qdisc.parent == parent) {
                counters += found.counters;
                queue.clone_from(&found.name);
            }
        }
        let priorities = (0u8..16)
            .zip(&map.classes)
            .filter(|(_, class)| usize::from(**class) == number);
        ClassCounters {
            class: Some(number),
            priorities: priorities.map(|(priority, _)| priority).collect(),
            queue,
            counters,
        }
    };
    map.queues.iter().enumerate().map(class).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::read_back::read_qdiscs;

    #[test]
    fn counters_belong_to_the_disciplines_of_the_queues() {
        let text = include_str!("../tests/kernel_6_1/cbs.json");
        let text = text.replace(
            r#""offload":0},"bytes":0,"packets":0,"drops":0"#,
            r#""offload":0},"bytes":990,"packets":10,"drops":3"#,
        );
        let state = KernelState {
            qdiscs: read_qdiscs(&text).unwrap(),
            marked: Vec::new(),
        };
        let classes = class_counters(&state);
        let shown: Vec<(&str, u64, u64)> = classes
            .iter()
            .map(|class| {
                (
                    class.queue.as_str(),
                    class.counters.sent_frames,
                    class.counters.dropped,
                )
            })
            .collect();
        assert_eq!(shown, [("cbs", 10, 3), ("pfifo", 0, 0)]);
        assert_eq!(classes[0].priorities, [3]);
    }
}
