//! Queueing disciplines as `tc` knows them: parameters in its units, and its words for them.

use std::fmt;

use takt_scenario::FqCodelParameters;

/// Number of priorities of a socket buffer that mqprio and taprio map to classes (`TC_QOPT_MAX_QUEUE`).
pub const SOCKET_PRIORITIES: usize = 16;

/// Handle of a discipline: the number before the colon, which `tc` writes in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QdiscHandle(pub u16);

impl fmt::Display for QdiscHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:", self.0)
    }
}

/// Place of a discipline: the root of the interface, or a class of another discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QdiscParent {
    /// The interface.
    Root,
    /// A class: handle of the discipline and number of the class, from 1.
    Class(QdiscHandle, u16),
}

impl fmt::Display for QdiscParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Class(handle, minor) => write!(f, "parent {handle}{minor:x}"),
        }
    }
}

/// A discipline at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Handle.
    pub handle: QdiscHandle,
    /// Place.
    pub parent: QdiscParent,
    /// Kind with parameters.
    pub kind: QdiscKind,
}

/// Kind of a discipline, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QdiscKind {
    /// `fq_codel`.
    FqCodel(FqCodelParameters),
    /// `mqprio` without hardware offload of the map (`hw 0`).
    Mqprio(ClassMap),
    /// `taprio`.
    Taprio(GateSchedule),
    /// `cbs`.
    Cbs(ShaperNumbers),
    /// `etf` with CLOCK_TAI.
    Etf(LaunchNumbers),
    /// `pfifo`: a queue for this number of frames.
    Pfifo(u64),
    /// `bfifo`: a queue for this number of bytes of L2 frames.
    Bfifo(u64),
}

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
}

/// Schedule of gates: the parameters of `taprio`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSchedule {
    /// Classes and queues.
    pub map: ClassMap,
    /// Start of a cycle on CLOCK_TAI, in nanoseconds.
    pub base_time: u64,
    /// Entries of a cycle: gates as a mask with bit 0 for class 0, and the length in nanoseconds.
    pub entries: Vec<(u8, u64)>,
    /// Place at which gates are opened and closed.
    pub mode: GateMode,
    /// Bytes that the kernel adds to the length of each frame (size table, tc-stab(8)): those on the wire that its buffers lack.
    /// Without them, the last frame of a window ends behind it.
    pub overhead: u32,
}

/// Bytes on the wire besides the frame in the kernel's buffer: preamble and start of frame 8, check sequence 4, interframe gap 12
/// (IEEE 802.3, 3.1.1 and 4.4.2).
pub const WIRE_OVERHEAD: u32 = 24;

/// Place at which the gates of `taprio` are opened and closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMode {
    /// The kernel (no flags).
    Software,
    /// No gates: each frame gets a txtime in its window, and `etf` below keeps it (`flags 0x1`). The number is
    /// `txtime-delay` in nanoseconds.
    TxtimeAssist(u64),
    /// The hardware (`flags 0x2`), by its PTP clock.
    FullOffload,
}

/// Parameters of `cbs`, in its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaperNumbers {
    /// IdleSlope in kbit/s.
    pub idle_slope: i64,
    /// SendSlope in kbit/s, negative.
    pub send_slope: i64,
    /// hiCredit in bytes.
    pub hi_credit: i64,
    /// loCredit in bytes, negative.
    pub lo_credit: i64,
    /// True if the hardware shapes.
    pub offload: bool,
}

/// Parameters of `etf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchNumbers {
    /// Time before the txtime at which a frame is given to the hardware, in nanoseconds.
    pub delta: u64,
    /// True if the txtime is a deadline.
    pub deadline_mode: bool,
    /// True if frames without a txtime of their socket are accepted.
    pub skip_sock_check: bool,
    /// True if the hardware waits for the txtime.
    pub offload: bool,
}

