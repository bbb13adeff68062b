//! Events of the registry: those of its Providers and mirrors, changes of its nodes (`rules/model_changes`), and servers that come
//! and go.
//!
//! * [`forwarder`]: while clients monitor Events, one Subscription at each server, whose Events are reported here.
//! * [`link`]: one of these Subscriptions.
//! * [`fields`]: the fields that are selected there.
//! * [`translation`]: NodeIds and names of the registry in these Events.
//! * [`kept`]: the Conditions that clients still have to see, in a file for the next run.
//! * [`unknown`]: Conditions whose states are not known, until the next Subscription tells them.
//! * [`conditions`]: Methods of Conditions, forwarded to the server of the Condition.

mod conditions;
mod fields;
mod forwarder;
mod kept;
mod link;
mod translation;
mod unknown;

pub(crate) use conditions::bind_methods;
pub(crate) use fields::is_standard_field;
pub(crate) use forwarder::Forwarder;
pub(crate) use kept::KeptConditions;
