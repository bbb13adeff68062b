//! The security context of requests: the channel, the peer behind it, and the user of the Session.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use takt_crypto::PeerCertificate;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::{NodeId, SECURITY_POLICY_NONE, UaString};

use crate::role::{RoleSet, UserRole};

/// Process at the other end of a connection, as identified by the transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A client over `opc.tcp` (OPC 10000-6, 7).
    Tcp {
        /// Address and port.
        address: SocketAddr,
        /// Unix user id of a process of this host, if the operating system confirms it.
        user: Option<u32>,
    },
    /// A process of this host over shared memory, `opc.iox2`.
    SharedMemory {
        /// Unix user id, if the operating system confirms it.
        user: Option<u32>,
        /// Process id, if the operating system confirms it.
        process: Option<u32>,
        /// Unix groups that the operating system confirms.
        groups: Vec<u32>,
    },
}

impl Peer {
    /// Creates a client over `opc.tcp` whose Unix user is unknown.
    #[must_use]
    pub fn tcp(address: SocketAddr) -> Self {
        Self::Tcp {
            address,
            user: None,
        }
    }

    /// Returns the Unix user, if the operating system confirms it.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        match self {
            Self::Tcp { user, .. } | Self::SharedMemory { user, .. } => *user,
        }
    }

    /// Returns the Roles of a peer without an authenticated user, unless a server has other rules.
    #[must_use]
    pub fn roles(&self) -> RoleSet {
        use UserRole::{Anonymous, AuthenticatedUser, Engineer, Observer, Operator};
        match self {
            Self::SharedMemory { .. } => {
                RoleSet::of(&[Anonymous, AuthenticatedUser, Observer, Operator, Engineer])
            }
            Self::Tcp { .. } => RoleSet::of(&[Anonymous, Observer]),
        }
    }

    /// Returns true if the peer came over TCP from the loopback interface.
    #[must_use]
    pub fn is_on_loopback(&self) -> bool {
        match self {
            Self::Tcp { address, .. } => address.ip().to_canonical().is_loopback(),
            Self::SharedMemory { .. } => false,
        }
    }

    /// Returns the address of a host over TCP for limits of each host; `None` over shared memory. For IPv6 it is the network: a
    /// host can use all addresses of a /64, so they count as one.
    #[must_use]
    pub fn network(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp { address, .. } => Some(match address.ip().to_canonical() {
                IpAddr::V6(address) => {
                    IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64))
                }
                address => address,
            }),
            Self::SharedMemory { .. } => None,
        }
    }

    /// Returns true if the peer is a process of this host that uses shared memory.
    #[inline]
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self, Self::SharedMemory { .. })
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { address, .. } => write!(formatter, "{address}"),
            Self::SharedMemory { process, .. } if process.is_some() => {
                write!(formatter, "process {}", process.unwrap_or_default())
            }
            Self::SharedMemory { user, .. } if user.is_some() => {
                write!(formatter, "a process of user {}", user.unwrap_or_default())
            }
            Self::SharedMemory { .. } => formatter.write_str("a process of this host"),
        }
    }
}

/// Security of a channel, as agreed when the channel was opened (OPC 10000-4, 5.6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelSecurity {
    /// URI of the SecurityPolicy.
    pub policy_uri: String,
    /// MessageSecurityMode: messages are signed, or signed and encrypted, or neither.
    pub mode: MessageSecurityMode,
    /// Certificate of the client, which it has proved to own; empty with SecurityPolicy None.
    pub client_certificate: Arc<PeerCertificate>,
    /// Certificate of this server that the client has used (DER); empty with SecurityPolicy None.
    pub server_certificate: Vec<u8>,
}

impl ChannelSecurity {
    /// Returns SecurityPolicy None: messages are neither signed nor encrypted.
    #[must_use]
    pub fn none() -> Self {
        Self {
            policy_uri: String::from(SECURITY_POLICY_NONE),
            mode: MessageSecurityMode::None,
            client_certificate: Arc::default(),
            server_certificate: Vec::new(),
        }
    }

    /// Returns true if messages are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.mode == MessageSecurityMode::SignAndEncrypt
    }
}

