//! Requests with more operations than the server takes at once: they are divided, and their results put together again.
//!
//! A server that refuses a request for its number of operations (`BadTooManyOperations`, OPC 10000-4, 7.38.2) has executed
//! none of them. Its limits are learned from such refusals.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_space::{RemoteOperations, RemoteReply, RemoteResults};
use takt_ua::structures::{CallMethodResult, HistoryReadResult};
use takt_ua::{DataValue, StatusCode};

/// Largest numbers of operations that are sent in one request of a session.
#[derive(Debug)]
pub(super) struct Limits {
    read: usize,
    write: usize,
    call: usize,
    history: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read: usize::MAX,
            write: usize::MAX,
            call: usize::MAX,
            history: usize::MAX,
        }
    }
}

impl Limits {
    /// Returns true if the server takes that many operations, as far as is known.
    pub(super) fn allow(&mut self, operations: &RemoteOperations) -> bool {
        operations.len() <= *self.of(operations)
    }

    /// Notes that the server has refused these operations. Returns true if fewer of them can be sent.
    pub(super) fn shrink(&mut self, operations: &RemoteOperations) -> bool {
        let half = operations.len() / 2;
        if half == 0 {
            return false;
        }
        let limit = self.of(operations);
        // Refusals may arrive in any order: the smallest number stands.
        *limit = half.min(*limit);
        true
    }

    fn of(&mut self, operations: &RemoteOperations) -> &mut usize {
        match operations {
            RemoteOperations::Read(_) => &mut self.read,
            RemoteOperations::Write(_) => &mut self.write,
            RemoteOperations::Call(_) => &mut self.call,
            RemoteOperations::History(_) => &mut self.history,
        }
    }
}

/// Part of a request.
pub(super) struct Half {
    pub(super) operations: RemoteOperations,
    pub(super) reply: Box<dyn RemoteReply>,
}

/// Divides a request into two, in the order of the operations. `reply` gets the results of both.
pub(super) fn halves(mut operations: RemoteOperations, reply: Box<dyn RemoteReply>) -> [Half; 2] {
    let middle = operations.len().div_ceil(2);
    let rest = match &mut operations {
        RemoteOperations::Read(all) => RemoteOperations::Read(all.split_off(middle)),
        RemoteOperations::Write(all) => RemoteOperations::Write(all.split_off(middle)),
        RemoteOperations::Call(all) => RemoteOperations::Call(all.split_off(middle)),
        RemoteOperations::History(all) => RemoteOperations::History(all.split_off(middle)),
    };
    let whole = Arc::new(Mutex::new(Whole {
        reply: Some(reply),
        results: [None, None],
        middle,
    }));
    let mut place = 0..2;
    [operations, rest].map(|operations| Half {
        operations,
        reply: Box::new(HalfReply {
            whole: Arc::clone(&whole),
            place: place.next().unwrap_or_default(),
        }),
    })
}

/// Request that was divided.
struct Whole {
    /// `None` once it is answered.
    reply: Option<Box<dyn RemoteReply>>,
    results: [Option<RemoteResults>; 2],
    /// Number of operations of the first half.
    middle: usize,
}

/// Receiver of the results of a half. If it is dropped without an answer, so is the receiver of the whole.
struct HalfReply {
    whole: Arc<Mutex<Whole>>,
    place: usize,
}

impl HalfReply {
    fn whole(&self) -> MutexGuard<'_, Whole> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteReply for HalfReply {
    fn is_awaited(&self) -> bool {
        let whole = self.whole();
        whole.reply.as_ref().is_some_and(|reply| reply.is_awaited())
    }

    fn answer(self: Box<Self>, results: RemoteResults) {
        let mut whole = self.whole();
        if let Some(place) = whole.results.get_mut(self.place) {
            *place = Some(results);
        }
        if whole.results.iter().any(Option::is_none) {
            return;
        }
        let results = std::mem::take(&mut whole.results);
        let (reply, middle) = (whole.reply.take(), whole.middle);
        // The receiver may take its time.
        drop(whole);
        if let (Some(reply), [Some(first), Some(second)]) = (reply, results) {
            reply.answer(joined(first, second, middle));
        }
    }
}

