//! The bare cryptography of a chunk: padding, signature and cipher, in place, as OPC 10000-6, 6.7.2 has it.

use std::io::{self, ErrorKind};

use takt_crypto::{CryptoError, PolicyProfile, SymmetricKeys};

/// Bytes in front of a message body over opc.tcp: MessageHeader, SecurityTokenId, SequenceHeader (OPC 10000-6, 6.7.2).
pub(crate) const HEADER: usize = 24;

/// Bytes of a chunk in front of those that are encrypted: all headers but the SequenceHeader.
const CLEAR: usize = 16;

/// Bytes of a block of AES.
const BLOCK: usize = 16;

/// Keys that secure and check chunks. Both directions have the same keys, which cost the same time as different ones.
pub(crate) struct Protection {
    keys: SymmetricKeys,
}

impl Protection {
    /// Returns the keys of a SecurityPolicy in mode SignAndEncrypt.
    pub(crate) fn of(profile: &PolicyProfile) -> Result<Self, CryptoError> {
        let bytes = |length| vec![7; length];
        Ok(Self {
            keys: SymmetricKeys::new(
                profile.cipher,
                profile.symmetric_signature,
                &bytes(profile.signing_key_length),
                &bytes(profile.cipher.key_length()),
                &bytes(profile.cipher.iv_length()),
            )?,
        })
    }

    /// Returns the length of the chunk with a body of so many bytes: with headers, PaddingSize, padding and signature.
    pub(crate) fn length(&self, body: usize) -> usize {
        let secured = HEADER - CLEAR + body + 1 + self.keys.signature_length();
        CLEAR + secured.next_multiple_of(BLOCK)
    }

    /// Signs and encrypts a chunk.
    pub(crate) fn secure(&self, chunk: &mut [u8]) -> io::Result<()> {
        let signed = chunk.len().saturating_sub(self.keys.signature_length());
        let (data, signature) = chunk.split_at_mut(signed);
        self.keys.sign(data, signature).map_err(failed)?;
        let encrypted = chunk.get_mut(CLEAR..).unwrap_or_default();
        self.keys.encrypt(encrypted).map_err(failed)
    }

    /// Decrypts a chunk and checks its signature.
    pub(crate) fn check(&self, chunk: &mut [u8]) -> io::Result<()> {
        let encrypted = chunk.get_mut(CLEAR..).unwrap_or_default();
        self.keys.decrypt(encrypted).map_err(failed)?;
        let signed = chunk.len().saturating_sub(self.keys.signature_length());
        let (data, signature) = chunk.split_at(signed);
        self.keys.verify(data, signature).map_err(failed)
    }
}

fn failed(error: CryptoError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_blocks_and_changes_are_noticed() {
        for name in ["Basic256Sha256", "Aes128_Sha256_RsaOaep", "ECC_nistP256"] {
            let protection = Protection::of(PolicyProfile::by_name(name).unwrap()).unwrap();
            for body in [0, 1, 100, 4096] {
                let mut chunk = vec![1; protection.length(body)];
                assert_eq!((chunk.len() - CLEAR) % BLOCK, 0);
                assert!(chunk.len() > HEADER + body + 32);
                protection.secure(&mut chunk).unwrap();
                let mut changed = chunk.clone();
                protection.check(&mut chunk).unwrap();
                assert!(chunk[..=HEADER + body].iter().all(|&byte| byte == 1));
                changed[CLEAR] ^= 1;
                protection.check(&mut changed).unwrap_err();
            }
        }
    }
}