/// SecureChannel, or private channel in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Number of the channel at this server. It is unique; 0 stands for no channel.
    pub id: u64,
    /// The process at the other end.
    pub peer: Peer,
    /// SecurityPolicy, MessageSecurityMode and certificate.
    pub security: ChannelSecurity,
}

impl Channel {
    /// Returns true if something proves the application at the other end: its certificate, or the operating system by the Unix user.
    fn proves_application(&self) -> bool {
        let mode = self.security.mode;
        mode == MessageSecurityMode::Sign
            || mode == MessageSecurityMode::SignAndEncrypt
            || self.peer.user().is_some()
    }
}

/// The user on whose behalf a Session acts (OPC 10000-4, 7.40).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserIdentity {
    /// No user: AnonymousIdentityToken, or no token.
    #[default]
    Anonymous,
    /// A user that the server accepted.
    UserName {
        /// Name of the user, as the client sent it.
        name: String,
    },
    /// An application that has proved its name with the secret of its registration. It is no user.
    Application {
        /// ApplicationName.
        name: String,
    },
    /// A user whose certificate the server trusts, and who has its key.
    Certificate {
        /// Subject of the certificate.
        subject: String,
        /// SHA-1 thumbprint of the certificate.
        thumbprint: [u8; 20],
    },
    /// A user whose token an authorization service has signed.
    Issued {
        /// The authorization service.
        issuer: String,
        /// Name of the user at that service.
        subject: String,
    },
}

/// Security context of a request: the channel, the Session, and the user.
///
/// Application name and URI are claims of the client (CreateSession, clientDescription). The channel and `user` have been
/// checked: by the operating system, the transport or the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The channel, with the peer and its security.
    pub channel: Arc<Channel>,
    /// NodeId of the Session; null if there is none.
    pub session_id: NodeId,
    /// SessionName from CreateSession, chosen by the client.
    pub session_name: UaString,
    /// ApplicationName from the clientDescription of CreateSession.
    pub application_name: UaString,
    /// ApplicationUri from the clientDescription of CreateSession.
    pub application_uri: UaString,
    /// The user, set by ActivateSession.
    pub user: UserIdentity,
    /// Roles, which decide on all permissions.
    pub roles: RoleSet,
    /// ClientUserId of the user on whose behalf the client forwards this request; empty for an anonymous one. `None`: the client
    /// forwards nothing, or the server does not believe it. It gives no right.
    pub on_behalf_of: Option<String>,
}

impl Caller {
    /// Creates the caller of requests without a Session.
    #[must_use]
    pub fn of_channel(channel: Arc<Channel>) -> Self {
        Self {
            roles: channel.peer.roles(),
            channel,
            session_id: NodeId::NULL,
            session_name: UaString::null(),
            application_name: UaString::null(),
            application_uri: UaString::null(),
            user: UserIdentity::Anonymous,
            on_behalf_of: None,
        }
    }

    /// Creates the caller of changes that the application itself makes, outside any Session.
    #[must_use]
    pub fn local() -> Self {
        let channel = Arc::new(Channel {
            id: 0,
            peer: Peer::SharedMemory {
                user: None,
                process: Some(std::process::id()),
                groups: Vec::new(),
            },
            security: ChannelSecurity::none(),
        });
        Self {
            roles: RoleSet::ALL,
            ..Self::of_channel(channel)
        }
    }

