//! Files of settings and secrets: reading with bounds, and replacing as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use takt_rt::file_lock::FileLock;

/// Age from which on an unfinished file of an ended process is removed.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// Reads a file of at most `max` bytes. Anything but a regular file is refused, because its end may never come.
pub(crate) fn read(path: &Path, max: u64) -> io::Result<String> {
    let mut options = OpenOptions::new();
    // A named pipe without a writer is opened, instead of waiting for one.
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = options
        .read(true)
        .custom_flags(without_waiting)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if metadata.len() > max {
        return Err(io::Error::other(format!("it has more than {max} bytes")));
    }
    let mut text = String::new();
    file.take(max).read_to_string(&mut text)?;
    Ok(text)
}

/// Logs a warning if other users may change a file that decides about rights.
pub(crate) fn warn_of_writers(path: &Path) {
    let writers = fs::metadata(path).map_or(0, |file| file.mode() & 0o022);
    if writers != 0 {
        let path = path.display();
        tracing::warn!(
            "other users may change {path}, and so their own rights: `chmod go-w '{path}'`"
        );
    }
}

/// Waits until no other process changes files of this folder through such a lock. Dropping the lock ends it.
///
/// `None` on a file system without locks of folders, such as NFS.
pub(crate) fn lock(path: &Path) -> io::Result<Option<FileLock>> {
    let folder = File::open(folder(path))?;
    match FileLock::take(folder) {
        Ok(lock) => Ok(Some(lock)),
        Err(Errno::BADF | Errno::INVAL | Errno::NOLCK | Errno::NOTSUP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file with mode 0600. It has its name when all of it is on the disk: after a crash or with a full disk, it has the old
/// content or the new one. If root writes it, it belongs to the owner of the old file, or of the folder: a server of another user
/// reads it.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove_left_behind(path);
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    // An earlier process with the same id may have left one.
    let _ = fs::remove_file(&unfinished);
    let mut file: File = OpenOptions::new()
        .write(true)
        // This follows no link that another process has put in its place.
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    let written = give_to_owner(&file, path)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all());
    written
        .and_then(|()| fs::rename(&unfinished, path))
        .inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_file(&unfinished);
        })
}

fn folder(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn give_to_owner(file: &File, path: &Path) -> io::Result<()> {
    // Only root can give a file to another user.
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = fs::metadata(path).or_else(|_| fs::metadata(folder(path)))?;
    match owner.uid() {
        0 => Ok(()),
        user => fchown(file, Some(user), Some(owner.gid())),
    }
}

/// Removes unfinished files of processes that were killed.
fn remove_left_behind(path: &Path) {
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
        return;
    };
    for entry in fs::read_dir(folder(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(stem)?.strip_prefix('.'))
            .and_then(|rest| rest.strip_suffix(".tmp")?.parse::<u32>().ok());
        let Some(process) = process else { continue };
        let age = entry.metadata().and_then(|file| file.modified());
        let age = age.ok().and_then(|modified| modified.elapsed().ok());
        let is_old = age.is_some_and(|age| age > LEFT_BEHIND);
        if is_old && !Path::new(&format!("/proc/{process}")).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_regular_files_within_the_bound_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), "12345");
        let large = read(&path, 4).unwrap_err().to_string();
        assert!(large.contains("more than 4 bytes"), "{large}");
        let endless = read(Path::new("/dev/zero"), 5).unwrap_err().to_string();
        assert!(endless.contains("no regular file"), "{endless}");
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(read(&pipe, 5).is_err());
    }

    #[test]
    fn unfinished_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let old = SystemTime::now() - 2 * LEFT_BEHIND;
        // No process has this number: the largest one is 2^22.
        let own = std::process::id();
        let names = [
            "users.4294967295.tmp",
            "users.x.tmp",
            "other.4294967295.tmp",
        ];
        let names = names
            .map(str::to_owned)
            .into_iter()
            .chain([format!("users.{own}.tmp2")]);
        let names: Vec<String> = names.collect();
        for name in &names {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        write(&path, b"1").unwrap();
        let is_there = |name: &String| folder.path().join(name).exists();
        let there: Vec<bool> = names.iter().map(is_there).collect();
        assert_eq!(there, [false, true, true, true]);
    }

    #[test]
    fn a_lock_excludes_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let first = lock(&path).unwrap();
        let other = File::open(folder.path()).unwrap();
        let copy = other.try_clone().unwrap();
        assert!(FileLock::try_take(copy).unwrap().is_none());
        drop(first);
        assert!(FileLock::try_take(other).unwrap().is_some());
    }
}
