//! Commands for real-time threads, which never wait for the thread that sends a command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

/// Sender of commands.
#[derive(Debug)]
pub(super) struct CommandSender<T> {
    /// Channel; one thread at a time sends, so that all counted commands are complete.
    sender: Mutex<mpsc::Sender<T>>,
    pending: Arc<AtomicUsize>,
}

/// Receiver of commands, which never waits.
#[derive(Debug)]
pub(super) struct CommandReceiver<T> {
    receiver: mpsc::Receiver<T>,
    pending: Arc<AtomicUsize>,
}

pub(super) fn channel<T>() -> (CommandSender<T>, CommandReceiver<T>) {
    let (sender, receiver) = mpsc::channel();
    let pending = Arc::new(AtomicUsize::new(0));
    let commands = CommandSender {
        sender: Mutex::new(sender),
        pending: pending.clone(),
    };
    (commands, CommandReceiver { receiver, pending })
}

impl<T> CommandSender<T> {
    /// Returns `false` if the receiver is gone.
    pub(super) fn send(&self, command: T) -> bool {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = sender.send(command).is_ok();
        if sent {
            // After the command is in the channel: a receiver that sees the number finds the command.
            self.pending.fetch_add(1, Ordering::Release);
        }
        sent
    }
}

impl<T> CommandReceiver<T> {
    /// Returns the next command. Only commands that were sent completely are received: the receiver of the standard library would
    /// wait for one that is being sent, and its sender may not run as long as this thread does.
    #[inline]
    pub(super) fn next(&self) -> Option<T> {
        // Pairs with the Release of `send`.
        if self.pending.load(Ordering::Acquire) == 0 {
            return None;
        }
        // Only this thread takes commands, so the one that was seen is still there.
        self.pending.fetch_sub(1, Ordering::Relaxed);
        self.receiver.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_arrive_in_order() {
        let (sender, receiver) = channel();
        assert_eq!(receiver.next(), None);
        let told = std::thread::spawn(move || (0..1000).all(|number| sender.send(number)));
        let mut next = 0;
        while next < 1000 {
            if let Some(number) = receiver.next() {
                assert_eq!(number, next);
                next += 1;
            }
        }
        assert!(told.join().unwrap());
        assert_eq!(receiver.next(), None);
        let (sender, receiver) = channel();
        drop(receiver);
        assert!(!sender.send(()));
    }
}
