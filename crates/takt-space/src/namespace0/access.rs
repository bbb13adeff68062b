//! Access to standard nodes that are not for everybody: diagnostics of single clients.

use std::sync::LazyLock;

use takt_ua::enumerations::{AccessRestrictionType, PermissionType};
use takt_ua::ids;

use crate::node_access::NodeAccess;
use crate::role::UserRole;

/// Names and counts of other clients: for engineers and administrators.
static DIAGNOSTICS: LazyLock<NodeAccess> = LazyLock::new(|| {
    readable_by(&[
        UserRole::Engineer,
        UserRole::ConfigureAdmin,
        UserRole::SecurityAdmin,
    ])
});

/// Permissions of the standard's NodeSet for Variables that are for one Role: all but those of the history.
const ALL_OF_A_VARIABLE: u32 = 0xE7FF;

/// Users and certificates of other clients (OPC 10000-5, 12.12): as the standard's NodeSet has it, for administrators of security
/// only, on channels that are signed and encrypted.
static SECURITY_DIAGNOSTICS: LazyLock<NodeAccess> = LazyLock::new(|| {
    let mut access = NodeAccess::default();
    access.grant(UserRole::SecurityAdmin, ALL_OF_A_VARIABLE);
    access.restrict(
        AccessRestrictionType::SigningRequired | AccessRestrictionType::EncryptionRequired,
    );
    access
});

fn readable_by(roles: &[UserRole]) -> NodeAccess {
    let mut access = NodeAccess::default();
    // Everybody may browse: the nodes are in the standard's NodeSet anyway, and only their values tell about other
    // clients.
    for role in UserRole::ALL {
        access.grant(role, PermissionType::Browse);
    }
    for role in roles {
        access.grant(*role, PermissionType::Read);
    }
    access
}

/// Returns RolePermissions of a standard node; `None`: the Roles have their default permissions.
#[inline]
pub(crate) fn of(id: u32) -> Option<&'static NodeAccess> {
    match id {
        ids::SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY
        | ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY => {
            Some(&DIAGNOSTICS)
        }
        ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_SECURITY_DIAGNOSTICS_ARRAY => {
            Some(&SECURITY_DIAGNOSTICS)
        }
        _ => None,
    }
}
