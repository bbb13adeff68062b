//! `taprio`: a schedule of gates.

use std::fmt;
use std::ops::Range;

use super::super::description::{DisciplineDescription, DisciplineTemplate};
use crate::document::{Item, Table};
use crate::error::Problem;
use crate::quantity::Duration;
use crate::shape::{Kind, Shape, may, need};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "taprio",
    help: "Gates",
    fields: &[
        may(
            "base_time",
            Kind::Duration,
            "taprio: start of a cycle; by default 0.",
        ),
        may(
            "cycle_time",
            Kind::Interval,
            "taprio: length of a cycle; by default the sum of the entries. With a greater length, the last entry is extended; a smaller one is a mistake.",
        ),
        may(
            "entries",
            Kind::List(&Kind::Table(&GATE_ENTRY)),
            "taprio: entries of the cycle.",
        ),
        may(
            "txtime_assist",
            Kind::Duration,
            "taprio: flags 0x1 with this txtime-delay; etf queues of classes send their frames at these times.",
        ),
        may(
            "guard_band",
            Kind::Duration,
            "taprio: time at the end of each window in which no frame begins; by default 0.",
        ),
        may(
            "offload",
            Kind::Boolean,
            "taprio: true if the hardware has the gates (flags 0x2); by default false. Not together with txtime_assist.",
        ),
    ],
    template: DisciplineTemplate {
        scheduler: "taprio",
        class: Some("queue = \"etf\", delta = \"150 us\""),
        more: "txtime_assist = \"180 us\" # txtime-delay: more than delta\nentries = [\n    \
               { gates = [\"A\"], interval = \"40 us\" },\n    \
               { gates = [\"best effort\"], interval = \"60 us\" },\n]\n",
        shift_per_hop: Some(Duration(20_000_000)),
        cycle: Duration(200_000_000),
        offset: Duration(100_000_000),
        ..DisciplineTemplate::FIFO
    },
};

const GATE_ENTRY: Shape = Shape {
    name: "an entry",
    description: "A part of the cycle of gates.",
    one_of: &[],
    fields: &[
        need(
            "gates",
            Kind::List(&Kind::Text),
            "Names of the classes whose gates are open.",
        ),
        need("interval", Kind::Interval, "Length of the entry."),
    ],
    of_kinds: &[],
};

/// A schedule of gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taprio {
    /// Beginning of a cycle, by the node's clock, including the port's shift. Cycles also extend before it.
    pub base_time: Duration,
    /// Length of a cycle: the sum of the entries' intervals.
    pub cycle_time: Duration,
    /// Entries of a cycle, in order. At least one.
    pub entries: Vec<GateEntry>,
    /// Delay of txtime-assist (`flags 0x1`, `txtime-delay`). There are no gates then: each frame gets a txtime at which its gate
    /// would be open, at least this much from now, and ETF below sends it then.
    pub txtime_assist: Option<Duration>,
    /// True if the hardware has the gates (`flags 0x2`). Otherwise the kernel has them.
    pub offload: bool,
    /// Guard band: a time at the end of each window in which no frame begins. Besides, a frame only begins if it ends before the
    /// window does. A gate that never closes has no guard band.
    pub guard_band: Duration,
}

/// A part of the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateEntry {
    /// Classes whose gates are open: bit 0 is the highest class.
    pub gates: u8,
    /// Length of the entry.
    pub interval: Duration,
}

impl GateEntry {
    /// Returns true if the gate of a class is open.
    pub fn is_open(self, class: usize) -> bool {
        class < 8 && self.gates >> class & 1 == 1
    }
}

impl Taprio {
    /// Returns the windows of a class in one cycle: opening time after the cycle's beginning, and length. Entries that follow one
    /// another with the gate open are one window. A window that continues in the next cycle begins in this one. A gate that never
    /// closes is one window as long as the cycle. With txtime-assist each entry is a window, since a frame's txtime and its end
    /// are in one entry.
    pub fn windows(&self, class: usize) -> Vec<(Duration, Duration)> {
        let joined = self.txtime_assist.is_none();
        let mut windows: Vec<(Duration, Duration)> = Vec::new();
        let mut start = Duration::ZERO;
        for entry in &self.entries {
            if entry.is_open(class) {
                match windows.last_mut() {
                    Some(last) if last.0.plus(last.1) == start && joined => {
                        last.1 = last.1.plus(entry.interval)
                    }
                    _ => windows.push((start, entry.interval)),
                }
            }
            start = start.plus(entry.interval);
        }
        if let [(Duration::ZERO, first), .., last] = windows.as_mut_slice()
            && last.0.plus(last.1) == start
            && joined
        {
            last.1 = last.1.plus(*first);
            windows.remove(0);
        }
        windows
    }

