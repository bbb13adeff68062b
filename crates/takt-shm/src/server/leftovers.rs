//! Memory for large messages of closed connections, which a thread of its own gives back.
//!
//! After the end of a client the server has the last descriptor of the client's segment. Closing it frees the pages: up to 10 ms
//! for 64 MiB, which cannot be divided. When many clients end at once, the other clients would wait for all of that. The thread
//! exists from the first such segment on.

use std::any::Any;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use takt_rt::priority::{self, Policy};

/// Owner of a segment, which gives it back when it is dropped.
type Owner = Box<dyn Any + Send>;

/// Memory of closed connections; see the [module](self).
#[derive(Debug, Default)]
pub(super) struct Leftovers(Option<(Sender<Owner>, JoinHandle<()>)>);

impl Leftovers {
    /// Drops the owner of a segment on the thread. The segment counts in the budget until then.
    #[cold]
    pub(super) fn drop_later(&mut self, owner: impl Any + Send) {
        if self.0.is_none() {
            self.0 = start();
        }
        if let Some((sender, _)) = &self.0 {
            // Without a thread the owner is dropped here.
            let _ = sender.send(Box::new(owner));
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Starts the thread; `None` if the system has no threads left.
fn start() -> Option<(Sender<Owner>, JoinHandle<()>)> {
    let (sender, owners) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("give back".to_owned())
        .spawn(move || {
            // A real-time policy is inherited. Nobody waits for this thread.
            let _ = priority::set(Policy::Other);
            owners.into_iter().for_each(drop);
        });
    Some((sender, thread.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the thread on which it is dropped.
    struct Witness(Sender<thread::ThreadId>);

    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).unwrap();
        }
    }

    #[test]
    fn owners_are_dropped_by_one_other_thread() {
        let (sender, threads) = mpsc::channel();
        let mut leftovers = Leftovers::default();
        for _ in 0..3 {
            leftovers.drop_later(Witness(sender.clone()));
        }
        drop((leftovers, sender));
        let threads: Vec<_> = threads.into_iter().collect();
        assert_eq!(threads.len(), 3);
        assert_ne!(threads[0], thread::current().id());
        assert!(threads.iter().all(|thread| *thread == threads[0]));
    }
}
