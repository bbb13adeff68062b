//! What frames leave behind when they arrive, until there is enough of it to be counted at once.
//!
//! The statistics of a flow with their histograms lie in many places. Those of thousands of flows do not fit into the processor's caches, and
//! the next frame is always another flow's. So an arrival is only noted, side by side with the last ones of its flow, and statistics are
//! fetched once for many of them.

use crate::Time;

/// How many arrivals of a flow are noted before they are counted.
const ARRIVALS: usize = 16;

/// A frame that arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    pub(crate) counter: u64,
    pub(crate) published: Time,
    pub(crate) departed: Time,
    pub(crate) arrived: Time,
}

/// Arrivals of each flow, in the order in which they happened.
#[derive(Debug)]
pub(crate) struct Notes {
    counts: Vec<u8>,
    /// [`ARRIVALS`] of each flow.
    arrivals: Vec<Arrival>,
    /// How long each of these took at each port of the flow's way.
    hops: Vec<Time>,
}

impl Notes {
    /// For so many flows, that pass so many ports all together.
    pub(crate) fn new(flows: usize, ports: usize) -> Self {
        Self {
            counts: vec![0; flows],
            arrivals: vec![Arrival::default(); flows * ARRIVALS],
            hops: vec![Time::ZERO; ports * ARRIVALS],
        }
    }

    /// Notes an arrival of a flow that passes `hops.len()` ports, of all flows' the first of which is `first`. Whether the notes
    /// have to be counted now.
    pub(crate) fn note(
        &mut self,
        flow: usize,
        first: usize,
        arrival: Arrival,
        hops: &[Time],
    ) -> bool {
        let row = usize::from(self.counts[flow]);
        self.counts[flow] += 1;
        self.arrivals[flow * ARRIVALS + row] = arrival;
        let begin = first * ARRIVALS + row * hops.len();
        self.hops[begin..begin + hops.len()].copy_from_slice(hops);
        row + 1 == ARRIVALS
    }

    /// The arrivals that were noted, which may be forgotten then, and the times at ports, one arrival after the other.
    pub(crate) fn take(&mut self, flow: usize, first: usize, hops: usize) -> (&[Arrival], &[Time]) {
        let count = usize::from(std::mem::take(&mut self.counts[flow]));
        let begin = flow * ARRIVALS;
        let times = first * ARRIVALS;
        (
            &self.arrivals[begin..begin + count],
            &self.hops[times..times + count * hops],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_keep_their_own_notes() {
        // One port, then two.
        let mut notes = Notes::new(2, 3);
        let arrival = |counter| Arrival {
            counter,
            ..Arrival::default()
        };
        let us = Time::microseconds;
        for counter in 1..ARRIVALS as u64 {
            let full = notes.note(1, 1, arrival(counter), &[us(counter as i64), us(100)]);
            assert!(!full);
        }
        assert!(!notes.note(0, 0, arrival(7), &[us(7)]));
        assert!(notes.note(1, 1, arrival(99), &[us(99), us(100)]));
        let (arrivals, hops) = notes.take(1, 1, 2);
        assert_eq!((arrivals.len(), hops.len()), (ARRIVALS, 2 * ARRIVALS));
        assert_eq!((arrivals[2].counter, hops[4]), (3, us(3)));
        let (arrivals, hops) = notes.take(0, 0, 1);
        assert_eq!((arrivals.len(), arrivals[0].counter), (1, 7));
        assert_eq!(hops, [us(7)]);
        assert!(notes.take(1, 1, 2).0.is_empty());
    }
}
