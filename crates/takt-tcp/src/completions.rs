//! Notification of the transport's thread that deferred responses are complete.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use takt_rt::readiness::Waker;
use takt_ua::request_handler::CompletionWaker;

/// Connections with complete deferred responses.
#[derive(Debug)]
pub(crate) struct Completions {
    shared: Arc<Shared>,
    /// Swapped with the shared queue, so that neither allocates once warm.
    taken: Vec<u64>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Vec<u64>>,
    waker: Waker,
}

impl Completions {
    pub(crate) fn new() -> io::Result<Self> {
        let shared = Shared {
            queue: Mutex::new(Vec::new()),
            waker: Waker::new()?,
        };
        Ok(Self {
            shared: Arc::new(shared),
            taken: Vec::new(),
        })
    }

    /// Returns the descriptor that is readable when there is something to take.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.shared.waker.as_fd()
    }

    /// Returns the waker that connection `id` passes to its handler.
    pub(crate) fn waker(&self, id: u64) -> CompletionWaker {
        let shared = Arc::clone(&self.shared);
        Arc::new(move || {
            let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = queue.is_empty();
            // Duplicates are harmless, because the second look finds nothing. Only calls in a row are worth a check.
            if queue.last() != Some(&id) {
                queue.push(id);
            }
            drop(queue);
            // The caller that added the first entry has woken, or is about to wake, the thread that takes all
            // entries.
            if is_first {
                shared.waker.wake();
            }
        })
    }

    /// Returns the connections that called their wakers since the last call; return the list with
    /// [`recycle`](Self::recycle).
    pub(crate) fn take(&mut self) -> Vec<u64> {
        // Before the queue is taken: whoever adds an entry after that wakes the thread again.
        self.shared.waker.drain();
        let mut queue = self
            .shared
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *queue, &mut self.taken);
        std::mem::take(&mut self.taken)
    }

    pub(crate) fn recycle(&mut self, mut list: Vec<u64>) {
        list.clear();
        self.taken = list;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_is_taken_once() {
        let mut completions = Completions::new().unwrap();
        let (first, second) = (completions.waker(7), completions.waker(8));
        first();
        first();
        std::thread::spawn(move || second()).join().unwrap();
        let taken = completions.take();
        assert_eq!(taken, [7, 8]);
        completions.recycle(taken);
        assert!(completions.take().is_empty());
        first();
        assert_eq!(completions.take(), [7]);
    }
}
