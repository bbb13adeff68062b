//! Checks of namespaces and nodes: a namespace is named after a Provider, or a node was not added by a client.

use takt_app::model;
use takt_space::AddressSpace;
use takt_ua::NodeId;

/// Returns whether a namespace is the one whose URI names this Provider. If its URI is not known yet, it is added by the same operation,
/// and was authorized as a separate change.
pub(super) fn is_namespace_of(space: &AddressSpace, provider: &str, namespace: u16) -> bool {
    let own = space
        .namespaces()
        .index_or_next(&model::provider_uri(provider));
    own == Ok(namespace)
}

/// Returns whether a node exists and no client has added it.
pub(super) fn is_common(space: &AddressSpace, node: &NodeId) -> bool {
    let view = space.view();
    view.node(node)
        .is_some_and(|node| !node.is_added_by_change())
}
