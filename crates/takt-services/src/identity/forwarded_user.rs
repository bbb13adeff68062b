//! User on whose behalf another server forwards a request: the registry, to a Provider.
//!
//! The server that forwards puts the user and its Roles into the additionalHeader of the request (OPC 10000-4, 7.33), as an
//! AdditionalParametersType whose keys are in the namespace of the receiving server. The receiver carries out the request with the
//! Roles that the Session of the forwarding server, the forwarded Roles and its own table of users all give. So the header only
//! takes rights away, and it is accepted from every client. A server that does not know it ignores it.
//!
//! The name of the user is another matter: a client could write any name into the header. It is used only if the forwarding server
//! runs as the same Unix user as the receiver, or as root (`Caller::on_behalf_of`).

use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, LazyLock};

use takt_space::{Caller, Peer, RoleSet, UserIdentity, UserRole};
use takt_ua::structures::{AdditionalParametersType, KeyValuePair};
use takt_ua::{Elements, ExtensionObject, ExtensionObjectRef, QualifiedName, Variant};

use super::forwarded_identity::ForwardedIdentity;
use super::user_id::user_name;
use super::users::Users;

/// Namespace of the keys: that of the receiving server itself.
const NAMESPACE: u16 = 1;

/// Longest list of Roles, in characters, and largest number of Unix groups.
const LONGEST: usize = 1024;

const ROLES: &str = "ForwardedRoles";
const USER: &str = "ForwardedUser";
const UNIX_USER: &str = "ForwardedUnixUser";
const UNIX_GROUPS: &str = "ForwardedUnixGroups";
const ADDRESS: &str = "ForwardedAddress";
const USER_ID: &str = "ForwardedUserId";

/// Unix user of this process.
static OWN_USER: LazyLock<Option<u32>> = LazyLock::new(|| {
    let own = std::fs::metadata("/proc/self").ok();
    own.map(|own| own.uid())
});

/// The user of a forwarded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedUser {
    /// Roles at the server that forwards.
    pub roles: RoleSet,
    /// The identity, as the server that forwards has checked it.
    pub identity: ForwardedIdentity,
    /// ClientUserId, if the identity does not have it: of a user with a token, or of a request that was forwarded before.
    pub user_id: Option<String>,
}

