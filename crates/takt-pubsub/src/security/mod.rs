//! Message security of UADP (OPC 10000-14, 7.2.4.4.3 and 8): the SecurityPolicies PubSub-Aes128-CTR and
//! PubSub-Aes256-CTR, Sign and SignAndEncrypt.
//!
//! * [`KeyRing`]: the keys of a SecurityGroup: the current one, those of the past and those of the future. It is filled with
//!   what `GetSecurityKeys` answered, and says when to ask again.
//! * [`MessageProtector`]: what a Publisher does with a message that is encoded: encrypts and signs it in place.
//! * [`MessageVerifier`]: what a Subscriber does with a message before it reads the payload: verifies it, refuses what was
//!   there before, and decrypts in place.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use takt_pubsub::security::{
//!     KeyRing, MessageProtector, MessageVerifier, SIGNATURE_LENGTH, SecurityKeyUpdate, SecurityPolicy,
//! };
//! use takt_ua::binary::Encoder;
//! use takt_ua::{Variant, enumerations::MessageSecurityMode};
//! use takt_wire::{DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId};
//!
//! let mode = MessageSecurityMode::SignAndEncrypt;
//! let policy = SecurityPolicy::PubSubAes256Ctr;
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
//! # What it protects
//!
//! Whoever has the key of the SecurityGroup can write and read everything: Publishers and Subscribers of a group trust each
//! other. Whoever has not can neither make a message that is accepted, nor change one, nor read the payload of one that is
//! encrypted; headers stay readable.
//!
//! **Nonces.** With AES-CTR a nonce must never be used twice with a key: who has both messages has the difference of their
//! payloads. The MessageNonce (7.2.4.4.3.2) is a random part of 4 bytes and a sequence number of 4 bytes. A
//! [`MessageProtector`] draws its random part from the operating system when it is made, counts from 1 with each token, and
//! goes on with the next random part when the sequence number is used up. So it never repeats a nonce itself. Two
//! protectors that share a key (several WriterGroups or Publishers, or one before and after a restart) repeat nonces if both drew the
//! same random part. With *n* protectors during the life of one key that happens with a probability of *n*·(*n* − 1)/2³³:
//!
//! | protectors with one key, restarts included | probability, for each key |
//! |---|---|
//! | 2 | 2 · 10⁻¹⁰ |
//! | 10 | 1 · 10⁻⁸ |
//! | 100 | 1 · 10⁻⁶ |
//! | 1000 | 1 · 10⁻⁴ |
//!
//! The layout of the standard allows no more. Many Publishers do better with a SecurityGroup each, or with keys that
//! live shorter; [`MessageProtector::with_random_part`] takes random parts that are given out by someone who knows them all.
//!
//! **Replay.** A Subscriber remembers, for each Publisher, WriterGroup and token, the random parts that it has seen and for each
//! which of the last 128 sequence numbers; what is older, or was there before, is refused. A restart brings a new random part and is
//! accepted; the old one is still remembered, as long as the token is accepted. The limits:
//!
//! * Memory is bounded, and what does not fit into it is refused, not forgotten: see [`MAX_RANDOM_PARTS`], [`ReplayLimits`].
//! * A Subscriber that has just started remembers nothing: messages recorded with a token that is still accepted can be replayed to
//!   it once. So can messages that were recorded and never arrived, for as long as the token is accepted.
//! * Some Publishers (open62541) draw a random part for each message. They are recognized by it; from then on only
//!   sequence numbers count, and a restart is refused until the next token.
//!
//! **Keys** are zeroed when they are dropped. (What the compiler has left on the stack on the way is not.)

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
pub use key_ring::{KeyRing, KeyRingError, MAX_KEYS, NoSendingKey, SecurityKeyUpdate};
pub use keys::{KeyDataError, SecurityKeys};
pub use policy::{MESSAGE_NONCE_LENGTH, SIGNATURE_LENGTH, SecurityModeError, SecurityPolicy};
pub use protector::{MessageProtector, ProtectError, ProtectorError};
pub use replay::{MAX_RANDOM_PARTS, Replay, ReplayLimits};
pub use verifier::{MessageVerifier, Verified, VerifyError};
