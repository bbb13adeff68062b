//! Audit (OPC 10000-4, 6.5): records of what clients do, for the application and as Events.
//!
//! * [`record`]: a record, and the interface of an application that takes records.
//! * [`event`]: a record as an Event.
//! * [`auditor`]: the receivers of a record.

pub(crate) mod auditor;
mod event;
pub(crate) mod record;
