//! State, sequence numbers and timeout of a DataSetReader (OPC 10000-14, 6.2.1 and 6.2.9.6).

use std::time::{Duration, Instant};

use takt_ua::DateTime;
use takt_ua::enumerations::PubSubState;

use super::DataSetReader;
use crate::sequence::{Order, SequenceNumber, SequenceNumbers};
use crate::state::Condition;
use crate::subscriber::data_set_kind::DataSetKind;

/// Time after which sequence numbers are forgotten if there is no MessageReceiveTimeout.
const FORGET_AFTER: Duration = Duration::from_secs(10);

impl DataSetReader {
    /// Returns the state of the reader, given that of the ReaderGroup.
    pub fn state(&self, group: PubSubState) -> PubSubState {
        crate::state::state(self.enabled, group, self.condition)
    }

    pub(in crate::subscriber) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        // The reader starts again.
        self.condition = Condition::Preparing;
        self.changes.note();
        self.last_received = None;
        self.has_key_frame = false;
        self.has_data = false;
        self.has_gap = false;
        self.silences.clear();
    }

    /// Notes that the messages of the reader are not protected.
    pub(in crate::subscriber) fn expect_unprotected(&mut self) {
        self.sequence_numbers = SequenceNumbers::unprotected();
    }

    /// Returns true if the reader takes messages.
    pub(in crate::subscriber) fn listens(&self, group: PubSubState) -> bool {
        let state = self.state(group);
        !matches!(state, PubSubState::Disabled | PubSubState::Paused)
            && group == PubSubState::Operational
    }

    /// Returns the importance of a discovered reader. The least important one makes room for others: first those with one message
    /// at most, as forged Publishers often have, and of them the one that was silent for longest.
    pub(in crate::subscriber) fn importance(&self) -> (bool, Option<Instant>) {
        (self.statistics.received > 1, self.last_received)
    }

    pub(in crate::subscriber) fn begins_at(&mut self, now: Instant) {
        self.last_received = Some(now);
    }

    /// Checks the sequence number of a message. Returns the number of messages missing before it; `None` if it is to be discarded.
    #[inline]
    pub(in crate::subscriber) fn accept(
        &mut self,
        number: Option<SequenceNumber>,
        kind: DataSetKind,
        now: Instant,
    ) -> Option<u32> {
        let forget_after = match self.message_receive_timeout {
            Duration::ZERO => FORGET_AFTER,
            // At least two times the KeepAliveTime, which is at most the timeout.
            timeout => timeout * 2,
        };
        let order = match (number, kind) {
            (None, _) => Order::New { missing: 0 },
            (Some(next), DataSetKind::KeepAlive) => {
                self.sequence_numbers.check_next(next, now, forget_after)
            }
            (Some(number), _) => self.sequence_numbers.check(number, now, forget_after),
        };
        let missing = match order {
            Order::New { missing } => missing,
            // A Publisher that counts anew does not tell how many messages were lost.
            Order::Restarted => 0,
            Order::Old => {
                self.statistics.discarded += 1;
                return None;
            }
        };
        self.statistics.received += 1;
        self.statistics.missing += u64::from(missing);
        self.has_gap |= missing > 0 || order == Order::Restarted;
        self.last_received = Some(now);
        Some(missing)
    }

    /// Notes that an accepted delta frame is discarded, because the unchanged fields are not known yet.
    #[cold]
    pub(in crate::subscriber) fn note_missing_key_frame(&mut self) {
        // `accept` has counted it already.
        self.statistics.received -= 1;
        self.statistics.without_key_frame += 1;
        // The values are those of other metadata, and not the current ones any more.
        self.has_data = false;
        self.set_condition(Condition::Preparing);
    }

    /// Notes a message that is invalid, or of an unknown kind.
    #[cold]
    pub(in crate::subscriber) fn note_unknown_kind(&mut self) {
        self.statistics.unknown_kind += 1;
    }

    /// Notes a message of this kind. The first key frame or event makes the reader Operational (OPC 10000-14, 6.2.1); until
    /// then, a message of another kind ends an error only.
    #[inline]
    pub(in crate::subscriber) fn note(&mut self, kind: DataSetKind) {
        if matches!(kind, DataSetKind::KeyFrame) {
            self.has_key_frame = true;
        }
        self.has_data |= matches!(kind, DataSetKind::KeyFrame | DataSetKind::Event);
        if self.has_data {
            self.set_condition(Condition::Ready);
        } else if self.condition == Condition::Failed {
            self.set_condition(Condition::Preparing);
        }
    }

    #[inline]
    fn set_condition(&mut self, condition: Condition) {
        if self.condition != condition {
            self.condition = condition;
            self.changes.note();
        }
    }

    /// Returns true once after lost messages.
    #[inline]
    pub(in crate::subscriber) fn take_gap(&mut self) -> bool {
        std::mem::take(&mut self.has_gap)
    }

    pub(in crate::subscriber) fn has_key_frame(&self) -> bool {
        self.has_key_frame
    }

    /// Returns the time at which MessageReceiveTimeout has passed.
    pub(in crate::subscriber) fn next_timeout(&self) -> Option<Instant> {
        if self.message_receive_timeout.is_zero() || self.condition != Condition::Ready {
            return None;
        }
        self.last_received?
            .checked_add(self.message_receive_timeout)
    }

    /// Sets the state Error after MessageReceiveTimeout, until the next message (OPC 10000-14, 6.2.9.6).
    pub(in crate::subscriber) fn handle_timeout(&mut self, now: Instant) {
        if self.next_timeout().is_some_and(|timeout| now >= timeout) {
            self.set_condition(Condition::Failed);
            self.statistics.timeouts += 1;
        }
    }

    /// Sets the state Error after a message that cannot be used, until the next one that can.
    pub(in crate::subscriber) fn fail(&mut self) {
        self.set_condition(Condition::Failed);
    }

    /// Notes a message that cannot be decoded: the values are not the current ones any more, if there were any.
    #[cold]
    pub(in crate::subscriber) fn note_lost(&mut self) {
        self.statistics.undecodable += 1;
        self.has_gap = true;
        if self.condition == Condition::Ready {
            self.fail();
        }
    }

    /// Notes a message with fields that cannot be decoded.
    #[cold]
    pub(in crate::subscriber) fn note_unreadable(&mut self) {
        self.statistics.undecodable += 1;
    }

    /// Returns the state if it is new, and writes the values that targets have in it.
    pub(in crate::subscriber) fn take_new_state(
        &mut self,
        group: PubSubState,
        now: DateTime,
    ) -> Option<PubSubState> {
        let state = self.state(group);
        if state == self.told {
            return None;
        }
        self.told = state;
        for target in &mut self.targets {
            // An error of the target is reported with the next value.
            let _ = target.write_state(state, now);
        }
        Some(state)
    }
}
