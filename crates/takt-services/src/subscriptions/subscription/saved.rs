//! State of a durable Subscription that outlives the server (OPC 10000-4, 6.8).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_space::{Caller, Channel, ChannelSecurity, Peer, RoleSet, UserIdentity, UserRole};
use takt_ua::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder,
};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::{NodeId, UaString};

use super::{MonitoredItem, Subscription};
use crate::subscriptions::item::SavedItem;

/// Durable Subscription, as it is kept for the next server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SavedSubscription {
    pub(crate) id: u32,
    /// The client that may take it over. Its Session and its channel have ended.
    pub(crate) owner: Caller,
    /// Lifetime without a Publish request.
    pub(crate) lifetime: Duration,
    pub(crate) publishing_interval: Duration,
    pub(crate) max_keep_alive_count: u32,
    pub(crate) max_notifications: u32,
    pub(crate) publishing_enabled: bool,
    pub(crate) priority: u8,
    pub(crate) next_sequence_number: u32,
    pub(crate) last_item_id: u32,
    /// Sequence numbers and bytes of the NotificationMessages that are not acknowledged.
    pub(crate) messages: Vec<(u32, Arc<[u8]>)>,
    pub(crate) items: Vec<SavedItem>,
}

impl SavedSubscription {
    /// Leaves out sequence numbers and MonitoredItemIds that the server may have used after it saved this state.
    pub(crate) fn skip_numbers(&mut self, count: u32) {
        // 0 is neither a sequence number nor a MonitoredItemId.
        let skip = |number: &mut u32| *number = number.wrapping_add(count).max(1);
        skip(&mut self.next_sequence_number);
        skip(&mut self.last_item_id);
    }
}

impl Subscription {
    /// Returns the state; `None` if the Subscription ends with the server.
    pub(crate) fn saved(&self) -> Option<SavedSubscription> {
        let machine = self.machine.diagnostics();
        Some(SavedSubscription {
            id: self.id,
            owner: Caller::clone(&self.owner),
            lifetime: self.durable?,
            publishing_interval: self.publishing_interval,
            max_keep_alive_count: machine.max_keep_alive_count,
            max_notifications: u32::try_from(self.max_notifications).unwrap_or(u32::MAX),
            publishing_enabled: machine.publishing_enabled,
            priority: self.priority,
            next_sequence_number: self.next_sequence_number,
            last_item_id: self.last_item_id,
            messages: self.retransmission.messages().collect(),
            items: self
                .items()
                .filter_map(|item| MonitoredItem::saved(item))
                .collect(),
        })
    }

    /// Continues the numbers of an earlier server in a new Subscription, and keeps its messages for Republish.
    pub(crate) fn restore(
        &mut self,
        lifetime: Duration,
        (next_sequence_number, last_item_id): (u32, u32),
        messages: Vec<(u32, Arc<[u8]>)>,
    ) {
        self.set_durable(lifetime);
        self.next_sequence_number = next_sequence_number.max(1);
        self.last_item_id = last_item_id;
        for (sequence_number, message) in messages {
            self.retransmission.push(sequence_number, message);
        }
    }
}

impl Encode for SavedSubscription {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u32(self.id)?;
        encode_owner(&self.owner, encoder)?;
        encoder.u64(self.lifetime.as_secs())?;
        encoder.f64(self.publishing_interval.as_secs_f64())?;
        encoder.u32(self.max_keep_alive_count)?;
        encoder.u32(self.max_notifications)?;
        encoder.bool(self.publishing_enabled)?;
        encoder.u8(self.priority)?;
        encoder.u32(self.next_sequence_number)?;
        encoder.u32(self.last_item_id)?;
        encoder.array_length(Some(self.messages.len()))?;
        for (sequence_number, message) in &self.messages {
            encoder.u32(*sequence_number)?;
            encoder.byte_string(Some(message))?;
        }
        encoder.array_length(Some(self.items.len()))?;
        self.items.iter().try_for_each(|item| item.encode(encoder))
    }
}

