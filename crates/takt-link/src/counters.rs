//! Numbers of messages of a link.

use std::ops::AddAssign;

use crate::launch_time::LaunchTime;

/// Numbers of messages since a link was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounters {
    /// Number of messages sent, or received and passed on.
    pub messages: u64,
    /// Bytes of these messages, without headers of the link.
    pub bytes: u64,
    /// Number of messages discarded by this side: queued while the link was down, undelivered when it broke or was closed, or longer
    /// than the longest message.
    pub discarded: u64,
    /// Number of messages lost because this application was too slow, or made them too fast: the kernel's or the link's
    /// queue was full, as far as that is known.
    pub overflowed: u64,
    /// Number of messages that the broker has refused. MQTT 3.1.1 and quality of service 0 cannot report this.
    pub refused: u64,
    /// Reason of the last refusal.
    pub refusal: Option<BrokerRefusal>,
}

/// Reason why a broker has refused a message (MQTT 5, Table 3-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerRefusal {
    /// This client may not publish to the topic, according to the access list of the broker.
    #[error("the broker does not allow this client to publish to the topic")]
    NotAuthorized,
    /// The name of the topic is not accepted.
    #[error("the broker does not accept the name of the topic")]
    TopicName,
    /// A limit of the broker is exceeded.
    #[error("a quota of the broker is exceeded")]
    Quota,
    /// The payload is not of the announced format.
    #[error("the broker does not accept the format of the message")]
    PayloadFormat,
    /// Any other reason.
    #[error("the broker refuses the message without a reason")]
    Unspecified,
}

/// Numbers of messages that were dropped because of their launch times, since the link was opened
/// ([`Sender::launch_drops`](crate::Sender::launch_drops)). Each message is in at most one of them.
///
/// Messages that are `refused` or `invalid` are in [`LinkCounters::discarded`], too. Messages that are `missed` are in
/// [`LinkCounters::messages`], because the kernel had taken them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchDrops {
    /// Number of messages that the queueing discipline did not take (ENOBUFS), without a report. It is full, or it does
    /// not report, such as TAPRIO if its gate is not open at the launch time.
    pub refused: u64,
    /// Number of messages that ETF did not take (SO_EE_CODE_TXTIME_INVALID_PARAM). The launch time had passed, or was
    /// before that of a message that has left, or there was none; or the [`LaunchMode`](crate::LaunchMode) is not that
    /// of the queueing discipline.
    pub invalid: u64,
    /// Number of messages whose launch time passed while ETF held them (SO_EE_CODE_TXTIME_MISSED). Its `delta` is too
    /// short for the latency of this host.
    pub missed: u64,
    /// Launch time of the message that was counted last; 0 if it had none.
    pub last: Option<LaunchTime>,
}

impl AddAssign for LinkCounters {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.discarded += other.discarded;
        self.overflowed += other.overflowed;
        self.refused += other.refused;
        self.refusal = other.refusal.or(self.refusal);
    }
}

impl LinkCounters {
    pub(crate) fn count(&mut self, length: usize) {
        self.messages += 1;
        self.bytes += length as u64;
    }
}
