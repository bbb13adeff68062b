//! Metadata of a WriterGroup that is sent beside its data, a few messages in each cycle, again until the link takes them.

use std::collections::VecDeque;

/// Greatest number of metadata messages in a flush whose messages leave together, if the data alone is a batch or more. Each one costs
/// memory of the longest message in the link.
const SHARE: usize = 16;
/// Longest time between two attempts after failures, in cycles. A link may be down for long, and each attempt allocates.
const LONGEST_PAUSE: u32 = 64;

/// Result of queueing a metadata message for the flush of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The link has it.
    Queued,
    /// The link does not take it now.
    Refused,
    /// There is no message to send, now or later.
    Nothing,
}

/// DataSetWriters whose metadata is to be sent once.
#[derive(Debug)]
pub(super) struct MetaDataRound {
    /// DataSetWriterIds.
    waiting: VecDeque<u16>,
    /// Number of the first ones that are in the flush of this cycle.
    queued: usize,
    /// True if the link has refused a message of this cycle.
    is_refused: bool,
    /// Greatest number of messages in a flush.
    share: usize,
    /// Number of messages in the next flush: less after failures, so that those which fit leave.
    next_share: usize,
    /// Number of cycles before the next attempt.
    pause: u32,
    /// Number of cycles before the attempt that follows the next failure.
    next_pause: u32,
}

impl Default for MetaDataRound {
    /// Returns a round that sends all metadata in one cycle.
    fn default() -> Self {
        Self::with_share(usize::MAX)
    }
}

impl MetaDataRound {
    /// Creates a round with this greatest number of messages in a flush.
    pub(super) const fn with_share(share: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            queued: 0,
            is_refused: false,
            share,
            next_share: share,
            pause: 0,
            next_pause: 1,
        }
    }

    /// Returns the number of metadata messages that a flush is to have room for, beside `messages` messages of data. `batch` is the
    /// number of messages for which the link has room in any case.
    pub(super) fn share(writers: usize, batch: usize, messages: usize) -> usize {
        writers.min(batch.saturating_sub(messages).max(SHARE))
    }

    /// Begins anew, with the metadata of these DataSetWriters.
    pub(super) fn begin(&mut self, data_set_writer_ids: impl Iterator<Item = u16>) {
        *self = Self::with_share(self.share);
        self.waiting.extend(data_set_writer_ids);
    }

    /// Returns true if no metadata waits.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Queues the messages of this cycle by `queue`. Returns true if the flush of this cycle decides about one.
    pub(super) fn attempt(&mut self, mut queue: impl FnMut(u16) -> Attempt) -> bool {
        if let Some(left) = self.pause.checked_sub(1) {
            self.pause = left;
            return false;
        }
        while self.queued < self.next_share
            && let Some(&id) = self.waiting.get(self.queued)
        {
            match queue(id) {
                Attempt::Queued => self.queued += 1,
                Attempt::Refused => {
                    self.is_refused = true;
                    break;
                }
                Attempt::Nothing => {
                    self.waiting.remove(self.queued);
                }
            }
        }
        self.queued > 0 || self.is_refused
    }

    /// Ends the cycle of an attempt. `is_lost` is true if the link has lost messages of this flush. Returns the number of metadata
    /// messages that are sent.
    pub(super) fn flushed(&mut self, is_lost: bool) -> u64 {
        let queued = std::mem::take(&mut self.queued).min(self.waiting.len());
        if is_lost || std::mem::take(&mut self.is_refused) {
            // The others come first: a message that never leaves must not hold them up.
            self.waiting.rotate_left(queued);
            self.is_refused = false;
            self.next_share = (queued.min(self.next_share) / 2).max(1);
            self.pause = self.next_pause;
            self.next_pause = (self.next_pause * 2).min(LONGEST_PAUSE);
            return 0;
        }
        self.waiting.drain(..queued);
        self.next_share = self.share;
        self.next_pause = 1;
        queued as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a cycle, and returns the ids that were queued.
    fn cycle(round: &mut MetaDataRound, is_lost: impl Fn(&[u16]) -> bool) -> Vec<u16> {
        let mut queued = Vec::new();
        let is_tried = round.attempt(|id| {
            queued.push(id);
            Attempt::Queued
        });
        if is_tried {
            round.flushed(is_lost(&queued));
        }
        queued
    }

    #[test]
    fn a_cycle_sends_its_share() {
        assert_eq!(MetaDataRound::share(17, 32, 17), 16);
        assert_eq!(MetaDataRound::share(17, 32, 1), 17);
        assert_eq!(MetaDataRound::share(100, 32, 1), 31);
        assert_eq!(MetaDataRound::share(100, 32, 500), 16);
        let mut round = MetaDataRound::with_share(2);
        round.begin([5, 6, 7].into_iter());
        assert_eq!(cycle(&mut round, |_| false), [5, 6]);
        assert_eq!(cycle(&mut round, |_| false), [7]);
        assert!(round.is_done());
    }

    #[test]
    fn lost_messages_are_sent_again_in_smaller_flushes_and_seldom() {
        let mut round = MetaDataRound::with_share(4);
        round.begin(0..6);
        // The link takes two messages at most, and never number 3.
        let is_lost = |queued: &[u16]| queued.len() > 2 || queued.contains(&3);
        let mut sent = Vec::new();
        let mut attempts = 0;
        for _ in 0..500 {
            let queued = cycle(&mut round, is_lost);
            attempts += usize::from(!queued.is_empty());
            if !queued.is_empty() && !is_lost(&queued) {
                sent.extend(queued);
            }
        }
        sent.sort_unstable();
        assert_eq!(sent, [0, 1, 2, 4, 5]);
        assert!((10..30).contains(&attempts), "{attempts}");
        assert!(!round.is_done());
    }

    #[test]
    fn a_refused_message_waits_and_one_that_cannot_be_made_does_not() {
        let mut round = MetaDataRound::default();
        round.begin([1, 2, 3].into_iter());
        let answer = |id| match id {
            1 => Attempt::Queued,
            2 => Attempt::Nothing,
            _ => Attempt::Refused,
        };
        assert!(round.attempt(answer));
        assert_eq!(round.flushed(false), 0);
        assert!(!round.attempt(answer));
        assert!(round.attempt(|_| Attempt::Queued));
        assert_eq!(round.flushed(false), 1);
        assert_eq!(cycle(&mut round, |_| false), [1]);
        assert!(round.is_done());
    }
}