impl Decode<'_> for SavedSubscription {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let id = decoder.u32()?;
        let owner = decode_owner(decoder)?;
        let lifetime = Duration::from_secs(decoder.u64()?);
        let interval = Duration::try_from_secs_f64(decoder.f64()?);
        let publishing_interval = interval.map_err(|_| invalid(decoder, "publishing interval"))?;
        let max_keep_alive_count = decoder.u32()?;
        let max_notifications = decoder.u32()?;
        let publishing_enabled = decoder.bool()?;
        let priority = decoder.u8()?;
        let next_sequence_number = decoder.u32()?;
        let last_item_id = decoder.u32()?;
        // The smallest size of an entry bounds the number that a damaged file can announce.
        let count = decoder.array_length(8)?.unwrap_or_default();
        let mut messages = Vec::new();
        for _ in 0..count {
            let sequence_number = decoder.u32()?;
            messages.push((
                sequence_number,
                Arc::from(decoder.byte_string()?.unwrap_or_default()),
            ));
        }
        let count = decoder.array_length(16)?.unwrap_or_default();
        let items = (0..count)
            .map(|_| decoder.value())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            id,
            owner,
            lifetime,
            publishing_interval,
            max_keep_alive_count,
            max_notifications,
            publishing_enabled,
            priority,
            next_sequence_number,
            last_item_id,
            messages,
            items,
        })
    }
}

fn invalid(decoder: &Decoder<'_>, what: &'static str) -> DecodeError {
    decoder.error(DecodeErrorKind::InvalidValue(what))
}

/// Encodes who may take the Subscription over, and the rights with which it samples.
fn encode_owner(owner: &Caller, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match owner.peer() {
        Peer::Tcp { address, user } => {
            encoder.u8(if user.is_some() { 3 } else { 0 })?;
            encoder.string(Some(&address.to_string()))?;
            if let Some(user) = user {
                encoder.u32(*user)?;
            }
        }
        Peer::SharedMemory { user, .. } => {
            encoder.u8(1 + u8::from(user.is_some()))?;
            encoder.u32(user.unwrap_or_default())?;
        }
    }
    let security = &owner.channel.security;
    encoder.string(Some(&security.policy_uri))?;
    encoder.i32(security.mode.0)?;
    for name in [
        &owner.session_name,
        &owner.application_name,
        &owner.application_uri,
    ] {
        name.encode(encoder)?;
    }
    match &owner.user {
        UserIdentity::Anonymous => encoder.u8(0)?,
        UserIdentity::UserName { name } => {
            encoder.u8(1)?;
            encoder.string(Some(name))?;
        }
        UserIdentity::Application { name } => {
            encoder.u8(2)?;
            encoder.string(Some(name))?;
        }
        UserIdentity::Certificate {
            subject,
            thumbprint,
        } => {
            encoder.u8(3)?;
            encoder.string(Some(subject))?;
            encoder.bytes(thumbprint)?;
        }
        UserIdentity::Issued { issuer, subject } => {
            encoder.u8(4)?;
            encoder.string(Some(issuer))?;
            encoder.string(Some(subject))?;
        }
    }
    let roles: Vec<UserRole> = owner.roles.iter().collect();
    encoder.array_length(Some(roles.len()))?;
    roles
        .iter()
        .try_for_each(|role| role.node_id().encode(encoder))
}

