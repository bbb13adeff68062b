//! Callbacks of Variables. A callback runs on one worker at a time, so one that hangs keeps one worker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use takt_space::{
    RemoteOperations, RemoteRequest, RemoteSource, RemoteValue, RemoteWrite, SourceKey, ValueSource,
};
use takt_ua::{DataValue, DateTime, NodeId, NumericRange, StatusCode};

use super::pool::{Job, Rest};
use super::queue::Queue;
use super::task::{Outcome, Task};

/// All callbacks on workers. They are one source, so that a Read of many Variables takes one place in the queue.
pub(super) struct Variables {
    key: SourceKey,
    queue: Arc<Queue>,
    /// The callbacks, by their numbers.
    lines: RwLock<Vec<Arc<Line>>>,
}

impl Variables {
    pub(super) fn new(queue: &Arc<Queue>) -> Arc<Self> {
        Arc::new(Self {
            key: SourceKey::new(),
            queue: Arc::clone(queue),
            lines: RwLock::default(),
        })
    }

    /// Adds a callback and returns it as a value.
    pub(super) fn add(self: &Arc<Self>, callback: &Arc<dyn ValueSource>) -> RemoteValue {
        let mut lines = self.lines.write().unwrap_or_else(PoisonError::into_inner);
        let number = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        lines.push(Arc::new(Line {
            callback: Arc::clone(callback),
            state: Mutex::default(),
        }));
        RemoteValue {
            source: Arc::clone(self) as Arc<dyn RemoteSource>,
            node_id: NodeId::numeric(0, number),
            callback: Some(Arc::clone(callback)),
        }
    }

    /// Returns the callback of an operation.
    fn line(&self, operations: &RemoteOperations, index: usize) -> Option<Arc<Line>> {
        let node = match operations {
            RemoteOperations::Read(reads) => &reads.get(index)?.node_id,
            RemoteOperations::Write(writes) => &writes.get(index)?.node_id,
            RemoteOperations::Call(_) | RemoteOperations::History(_) => return None,
        };
        let number = usize::try_from(node.standard_id()?).ok()?;
        let lines = self.lines.read().unwrap_or_else(PoisonError::into_inner);
        lines.get(number).cloned()
    }
}

impl RemoteSource for Variables {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let deadline = request.deadline;
        let Some(task) = self.queue.accept(request, Some(deadline)) else {
            return;
        };
        let mut to_queue = Vec::new();
        for index in 0..task.operations.len() {
            match self.line(&task.operations, index) {
                Some(line) if line.push(&task, index) => to_queue.push(line),
                Some(_) => {}
                None => task.fail(StatusCode::BadInternalError),
            }
        }
        // No worker begins before all operations wait, so that those of one callback share a value.
        for line in to_queue {
            if !self.queue.submit(Arc::clone(&line) as Arc<dyn Job>) {
                line.refuse();
            }
        }
    }
}

/// A callback, and the operations that wait for it.
struct Line {
    callback: Arc<dyn ValueSource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    /// True while a worker has the callback, or will have it.
    is_queued: bool,
}

/// An operation that waits. The list of deadlines keeps its request until it is answered.
struct Waiting {
    task: Weak<Task>,
    index: usize,
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an operation. Returns true if the callback has to be queued for a worker.
    fn push(&self, task: &Arc<Task>, index: usize) -> bool {
        let mut state = self.state();
        if state.waiting.len() == state.waiting.capacity() {
            // Requests that have been answered meanwhile do not pile up behind a callback that hangs.
            state.waiting.retain(|one| one.task.strong_count() > 0);
        }
        let task = Arc::downgrade(task);
        state.waiting.push(Waiting { task, index });
        !std::mem::replace(&mut state.is_queued, true)
    }

    fn take(&self) -> Vec<Waiting> {
        std::mem::take(&mut self.state().waiting)
    }

    /// Ends the operations that wait, because no thread can be started.
    fn refuse(&self) {
        for waiting in self.take() {
            if let Some(task) = waiting.task.upgrade() {
                task.fail(StatusCode::BadTooManyOperations);
            }
        }
        self.state().is_queued = false;
    }

    /// Carries out an operation. `last` is the value of the last call, for the operations that waited before it began.
    fn operate(&self, task: &Task, index: usize, last: &mut Option<DataValue>) -> Option<Outcome> {
        Some(match &task.operations {
            RemoteOperations::Read(reads) => {
                let range = &reads.get(index)?.index_range;
                let value = last.get_or_insert_with(|| self.read());
                Outcome::Read(part(value, range))
            }
            RemoteOperations::Write(writes) => {
                // Reads behind the Write get the new value.
                *last = None;
                let written = self.write(writes.get(index)?);
                Outcome::Write(written.err().unwrap_or(StatusCode::Good))
            }
            RemoteOperations::Call(_) | RemoteOperations::History(_) => return None,
        })
    }

    fn read(&self) -> DataValue {
        // Before the call: the value is not older than this time.
        let now = DateTime::now();
        // The worker goes on after a panic of the callback, and the client gets an answer.
        let mut value = catch_unwind(AssertUnwindSafe(|| self.callback.read()))
            .unwrap_or_else(|_| DataValue::status(StatusCode::BadInternalError));
        value.source_timestamp.get_or_insert(now);
        value
    }