/// Returns the results of both halves. The second ones begin at `middle`, also if some of the first ones are missing.
fn joined(first: RemoteResults, second: RemoteResults, middle: usize) -> RemoteResults {
    fn append<T: Clone>(mut first: Vec<T>, second: Vec<T>, middle: usize, missing: T) -> Vec<T> {
        first.resize(middle, missing);
        first.extend(second);
        first
    }
    let missing = StatusCode::BadNoCommunication;
    match (first, second) {
        (RemoteResults::Read(first), RemoteResults::Read(second)) => {
            RemoteResults::Read(append(first, second, middle, DataValue::status(missing)))
        }
        (RemoteResults::Write(first), RemoteResults::Write(second)) => {
            RemoteResults::Write(append(first, second, middle, missing))
        }
        (RemoteResults::Call(first), RemoteResults::Call(second)) => {
            let missing = CallMethodResult {
                status_code: missing,
                ..CallMethodResult::default()
            };
            RemoteResults::Call(append(first, second, middle, missing))
        }
        (RemoteResults::History(first), RemoteResults::History(second)) => {
            let missing = HistoryReadResult {
                status_code: missing,
                ..HistoryReadResult::default()
            };
            RemoteResults::History(append(first, second, middle, missing))
        }
        // Both are results of the same service.
        (first, _) => first,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use takt_space::RemoteWrite;
    use takt_ua::NodeId;

    use super::*;

    struct Reply(Sender<RemoteResults>);

    impl RemoteReply for Reply {
        fn is_awaited(&self) -> bool {
            true
        }

        fn answer(self: Box<Self>, results: RemoteResults) {
            self.0.send(results).unwrap();
        }
    }

    fn writes(numbers: std::ops::Range<u32>) -> RemoteOperations {
        let write = |number| RemoteWrite {
            node_id: NodeId::from(number),
            attribute_id: 13,
            index_range: String::new(),
            value: DataValue::default(),
        };
        RemoteOperations::Write(numbers.map(write).collect())
    }

    fn divided(numbers: std::ops::Range<u32>) -> ([Half; 2], Receiver<RemoteResults>) {
        let (sender, receiver) = channel();
        (halves(writes(numbers), Box::new(Reply(sender))), receiver)
    }

    #[test]
    fn results_of_halves_have_the_order_of_the_operations() {
        let ([first, second], answers) = divided(0..5);
        assert_eq!(first.operations, writes(0..3));
        assert_eq!(second.operations, writes(3..5));
        // A half is divided again.
        let [third, fourth] = halves(second.operations, second.reply);
        assert!(first.reply.is_awaited() && fourth.reply.is_awaited());
        let good = StatusCode::Good;
        fourth
            .reply
            .answer(RemoteResults::Write(vec![StatusCode::BadOutOfRange]));
        third.reply.answer(RemoteResults::Write(vec![good]));
        assert!(answers.try_recv().is_err());
        // A server answers with too few results.
        first
            .reply
            .answer(RemoteResults::Write(vec![good, StatusCode::BadNotWritable]));
        let expected = vec![
            good,
            StatusCode::BadNotWritable,
            StatusCode::BadNoCommunication,
            good,
            StatusCode::BadOutOfRange,
        ];
        assert_eq!(answers.recv().unwrap(), RemoteResults::Write(expected));
    }

    #[test]
    fn a_half_without_an_answer_leaves_the_whole_without_one() {
        let ([first, second], answers) = divided(0..2);
        first
            .reply
            .answer(RemoteResults::Write(vec![StatusCode::Good]));
        drop(second);
        assert!(answers.recv().is_err());
    }

    #[test]
    fn limits_are_halves_of_refused_numbers_for_each_service() {
        let mut limits = Limits::default();
        assert!(limits.allow(&writes(0..1000)));
        assert!(limits.shrink(&writes(0..100)));
        assert!(limits.allow(&writes(0..50)) && !limits.allow(&writes(0..51)));
        assert!(limits.allow(&RemoteOperations::Call(Vec::new())));
        assert!(!limits.shrink(&writes(0..1)));
        assert!(limits.allow(&writes(0..50)));
    }
}
