//! The rows that are left to compute, in their order.

use std::collections::HashSet;

/// Rows that are left. Workers take them, one after the other.
#[derive(Debug)]
pub(crate) struct RowQueue {
    /// Items, each as often as it has repetitions.
    order: Vec<usize>,
    position: usize,
    /// Number of repetitions of each item that were taken or skipped.
    taken: Vec<u32>,
    /// Items whose result is known.
    ended: Vec<bool>,
    /// Rows that are there: items and numbers of repetitions.
    present: HashSet<(usize, u32)>,
}

impl RowQueue {
    /// Creates the queue of items with these numbers of repetitions, in the order of the items, or with a seed in random order.
    pub(crate) fn new(
        repetitions: &[u32],
        present: HashSet<(usize, u32)>,
        seed: Option<u64>,
    ) -> Self {
        let items = repetitions.iter().enumerate();
        let order = items.flat_map(|(item, count)| std::iter::repeat_n(item, *count as usize));
        let mut order: Vec<usize> = order.collect();
        if let Some(seed) = seed {
            shuffle(&mut order, seed);
        }
        Self {
            order,
            position: 0,
            taken: vec![0; repetitions.len()],
            ended: vec![false; repetitions.len()],
            present,
        }
    }

    /// Takes the next row: its item, and the number of its repetition from 1. The repetitions of an item come in their order.
    pub(crate) fn take(&mut self) -> Option<(usize, u32)> {
        loop {
            let item = *self.order.get(self.position)?;
            self.position += 1;
            let taken = self.taken.get_mut(item)?;
            *taken += 1;
            let row = (item, *taken);
            let has_ended = self.ended.get(item).copied().unwrap_or(false);
            if !has_ended && !self.present.contains(&row) {
                return Some(row);
            }
        }
    }

    /// Removes the rows of an item whose result is known.
    pub(crate) fn end(&mut self, item: usize) {
        if let Some(ended) = self.ended.get_mut(item) {
            *ended = true;
        }
    }

    /// Removes all rows.
    pub(crate) fn close(&mut self) {
        self.position = self.order.len();
    }
}

/// Shuffles items (Fisher and Yates). The same seed gives the same order in all versions.
fn shuffle(items: &mut [usize], seed: u64) {
    let mut state = seed;
    // SplitMix64 of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators".
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    };
    for last in (1..items.len()).rev() {
        // The product is less than 2^64 times `last + 1`. Its high half is an index, whose bias is below 2⁻⁴⁰ for a million items.
        let index = (u128::from(next()) * (last as u128 + 1)) >> 64;
        items.swap(last, index as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(mut queue: RowQueue) -> Vec<(usize, u32)> {
        std::iter::from_fn(move || queue.take()).collect()
    }

    #[test]
    fn rows_come_in_the_order_of_the_file() {
        let queue = RowQueue::new(&[2, 1], HashSet::new(), None);
        assert_eq!(taken(queue), [(0, 1), (0, 2), (1, 1)]);
        let queue = RowQueue::new(&[2, 1], HashSet::from([(0, 1)]), None);
        assert_eq!(taken(queue), [(0, 2), (1, 1)]);
        let mut queue = RowQueue::new(&[2, 1], HashSet::new(), None);
        assert_eq!(queue.take(), Some((0, 1)));
        queue.end(0);
        assert_eq!(queue.take(), Some((1, 1)));
        let mut queue = RowQueue::new(&[2, 1], HashSet::new(), None);
        queue.close();
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn a_random_order_has_all_rows_and_keeps_repetitions_in_order() {
        let random = |seed| taken(RowQueue::new(&[3; 20], HashSet::new(), Some(seed)));
        let order = random(1);
        assert_eq!(order, random(1));
        assert_ne!(order, random(2));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_ne!(order, sorted);
        assert_eq!(sorted, taken(RowQueue::new(&[3; 20], HashSet::new(), None)));
        for item in 0..20 {
            let of_item = order.iter().filter(|row| row.0 == item);
            assert!(of_item.is_sorted());
        }
    }
}
