//! EccEncryptedSecret: a password that is encrypted with keys from two EphemeralKeys and signed by its sender (OPC 10000-4,
//! 7.40.2.3 and 7.40.2.5; OPC 10000-6, 6.8.3).

use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::ids::ECC_ENCRYPTED_SECRET;
use takt_ua::{DateTime, NodeIdRef};
use zeroize::Zeroizing;

use crate::CryptoError;
use crate::authenticated::{AuthenticatedKey, NonceMask, TAG_LENGTH};
use crate::ephemeral::{EphemeralKey, SharedSecret};
use crate::identity::OwnCertificate;
use crate::key_derivation::agreed_keys;
use crate::policy::{PolicyProfile, SymmetricSignature};
use crate::public_key::PublicKey;
use crate::symmetric::SymmetricKeys;

/// Multiple of which the length of the payload is.
const BLOCK: usize = 16;

/// Encoding byte of a body in the OPC UA Binary DataEncoding.
const BINARY: u8 = 1;

/// Number of bytes of the padding's length.
const PADDING_SIZE: usize = 2;

/// A received secret, of which nothing is verified yet.
#[derive(Debug, Clone, Copy)]
pub struct EncryptedSecret<'a> {
    bytes: &'a [u8],
    /// URI of the SecurityPolicy.
    pub policy_uri: &'a str,
    /// Certificate of the sender (DER), followed by those of its issuers; empty if the receiver knows it.
    pub certificate: &'a [u8],
    sender_key: &'a [u8],
    receiver_key: &'a [u8],
    /// Start of the payload.
    payload: usize,
}

impl<'a> EncryptedSecret<'a> {
    /// Returns true if `bytes` begin like an EccEncryptedSecret: with its TypeId.
    #[must_use]
    pub fn is_one(bytes: &[u8]) -> bool {
        let type_id = NodeIdRef::decode(&mut Decoder::new(bytes));
        type_id.is_ok_and(|id| id == NodeIdRef::numeric(0, ECC_ENCRYPTED_SECRET))
    }

    /// Reads the parts that are not encrypted.
    ///
    /// # Errors
    /// [`CryptoError`] if the form is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CryptoError> {
        if !Self::is_one(bytes) {
            return Err(CryptoError);
        }
        let mut d = Decoder::new(bytes);
        let broken = |_| CryptoError;
        NodeIdRef::decode(&mut d).map_err(broken)?;
        let is_binary = d.u8().map_err(broken)? == BINARY;
        let length = d.u32().map_err(broken)?;
        if !is_binary || usize::try_from(length) != Ok(d.remaining()) {
            return Err(CryptoError);
        }
        let policy_uri = d.string().map_err(broken)?.unwrap_or_default();
        let certificate = d.byte_string().map_err(broken)?.unwrap_or_default();
        DateTime::decode(&mut d).map_err(broken)?;
        let key_data = usize::from(d.u16().map_err(broken)?);
        let before = d.position();
        let sender_key = d.byte_string().map_err(broken)?.unwrap_or_default();
        let receiver_key = d.byte_string().map_err(broken)?.unwrap_or_default();
        // Otherwise the two sides would not agree on where the encrypted part begins.
        if d.position() - before != key_data {
            return Err(CryptoError);
        }
        Ok(Self {
            bytes,
            policy_uri,
            certificate,
            sender_key,
            receiver_key,
            payload: d.position(),
        })
    }

    /// Verifies the signature of the sender, and returns the secret. All failures look alike.
    ///
    /// # Errors
    /// [`CryptoError`] if the signature is wrong, another EphemeralKey than `own` was used, or the secret was made for another
    /// nonce.
    pub fn open(
        &self,
        profile: &PolicyProfile,
        own: &EphemeralKey,
        sender: &PublicKey,
        nonce: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        // Before any cryptography: a secret for an earlier EphemeralKey cannot be opened.
        if self.policy_uri != profile.uri || self.receiver_key != own.public() {
            return Err(CryptoError);
        }
        let end = self.bytes.len().checked_sub(sender.size());
        let end = end.filter(|end| *end > self.payload).ok_or(CryptoError)?;
        let (signed, signature) = self.bytes.split_at(end);
        sender.verify(profile.asymmetric_signature, signed, signature)?;
        let shared = own.agree(self.sender_key)?;
        let keys = SecretKeys::derive(profile, &shared, self.sender_key, self.receiver_key)?;
        let (header, payload) = signed.split_at(self.payload);
        let mut payload = Zeroizing::new(payload.to_vec());
        let plain = keys.decrypt(header, &mut payload)?;
        content(plain, nonce)
    }

    /// Encrypts a secret for the owner of an EphemeralKey, and signs it.
    ///
    /// # Errors
    /// [`CryptoError`] if `receiver_key` is no key of the policy's curve, the certificate has a key of another kind, or the secret
    /// is longer than 65535 bytes.
    pub fn seal(
        profile: &PolicyProfile,
        secret: &[u8],
        nonce: &[u8],
        receiver_key: &[u8],
        sender: &OwnCertificate,
    ) -> Result<Vec<u8>, CryptoError> {
        let curve = profile.curve().ok_or(CryptoError)?;
        if secret.len() > usize::from(u16::MAX) {
            return Err(CryptoError);
        }
        let own = EphemeralKey::generate(curve)?;
        let shared = own.agree(receiver_key)?;
        let keys = SecretKeys::derive(profile, &shared, own.public(), receiver_key)?;
        let mut payload = padded(secret, nonce).map_err(|_| CryptoError)?;

        let signature_length = sender.key().size();
        let behind = payload.len() + keys.tag_length() + signature_length;
        let body = body(profile, sender.chain_der(), own.public(), receiver_key);
        let body = body.map_err(|_| CryptoError)?;
        let mut bytes = Vec::with_capacity(16 + body.len() + behind);
        let length = u32::try_from(body.len() + behind).map_err(|_| CryptoError)?;
        let mut e = Encoder::growing(&mut bytes, usize::MAX);
        NodeIdRef::numeric(0, ECC_ENCRYPTED_SECRET)
            .encode(&mut e)
            .and_then(|()| e.u8(BINARY))
            .and_then(|()| e.u32(length))
            .and_then(|()| e.bytes(&body))
            .map_err(|_| CryptoError)?;
        keys.encrypt(&bytes, &mut payload)?;
        bytes.extend_from_slice(&payload);
        let mut signature = vec![0; signature_length];
        let algorithm = profile.asymmetric_signature;
        sender.key().sign(algorithm, &bytes, &mut signature)?;
        bytes.extend_from_slice(&signature);
        Ok(bytes)
    }
}

