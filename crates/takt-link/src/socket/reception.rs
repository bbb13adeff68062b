//! Times of reception (SO_TIMESTAMPNS, SO_TIMESTAMPING).

use std::os::fd::{AsFd, OwnedFd};

use crate::control;
use crate::error::LinkError;
use crate::options::ReceiveClock;
use crate::received::ReceiveTime;
use crate::unsafe_code::sockets::set_option;

/// Times at which messages of a socket were received. Whether there are any is known when the link is opened, so that links
/// without them have no cost.
pub(crate) trait ReceiveTimes {
    /// Returns the time of the message with these control messages.
    fn time(control: &[u8]) -> Option<ReceiveTime>;
}

/// Times of a link without any.
pub(crate) struct NoReceiveTimes;

impl ReceiveTimes for NoReceiveTimes {
    #[inline]
    fn time(_: &[u8]) -> Option<ReceiveTime> {
        None
    }
}

/// Times of the kernel's clock (CLOCK_REALTIME).
pub(crate) struct SoftwareTimes;

impl ReceiveTimes for SoftwareTimes {
    #[inline]
    fn time(control: &[u8]) -> Option<ReceiveTime> {
        control::software_time(control)
    }
}

/// Times of the network card's clock, or of the kernel's for messages that the card has not stamped.
pub(crate) struct HardwareTimes;

impl ReceiveTimes for HardwareTimes {
    #[inline]
    fn time(control: &[u8]) -> Option<ReceiveTime> {
        control::hardware_time(control)
    }
}

/// Sets SO_TIMESTAMPNS or SO_TIMESTAMPING.
pub(super) fn enable(socket: &OwnedFd, clock: ReceiveClock) -> Result<(), LinkError> {
    let (operation, option, value) = match clock {
        ReceiveClock::Software => ("set SO_TIMESTAMPNS", libc::SO_TIMESTAMPNS, 1),
        ReceiveClock::Hardware => {
            // The software flags give a time to messages that the card has not stamped.
            let flags = libc::SOF_TIMESTAMPING_RX_HARDWARE
                | libc::SOF_TIMESTAMPING_RAW_HARDWARE
                | libc::SOF_TIMESTAMPING_RX_SOFTWARE
                | libc::SOF_TIMESTAMPING_SOFTWARE;
            let flags = flags as libc::c_int;
            ("set SO_TIMESTAMPING", libc::SO_TIMESTAMPING, flags)
        }
    };
    set_option(socket.as_fd(), libc::SOL_SOCKET, option, value)
        .map_err(|errno| LinkError::open(operation, errno))
}
