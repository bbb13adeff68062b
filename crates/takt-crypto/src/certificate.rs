//! Parsed X.509 certificates (RFC 5280; OPC 10000-6, 6.2.2).

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::oid_registry::{
    OID_PKCS1_SHA256WITHRSA, OID_PKCS1_SHA384WITHRSA, OID_PKCS1_SHA512WITHRSA,
    OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ED25519, Oid,
};
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey as ParsedKey;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::certificate_error::CertificateError;
use crate::policy::{EllipticCurve, KeyKind, PolicyProfile};
use crate::public_key::kind_of;

/// Largest size of a certificate chain in bytes.
pub const MAX_CHAIN_SIZE: usize = 32 << 10;

/// Largest number of certificates in a chain.
pub const MAX_CHAIN_LENGTH: usize = 8;

/// SHA-1 of a certificate, which identifies it (OPC 10000-6, 6.7.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thumbprint(pub [u8; 20]);

impl Thumbprint {
    /// Returns the thumbprint of a certificate (DER).
    #[must_use]
    pub fn of(der: &[u8]) -> Self {
        let mut thumbprint = [0; 20];
        thumbprint.copy_from_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, der).as_ref());
        Self(thumbprint)
    }
}

impl fmt::Display for Thumbprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0.iter();
        bytes.try_for_each(|byte| write!(formatter, "{byte:02X}"))
    }
}

impl fmt::Debug for Thumbprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A parsed certificate. Cloning it copies no bytes of the encoding.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    der: Arc<[u8]>,
    /// SHA-1 of the encoding.
    pub thumbprint: Thumbprint,
    /// Subject as text.
    pub subject: String,
    /// Common name of the subject; empty if there is none.
    pub common_name: String,
    /// Issuer as text.
    pub issuer: String,
    subject_name: Vec<u8>,
    issuer_name: Vec<u8>,
    /// Serial number, the highest byte first.
    pub serial: Vec<u8>,
    /// Start of the validity, in seconds since 1970.
    pub not_before: i64,
    /// End of the validity, in seconds since 1970.
    pub not_after: i64,
    /// URI of the subjectAltName: the ApplicationUri.
    pub application_uri: Option<String>,
    /// Host names of the subjectAltName.
    pub host_names: Vec<String>,
    /// Addresses of the subjectAltName.
    pub addresses: Vec<IpAddr>,
    /// SubjectPublicKeyInfo (DER).
    pub public_key: Vec<u8>,
    /// Kind of the key; `None` for kinds that no SecurityPolicy here uses.
    pub key_kind: Option<KeyKind>,
    /// Length of the key in bits; 0 for unknown kinds.
    pub key_bits: usize,
    /// Bits of the KeyUsage as in RFC 5280, 4.2.1.3 (bit 0 is digitalSignature); `None` without the extension.
    key_usage: Option<u16>,
    /// Extended key usages for client and server authentication; `None` without the extension.
    extended_usage: Option<(bool, bool)>,
    is_ca: bool,
    max_path_length: Option<u32>,
    has_unknown_critical: bool,
}

/// Returns true if the parts of a certificate that its signature does not cover have the only encoding that DER allows. Otherwise
/// there would be several encodings of a certificate, each with a thumbprint of its own. The parser accepts some more.
fn has_one_encoding(der: &[u8], tbs: &[u8], signature: &[u8]) -> bool {
    // A SEQUENCE of TBSCertificate, AlgorithmIdentifier, and a BIT STRING without unused bits.
    let Some(certificate) = (2..=5)
        .filter_map(|size| Some(header(0x30, der.len().checked_sub(size)?)))
        .find_map(|header| der.strip_prefix(&*header))
    else {
        return false;
    };
    let string = [&header(0x03, signature.len() + 1), &[0][..], signature].concat();
    let algorithm = certificate
        .strip_prefix(tbs)
        .and_then(|rest| rest.strip_suffix(&*string));
    // The signature covers the same AlgorithmIdentifier in the TBSCertificate.
    algorithm.is_some_and(|algorithm| {
        !algorithm.is_empty() && tbs.windows(algorithm.len()).any(|part| part == algorithm)
    })
}

