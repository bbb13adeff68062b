//! Cryptography of OPC UA: SecurityPolicies (OPC 10000-7), keys, certificates and trust lists (OPC 10000-4, 6.1.3;
//! OPC 10000-12, Annex F).
//!
//! Primitives come from libraries that run in constant time: RSA, elliptic curves, HKDF, ChaCha20-Poly1305, X.509 signatures and
//! SHA-1 from `aws-lc-rs`; AES, HMAC and SHA-2 from RustCrypto, which allocate nothing. This crate knows no chunks, channels,
//! Sessions or sockets.
//!
//! * [`PolicyProfile`]: the algorithms of a SecurityPolicy. [`PolicyProfile::ALL`] is the only list of them.
//! * [`PrivateKey`], [`PublicKey`], [`SymmetricKeys`], [`AuthenticatedKey`]: operations with the algorithms of a policy. Keys are
//!   set to zero when they are dropped.
//! * [`EphemeralKey`], [`ChannelKeys`], [`EncryptedSecret`]: agreement on keys over elliptic curves, and its two uses.
//! * [`Certificate`], [`OwnCertificate`]: parsed certificates, and an own certificate with its key.
//! * [`TrustList`], [`CertificateStore`]: the checks of a peer's certificate, and the folders that they use.
//! * [`JwtKeys`]: tokens of users that an authorization service has signed.
//! * [`PasswordHash`]: passwords of users (Argon2id).
//! * [`Remedy`]: what an administrator can do, in the words of the program.

#![forbid(unsafe_code)]

mod application;
mod authenticated;
mod certificate;
mod certificate_error;
mod certificate_types;
mod changes;
mod channel_keys;
mod creation;
mod creation_error;
mod encrypted_secret;
mod ephemeral;
mod expiry;
mod exposure;
mod file_state;
mod files;
mod folder;
mod identity;
mod issuance;
mod jwt;
mod key_derivation;
mod key_usages;
mod password;
mod password_proofs;
mod peer_certificate;
mod policy;
mod private_key;
mod public_key;
mod remedy;
mod replaced;
mod revocation;
mod signing_request;
mod store;
mod symmetric;
mod trust;
mod x509;

pub use application::{ApplicationSecurity, OwnUpdate, OwnUpdateError, PeerExpectations, now};
pub use authenticated::{AuthenticatedKey, NonceMask, TAG_LENGTH};
pub use certificate::{Certificate, MAX_CHAIN_LENGTH, MAX_CHAIN_SIZE, Thumbprint};
pub use certificate_error::CertificateError;
pub use changes::{OwnFiles, StoredLists};
pub use channel_keys::{ChannelKeys, KeyMaterial, KeyShare};
pub use creation::NewCertificate;
pub use creation_error::CreationError;
pub use encrypted_secret::EncryptedSecret;
pub use ephemeral::{EphemeralKey, SharedSecret};
pub use file_state::FileState;
pub use folder::StoreError;
pub use identity::OwnCertificate;
pub use jwt::{
    JwtClaims, JwtError, JwtExpectations, JwtKeys, JwtKeysError, MAX_JWT, claimed_subject,
};
pub use key_derivation::{hkdf, p_sha256};
pub use password::PasswordHash;
pub use password_proofs::PasswordProofs;
pub use peer_certificate::PeerCertificate;
pub use policy::{
    AsymmetricEncryption, AsymmetricSignature, Cipher, EllipticCurve, KeyDerivation, KeyExchange,
    KeyKind, PolicyProfile, SymmetricSignature,
};
pub use private_key::{KeyError, PrivateKey};
pub use public_key::PublicKey;
pub use remedy::Remedy;
pub use revocation::RevocationList;
pub use signing_request::{issue, signing_request};
pub use store::{CertificateStore, StoredCertificate, StoredRevocationList};
pub use symmetric::SymmetricKeys;
pub use trust::{Expectations, TrustList};

/// Error of a cryptographic operation. It has no details, so that a peer cannot learn from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cryptographic operation failed")]
pub struct CryptoError;
