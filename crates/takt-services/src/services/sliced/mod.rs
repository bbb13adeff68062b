//! Services that run in slices: the first slice at once, the others as a task of the server ([`crate::slices`]).
//!
//! * [`service`]: the interface of a service in progress, and of one slice of it.
//! * [`first_slice`]: runs the first slice, and leaves the rest.
//! * [`request_task`]: the rest of a request, with the memory that it needs to continue.
//! * [`operation_list`]: services that execute a list of operations, one after another.
//! * [`read_write_call`]: Read, Write and Call, in up to three passes; [`pass`]: one of them.

pub(crate) mod first_slice;
pub(crate) mod operation_list;
mod pass;
pub(crate) mod read_write_call;
pub(crate) mod request_task;
pub(crate) mod service;
