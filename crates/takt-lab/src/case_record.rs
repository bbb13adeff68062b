//! Record of a case: counts of its ends, ports and cross traffic, in the file `case.json` of its directory.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use takt_analysis::SentStamp;
use takt_control::ControlReport;
use takt_pubsub::LossCause;

use crate::run_directory::RunDirectoryError;
use crate::scenario_loop::LoopEnd;

/// Name of the file.
pub const CASE_RECORD: &str = "case.json";

/// Record of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Kind of the devices that joined the nodes: `veth`.
    pub device: String,
    /// True if the devices kept launch times and gates where the scenario has offloads; false if the kernel did so, whatever the scenario
    /// says.
    #[serde(default)]
    pub has_offloads: bool,
    /// True if the ports of the hosts had the offloads of their network cards also where the scenario has none: shapers (CBS), launch
    /// times (ETF) and gates (TAPRIO).
    #[serde(default)]
    pub has_full_offload: bool,
    /// Time that captures have of a sent frame (T2, T6).
    #[serde(default)]
    pub sent_stamp: SentStamp,
    /// Beginning of cycle 0: nanoseconds of CLOCK_TAI. A simulation has its time 0 there.
    #[serde(default)]
    pub beginning_nanos: i64,
    /// Seconds by which CLOCK_TAI was ahead of UTC, the time of captures.
    #[serde(default)]
    pub tai_offset_seconds: i64,
    /// Remarks about the configuration, for people.
    pub remarks: Vec<String>,
    /// Ends of the applications: Publisher and loopback of each, in the order of the scenario.
    pub ends: Vec<EndRecord>,
    /// Flows of cross traffic.
    pub cross_traffic: Vec<TrafficRecord>,
    /// Captures, one per port.
    pub captures: Vec<CaptureRecord>,
}

/// Clock that stamped the packets of a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampClock {
    /// CLOCK_REALTIME of the kernel, in software: sent frames when the driver gets them, received ones when their interrupt was handled.
    #[default]
    Kernel,
    /// PTP clock of the network card, in hardware: the end of the preamble (IEEE 802.3, 90.7).
    Card {
        /// Number of the clock, 0 for `/dev/ptp0`; `None` if the host does not tell.
        ptp: Option<u32>,
    },
    /// PTP clock of the lab's link device: the first bit of a sent frame, the last bit of a received one.
    LinkDevice,
}

/// Writes the clock with its place, for people.
impl fmt::Display for StampClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel => f.write_str("software, CLOCK_REALTIME of the kernel"),
            Self::Card { ptp: Some(ptp) } => {
                write!(f, "hardware, clock of the network card (/dev/ptp{ptp})")
            }
            Self::Card { ptp: None } => f.write_str("hardware, clock of the network card"),
            Self::LinkDevice => f.write_str("hardware, clock of the lab's link device"),
        }
    }
}

/// Returns the step of times of a record that does not tell: captures of the lab have nanoseconds.
const fn one_nanosecond() -> u64 {
    1
}

/// Counts of an end of an application.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRecord {
    /// Name of the application.
    pub application: String,
    /// `publisher` or `loopback`.
    pub end: String,
    /// Number of cycles that ran.
    pub cycles: u64,
    /// Number of cycles that were skipped, because their beginning had passed.
    pub overruns: u64,
    /// Number of times that the clock was set in the run.
    #[serde(default)]
    pub clock_steps: u64,
    /// Longest delay of the thread at the beginning of a cycle, in nanoseconds.
    pub max_wake_up_latency_nanos: u64,
    /// Number of messages that the end made, or tried to make: each is among `unmade`, `sent`, `overflowed`, or those of an error. `None` in
    /// records of earlier versions, as the next two are.
    #[serde(default)]
    pub attempts: Option<u64>,
    /// Number of messages that were not made: encoding failed, or the clock was set back.
    #[serde(default)]
    pub unmade: Option<u64>,
    /// Number of messages for which the queue of the link had no room.
    #[serde(default)]
    pub overflowed: Option<u64>,
    /// Number of messages that the kernel took.
    pub sent: u64,
    /// Number of messages that were received.
    pub received: u64,
    /// Number of messages that were received and refused.
    pub refused: u64,
    /// Number of cycles in which sending failed.
    pub send_errors: u64,
    /// Last of these errors.
    pub last_error: Option<String>,
    /// Messages that the queue refused.
    pub launch_refused: u64,
    /// Messages whose launch time was too early or too late.
    pub launch_invalid: u64,
    /// Messages whose launch time was missed in the queue.
    pub launch_missed: u64,
    /// Real-time settings that could not be applied, with the reason.
    pub unset: Vec<String>,
}

