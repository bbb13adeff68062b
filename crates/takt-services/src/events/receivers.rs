//! Rules for the clients that receive an Event.

use takt_space::{Audience, Caller, Event, UserRole, View};
use takt_ua::enumerations::PermissionType;

use crate::identity::access;

/// Returns true if a client may receive a recorded Event.
pub(super) fn may_receive_recorded(caller: &Caller, event: &Event, view: &View<'_>) -> bool {
    // Audit Events are not recorded.
    event.audience() == Audience::Everybody && may_receive(caller, event, view, None)
}

/// Returns true if a client may receive an Event: by the permissions of its source (ReceiveEvents, OPC 10000-3, 8.55), and by the
/// audience of the Event.
pub(crate) fn may_receive(
    caller: &Caller,
    event: &Event,
    view: &View<'_>,
    own_user: Option<u32>,
) -> bool {
    let is_allowed = match event.audience() {
        Audience::Everybody => true,
        Audience::Auditors => is_auditor(caller, own_user),
    };
    is_allowed
        // A source need not be a node of this server. Then only the audience decides.
        && view.node(event.source()).is_none_or(|source| {
            access::check(caller, &source, PermissionType::ReceiveEvents).is_ok()
        })
}

/// Returns true if a client may see audit Events.
pub(crate) fn is_auditor(caller: &Caller, own_user: Option<u32>) -> bool {
    let peer = caller.peer();
    // Processes of the server's own Unix user could read its memory anyway; others on this host get nothing.
    if peer.is_local() {
        return own_user.is_some() && peer.user() == own_user;
    }
    // Audit records name users and addresses, so they leave the host encrypted only.
    caller.roles.contains(UserRole::SecurityAdmin) && caller.channel.security.is_encrypted()
}
