//! The structures of X.509 (RFC 5280) and PKCS #10 (RFC 2986), in DER.
//!
//! [`element`] reads elements with the library `der`, which checks lengths and bounds. The structures above them are read here, because
//! signatures, names and thumbprints need the bytes as a peer has sent them. The types of `x509-cert` keep no such bytes, and refuse
//! certificates that peers have: names in UniversalString, times before 1970, path lengths above 255.

pub(crate) mod algorithm;
pub(crate) mod element;
pub(crate) mod extension;
pub(crate) mod fields;
pub(crate) mod key;
pub(crate) mod name;
pub(crate) mod oid;
pub(crate) mod signed;
pub(crate) mod time;
pub(crate) mod write;
