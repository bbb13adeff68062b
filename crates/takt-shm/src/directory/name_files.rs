//! Files of applications' names: `<ApplicationName>.lock` and `<ApplicationName>.sock`.
//!
//! Files of other programs that are named alike are left.

use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::{fs, io};

use rustix::fs::{FileType, Mode, OFlags};

use crate::address::ApplicationName;

/// Ending of the name of a lock.
pub(crate) const LOCK_SUFFIX: &str = "lock";
/// Ending of the name of a socket.
pub(crate) const SOCKET_SUFFIX: &str = "sock";

/// Maximum length of the text of a lock: two numbers.
const LONGEST: u64 = 64;

/// Returns the application of a lock file; `None` for other files, and for those of other programs that are named like a lock.
fn application_of(path: &Path) -> Option<ApplicationName> {
    if path.extension()? != LOCK_SUFFIX {
        return None;
    }
    let name = ApplicationName::new(path.file_stem()?.to_str()?).ok()?;
    is_lock(path).then_some(name)
}

/// Returns true if a file has the content of a lock, or is empty.
fn is_lock(path: &Path) -> bool {
    // A pipe of that name must not block this process.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else {
        // The file belongs to another user and cannot be read.
        return fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() < LONGEST);
    };
    rustix::fs::fstat(&file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        && is_text_of_lock(&file)
}

/// Returns true if an open file has the content of a lock.
pub(crate) fn is_text_of_lock(file: impl AsFd) -> bool {
    let mut text = [0; LONGEST as usize];
    let Ok(length) = rustix::io::pread(file, &mut text, 0) else {
        return false;
    };
    let text = text.get(..length).unwrap_or_default();
    // A full buffer means a longer file.
    text.len() < LONGEST as usize
        && text
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b' ')
}

/// Removes the locks and sockets of all applications in a directory that no process uses.
pub(crate) fn remove_all(directory: &Path) {
    for name in names_in(directory) {
        let file = |suffix: &str| directory.join(format!("{name}.{suffix}"));
        let _ = remove_socket(&file(SOCKET_SUFFIX));
        let _ = remove(&file(LOCK_SUFFIX));
    }
}

/// Returns the names by their locks: every socket has a lock, which is made before it and removed after it.
pub(crate) fn names_in(directory: &Path) -> Vec<ApplicationName> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<ApplicationName> = entries
        .flatten()
        .filter_map(|entry| application_of(&entry.path()))
        .collect();
    names.sort();
    names
}

/// Removes a socket, and keeps any other file.
pub(crate) fn remove_socket(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            Err(io::ErrorKind::AlreadyExists.into())
        }
        _ => remove(path),
    }
}

/// Removes a file, if there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
