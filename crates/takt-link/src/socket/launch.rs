//! Launch times of messages, for a queueing discipline such as ETF (SO_TXTIME).

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{TxTimeFlags, sockopt};
use rustix::thread::ClockId;

use super::reports::Reports;
use crate::control::Item;
use crate::counters::LaunchDrops;
use crate::error::LinkError;
use crate::launch_time::LaunchTime;
use crate::options::LaunchMode;

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

    /// Counts the message with this index, which the queueing discipline did not take.
    fn refused(&mut self, index: usize, socket: BorrowedFd<'_>);

    /// Reads the reports of dropped messages, if there is a socket, and returns the numbers of all drops.
    fn drops(&mut self, socket: Option<BorrowedFd<'_>>) -> LaunchDrops;
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

    #[inline]
    fn refused(&mut self, _: usize, _: BorrowedFd<'_>) {}

    fn drops(&mut self, _: Option<BorrowedFd<'_>>) -> LaunchDrops {
        LaunchDrops::default()
    }
}

/// SCM_TXTIME of each message that has a launch time, and reports of dropped messages.
pub(crate) struct LaunchTimes {
    items: Vec<Option<Item>>,
    reports: Reports,
}

impl Controls for LaunchTimes {
    const ARE_SENT: bool = true;

    fn new(batch: usize) -> Self {
        Self {
            items: Vec::with_capacity(batch),
            reports: Reports::new(),
        }
    }

    #[inline]
    fn push(&mut self, launch_time: Option<LaunchTime>) {
        self.items.push(launch_time.map(Item::launch_time));
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&Item> {
        self.items.get(index)?.as_ref()
    }

    fn clear(&mut self) {
        self.items.clear();
    }

    #[cold]
    fn refused(&mut self, index: usize, socket: BorrowedFd<'_>) {
        // The kernel reports 0 for a message without a launch time.
        let launch_time = self.get(index).and_then(Item::as_launch_time);
        let launch_time = launch_time.unwrap_or(LaunchTime::from_tai_nanos(0));
        self.reports.refused(socket, launch_time);
    }

    fn drops(&mut self, socket: Option<BorrowedFd<'_>>) -> LaunchDrops {
        if let Some(socket) = socket {
            self.reports.read(socket);
        }
        self.reports.drops()
    }
}

/// Sets SO_TXTIME with CLOCK_TAI, the only clock of ETF, and with reports of dropped messages.
pub(super) fn enable(socket: &OwnedFd, mode: LaunchMode) -> Result<(), LinkError> {
    let flags = match mode {
        LaunchMode::Strict => TxTimeFlags::REPORT_ERRORS,
        LaunchMode::Deadline => TxTimeFlags::REPORT_ERRORS | TxTimeFlags::DEADLINE_MODE,
    };
    sockopt::set_txtime(socket, ClockId::Tai, flags)
        .map_err(|errno| LinkError::open("set SO_TXTIME", errno))
}
