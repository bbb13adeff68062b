//! SecurityPolicy Aes256_Sha256_RsaPss (OPC 10000-7).

use super::algorithms::{
    AsymmetricEncryption, AsymmetricSignature, Cipher, KeyDerivation, KeyExchange, PolicyProfile,
    SymmetricSignature,
};

pub(super) const PROFILE: PolicyProfile = PolicyProfile {
    uri: "http://opcfoundation.org/UA/SecurityPolicy#Aes256_Sha256_RsaPss",
    name: "Aes256_Sha256_RsaPss",
    asymmetric_signature: AsymmetricSignature::RsaPssSha256,
    key_exchange: KeyExchange::Encryption(AsymmetricEncryption::RsaOaepSha256),
    key_derivation: KeyDerivation::PSha256,
    cipher: Cipher::Aes256Cbc,
    symmetric_signature: SymmetricSignature::HmacSha256,
    signing_key_length: 32,
    nonce_length: 32,
    min_key_bits: 2048,
    max_key_bits: 4096,
    rank: 30,
};
