//! The secret by which a registry knows a Provider again over `opc.tcp`, kept in a file that only its user can read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where one Provider's secret is kept.
#[derive(Debug, Clone)]
pub(super) struct SecretFile(PathBuf);

/// The secret could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("the registration secret cannot be kept in {path}: {source}")]
pub(super) struct SecretError {
    path: PathBuf,
    source: io::Error,
}

impl SecretFile {
    /// `<ApplicationName>.secret` in `directory`, or in the user's state directory.
    pub(super) fn new(directory: Option<&Path>, application_name: &str) -> Self {
        let directory = directory.map_or_else(default_directory, Path::to_owned);
        Self(directory.join(format!("{application_name}.secret")))
    }

    pub(super) fn load(&self) -> Option<String> {
        let text = fs::read_to_string(&self.0).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn store(&self, secret: &str) -> Result<(), SecretError> {
        self.write(secret).map_err(|source| SecretError {
            path: self.0.clone(),
            source,
        })
    }

    fn write(&self, secret: &str) -> io::Result<()> {
        if let Some(directory) = self.0.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        // Written beside and moved into place: a Provider that dies meanwhile keeps the old secret or has the new one.
        let fresh = self.0.with_extension("secret.new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(secret.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &self.0)
    }
}

/// `$XDG_STATE_HOME/takt`, by default `~/.local/state/takt` (XDG Base Directory Specification).
fn default_directory() -> PathBuf {
    let from = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    from("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| from("HOME").map(|home| PathBuf::from(home).join(".local/state")))
        .unwrap_or_else(std::env::temp_dir)
        .join("takt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_secret_is_kept_for_its_user_only() {
        let directory = tempfile::tempdir().unwrap();
        let file = SecretFile::new(Some(&directory.path().join("state")), "Machine");
        assert_eq!(file.load(), None);
        file.store("s3cret").unwrap();
        assert_eq!(file.load().as_deref(), Some("s3cret"));
        let mode = fs::metadata(&file.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