/// Returns tag and length (X.690, 10.1).
fn header(tag: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length @ 0..0x80) => vec![tag, length],
        _ => {
            let bytes = length.to_be_bytes();
            let first = bytes
                .iter()
                .position(|byte| *byte != 0)
                .unwrap_or(bytes.len());
            let bytes = bytes.get(first..).unwrap_or_default();
            let count = u8::try_from(bytes.len()).unwrap_or(0x7F);
            [&[tag, 0x80 | count], bytes].concat()
        }
    }
}

/// Bits of a KeyUsage.
mod usage {
    pub(super) const DIGITAL_SIGNATURE: u16 = 1;
    pub(super) const KEY_ENCIPHERMENT: u16 = 1 << 2;
    pub(super) const DATA_ENCIPHERMENT: u16 = 1 << 3;
    pub(super) const KEY_CERT_SIGN: u16 = 1 << 5;
    pub(super) const CRL_SIGN: u16 = 1 << 6;
}

impl Certificate {
    /// Parses one certificate (DER).
    ///
    /// # Errors
    /// [`CertificateError::Structure`].
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        match Self::first_of(der)? {
            (certificate, []) => Ok(certificate),
            _ => Err(CertificateError::Structure),
        }
    }

    /// Parses a chain: the certificate itself, then those of its issuers (OPC 10000-6, 6.2.6).
    ///
    /// # Errors
    /// [`CertificateError::Structure`], also if the chain is empty, or longer than [`MAX_CHAIN_LENGTH`] or
    /// [`MAX_CHAIN_SIZE`].
    pub fn chain_from_der(chain: &[u8]) -> Result<Vec<Self>, CertificateError> {
        if chain.is_empty() || chain.len() > MAX_CHAIN_SIZE {
            return Err(CertificateError::Structure);
        }
        let mut certificates = Vec::new();
        let mut rest = chain;
        while !rest.is_empty() {
            if certificates.len() == MAX_CHAIN_LENGTH {
                return Err(CertificateError::Structure);
            }
            let (certificate, behind) = Self::first_of(rest)?;
            certificates.push(certificate);
            rest = behind;
        }
        Ok(certificates)
    }

    /// Returns the encoding of the first certificate of a chain, without a check of its content.
    #[must_use]
    pub fn leaf_of(chain: &[u8]) -> Option<&[u8]> {
        let (rest, _) = x509_parser::der_parser::parse_der(chain).ok()?;
        chain.get(..chain.len() - rest.len())
    }

    fn first_of(bytes: &[u8]) -> Result<(Self, &[u8]), CertificateError> {
        let parsed = X509Certificate::from_der(bytes);
        let (rest, parsed) = parsed.map_err(|_| CertificateError::Structure)?;
        let der = &bytes[..bytes.len() - rest.len()];
        Ok((Self::read(der, &parsed)?, rest))
    }

    fn read(der: &[u8], parsed: &X509Certificate<'_>) -> Result<Self, CertificateError> {
        let broken = |_| CertificateError::Structure;
        let tbs = &parsed.tbs_certificate;
        // RFC 5280, 4.1.1.2: both fields name the same algorithm.
        if tbs.signature != parsed.signature_algorithm {
            return Err(CertificateError::Structure);
        }
        if !has_one_encoding(der, tbs.as_ref(), &parsed.signature_value.data) {
            return Err(CertificateError::Structure);
        }
        let key_kind = kind_of(&tbs.subject_pki);
        let key_bits = match (key_kind, tbs.subject_pki.parsed()) {
            (Some(KeyKind::Rsa), Ok(ParsedKey::RSA(key))) => key.key_size(),
            (Some(KeyKind::Ec(curve)), _) => curve.bits(),
            _ => 0,
        };
        let common_name = tbs.subject.iter_common_name().next();
        let common_name = common_name.and_then(|name| name.as_str().ok());
        let mut certificate = Self {
            der: der.into(),
            thumbprint: Thumbprint::of(der),
            subject: tbs.subject.to_string(),
            common_name: common_name.unwrap_or_default().to_owned(),
            issuer: tbs.issuer.to_string(),
            subject_name: tbs.subject.as_raw().to_vec(),
            issuer_name: tbs.issuer.as_raw().to_vec(),
            serial: tbs.raw_serial().to_vec(),
            not_before: tbs.validity.not_before.timestamp(),
            not_after: tbs.validity.not_after.timestamp(),
            application_uri: None,
            host_names: Vec::new(),
            addresses: Vec::new(),
            public_key: tbs.subject_pki.raw.to_vec(),
            key_kind,
            key_bits: key_bits.next_multiple_of(8),
            key_usage: None,
            extended_usage: None,
            is_ca: false,
            max_path_length: None,
            has_unknown_critical: false,
        };
        // An extension must not appear twice (RFC 5280, 4.2).
        tbs.extensions_map().map_err(broken)?;
        for extension in tbs.extensions() {
            certificate.read_extension(extension.critical, extension.parsed_extension())?;
        }
        Ok(certificate)
    }

    fn read_extension(
        &mut self,
        critical: bool,
        extension: &ParsedExtension<'_>,
    ) -> Result<(), CertificateError> {
        match extension {
            ParsedExtension::SubjectAlternativeName(names) => {
                for name in &names.general_names {
                    match name {
                        GeneralName::URI(uri) if self.application_uri.is_none() => {
                            self.application_uri = Some((*uri).to_owned());
                        }
                        GeneralName::DNSName(host) => self.host_names.push((*host).to_owned()),
                        GeneralName::IPAddress(bytes) => {
                            self.addresses.extend(address(bytes));
                        }
                        _ => {}
                    }
                }
            }
            ParsedExtension::KeyUsage(key_usage) => self.key_usage = Some(key_usage.flags),
            ParsedExtension::ExtendedKeyUsage(extended) => {
                self.extended_usage = Some((
                    extended.any || extended.client_auth,
                    extended.any || extended.server_auth,
                ));
            }
            ParsedExtension::BasicConstraints(constraints) => {
                self.is_ca = constraints.ca;
                self.max_path_length = constraints.path_len_constraint;
            }
            ParsedExtension::ParseError { .. } => return Err(CertificateError::Structure),
            ParsedExtension::SubjectKeyIdentifier(_)
            | ParsedExtension::AuthorityKeyIdentifier(_) => {}
            // RFC 5280, 4.2: a critical extension that is not understood makes a certificate unusable.
            _ => self.has_unknown_critical |= critical,
        }
        Ok(())
    }

    /// Returns the certificate in PEM (RFC 7468).
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode(&pem::Pem::new("CERTIFICATE", self.der()))
    }

    /// Returns the encoding (DER).
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns true if issuer and subject are the same: a self-signed certificate, or the root of a chain.
    #[must_use]
    pub fn is_self_issued(&self) -> bool {
        self.subject_name == self.issuer_name
    }

    /// Returns true if the certificate is that of an issuer (CA), and not of an application that has signed its own.
    #[must_use]
    pub fn is_issuer(&self) -> bool {
        self.is_ca && self.application_uri.is_none()
    }

    /// Returns true if `issuer` has the name of this certificate's issuer.
    #[must_use]
    pub fn names_issuer(&self, issuer: &Self) -> bool {
        self.issuer_name == issuer.subject_name
    }

    /// Returns the subject as encoded.
    pub(crate) fn subject_name(&self) -> &[u8] {
        &self.subject_name
    }

    /// Checks that `issuer` has signed this certificate.
    ///
    /// # Errors
    /// [`CertificateError::PolicyCheck`] for SHA-1 and other algorithms than RSA or ECDSA with SHA-2 and Ed25519,
    /// [`CertificateError::Signature`] if the signature is wrong.
    pub fn verify_signed_by(&self, issuer: &Self) -> Result<(), CertificateError> {
        let (_, parsed) =
            X509Certificate::from_der(&self.der).map_err(|_| CertificateError::Structure)?;
        verify_signature(
            &parsed.signature_algorithm.algorithm,
            &issuer.public_key,
            parsed.tbs_certificate.as_ref(),
            &parsed.signature_value.data,
        )
    }

    /// Returns the check that the certificate fails, whichever application trusts it: its hash algorithm and key have to fit one of
    /// these SecurityPolicies, and its validity has to contain `now`, in seconds since 1970.
    #[must_use]
    pub fn shortcoming(&self, profiles: &[&PolicyProfile], now: i64) -> Option<CertificateError> {
        let mut profiles = profiles.iter();
        let fits = |profile: &&PolicyProfile| match self.is_issuer() {
            true => self.has_issuing_key_for(profile),
            false => self.has_key_for(profile),
        };
        if !self.has_safe_hash() || !profiles.any(fits) {
            return Some(CertificateError::PolicyCheck);
        }
        (!self.is_valid_at(now)).then_some(CertificateError::Time)
    }

    /// Returns true if the hash algorithm of the signature is SHA-2, or part of Ed25519.
    fn has_safe_hash(&self) -> bool {
        X509Certificate::from_der(&self.der).is_ok_and(|(_, parsed)| {
            let algorithm = &parsed.signature_algorithm.algorithm;
            let mut kinds = KeyKind::ALL.into_iter();
            kinds.any(|kind| verification(algorithm, Some(kind)).is_some())
        })
    }

    /// Returns true if the validity contains `now`, in seconds since 1970.
    #[must_use]
    pub const fn is_valid_at(&self, now: i64) -> bool {
        self.not_before <= now && now <= self.not_after
    }

    /// Returns true if an application may sign with the key and, if it is an RSA key, decrypt (OPC 10000-6, Table 42): without a
    /// KeyUsage every use is allowed.
    pub(crate) fn may_secure_channels(&self) -> bool {
        let needed = match self.key_kind {
            Some(KeyKind::Ec(_)) => usage::DIGITAL_SIGNATURE,
            _ => usage::DIGITAL_SIGNATURE | usage::KEY_ENCIPHERMENT | usage::DATA_ENCIPHERMENT,
        };
        !self.has_unknown_critical && self.key_usage.is_none_or(|bits| bits & needed == needed)
    }

    /// Returns true if the key has the kind and length that a SecurityPolicy demands.
    pub(crate) fn has_key_for(&self, profile: &PolicyProfile) -> bool {
        self.key_kind == Some(profile.key_kind())
            && (profile.min_key_bits..=profile.max_key_bits).contains(&self.key_bits)
    }

    /// Returns true if the key may sign certificates of a SecurityPolicy. With elliptic curves it may be on another curve with at
    /// least the same length.
    pub(crate) fn has_issuing_key_for(&self, profile: &PolicyProfile) -> bool {
        match profile.key_kind() {
            KeyKind::Rsa => self.has_key_for(profile),
            KeyKind::Ec(curve) => {
                matches!(self.key_kind, Some(KeyKind::Ec(_))) && self.key_bits >= curve.bits()
            }
        }
    }

    /// Returns true if the certificate may be used by a server, or by a client (ExtendedKeyUsage).
    pub(crate) fn may_act(&self, as_server: bool) -> bool {
        self.extended_usage
            .is_none_or(|(client, server)| if as_server { server } else { client })
    }

    /// Returns true if a user may sign with the key.
    pub(crate) fn may_sign(&self) -> bool {
        let signs = |bits| bits & usage::DIGITAL_SIGNATURE != 0;
        !self.has_unknown_critical && self.key_usage.is_none_or(signs)
    }

    /// Checks a certificate of a user that is known by itself: times, length of the key, use.
    ///
    /// # Errors
    /// The check that failed.
    pub fn check_known_user(
        &self,
        profile: &PolicyProfile,
        now: i64,
    ) -> Result<(), CertificateError> {
        if !self.has_key_for(profile) || !self.has_safe_hash() {
            return Err(CertificateError::PolicyCheck);
        }
        match (self.is_valid_at(now), self.may_sign()) {
            (false, _) => Err(CertificateError::Time),
            (true, false) => Err(CertificateError::Use),
            (true, true) => Ok(()),
        }
    }

    /// Returns SHA-256 of the encoding, as hexadecimal digits. Unlike the thumbprint it resists collisions.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let hash = digest(&SHA256, &self.der);
        hash.as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns true if the certificate may sign others, below which there are `below` further issuers.
    pub(crate) fn may_issue(&self, below: usize) -> bool {
        let signs = |bits| bits & usage::KEY_CERT_SIGN != 0;
        self.is_ca
            && !self.has_unknown_critical
            && self.key_usage.is_none_or(signs)
            && self
                .max_path_length
                .is_none_or(|most| below <= most as usize)
    }

    /// Returns true if the certificate may sign revocation lists.
    pub(crate) fn may_revoke(&self) -> bool {
        self.key_usage
            .is_none_or(|bits| bits & usage::CRL_SIGN != 0)
    }

    /// Returns true if the certificate names `host`: a host name, of which case does not matter, or an address.
    #[must_use]
    pub fn is_for_host(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) => self.addresses.contains(&address),
            Err(_) => {
                let mut names = self.host_names.iter();
                names.any(|name| name.eq_ignore_ascii_case(host))
            }
        }
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "Certificate({}, {})",
            self.subject, self.thumbprint
        )
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::from(bytes));
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

