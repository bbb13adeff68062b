//! Worker threads of a Provider, so that a slow Method or callback delays no other client.
//!
//! A Method or callback on a worker is a [`RemoteSource`](takt_space::RemoteSource), like a node of another server: its requests
//! are deferred, and the worker answers them. Cells, stored values, inline Methods and inline callbacks need no worker.
//!
//! * [`pool`]: the threads, and the jobs that wait for them; [`places`]: their number; [`deadlines`]: the end of their wait.
//! * [`task`]: a request and its results; [`queue`] accepts it.
//! * [`method`]: Methods; [`variable`]: callbacks of Variables.

mod deadlines;
mod method;
mod places;
mod pool;
mod queue;
mod task;
mod variable;

use std::sync::Arc;

use takt_space::{MethodHandler, RemoteMethod, Value};
use takt_ua::NodeId;

use method::WorkerMethod;
use queue::Queue;
use variable::Variables;

/// Options of the workers of a Provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Largest number of threads. A thread is started when it is needed for the first time.
    pub threads: usize,
    /// Largest number of requests that wait for a thread; the operations of more get `BadTooManyOperations`. The Variables of a
    /// Read or Write count as one request, and so does each Method of a Call.
    pub queue: usize,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            threads: 4,
            queue: 64,
        }
    }
}

/// The workers of a Provider.
pub(crate) struct Workers {
    queue: Arc<Queue>,
    variables: Arc<Variables>,
}

impl Workers {
    pub(crate) fn new(options: WorkerOptions) -> Self {
        let queue = Arc::new(Queue::new(options.threads, options.queue));
        Self {
            variables: Variables::new(&queue),
            queue,
        }
    }

    /// Returns a handler that runs the Method of `handler` on a worker.
    pub(crate) fn handler(&self, handler: &MethodHandler) -> MethodHandler {
        let MethodHandler::Local(method) = handler else {
            return handler.clone();
        };
        MethodHandler::Remote(RemoteMethod {
            source: Arc::new(WorkerMethod::new(method, &self.queue)),
            object_id: NodeId::NULL,
            method_id: NodeId::NULL,
            checks_arguments: false,
            takes_unknown_objects: false,
        })
    }

    /// Returns the same value, but a callback runs on a worker.
    pub(crate) fn value(&self, value: Value) -> Value {
        match value {
            Value::Callback(callback) => Value::Remote(self.variables.add(&callback)),
            other => other,
        }
    }

    /// Ends the threads that are idle, and all others after their current call. Waiting requests get no answer.
    pub(crate) fn stop(&self) {
        self.queue.stop();
    }
}
