//! Budgets of TAPRIO in software: bytes that a class may send in its window (`taprio_update_budgets`).

use super::Gates;
use crate::{LineRate, Time};

/// Budgets of the classes in the present entry of a schedule. Each frame counts for all classes, by the length that the kernel knows, and a
/// frame that exceeds the budget of its class counts, too: it waits for the next entry.
#[derive(Debug)]
pub struct WindowBudgets {
    /// Bytes of each class at the begin of each entry; `None` for a gate that never closes.
    of_entries: Vec<Vec<Option<i64>>>,
    /// Begin of the entry whose budgets are left.
    entry: Time,
    left: Vec<Option<i64>>,
}

impl WindowBudgets {
    /// Makes the budgets of a schedule: the bytes for which the link has time while a gate is open. The kernel has whole picoseconds per
    /// byte.
    pub(super) fn new(gates: &Gates, classes: usize, rate: LineRate) -> Self {
        let megabits = i64::try_from(rate.bits_per_second() / 1_000_000).unwrap_or(i64::MAX);
        // `TAPRIO_PICOS_PER_BYTE_MIN` of the kernel is 17, which is a link of 470 Gbit/s.
        let per_byte = (8_000_000 / megabits.max(1)).max(17);
        let bytes = |time: Time| time.as_picoseconds() / per_byte;
        let classes = 0..u8::try_from(classes).unwrap_or(u8::MAX);
        let of_entry = |entry| {
            let open = |class| gates.open_from(entry, class).map(bytes);
            classes.clone().map(open).collect()
        };
        Self {
            of_entries: (0..gates.len()).map(of_entry).collect(),
            entry: Time::MIN,
            left: Vec::new(),
        }
    }

    /// Takes a frame from the budgets. Returns the end of the entry if that of its class is used up.
    pub(super) fn take(
        &mut self,
        gates: &Gates,
        class: u8,
        length: u32,
        now: Time,
    ) -> Option<Time> {
        let (number, begin, end) = gates.entry(now);
        if begin != self.entry {
            self.entry = begin;
            self.left.clone_from(self.of_entries.get(number)?);
        }
        for left in self.left.iter_mut().flatten() {
            *left -= i64::from(length);
        }
        let left = self.left.get(usize::from(class)).copied().flatten();
        left.is_some_and(|left| left < 0).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gates::tests::schedule;
    use super::*;

    #[test]
    fn a_window_has_room_for_its_bytes_only() {
        // 1 Gbit/s: 50 us are 6250 bytes, 100 us are 12500.
        let gates = Gates::new(&schedule(0, &[(0b011, 50), (0b110, 50), (0b100, 50)]));
        let mut budgets = WindowBudgets::new(&gates, 3, LineRate::new(1_000_000_000));
        let us = Time::microseconds;
        assert_eq!(budgets.take(&gates, 0, 6_000, us(0)), None);
        assert_eq!(budgets.take(&gates, 0, 1_000, us(10)), Some(us(50)));
        // Class 1 is open for two entries; the frames of class 0 count for it.
        assert_eq!(budgets.take(&gates, 1, 5_500, us(20)), None);
        assert_eq!(budgets.take(&gates, 1, 1, us(30)), Some(us(50)));
        // A new entry has new budgets.
        assert_eq!(budgets.take(&gates, 1, 6_250, us(50)), None);
        assert_eq!(budgets.take(&gates, 0, 1, us(150)), None);
    }

    #[test]
    fn an_open_gate_has_no_budget() {
        let gates = Gates::new(&schedule(0, &[(0b11, 50), (0b01, 50)]));
        let mut budgets = WindowBudgets::new(&gates, 2, LineRate::new(1_000_000_000));
        for _ in 0..100 {
            assert_eq!(budgets.take(&gates, 0, 1_500, Time::ZERO), None);
        }
        assert!(budgets.take(&gates, 1, 1, Time::ZERO).is_some());
    }
}