/// Returns the fields between Length and payload.
fn body(
    profile: &PolicyProfile,
    certificate: &[u8],
    sender_key: &[u8],
    receiver_key: &[u8],
) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut e = Encoder::growing(&mut bytes, usize::MAX);
    e.string(Some(profile.uri))?;
    e.byte_string(Some(certificate))?;
    DateTime::now().encode(&mut e)?;
    let key_data = 4 + sender_key.len() + 4 + receiver_key.len();
    e.u16(u16::try_from(key_data).unwrap_or(u16::MAX))?;
    e.byte_string(Some(sender_key))?;
    e.byte_string(Some(receiver_key))?;
    Ok(bytes)
}

/// Returns nonce and secret with the padding (OPC 10000-4, Table 183). Short secrets get one block more, which hides their length.
fn padded(secret: &[u8], nonce: &[u8]) -> Result<Zeroizing<Vec<u8>>, EncodeError> {
    let length = 4 + nonce.len() + 4 + secret.len() + PADDING_SIZE;
    let mut padding = length.next_multiple_of(BLOCK) - length;
    if padding + secret.len() < BLOCK {
        padding += BLOCK;
    }
    // With room for the tag, so that no copy of the secret stays in memory that has been freed.
    let mut payload = Zeroizing::new(Vec::with_capacity(length + padding + TAG_LENGTH));
    let mut e = Encoder::growing(&mut payload, usize::MAX);
    e.byte_string(Some(nonce))?;
    e.byte_string(Some(secret))?;
    let count = u16::try_from(padding).unwrap_or(u16::MAX);
    let [low, _] = count.to_le_bytes();
    for _ in 0..padding {
        e.u8(low)?;
    }
    e.u16(count)?;
    Ok(payload)
}

/// Returns the secret in a decrypted payload.
fn content(plain: &[u8], expected_nonce: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let (plain, size) = plain
        .split_last_chunk::<PADDING_SIZE>()
        .ok_or(CryptoError)?;
    let padding = usize::from(u16::from_le_bytes(*size));
    let end = plain.len().checked_sub(padding).ok_or(CryptoError)?;
    let (plain, padding) = plain.split_at(end);
    // The sender's signature was verified, so this error tells an attacker nothing.
    if padding.iter().any(|byte| *byte != size[0]) {
        return Err(CryptoError);
    }
    let mut d = Decoder::new(plain);
    let nonce = d.byte_string().map_err(|_| CryptoError)?;
    let secret = d.byte_string().map_err(|_| CryptoError)?;
    if nonce != Some(expected_nonce) || d.remaining() > 0 {
        return Err(CryptoError);
    }
    Ok(Zeroizing::new(secret.unwrap_or_default().to_vec()))
}

/// The key of a payload.
enum SecretKeys {
    Cbc(SymmetricKeys),
    Authenticated(AuthenticatedKey),
}

impl SecretKeys {
    fn derive(
        profile: &PolicyProfile,
        shared: &SharedSecret,
        sender_key: &[u8],
        receiver_key: &[u8],
    ) -> Result<Self, CryptoError> {
        let (key, iv) = (profile.cipher.key_length(), profile.cipher.iv_length());
        let nonces = [sender_key, receiver_key];
        let derived = agreed_keys(profile, shared, "opcua-secret", nonces, key + iv)?;
        let (key, iv) = derived.split_at(key);
        Ok(match profile.cipher.is_authenticated() {
            true => Self::Authenticated(AuthenticatedKey::new(key, iv)?),
            // The payload has no symmetric signature.
            false => {
                let signature = SymmetricSignature::HmacSha256;
                Self::Cbc(SymmetricKeys::new(profile.cipher, signature, &[], key, iv)?)
            }
        })
    }

    const fn tag_length(&self) -> usize {
        match self {
            Self::Cbc(_) => 0,
            Self::Authenticated(_) => TAG_LENGTH,
        }
    }

    fn encrypt(&self, header: &[u8], payload: &mut Vec<u8>) -> Result<(), CryptoError> {
        match self {
            Self::Cbc(keys) => keys.encrypt(payload),
            Self::Authenticated(key) => {
                // The key is for this secret alone, so a constant mask repeats no nonce.
                let tag = key.seal(NonceMask::default(), header, payload)?;
                payload.extend_from_slice(&tag);
                Ok(())
            }
        }
    }

    fn decrypt<'p>(&self, header: &[u8], payload: &'p mut [u8]) -> Result<&'p [u8], CryptoError> {
        match self {
            Self::Cbc(keys) => {
                keys.decrypt(payload)?;
                Ok(payload)
            }
            Self::Authenticated(key) => {
                let end = payload.len().checked_sub(TAG_LENGTH).ok_or(CryptoError)?;
                let (text, tag) = payload.split_at_mut(end);
                key.open(NonceMask::default(), header, text, tag)?;
                Ok(text)
            }
        }
    }
}