/// Counts of a flow of cross traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficRecord {
    /// Name in the scenario.
    pub name: String,
    /// Number of frames that the kernel took.
    pub sent: u64,
    /// Number of frames that the kernel refused, because the queue was full.
    pub refused: u64,
    /// Number of frames whose time had come before the end, for which the sending thread was too slow.
    #[serde(default)]
    pub late: u64,
    /// Number of frames that arrived at the receiver's port.
    pub received: u64,
}

/// Counts of a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRecord {
    /// Name of the file in the directory of the case.
    pub file: String,
    /// Name of the port in the scenario: `host1 → bridge1`.
    pub port: String,
    /// Number of frames for which the kernel had no room. They are not in the file.
    pub lost: u64,
    /// Number of frames of each flow, by its name. A flow leaves or enters by the port, never both.
    pub flows: Vec<(String, u64)>,
    /// Clock that stamped the packets.
    #[serde(default)]
    pub clock: StampClock,
    /// Step of their times, in nanoseconds: tcpdump has microseconds unless it is told otherwise.
    #[serde(default = "one_nanosecond")]
    pub resolution_nanos: u64,
}

impl Default for CaptureRecord {
    fn default() -> Self {
        Self {
            file: String::new(),
            port: String::new(),
            lost: 0,
            flows: Vec::new(),
            clock: StampClock::default(),
            resolution_nanos: one_nanosecond(),
        }
    }
}

impl EndRecord {
    /// Returns the record of an end of an application from the numbers of its loop.
    #[must_use]
    pub fn of(application: &str, end: LoopEnd, report: &ControlReport) -> Self {
        let unset = report.preparations.iter();
        let unset =
            unset.filter_map(|it| Some(format!("{}: {}", it.setting, it.problem.as_ref()?)));
        Self {
            application: application.to_owned(),
            end: end.name().to_owned(),
            cycles: report.cycles,
            overruns: report.overruns,
            clock_steps: report.clock_steps,
            max_wake_up_latency_nanos: report.max_wake_up_latency_nanos,
            attempts: Some(report.attempts),
            unmade: Some(report.unmade),
            overflowed: Some(report.send_losses.of(LossCause::Overflow)),
            sent: report.sent,
            received: report.received,
            refused: report.refused,
            send_errors: report.send_errors,
            last_error: report.last_error.clone(),
            launch_refused: report.launch_drops.refused,
            launch_invalid: report.launch_drops.invalid,
            launch_missed: report.launch_drops.missed,
            unset: unset.collect(),
        }
    }
}

impl CaseRecord {
    /// Reads the record of a case.
    ///
    /// # Errors
    /// [`RunDirectoryError`].
    pub fn read(directory: &Path) -> Result<Self, RunDirectoryError> {
        let path = directory.join(CASE_RECORD);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) => return Err(RunDirectoryError::Io { path, error }),
        };
        serde_json::from_slice(&text).map_err(|error| RunDirectoryError::Damaged { path, error })
    }

    /// Writes the record of a case.
    ///
    /// # Errors
    /// [`RunDirectoryError`].
    pub fn write(&self, directory: &Path) -> Result<(), RunDirectoryError> {
        let path = directory.join(CASE_RECORD);
        let written = serde_json::to_vec_pretty(self).map_err(io::Error::from);
        let written = written.and_then(|text| fs::write(&path, text));
        written.map_err(|error| RunDirectoryError::Io { path, error })
    }
}
