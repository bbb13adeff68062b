//! Roles of callers, and the permissions that each grants (OPC 10000-3, 4.9 and 8.55; OPC 10000-18).

use std::fmt;
use std::str::FromStr;

use takt_ua::enumerations::PermissionType as P;
use takt_ua::{NodeId, ids};

/// Permissions that every Role has: browse, read and subscribe.
const READING: u32 = P::Browse | P::Read | P::ReadHistory | P::ReceiveEvents;

/// Permissions of NodeManagement.
const NODES: u32 = P::AddNode | P::DeleteNode | P::AddReference | P::RemoveReference;

/// A well-known Role (OPC 10000-3, 4.9.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserRole {
    /// Every caller.
    Anonymous,
    /// Every caller that is authenticated: by password, by certificate, or as a Unix user by the kernel.
    AuthenticatedUser,
    /// Browse, read and subscribe.
    Observer,
    /// Write Variables and call Methods, too.
    Operator,
    /// Manage nodes (AddNodes, DeleteNodes, and references) and call Methods, too.
    Engineer,
    /// Call Methods, too.
    Supervisor,
    /// Read the permissions of nodes, too. Applications may give it more.
    ConfigureAdmin,
    /// Change SecurityGroups and read the permissions of nodes, too.
    SecurityAdmin,
}

impl UserRole {
    /// All Roles.
    pub const ALL: [Self; 8] = [
        Self::Anonymous,
        Self::AuthenticatedUser,
        Self::Observer,
        Self::Operator,
        Self::Engineer,
        Self::Supervisor,
        Self::ConfigureAdmin,
        Self::SecurityAdmin,
    ];

    /// Returns the permissions for nodes without RolePermissions: bits of PermissionType (OPC 10000-3, 8.55).
    #[must_use]
    pub const fn default_permissions(self) -> u32 {
        let more = match self {
            Self::Anonymous | Self::AuthenticatedUser | Self::Observer => 0,
            Self::Operator => P::Write | P::Call,
            Self::Engineer => NODES | P::Call | P::ReadRolePermissions,
            Self::Supervisor => P::Call,
            Self::ConfigureAdmin | Self::SecurityAdmin => P::ReadRolePermissions,
        };
        READING | more
    }

    /// Returns the NodeId of the Role's Object.
    #[must_use]
    pub fn node_id(self) -> NodeId {
        NodeId::from(match self {
            Self::Anonymous => ids::WELL_KNOWN_ROLE_ANONYMOUS,
            Self::AuthenticatedUser => ids::WELL_KNOWN_ROLE_AUTHENTICATED_USER,
            Self::Observer => ids::WELL_KNOWN_ROLE_OBSERVER,
            Self::Operator => ids::WELL_KNOWN_ROLE_OPERATOR,
            Self::Engineer => ids::WELL_KNOWN_ROLE_ENGINEER,
            Self::Supervisor => ids::WELL_KNOWN_ROLE_SUPERVISOR,
            Self::ConfigureAdmin => ids::WELL_KNOWN_ROLE_CONFIGURE_ADMIN,
            Self::SecurityAdmin => ids::WELL_KNOWN_ROLE_SECURITY_ADMIN,
        })
    }

    /// Returns the Role with this NodeId; `None` if it is not one of those above.
    #[must_use]
    pub fn of_node_id(node_id: &NodeId) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|role| role.node_id() == *node_id)
    }

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::AuthenticatedUser => "authenticated-user",
            Self::Observer => "observer",
            Self::Operator => "operator",
            Self::Engineer => "engineer",
            Self::Supervisor => "supervisor",
            Self::ConfigureAdmin => "configure-admin",
            Self::SecurityAdmin => "security-admin",
        }
    }

    // There are eight Roles, so one byte has all bits.
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of Roles, with the permissions that they grant together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoleSet {
    /// One bit for each Role.
    roles: u8,
    /// Permissions for nodes without RolePermissions.
    permissions: u32,
}

impl RoleSet {
    /// The set of all Roles.
    pub const ALL: Self = Self::of(&UserRole::ALL);

    /// Returns the set of these Roles.
    #[must_use]
    pub const fn of(roles: &[UserRole]) -> Self {
        let mut set = Self {
            roles: 0,
            permissions: 0,
        };
        let mut rest = roles;
        while let [role, others @ ..] = rest {
            set.roles |= role.bit();
            set.permissions |= role.default_permissions();
            rest = others;
        }
        set
    }