impl ForwardedUser {
    /// Returns the user of a request that is about to be forwarded.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let identity = match (&caller.user, caller.peer()) {
            (UserIdentity::UserName { name }, _) => ForwardedIdentity::Name(name.clone()),
            (UserIdentity::Certificate { subject, .. }, _) => {
                ForwardedIdentity::Name(subject.clone())
            }
            (UserIdentity::Issued { .. }, _) => ForwardedIdentity::Other,
            (
                _,
                Peer::SharedMemory {
                    user: Some(user),
                    groups,
                    ..
                },
            ) => ForwardedIdentity::Unix {
                user: *user,
                groups: groups.clone(),
            },
            // The kernel does not tell the groups of such a user.
            (
                _,
                Peer::Tcp {
                    user: Some(user), ..
                },
            ) => ForwardedIdentity::Unix {
                user: *user,
                groups: Vec::new(),
            },
            (_, Peer::Tcp { address, .. }) => ForwardedIdentity::Address(address.ip()),
            (_, Peer::SharedMemory { user: None, .. }) => ForwardedIdentity::Other,
        };
        let user_id = match (&caller.on_behalf_of, &caller.user) {
            (Some(user), _) => Some(user.clone()),
            (None, UserIdentity::Issued { .. }) => user_name(&caller.user),
            _ => None,
        };
        Self {
            roles: caller.roles,
            identity,
            user_id,
        }
    }

    /// Returns the additionalHeader of a request to a server whose own namespace has this index there.
    #[must_use]
    pub fn header(&self, namespace: u16) -> ExtensionObject {
        let mut parameters = Vec::with_capacity(3);
        let mut add = |name: &str, value: Variant| {
            parameters.push(KeyValuePair {
                key: QualifiedName::new(namespace, name),
                value,
            });
        };
        add(ROLES, self.roles.to_string().into());
        match &self.identity {
            ForwardedIdentity::Name(name) => add(USER, name.as_str().into()),
            ForwardedIdentity::Unix { user, groups } => {
                add(UNIX_USER, (*user).into());
                // `read` takes no more than these.
                let groups = groups.iter().take(LONGEST).copied();
                add(UNIX_GROUPS, groups.collect::<Vec<u32>>().into());
            }
            ForwardedIdentity::Address(address) => add(ADDRESS, address.to_string().into()),
            ForwardedIdentity::Other => {}
        }
        if let Some(user_id) = &self.user_id {
            add(USER_ID, user_id.as_str().into());
        }
        ExtensionObject::from_structure(&AdditionalParametersType { parameters })
    }

    /// Reads an additionalHeader. `None`: the request is not forwarded. What cannot be read gives no Role.
    pub(crate) fn read(header: &ExtensionObjectRef<'_>) -> Option<Self> {
        if header.type_id.is_null() {
            return None;
        }
        let header = header.to_owned();
        let header: AdditionalParametersType = header.decode_as().ok()?;
        let value = |name: &str| {
            let mut parameters = header.parameters.iter();
            let named = |one: &&KeyValuePair| {
                one.key.namespace == NAMESPACE && one.key.name.as_str() == name
            };
            parameters.find(named).map(|one| &one.value)
        };
        let text = |name: &str| match value(name) {
            Some(Variant::String(text)) if text.as_str().len() <= LONGEST => Some(text.as_str()),
            _ => None,
        };
        // Other headers have another purpose, an EphemeralKey for example.
        value(ROLES)?;
        let roles = text(ROLES).map(roles).unwrap_or_default();
        let identity = match (value(UNIX_USER), text(USER), text(ADDRESS)) {
            (Some(Variant::UInt32(user)), _, _) => ForwardedIdentity::Unix {
                user: *user,
                groups: match value(UNIX_GROUPS) {
                    Some(Variant::Array(groups)) => match &groups.elements {
                        Elements::UInt32(groups) => groups.iter().take(LONGEST).copied().collect(),
                        _ => Vec::new(),
                    },
                    _ => Vec::new(),
                },
            },
            (_, Some(name), _) => ForwardedIdentity::Name(name.to_owned()),
            (_, _, Some(address)) => match address.parse() {
                Ok(address) => ForwardedIdentity::Address(address),
                Err(_) => ForwardedIdentity::Other,
            },
            _ => ForwardedIdentity::Other,
        };
        Some(Self {
            roles,
            identity,
            user_id: text(USER_ID).map(str::to_owned),
        })
    }

    /// Returns the caller of a request that the client `forwarder` forwards on behalf of this user.
    pub(crate) fn caller(&self, forwarder: &Caller, users: Option<&dyn Users>) -> Arc<Caller> {
        let limit = users.and_then(|users| users.limit(&self.identity));
        let roles = forwarder.roles.intersection(self.roles);
        let roles = limit.map_or(roles, |limit| roles.intersection(limit));
        Arc::new(Caller {
            roles,
            on_behalf_of: is_believed(forwarder.peer()).then(|| self.client_user_id()),
            ..forwarder.clone()
        })
    }

    /// Returns the ClientUserId; empty for an anonymous client.
    fn client_user_id(&self) -> String {
        match (&self.user_id, &self.identity) {
            (Some(user_id), _) => user_id.clone(),
            (None, ForwardedIdentity::Name(name)) => name.clone(),
            (None, ForwardedIdentity::Unix { user, .. }) => format!("unix-user={user}"),
            (None, ForwardedIdentity::Address(_) | ForwardedIdentity::Other) => String::new(),
        }
    }
}

/// Returns true for a client that may name the user of its request: a process of the Unix user of this server or of root, which
/// could change this server anyway.
fn is_believed(peer: &Peer) -> bool {
    let user = peer.user();
    user.is_some() && (user == Some(0) || user == *OWN_USER)
}

/// Reads the names of Roles. Unknown ones are left out.
fn roles(text: &str) -> RoleSet {
    let named = text.split(',').filter_map(|name| {
        let mut all = UserRole::ALL.into_iter();
        all.find(|role| role.name() == name)
    });
    named.fold(RoleSet::default(), |set, role| set.union(role.into()))
}

#[cfg(test)]
mod tests {
    use takt_space::{Channel, ChannelSecurity};

    use super::*;

    /// Limits everybody to this role.
    struct Limit(UserRole);

    impl Users for Limit {
        fn allows_user_names(&self) -> bool {
            false
        }

        fn allows_certificates(&self) -> bool {
            false
        }

        fn has_password(&self, _: &str) -> bool {
            false
        }

        fn user_name(&self, _: &Peer, _: &str, _: &[u8]) -> Result<RoleSet, takt_ua::StatusCode> {
            Err(takt_ua::StatusCode::BadUserAccessDenied)
        }

        fn certificate(
            &self,
            _: &takt_crypto::Certificate,
            _: &takt_crypto::PolicyProfile,
        ) -> Result<(String, RoleSet), takt_ua::StatusCode> {
            Err(takt_ua::StatusCode::BadUserAccessDenied)
        }

        fn anonymous(&self, peer: &Peer) -> RoleSet {
            peer.roles()
        }

        fn limit(&self, _: &ForwardedIdentity) -> Option<RoleSet> {
            Some(self.0.into())
        }
    }

