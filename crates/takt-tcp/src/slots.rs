//! A table that never reuses an id: an event for a connection that is gone cannot reach the next one in its place.

/// Number of lower bits of an id that hold the index of the slot; the 32 bits above count the uses of the slot.
const INDEX_BITS: u32 = 22;

#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    len: usize,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Returns the id that [`insert`](Self::insert) will use.
    pub(crate) fn next_id(&self) -> u64 {
        match self.free.last() {
            Some(&index) => id(index, self.slots[index].generation),
            None => id(self.slots.len(), 0),
        }
    }

    /// Inserts `value` under [`next_id`](Self::next_id).
    pub(crate) fn insert(&mut self, value: T) -> &mut T {
        self.len += 1;
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                value: None,
            });
            self.slots.len() - 1
        });
        self.slots[index].value.insert(value)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        let (index, generation) = parts(id);
        let slot = self.slots.get_mut(index)?;
        if slot.generation == generation {
            slot.value.as_mut()
        } else {
            None
        }
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<T> {
        let (index, generation) = parts(id);
        let slot = self.slots.get_mut(index)?;
        if slot.generation != generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        self.len -= 1;
        Some(value)
    }

    /// Returns all values with their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(index, slot)| Some((id(index, slot.generation), slot.value.as_ref()?)))
    }

    /// Returns the number of places, used or not: the upper bound for [`id_at`](Self::id_at).
    pub(crate) const fn places(&self) -> usize {
        self.slots.len()
    }

    /// Returns the id of the value in place `index`. It allows iteration over all values while some are removed,
    /// without a list of ids.
    pub(crate) fn id_at(&self, index: usize) -> Option<u64> {
        let slot = self.slots.get(index)?;
        slot.value.as_ref().map(|_| id(index, slot.generation))
    }
}

const fn id(index: usize, generation: u32) -> u64 {
    (generation as u64) << INDEX_BITS | index as u64
}

#[allow(clippy::cast_possible_truncation)] // Both parts were put in from these types.
const fn parts(id: u64) -> (usize, u32) {
    let index = id & ((1 << INDEX_BITS) - 1);
    (index as usize, (id >> INDEX_BITS) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_id_finds_nothing() {
        let mut slots = Slots::new();
        let first = slots.next_id();
        *slots.insert('a') = 'A';
        let second = slots.next_id();
        slots.insert('b');
        assert_eq!(slots.id_at(0), Some(first));
        assert_eq!(slots.id_at(1), Some(second));
        assert_eq!(slots.remove(first), Some('A'));
        assert_eq!(slots.remove(first), None);
        assert_eq!((slots.places(), slots.id_at(0)), (2, None));
        let third = slots.next_id();
        slots.insert('c');
        assert_ne!(first, third);
        assert_eq!(slots.get_mut(first), None);
        assert_eq!(slots.get_mut(third), Some(&mut 'c'));
        assert_eq!(slots.get_mut(1 << 21), None);
        assert_eq!(slots.len(), 2);
        let all: Vec<_> = slots.iter().map(|(id, value)| (id, *value)).collect();
        assert_eq!(all, [(third, 'c'), (second, 'b')]);
    }
}
