//! Location of a user's runtime directory, and the checks that no other user can write there.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use rustix::fs::{Mode, OFlags, Stat};

/// Directory in which POSIX shared memory objects are visible as files.
pub(crate) const SHARED_MEMORY_DIRECTORY: &str = "/dev/shm";

/// Environment variable that names another runtime directory.
pub const RUNTIME_DIRECTORY_VARIABLE: &str = "TAKT_RUNTIME_DIR";

/// Location of a user's directory.
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    /// True if no other directory was named.
    pub(crate) is_default: bool,
}

impl Location {
    /// Returns `path`, or else `$TAKT_RUNTIME_DIR`, or else the default directory.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        let named = path.map(Path::to_path_buf).or_else(|| {
            env::var_os(RUNTIME_DIRECTORY_VARIABLE)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        });
        let is_default = named.is_none();
        let path = named.unwrap_or_else(|| {
            let user = rustix::process::geteuid().as_raw();
            let usual = PathBuf::from(format!("{SHARED_MEMORY_DIRECTORY}/takt-{user}"));
            not_foreign(usual, PathBuf::from(format!("/run/user/{user}/takt")), user)
        });
        Self { path, is_default }
    }
}

/// Returns the usual directory, unless another user has made it: then the one below the user's own directory, where no other user
/// can make anything. All processes of the user get the same result.
fn not_foreign(usual: PathBuf, other: PathBuf, user: u32) -> PathBuf {
    // Of a link itself: any user can make one in /dev/shm.
    let owner = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.uid());
    let is_foreign = owner(&usual).is_ok_and(|owner| owner != user);
    let has_other = other
        .parent()
        .is_some_and(|parent| owner(parent).is_ok_and(|owner| owner == user));
    match is_foreign && has_other {
        true => other,
        false => usual,
    }
}

/// Makes a directory that only its owner may use, unless there is one.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Opens a directory, but not through a link.
pub(crate) fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Checks that a directory belongs to a user, and that no other user can write there.
pub(crate) fn check_owner(stat: &Stat, uid: u32) -> Result<(), String> {
    if stat.st_uid != uid {
        return Err(format!(
            "belongs to user {}, not to this user ({uid})",
            stat.st_uid
        ));
    }
    if stat.st_mode & 0o022 != 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(format!("can be written by others (mode {mode:o})"));
    }
    Ok(())
}

/// Returns true if a path leads to a file.
pub(crate) fn is_same_file(path: &Path, stat: &Stat) -> bool {
    rustix::fs::stat(path).is_ok_and(|now| now.st_ino == stat.st_ino && now.st_dev == stat.st_dev)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_directory_of_another_user_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let us = rustix::process::geteuid().as_raw();
        let usual = directory.path().join("usual");
        let other = directory.path().join("takt");
        let chosen = |usual: &Path, user| not_foreign(usual.to_path_buf(), other.clone(), user);
        assert_eq!(chosen(&usual, us), usual);
        fs::create_dir(&usual).unwrap();
        assert_eq!(chosen(&usual, us), usual);
        // There is no directory of that user.
        assert_eq!(chosen(&usual, us + 1), usual);
        if std::os::unix::fs::chown(&usual, Some(us + 1), None).is_err() {
            println!("skipped: only root can make a directory of another user");
            return;
        }
        assert_eq!(chosen(&usual, us), other);
    }
}
