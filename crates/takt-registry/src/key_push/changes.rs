//! Changes of push targets, as Methods ask for them.

use takt_ua::structures::PubSubKeyPushTargetDataType;
use takt_ua::{NodeId, StatusCode};

/// Changes of push targets. Errors are the results of the Methods.
pub(super) trait PushTargetChanges: Send + Sync {
    /// Handles `AddPushTarget` (OPC 10000-14, 8.7.2). A target with the same parameters may exist.
    fn add(&self, wanted: PubSubKeyPushTargetDataType) -> Result<NodeId, StatusCode>;

    /// Handles `RemovePushTarget` (OPC 10000-14, 8.7.3).
    fn remove(&self, node: &NodeId) -> Result<(), StatusCode>;

    /// Handles `ConnectSecurityGroups` (OPC 10000-14, 8.6.3), or `DisconnectSecurityGroups` (OPC 10000-14, 8.6.4).
    fn connect(
        &self,
        uri: &str,
        group_ids: &[NodeId],
        connects: bool,
    ) -> Result<Vec<StatusCode>, StatusCode>;

    /// Handles `TriggerKeyUpdate` (OPC 10000-14, 8.6.5).
    fn trigger(&self, uri: &str) -> Result<(), StatusCode>;
}