fn decode_owner(decoder: &mut Decoder<'_>) -> Result<Caller, DecodeError> {
    let peer = match decoder.u8()? {
        kind @ (0 | 3) => {
            let address: Option<SocketAddr> = decoder.string()?.and_then(|text| text.parse().ok());
            let address = address.ok_or_else(|| invalid(decoder, "address"))?;
            let user = (kind == 3).then(|| decoder.u32()).transpose()?;
            Peer::Tcp { address, user }
        }
        kind @ (1 | 2) => {
            let user = decoder.u32()?;
            Peer::SharedMemory {
                user: (kind == 2).then_some(user),
                process: None,
                groups: Vec::new(),
            }
        }
        _ => return Err(invalid(decoder, "kind of a peer")),
    };
    let policy_uri = text(decoder)?;
    let security = ChannelSecurity {
        policy_uri,
        mode: MessageSecurityMode(decoder.i32()?),
        ..ChannelSecurity::none()
    };
    let names: [UaString; 3] = [decoder.value()?, decoder.value()?, decoder.value()?];
    let user = match decoder.u8()? {
        0 => UserIdentity::Anonymous,
        1 => UserIdentity::UserName {
            name: text(decoder)?,
        },
        2 => UserIdentity::Application {
            name: text(decoder)?,
        },
        3 => UserIdentity::Certificate {
            subject: text(decoder)?,
            thumbprint: {
                let bytes = decoder.bytes(20)?;
                bytes
                    .try_into()
                    .map_err(|_| invalid(decoder, "thumbprint"))?
            },
        },
        4 => UserIdentity::Issued {
            issuer: text(decoder)?,
            subject: text(decoder)?,
        },
        _ => return Err(invalid(decoder, "kind of a user")),
    };
    let count = decoder.array_length(2)?.unwrap_or_default();
    let mut roles = Vec::new();
    for _ in 0..count {
        let role = UserRole::of_node_id(&NodeId::decode(decoder)?);
        roles.push(role.ok_or_else(|| invalid(decoder, "role"))?);
    }
    let [session_name, application_name, application_uri] = names;
    // The channel and the Session have ended.
    let channel = Channel {
        id: 0,
        peer,
        security,
    };
    Ok(Caller {
        session_name,
        application_name,
        application_uri,
        user,
        roles: RoleSet::of(&roles),
        ..Caller::of_channel(Arc::new(channel))
    })
}

fn text(decoder: &mut Decoder<'_>) -> Result<String, DecodeError> {
    Ok(decoder.string()?.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn each_owner_comes_back_with_its_rights() {
        let name = || "anna".to_owned();
        let users = [
            UserIdentity::Anonymous,
            UserIdentity::UserName { name: name() },
            UserIdentity::Application { name: name() },
            UserIdentity::Certificate {
                subject: name(),
                thumbprint: [7; 20],
            },
            UserIdentity::Issued {
                issuer: "https://issuer".to_owned(),
                subject: name(),
            },
        ];
        let shared_memory = |user| Peer::SharedMemory {
            user,
            process: None,
            groups: Vec::new(),
        };
        let peers = [
            Peer::tcp("[fe80::1]:4840".parse().unwrap()),
            Peer::Tcp {
                address: "127.0.0.1:50000".parse().unwrap(),
                user: Some(1000),
            },
            shared_memory(Some(1000)),
            shared_memory(None),
        ];
        for (user, peer) in users
            .iter()
            .flat_map(|user| peers.iter().map(move |peer| (user, peer)))
        {
            let channel = Channel {
                id: 0,
                peer: peer.clone(),
                security: ChannelSecurity {
                    mode: MessageSecurityMode::SignAndEncrypt,
                    ..ChannelSecurity::none()
                },
            };
            let owner = Caller {
                application_uri: "urn:client".into(),
                user: user.clone(),
                roles: RoleSet::of(&[UserRole::Operator, UserRole::SecurityAdmin]),
                ..Caller::of_channel(Arc::new(channel))
            };
            let mut bytes = Vec::new();
            encode_owner(&owner, &mut Encoder::growing(&mut bytes, 1000)).unwrap();
            let mut decoder = Decoder::new(&bytes);
            assert_eq!(decode_owner(&mut decoder).unwrap(), owner);
            assert_eq!(decoder.remaining(), 0);
        }
    }
}
