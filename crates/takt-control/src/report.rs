//! Numbers of a run of a control loop.

use takt_link::LaunchDrops;
use takt_pubsub::Losses;
use takt_rt::real_time::Preparation;

/// Reason why a control loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEnding {
    /// It was stopped from outside.
    Stopped,
    /// The number of cycles was reached.
    Complete,
    /// The user's function broke it off.
    Application,
    /// Messages were missed, and the reaction is to stop.
    Deadline,
}

/// Numbers of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlReport {
    /// Reason of the end.
    pub ending: LoopEnding,
    /// Number of cycles that ran.
    pub cycles: u64,
    /// Number of cycles that were skipped, because their beginning had passed.
    pub overruns: u64,
    /// Number of times that CLOCK_TAI was set. The cycles that it skipped or repeated thereby are not overruns.
    pub clock_steps: u64,
    /// Last of these steps in nanoseconds, forwards if positive; 0 without one.
    pub last_clock_step_nanos: i64,
    /// Longest delay of the thread at the beginning of a cycle, in nanoseconds.
    pub max_wake_up_latency_nanos: u64,
    /// Number of DataSetMessages that were received.
    pub received: u64,
    /// Number of messages that were received and refused, or parts of which were.
    pub refused: u64,
    /// Last of the reasons.
    pub last_refusal: Option<String>,
    /// First received message that is for no DataSetReader: its PublisherId, WriterGroup and DataSetWriter, `?` for parts
    /// that it does not have. `receive_losses` has the number of these messages.
    pub unclaimed: Option<String>,
    /// Number of times that the thread was late, and messages came faster than it took them: it left the rest to its next
    /// part of a cycle, with which values are older.
    pub unread: u64,
    /// Received messages that were lost, by cause, at the links and in the Subscriber.
    pub receive_losses: Losses,
    /// Number of NetworkMessages that the loop made, or tried to make. Over UDP and Ethernet, each of them is in one of
    /// `unmade`, `sent`, and the causes [`Overflow`](takt_pubsub::LossCause::Overflow) and [`Discard`](takt_pubsub::LossCause::Discard) of
    /// `send_losses`.
    pub attempts: u64,
    /// Number of NetworkMessages that were not made: encoding failed, or the clock was set back.
    pub unmade: u64,
    /// Number of NetworkMessages that the kernel took.
    pub sent: u64,
    /// Number of cycles in which sending, or making the message, failed.
    pub send_errors: u64,
    /// Last of these errors.
    pub last_error: Option<String>,
    /// Sent messages that were lost, by cause, at the link.
    pub send_losses: Losses,
    /// Messages that were dropped because of their launch times, by cause.
    pub launch_drops: LaunchDrops,
    /// Page faults of the thread in its cycles.
    pub page_faults: u64,
    /// Number of cycles without a message, after the first message.
    pub missed: u64,
    /// Largest number of consecutive cycles without a message.
    pub longest_miss: u64,
    /// Real-time settings, and the reasons why some could not be applied.
    pub preparations: Vec<Preparation>,
}
