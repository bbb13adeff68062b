//! The secret with which a registry authenticates a Provider over `opc.tcp`, in a file that only its user can read.

use std::fs;
use std::path::{Path, PathBuf};

use takt_client::{
    ClientError, StateDirectoryError, directory_or_default, prepare_state_directory,
};

/// File of one Provider's secret.
#[derive(Debug, Clone)]
pub(super) struct SecretFile(PathBuf);

impl SecretFile {
    /// Names the file `<ApplicationName>.secret` in `directory`, or in the user's state folder, which must be safe to
    /// use.
    pub(super) fn new(
        directory: Option<&Path>,
        application_name: &str,
    ) -> Result<Self, StateDirectoryError> {
        let directory = directory_or_default(directory)?;
        prepare_state_directory(&directory)?;
        Ok(Self(directory.join(format!("{application_name}.secret"))))
    }

    pub(super) fn load(&self) -> Option<String> {
        let text = fs::read_to_string(&self.0).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn store(&self, secret: &str) -> Result<(), ClientError> {
        let written = crate::private_file::write(&self.0, secret.as_bytes());
        written.map_err(|cause| ClientError::Secret {
            path: self.0.clone(),
            cause,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_secret_is_kept_for_its_user_only() {
        let directory = tempfile::tempdir().unwrap();
        let file = SecretFile::new(Some(&directory.path().join("state")), "Machine").unwrap();
        assert_eq!(file.load(), None);
        file.store("s3cret").unwrap();
        assert_eq!(file.load().as_deref(), Some("s3cret"));
        let mode = fs::metadata(&file.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
