//! Files that only their Unix user reads, replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes a file with mode 0600. It has its name when all of it is on the disk: after a crash or with a full disk, it has the old
/// content or the new one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let _ = fs::remove_file(&unfinished);
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written
        .and_then(|()| fs::rename(&unfinished, path))
        .inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })
}
