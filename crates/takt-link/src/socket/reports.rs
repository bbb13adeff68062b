//! Error queue of a socket with launch times, which reports dropped messages.

use std::os::fd::BorrowedFd;

use crate::counters::LaunchDrops;
use crate::launch_report::{Cause, LaunchReport};
use crate::launch_time::LaunchTime;
use crate::unsafe_code::batches::{Parts, ReceiveBatch};

/// Number of reports that are read with one system call.
const BATCH: usize = 16;
/// Maximum number of system calls for reading reports, so that a flood of them takes a bounded time.
const MAX_CALLS: usize = 4;

/// Parts of a report: all of it is in control messages.
const PARTS: Parts = Parts {
    name: false,
    control: true,
};

/// Reader and numbers of reports. It allocates nothing once it is created.
pub(super) struct Reports {
    batch: ReceiveBatch,
    drops: LaunchDrops,
}

impl Reports {
    pub(super) fn new() -> Self {
        Self {
            // A report has the dropped message as its data, which nobody needs: one byte is the least room.
            batch: ReceiveBatch::new(BATCH, 1, PARTS),
            drops: LaunchDrops::default(),
        }
    }

    /// Returns the numbers of all drops, without reading reports.
    pub(super) fn drops(&self) -> LaunchDrops {
        self.drops
    }

    /// Reads the waiting reports, at most 64.
    pub(super) fn read(&mut self, socket: BorrowedFd<'_>) {
        self.read_after(socket, None);
    }

    /// Counts a message that the kernel has just refused, by its report if there is one.
    #[cold]
    pub(super) fn refused(&mut self, socket: BorrowedFd<'_>, launch_time: LaunchTime) {
        let is_reported = self.read_after(socket, Some(launch_time));
        self.drops.count_refused(launch_time, is_reported);
    }

    /// Reads and counts reports; returns true if one of them is about the refused message.
    fn read_after(&mut self, socket: BorrowedFd<'_>, refused: Option<LaunchTime>) -> bool {
        let mut is_reported = false;
        for _ in 0..MAX_CALLS {
            let Ok(count) = self.batch.receive_errors(socket) else {
                break;
            };
            let reports = self.batch.messages(count);
            let reports = reports.filter_map(|report| LaunchReport::read(report.control));
            is_reported |= self.drops.count_reports(reports, refused);
            if count < BATCH {
                break;
            }
        }
        is_reported
    }
}

impl LaunchDrops {
    /// Counts reports, except those on the message that was refused, whose launch time is `refused`. Returns true if
    /// there are any of these.
    ///
    /// There may be two on one message: if others were sent before it with the same system call, this call returns
    /// their number, and the next call offers the message once more.
    fn count_reports(
        &mut self,
        reports: impl Iterator<Item = LaunchReport>,
        refused: Option<LaunchTime>,
    ) -> bool {
        let mut is_reported = false;
        for LaunchReport { cause, launch_time } in reports {
            match cause {
                Cause::Invalid if refused == Some(launch_time) => is_reported = true,
                Cause::Invalid => self.invalid += 1,
                Cause::Missed => self.missed += 1,
            }
            self.last = Some(launch_time);
        }
        is_reported
    }

    fn count_refused(&mut self, launch_time: LaunchTime, is_reported: bool) {
        match is_reported {
            true => self.invalid += 1,
            false => self.refused += 1,
        }
        self.last = Some(launch_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(nanos: i64) -> LaunchTime {
        LaunchTime::from_tai_nanos(nanos)
    }

    fn report(cause: Cause, nanos: i64) -> LaunchReport {
        let launch_time = time(nanos);
        LaunchReport { cause, launch_time }
    }

    fn numbers(drops: &LaunchDrops) -> [u64; 3] {
        [drops.refused, drops.invalid, drops.missed]
    }

    #[test]
    fn a_refused_message_is_one_drop_with_and_without_reports() {
        let mut drops = LaunchDrops::default();
        for (reports, expected) in [(0, [1, 0, 0]), (1, [1, 1, 0]), (2, [1, 2, 0])] {
            let reports = [report(Cause::Invalid, 6); 2].into_iter().take(reports);
            let is_reported = drops.count_reports(reports, Some(time(6)));
            drops.count_refused(time(6), is_reported);
            assert_eq!((numbers(&drops), drops.last), (expected, Some(time(6))));
        }
    }

    #[test]
    fn reports_on_other_messages_are_drops_of_their_own() {
        let mut drops = LaunchDrops::default();
        let reports = [
            report(Cause::Missed, 1),
            report(Cause::Invalid, 2),
            report(Cause::Missed, 5),
        ];
        // The message of the last report was queued too long. It was not refused, although its launch time is the same.
        assert!(!drops.count_reports(reports.into_iter(), Some(time(5))));
        assert_eq!((numbers(&drops), drops.last), ([0, 1, 2], Some(time(5))));
        assert!(!drops.count_reports(reports[..2].iter().copied(), None));
        assert_eq!((numbers(&drops), drops.last), ([0, 2, 3], Some(time(2))));
    }
}
