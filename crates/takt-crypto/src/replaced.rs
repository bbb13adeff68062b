//! Own certificates that were replaced while this process runs. Channels that applications of the user have opened with them stay
//! open.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::certificate::Certificate;

/// The own certificates that a process has seen, by their files.
#[derive(Debug, Default)]
pub(crate) struct OwnHistory {
    files: BTreeMap<PathBuf, Versions>,
}

/// The content of a file, and what it was before.
#[derive(Debug)]
struct Versions {
    current: Certificate,
    replaced: Vec<Certificate>,
}

impl OwnHistory {
    /// Takes the files as they are now. A certificate whose file is gone, or has the certificate of another application now, was
    /// removed, not replaced.
    pub(crate) fn note(&mut self, files: impl IntoIterator<Item = (PathBuf, Certificate)>) {
        let mut before = std::mem::take(&mut self.files);
        for (path, current) in files {
            let mut replaced = Vec::new();
            if let Some(known) = before.remove(&path)
                && known.current.application_uri == current.application_uri
            {
                replaced = known.replaced;
                if known.current != current {
                    replaced.push(known.current);
                }
            }
            // The same one may have come back.
            replaced.retain(|one| *one != current);
            self.files.insert(path, Versions { current, replaced });
        }
    }

    /// Returns true if the certificate was replaced by a newer one of its application.
    pub(crate) fn has_replaced(&self, certificate: &Certificate) -> bool {
        let mut files = self.files.values();
        files.any(|versions| versions.replaced.contains(certificate))
    }
}