    #[test]
    fn users_are_read_as_they_were_written() {
        for identity in [
            ForwardedIdentity::Name("anna".to_owned()),
            ForwardedIdentity::Unix {
                user: 1000,
                groups: vec![100, 200],
            },
            ForwardedIdentity::Address([192, 0, 2, 7].into()),
            ForwardedIdentity::Other,
        ] {
            let roles = RoleSet::of(&[UserRole::Anonymous, UserRole::Operator]);
            let mut user = ForwardedUser {
                roles,
                identity,
                user_id: None,
            };
            let header = user.header(NAMESPACE);
            assert_eq!(ForwardedUser::read(&header.as_ref()).as_ref(), Some(&user));
            user.user_id = Some("anna of https://issuer".to_owned());
            let header = user.header(NAMESPACE);
            assert_eq!(ForwardedUser::read(&header.as_ref()).as_ref(), Some(&user));
            // Another namespace is not ours.
            assert_eq!(ForwardedUser::read(&user.header(2).as_ref()), None);
        }
        assert_eq!(ForwardedUser::read(&ExtensionObject::NULL.as_ref()), None);
    }

    #[test]
    fn roles_that_cannot_be_read_are_none() {
        for value in [Variant::from(7_u32), "king".into(), "o".repeat(2000).into()] {
            let key = QualifiedName::new(NAMESPACE, ROLES);
            let parameters = vec![KeyValuePair { key, value }];
            let header = AdditionalParametersType { parameters };
            let header = ExtensionObject::from_structure(&header);
            let user = ForwardedUser::read(&header.as_ref()).unwrap();
            assert!(user.roles.is_empty());
        }
    }

    #[test]
    fn a_header_only_takes_rights_away() {
        let user = |roles| ForwardedUser {
            roles,
            identity: ForwardedIdentity::Other,
            user_id: None,
        };
        let mut forwarder = Caller::local();
        forwarder.roles = RoleSet::of(&[UserRole::Observer, UserRole::Operator]);
        let all = user(RoleSet::ALL);
        assert_eq!(all.caller(&forwarder, None).roles, forwarder.roles);
        let engineer = user(RoleSet::of(&[UserRole::Observer, UserRole::Engineer]));
        let roles = engineer.caller(&forwarder, None).roles;
        assert_eq!(roles, UserRole::Observer.into());
        let limit = Limit(UserRole::Operator);
        assert!(engineer.caller(&forwarder, Some(&limit)).roles.is_empty());
        let limited = all.caller(&forwarder, Some(&limit)).roles;
        assert_eq!(limited, UserRole::Operator.into());
    }
    #[test]
    fn only_a_forwarder_of_the_same_unix_user_names_the_user() {
        let own = (*OWN_USER).unwrap();
        let peer = |user| Peer::SharedMemory {
            user,
            process: None,
            groups: Vec::new(),
        };
        let stranger = own + 4711;
        let tcp = Peer::tcp(([127, 0, 0, 1], 50_000).into());
        let anna = ForwardedUser {
            roles: RoleSet::ALL,
            identity: ForwardedIdentity::Name("anna".to_owned()),
            user_id: None,
        };
        let named = |peer, user: &ForwardedUser| {
            let channel = Channel {
                id: 1,
                peer,
                security: ChannelSecurity::none(),
            };
            let forwarder = Caller::of_channel(Arc::new(channel));
            user.caller(&forwarder, None).on_behalf_of.clone()
        };
        let local = |user| Peer::Tcp {
            address: ([127, 0, 0, 1], 50_000).into(),
            user: Some(user),
        };
        for believed in [peer(Some(own)), peer(Some(0)), local(own)] {
            assert_eq!(named(believed, &anna).as_deref(), Some("anna"));
        }
        for foreign in [peer(Some(stranger)), peer(None), tcp, local(stranger)] {
            assert_eq!(named(foreign, &anna), None);
        }
        let of = |identity, user_id: Option<&str>| ForwardedUser {
            roles: RoleSet::ALL,
            identity,
            user_id: user_id.map(str::to_owned),
        };
        let unix = ForwardedIdentity::Unix {
            user: 1000,
            groups: Vec::new(),
        };
        for (user, expected) in [
            (of(unix, None), "unix-user=1000"),
            (
                of(ForwardedIdentity::Address([192, 0, 2, 7].into()), None),
                "",
            ),
            (
                of(ForwardedIdentity::Other, Some("anna of https://issuer")),
                "anna of https://issuer",
            ),
        ] {
            assert_eq!(named(peer(Some(own)), &user).as_deref(), Some(expected));
        }
        // The name goes on if the request is forwarded once more.
        let mut caller = Caller::local();
        caller.on_behalf_of = Some("anna".to_owned());
        assert_eq!(ForwardedUser::of(&caller).user_id.as_deref(), Some("anna"));
    }
}
