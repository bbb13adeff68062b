//! Access to a node of its own: RolePermissions and AccessRestrictions (OPC 10000-3, 5.2.9 and 5.2.11).

use takt_ua::enumerations::{AccessRestrictionType, MessageSecurityMode, PermissionType};
use takt_ua::structures::RolePermissionType;

use crate::caller::Channel;
use crate::role::{RoleSet, UserRole};

/// RolePermissions and AccessRestrictions of a node. A node without them has the permissions that the Roles grant by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeAccess {
    /// Permissions of each Role, in the order of [`UserRole::ALL`]; `None`: those by default.
    role_permissions: Option<[u32; UserRole::ALL.len()]>,
    restrictions: u16,
}

impl NodeAccess {
    /// Grants a Role these permissions in addition: bits of PermissionType (OPC 10000-3, 8.55). From the first grant on, no Role
    /// has its default permissions.
    pub fn grant(&mut self, role: UserRole, permissions: u32) {
        let granted = self.role_permissions.get_or_insert_default();
        for (granted, of) in granted.iter_mut().zip(UserRole::ALL) {
            if of == role {
                *granted |= permissions;
            }
        }
    }

    /// Adds restrictions: bits of AccessRestrictionType (OPC 10000-3, 8.56).
    pub fn restrict(&mut self, restrictions: u16) {
        self.restrictions |= restrictions;
    }

    /// Returns true if there are neither RolePermissions nor AccessRestrictions.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the permissions of a caller with these Roles.
    #[must_use]
    pub fn permissions(&self, roles: RoleSet) -> u32 {
        let Some(granted) = &self.role_permissions else {
            return roles.permissions();
        };
        let granted = granted.iter().zip(UserRole::ALL);
        let granted = granted.filter(|(_, role)| roles.contains(*role));
        granted.fold(0, |sum, (permissions, _)| sum | permissions)
    }

    /// Returns the attribute AccessRestrictions.
    #[must_use]
    pub fn restrictions(&self) -> u16 {
        self.restrictions
    }

    /// Returns the attribute RolePermissions, limited to `roles`: with all Roles the attribute itself, with those of a caller
    /// UserRolePermissions. `None`: the attribute does not exist.
    #[must_use]
    pub fn role_permissions(&self, roles: RoleSet) -> Option<Vec<RolePermissionType>> {
        let granted = self.role_permissions.iter().flatten().zip(UserRole::ALL);
        let granted =
            granted.filter(|(permissions, role)| **permissions != 0 && roles.contains(*role));
        let list = granted.map(|(permissions, role)| RolePermissionType {
            role_id: role.node_id(),
            permissions: *permissions,
        });
        self.role_permissions.is_some().then(|| list.collect())
    }

    /// Returns true if the channel is as safe as the restrictions require for a permission. Shared memory is: no third process can
    /// read or change it.
    #[must_use]
    pub fn admits(&self, channel: &Channel, permission: u32) -> bool {
        let requires = |restriction: u16| self.restrictions & restriction != 0;
        // Without this bit, restrictions do not hide a node, and only limit its use (OPC 10000-3, 8.56).
        if permission == PermissionType::Browse
            && !requires(AccessRestrictionType::ApplyRestrictionsToBrowse)
        {
            return true;
        }
        let is_signed = matches!(
            channel.security.mode,
            MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt
        );
        channel.peer.is_local()
            || (is_signed || !requires(AccessRestrictionType::SigningRequired))
                && (channel.security.is_encrypted()
                    || !requires(AccessRestrictionType::EncryptionRequired))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{ChannelSecurity, Peer};

    const READ: u32 = PermissionType::Read;
    const BROWSE: u32 = PermissionType::Browse;

    #[test]
    fn only_granted_roles_have_permissions() {
        let mut access = NodeAccess::default();
        let engineer = RoleSet::of(&[UserRole::Observer, UserRole::Engineer]);
        let operator = RoleSet::of(&[UserRole::Observer, UserRole::Operator]);
        assert_eq!(access.permissions(operator), operator.permissions());
        assert_eq!(access.role_permissions(RoleSet::ALL), None);
        access.grant(UserRole::Engineer, BROWSE);
        access.grant(UserRole::Engineer, READ);
        access.grant(UserRole::Observer, BROWSE);
        assert_eq!(access.permissions(engineer), BROWSE | READ);
        assert_eq!(access.permissions(operator), BROWSE);
        assert_eq!(access.permissions(RoleSet::default()), 0);
        let list = access.role_permissions(RoleSet::ALL).unwrap();
        let list: Vec<_> = list
            .iter()
            .map(|entry| (UserRole::of_node_id(&entry.role_id), entry.permissions))
            .collect();
        let expected = [
            (Some(UserRole::Observer), BROWSE),
            (Some(UserRole::Engineer), BROWSE | READ),
        ];
        assert_eq!(list, expected);
        assert_eq!(access.role_permissions(operator).unwrap().len(), 1);
    }

    #[test]
    fn restrictions_are_for_networks() {
        let channel = |peer: Peer, mode| Channel {
            id: 1,
            peer,
            security: ChannelSecurity {
                mode,
                ..ChannelSecurity::none()
            },
        };
        let tcp = |mode| {
            let address = ([127, 0, 0, 1], 50_000).into();
            channel(Peer::tcp(address), mode)
        };
        let none = MessageSecurityMode::None;
        let local = Peer::SharedMemory {
            user: Some(1000),
            process: None,
            groups: Vec::new(),
        };
        let mut access = NodeAccess::default();
        assert!(access.admits(&tcp(none), READ));
        access.restrict(AccessRestrictionType::SigningRequired);
        assert!(!access.admits(&tcp(none), READ));
        assert!(access.admits(&tcp(MessageSecurityMode::Sign), READ));
        access.restrict(AccessRestrictionType::EncryptionRequired);
        assert!(!access.admits(&tcp(MessageSecurityMode::Sign), READ));
        assert!(access.admits(&tcp(MessageSecurityMode::SignAndEncrypt), READ));
        assert!(access.admits(&channel(local, none), READ));
        assert!(access.admits(&tcp(none), BROWSE));
        access.restrict(AccessRestrictionType::ApplyRestrictionsToBrowse);
        assert!(!access.admits(&tcp(none), BROWSE));
    }
}
