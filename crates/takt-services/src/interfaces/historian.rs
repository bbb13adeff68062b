//! History of Variables and Events.

use std::sync::Arc;

use takt_space::{RemoteSource, RoleSet};
use takt_ua::NodeId;

/// The history that a server keeps, or forwards.
pub trait Historian: Send + Sync {
    /// Returns the source of the history that this server keeps of a Variable. `None`: the source of its value is asked, if that is
    /// another server.
    fn source(&self, node_id: &NodeId) -> Option<Arc<dyn RemoteSource>>;

    /// Returns the source of the history of Events that this server keeps of a notifier.
    fn event_source(&self, notifier: &NodeId) -> Option<Arc<dyn RemoteSource>> {
        let _ = notifier;
        None
    }

    /// Returns true if callers with these Roles may read Events, besides the permission ReadHistory of the notifier.
    fn may_read_events(&self, roles: RoleSet) -> bool {
        let _ = roles;
        true
    }

    /// Returns the AggregateFunctions of namespace 0 that all its sources support (OPC 10000-13, 4.2.2).
    fn aggregates(&self) -> Vec<u32>;

    /// Returns the maximum number of values of a Variable in one response.
    fn max_return_data_values(&self) -> u32;
}
