//! Events (OPC 10000-4, 7.22.3; OPC 10000-5, 6.4): from the application to the queues of MonitoredItems.
//!
//! * [`queue`]: the sink of the application, bounded, without waiting.
//! * [`filter`], [`operand`]: validation of EventFilters.
//! * [`evaluate`], [`convert`], [`like`]: the WHERE clause, with a bound on its effort ([`steps`]).
//! * [`notifiers`]: the nodes at which an Event is received; [`receivers`]: the clients that may receive it.
//! * [`selection`]: recorded Events.
//!
//! The engine of Subscriptions delivers Events to items.

mod convert;
mod evaluate;
pub(crate) mod filter;
mod like;
pub(crate) mod notifiers;
mod operand;
pub(crate) mod queue;
pub(crate) mod receivers;
pub(crate) mod selection;
mod steps;
