//! Callers who add and change SecurityGroups, by their Roles (OPC 10000-14, 8.5).

use takt_app::refusals::shown;
use takt_services::client_user_id;
use takt_space::{Caller, Peer, UserRole};
use takt_ua::StatusCode;

/// The Unix user for whom a SecurityGroup is added or changed, and the name of the caller for the log.
pub(super) struct Changer {
    pub(super) user: u32,
    pub(super) name: String,
}

impl Changer {
    /// Returns the changer for a caller, who acts for this Unix user.
    pub(super) fn new(caller: &Caller, user: u32) -> Self {
        let name = shown(&client_user_id(caller));
        Self { user, name }
    }
}

impl From<u32> for Changer {
    fn from(user: u32) -> Self {
        let name = format!("unix-user={user}");
        Self { user, name }
    }
}

/// Returns the Unix user for whom the caller adds a group: over `opc.tcp` that of the registry, `own_user`.
///
/// # Errors
/// `BadSecurityModeInsufficient` on a channel that is not encrypted; `BadUserAccessDenied` without the Role SecurityAdmin, or over
/// shared memory Engineer.
pub(super) fn adder(caller: &Caller, own_user: u32) -> Result<u32, StatusCode> {
    let is_admin = caller.roles.contains(UserRole::SecurityAdmin);
    let is_engineer = caller.roles.contains(UserRole::Engineer);
    match caller.peer() {
        Peer::Tcp { .. } if !caller.channel.security.is_encrypted() => {
            Err(StatusCode::BadSecurityModeInsufficient)
        }
        Peer::Tcp { .. } if is_admin => Ok(own_user),
        Peer::SharedMemory { user, .. } if is_admin || is_engineer => {
            user.ok_or(StatusCode::BadUserAccessDenied)
        }
        _ => Err(StatusCode::BadUserAccessDenied),
    }
}

/// Returns the Unix user for whom the caller changes groups: `own_user`, who may change all groups, for a SecurityAdmin.
///
/// # Errors
/// Those of [`adder`].
pub(super) fn changer(caller: &Caller, own_user: u32) -> Result<u32, StatusCode> {
    let user = adder(caller, own_user)?;
    match caller.roles.contains(UserRole::SecurityAdmin) {
        true => Ok(own_user),
        false => Ok(user),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use takt_space::{Channel, ChannelSecurity, UserIdentity};
    use takt_ua::enumerations::MessageSecurityMode;

    use super::*;

    const OWN: u32 = 500;

    fn caller(peer: Peer, mode: MessageSecurityMode, role: UserRole) -> Caller {
        let security = ChannelSecurity {
            mode,
            ..ChannelSecurity::none()
        };
        let channel = Channel {
            id: 1,
            peer,
            security,
        };
        Caller {
            roles: role.into(),
            ..Caller::of_channel(Arc::new(channel))
        }
    }

    #[test]
    fn the_log_has_the_name_of_the_caller() {
        let address = ([127, 0, 0, 1], 50_000).into();
        let mode = MessageSecurityMode::SignAndEncrypt;
        let mut caller = caller(Peer::tcp(address), mode, UserRole::SecurityAdmin);
        caller.user = UserIdentity::UserName {
            name: "sec\n".to_owned(),
        };
        let changer = Changer::new(&caller, OWN);
        assert_eq!((changer.user, changer.name.as_str()), (OWN, "sec\\n"));
    }

    #[test]
    fn groups_are_changed_by_administrators_and_added_by_local_engineers() {
        let local = |role| {
            let peer = Peer::SharedMemory {
                user: Some(1000),
                process: None,
                groups: Vec::new(),
            };
            let caller = caller(peer, MessageSecurityMode::None, role);
            (adder(&caller, OWN), changer(&caller, OWN))
        };
        let denied = Err(StatusCode::BadUserAccessDenied);
        assert_eq!(local(UserRole::SecurityAdmin), (Ok(1000), Ok(OWN)));
        assert_eq!(local(UserRole::Engineer), (Ok(1000), Ok(1000)));
        assert_eq!(local(UserRole::Operator), (denied, denied));
        let remote = |mode, role| {
            let address = ([127, 0, 0, 1], 50_000).into();
            let caller = caller(Peer::tcp(address), mode, role);
            assert_eq!(adder(&caller, OWN), changer(&caller, OWN));
            adder(&caller, OWN)
        };
        let encrypted = MessageSecurityMode::SignAndEncrypt;
        assert_eq!(remote(encrypted, UserRole::SecurityAdmin), Ok(OWN));
        assert_eq!(remote(encrypted, UserRole::Engineer), denied);
        let insufficient = Err(StatusCode::BadSecurityModeInsufficient);
        for mode in [MessageSecurityMode::None, MessageSecurityMode::Sign] {
            assert_eq!(remote(mode, UserRole::SecurityAdmin), insufficient);
        }
    }
}
