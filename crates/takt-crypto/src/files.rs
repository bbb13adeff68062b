//! Single certificates and revocation lists in files.

use std::fs;
use std::io;
use std::path::Path;

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::folder::{MAX_FILE, StoreError, decoded};
use crate::revocation::RevocationList;

impl Certificate {
    /// Reads the certificate in a file, in DER or PEM. A private key beside it in PEM is passed over.
    ///
    /// # Errors
    /// [`StoreError::Content`] if there is no certificate or more than one, [`StoreError::Certificate`] and [`StoreError::Io`].
    pub fn from_file(path: &Path) -> Result<Self, StoreError> {
        let refused = |source| StoreError::Certificate {
            path: path.to_owned(),
            source,
        };
        let content = |content| StoreError::Content {
            path: path.to_owned(),
            content,
        };
        let bytes = read(path)?;
        let found = match bytes.first() {
            // A SEQUENCE: it is in DER.
            Some(0x30) => Self::chain_from_der(&bytes).map_err(refused)?,
            _ => {
                let documents = pem::parse_many(&bytes).map_err(|_| invalid(path))?;
                let is_certificate = |one: &&pem::Pem| one.tag().ends_with("CERTIFICATE");
                let certificates = documents.iter().filter(is_certificate);
                let found = certificates.map(|one| Self::from_der(one.contents()));
                let found: Vec<Self> = found.collect::<Result<_, _>>().map_err(refused)?;
                if found.is_empty() && !documents.is_empty() {
                    let tags: Vec<&str> = documents.iter().map(pem::Pem::tag).collect();
                    return Err(content(format!("no certificate, but {}", tags.join(", "))));
                }
                found
            }
        };
        match &*found {
            [] => Err(refused(CertificateError::Structure)),
            [one] => Ok(one.clone()),
            several => {
                let names: Vec<&str> = several.iter().map(|one| &*one.subject).collect();
                let (count, names) = (names.len(), names.join("; "));
                Err(content(format!("{count} certificates: {names}")))
            }
        }
    }
}

impl RevocationList {
    /// Reads a revocation list from a file, in DER or PEM.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn from_file(path: &Path) -> Result<Self, StoreError> {
        fs::metadata(path).map_err(|source| StoreError::Io {
            path: path.to_owned(),
            source,
        })?;
        let der = decoded(path).ok_or_else(|| invalid(path))?;
        Self::from_der(&der).map_err(|source| StoreError::Certificate {
            path: path.to_owned(),
            source,
        })
    }
}

/// Reads a file of a sensible size.
fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    let io = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path).map_err(io)?.len() {
        ..=MAX_FILE => fs::read(path).map_err(io),
        _ => Err(invalid(path)),
    }
}

fn invalid(path: &Path) -> StoreError {
    StoreError::Io {
        path: path.to_owned(),
        source: io::ErrorKind::InvalidData.into(),
    }
}
