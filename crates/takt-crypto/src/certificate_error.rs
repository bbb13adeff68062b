//! Failed checks of a certificate, in the order of OPC 10000-4, 6.1.3, each with its StatusCode.

use takt_ua::StatusCode;

/// Failed check of a certificate (OPC 10000-4, Table 100). "Issuer" concerns a certificate of the chain other than the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CertificateError {
    /// Certificate Structure: it cannot be parsed, or there are too many.
    #[error("the certificate cannot be parsed")]
    Structure,
    /// Build Certificate Chain: the certificate of an issuer is neither sent nor in a trust list.
    #[error("the certificate of an issuer (CA) is missing")]
    ChainIncomplete,
    /// Signature: it was not made by the issuer.
    #[error("the signature of the certificate is wrong")]
    Signature,
    /// Security Policy Check: hash algorithm, kind or length of the key do not fit the SecurityPolicy.
    #[error(
        "the certificate uses SHA-1, or a kind or length of key that the SecurityPolicy does not allow"
    )]
    PolicyCheck,
    /// Trust List Check: neither the certificate nor an issuer is trusted.
    #[error("the certificate is not trusted")]
    Untrusted,
    /// Validity Period of the certificate.
    #[error("the certificate has expired or is not valid yet")]
    Time,
    /// Validity Period of an issuer.
    #[error("the certificate of an issuer (CA) has expired or is not valid yet")]
    IssuerTime,
    /// Host Name: the host that the client connects to is not named.
    #[error("the certificate is for another host")]
    HostName,
    /// URI: another ApplicationUri than that of the application.
    #[error("the certificate is for another ApplicationUri")]
    Uri,
    /// Certificate Usage: the certificate must not be used for this.
    #[error("the certificate is not for this use (KeyUsage)")]
    Use,
    /// Certificate Usage of an issuer: it must not sign certificates.
    #[error("the certificate of an issuer (CA) is not for signing certificates")]
    IssuerUse,
    /// Find Revocation List of the issuer.
    #[error("there is no valid revocation list of the issuer (CA)")]
    RevocationUnknown,
    /// Find Revocation List of an issuer's issuer.
    #[error("there is no valid revocation list of the issuer of an issuer (CA)")]
    IssuerRevocationUnknown,
    /// Revocation Check.
    #[error("the certificate was revoked")]
    Revoked,
    /// Revocation Check of an issuer.
    #[error("the certificate of an issuer (CA) was revoked")]
    IssuerRevoked,
}

impl CertificateError {
    /// Returns the StatusCode, as logged and as a client reports it.
    #[must_use]
    pub const fn status_code(self) -> StatusCode {
        match self {
            Self::Structure | Self::Signature => StatusCode::BadCertificateInvalid,
            Self::ChainIncomplete => StatusCode::BadCertificateChainIncomplete,
            Self::PolicyCheck => StatusCode::BadCertificatePolicyCheckFailed,
            Self::Untrusted => StatusCode::BadCertificateUntrusted,
            Self::Time => StatusCode::BadCertificateTimeInvalid,
            Self::IssuerTime => StatusCode::BadCertificateIssuerTimeInvalid,
            Self::HostName => StatusCode::BadCertificateHostNameInvalid,
            Self::Uri => StatusCode::BadCertificateUriInvalid,
            Self::Use => StatusCode::BadCertificateUseNotAllowed,
            Self::IssuerUse => StatusCode::BadCertificateIssuerUseNotAllowed,
            Self::RevocationUnknown => StatusCode::BadCertificateRevocationUnknown,
            Self::IssuerRevocationUnknown => StatusCode::BadCertificateIssuerRevocationUnknown,
            Self::Revoked => StatusCode::BadCertificateRevoked,
            Self::IssuerRevoked => StatusCode::BadCertificateIssuerRevoked,
        }
    }

    /// Returns the StatusCode that a server tells the client (OPC 10000-4, Table 12): a client that is not trusted
    /// must not learn what the trust list contains.
    #[must_use]
    pub const fn public_status_code(self) -> StatusCode {
        match self {
            Self::Time | Self::IssuerTime | Self::Use | Self::IssuerUse | Self::Uri => {
                self.status_code()
            }
            _ => StatusCode::BadSecurityChecksFailed,
        }
    }
}