    /// Returns the process at the other end of the channel.
    #[inline]
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.channel.peer
    }

    /// Returns true if this caller, which has opened another channel, may use a Session of `before` (OPC 10000-4, 5.7.3.1): the
    /// user, the Unix user and the client's certificate are the same.
    #[must_use]
    pub fn may_take_over(&self, before: &Self) -> bool {
        self.user == before.user
            // A Session must not gain or lose rights by moving to another channel.
            && self.roles == before.roles
            && self.peer().user() == before.peer().user()
            && self.channel.security.client_certificate
                == before.channel.security.client_certificate
    }

    /// Returns true if this caller may take over a Subscription of `owner` into another Session (OPC 10000-4, 5.14.7.1): the user, the
    /// Unix user and the ApplicationUri are the same. Without a user, both channels have to prove the application: a claimed
    /// ApplicationUri is not enough.
    #[must_use]
    pub fn may_take_subscription_of(&self, owner: &Self) -> bool {
        let is_proved = |caller: &Self| {
            caller.user != UserIdentity::Anonymous || caller.channel.proves_application()
        };
        self.user == owner.user
            && self.peer().user() == owner.peer().user()
            && self.application_uri == owner.application_uri
            && is_proved(self)
            && is_proved(owner)
    }

    /// Returns the approximate bytes of memory of its names.
    #[must_use]
    pub fn memory(&self) -> usize {
        let names = [
            &self.session_name,
            &self.application_name,
            &self.application_uri,
        ];
        size_of::<Self>() + names.iter().map(|name| name.as_str().len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(user: Option<u32>, certificate: &[u8]) -> Caller {
        let peer = Peer::SharedMemory {
            user,
            process: None,
            groups: Vec::new(),
        };
        let security = ChannelSecurity {
            client_certificate: Arc::new(PeerCertificate::parse(certificate.to_vec())),
            ..ChannelSecurity::none()
        };
        Caller::of_channel(Arc::new(Channel {
            id: 1,
            peer,
            security,
        }))
    }

    #[test]
    fn a_session_is_taken_over_by_the_same_user_with_the_same_certificate() {
        let before = caller(Some(1000), b"certificate");
        assert!(caller(Some(1000), b"certificate").may_take_over(&before));
        assert!(!caller(Some(1001), b"certificate").may_take_over(&before));
        assert!(!caller(Some(1000), b"another").may_take_over(&before));
        assert!(!caller(Some(1000), b"").may_take_over(&before));
        let mut other = before.clone();
        other.user = UserIdentity::UserName {
            name: String::from("operator"),
        };
        assert!(!other.may_take_over(&before));
    }

    #[test]
    fn a_subscription_of_an_anonymous_user_is_taken_over_if_the_channels_prove_the_application() {
        let over_tcp = |mode, user| {
            let peer = Peer::tcp(([10, 0, 0, 7], 4840).into());
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
                application_uri: "urn:client".into(),
                user,
                ..Caller::of_channel(Arc::new(channel))
            }
        };
        let operator = UserIdentity::UserName {
            name: String::from("operator"),
        };
        let (none, sign) = (MessageSecurityMode::None, MessageSecurityMode::Sign);
        let encrypt = MessageSecurityMode::SignAndEncrypt;
        for (old, new, anonymous) in [
            (none, none, false),
            (none, sign, false),
            (sign, none, false),
            (sign, encrypt, true),
            (encrypt, encrypt, true),
            (
                MessageSecurityMode::Invalid,
                MessageSecurityMode::Invalid,
                false,
            ),
        ] {
            for (user, expected) in [
                (UserIdentity::Anonymous, anonymous),
                (operator.clone(), true),
            ] {
                let (owner, caller) = (over_tcp(old, user.clone()), over_tcp(new, user));
                let may = caller.may_take_subscription_of(&owner);
                assert_eq!(may, expected, "{old:?} {new:?} {:?}", owner.user);
            }
        }
        let owner = over_tcp(sign, UserIdentity::Anonymous);
        let other = Caller {
            application_uri: "urn:other".into(),
            ..owner.clone()
        };
        assert!(!other.may_take_subscription_of(&owner));
        assert!(!over_tcp(sign, operator).may_take_subscription_of(&owner));
        // Over shared memory, the operating system tells the user.
        let local = caller(Some(1000), b"");
        assert!(local.may_take_subscription_of(&local));
        assert!(!caller(Some(1001), b"").may_take_subscription_of(&local));
        let unknown = caller(None, b"");
        assert!(!unknown.may_take_subscription_of(&unknown));
    }

    #[test]
    fn peers_are_shown_by_address_or_process() {
        let shown = |user, process| {
            let groups = Vec::new();
            Peer::SharedMemory {
                user,
                process,
                groups,
            }
            .to_string()
        };
        assert_eq!(shown(Some(1000), Some(7)), "process 7");
        assert_eq!(shown(Some(1000), None), "a process of user 1000");
        assert_eq!(shown(None, None), "a process of this host");
        let address: SocketAddr = ([10, 0, 0, 7], 4840).into();
        assert_eq!(Peer::tcp(address).to_string(), "10.0.0.7:4840");
        assert_eq!(Peer::tcp(address).user(), None);
    }
}
