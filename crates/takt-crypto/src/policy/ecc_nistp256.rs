//! SecurityPolicy ECC_nistP256 (OPC 10000-7).

use super::algorithms::{
    AsymmetricSignature, Cipher, EllipticCurve, KeyDerivation, KeyExchange, PolicyProfile,
    SymmetricSignature,
};

pub(super) const PROFILE: PolicyProfile = PolicyProfile {
    uri: "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP256",
    name: "ECC_nistP256",
    asymmetric_signature: AsymmetricSignature::EcdsaP256Sha256,
    key_exchange: KeyExchange::Agreement(EllipticCurve::NistP256),
    key_derivation: KeyDerivation::HkdfSha256,
    cipher: Cipher::Aes128Cbc,
    symmetric_signature: SymmetricSignature::HmacSha256,
    signing_key_length: 32,
    nonce_length: 64,
    min_key_bits: 256,
    max_key_bits: 256,
    rank: 5,
};
