mod keys;
mod messages;
mod refusals;
mod ring;
mod rotation;

use std::time::{Duration, Instant};

use takt_ua::Variant;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, GroupHeader, NetworkMessage, PublisherId,
    SecurityLayout,
};

use super::*;

const ENCRYPT: MessageSecurityMode = MessageSecurityMode::SignAndEncrypt;
const AES_128: PubSubSecurityPolicy = PubSubSecurityPolicy::PubSubAes128Ctr;
const LIFETIME: Duration = Duration::from_secs(100);

/// Returns key data that differs for each token.
fn key_data(policy: PubSubSecurityPolicy, token: u32) -> Vec<u8> {
    let seed = token.to_le_bytes();
    let bytes = seed.into_iter().cycle().zip(0_u8..);
    let bytes = bytes.map(|(seed, index)| seed.wrapping_mul(31) ^ index);
    bytes.take(policy.key_data_length()).collect()
}

/// Returns an answer of the SecurityKeyService at the start of a KeyLifetime.
fn answer(policy: PubSubSecurityPolicy, first_token_id: u32, count: u32) -> SecurityKeyUpdate {
    let tokens = first_token_id..first_token_id + count;
    SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id,
        keys: tokens.map(|token| key_data(policy, token).into()).collect(),
        time_to_next_key: LIFETIME,
        key_lifetime: LIFETIME,
    }
}

fn ring(policy: PubSubSecurityPolicy, first_token_id: u32, count: u32, now: Instant) -> KeyRing {
    let mut keys = KeyRing::new();
    keys.update(&answer(policy, first_token_id, count), now)
        .unwrap();
    keys
}

fn network_message(
    policy: PubSubSecurityPolicy,
    mode: MessageSecurityMode,
    fields: Vec<Variant>,
) -> NetworkMessage {
    let content = DataSetContent::KeyFrame(Fields::Variant(fields));
    NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(0x0304),
            ..GroupHeader::default()
        }),
        security_header: Some(policy.security_header(mode).unwrap()),
        signature: vec![0; SIGNATURE_LENGTH],
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(0x0102)),
            vec![DataSetMessage::new(content)],
        )
    }
}

fn encoded(message: &NetworkMessage) -> (Vec<u8>, SecurityLayout) {
    let mut bytes = Vec::new();
    let layout = message
        .encode(&mut Encoder::growing(&mut bytes, 100_000))
        .unwrap();
    (bytes, layout)
}

/// Returns a message before its protection.
fn plain(
    policy: PubSubSecurityPolicy,
    mode: MessageSecurityMode,
    value: u32,
) -> (Vec<u8>, SecurityLayout) {
    encoded(&network_message(policy, mode, vec![value.into()]))
}
