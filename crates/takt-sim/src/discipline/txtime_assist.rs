//! TAPRIO with `flags 0x1`: gates do not open and close. Packets get a txtime, and ETF sends them then.

use super::Gates;
use crate::Time;

/// Txtimes of packets, chosen so that each packet fits in a window of its class, one behind the other.
#[derive(Debug)]
pub struct TxTimeAssist {
    /// The `txtime-delay`: least time from a packet's arrival until it is sent.
    delay: Time,
    /// For each entry of the schedule, the time at which the packets with a txtime in it have been sent.
    next: Vec<Time>,
}

impl TxTimeAssist {
    /// Makes the state for a `txtime-delay` and a schedule of so many entries.
    pub fn new(delay: Time, entries: usize) -> Self {
        Self {
            delay,
            next: vec![Time::MIN; entries],
        }
    }

    /// Returns the txtime of a packet of this class and duration; `None` if it fits in no window.
    pub fn choose(&mut self, gates: &Gates, class: u8, duration: Time, now: Time) -> Option<Time> {
        let earliest = now + self.delay;
        let (cycle, entries) = gates.schedule();
        if entries.is_empty() {
            return Some(earliest);
        }
        let room = gates.room(duration);
        let mut best: Option<(Time, usize)> = None;
        let mut begin = Time::ZERO;
        for (index, (end, open)) in entries.iter().enumerate() {
            let interval = (begin, *end);
            begin = *end;
            // An entry without room for the packet has none in any other cycle either.
            if open >> class & 1 == 0 || interval.1 - interval.0 < room {
                continue;
            }
            let from = earliest.max(self.next[index]);
            let start = gates.cycle_start(from);
            // If it does not fit now, it fits at the begin of this entry in the next cycle: the entry has the room.
            let time = if from - start + room <= interval.1 {
                from.max(start + interval.0)
            } else {
                start + cycle + interval.0
            };
            if best.is_none_or(|(other, _)| time < other) {
                best = Some((time, index));
            }
        }
        let (time, index) = best?;
        self.next[index] = time + duration;
        Some(time)
    }

    /// Returns true if the packet fits in the entry of a txtime of the application. `strictly` is the rule of the kernel
    /// (`find_entry_to_transmit`): the packet neither begins with the entry nor ends with it.
    pub fn accepts(gates: &Gates, class: u8, duration: Time, txtime: Time, strictly: bool) -> bool {
        let (_, entries) = gates.schedule();
        let position = txtime - gates.cycle_start(txtime);
        let mut begin = Time::ZERO;
        for (end, open) in entries {
            if position < *end {
                let margin = Time::picoseconds(strictly.into());
                return open >> class & 1 == 1
                    && position >= begin + margin
                    && position + gates.room(duration) + margin <= *end;
            }
            begin = *end;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::gates::tests::schedule;
    use super::*;

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    #[test]
    fn frames_follow_each_other_in_windows() {
        // Class 0 has 40 µs in the middle of each 100 µs, class 1 the rest.
        let gates = Gates::new(&schedule(1000, &[(2, 30), (1, 40), (2, 30)]));
        let mut assist = TxTimeAssist::new(us(20), 3);
        let mut choose = |class, duration, now| assist.choose(&gates, class, us(duration), us(now));
        assert_eq!(choose(0, 15, 900), Some(us(930)));
        assert_eq!(choose(0, 15, 1000), Some(us(1030)));
        assert_eq!(choose(0, 15, 1000), Some(us(1045)));
        assert_eq!(choose(0, 15, 1000), Some(us(1130)));
        assert_eq!(choose(1, 15, 1000), Some(us(1070)));
        assert_eq!(choose(1, 15, 1070), Some(us(1100)));
        assert_eq!(choose(0, 41, 1000), None);
        assert_eq!(choose(2, 1, 1000), None);
        assert!(TxTimeAssist::accepts(&gates, 0, us(15), us(1055), false));
        assert!(!TxTimeAssist::accepts(&gates, 0, us(15), us(1056), false));
        assert!(!TxTimeAssist::accepts(&gates, 0, us(15), us(1029), false));
    }

    #[test]
    fn a_txtime_and_the_end_of_its_frame_are_in_one_entry() {
        // Class 0 is open from 10 to 90 µs, in two entries.
        let gates = Gates::new(&schedule(0, &[(2, 10), (1, 40), (3, 40), (2, 10)]));
        let accepted = |strictly| -> Vec<i64> {
            let accepts = |txtime| TxTimeAssist::accepts(&gates, 0, us(15), us(txtime), strictly);
            (0..100).filter(|txtime| accepts(*txtime)).collect()
        };
        let expected: Vec<i64> = (10..=35).chain(50..=75).collect();
        assert_eq!(accepted(false), expected);
        let expected: Vec<i64> = (11..=34).chain(51..=74).collect();
        assert_eq!(accepted(true), expected);
        // A gate that never closes has entries as well.
        let gates = Gates::new(&schedule(0, &[(1, 50), (3, 50)]));
        assert!(TxTimeAssist::accepts(&gates, 0, us(15), us(35), false));
        assert!(!TxTimeAssist::accepts(&gates, 0, us(15), us(36), false));
    }

    #[test]
    fn no_txtime_is_in_a_guard_band() {
        let mut taprio = schedule(1000, &[(2, 30), (1, 40), (2, 30)]);
        taprio.guard_band = takt_scenario::Duration(25_000_000);
        let gates = Gates::new(&taprio);
        let mut assist = TxTimeAssist::new(us(20), 3);
        let mut choose = |duration, now| assist.choose(&gates, 0, us(duration), us(now));
        assert_eq!(choose(15, 1000), Some(us(1030)));
        assert_eq!(choose(15, 1000), Some(us(1045)));
        assert_eq!(choose(1, 1000), Some(us(1130)));
        assert!(TxTimeAssist::accepts(&gates, 0, us(15), us(1045), false));
        assert!(!TxTimeAssist::accepts(&gates, 0, us(15), us(1046), false));
    }
}
