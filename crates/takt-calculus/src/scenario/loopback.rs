//! Delays of messages in applications: the Publisher's and the loopback's threads.

use takt_scenario::{Application, Node, Share};

use super::quantities::{seconds, seconds_by};
use crate::Rational;
use crate::port::LoopbackStage;

/// Least and greatest value of a time, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: Rational,
    pub(super) most: Rational,
}

pub(super) fn part(share: Share) -> Rational {
    Rational::from_parts(share.billionths().into(), 1_000_000_000u32.into())
}

/// Returns the lateness of a message when it leaves the Publisher: that of the thread, and the time in which the message is protected.
/// 0 if the kernel is given the time.
pub(super) fn publisher(application: &Application, node: &Node) -> Range {
    if application.txtime.is_some() {
        return Range {
            least: Rational::ZERO,
            most: Rational::ZERO,
        };
    }
    let protected = seconds(application.security.protect);
    Range {
        least: seconds(node.wake_up_latency.least()) + &protected,
        most: seconds(node.wake_up_latency.most()) + protected,
    }
}

/// Returns the time from a message's arrival at the loopback until it is sent. A message that comes right behind the user thread
/// waits for the next one, a cycle later. Messages that the user thread has taken are sent at the end of its cycle plus the
/// offset, or when the publisher thread makes the message.
///
/// Threads may be late. If the user thread may then come behind the publisher thread, messages are published a cycle later.
/// A message is verified before the user thread can take it, and protected before it is sent: times that are always the same.
///
/// `talker` is the node of the Publisher. If its clock has the same speed, it counts the same cycles. The cycles of clocks that
/// drift are no whole number of picoseconds. Each thread then runs up to a picosecond late, as in a simulation: not at the same
/// time in all cycles. A message that comes when the user thread runs is then taken in some cycles and missed in others.
pub(super) fn loopback(application: &Application, talker: &Node, node: &Node) -> LoopbackStage {
    let cycle = seconds_by(application.cycle, node.clock);
    let latency = seconds(node.wake_up_latency.most());
    let user = &cycle * part(application.phases.user);
    let mut sent = seconds_by(application.sending_time(), node.clock);
    // With a txtime, the kernel sends on time even if the thread was late.
    let sending = if application.txtime.is_some() {
        Rational::ZERO
    } else {
        sent += seconds(application.security.protect);
        latency.clone()
    };
    let verified = seconds(application.security.verify);
    let rounding = if node.clock.drift.billionths() == 0 {
        Rational::ZERO
    } else {
        Rational::from_parts(1.into(), 1_000_000_000_000u64.into())
    };
    let missed = missed_publishers(application, node);
    let least = &sent - &user - &latency;
    let sending = missed + sending;
    LoopbackStage {
        least: least.max(Rational::ZERO) + &verified,
        most: &cycle - user + sent + &sending + verified,
        cycle: (talker.clock.drift == node.clock.drift).then_some(cycle),
        // One for the Publisher's thread, and one for the user thread. Without a common cycle, bounds would be larger.
        late: latency + &rounding * Rational::from(2),
        sending: sending + rounding,
    }
}

/// Returns the time in seconds, a multiple of the cycle, by which a message is published later because the user thread may come
/// behind the publisher thread.
pub(super) fn missed_publishers(application: &Application, node: &Node) -> Rational {
    let cycle = seconds_by(application.cycle, node.clock);
    let user = &cycle * part(application.phases.user);
    let publisher = &cycle * part(application.phases.publisher);
    let mut missed = Rational::ZERO;
    while &publisher + &missed < &user + seconds(node.wake_up_latency.most()) {
        missed += &cycle;
    }
    missed
}
