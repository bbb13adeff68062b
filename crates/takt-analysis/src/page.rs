//! Counts of neighbouring values.

/// Number of bits of a value's place in its page.
pub(crate) const BITS: u32 = 12;

/// Number of values of a page.
const VALUES: usize = 1 << BITS;

/// Largest number of samples in a list. For more, a counter of each value needs less memory.
const FEW: usize = VALUES / size_of::<u16>();

/// Samples of a page: a list while there are few of them, else a counter for each value.
///
/// A counter has one byte. The multiples of 256 go to the owner of the page, because few values have so many samples.
#[derive(Debug, Clone)]
pub(crate) enum Page {
    /// Places of the samples, in the order in which they came.
    Few(Vec<u16>),
    /// Number of samples of each place, modulo 256.
    Counted(Box<[u8; VALUES]>),
}

impl Page {
    pub(crate) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Adds a number of samples. `carry` gets the place and number of samples that a counter cannot hold.
    #[inline]
    pub(crate) fn add(&mut self, place: u16, count: u64, carry: &mut impl FnMut(u16, u64)) {
        match self {
            Self::Counted(counters) => add(counters, place, count, carry),
            Self::Few(places) if count == 1 && places.len() < FEW => places.push(place),
            Self::Few(_) => self.add_to_list(place, count, carry),
        }
    }

    #[cold]
    fn add_to_list(&mut self, place: u16, count: u64, carry: &mut impl FnMut(u16, u64)) {
        if let Self::Few(places) = self {
            let all = usize::try_from(count).unwrap_or(usize::MAX);
            let all = places.len().saturating_add(all);
            if all <= FEW {
                places.resize(all, place);
                return;
            }
            let mut counters = Box::new([0; VALUES]);
            for place in places.iter() {
                add(&mut counters, *place, 1, carry);
            }
            *self = Self::Counted(counters);
        }
        if let Self::Counted(counters) = self {
            add(counters, place, count, carry);
        }
    }

    /// Calls a function with places and their numbers of samples, without those that were carried. A place may come
    /// several times.
    pub(crate) fn for_each(&self, mut each: impl FnMut(u16, u64)) {
        match self {
            Self::Few(places) => places.iter().for_each(|place| each(*place, 1)),
            Self::Counted(counters) => {
                let counted = (0_u16..).zip(counters.iter());
                for (place, count) in counted.filter(|(_, count)| **count > 0) {
                    each(place, u64::from(*count));
                }
            }
        }
    }

    /// Returns the number of samples of each place, without those that were carried.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; VALUES];
        self.for_each(|place, count| {
            if let Some(sum) = counts.get_mut(usize::from(place)) {
                *sum += count;
            }
        });
        counts
    }

    /// Returns the number of samples, without those that were carried.
    pub(crate) fn total(&self) -> u64 {
        match self {
            Self::Few(places) => places.len() as u64,
            Self::Counted(counters) => counters.iter().map(|count| u64::from(*count)).sum(),
        }
    }

    /// Returns the memory of its samples in bytes.
    #[inline]
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::Few(places) => places.capacity() * size_of::<u16>(),
            Self::Counted(_) => VALUES,
        }
    }
}

#[inline]
fn add(counters: &mut [u8; VALUES], place: u16, count: u64, carry: &mut impl FnMut(u16, u64)) {
    if let Some(counter) = counters.get_mut(usize::from(place)) {
        let sum = u64::from(*counter) + count;
        let [low, ..] = sum.to_le_bytes();
        *counter = low;
        if sum > u64::from(u8::MAX) {
            carry(place, sum - u64::from(low));
        }
    }
}
