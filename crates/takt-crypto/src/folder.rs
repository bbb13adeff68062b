//! Files in the folders of certificates: reading, and writing as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::certificate::Certificate;
use crate::certificate_error::CertificateError;
use crate::creation_error::CreationError;
use crate::private_key::KeyError;

pub(crate) const OWN: &str = "own/certs";
pub(crate) const PRIVATE: &str = "own/private";
pub(crate) const TRUSTED: &str = "trusted/certs";
pub(crate) const TRUSTED_LISTS: &str = "trusted/crl";
pub(crate) const ISSUERS: &str = "issuer/certs";
pub(crate) const ISSUER_LISTS: &str = "issuer/crl";
pub(crate) const REJECTED: &str = "rejected/certs";

/// Largest number of rejected certificates that are kept; the oldest gives way.
pub(crate) const MAX_REJECTED: usize = 64;

/// Largest number of files that are read from a folder.
const MAX_FILES: usize = 4096;

/// Largest file that is read, in bytes.
pub(crate) const MAX_FILE: u64 = 1 << 20;

/// Error of a certificate store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A folder or file cannot be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A certificate cannot be read.
    #[error("{}: {source}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Failed check.
        source: CertificateError,
    },
    /// A file has no certificate, or more than one.
    #[error("{} contains {content}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Description of its content.
        content: String,
    },
    /// A private key cannot be read.
    #[error("{}: {source}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The mistake.
        source: KeyError,
    },
    /// A newer revocation list of the same issuer is in use.
    #[error("{} is newer", path.display())]
    OlderList {
        /// The list in use.
        path: PathBuf,
    },
    /// The private key belongs to another certificate.
    #[error("{} is not the private key of {}", key.display(), certificate.display())]
    OtherKey {
        /// File of the certificate.
        certificate: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
    /// The own certificate could not be created.
    #[error(transparent)]
    Creation(#[from] CreationError),
}

/// Returns the regular files of a folder in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        // Files with this ending are not complete.
        .filter(|path| path.is_file() && path.extension().is_none_or(|end| end != "tmp"))
        .take(MAX_FILES)
        .collect();
    files.sort();
    files
}

/// Reads a file in DER, or in PEM, whose documents are concatenated. Programs write explanations before the documents (RFC 7468, 5.2).
pub(crate) fn decoded(path: &Path) -> Option<Vec<u8>> {
    if fs::metadata(path).ok()?.len() > MAX_FILE {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    // A certificate or revocation list in DER is a SEQUENCE.
    if bytes.first() == Some(&0x30) {
        return Some(bytes);
    }
    let documents = pem::parse_many(&bytes).ok()?;
    let contents = documents.into_iter().flat_map(pem::Pem::into_contents);
    Some(contents.collect())
}

/// Writes a file for this user only, under its final name once it is complete and on the disk.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write(path, bytes, File::sync_all)
}

/// Does the same in a folder of certificates. A rejected one need not survive a loss of power: a server does not wait for the disk
/// because of a stranger.
pub(crate) fn write_file_in(folder: &str, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    match folder {
        REJECTED => write(path, bytes, |_| Ok(())),
        _ => write_file(path, bytes),
    }
}

fn write(
    path: &Path,
    bytes: &[u8],
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let io = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    // Several processes write into the folders.
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    // An earlier process with the same id may have left it behind.
    let _ = fs::remove_file(&unfinished);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(io)?;
    let written = file.write_all(bytes).and_then(|()| settle(&file));
    written
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(|source| {
            let _ = fs::remove_file(&unfinished);
            io(source)
        })
}

/// Returns the name of the file of a peer's certificate: its common name as far as it is harmless, and the thumbprint.
pub(crate) fn name_of(certificate: &Certificate) -> String {
    let name = file_name(&certificate.common_name);
    format!("{name} [{}].der", certificate.thumbprint)
}

/// Returns the harmless characters of a name.
pub(crate) fn file_name(name: &str) -> String {
    let harmless = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.');
    let name: String = name.chars().filter(harmless).take(64).collect();
    // Neither a hidden file nor `..`.
    match name.trim_matches(|c| c == '.' || c == ' ') {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}
