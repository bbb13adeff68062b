//! Nodes of ServerConfiguration that are optional (OPC 10000-12, 7.10.3), so that namespace 0 does not have them.

use takt_space::{AddressSpace, AddressSpaceError, NodeAccess, UserRole};
use takt_ua::enumerations::PermissionType as P;
use takt_ua::{NodeId, QualifiedName, ids};

/// A scalar, and an array of one dimension (ValueRank).
const SCALAR: i32 = -1;
const ARRAY: i32 = 1;

/// Adds the optional nodes that are used, unless they exist.
pub(super) fn add(space: &AddressSpace) -> Result<(), AddressSpaceError> {
    let is_missing = |id: u32| space.view().node(&NodeId::from(id)).is_none();
    for (name, id) in [
        (
            "HasSecureElement",
            ids::SERVER_CONFIGURATION_HAS_SECURE_ELEMENT,
        ),
        (
            "SupportsTransactions",
            ids::SERVER_CONFIGURATION_SUPPORTS_TRANSACTIONS,
        ),
    ] {
        if is_missing(id) {
            space
                .add_variable(QualifiedName::new(0, name))
                .node_id(id)
                .property_of(ids::SERVER_CONFIGURATION)
                .data_type(ids::BOOLEAN)
                .add()?;
        }
    }
    let method = |name: &str, id: u32| {
        space
            .add_method(QualifiedName::new(0, name))
            .node_id(id)
            .component_of(ids::SERVER_CONFIGURATION)
            .access(for_everybody())
    };
    if is_missing(ids::SERVER_CONFIGURATION_CANCEL_CHANGES) {
        method("CancelChanges", ids::SERVER_CONFIGURATION_CANCEL_CHANGES).add()?;
    }
    if is_missing(ids::SERVER_CONFIGURATION_GET_CERTIFICATES) {
        method(
            "GetCertificates",
            ids::SERVER_CONFIGURATION_GET_CERTIFICATES,
        )
        .input("CertificateGroupId", ids::NODE_ID, SCALAR)
        .output("CertificateTypeIds", ids::NODE_ID, ARRAY)
        .output("Certificates", ids::BYTE_STRING, ARRAY)
        .add()?;
    }
    Ok(())
}

/// Returns the access to a Method that checks its callers itself, as those of namespace 0 do.
fn for_everybody() -> NodeAccess {
    let mut access = NodeAccess::default();
    let permissions = P::Browse | P::ReadRolePermissions | P::Call;
    access.grant(UserRole::Anonymous, permissions);
    access
}
