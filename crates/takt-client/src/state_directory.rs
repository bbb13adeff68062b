//! The state folder, which contains secrets and databases of a user, and the check of its owner.
//!
//! Because it contains keys and secrets, a folder of another user, or one that others can write, is refused: a user
//! with write access could replace the files.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode bits that let the group or all users write.
const OTHERS_WRITE: u32 = 0o022;

/// Error of a state folder that cannot be found, created, or used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirectoryError {
    /// The environment names no folder.
    #[error("there is no state folder: neither XDG_STATE_HOME nor HOME is set")]
    Unknown,
    /// The environment names a folder that depends on the working directory.
    #[error("{variable} is {}, which is not an absolute path", value.display())]
    Relative {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        value: PathBuf,
    },
    /// The folder could not be created or inspected.
    #[error("the state folder {} cannot be used: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The folder belongs to another user.
    #[error("the state folder {} belongs to user {owner}, not to this user ({user}) or root", path.display())]
    Owner {
        /// The folder.
        path: PathBuf,
        /// Its Unix user.
        owner: u32,
        /// The Unix user of this process.
        user: u32,
    },
    /// Other users can write the folder.
    #[error("the state folder {} can be written by others (mode {mode:o})", path.display())]
    Mode {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

/// Returns the state folder of this user: `$XDG_STATE_HOME/takt`, by default `$HOME/.local/state/takt` (XDG Base
/// Directory Specification).
///
/// # Errors
/// [`StateDirectoryError::Unknown`] and [`StateDirectoryError::Relative`]: there is no fallback, because other users
/// could have created that folder before.
pub fn state_directory() -> Result<PathBuf, StateDirectoryError> {
    from_environment(|variable| std::env::var_os(variable).map(PathBuf::from))
}

/// Returns `directory`, or the [state folder](state_directory) of this user if there is none.
///
/// # Errors
/// Those of [`state_directory`].
pub fn directory_or_default(directory: Option<&Path>) -> Result<PathBuf, StateDirectoryError> {
    directory.map_or_else(state_directory, |path| Ok(path.to_owned()))
}

fn from_environment(get: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, StateDirectoryError> {
    for (variable, below) in [("XDG_STATE_HOME", "takt"), ("HOME", ".local/state/takt")] {
        match get(variable).filter(|value| !value.as_os_str().is_empty()) {
            Some(value) if value.is_absolute() => return Ok(value.join(below)),
            Some(value) => return Err(StateDirectoryError::Relative { variable, value }),
            None => {}
        }
    }
    Err(StateDirectoryError::Unknown)
}

/// Creates a missing state folder for this user only, and checks that it belongs to this user or root and that no
/// other user can write it.
///
/// # Errors
/// [`StateDirectoryError::Io`], [`StateDirectoryError::Owner`] and [`StateDirectoryError::Mode`].
pub fn prepare_state_directory(path: &Path) -> Result<(), StateDirectoryError> {
    // A file name without a folder is in the working directory.
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let failed = |source| StateDirectoryError::Io {
        path: path.to_owned(),
        source,
    };
    // An existing folder is no error here; its owner and mode are checked below.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed)?;
    // A symbolic link is followed: the owner of its target is checked.
    let folder = fs::metadata(path).map_err(failed)?;
    let user = rustix::process::geteuid().as_raw();
    if folder.uid() != user && folder.uid() != 0 {
        return Err(StateDirectoryError::Owner {
            path: path.to_owned(),
            owner: folder.uid(),
            user,
        });
    }
    if folder.mode() & OTHERS_WRITE != 0 {
        return Err(StateDirectoryError::Mode {
            path: path.to_owned(),
            mode: folder.mode() & 0o7777,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn named(state_home: Option<&str>, home: Option<&str>) -> Result<PathBuf, StateDirectoryError> {
        from_environment(|variable| {
            let value = match variable {
                "XDG_STATE_HOME" => state_home,
                _ => home,
            };
            value.map(PathBuf::from)
        })
    }

    #[test]
    fn the_folder_comes_from_the_environment_only() {
        let expected = |path: &str| PathBuf::from(path);
        assert_eq!(
            named(Some("/state"), Some("/home")).unwrap(),
            expected("/state/takt")
        );
        for unset in [None, Some("")] {
            let home = named(unset, Some("/home/anna")).unwrap();
            assert_eq!(home, expected("/home/anna/.local/state/takt"));
            let nothing = named(unset, unset);
            assert!(matches!(nothing, Err(StateDirectoryError::Unknown)));
        }
        for (state_home, home, name) in [
            (Some("state"), Some("/home/anna"), "XDG_STATE_HOME"),
            (None, Some("../anna"), "HOME"),
        ] {
            let error = named(state_home, home).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }

    #[test]
    fn a_folder_of_another_user_or_writable_by_others_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("a/b");
        prepare_state_directory(&folder).unwrap();
        let mode = fs::metadata(&folder).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        for mode in [0o720, 0o702, 0o1777] {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            let refused = prepare_state_directory(&folder);
            assert!(
                matches!(refused, Err(StateDirectoryError::Mode { .. })),
                "{mode:o}"
            );
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        prepare_state_directory(&folder).unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let refused = prepare_state_directory(&file);
        assert!(matches!(refused, Err(StateDirectoryError::Io { .. })));
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a folder to another user");
            return;
        }
        std::os::unix::fs::chown(&folder, Some(12_345), None).unwrap();
        let refused = prepare_state_directory(&folder);
        assert!(matches!(
            refused,
            Err(StateDirectoryError::Owner { owner: 12_345, .. })
        ));
    }
}
