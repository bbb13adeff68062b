//! Deadlines of requests whose worker may hang: a thread of their own ends the wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// An entry with a deadline.
pub(super) trait Expire: Send + Sync + 'static {
    /// Handles the deadline.
    fn expire(&self);
}

/// Key of an entry: its deadline, and a unique number.
pub(super) type Key = (Instant, u64);

/// Entries by their deadlines, and the thread that handles them. It is started with the first entry. Dropping this ends it.
pub(super) struct Deadlines<T: Expire> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified of a deadline before the end of the thread's sleep, and of the end.
    changed: Condvar,
}

struct State<T> {
    entries: BTreeMap<Key, Arc<T>>,
    last_number: u64,
    thread: Thread,
}

/// State of the thread.
#[derive(Clone, Copy)]
enum Thread {
    None,
    Awake,
    /// Asleep until this time; without one until it is notified.
    Asleep(Option<Instant>),
    Stopped,
}

impl<T: Expire> Deadlines<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State {
                    entries: BTreeMap::new(),
                    last_number: 0,
                    thread: Thread::None,
                }),
                changed: Condvar::new(),
            }),
        }
    }

    /// Adds an entry; `None` after the end.
    pub(super) fn add(&self, deadline: Instant, entry: &Arc<T>) -> Option<Key> {
        let mut state = self.shared.state();
        let is_woken = match state.thread {
            Thread::Stopped => return None,
            Thread::None => {
                let shared = Arc::clone(&self.shared);
                let thread = std::thread::Builder::new().name("worker deadlines".to_owned());
                // Without a thread, the server answers at the end of the TimeoutHint.
                if thread.spawn(move || shared.watch()).is_ok() {
                    state.thread = Thread::Awake;
                }
                false
            }
            Thread::Awake => false,
            Thread::Asleep(until) => until.is_none_or(|until| deadline < until),
        };
        state.last_number += 1;
        let key = (deadline, state.last_number);
        state.entries.insert(key, Arc::clone(entry));
        if is_woken {
            state.thread = Thread::Awake;
            self.shared.changed.notify_one();
        }
        Some(key)
    }

    /// Removes an entry. The thread goes on sleeping, so that a quick answer costs no wake-up.
    pub(super) fn remove(&self, key: Key) {
        let removed = self.shared.state().entries.remove(&key);
        // It is dropped without the lock.
        drop(removed);
    }

    /// Ends the thread and drops all entries.
    pub(super) fn stop(&self) {
        let dropped = {
            let mut state = self.shared.state();
            state.thread = Thread::Stopped;
            std::mem::take(&mut state.entries)
        };
        self.shared.changed.notify_one();
        drop(dropped);
    }
}

impl<T: Expire> Drop for Deadlines<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<T: Expire> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles deadlines until the end.
    fn watch(&self) {
        let mut state = self.state();
        while !matches!(state.thread, Thread::Stopped) {
            let now = Instant::now();
            let first = state.entries.first_entry();
            if let Some(first) = first.filter(|first| first.key().0 <= now) {
                let expired = first.remove();
                drop(state);
                // Without the lock: the answer of the entry removes it from this list, which takes the lock.
                expired.expire();
                drop(expired);
                state = self.state();
                continue;
            }
            let next = state.entries.first_key_value().map(|((at, _), _)| *at);
            state.thread = Thread::Asleep(next);
            state = match next {
                Some(at) => {
                    // The deadline is later than `now`: otherwise its entry would have been taken above.
                    let waited = self.changed.wait_timeout(state, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
            if matches!(state.thread, Thread::Asleep(_)) {
                state.thread = Thread::Awake;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::*;

    struct Entry(Mutex<Sender<u32>>, u32);

    impl Expire for Entry {
        fn expire(&self) {
            let _ = self.0.lock().unwrap().send(self.1);
        }
    }

    fn entries() -> (impl Fn(u32) -> Arc<Entry>, Receiver<u32>) {
        let (send, expired) = channel();
        let entry = move |number| Arc::new(Entry(Mutex::new(send.clone()), number));
        (entry, expired)
    }

    #[test]
    fn entries_expire_in_the_order_of_their_deadlines() {
        let (entry, expired) = entries();
        let deadlines = Deadlines::new();
        let after = |milliseconds| Instant::now() + Duration::from_millis(milliseconds);
        deadlines.add(after(86_400_000), &entry(1)).unwrap();
        deadlines.add(after(200), &entry(2)).unwrap();
        deadlines.add(after(1), &entry(3)).unwrap();
        assert_eq!([expired.recv().unwrap(), expired.recv().unwrap()], [3, 2]);
        // The thread sleeps until the last one, and is woken by an earlier one.
        deadlines.add(after(0), &entry(4)).unwrap();
        assert_eq!(expired.recv().unwrap(), 4);
    }

    #[test]
    fn removed_and_dropped_entries_do_not_expire() {
        let (entry, expired) = entries();
        let deadlines = Deadlines::new();
        let later = Instant::now() + Duration::from_hours(1);
        let removed = entry(1);
        let key = deadlines.add(later, &removed).unwrap();
        deadlines.remove(key);
        assert_eq!(Arc::strong_count(&removed), 1);
        deadlines.add(later, &entry(2)).unwrap();
        deadlines.stop();
        assert!(deadlines.add(later, &entry(3)).is_none());
        drop((entry, removed));
        assert!(expired.recv().is_err(), "all senders are gone");
    }
}
