//! Place of the built kernel: a folder outside of any checkout.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::configuration::configuration;
use super::error::UmlError;
use super::{CHANGES, FILES};

/// Variable that names the folder.
const VARIABLE: &str = "TAKT_LAB_CACHE";

/// Folder with kernels of the lab.
#[derive(Debug, Clone)]
pub struct KernelCache {
    folder: PathBuf,
}

impl KernelCache {
    /// Returns the folder of this user: `TAKT_LAB_CACHE`, or `takt/lab` below the cache of the user (XDG Base Directory Specification).
    ///
    /// # Errors
    /// [`UmlError::NoCache`].
    pub fn of_environment() -> Result<Self, UmlError> {
        let absolute = |name| {
            let path = PathBuf::from(env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let folder = absolute(VARIABLE)
            .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("takt/lab")))
            .or_else(|| Some(absolute("HOME")?.join(".cache/takt/lab")));
        folder.map(Self::new).ok_or(UmlError::NoCache)
    }

    /// Returns a cache in a folder.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the kernel that this version of Takt runs. Its name depends on configuration and added files, so another
    /// version of Takt builds its own.
    #[must_use]
    pub fn kernel(&self) -> PathBuf {
        self.folder.join(format!("linux-{}", digest()))
    }

    /// Returns the directory with notes of bundles that are made ready
    /// ([`remove_killed_bundles`](crate::bundle::remove_killed_bundles)).
    #[must_use]
    pub fn bundles(&self) -> PathBuf {
        self.folder.join("bundles")
    }

    /// Returns the kernel, if it is built.
    ///
    /// # Errors
    /// [`UmlError::NotBuilt`].
    pub fn built(&self) -> Result<PathBuf, UmlError> {
        let kernel = self.kernel();
        match kernel.is_file() {
            true => Ok(kernel),
            false => Err(UmlError::NotBuilt),
        }
    }

    /// Removes kernels of other versions of Takt. Errors are ignored: the files are in nobody's way.
    pub(crate) fn remove_others(&self) {
        let own = self.kernel();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_kernel = entry.file_name().to_string_lossy().starts_with("linux-");
            if is_kernel && entry.path() != own {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Returns the first 16 hexadecimal digits of the digest of everything that Takt adds to the kernel.
fn digest() -> String {
    let mut digest = Sha256::new();
    let files = FILES.iter().flat_map(|(path, text)| [*path, *text]);
    let changes = CHANGES
        .iter()
        .flat_map(|(path, present, new)| [*path, *present, *new]);
    for text in files.chain(changes) {
        digest.update(text.as_bytes());
        // Without the zero, texts that are divided at another place would have the same digest.
        digest.update([0]);
    }
    digest.update(configuration().as_bytes());
    let digest = digest.finalize();
    let first = digest.iter().take(8);
    first.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_kernel_is_found_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::new(folder.path().to_owned());
        assert!(matches!(cache.built(), Err(UmlError::NotBuilt)));
        let other = folder.path().join("linux-0123");
        fs::write(&other, "").unwrap();
        fs::write(cache.kernel(), "").unwrap();
        assert_eq!(cache.built().unwrap(), cache.kernel());
        cache.remove_others();
        assert!(!other.exists());
        assert!(cache.built().is_ok());
    }
}
