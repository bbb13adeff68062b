//! NetworkMessageNumbers: places of NetworkMessages within a publishing interval (OPC 10000-14, 6.3.1.3.4).

use std::collections::BTreeSet;

/// NetworkMessageNumbers that no DataSetWriter of a WriterGroup has in its configuration.
#[derive(Debug)]
pub(crate) struct FreeNumbers {
    configured: BTreeSet<u16>,
    /// The last number that was taken.
    last: u16,
}

impl FreeNumbers {
    /// Creates the free numbers of a group whose writers have these numbers; 0 is none.
    pub(crate) fn beside(configured: impl Iterator<Item = u16>) -> Self {
        Self {
            configured: configured.collect(),
            last: 0,
        }
    }

    /// Takes the lowest free number, from 1 on; 0 if there is none.
    pub(crate) fn take(&mut self) -> u16 {
        let mut free = (self.last..=u16::MAX).skip(1);
        let number = free.find(|number| !self.configured.contains(number));
        self.last = number.unwrap_or(u16::MAX);
        number.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_numbers_begin_at_1_and_leave_out_configured_ones() {
        let mut numbers = FreeNumbers::beside([0, 2, 3, 0, 2].into_iter());
        assert_eq!([(); 4].map(|()| numbers.take()), [1, 4, 5, 6]);
        let mut numbers = FreeNumbers::beside(1..=u16::MAX - 1);
        assert_eq!([(); 3].map(|()| numbers.take()), [u16::MAX, 0, 0]);
    }
}
