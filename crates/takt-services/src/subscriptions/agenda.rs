//! Entries in the order of their deadlines.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// An entry with a deadline.
pub(super) trait Timed {
    /// Returns the time of the next work, if any is due later.
    fn next_deadline(&self) -> Option<Instant>;
}

/// A map whose entries are also in the order of their deadlines. The earliest one is found without a search.
///
/// A changed entry is put in order before the deadlines are queried the next time.
pub(super) struct Agenda<K, V> {
    entries: HashMap<K, Entry<V>>,
    order: BTreeSet<(Instant, K)>,
    /// Keys of the entries whose deadline may have changed.
    touched: Vec<K>,
}

struct Entry<V> {
    value: V,
    /// Deadline under which the entry is in the order.
    deadline: Option<Instant>,
}

impl<K, V> Default for Agenda<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeSet::new(),
            touched: Vec::new(),
        }
    }
}

impl<K: Clone + Ord + Hash, V: Timed> Agenda<K, V> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|entry| &entry.value)
    }

    /// Returns an entry, to be changed.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        // Several accesses to one entry in turn need one place.
        if self.touched.last() != Some(key) {
            self.touched.push(key.clone());
        }
        Some(&mut entry.value)
    }

    /// Changes all entries.
    pub(super) fn for_each(&mut self, mut change: impl FnMut(&mut V)) {
        for (key, entry) in &mut self.entries {
            change(&mut entry.value);
            self.touched.push(key.clone());
        }
    }

    /// Adds an entry. The key must be new.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.touched.push(key.clone());
        let entry = Entry {
            value,
            deadline: None,
        };
        self.entries.insert(key, entry);
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        if let Some(deadline) = entry.deadline {
            self.order.remove(&(deadline, key.clone()));
        }
        Some(entry.value)
    }

    /// Puts the changed entries in order.
    fn settle(&mut self) {
        while let Some(key) = self.touched.pop() {
            // It was removed meanwhile.
            let Some(entry) = self.entries.get_mut(&key) else {
                continue;
            };
            let deadline = entry.value.next_deadline();
            let before = std::mem::replace(&mut entry.deadline, deadline);
            if before == deadline {
                continue;
            }
            let mut key = key;
            if let Some(before) = before {
                let place = (before, key);
                self.order.remove(&place);
                key = place.1;
            }
            if let Some(deadline) = deadline {
                self.order.insert((deadline, key));
            }
        }
    }

    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        self.settle();
        self.order.first().map(|(at, _)| *at)
    }

    /// Returns the entries whose deadlines have passed.
    pub(super) fn due(&mut self, now: Instant) -> impl Iterator<Item = (&K, &V)> {
        self.settle();
        let due = self.order.iter().take_while(move |(at, _)| *at <= now);
        due.filter_map(|(_, key)| Some((key, self.get(key)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    struct At<'c> {
        deadline: Option<Instant>,
        looks: &'c Cell<u32>,
    }

    impl Timed for At<'_> {
        fn next_deadline(&self) -> Option<Instant> {
            self.looks.set(self.looks.get() + 1);
            self.deadline
        }
    }

    #[test]
    fn a_change_of_one_entry_checks_only_this_entry() {
        let (start, looks) = (Instant::now(), Cell::new(0));
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut agenda = Agenda::default();
        assert_eq!(agenda.next_deadline(), None);
        for number in 0..1000_u64 {
            let deadline = Some(at(1000 + number));
            let looks = &looks;
            agenda.insert(number, At { deadline, looks });
        }
        assert_eq!(agenda.next_deadline(), Some(at(1000)));
        assert_eq!(looks.replace(0), 1000);

        agenda.get_mut(&500).unwrap().deadline = Some(at(1));
        assert_eq!(agenda.next_deadline(), Some(at(1)));
        let due: Vec<u64> = agenda.due(at(1001)).map(|(key, _)| *key).collect();
        assert_eq!(due, [500, 0, 1]);
        agenda.get_mut(&500).unwrap().deadline = None;
        agenda.get_mut(&0).unwrap().deadline = Some(at(5000));
        assert!(agenda.remove(&1).is_some() && agenda.remove(&1).is_none());
        assert_eq!(agenda.next_deadline(), Some(at(1002)));
        assert!(looks.get() <= 3, "{}", looks.get());
        assert_eq!(agenda.len(), 999);

        agenda.for_each(|entry| entry.deadline = None);
        assert_eq!(agenda.next_deadline(), None);
        assert_eq!(agenda.due(at(9000)).count(), 0);
    }
}
