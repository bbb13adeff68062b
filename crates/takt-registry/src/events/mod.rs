//! Events of the registry: those of its Providers, changes of its nodes, and Providers that come and go.
//!
//! * [`forwarder`]: while clients monitor Events, one Subscription at each Provider, whose Events are reported here.
//! * [`conditions`]: Methods of Conditions, forwarded to the Provider of the Condition.
//! * [`model_changes`]: changes of nodes, reported together as GeneralModelChangeEvents.

mod conditions;
mod fields;
mod forwarder;
mod model_changes;
mod upstream;

pub(crate) use conditions::bind_methods;
pub(crate) use forwarder::Forwarder;
pub(crate) use model_changes::ModelChanges;
pub(crate) use upstream::Upstream;
