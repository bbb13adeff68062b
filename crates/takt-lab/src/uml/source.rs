//! Source of the kernel: Debian's package, or an unpacked tree.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::UmlError;

/// Package with which the backend is tested.
pub const SOURCE_PACKAGE: &str = "linux-source-6.12";

/// Folder in which source packages put their archives.
const ARCHIVES: &str = "/usr/src";

/// Source of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelSource {
    /// Archive of a source package.
    Archive(PathBuf),
    /// Unpacked tree. It is copied, never changed.
    Tree(PathBuf),
}

impl KernelSource {
    /// Returns the newest archive of the installed source packages.
    ///
    /// # Errors
    /// [`UmlError::NoSource`].
    pub fn installed() -> Result<Self, UmlError> {
        Self::newest_in(Path::new(ARCHIVES)).ok_or(UmlError::NoSource)
    }

    /// Returns an unpacked tree.
    ///
    /// # Errors
    /// [`UmlError::NoTree`].
    pub fn tree(folder: &Path) -> Result<Self, UmlError> {
        match folder.join("arch/um/Makefile").is_file() {
            true => Ok(Self::Tree(folder.to_owned())),
            false => Err(UmlError::NoTree(folder.to_owned())),
        }
    }

    /// Returns the path of the archive or the tree.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Archive(path) | Self::Tree(path) => path,
        }
    }

    fn newest_in(folder: &Path) -> Option<Self> {
        let entries = fs::read_dir(folder).ok()?;
        let archives = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name
                .strip_prefix("linux-source-")?
                .strip_suffix(".tar.xz")?;
            // Versions are compared as numbers: as a text, 6.9 would come after 6.12.
            let numbers: Option<Vec<u32>> = version.split('.').map(|it| it.parse().ok()).collect();
            Some((numbers?, entry.path()))
        });
        archives.max().map(|(_, path)| Self::Archive(path))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_newest_archive_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(KernelSource::newest_in(folder.path()), None);
        for name in [
            "linux-source-6.1.tar.xz",
            "linux-source-6.12.tar.xz",
            "linux-source-6.9.tar.xz",
            "linux-source-next.tar.xz",
            "linux-config-7.0.tar.xz",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let newest = KernelSource::newest_in(folder.path()).unwrap();
        assert!(newest.path().ends_with("linux-source-6.12.tar.xz"));
        let wrong = KernelSource::tree(folder.path());
        assert!(matches!(wrong, Err(UmlError::NoTree(_))));
    }
}