/// Checks the signature of a certificate or revocation list.
pub(crate) fn verify_signature(
    algorithm: &Oid<'_>,
    public_key: &[u8],
    data: &[u8],
    signature: &[u8],
) -> Result<(), CertificateError> {
    let (_, key) =
        SubjectPublicKeyInfo::from_der(public_key).map_err(|_| CertificateError::Structure)?;
    let algorithm = verification(algorithm, kind_of(&key)).ok_or(CertificateError::PolicyCheck)?;
    UnparsedPublicKey::new(algorithm, public_key)
        .verify(data, signature)
        .map_err(|_| CertificateError::Signature)
}

/// Returns the verification of a signature algorithm with a key of this kind.
fn verification(
    algorithm: &Oid<'_>,
    key: Option<KeyKind>,
) -> Option<&'static dyn VerificationAlgorithm> {
    const P256: KeyKind = KeyKind::Ec(EllipticCurve::NistP256);
    const P384: KeyKind = KeyKind::Ec(EllipticCurve::NistP384);
    let known: [(Oid<'_>, KeyKind, &'static dyn VerificationAlgorithm); 8] = [
        (
            OID_PKCS1_SHA256WITHRSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA256,
        ),
        (
            OID_PKCS1_SHA384WITHRSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA384,
        ),
        (
            OID_PKCS1_SHA512WITHRSA,
            KeyKind::Rsa,
            &RSA_PKCS1_2048_8192_SHA512,
        ),
        (OID_SIG_ECDSA_WITH_SHA256, P256, &ECDSA_P256_SHA256_ASN1),
        (OID_SIG_ECDSA_WITH_SHA384, P256, &ECDSA_P256_SHA384_ASN1),
        (OID_SIG_ECDSA_WITH_SHA256, P384, &ECDSA_P384_SHA256_ASN1),
        (OID_SIG_ECDSA_WITH_SHA384, P384, &ECDSA_P384_SHA384_ASN1),
        (
            OID_SIG_ED25519,
            KeyKind::Ec(EllipticCurve::Curve25519),
            &ED25519,
        ),
    ];
    let mut known = known.into_iter();
    let found = known.find(|(oid, kind, _)| oid == algorithm && Some(*kind) == key);
    found.map(|(_, _, verification)| verification)
}
