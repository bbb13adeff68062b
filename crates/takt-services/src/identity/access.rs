//! Access control: rules for browsing, reading, writing and calling by a [`Caller`], for all services and for sampling.
//!
//! The AccessLevel of a Variable and the attribute Executable of a Method apply to every caller. The Roles of the caller have to
//! grant the permission besides: by default, or by the RolePermissions of the node. A node may also require a secured channel
//! (AccessRestrictions).

use takt_space::{Caller, ClassAttributes, NodeAccess, NodeRef, access_level};
use takt_ua::StatusCode;
use takt_ua::enumerations::PermissionType;

/// Checks that the caller has a permission, one bit of PermissionType (OPC 10000-3, 8.55), for a node, and that its channel is as
/// safe as the node requires.
///
/// # Errors
/// `BadUserAccessDenied`, `BadSecurityModeInsufficient`.
#[inline]
pub(crate) fn check(
    caller: &Caller,
    node: &NodeRef<'_>,
    permission: u32,
) -> Result<(), StatusCode> {
    if let Some(access) = node.access() {
        return check_own(caller, access, permission);
    }
    match caller.roles.permissions() & permission {
        0 => Err(StatusCode::BadUserAccessDenied),
        _ => Ok(()),
    }
}

#[cold]
fn check_own(caller: &Caller, access: &NodeAccess, permission: u32) -> Result<(), StatusCode> {
    if access.permissions(caller.roles) & permission == 0 {
        return Err(StatusCode::BadUserAccessDenied);
    }
    match access.admits(&caller.channel, permission) {
        true => Ok(()),
        false => Err(StatusCode::BadSecurityModeInsufficient),
    }
}

/// Checks that the caller may see the node and read its attributes other than Value.
#[inline]
pub(crate) fn check_browse(caller: &Caller, node: &NodeRef<'_>) -> Result<(), StatusCode> {
    check(caller, node, PermissionType::Browse)
}

/// Returns the AccessLevelEx of a Variable that holds for this caller: UserAccessLevel (OPC 10000-3, 5.6.2).
pub(crate) fn user_access_level(caller: &Caller, node: &NodeRef<'_>, access_level: u32) -> u32 {
    const WRITE: u32 =
        access_level::CURRENT_WRITE | access_level::STATUS_WRITE | access_level::TIMESTAMP_WRITE;
    let permissions = match node.access() {
        Some(access) => access.permissions(caller.roles),
        None => caller.roles.permissions(),
    };
    let denied = |permission: u32, levels: u32| match permissions & permission {
        0 => levels,
        _ => 0,
    };
    let denied = denied(PermissionType::Read, access_level::CURRENT_READ)
        | denied(PermissionType::ReadHistory, access_level::HISTORY_READ)
        | denied(PermissionType::Write, WRITE);
    access_level & !denied
}

/// Returns true if everybody may read the Value of a Variable with this AccessLevelEx (OPC 10000-3, 8.57), which is that of a
/// [node without permissions of its own](NodeRef::access_level).
#[inline]
pub(crate) fn is_readable(access_level: u32) -> bool {
    access_level & access_level::CURRENT_READ != 0
}

/// Bit HistoryRead of an EventNotifier (OPC 10000-3, 8.59).
pub(crate) const EVENT_HISTORY_READ: u8 = 0b100;

/// Returns true if the AccessLevel of a Variable has HistoryRead (OPC 10000-3, 8.57).
pub(crate) fn has_history(node: &NodeRef<'_>) -> bool {
    let variable = node.variable();
    variable.is_some_and(|variable| variable.access_level & access_level::HISTORY_READ != 0)
}

/// Checks that the caller may read the Value of a Variable.
///
/// # Errors
/// `BadNotReadable`, `BadUserAccessDenied`, `BadSecurityModeInsufficient`.
pub(crate) fn check_read(caller: &Caller, node: &NodeRef<'_>) -> Result<(), StatusCode> {
    let variable = node.variable().ok_or(StatusCode::BadNotReadable)?;
    if !is_readable(variable.access_level) {
        return Err(StatusCode::BadNotReadable);
    }
    check(caller, node, PermissionType::Read)
}

/// Returns true if the caller may read the Value of a Variable.
#[inline]
pub(crate) fn may_read(caller: &Caller, node: &NodeRef<'_>) -> bool {
    match node.access_level() {
        Some(level) if is_readable(level) => true,
        Some(_) => check_read(caller, node).is_ok(),
        None => false,
    }
}

/// Checks that the caller may write to a Variable with this AccessLevelEx.
///
/// # Errors
/// `BadNotWritable`, `BadUserAccessDenied`, `BadSecurityModeInsufficient`.
#[inline]
pub(crate) fn check_write(
    caller: &Caller,
    node: &NodeRef<'_>,
    access_level: u32,
) -> Result<(), StatusCode> {
    if access_level & access_level::CURRENT_WRITE == 0 {
        return Err(StatusCode::BadNotWritable);
    }
    check(caller, node, PermissionType::Write)
}

/// Checks that the caller may call a Method, or Methods of an Object with permissions of its own (OPC 10000-3, 8.55).
///
/// # Errors
/// `BadUserAccessDenied`, `BadSecurityModeInsufficient`.
pub(crate) fn check_call(caller: &Caller, node: &NodeRef<'_>) -> Result<(), StatusCode> {
    // The Methods of namespace 0 belong to Sessions and Subscriptions, or check their callers themselves.
    match node.standard() {
        Some(_) => Ok(()),
        None => check(caller, node, PermissionType::Call),
    }
}

/// Returns true if the Method is executable for somebody (OPC 10000-3, 5.7), and has a handler.
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
