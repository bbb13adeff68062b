//! Notes of arrived frames, which are counted in batches.
//!
//! The statistics of a flow with their histograms are spread over much memory. Those of thousands of flows do not fit into the
//! processor's caches, and the next frame usually belongs to another flow. So an arrival is only noted, beside the last ones of
//! its flow, and statistics are fetched once for many arrivals.

use crate::Time;

/// Number of arrivals of a flow that are noted before they are counted.
const ARRIVALS: usize = 16;

/// A frame that arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    pub(crate) counter: u64,
    pub(crate) handed_over: Time,
    pub(crate) published: Time,
    pub(crate) departed: Time,
    pub(crate) first_bit: Time,
    pub(crate) began: Time,
    pub(crate) arrived: Time,
}

/// Arrivals of each flow, in the order in which they happened.
#[derive(Debug)]
pub(crate) struct Notes {
    counts: Vec<u8>,
    /// Room for [`ARRIVALS`] arrivals of each flow.
    arrivals: Vec<Arrival>,
    /// Times that each arrival took at each port of the flow's way.
    hops: Vec<Time>,
}

impl Notes {
    /// Makes notes for so many flows, which pass so many ports in total.
    pub(crate) fn new(flows: usize, ports: usize) -> Self {
        Self {
            counts: vec![0; flows],
            arrivals: vec![Arrival::default(); flows * ARRIVALS],
            hops: vec![Time::ZERO; ports * ARRIVALS],
        }
    }

    /// Notes an arrival of a flow that passes `hops.len()` ports. `first` is the index of the first of these among the ports of
    /// all flows. Returns true if the notes have to be counted now.
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

    /// Returns the noted arrivals, and the times at ports, one arrival after the other. The arrivals may be overwritten
    /// afterwards.
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
    fn notes_of_flows_are_separate() {
        // The first flow passes one port, the second one two.
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
