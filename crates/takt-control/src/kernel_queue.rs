//! Room for the messages of a loop in the queues of the kernel.

use std::time::Duration;

use takt_link::{LinkOptions, interface_name, transmit_report_delay};

use crate::schedule::{LoopPhases, Sending};

/// Number of cycles whose messages may wait in the kernel at a time: in the queueing discipline and in the queue of the network card.
/// Messages for which there is no room are not sent, and counted ([`LossCause::Overflow`](takt_pubsub::LossCause::Overflow)), so a port
/// that is slower than the loop has few old messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelQueue {
    /// As many as a port that is fast enough needs: those of the time to the launch time, of `hold`, of the time after which the
    /// network card reports sent frames (`ethtool -c`), and of half a millisecond for network cards that choose this time themselves.
    Automatic {
        /// Time for which the queueing discipline of the port keeps a message, such as the cycle of gates.
        hold: Duration,
    },
    /// This number of cycles, 1 or more. The kernel may take some more short messages
    /// ([`LinkOptions::send_room`]).
    Cycles(usize),
    /// As many as the buffer of the socket takes, about 140 messages.
    System,
}

impl Default for KernelQueue {
    fn default() -> Self {
        Self::Automatic {
            hold: Duration::ZERO,
        }
    }
}

/// Time after which a network card reports a sent frame if it chooses this time itself. Intel's igb and igc have 250 us at most
/// (4 000 interrupts per second).
const UNTOLD: Duration = Duration::from_micros(500);

/// Report of sent frames by a network card that is not known: messages over UDP leave by any interface. It is the default of stmmac, the
/// longest of the cards for TSN.
const UNKNOWN: Duration = Duration::from_millis(5);

impl KernelQueue {
    /// Returns the number of cycles; `None` if the system decides.
    pub(crate) fn cycles(
        self,
        cycle: Duration,
        phases: LoopPhases,
        sending: Sending,
        link: &LinkOptions,
    ) -> Option<usize> {
        let hold = match self {
            Self::System => return None,
            Self::Cycles(cycles) => return Some(cycles),
            Self::Automatic { hold } => hold,
        };
        let ahead = match sending {
            // The message is made at the phase of the publisher, and leaves at the offset of the next cycle.
            Sending::LaunchTime { offset, .. } => {
                let left = (1.0 - phases.publisher).clamp(0.0, 1.0);
                cycle.mul_f64(left).saturating_add(offset)
            }
            _ => Duration::ZERO,
        };
        let interface = link.interface.as_deref();
        let interface = interface.and_then(|name| interface_name(name).ok());
        let report = interface.map_or(UNKNOWN, |name| transmit_report_delay(&name));
        let time = [hold, ahead, report, UNTOLD];
        let time: u128 = time.iter().map(Duration::as_nanos).sum();
        // One more: that of the cycle itself.
        let cycles = time.div_ceil(cycle.as_nanos().max(1)) + 1;
        Some(usize::try_from(cycles).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use takt_link::LaunchMode;

    use super::*;

    #[test]
    fn there_is_room_for_all_messages_on_their_way() {
        let local = LinkOptions {
            interface: Some("lo".to_owned()),
            ..LinkOptions::default()
        };
        let micros = Duration::from_micros;
        let launch = |offset| Sending::LaunchTime {
            offset: micros(offset),
            mode: LaunchMode::Strict,
        };
        let automatic = |hold| KernelQueue::Automatic { hold: micros(hold) };
        for (queue, cycle, sending, expected) in [
            (automatic(0), micros(250), Sending::Immediate, Some(3)),
            (automatic(0), micros(2_000), Sending::Immediate, Some(2)),
            (automatic(0), micros(31), Sending::Immediate, Some(18)),
            // Made at 150 us of a cycle, sent at 150 us of the next one, or three cycles later.
            (automatic(0), micros(250), launch(150), Some(4)),
            (automatic(0), micros(250), launch(900), Some(7)),
            (automatic(1_000), micros(250), Sending::Immediate, Some(7)),
            (KernelQueue::Cycles(1), micros(250), launch(900), Some(1)),
            (KernelQueue::System, micros(250), launch(900), None),
        ] {
            let found = queue.cycles(cycle, LoopPhases::default(), sending, &local);
            assert_eq!(found, expected, "{queue:?} {cycle:?} {sending:?}");
        }
        // The interface is not known.
        let anywhere = LinkOptions::default();
        let phases = LoopPhases::default();
        let found = automatic(0).cycles(micros(250), phases, Sending::Immediate, &anywhere);
        assert_eq!(found, Some(23));
    }
}
