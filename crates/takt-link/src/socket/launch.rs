//! Launch times of messages, for a queueing discipline such as ETF (SO_TXTIME).

use std::os::fd::OwnedFd;

use rustix::net::{TxTimeFlags, sockopt};
use rustix::thread::ClockId;

use crate::control::Item;
use crate::error::LinkError;
use crate::options::LaunchMode;
use crate::reservation::LaunchTime;

/// Control messages of queued messages. Their kind is known when the link is opened, so that links without them have no cost.
pub(crate) trait Controls {
    /// True if messages are sent with control messages.
    const ARE_SENT: bool;

    /// Creates the control messages of a batch.
    fn new(batch: usize) -> Self;

    /// Adds the control message of the next message.
    fn push(&mut self, launch_time: Option<LaunchTime>);

    /// Returns the control message of a message; `None` if it has none.
    fn get(&self, index: usize) -> Option<&Item>;

    /// Removes the control messages of all messages.
    fn clear(&mut self);
}

/// Control messages of a link without any.
pub(crate) struct NoControls;

impl Controls for NoControls {
    const ARE_SENT: bool = false;

    fn new(_: usize) -> Self {
        Self
    }

    #[inline]
    fn push(&mut self, _: Option<LaunchTime>) {}

    #[inline]
    fn get(&self, _: usize) -> Option<&Item> {
        None
    }

    #[inline]
    fn clear(&mut self) {}
}

/// SCM_TXTIME of each message that has a launch time.
pub(crate) struct LaunchTimes(Vec<Option<Item>>);

impl Controls for LaunchTimes {
    const ARE_SENT: bool = true;

    fn new(batch: usize) -> Self {
        Self(Vec::with_capacity(batch))
    }

    #[inline]
    fn push(&mut self, launch_time: Option<LaunchTime>) {
        self.0.push(launch_time.map(Item::launch_time));
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&Item> {
        self.0.get(index)?.as_ref()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Sets SO_TXTIME with CLOCK_TAI, the only clock of ETF.
pub(super) fn enable(socket: &OwnedFd, mode: LaunchMode) -> Result<(), LinkError> {
    let flags = match mode {
        LaunchMode::Strict => TxTimeFlags::empty(),
        LaunchMode::Deadline => TxTimeFlags::DEADLINE_MODE,
    };
    sockopt::set_txtime(socket, ClockId::Tai, flags)
        .map_err(|errno| LinkError::open("set SO_TXTIME", errno))
}