impl QdiscKind {
    /// Returns the name for `tc`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FqCodel(_) => "fq_codel",
            Self::Mqprio(_) => "mqprio",
            Self::Taprio(_) => "taprio",
            Self::Cbs(_) => "cbs",
            Self::Etf(_) => "etf",
            Self::Pfifo(_) => "pfifo",
            Self::Bfifo(_) => "bfifo",
        }
    }

    /// Returns the map of classes, if the kind has classes for priorities.
    pub fn class_map(&self) -> Option<&ClassMap> {
        match self {
            Self::Mqprio(map) | Self::Taprio(GateSchedule { map, .. }) => Some(map),
            _ => None,
        }
    }

    /// Returns the words of a `tc` command before the name of the kind.
    pub fn size_table(&self) -> String {
        match self {
            Self::Taprio(schedule) if schedule.overhead > 0 => {
                format!("stab overhead {} ", schedule.overhead)
            }
            _ => String::new(),
        }
    }

    /// Returns the parameters as the words of a `tc` command. Each text is an option with its values, so that lines can
    /// be wrapped between them.
    pub fn phrases(&self) -> Vec<String> {
        match self {
            Self::FqCodel(fq) => vec![
                format!("limit {}", fq.limit),
                format!("flows {}", fq.flows),
                format!("quantum {}", fq.quantum.0),
                format!("target {}us", fq.target.0 / PICOS_PER_MICRO),
                format!("interval {}us", fq.interval.0 / PICOS_PER_MICRO),
                format!("memory_limit {}", fq.memory_limit.0),
                if fq.ecn { "ecn" } else { "noecn" }.to_owned(),
            ],
            Self::Mqprio(map) => {
                let mut phrases = map_phrases(map);
                phrases.push("hw 0".to_owned());
                phrases
            }
            Self::Taprio(schedule) => taprio_phrases(schedule),
            Self::Cbs(cbs) => vec![
                format!("idleslope {}", cbs.idle_slope),
                format!("sendslope {}", cbs.send_slope),
                format!("hicredit {}", cbs.hi_credit),
                format!("locredit {}", cbs.lo_credit),
                format!("offload {}", u8::from(cbs.offload)),
            ],
            Self::Etf(etf) => {
                let mut phrases = vec![
                    "clockid CLOCK_TAI".to_owned(),
                    format!("delta {}", etf.delta),
                ];
                let flags = [
                    (etf.offload, "offload"),
                    (etf.deadline_mode, "deadline_mode"),
                    (etf.skip_sock_check, "skip_sock_check"),
                ];
                let set = flags.iter().filter(|(is_set, _)| *is_set);
                phrases.extend(set.map(|(_, name)| (*name).to_owned()));
                phrases
            }
            Self::Pfifo(limit) | Self::Bfifo(limit) => vec![format!("limit {limit}")],
        }
    }

    /// Returns names and values of all parameters, as the kernel keeps them, for comparisons.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: String| (name.to_owned(), value);
        match self {
            Self::FqCodel(fq) => vec![
                pair("limit", fq.limit.to_string()),
                pair("flows", fq.flows.to_string()),
                pair("quantum", fq.quantum.0.to_string()),
                pair(
                    "target",
                    codel_micros(fq.target.0 / PICOS_PER_MICRO).to_string(),
                ),
                pair(
                    "interval",
                    codel_micros(fq.interval.0 / PICOS_PER_MICRO).to_string(),
                ),
                pair("memory_limit", fq.memory_limit.0.to_string()),
                pair("ecn", fq.ecn.to_string()),
            ],
            Self::Mqprio(map) => map_parameters(map),
            Self::Taprio(schedule) => {
                let mut parameters = map_parameters(&schedule.map);
                parameters.push(pair("base-time", schedule.base_time.to_string()));
                let (flags, delay) = match schedule.mode {
                    GateMode::Software => (0, 0),
                    GateMode::TxtimeAssist(delay) => (1, delay),
                    GateMode::FullOffload => (2, 0),
                };
                parameters.push(pair("flags", format!("{flags:#x}")));
                parameters.push(pair("txtime-delay", delay.to_string()));
                parameters.push(pair("stab overhead", schedule.overhead.to_string()));
                for (number, entry) in schedule.entries.iter().enumerate() {
                    parameters.push((format!("sched-entry {number}"), entry_words(*entry)));
                }
                parameters
            }
            Self::Cbs(_) | Self::Pfifo(_) | Self::Bfifo(_) => {
                let phrases = self.phrases();
                let split = phrases.iter().filter_map(|phrase| phrase.split_once(' '));
                split
                    .map(|(name, value)| pair(name, value.to_owned()))
                    .collect()
            }
            Self::Etf(etf) => vec![
                pair("delta", etf.delta.to_string()),
                pair("offload", etf.offload.to_string()),
                pair("deadline_mode", etf.deadline_mode.to_string()),
                pair("skip_sock_check", etf.skip_sock_check.to_string()),
            ],
        }
    }
}

