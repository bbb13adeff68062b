//! Warnings of private keys that other Unix users can read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files of which a warning was logged. A process opens a key for each of its connections.
static WARNED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Logs a warning, once for each file, if the group or other users can read a private key.
pub(crate) fn warn(key: &Path) {
    let is_exposed = fs::metadata(key).is_ok_and(|file| file.permissions().mode() & 0o077 != 0);
    if is_exposed {
        let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(key.to_owned()) {
            tracing::warn!(
                "other users can read the private key {0}: `chmod 600 '{0}'`, and renew the certificate if one of them may have",
                key.display()
            );
        }
    }
}