    /// Returns the set of the Roles of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            roles: self.roles | other.roles,
            permissions: self.permissions | other.permissions,
        }
    }

    /// Returns the set of the Roles that both have.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        // The permissions are those of the common Roles. The common permissions would be more: different Roles grant
        // the same ones.
        let both = self.iter().filter(|role| other.contains(*role));
        both.fold(Self::default(), |set, role| set.union(role.into()))
    }

    /// Returns these Roles and those of every authenticated user.
    #[must_use]
    pub const fn authenticated(self) -> Self {
        self.union(Self::of(&[
            UserRole::Anonymous,
            UserRole::AuthenticatedUser,
            UserRole::Observer,
        ]))
    }

    /// Returns true if this set has the Role.
    #[inline]
    #[must_use]
    pub const fn contains(self, role: UserRole) -> bool {
        self.roles & role.bit() != 0
    }

    /// Returns true if the set has no Role.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.roles == 0
    }

    /// Returns the permissions for nodes without RolePermissions: bits of PermissionType (OPC 10000-3, 8.55).
    #[inline]
    #[must_use]
    pub const fn permissions(self) -> u32 {
        self.permissions
    }

    /// Returns the Roles.
    pub fn iter(self) -> impl Iterator<Item = UserRole> {
        let all = UserRole::ALL.into_iter();
        all.filter(move |role| self.contains(*role))
    }
}

impl From<UserRole> for RoleSet {
    fn from(role: UserRole) -> Self {
        Self::of(&[role])
    }
}

impl fmt::Display for RoleSet {
    /// Formats the names of the Roles, separated by commas.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(UserRole::name).collect();
        formatter.write_str(&names.join(","))
    }
}

impl FromStr for RoleSet {
    type Err = String;

    /// Reads names that are separated by commas. Anonymous and AuthenticatedUser cannot be given to a user.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut set = Self::default();
        for name in text.split(',') {
            // The first two are Anonymous and AuthenticatedUser: callers have them without any assignment.
            let mut assignable = UserRole::ALL.into_iter().skip(2);
            let role = assignable.clone().find(|role| role.name() == name);
            let role = role.ok_or_else(|| {
                let known: Vec<&str> = assignable.by_ref().map(UserRole::name).collect();
                format!("`{name}` is no role: {}", known.join(", "))
            })?;
            set = set.union(role.into());
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_grant_what_they_are_for() {
        let granted =
            |roles: &[UserRole], wanted: u32| RoleSet::of(roles).permissions() & wanted == wanted;
        for role in UserRole::ALL {
            assert!(granted(&[role], P::Browse | P::Read), "{role:?}");
            let may = [
                (P::Write, UserRole::Operator),
                (P::AddNode, UserRole::Engineer),
            ];
            for (permission, only) in may {
                assert_eq!(granted(&[role], permission), role == only, "{role:?}");
            }
        }
        assert!(granted(&[UserRole::Supervisor], P::Call));
        assert!(!granted(&[UserRole::Observer], P::Call));
        let both = [UserRole::Operator, UserRole::Engineer];
        assert!(granted(&both, P::Write | P::DeleteNode));
        assert_eq!(RoleSet::default().permissions(), 0);
    }

    #[test]
    fn sets_are_written_as_names() {
        let set: RoleSet = "engineer,operator".parse().unwrap();
        assert_eq!(set.to_string(), "operator,engineer");
        assert!(set.contains(UserRole::Engineer) && !set.contains(UserRole::Observer));
        for wrong in ["", "root", "operator,", "anonymous", "operator engineer"] {
            assert!(wrong.parse::<RoleSet>().is_err(), "{wrong}");
        }
        let error = "root".parse::<RoleSet>().unwrap_err();
        assert!(error.contains("security-admin"), "{error}");
    }

    #[test]
    fn roles_have_the_node_ids_of_the_standard() {
        for role in UserRole::ALL {
            assert_eq!(UserRole::of_node_id(&role.node_id()), Some(role));
        }
        assert_eq!(UserRole::Engineer.node_id(), NodeId::numeric(0, 16036));
        assert_eq!(UserRole::of_node_id(&NodeId::numeric(1, 16036)), None);
    }
}
