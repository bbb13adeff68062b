//! Entry of the workers: requests get a place and a deadline, and their jobs a thread.

use std::sync::Arc;
use std::time::Instant;

use takt_space::RemoteRequest;
use takt_ua::StatusCode;

use super::deadlines::Deadlines;
use super::places::Places;
use super::pool::{Job, Pool};
use super::task::Task;

/// The threads, the places in their queue, and the deadlines of what waits.
pub(super) struct Queue {
    pool: Pool,
    places: Arc<Places>,
    deadlines: Arc<Deadlines<Task>>,
}

impl Queue {
    /// Creates a queue with `waiting` places beside those of the threads.
    pub(super) fn new(threads: usize, waiting: usize) -> Self {
        let threads = threads.max(1);
        Self {
            pool: Pool::new(threads),
            places: Places::new(threads.saturating_add(waiting)),
            deadlines: Arc::new(Deadlines::new()),
        }
    }

    /// Accepts a request; without room for it, answers it with `BadTooManyOperations` and returns `None`.
    ///
    /// Samples of MonitoredItems need no room: there is one for each item at most.
    pub(super) fn accept(
        &self,
        request: RemoteRequest,
        deadline: Option<Instant>,
    ) -> Option<Arc<Task>> {
        let place = match request.caller {
            Some(_) => match self.places.take() {
                None => {
                    let refused = StatusCode::BadTooManyOperations;
                    request.reply.answer(request.operations.failed(refused));
                    return None;
                }
                place => place,
            },
            None => None,
        };
        let task = Arc::new(Task::new(request, place, &self.deadlines));
        if let Some(deadline) = deadline {
            task.set_key(self.deadlines.add(deadline, &task));
        }
        Some(task)
    }

    /// Queues a job. Returns false if no thread can run it.
    pub(super) fn submit(&self, job: Arc<dyn Job>) -> bool {
        self.pool.submit(job)
    }

    /// Ends the threads that are idle, and all others after their current job. Waiting requests get no answer.
    pub(super) fn stop(&self) {
        self.pool.stop();
        self.deadlines.stop();
    }
}
