//! Algorithms of SecurityPolicies, and what a policy consists of.

use std::fmt;
use std::str::FromStr;

/// Algorithm of asymmetric signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsymmetricSignature {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RsaPkcs1Sha256,
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    RsaPssSha256,
    /// ECDSA with P-256 and SHA-256: both numbers one after the other, 32 bytes each.
    EcdsaP256Sha256,
    /// ECDSA with P-384 and SHA-384: both numbers one after the other, 48 bytes each.
    EcdsaP384Sha384,
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl AsymmetricSignature {
    /// Returns the URI in SignatureData (OPC 10000-4, 7.37). It is empty for elliptic curves: there the SecurityPolicy alone
    /// decides, and applications send nothing.
    #[must_use]
    pub const fn uri(self) -> &'static str {
        match self {
            Self::RsaPkcs1Sha256 => "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            Self::RsaPssSha256 => "http://opcfoundation.org/UA/security/rsa-pss-sha2-256",
            Self::EcdsaP256Sha256 | Self::EcdsaP384Sha384 | Self::Ed25519 => "",
        }
    }

    /// Returns true if SignatureData may name this algorithm as `uri`. With elliptic curves the field is ignored.
    #[must_use]
    pub fn is_named(self, uri: &str) -> bool {
        self.uri().is_empty() || self.uri() == uri
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

/// Elliptic curve of EphemeralKeys and certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EllipticCurve {
    /// NIST P-256: ECDH and ECDSA.
    NistP256,
    /// NIST P-384: ECDH and ECDSA.
    NistP384,
    /// Curve25519: X25519 for EphemeralKeys, Ed25519 for certificates.
    Curve25519,
}

impl EllipticCurve {
    /// All curves.
    pub const ALL: [Self; 3] = [Self::NistP256, Self::NistP384, Self::Curve25519];

    /// Returns the name, as in the names of SecurityPolicies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NistP256 => "nistP256",
            Self::NistP384 => "nistP384",
            Self::Curve25519 => "curve25519",
        }
    }

    /// Returns the length of a key in bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::NistP256 | Self::Curve25519 => 256,
            Self::NistP384 => 384,
        }
    }

    /// Returns the length of the public part of an EphemeralKey in bytes: both coordinates (OPC 10000-6, 6.8.1), or the one of
    /// X25519.
    #[must_use]
    pub const fn ephemeral_key_length(self) -> usize {
        match self {
            Self::NistP256 => 64,
            Self::NistP384 => 96,
            Self::Curve25519 => 32,
        }
    }

    /// Returns the algorithm of signatures with the key of a certificate.
    #[must_use]
    pub const fn signature(self) -> AsymmetricSignature {
        match self {
            Self::NistP256 => AsymmetricSignature::EcdsaP256Sha256,
            Self::NistP384 => AsymmetricSignature::EcdsaP384Sha384,
            Self::Curve25519 => AsymmetricSignature::Ed25519,
        }
    }
}

/// Kind of the key of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// RSA.
    Rsa,
    /// A key on an elliptic curve.
    Ec(EllipticCurve),
}

impl KeyKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Rsa,
        Self::Ec(EllipticCurve::NistP256),
        Self::Ec(EllipticCurve::NistP384),
        Self::Ec(EllipticCurve::Curve25519),
    ];
}

impl FromStr for KeyKind {
    type Err = String;

    /// Reads `RSA` or the name of a curve; upper and lower case do not matter.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|kind| kind.to_string().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let names = Self::ALL.map(|kind| kind.to_string()).join(", ");
            format!("`{text}` is not one of {names}")
        })
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa => formatter.write_str("RSA"),
            Self::Ec(curve) => formatter.write_str(curve.name()),
        }
    }
}

/// Way in which client and server get a secret that nobody else knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyExchange {
    /// Secrets are encrypted with the key of the receiver's certificate.
    Encryption(AsymmetricEncryption),
    /// Both sides make an EphemeralKey on this curve for each token (OPC 10000-6, 6.8.1). Certificates only sign.
    Agreement(EllipticCurve),
}

