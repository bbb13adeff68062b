//! Errors of certificates and signing requests that could not be created.

use crate::CryptoError;
use crate::certificate_error::CertificateError;
use crate::private_key::KeyError;

/// Error of a certificate that could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreationError {
    /// No key could be created.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An ApplicationUri or a host name contains other characters than those of ASCII.
    #[error("no certificate could be created: '{0}' has characters other than ASCII")]
    Name(String),
    /// The validity ends after the year 9999, or the clock is before 1970.
    #[error("no certificate could be created: its validity is no time that certificates have")]
    Validity,
    /// The signature could not be made.
    #[error("no certificate could be created: {0}")]
    Signature(CryptoError),
    /// A signing request cannot be read, or asks for an extension that is not issued.
    #[error("the signing request cannot be read, or asks for an extension that is not issued")]
    Request,
    /// The signature of a signing request is wrong, or made with an algorithm that no SecurityPolicy uses.
    #[error("the signature of the signing request is wrong")]
    RequestSignature,
    /// The certificate that was created cannot be read.
    #[error(transparent)]
    Content(#[from] CertificateError),
    /// The subject of a signing request cannot be read.
    #[error("a subject is a list of names and values, for example CN=Press/O=Plant")]
    Subject,
    /// The system returned no random numbers.
    #[error("the system has no random numbers")]
    Random,
}

impl CreationError {
    /// Returns true if the names that were given are the reason, and not this host.
    #[must_use]
    pub const fn is_of_client(&self) -> bool {
        matches!(
            self,
            Self::Subject | Self::Name(_) | Self::Request | Self::RequestSignature
        )
    }
}