    /// Reads the fields of a discipline. `classes` are the names of its classes, highest first, and `span` is its place.
    pub(super) fn read(
        table: &Table,
        classes: &[&str],
        span: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut entries = Vec::new();
        let cycle: Option<Duration> = table.quantity("cycle_time");
        let mut begin = Duration::ZERO;
        for (_, entry) in table.tables("entries") {
            let gates = entry.get("gates").map(Item::list).unwrap_or_default();
            let gates = gates
                .iter()
                .fold(0, |open, gate| open | mask(gate, classes, problems));
            let interval = entry.quantity("interval").unwrap_or_default();
            let end = begin.plus(interval);
            if let (Some(cycle), Some(item)) = (cycle, entry.get("interval"))
                && end > cycle
            {
                let problem = Problem::new(behind_cycle(begin, end, cycle), item.span.clone());
                problems.push(problem.with_help(match begin < cycle {
                    true => format!(
                        "make the entry {} long, or the cycle at least {end}",
                        Duration(cycle.0 - begin.0)
                    ),
                    false => format!("remove the entry, or make the cycle at least {end}"),
                }));
            }
            begin = end;
            entries.push(GateEntry { gates, interval });
        }
        if entries.is_empty() {
            problems.push(Problem::new("taprio needs `entries`", span.clone()));
        }
        let sum = entries
            .iter()
            .fold(Duration::ZERO, |sum, entry| sum.plus(entry.interval));
        let cycle_time = cycle.unwrap_or(sum);
        fit(&mut entries, cycle_time);
        let txtime_assist = table.quantity("txtime_assist");
        let offload = table.boolean("offload").unwrap_or(false);
        if let Some(item) = table.get("offload")
            && offload
            && txtime_assist.is_some()
        {
            let problem = Problem::new(
                "with `txtime_assist` there are no gates that the hardware could have",
                item.span.clone(),
            );
            problems.push(problem.with_help("remove `offload` or `txtime_assist`"));
        }
        Self {
            base_time: table.quantity("base_time").unwrap_or_default(),
            cycle_time,
            entries,
            txtime_assist,
            offload,
            guard_band: table.quantity("guard_band").unwrap_or_default(),
        }
    }
}

impl fmt::Display for Taprio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "taprio, cycle {}", self.cycle_time)?;
        match (self.txtime_assist, self.offload) {
            (Some(delay), _) => write!(f, ", txtime-assist {delay}"),
            (None, true) => write!(f, ", gates of the device"),
            (None, false) => Ok(()),
        }
    }
}

/// Returns the bit of the class that a gate names. Classes beyond the eighth have none; the number of classes is checked elsewhere.
fn mask(gate: &Item, classes: &[&str], problems: &mut Vec<Problem>) -> u8 {
    let name = gate.text().unwrap_or_default();
    let Some(class) = classes.iter().position(|class| *class == name) else {
        let message = format!("there is no class `{name}` in this discipline");
        let problem = Problem::new(message, gate.span.clone());
        problems.push(problem.did_you_mean(name, classes.iter().copied()));
        return 0;
    };
    let shift = u32::try_from(class).unwrap_or(8);
    1u8.checked_shl(shift).unwrap_or(0)
}

/// Returns the mistake of an entry that ends behind its cycle.
fn behind_cycle(begin: Duration, end: Duration, cycle: Duration) -> String {
    if begin < cycle {
        format!("the entry ends {end} after the cycle begins, but the cycle is {cycle} long")
    } else {
        format!(
            "the entry begins {begin} after the cycle begins, when the cycle of {cycle} is over"
        )
    }
}

/// Extends the last entry until the cycle ends, and cuts off entries behind that.
fn fit(entries: &mut Vec<GateEntry>, cycle_time: Duration) {
    let mut left = cycle_time.0;
    for entry in entries.iter_mut() {
        entry.interval.0 = entry.interval.0.min(left);
        left -= entry.interval.0;
    }
    entries.retain(|entry| entry.interval.0 > 0);
    if let Some(last) = entries.last_mut() {
        // The lengths add up to at most `cycle_time`, so the sum does not overflow.
        last.interval.0 += left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taprio(gates: &[u8]) -> Taprio {
        let entries = gates.iter().map(|gates| GateEntry {
            gates: *gates,
            interval: Duration(10),
        });
        Taprio {
            base_time: Duration::ZERO,
            cycle_time: Duration(10 * gates.len() as u64),
            entries: entries.collect(),
            txtime_assist: None,
            offload: false,
            guard_band: Duration::ZERO,
        }
    }

    #[test]
    fn windows_are_joined() {
        let windows = |gates: &[u8], class| -> Vec<(u64, u64)> {
            let windows = taprio(gates).windows(class);
            windows
                .into_iter()
                .map(|(at, long)| (at.0, long.0))
                .collect()
        };
        assert_eq!(windows(&[1, 2, 2, 1], 0), [(30, 20)]);
        assert_eq!(windows(&[1, 2, 2, 1], 1), [(10, 20)]);
        assert_eq!(windows(&[1, 2, 1, 2], 0), [(0, 10), (20, 10)]);
        assert_eq!(windows(&[1, 1], 0), [(0, 20)]);
        assert_eq!(windows(&[1, 1], 1), []);
        assert_eq!(windows(&[1, 2], 8), []);
        let mut assisted = taprio(&[1, 1, 2, 1]);
        assisted.txtime_assist = Some(Duration(5));
        let at: Vec<u64> = assisted.windows(0).iter().map(|(at, _)| at.0).collect();
        assert_eq!(at, [0, 10, 30]);
    }
}
