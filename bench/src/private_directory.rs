//! Temporary directories of this user.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::error::BenchError;

/// Makes a directory with a random name, which only this user may open. In a directory that all users may write, another user can
/// make a directory with a predictable name first.
///
/// # Errors
/// The directory cannot be made.
pub(crate) fn make(parent: &Path) -> Result<TempDir, BenchError> {
    tempfile::Builder::new()
        .prefix("takt-bench-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(BenchError::system(&format!(
            "make a directory in {}",
            parent.display()
        )))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_directory_is_new_and_private() {
        let parent = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| make(parent.path()).unwrap());
        assert_ne!(one.path(), other.path());
        let mode = one.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let process = std::process::id().to_string();
        assert!(!one.path().ends_with(format!("takt-bench-{process}")));
        assert!(make(Path::new("/nowhere")).is_err());
    }
}
