//! Subscriptions and MonitoredItems (OPC 10000-4, 5.13 and 5.14).
//!
//! The engine has no clock and no thread: services and [`Server::tick`] hand it the time, and [`Subscriptions::next_deadline`]
//! returns the time of the next call. Samples wait in the queues of the MonitoredItems. They are published in the responses to
//! Publish requests, which wait here and are answered like other deferred requests.
//!
//! * A Variable with a stored value reports by exception if its sampling interval is 0: every value that is set is queued, on
//!   the thread that sets it. All other items are sampled, not more often than the budgets allow.
//! * Items of the attribute EventNotifier get Events ([`crate::events`]), which are not sampled.
//! * All queues are bounded: [`SubscriptionBudgets`](crate::SubscriptionBudgets).

mod abandoned;
mod absence;
mod agenda;
mod counts;
mod diagnostics;
mod engine;
pub(crate) mod event_dispatch;
pub(crate) mod event_items;
pub(crate) mod filter;
mod groups;
pub(crate) mod item;
mod lifecycle;
mod list;
pub(crate) mod load;
mod message;
mod now;
mod publish;
mod publish_request;
mod queue;
pub(crate) mod ready;
mod removed;
mod retransmission;
pub(crate) mod revise;
mod room;
pub(crate) mod sample;
pub(crate) mod sampler;
mod session_memory;
mod session_queue;
mod sessions;
mod shared;
pub(crate) mod slice;
mod snapshots;
mod state;
mod subscription;
mod tick;

pub(crate) use engine::Engine;
pub(crate) use now::Now;
pub(crate) use publish_request::PublishRequest;
pub(crate) use removed::Removed;
pub(crate) use revise::Revised;
pub(crate) use session_memory::SessionMemory;
pub(crate) use shared::Subscriptions;
pub(crate) use snapshots::OfSession;
pub(crate) use subscription::{SavedSubscription, Subscription};
