//! Page faults of a thread: a cycle with a page fault is late by microseconds, or by milliseconds if it waits for a
//! disk.

use std::mem::MaybeUninit;
use std::ops::Sub;

/// Numbers of page faults of one thread since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageFaults {
    /// Number of page faults without input or output, such as the first write to a page (`ru_minflt`).
    pub minor: u64,
    /// Number of page faults that waited for a page from a disk (`ru_majflt`).
    pub major: u64,
}

impl PageFaults {
    /// Returns the numbers of the calling thread (getrusage(2), `RUSAGE_THREAD`). It is one system call, which
    /// allocates nothing.
    ///
    /// ```
    /// use takt_rt::faults::PageFaults;
    ///
    /// let before = PageFaults::of_this_thread();
    /// // The cycles are here.
    /// let during = PageFaults::of_this_thread() - before;
    /// assert_eq!(during.major, 0);
    /// ```
    #[must_use]
    pub fn of_this_thread() -> Self {
        let mut usage: MaybeUninit<libc::rusage> = MaybeUninit::zeroed();
        // SAFETY: the pointer is to a live local of the type that the call writes.
        let returned = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        debug_assert_eq!(returned, 0, "the kernel knows RUSAGE_THREAD since 2.6.26");
        // SAFETY: a `struct rusage` is numbers, for which zeros are valid; the call has written none or all of them.
        let usage = unsafe { usage.assume_init() };
        let number = |faults| u64::try_from(faults).unwrap_or(0);
        Self {
            minor: number(usage.ru_minflt),
            major: number(usage.ru_majflt),
        }
    }
}

impl Sub for PageFaults {
    type Output = Self;

    /// Returns the number of page faults between two moments; 0 if they are in the wrong order.
    fn sub(self, earlier: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
        }
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Writes to `count` new pages; returns the page faults of that.
    fn touch(count: usize) -> PageFaults {
        let before = PageFaults::of_this_thread();
        let page = rustix::param::page_size();
        let mut bytes = vec![0_u8; count * page];
        bytes.iter_mut().step_by(page).for_each(|byte| *byte = 1);
        black_box(&mut bytes);
        PageFaults::of_this_thread() - before
    }

    #[test]
    fn first_writes_are_counted_and_later_ones_are_not() {
        let mut numbers = vec![1_u64; 100_000];
        let mut run = || {
            let before = PageFaults::of_this_thread();
            for round in 0..100_000_u64 {
                let place = round as usize * 7 % numbers.len();
                numbers[place] = black_box(round);
            }
            PageFaults::of_this_thread() - before
        };
        // The system may move a page during one of the runs.
        assert!((0..10).any(|_| run() == PageFaults::default()));
        // The memory is larger than a huge page, so that there is more than one fault even if the kernel uses these.
        let during = touch(64 * 512);
        assert!(during.minor >= 16, "{during:?}");
    }

    #[test]
    fn page_faults_of_other_threads_are_not_counted() {
        let run = || {
            let thread = std::thread::spawn(|| touch(64 * 512));
            let before = PageFaults::of_this_thread();
            let theirs = thread.join().unwrap();
            (PageFaults::of_this_thread() - before, theirs)
        };
        // Waiting for a thread takes some page faults of its own, more under an emulator, and fewer when repeated.
        let runs: Vec<_> = (0..5).map(|_| run()).collect();
        let is_apart = |&(own, theirs): &(PageFaults, PageFaults)| own.minor * 4 < theirs.minor;
        assert!(runs.iter().any(is_apart), "{runs:?}");
    }

    #[test]
    fn differences_do_not_wrap() {
        let (few, many) = (
            PageFaults { minor: 1, major: 2 },
            PageFaults { minor: 4, major: 2 },
        );
        assert_eq!(many - few, PageFaults { minor: 3, major: 0 });
        assert_eq!(few - many, PageFaults::default());
    }
}
