//! Usages of keys (RFC 5280, 4.2.1.3).

use crate::policy::KeyKind;

/// Bits of a KeyUsage, of which bit 0 is the first.
pub(crate) mod usage {
    pub(crate) const DIGITAL_SIGNATURE: u16 = 1;
    pub(crate) const NON_REPUDIATION: u16 = 1 << 1;
    pub(crate) const KEY_ENCIPHERMENT: u16 = 1 << 2;
    pub(crate) const DATA_ENCIPHERMENT: u16 = 1 << 3;
    pub(crate) const KEY_CERT_SIGN: u16 = 1 << 5;
    pub(crate) const CRL_SIGN: u16 = 1 << 6;
}

/// Returns the usages of a key of an application (OPC 10000-6, Table 42).
pub(crate) const fn usages_of_application(kind: KeyKind) -> u16 {
    let signing = usage::DIGITAL_SIGNATURE | usage::NON_REPUDIATION;
    match kind {
        KeyKind::Rsa => signing | usage::KEY_ENCIPHERMENT | usage::DATA_ENCIPHERMENT,
        // Keys on elliptic curves only sign.
        KeyKind::Ec(_) => signing,
    }
}
