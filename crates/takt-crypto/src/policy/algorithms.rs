//! Algorithms of SecurityPolicies, and what a policy consists of.

/// Algorithm of asymmetric signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsymmetricSignature {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RsaPkcs1Sha256,
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    RsaPssSha256,
}

impl AsymmetricSignature {
    /// Returns the URI in SignatureData (OPC 10000-4, 7.37).
    #[must_use]
    pub const fn uri(self) -> &'static str {
        match self {
            Self::RsaPkcs1Sha256 => "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            Self::RsaPssSha256 => "http://opcfoundation.org/UA/security/rsa-pss-sha2-256",
        }
    }
}

/// Algorithm of asymmetric encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsymmetricEncryption {
    /// RSAES-OAEP with SHA-1 and MGF1 with SHA-1, as the policies demand. OAEP does not depend on the weakness of SHA-1.
    RsaOaepSha1,
    /// RSAES-OAEP with SHA-256 and MGF1 with SHA-256.
    RsaOaepSha256,
}

impl AsymmetricEncryption {
    /// Returns the URI in encrypted tokens (OPC 10000-4, 7.40).
    #[must_use]
    pub const fn uri(self) -> &'static str {
        match self {
            Self::RsaOaepSha1 => "http://www.w3.org/2001/04/xmlenc#rsa-oaep",
            Self::RsaOaepSha256 => "http://opcfoundation.org/UA/security/rsa-oaep-sha2-256",
        }
    }

    /// Returns the number of bytes of each block that are not plain text: two hashes and two bytes (RFC 8017, 7.1.1).
    #[must_use]
    pub const fn overhead(self) -> usize {
        match self {
            Self::RsaOaepSha1 => 42,
            Self::RsaOaepSha256 => 66,
        }
    }
}

/// Symmetric cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-CBC with keys of 128 bits.
    Aes128Cbc,
    /// AES-CBC with keys of 256 bits.
    Aes256Cbc,
}

impl Cipher {
    /// Returns the length of a key in bytes.
    #[must_use]
    pub const fn key_length(self) -> usize {
        match self {
            Self::Aes128Cbc => 16,
            Self::Aes256Cbc => 32,
        }
    }

    /// Returns the length of a block, and of the initialisation vector, in bytes.
    #[must_use]
    pub const fn block_length(self) -> usize {
        16
    }
}

/// The algorithms and lengths of a SecurityPolicy (OPC 10000-7). Symmetric signatures are HMAC-SHA256 and keys are derived
/// with P_SHA256 in all of them.
#[derive(Debug, PartialEq, Eq)]
pub struct PolicyProfile {
    /// URI, as sent in the asymmetric security header.
    pub uri: &'static str,
    /// Short name: the part of the URI behind `#`.
    pub name: &'static str,
    /// Algorithm of asymmetric signatures.
    pub asymmetric_signature: AsymmetricSignature,
    /// Algorithm of asymmetric encryption.
    pub asymmetric_encryption: AsymmetricEncryption,
    /// Symmetric cipher.
    pub cipher: Cipher,
    /// Length of the key of symmetric signatures in bytes (DerivedSignatureKeyLength).
    pub signing_key_length: usize,
    /// Length of nonces in bytes (SecureChannelNonceLength).
    pub nonce_length: usize,
    /// Smallest length of an asymmetric key in bits.
    pub min_key_bits: usize,
    /// Largest length of an asymmetric key in bits.
    pub max_key_bits: usize,
    /// Rank among the policies: clients prefer a higher one. From 1 on, below 100.
    pub rank: u8,
}
