//! Room for the messages of a cyclic sender in the queues of the kernel.

use std::time::Duration;

use crate::interface::interface_name;
use crate::network_card::transmit_report_delay;
use crate::options::LinkOptions;

/// Number of cycles whose messages may wait in the kernel at a time: in the queueing discipline and in the queue of the network card.
/// Messages for which there is no room are not sent, and counted ([`LinkCounters::overflowed`](crate::LinkCounters::overflowed)), so
/// a port that is slower than the sender has few old messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelQueue {
    /// As many as a port that is fast enough needs: those of the time to the launch time, of `hold`, of the time after which the
    /// network card reports sent frames ([`transmit_report_delay`]), and of half a millisecond for network cards that choose this
    /// time themselves.
    Automatic {
        /// Time for which the queueing discipline of the port keeps a message, such as the cycle of gates.
        hold: Duration,
    },
    /// This number of cycles, 1 or more. The kernel may take some more short messages ([`LinkOptions::send_room`]).
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

/// Report of sent frames by a network card that does not tell, or is not known: messages over UDP leave by any interface. It is the
/// default of stmmac, the longest of the cards for TSN.
const UNKNOWN: Duration = Duration::from_millis(5);

impl KernelQueue {
    /// Returns the number of cycles for [`LinkOptions::send_room`], of a sender with this cycle, whose messages are made this time
    /// ahead of their launch time; `None` if the system decides.
    #[must_use]
    pub fn cycles(self, cycle: Duration, ahead: Duration, link: &LinkOptions) -> Option<usize> {
        let hold = match self {
            Self::System => return None,
            Self::Cycles(cycles) => return Some(cycles),
            Self::Automatic { hold } => hold,
        };
        let interface = link.interface.as_deref();
        let interface = interface.and_then(|name| interface_name(name).ok());
        let report = interface.and_then(|name| transmit_report_delay(&name));
        let time = [hold, ahead, report.unwrap_or(UNKNOWN), UNTOLD];
        let time: u128 = time.iter().map(Duration::as_nanos).sum();
        // One more: that of the cycle itself.
        let cycles = time.div_ceil(cycle.as_nanos().max(1)) + 1;
        Some(usize::try_from(cycles).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_all_messages_on_their_way() {
        let local = LinkOptions {
            interface: Some("lo".to_owned()),
            ..LinkOptions::default()
        };
        let micros = Duration::from_micros;
        let automatic = |hold| KernelQueue::Automatic { hold: micros(hold) };
        for (queue, cycle, ahead, expected) in [
            (automatic(0), 250, 0, Some(3)),
            (automatic(0), 2_000, 0, Some(2)),
            (automatic(0), 31, 0, Some(18)),
            (automatic(0), 250, 250, Some(4)),
            (automatic(0), 250, 1_000, Some(7)),
            (automatic(1_000), 250, 0, Some(7)),
            (KernelQueue::Cycles(1), 250, 1_000, Some(1)),
            (KernelQueue::System, 250, 1_000, None),
        ] {
            let found = queue.cycles(micros(cycle), micros(ahead), &local);
            assert_eq!(found, expected, "{queue:?} {cycle} {ahead}");
        }
        // The interface is not known.
        let anywhere = LinkOptions::default();
        let found = automatic(0).cycles(micros(250), Duration::ZERO, &anywhere);
        assert_eq!(found, Some(23));
    }
}
