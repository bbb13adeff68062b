//! Keys of a security token: those for messages of the client, and those for messages of the server.

use std::fmt;

use zeroize::Zeroizing;

use crate::CryptoError;
use crate::authenticated::AuthenticatedKey;
use crate::ephemeral::EphemeralKey;
use crate::key_derivation::{agreed_keys, p_sha256};
use crate::policy::{KeyExchange, PolicyProfile};
use crate::symmetric::SymmetricKeys;

/// The part of this application in the keys of a token: a random nonce, or an EphemeralKey whose public part is the nonce.
pub struct KeyShare(Share);

enum Share {
    Nonce(Zeroizing<Vec<u8>>),
    Ephemeral(EphemeralKey),
}

impl KeyShare {
    /// Creates a new share, as the policy demands.
    ///
    /// # Errors
    /// [`CryptoError`] if the system has no random numbers.
    pub fn generate(profile: &PolicyProfile) -> Result<Self, CryptoError> {
        Ok(Self(match profile.key_exchange {
            KeyExchange::Encryption(_) => {
                let mut nonce = Zeroizing::new(vec![0; profile.nonce_length]);
                getrandom::fill(&mut nonce).map_err(|_| CryptoError)?;
                Share::Nonce(nonce)
            }
            KeyExchange::Agreement(curve) => Share::Ephemeral(EphemeralKey::generate(curve)?),
        }))
    }

    /// Creates a share without an EphemeralKey.
    #[must_use]
    pub fn from_nonce(nonce: Vec<u8>) -> Self {
        Self(Share::Nonce(Zeroizing::new(nonce)))
    }

    /// Returns the nonce for the peer.
    #[must_use]
    pub fn nonce(&self) -> &[u8] {
        match &self.0 {
            Share::Nonce(nonce) => nonce,
            Share::Ephemeral(key) => key.public(),
        }
    }
}

impl fmt::Debug for KeyShare {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyShare(secret)")
    }
}

/// Bytes of the keys of one direction. They are set to zero when dropped.
pub struct KeyMaterial {
    derived: Zeroizing<Vec<u8>>,
    signing: usize,
    encrypting: usize,
}

impl KeyMaterial {
    /// Returns the key of signatures.
    #[must_use]
    pub fn signing_key(&self) -> &[u8] {
        &self.derived[..self.signing]
    }

    /// Returns the key of the cipher; empty if nothing is encrypted.
    #[must_use]
    pub fn encrypting_key(&self) -> &[u8] {
        &self.derived[self.signing..self.signing + self.encrypting]
    }

    /// Returns the initialisation vector; empty if there is none.
    #[must_use]
    pub fn iv(&self) -> &[u8] {
        &self.derived[self.signing + self.encrypting..]
    }

    /// Returns the keys for HMAC and AES.
    ///
    /// # Errors
    /// [`CryptoError`] if the policy has AuthenticatedEncryption.
    pub fn symmetric(&self, profile: &PolicyProfile) -> Result<SymmetricKeys, CryptoError> {
        let (signature, signing_key) = (profile.symmetric_signature, self.signing_key());
        if self.encrypting == 0 {
            return SymmetricKeys::signing_only(signature, signing_key);
        }
        let (key, iv) = (self.encrypting_key(), self.iv());
        SymmetricKeys::new(profile.cipher, signature, signing_key, key, iv)
    }

    /// Returns the key of AuthenticatedEncryption: that of signatures if nothing is encrypted.
    ///
    /// # Errors
    /// [`CryptoError`] if the policy has none.
    pub fn authenticated(&self, encrypts: bool) -> Result<AuthenticatedKey, CryptoError> {
        let key = match encrypts {
            true => self.encrypting_key(),
            false => self.signing_key(),
        };
        AuthenticatedKey::new(key, self.iv())
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyMaterial(secret)")
    }
}

/// Keys of both directions of a token.
#[derive(Debug)]
pub struct ChannelKeys {
    /// Keys of messages that the client sends.
    pub client: KeyMaterial,
    /// Keys of messages that the server sends.
    pub server: KeyMaterial,
}

impl ChannelKeys {
    /// Derives the keys from the own share and the nonce of the peer (OPC 10000-6, 6.7.6 and 6.8.1).
    ///
    /// # Errors
    /// [`CryptoError`] if a nonce does not have the length of the policy, or is no key of its curve.
    pub fn derive(
        profile: &PolicyProfile,
        own: &KeyShare,
        peer_nonce: &[u8],
        is_client: bool,
        encrypts: bool,
    ) -> Result<Self, CryptoError> {
        let length = profile.nonce_length;
        if own.nonce().len() != length || peer_nonce.len() != length {
            return Err(CryptoError);
        }
        let (client, server) = match is_client {
            true => (own.nonce(), peer_nonce),
            false => (peer_nonce, own.nonce()),
        };
        let Share::Ephemeral(key) = &own.0 else {
            // OPC 10000-6, Table 66: the keys of a side come from the other side's nonce as the secret.
            return Ok(Self {
                client: by_nonces(profile, server, client),
                server: by_nonces(profile, client, server),
            });
        };
        // OPC 10000-6, 6.8.1: in mode Sign there are no keys of a cipher, unless it signs.
        let has_cipher = encrypts || profile.cipher.is_authenticated();
        let secret = key.agree(peer_nonce)?;
        let keys = |label, nonces| {
            let signing = profile.signing_key_length;
            let (encrypting, iv) = match has_cipher {
                true => (profile.cipher.key_length(), profile.cipher.iv_length()),
                false => (0, 0),
            };
            let length = signing + encrypting + iv;
            Ok(KeyMaterial {
                derived: agreed_keys(profile, &secret, label, nonces, length)?,
                signing,
                encrypting,
            })
        };
        Ok(Self {
            client: keys("opcua-client", [client, server])?,
            server: keys("opcua-server", [server, client])?,
        })
    }
}

fn by_nonces(profile: &PolicyProfile, secret: &[u8], seed: &[u8]) -> KeyMaterial {
    let (signing, encrypting) = (profile.signing_key_length, profile.cipher.key_length());
    let length = signing + encrypting + profile.cipher.iv_length();
    let mut derived = Zeroizing::new(vec![0; length]);
    p_sha256(secret, seed, &mut derived);
    KeyMaterial {
        derived,
        signing,
        encrypting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_derive_the_same_keys_and_each_direction_others() {
        for profile in PolicyProfile::ALL {
            for encrypts in [false, true] {
                let share = || KeyShare::generate(profile).unwrap();
                let (client, server) = (share(), share());
                let derive = |own: &KeyShare, peer: &KeyShare, is_client| {
                    ChannelKeys::derive(profile, own, peer.nonce(), is_client, encrypts).unwrap()
                };
                let (one, other) = (
                    derive(&client, &server, true),
                    derive(&server, &client, false),
                );
                assert_eq!(one.client.derived, other.client.derived);
                assert_eq!(one.server.derived, other.server.derived);
                assert_ne!(one.client.derived, one.server.derived);
                let again = derive(&client, &share(), true);
                assert_ne!(one.client.derived, again.client.derived);
            }
        }
    }

    #[test]
    fn wrong_nonces_lead_to_no_keys() {
        for profile in PolicyProfile::ALL {
            let own = KeyShare::generate(profile).unwrap();
            for length in [0, profile.nonce_length - 1, profile.nonce_length + 1] {
                assert!(ChannelKeys::derive(profile, &own, &vec![7; length], true, true).is_err());
            }
        }
    }
}