/// Algorithm of symmetric signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymmetricSignature {
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// Poly1305, as a part of ChaCha20-Poly1305.
    Poly1305,
}

impl SymmetricSignature {
    /// Returns the length of a signature in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::Poly1305 => 16,
        }
    }
}

/// Hash of a key derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDerivation {
    /// P_SHA256 (RFC 5246, 5).
    PSha256,
    /// HKDF with SHA-256 (RFC 5869).
    HkdfSha256,
    /// HKDF with SHA-384.
    HkdfSha384,
}

/// Symmetric cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-CBC with keys of 128 bits.
    Aes128Cbc,
    /// AES-CBC with keys of 256 bits.
    Aes256Cbc,
    /// ChaCha20-Poly1305, which signs as well (RFC 8439).
    ChaCha20Poly1305,
}

impl Cipher {
    /// Returns the length of a key in bytes.
    #[must_use]
    pub const fn key_length(self) -> usize {
        match self {
            Self::Aes128Cbc => 16,
            Self::Aes256Cbc | Self::ChaCha20Poly1305 => 32,
        }
    }

    /// Returns the length of the initialisation vector in bytes.
    #[must_use]
    pub const fn iv_length(self) -> usize {
        match self {
            Self::Aes128Cbc | Self::Aes256Cbc => 16,
            Self::ChaCha20Poly1305 => 12,
        }
    }

    /// Returns true for AuthenticatedEncryption: one operation signs and encrypts.
    #[must_use]
    pub const fn is_authenticated(self) -> bool {
        matches!(self, Self::ChaCha20Poly1305)
    }
}

/// The algorithms and lengths of a SecurityPolicy (OPC 10000-7).
#[derive(Debug, PartialEq, Eq)]
pub struct PolicyProfile {
    /// URI, as sent in the asymmetric security header.
    pub uri: &'static str,
    /// Short name: the part of the URI behind `#`.
    pub name: &'static str,
    /// Algorithm of asymmetric signatures.
    pub asymmetric_signature: AsymmetricSignature,
    /// Way to a common secret.
    pub key_exchange: KeyExchange,
    /// Derivation of symmetric keys.
    pub key_derivation: KeyDerivation,
    /// Symmetric cipher.
    pub cipher: Cipher,
    /// Algorithm of symmetric signatures.
    pub symmetric_signature: SymmetricSignature,
    /// Length of the key of symmetric signatures in bytes (DerivedSignatureKeyLength).
    pub signing_key_length: usize,
    /// Length of nonces in bytes (SecureChannelNonceLength).
    pub nonce_length: usize,
    /// Smallest length of an asymmetric key in bits.
    pub min_key_bits: usize,
    /// Largest length of an asymmetric key in bits.
    pub max_key_bits: usize,
    /// Rank among the policies: clients prefer a higher one. From 1 on, below 100. Policies with elliptic curves have lower ranks
    /// than those with RSA: a client that chooses by itself shall not need a second certificate that nobody trusts yet.
    pub rank: u8,
}

impl PolicyProfile {
    /// Returns the kind of the keys of certificates.
    #[must_use]
    pub const fn key_kind(&self) -> KeyKind {
        match self.key_exchange {
            KeyExchange::Encryption(_) => KeyKind::Rsa,
            KeyExchange::Agreement(curve) => KeyKind::Ec(curve),
        }
    }

    /// Returns the algorithm of asymmetric encryption; `None` for elliptic curves.
    #[must_use]
    pub const fn asymmetric_encryption(&self) -> Option<AsymmetricEncryption> {
        match self.key_exchange {
            KeyExchange::Encryption(algorithm) => Some(algorithm),
            KeyExchange::Agreement(_) => None,
        }
    }

    /// Returns the curve of EphemeralKeys; `None` for RSA.
    #[must_use]
    pub const fn curve(&self) -> Option<EllipticCurve> {
        match self.key_exchange {
            KeyExchange::Encryption(_) => None,
            KeyExchange::Agreement(curve) => Some(curve),
        }
    }
}
