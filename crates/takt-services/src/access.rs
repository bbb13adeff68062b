//! Access control: rules for reading, writing and calling by a [`Caller`], for all services and for sampling.
//!
//! The AccessLevel of a Variable and the attribute Executable of a Method apply to every caller. The Roles of the caller have to
//! grant the permission besides.

use takt_space::{Caller, ClassAttributes, NodeRef, access_level};
use takt_ua::enumerations::PermissionType;

/// Returns the AccessLevelEx of a Variable that holds for this caller: UserAccessLevel (OPC 10000-3, 5.6.2).
#[inline]
pub(crate) fn user_access_level(caller: &Caller, access_level: u32) -> u32 {
    const WRITE: u32 =
        access_level::CURRENT_WRITE | access_level::STATUS_WRITE | access_level::TIMESTAMP_WRITE;
    match caller.roles.permissions() & PermissionType::Write {
        0 => access_level & !WRITE,
        _ => access_level,
    }
}

/// Returns true if the caller may read the Value of a Variable with this AccessLevelEx (OPC 10000-3, 8.57).
#[inline]
pub(crate) fn may_read(caller: &Caller, access_level: u32) -> bool {
    user_access_level(caller, access_level) & access_level::CURRENT_READ != 0
}

/// Returns true if the caller may write to a Variable with this AccessLevelEx. `bits` select the value, its StatusCode, or its
/// source timestamp.
#[inline]
pub(crate) fn may_write(caller: &Caller, access_level: u32, bits: u32) -> bool {
    user_access_level(caller, access_level) & bits == bits
}

/// Returns true if the caller may call a Method (OPC 10000-3, 5.7): the Method is executable and has a handler.
pub(crate) fn may_call(caller: &Caller, node: &NodeRef<'_>) -> bool {
    // The Methods of namespace 0 belong to Sessions and Subscriptions, or check their callers themselves.
    if caller.roles.permissions() & PermissionType::Call == 0 && node.standard().is_none() {
        return false;
    }
    is_executable(node)
}

/// Returns true if the Method is executable for somebody.
pub(crate) fn is_executable(node: &NodeRef<'_>) -> bool {
    let executable = match (node.standard(), node.definition()) {
        (Some(standard), _) => standard.executable(),
        (None, Some(definition)) => {
            matches!(
                definition.attributes,
                ClassAttributes::Method { executable: true }
            )
        }
        (None, None) => false,
    };
    executable && node.is_bound()
}
