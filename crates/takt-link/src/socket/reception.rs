//! Times of reception (SO_TIMESTAMPNS).

use std::os::fd::{AsFd, OwnedFd};

use crate::control;
use crate::error::LinkError;
use crate::link::ReceiveTime;
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
        control::receive_time(control)
    }
}

/// Sets SO_TIMESTAMPNS.
pub(super) fn enable(socket: &OwnedFd) -> Result<(), LinkError> {
    set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
        .map_err(|errno| LinkError::open("set SO_TIMESTAMPNS", errno))
}
