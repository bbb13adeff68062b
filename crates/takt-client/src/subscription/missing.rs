//! Messages of a Subscription that are missing before another one (OPC 10000-4, 5.14.1.1).

/// Largest number of missing messages that are requested at a time.
pub(super) const MOST_MISSING: u32 = 64;

/// Messages between the expected one and the one that has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// Sequence numbers of those that the server is asked for, in their order.
    pub(super) requested: Vec<u32>,
    /// Number of the others.
    pub(super) lost: u64,
}

impl Missing {
    /// Returns the messages before `number` from `expected` on. The server has those that are `available`.
    pub(super) fn before(number: u32, expected: u32, available: &[u32]) -> Self {
        let count = distance(expected, number);
        if count > u32::MAX / 2 {
            // The server has gone back: nobody knows how many messages were between.
            return Self {
                requested: Vec::new(),
                lost: 1,
            };
        }
        let mut requested: Vec<u32> = available
            .iter()
            .copied()
            .filter(|one| *one != 0 && distance(expected, *one) < count)
            .collect();
        requested.sort_unstable_by_key(|one| distance(expected, *one));
        requested.dedup();
        requested.truncate(MOST_MISSING as usize);
        let lost = u64::from(count) - requested.len() as u64;
        Self { requested, lost }
    }
}

/// Returns the number of messages from one sequence number up to another one, which is not included.
fn distance(from: u32, to: u32) -> u32 {
    // There is no message with the number 0.
    to.wrapping_sub(from) - u32::from(to < from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_messages_are_those_between_two_numbers() {
        let before = |number, expected, available: &[u32]| {
            let missing = Missing::before(number, expected, available);
            (missing.requested, missing.lost)
        };
        assert_eq!(before(7, 7, &[1, 7]), (vec![], 0));
        assert_eq!(before(9, 7, &[8, 9, 8, 3, 7]), (vec![7, 8], 0));
        // After the greatest number comes 1.
        let (last, first) = (u32::MAX, 2);
        assert_eq!(before(first, last, &[1, 0, last]), (vec![last, 1], 0));
        assert_eq!(
            before(u32::MAX / 2, 1, &[]),
            (vec![], u64::from(u32::MAX / 2) - 1)
        );
        // Back by more than messages overtake each other.
        assert_eq!(before(30, 100, &[30, 40]), (vec![], 1));
    }
}
