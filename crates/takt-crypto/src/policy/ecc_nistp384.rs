//! SecurityPolicy ECC_nistP384 (OPC 10000-7).

use super::algorithms::{
    AsymmetricSignature, Cipher, EllipticCurve, KeyDerivation, KeyExchange, PolicyProfile,
    SymmetricSignature,
};

pub(super) const PROFILE: PolicyProfile = PolicyProfile {
    uri: "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP384",
    name: "ECC_nistP384",
    asymmetric_signature: AsymmetricSignature::EcdsaP384Sha384,
    key_exchange: KeyExchange::Agreement(EllipticCurve::NistP384),
    key_derivation: KeyDerivation::HkdfSha384,
    cipher: Cipher::Aes256Cbc,
    symmetric_signature: SymmetricSignature::HmacSha384,
    signing_key_length: 48,
    nonce_length: 96,
    min_key_bits: 384,
    max_key_bits: 384,
    rank: 7,
};