    fn write(&self, write: &RemoteWrite) -> Result<(), StatusCode> {
        let mut value = write.value.clone();
        if let Some(range) = NumericRange::of_request(Some(&write.index_range))? {
            let part = value.value.take().unwrap_or_default();
            let whole = self.read().value;
            let mut whole = whole.ok_or(StatusCode::BadIndexRangeNoData)?;
            range.write(&mut whole, &part)?;
            value.value = Some(whole);
        }
        let status = catch_unwind(AssertUnwindSafe(|| self.callback.write(&value)))
            .unwrap_or(StatusCode::BadInternalError);
        match status {
            StatusCode::Good => Ok(()),
            status => Err(status),
        }
    }
}

impl Job for Line {
    fn run(&self) -> Rest {
        let mut last = None;
        for waiting in self.take() {
            let Some(task) = waiting.task.upgrade() else {
                continue;
            };
            let outcome = match task.begin() {
                true => self.operate(&task, waiting.index, &mut last),
                false => None,
            };
            match outcome {
                Some(outcome) => task.put(waiting.index, outcome),
                None => task.fail(StatusCode::BadInternalError),
            }
        }
        let mut state = self.state();
        // Under the lock: an operation that comes after this queues the callback again.
        state.is_queued = !state.waiting.is_empty();
        match state.is_queued {
            true => Rest::Queued,
            false => Rest::None,
        }
    }
}

/// Returns the part of a value that an IndexRange names.
fn part(value: &DataValue, range: &str) -> DataValue {
    let range = match NumericRange::of_request(Some(range)) {
        Ok(range) => range,
        Err(status) => return DataValue::status(status),
    };
    let mut value = value.clone();
    if let (Some(range), Some(whole)) = (range, &value.value) {
        match range.read(whole) {
            Ok(part) => value.value = Some(part),
            Err(status) => return DataValue::status(status),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    use takt_space::{Caller, RemoteRead, RemoteReply, RemoteResults};

    use super::*;

    /// A callback that says that it runs, and returns the next value of its gate.
    struct Gated(Sender<()>, Mutex<Receiver<u32>>);

    impl ValueSource for Gated {
        fn read(&self) -> DataValue {
            let _ = self.0.send(());
            DataValue::good(self.1.lock().unwrap().recv().unwrap_or_default())
        }
    }

    struct Reply(Sender<RemoteResults>);

    impl RemoteReply for Reply {
        fn is_awaited(&self) -> bool {
            true
        }

        fn answer(self: Box<Self>, results: RemoteResults) {
            let _ = self.0.send(results);
        }
    }

    struct Setting {
        variables: Arc<Variables>,
        value: RemoteValue,
        entered: Receiver<()>,
        open: Sender<u32>,
    }

    /// A callback on one worker, with `waiting` places in its queue.
    fn setting(waiting: usize) -> Setting {
        let variables = Variables::new(&Arc::new(Queue::new(1, waiting)));
        let (enter, entered) = channel();
        let (open, gate) = channel();
        let callback: Arc<dyn ValueSource> = Arc::new(Gated(enter, Mutex::new(gate)));
        Setting {
            value: variables.add(&callback),
            variables,
            entered,
            open,
        }
    }

    impl Setting {
        /// Forwards a Read with this much time.
        fn read(&self, time: Duration) -> Receiver<RemoteResults> {
            let (answer, answered) = channel();
            let read = RemoteRead {
                node_id: self.value.node_id.clone(),
                index_range: String::new(),
                max_age: 0.0,
            };
            self.variables.forward(RemoteRequest {
                operations: RemoteOperations::Read(vec![read]),
                client: 1,
                caller: Some(Arc::new(Caller::local())),
                size: 0,
                deadline: Instant::now() + time,
                hint: None,
                reply: Box::new(Reply(answer)),
            });
            answered
        }
    }

    fn value(answered: &Receiver<RemoteResults>) -> Result<u32, StatusCode> {
        let RemoteResults::Read(values) = answered.recv().unwrap() else {
            panic!("a Read");
        };
        match values[0].value {
            Some(takt_ua::Variant::UInt32(value)) => Ok(value),
            _ => Err(values[0].status_code()),
        }
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn reads_that_wait_share_the_next_value() {
        let setting = setting(64);
        let first = setting.read(LONG);
        setting.entered.recv().unwrap();
        // The value of the running call may be older than these.
        let others = [(); 3].map(|()| setting.read(LONG));
        setting.open.send(1).unwrap();
        setting.open.send(2).unwrap();
        assert_eq!(value(&first), Ok(1));
        assert_eq!(others.map(|other| value(&other)), [Ok(2); 3]);
        setting.entered.recv().unwrap();
        assert!(setting.entered.try_recv().is_err(), "two calls");
    }

    #[test]
    fn answered_reads_leave_their_places_to_others_while_the_callback_hangs() {
        let setting = setting(1);
        loop {
            let first = setting.read(Duration::from_millis(1));
            assert_eq!(value(&first), Err(StatusCode::BadTimeout));
            // A Read whose time ends before the worker takes it does not reach the callback.
            let entered = setting.entered.recv_timeout(Duration::from_millis(100));
            if entered.is_ok() {
                break;
            }
        }
        // The worker keeps the place of the first one; the second waits, and the third is too many.
        for _ in 0..100 {
            let second = setting.read(Duration::from_millis(1));
            assert_eq!(value(&second), Err(StatusCode::BadTimeout));
        }
        let last = setting.read(LONG);
        let third = setting.read(LONG);
        assert_eq!(value(&third), Err(StatusCode::BadTooManyOperations));
        setting.open.send(1).unwrap();
        setting.open.send(2).unwrap();
        assert_eq!(value(&last), Ok(2));
    }
}
