//! Responses beside those that a service encodes at once: faults, and responses that are sent later.
//!
//! * [`fault`], [`message`]: the ServiceFault, and the ResponseHeader of all responses.
//! * [`pending`]: a request that is answered later; [`timeouts`]: at the latest when its TimeoutHint is over.
//! * [`completed`]: the responses that the transport has not taken yet.
//! * [`settled`]: the notice that the changes of a request are durable.
//! * [`deadline`]: the next moment at which something has to be done.

pub(crate) mod completed;
pub(crate) mod deadline;
pub(crate) mod fault;
pub(crate) mod message;
pub(crate) mod pending;
pub(crate) mod settled;
pub(crate) mod timeouts;
