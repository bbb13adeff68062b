//! Long work in slices, between which other connections are served. Services in slices are in `services/sliced`.
//!
//! * [`work`]: units of work, the limit of a slice, and the limit of a request.
//! * [`queues`]: the requests that wait for their next slice, one queue per connection.
//! * [`gate`]: a place at which a request waits until something has room for it.

pub(crate) mod gate;
pub(crate) mod queues;
pub(crate) mod work;
