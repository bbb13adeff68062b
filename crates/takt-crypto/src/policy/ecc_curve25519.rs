//! SecurityPolicy ECC_curve25519 (OPC 10000-7).

use super::algorithms::{
    AsymmetricSignature, Cipher, EllipticCurve, KeyDerivation, KeyExchange, PolicyProfile,
    SymmetricSignature,
};

pub(super) const PROFILE: PolicyProfile = PolicyProfile {
    uri: "http://opcfoundation.org/UA/SecurityPolicy#ECC_curve25519",
    name: "ECC_curve25519",
    asymmetric_signature: AsymmetricSignature::Ed25519,
    key_exchange: KeyExchange::Agreement(EllipticCurve::Curve25519),
    key_derivation: KeyDerivation::HkdfSha256,
    cipher: Cipher::ChaCha20Poly1305,
    symmetric_signature: SymmetricSignature::Poly1305,
    signing_key_length: 32,
    nonce_length: 32,
    min_key_bits: 256,
    max_key_bits: 256,
    rank: 6,
};
