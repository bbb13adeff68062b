//! Worker threads of a Provider, so that a slow Method delays no other client.
//!
//! A Method on a worker is a [`RemoteSource`], like the nodes of another server: its requests are deferred, and the worker
//! answers them. Cells, stored values and inline Methods need no worker.
//!
//! * [`pool`]: the threads and their queue; knows no OPC UA.
//! * [`method`]: runs a Method for a [`RemoteRequest`](takt_space::RemoteRequest).

mod method;
mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use takt_space::{MethodHandler, RemoteMethod, RemoteRequest, RemoteSource};
use takt_ua::{NodeId, StatusCode};

use method::WorkerMethod;
use pool::{Pool, Refused};

/// Options of the workers of a Provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Largest number of threads. A thread is started when it is needed for the first time.
    pub threads: usize,
    /// Largest number of calls that wait for a thread; more get `BadTooManyOperations`.
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
    pool: Pool<Job>,
    last_key: AtomicU64,
}

impl Workers {
    pub(crate) fn new(options: WorkerOptions) -> Arc<Self> {
        Arc::new(Self {
            pool: Pool::new(options.threads, options.queue),
            last_key: AtomicU64::new(0),
        })
    }

    /// Returns a handler that runs the Method of `handler` on a worker.
    pub(crate) fn handler(self: &Arc<Self>, handler: &MethodHandler) -> MethodHandler {
        let MethodHandler::Local(method) = handler else {
            return handler.clone();
        };
        MethodHandler::Remote(RemoteMethod {
            source: Arc::new(OnWorker {
                key: self.last_key.fetch_add(1, Ordering::Relaxed),
                method: Arc::new(WorkerMethod::new(Arc::clone(method))),
                workers: Arc::clone(self),
            }),
            object_id: NodeId::NULL,
            method_id: NodeId::NULL,
            checks_arguments: false,
        })
    }

    /// Ends the threads that are idle, and all others after their current job. Waiting jobs are dropped.
    pub(crate) fn stop(&self) {
        self.pool.stop();
    }
}

/// A Method that runs on a worker.
struct OnWorker {
    key: u64,
    method: Arc<WorkerMethod>,
    workers: Arc<Workers>,
}

impl RemoteSource for OnWorker {
    fn key(&self) -> u64 {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let job = Job {
            method: Arc::clone(&self.method),
            request,
        };
        if let Err(Refused(job)) = self.workers.pool.submit(job) {
            job.answer(StatusCode::BadTooManyOperations);
        }
    }
}

/// The calls of one request.
struct Job {
    method: Arc<WorkerMethod>,
    request: RemoteRequest,
}

impl Job {
    fn answer(self, status: StatusCode) {
        let results = self.request.operations.failed(status);
        self.request.reply.answer(results);
    }
}

impl pool::Job for Job {
    fn run(self) {
        if !self.request.reply.is_awaited() {
            return;
        }
        if self.request.deadline <= Instant::now() {
            return self.answer(StatusCode::BadTimeout);
        }
        let results = self.method.run(&self.request);
        self.request.reply.answer(results);
    }
}
