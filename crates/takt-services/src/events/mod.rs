//! Events (OPC 10000-4, 7.22.3; OPC 10000-5, 6.4): from the application to the queues of MonitoredItems.
//!
//! * [`audit`]: audit records as Events.
//! * [`queue`]: the sink of the application, bounded, without waiting.
//! * [`filter`], [`operand`]: validation of EventFilters.
//! * [`evaluate`], [`convert`], [`like`]: the WHERE clause, with a bound on its effort ([`steps`]).
//! * [`notifiers`]: the nodes at which an Event is received.
//! * [`selection`]: recorded Events.
//! * [`dispatch`]: delivery to items, in slices.

pub(crate) mod audit;
mod convert;
pub(crate) mod dispatch;
mod evaluate;
pub(crate) mod filter;
mod like;
mod notifiers;
mod operand;
pub(crate) mod queue;
pub(crate) mod selection;
mod steps;