const PICOS_PER_MICRO: u64 = 1_000_000;

/// Returns a time in microseconds as the kernel keeps it: codel counts in units of 1024 ns.
fn codel_micros(micros: u64) -> u64 {
    let units = micros.saturating_mul(1000) >> 10;
    (units << 10) / 1000
}

/// Returns the least time in microseconds that the kernel keeps as this one.
pub(crate) fn kept_micros(shown: u64) -> u64 {
    let candidates = (0..3).map(|more| shown.saturating_add(more));
    let mut kept = candidates.filter(|micros| codel_micros(*micros) == shown);
    kept.next().unwrap_or(shown)
}

fn entry_words((gates, interval): (u8, u64)) -> String {
    format!("S {gates:02x} {interval}")
}

fn joined(numbers: impl Iterator<Item = impl ToString>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(" ")
}

fn queue_words(map: &ClassMap) -> String {
    let classes = map.queues.iter().enumerate();
    joined(classes.map(|(class, count)| format!("{count}@{}", map.first_queue(class))))
}

fn map_phrases(map: &ClassMap) -> Vec<String> {
    vec![
        format!("num_tc {}", map.queues.len()),
        format!("map {}", joined(map.classes.iter())),
        format!("queues {}", queue_words(map)),
    ]
}

fn map_parameters(map: &ClassMap) -> Vec<(String, String)> {
    let phrases = map_phrases(map);
    let split = phrases.iter().filter_map(|phrase| phrase.split_once(' '));
    split
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn taprio_phrases(schedule: &GateSchedule) -> Vec<String> {
    let mut phrases = map_phrases(&schedule.map);
    phrases.push(format!("base-time {}", schedule.base_time));
    let entries = schedule.entries.iter();
    phrases.extend(entries.map(|entry| format!("sched-entry {}", entry_words(*entry))));
    match schedule.mode {
        GateMode::Software => phrases.push("clockid CLOCK_TAI".to_owned()),
        GateMode::TxtimeAssist(delay) => {
            phrases.push("flags 0x1".to_owned());
            phrases.push(format!("txtime-delay {delay}"));
            phrases.push("clockid CLOCK_TAI".to_owned());
        }
        // The hardware's clock is the clock: the kernel refuses another one.
        GateMode::FullOffload => phrases.push("flags 0x2".to_owned()),
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_classes_are_hexadecimal() {
        assert_eq!(QdiscHandle(0x100).to_string(), "100:");
        let class = QdiscParent::Class(QdiscHandle(0x8001), 10);
        assert_eq!(class.to_string(), "parent 8001:a");
    }

    #[test]
    fn codel_loses_what_its_unit_cannot_hold() {
        assert_eq!(codel_micros(5000), 4999);
        assert_eq!(codel_micros(100_000), 99_999);
        assert_eq!(codel_micros(1024), 1024);
        for micros in [0, 1, 5, 999, 5000, 100_000] {
            assert_eq!(
                codel_micros(kept_micros(codel_micros(micros))),
                codel_micros(micros)
            );
        }
    }

    #[test]
    fn three_classes_as_words_of_tc() {
        let map = ClassMap {
            classes: [2, 2, 1, 0, 2, 2, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2],
            queues: vec![1, 1, 2],
        };
        assert_eq!(
            QdiscKind::Mqprio(map).phrases().join(" "),
            "num_tc 3 map 2 2 1 0 2 2 0 1 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 hw 0"
        );
    }
}
