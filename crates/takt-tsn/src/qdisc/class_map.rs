//! Map of `mqprio` and `taprio` from priorities to classes and transmit queues.

use serde_json::Value;

use super::json::number;
use super::words::joined;

/// Number of priorities of a socket buffer that mqprio and taprio map to classes (`TC_QOPT_MAX_QUEUE`).
pub const SOCKET_PRIORITIES: usize = 16;

/// Map from priorities to classes, and from classes to transmit queues. Class 0 is the highest and has the first
/// queues, which an Intel I210 serves first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassMap {
    /// Class of each priority of a socket buffer.
    pub classes: [u8; SOCKET_PRIORITIES],
    /// Number of queues of each class. Queues are given out in the order of the classes.
    pub queues: Vec<u16>,
}

impl ClassMap {
    /// Returns the number of the class's first queue, from 0.
    pub fn first_queue(&self, class: usize) -> u16 {
        self.queues
            .iter()
            .take(class)
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the words of a `tc` command.
    pub(super) fn phrases(&self) -> Vec<String> {
        let classes = self.queues.iter().enumerate();
        let queues = classes.map(|(class, count)| format!("{count}@{}", self.first_queue(class)));
        vec![
            format!("num_tc {}", self.queues.len()),
            format!("map {}", joined(self.classes.iter())),
            format!("queues {}", joined(queues)),
        ]
    }

    /// Reads priorities and queues: mqprio has pairs of the first and the last queue, taprio has offset and count.
    pub(super) fn read(options: &Value) -> Option<Self> {
        let mut classes = [0u8; SOCKET_PRIORITIES];
        let map = options.get("map")?.as_array()?;
        for (class, value) in classes.iter_mut().zip(map) {
            *class = u8::try_from(value.as_u64()?).ok()?;
        }
        let count = usize::try_from(number(options, "tc")?).ok()?;
        let read = |value: &Value| match value.as_array() {
            Some(pair) => {
                let (first, last) = (pair.first()?.as_u64()?, pair.get(1)?.as_u64()?);
                u16::try_from(last.checked_add(1)?.checked_sub(first)?).ok()
            }
            None => u16::try_from(number(value, "count")?).ok(),
        };
        let queues = options.get("queues")?.as_array()?.iter().take(count);
        let queues: Option<Vec<u16>> = queues.map(read).collect();
        Some(Self {
            classes,
            queues: queues?,
        })
    }
}
