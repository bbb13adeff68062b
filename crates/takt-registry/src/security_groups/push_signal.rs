//! Signal to the thread of a push target.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Signal to the thread of a push target: keys have changed before their time, or the registry ends.
#[derive(Debug, Default)]
pub(crate) struct PushSignal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// SecurityGroups of this target whose keys have changed.
    groups: BTreeSet<String>,
    /// The SecurityGroups of this target, if they have changed.
    assigned: Option<BTreeSet<String>>,
    is_ending: bool,
}

impl PushSignal {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete when the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the keys of a SecurityGroup have changed.
    pub(crate) fn keys_changed(&self, group: &str) {
        self.state().groups.insert(group.to_owned());
        self.changed.notify_one();
    }

    /// Sets the SecurityGroups of the target.
    pub(crate) fn assign(&self, groups: BTreeSet<String>) {
        self.state().assigned = Some(groups);
        self.changed.notify_one();
    }

    /// Returns the SecurityGroups of the target, if they have changed since the last call.
    pub(crate) fn take_assigned(&self) -> Option<BTreeSet<String>> {
        self.state().assigned.take()
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        self.state().is_ending = true;
        self.changed.notify_one();
    }

    /// Waits for the time, for changed keys, for other SecurityGroups or for the end. Returns the changed SecurityGroups, or `None` at the end.
    pub(crate) fn wait_until(&self, at: Instant) -> Option<BTreeSet<String>> {
        let mut state = self.state();
        loop {
            if state.is_ending {
                return None;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() || !state.groups.is_empty() || state.assigned.is_some() {
                return Some(std::mem::take(&mut state.groups));
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wait_ends_with_time_changes_or_the_end() {
        let signal = PushSignal::default();
        let now = Instant::now();
        assert_eq!(signal.wait_until(now), Some(BTreeSet::new()));
        let long = now + Duration::from_secs(3600);
        signal.keys_changed("Plant");
        assert_eq!(signal.wait_until(long), Some(["Plant".to_owned()].into()));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| signal.wait_until(long));
            signal.end();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(signal.wait_until(now), None);
    }
}
