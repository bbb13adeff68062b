//! A certificate authority of the tests, with its revocation list.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, SanType,
    SerialNumber,
};
use takt_crypto::{EllipticCurve, KeyKind, NewCertificate, OwnCertificate};

use crate::process;

/// Time limit of openssl, which makes keys, long enough for a loaded machine.
const OPENSSL: Duration = Duration::from_secs(60);

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Runs openssl in a folder, for keys and certificates of other software.
///
/// # Panics
/// If openssl fails.
pub fn openssl<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) {
    let mut command = Command::new("openssl");
    command.args(arguments).current_dir(folder);
    let _ = process::run("openssl", &mut command, OPENSSL).expect_success();
}

/// Writes a self-signed certificate of an application (DER), which expired yesterday, and its RSA key (PEM).
///
/// # Panics
/// If no key can be made, or a file cannot be written.
pub fn write_expired(application: &NewCertificate, certificate: &Path, key: &Path) {
    let now = SystemTime::now();
    let pair = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("a key");
    let mut params = CertificateParams::default();
    let names = &mut params.distinguished_name;
    names.push(DnType::CommonName, &*application.application_name);
    let text = |text: &String| text.as_str().try_into().expect("ASCII");
    params.subject_alt_names = vec![SanType::URI(text(&application.application_uri))];
    let hosts = application.host_names.iter();
    params
        .subject_alt_names
        .extend(hosts.map(|host| SanType::DnsName(text(host))));
    params.not_before = (now - 10 * DAY).into();
    params.not_after = (now - DAY).into();
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::ContentCommitment,
        KeyUsagePurpose::KeyEncipherment,
        KeyUsagePurpose::DataEncipherment,
        KeyUsagePurpose::KeyCertSign,
    ];
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    let signed = params.self_signed(&pair).expect("a certificate");
    std::fs::write(certificate, signed.der()).expect("a file can be written");
    std::fs::write(key, pair.serialize_pem()).expect("a file can be written");
}

/// A certificate authority: its certificate, key and revocation list are in files.
#[derive(Debug)]
pub struct Authority {
    /// Certificate (DER).
    pub certificate: PathBuf,
    /// Private key (PEM).
    pub key: PathBuf,
    /// Revocation list (DER), which is empty.
    pub revocations: PathBuf,
    /// The same in PEM.
    pub revocations_pem: PathBuf,
}

impl Authority {
    /// Makes an authority with an RSA key in a folder.
    ///
    /// # Panics
    /// If no key can be made, or a file cannot be written.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self::with_key(folder, KeyKind::Rsa)
    }

    /// Makes an authority with a key of this kind in a folder.
    ///
    /// # Panics
    /// If no key can be made, or a file cannot be written.
    #[must_use]
    pub fn with_key(folder: &Path, kind: KeyKind) -> Self {
        let now = SystemTime::now();
        let algorithm = match kind {
            KeyKind::Rsa => &PKCS_RSA_SHA256,
            KeyKind::Ec(EllipticCurve::NistP256) => &PKCS_ECDSA_P256_SHA256,
            KeyKind::Ec(EllipticCurve::NistP384) => &PKCS_ECDSA_P384_SHA384,
            KeyKind::Ec(EllipticCurve::Curve25519) => &PKCS_ED25519,
        };
        let key = KeyPair::generate_for(algorithm).expect("a key");
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "Plant CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = (now - DAY).into();
        params.not_after = (now + 100 * DAY).into();
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let root = params.self_signed(&key).expect("a certificate");
        let list = CertificateRevocationListParams {
            this_update: (now - DAY).into(),
            next_update: (now + 30 * DAY).into(),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: Vec::new(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&Issuer::from_params(&params, &key));
        let list = list.expect("a revocation list");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).expect("a file can be written");
            path
        };
        Self {
            certificate: write("ca.der", root.der()),
            key: write("ca.pem", key.serialize_pem().as_bytes()),
            revocations: write("ca.crl", list.der()),
            revocations_pem: write("ca-crl.pem", list.pem().expect("PEM").as_bytes()),
        }
    }

    /// Returns certificate and key.
    ///
    /// # Panics
    /// If the files are damaged.
    #[must_use]
    pub fn identity(&self) -> OwnCertificate {
        OwnCertificate::from_files(&self.certificate, &self.key).expect("the files of the issuer")
    }
}
