//! `taprio`.

use serde_json::Value;

use super::class_map::ClassMap;
use super::json::number;
use super::words::{pair, pairs};

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

impl GateSchedule {
    /// Returns the words of a `tc` command before the name of the discipline.
    pub(super) fn size_table(&self) -> String {
        match self.overhead {
            0 => String::new(),
            bytes => format!("stab overhead {bytes} "),
        }
    }

    /// Returns the words of a `tc` command.
    pub(super) fn phrases(&self) -> Vec<String> {
        let mut phrases = self.map.phrases();
        phrases.push(format!("base-time {}", self.base_time));
        let entries = self.entries.iter();
        phrases.extend(entries.map(|entry| format!("sched-entry {}", entry_words(*entry))));
        match self.mode {
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

    /// Returns names and values of the parameters, as the kernel keeps them.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = pairs(&self.map.phrases());
        parameters.push(pair("base-time", self.base_time));
        let (flags, delay) = match self.mode {
            GateMode::Software => (0, 0),
            GateMode::TxtimeAssist(delay) => (1, delay),
            GateMode::FullOffload => (2, 0),
        };
        parameters.push(pair("flags", format!("{flags:#x}")));
        parameters.push(pair("txtime-delay", delay));
        parameters.push(pair("stab overhead", self.overhead));
        for (number, entry) in self.entries.iter().enumerate() {
            parameters.push((format!("sched-entry {number}"), entry_words(*entry)));
        }
        parameters
    }

    /// Reads the options of `tc -j`. `overhead` is that of the size table, which `tc` shows beside the options.
    pub(super) fn read(options: &Value, overhead: u32) -> Option<Self> {
        let map = ClassMap::read(options)?;
        // A schedule that was sent again waits for its start, and then replaces the one before.
        let schedule = options.get("admin").unwrap_or(options);
        let entry = |value: &Value| {
            let gates = number(value, "gatemask")?;
            Some((u8::try_from(gates).ok()?, number(value, "interval")?))
        };
        let entries = schedule.get("schedule").and_then(Value::as_array);
        let entries: Option<Vec<(u8, u64)>> = entries?.iter().map(entry).collect();
        let flags = number(options, "flags").unwrap_or(0);
        let mode = match (flags & 1, flags & 2) {
            (1, _) => GateMode::TxtimeAssist(number(options, "txtime_delay").unwrap_or(0)),
            (_, 2) => GateMode::FullOffload,
            _ => GateMode::Software,
        };
        Some(Self {
            map,
            base_time: number(schedule, "base_time")?,
            entries: entries?,
            mode,
            overhead,
        })
    }
}

fn entry_words((gates, interval): (u8, u64)) -> String {
    format!("S {gates:02x} {interval}")
}
