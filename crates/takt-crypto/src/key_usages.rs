//! Usages of the keys of applications.

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyUsagePurpose};

use crate::policy::KeyKind;

/// Sets the usages of a key of an application (OPC 10000-6, Table 42).
pub(crate) fn set_key_usages(params: &mut CertificateParams, kind: KeyKind) {
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::ContentCommitment,
    ];
    // Keys on elliptic curves only sign.
    if kind == KeyKind::Rsa {
        params.key_usages.extend([
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::DataEncipherment,
        ]);
    }
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
}
