//! Clients for asynchronous programs, on the runtime tokio (feature `async`).
//!
//! [`AsyncClient`] is a session for many concurrent requests, [`AsyncSubscription`] a stream of notifications. The protocol
//! is that of the blocking [`Client`](crate::Client): both share each line above the socket, and have the same options and
//! errors. Secured connections, reconnection, resumed sessions and restored Subscriptions need nothing else. Shared memory
//! (`opc.iox2://`) has no asynchronous client: a Read there takes less time than the change of a task.
//!
//! Checks of signatures at a new channel take a few milliseconds of the thread that polls; files, names and new keys are
//! left to threads of the runtime that may wait.

mod client;
mod publisher;
mod services;
mod subscription;
mod transport;

pub use client::AsyncClient;
pub use subscription::AsyncSubscription;
