//! Parsed X.509 certificates (RFC 5280; OPC 10000-6, 6.2.2).

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

use crate::certificate_error::CertificateError;
use crate::key_usages::usage;
use crate::policy::{KeyKind, PolicyProfile};
use crate::x509::element::{Elements, tag};
use crate::x509::extension::Extension;
use crate::x509::fields::CertificateFields;
use crate::x509::name::Name;
use crate::x509::oid;
use crate::x509::signed::Signed;

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
        // The standard demands SHA-1. Trust does not depend on it: certificates are compared as a whole.
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
        let leaf = Elements::of(chain).element().ok()?;
        Some(leaf.encoded)
    }

    fn first_of(bytes: &[u8]) -> Result<(Self, &[u8]), CertificateError> {
        let mut elements = Elements::of(bytes);
        let certificate = Self::read(&CertificateFields::read(&mut elements)?)?;
        Ok((certificate, elements.rest()))
    }

    fn read(fields: &CertificateFields<'_>) -> Result<Self, CertificateError> {
        let der = fields.signed.encoded;
        let subject = Name::read(&fields.subject)?;
        let mut certificate = Self {
            der: der.into(),
            thumbprint: Thumbprint::of(der),
            subject: subject.text(),
            common_name: subject.common_name().to_owned(),
            issuer: Name::read(&fields.issuer)?.text(),
            subject_name: fields.subject.encoded.to_vec(),
            issuer_name: fields.issuer.encoded.to_vec(),
            serial: fields.serial.to_vec(),
            not_before: fields.not_before,
            not_after: fields.not_after,
            application_uri: None,
            host_names: Vec::new(),
            addresses: Vec::new(),
            public_key: fields.key.encoded.to_vec(),
            key_kind: fields.key.kind(),
            key_bits: fields.key.bits(),
            key_usage: None,
            extended_usage: None,
            is_ca: false,
            max_path_length: None,
            has_unknown_critical: false,
        };
        for extension in &fields.extensions {
            certificate.read_extension(extension)?;
        }
        Ok(certificate)
    }

    fn read_extension(&mut self, extension: &Extension<'_>) -> Result<(), CertificateError> {
        if extension.is(&oid::SUBJECT_ALT_NAME) {
            self.read_names(extension)?;
        } else if extension.is(&oid::KEY_USAGE) {
            self.key_usage = Some(extension.key_usage()?);
        } else if extension.is(&oid::EXTENDED_KEY_USAGE) {
            let usages = extension.extended_key_usages()?;
            let has = |oid| usages.iter().any(|usage| oid::is(usage, oid));
            let any = has(&oid::ANY_EXTENDED_KEY_USAGE);
            self.extended_usage =
                Some((any || has(&oid::CLIENT_AUTH), any || has(&oid::SERVER_AUTH)));
        } else if extension.is(&oid::BASIC_CONSTRAINTS) {
            (self.is_ca, self.max_path_length) = extension.basic_constraints()?;
        } else if extension.is(&oid::SUBJECT_KEY_IDENTIFIER) {
            extension.key_identifier()?;
        } else if !extension.is_well_formed() {
            return Err(CertificateError::Structure);
        } else if !extension.is(&oid::AUTHORITY_KEY_IDENTIFIER) {
            // RFC 5280, 4.2: a critical extension that is not understood makes a certificate unusable.
            self.has_unknown_critical |= extension.is_critical;
        }
        Ok(())
    }

    /// Reads the SubjectAltName. Its strings are UTF-8 in some certificates, and not ASCII as in the standard; others are ignored.
    fn read_names(&mut self, extension: &Extension<'_>) -> Result<(), CertificateError> {
        const HOST: u8 = tag::context(2);
        const URI: u8 = tag::context(6);
        const ADDRESS: u8 = tag::context(7);
        for name in extension.general_names()? {
            match (name.tag, str::from_utf8(name.content)) {
                (URI, Ok(uri)) if self.application_uri.is_none() => {
                    self.application_uri = Some(uri.to_owned());
                }
                (HOST, Ok(host)) => self.host_names.push(host.to_owned()),
                (ADDRESS, _) => self.addresses.extend(address(name.content)),
                _ => {}
            }
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
        Signed::read(&mut Elements::of(&self.der))?.verify(&issuer.public_key)
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
        let signed = Signed::read(&mut Elements::of(&self.der));
        signed.is_ok_and(|signed| signed.has_safe_hash())
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
        // A URL has an IPv6 address in brackets.
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
