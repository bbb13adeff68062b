//! A list whose entries are removed anywhere in constant time.

/// The place of an entry in a [`List`], until the entry is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

/// Value for no place.
const NONE: u32 = u32::MAX;

/// End of a list.
pub(super) enum End {
    Front,
    Back,
}

/// A doubly linked list in one block of memory: an entry is added at both ends, and removed anywhere, in constant time.
pub(super) struct List<T> {
    entries: Vec<Entry<T>>,
    first: u32,
    last: u32,
    /// The first of the free places, which are linked by `next`.
    free: u32,
}

struct Entry<T> {
    value: Option<T>,
    previous: u32,
    next: u32,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            first: NONE,
            last: NONE,
            free: NONE,
        }
    }
}

impl<T> List<T> {
    fn entry(&mut self, place: u32) -> Option<&mut Entry<T>> {
        self.entries.get_mut(usize::try_from(place).ok()?)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    pub(super) fn get(&self, place: Place) -> Option<&T> {
        let entry = self.entries.get(usize::try_from(place.0).ok()?)?;
        entry.value.as_ref()
    }

    pub(super) fn insert(&mut self, value: T, end: End) -> Place {
        let (previous, next) = match end {
            End::Front => (NONE, self.first),
            End::Back => (self.last, NONE),
        };
        let entry = Entry {
            value: Some(value),
            previous,
            next,
        };
        let place = self.free;
        let place = match self.entry(place) {
            Some(free) => {
                let next_free = free.next;
                *free = entry;
                self.free = next_free;
                place
            }
            None => {
                // The number of MonitoredItems is below this limit.
                let place = u32::try_from(self.entries.len()).unwrap_or(NONE);
                self.entries.push(entry);
                place
            }
        };
        self.link(previous, place, next);
        Place(place)
    }

    /// Links `place`, or nothing, between its two neighbours.
    fn link(&mut self, previous: u32, place: u32, next: u32) {
        let (after, before) = match place {
            NONE => (next, previous),
            place => (place, place),
        };
        match self.entry(previous) {
            Some(entry) => entry.next = after,
            None => self.first = after,
        }
        match self.entry(next) {
            Some(entry) => entry.previous = before,
            None => self.last = before,
        }
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<T> {
        let free = self.free;
        let entry = self.entry(place.0)?;
        let value = entry.value.take()?;
        let (previous, next) = (entry.previous, entry.next);
        entry.next = free;
        self.free = place.0;
        self.link(previous, NONE, next);
        Some(value)
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        self.remove(Place(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(list: &mut List<u32>) -> Vec<u32> {
        std::iter::from_fn(|| list.pop_front()).collect()
    }

    #[test]
    fn entries_come_in_order_and_can_be_taken_out_anywhere() {
        let mut list = List::default();
        let places: Vec<Place> = (1..=5).map(|value| list.insert(value, End::Back)).collect();
        let front = list.insert(0, End::Front);
        assert_eq!(list.get(places[2]), Some(&3));
        assert_eq!(list.remove(places[2]), Some(3));
        assert_eq!(list.remove(places[2]), None);
        assert_eq!(list.remove(places[4]), Some(5));
        assert_eq!(list.remove(front), Some(0));
        list.insert(6, End::Back);
        list.insert(7, End::Front);
        assert_eq!(drain(&mut list), [7, 1, 2, 4, 6]);
        assert!(list.is_empty());
        list.insert(8, End::Back);
        assert_eq!(drain(&mut list), [8]);
        assert_eq!(list.entries.len(), 6, "free places are used again");
    }

    #[test]
    fn entries_are_inserted_at_both_ends() {
        let mut list = List::default();
        let mut model = std::collections::VecDeque::new();
        for step in 0..1000_u32 {
            match step * 7 % 5 {
                0 | 1 => {
                    list.insert(step, End::Back);
                    model.push_back(step);
                }
                2 => {
                    list.insert(step, End::Front);
                    model.push_front(step);
                }
                _ => assert_eq!(list.pop_front(), model.pop_front()),
            }
        }
        assert_eq!(drain(&mut list), Vec::from(model));
    }
}
