//! Buffers of all processors, as they are read after a late wake-up.

use std::fs::File;
use std::io::{self, Read};

use super::error::RecordingFailure;
use super::instance::BUFFER_KILOBYTES;
use crate::attribution::EventHistory;
use crate::trace::formats::Formats;

/// Greatest number of full buffers that are read at once. The kernel writes meanwhile.
const MOST_ROUNDS: usize = 4;

/// Buffers of all processors.
#[derive(Debug)]
pub(super) struct Buffers {
    files: Vec<(u32, File)>,
    formats: Formats,
    page: Vec<u8>,
    long: usize,
}

impl Buffers {
    /// Takes the buffers, each with the number of its processor, the layouts of the events, and the sizes in bytes of a page and of a
    /// `long` of the kernel.
    pub(super) fn new(files: Vec<(u32, File)>, formats: Formats, page: usize, long: usize) -> Self {
        Self {
            files,
            formats,
            page: vec![0; page],
            long,
        }
    }

    /// Reads the events up to a time, in nanoseconds of CLOCK_MONOTONIC. Those that cannot be read are lost. Returns the reasons.
    pub(super) fn read(&mut self, history: &mut EventHistory, now: u64) -> Vec<RecordingFailure> {
        let mut failures = Vec::new();
        let most = MOST_ROUNDS * pages_of_buffer(self.page.len());
        for (processor, file) in &mut self.files {
            let (formats, long) = (&self.formats, self.long);
            let read = read_pages(file, &mut self.page, most, |page| {
                history.add_page(formats, *processor, page, long);
                !history.has_all_until(*processor, now)
            });
            if !matches!(read, Ok(true)) && !history.has_all_until(*processor, now) {
                // Otherwise its last work would seem to go on.
                history.lose(*processor, now);
            }
            if let Err(error) = read {
                failures.push(RecordingFailure::Unreadable {
                    processor: *processor,
                    reason: error.to_string(),
                });
            }
        }
        failures
    }
}

/// Reads what a buffer has now, page by page, while `take` returns true. The pages are at most `most`, because the kernel writes more
/// meanwhile. Returns true if there are no more.
///
/// # Errors
/// That of the read, after the pages before it.
fn read_pages(
    buffer: &mut impl Read,
    page: &mut [u8],
    most: usize,
    mut take: impl FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    for _ in 0..most {
        match buffer.read(page) {
            Ok(0) => return Ok(true),
            Ok(length) => {
                if !take(page.get(..length).unwrap_or_default()) {
                    return Ok(false);
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                // There is no more.
                io::ErrorKind::WouldBlock => return Ok(true),
                _ => return Err(error),
            },
        }
    }
    Ok(false)
}

/// Number of pages after which a buffer is full.
fn pages_of_buffer(page: usize) -> usize {
    let bytes = usize::try_from(BUFFER_KILOBYTES * 1024).unwrap_or(usize::MAX);
    bytes / page.max(1) + 2
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use takt_rt::late::{LateInterval, LateKind};

    use crate::attribution::{Cause, WatchedCalls};
    use crate::trace::event::{
        KernelName, KernelPriority, KernelThread, Left, TraceEntry, TraceEvent, Vector,
    };

    fn thread(id: u32) -> KernelThread {
        KernelThread {
            id,
            name: KernelName::new(b"a thread"),
            priority: KernelPriority(19),
        }
    }

    /// The thread 7 sleeps from 100 on, and its timer comes at 1000; then it waits for the thread 8.
    fn history() -> EventHistory {
        let mut history = EventHistory::new(WatchedCalls::OnlySleep);
        history.watch(7);
        let timer = Vector::LocalTimer;
        let waking = TraceEvent::Waking {
            thread: 7,
            place: None,
        };
        let switch = TraceEvent::Switch {
            previous: thread(7),
            left: Left::Sleeping,
            next: thread(8),
        };
        for (nanos, thread, event) in [
            (100, 7, switch),
            (1000, 8, TraceEvent::VectorBegin(timer)),
            (1001, 8, waking),
            (1002, 8, TraceEvent::VectorEnd(timer)),
        ] {
            history.add(TraceEntry {
                nanos,
                processor: 1,
                thread,
                in_interrupt: !matches!(event, TraceEvent::Switch { .. }),
                in_softirq: false,
                event,
            });
        }
        history
    }

    fn of_thread(history: &EventHistory) -> u64 {
        let interval = LateInterval {
            thread: 7,
            cycle: 0,
            kind: LateKind::WakeUp,
            begin: 1000,
            end: 2000,
        };
        let explained = history.explain(&[interval]);
        let shares = explained.iter().flat_map(|it| &it.shares);
        let shares = shares.filter(|share| matches!(share.cause, Cause::Thread(_)));
        shares.map(|share| share.nanos).sum()
    }

    /// The last thread before the failure had the blame of all later times.
    #[test]
    fn a_processor_whose_events_cannot_be_read_blames_nobody() {
        let directory = File::open("/").unwrap();
        let mut buffers = Buffers::new(vec![(1, directory)], Formats::default(), 4096, 8);
        let mut history = history();
        let failures = buffers.read(&mut history, 2000);
        assert_eq!(failures.len(), 1, "{failures:?}");
        history.replay(2000);
        assert_eq!(of_thread(&history), 0);
    }

    #[test]
    fn a_processor_without_further_events_goes_on_with_its_thread() {
        let empty = File::open("/dev/null").unwrap();
        let mut buffers = Buffers::new(vec![(1, empty)], Formats::default(), 4096, 8);
        let mut history = history();
        assert_eq!(buffers.read(&mut history, 2000), []);
        history.replay(2000);
        assert_eq!(of_thread(&history), 1000 - 2);
    }

    #[test]
    fn pages_are_read_while_they_are_wanted() {
        let mut page = [0; 4];
        let mut read = |most, wanted: usize| {
            let mut count = 0;
            let all = read_pages(&mut [1_u8; 12].as_slice(), &mut page, most, |_| {
                count += 1;
                count < wanted
            });
            (all.unwrap(), count)
        };
        assert_eq!(read(9, 9), (true, 3));
        assert_eq!(read(2, 9), (false, 2));
        assert_eq!(read(9, 1), (false, 1));
    }
}
