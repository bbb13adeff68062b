//! Message security of UADP (OPC 10000-14, 7.2.4.4.3 and 8): the SecurityPolicies PubSub-Aes128-CTR and
//! PubSub-Aes256-CTR, Sign and SignAndEncrypt.
//!
//! * [`KeyRing`]: the keys of a SecurityGroup: the current key, past keys and future keys. It takes the answers to
//!   `GetSecurityKeys`, and returns the time of the next request.
//! * [`MessageProtector`]: the protection of a Publisher's encoded messages: it encrypts and signs them in place.
//! * [`MessageVerifier`]: the verification of messages by a Subscriber, before it reads the payload: it verifies them, refuses
//!   replayed ones, and decrypts in place.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use takt_pubsub::security::{
//!     KeyRing, MessageProtector, MessageVerifier, SIGNATURE_LENGTH, SecurityKeyUpdate, PubSubSecurityPolicy,
//! };
//! use takt_ua::binary::Encoder;
//! use takt_ua::{Variant, enumerations::MessageSecurityMode};
//! use takt_wire::{DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId};
//!
//! let mode = MessageSecurityMode::SignAndEncrypt;
//! let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
//! # let key_data = [7; 68];
//! let now = Instant::now();
//! let mut keys = KeyRing::new();
//! keys.update(
//!     &SecurityKeyUpdate {
//!         security_policy_uri: policy.uri().to_owned(),
//!         first_token_id: 1,
//!         keys: vec![key_data.to_vec().into()],
//!         time_to_next_key: Duration::from_secs(1800),
//!         key_lifetime: Duration::from_secs(3600),
//!     },
//!     now,
//! )?;
//!
//! let message = NetworkMessage {
//!     security_header: Some(policy.security_header(mode)?),
//!     signature: vec![0; SIGNATURE_LENGTH],
//!     ..NetworkMessage::data(
//!         Some(PublisherId::UInt16(1)),
//!         vec![DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
//!             Variant::Double(21.5),
//!         ])))],
//!     )
//! };
//! let mut bytes = Vec::new();
//! let layout = message.encode(&mut Encoder::growing(&mut bytes, 1000))?;
//! let plain = bytes.clone();
//! MessageProtector::new(mode)?.protect(&keys, &mut bytes, &layout, now)?;
//! assert_ne!(bytes[layout.encrypted.clone()], plain[layout.encrypted.clone()]);
//!
//! MessageVerifier::new(mode)?.verify(&keys, &mut bytes, now)?;
//! assert_eq!(bytes[layout.encrypted.clone()], plain[layout.encrypted.clone()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Protection
//!
//! A holder of the key of the SecurityGroup can write and read everything: Publishers and Subscribers of a group trust each
//! other. Without the key, it is not possible to make a message that is accepted, or to change one, or to read the payload of an
//! encrypted one; headers stay readable.
//!
//! **Nonces.** With AES-CTR a nonce must never be used twice with a key: two messages with the same nonce reveal the difference
//! of their payloads. The MessageNonce (OPC 10000-14, 7.2.4.4.3.2) is a random part of 4 bytes and a sequence number of 4 bytes.
//! A [`MessageProtector`] draws its random part from the operating system when it is created, counts from 1 with each token, and
//! continues with the next random part when the sequence number is used up. So it never repeats a nonce itself. Two protectors
//! that share a key (several WriterGroups or Publishers, or one before and after a restart) repeat nonces if both drew the same
//! random part. With *n* protectors during the life of one key, this happens with a probability of *n*·(*n* − 1)/2³³:
//!
//! | protectors with one key, restarts included | probability, for each key |
//! |---|---|
//! | 2 | 2 · 10⁻¹⁰ |
//! | 10 | 1 · 10⁻⁸ |
//! | 100 | 1 · 10⁻⁶ |
//! | 1000 | 1 · 10⁻⁴ |
//!
//! The layout of the standard allows no better. Many Publishers should have a SecurityGroup each, or keys with a shorter
//! lifetime; [`MessageProtector::with_random_part`] takes random parts from a central place that assigns each only once.
//!
//! **Replay.** A Subscriber remembers, for each Publisher, WriterGroup and token, the random parts that it has received, and for
//! each of them the received ones among the last 128 sequence numbers; older and repeated messages are refused. A restart brings
//! a new random part and is accepted; the old one is still remembered, as long as the token is accepted. The limits:
//!
//! * Memory is bounded, and messages beyond it are refused, not forgotten: see [`ReplayLimits`].
//! * A Subscriber that has just started remembers nothing: messages recorded with a token that is still accepted can be replayed
//!   to it once. The same is true for messages that were recorded and never arrived, for as long as the token is accepted.
//! * Some Publishers (open62541) draw a random part for each message. If their sequence numbers rise, they are recognized by it;
//!   from then on only sequence numbers count, and a restart is refused until the next token.
//! * If such a Publisher does not count either (an example of open62541 sends 1 each time), nothing tells a new message from an old
//!   one but its whole MessageNonce. So after [`MAX_RANDOM_PARTS`] each nonce is remembered, up to a limit for each token.
//!
//! **Keys** are zeroed when they are dropped. (Copies that the compiler has left on the stack are not zeroed.)

mod inspection;
mod key_ring;
mod keys;
mod policy;
mod protector;
mod replay;
#[cfg(test)]
mod tests;
mod verifier;

pub use inspection::Inspection;
pub use key_ring::{KeyRing, KeyRingError, MAX_KEYS, NoSendingKey};
pub use keys::{KeyDataError, SecurityKeys};
pub use policy::{MESSAGE_NONCE_LENGTH, PubSubSecurityPolicy, SIGNATURE_LENGTH, SecurityModeError};
pub use protector::{MessageProtector, ProtectError, ProtectorError};
pub use replay::{MAX_RANDOM_PARTS, Replay, ReplayLimits};
pub use takt_ua::SecurityKeyUpdate;
pub use verifier::{MessageVerifier, Verified, VerifyError};
