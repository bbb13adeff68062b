//! File of an audit log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::writer::LineWriter;

/// A file to which records are appended. If it is created here, only its user can read it.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    /// True if a part of a line may be at the end of the file: of a server that was killed, or of a full disk.
    has_partial_line: bool,
}

impl LogFile {
    /// Opens the file, and creates it if it is missing.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = append(path)?;
        Ok(Self {
            path: path.to_owned(),
            has_partial_line: ends_within_a_line(path),
            file,
        })
    }

    /// Returns true if the path still leads to the open file.
    fn is_in_place(&self) -> bool {
        let identity = |file: &fs::Metadata| (file.dev(), file.ino());
        let (Ok(open), Ok(there)) = (self.file.metadata(), fs::metadata(&self.path)) else {
            return false;
        };
        identity(&open) == identity(&there)
    }
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A named pipe without a reader is refused, instead of waiting for one.
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = options
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(without_waiting)
        .open(path)
        .map_err(|error| match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NXIO) => io::Error::other(
                "it is a named pipe that nobody reads: start its reader first, or give the path of a file",
            ),
            _ => error,
        })?;
    // Writing waits for the reader of a pipe, in the thread of this file alone.
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    if is_open_to_others(&file.metadata()?) {
        tracing::warn!(
            "other users may use the audit log {path}: `chmod 600 '{path}'` keeps it to its owner",
            path = path.display()
        );
    }
    Ok(file)
}

/// Returns true if the last byte of a file ends no line. Pipes have no last byte, and a file that cannot be read counts as whole.
fn ends_within_a_line(path: &Path) -> bool {
    let is_partial = || {
        let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        let mut last = [0];
        let file = File::open(path).ok()?;
        file.read_exact_at(&mut last, length.checked_sub(1)?).ok()?;
        Some(last != *b"\n")
    };
    is_partial().unwrap_or(false)
}

/// Returns true if the group or other users may read or write the file. Pipes and devices are what the administrator made them.
fn is_open_to_others(file: &fs::Metadata) -> bool {
    file.is_file() && file.mode() & 0o066 != 0
}

impl LineWriter for LogFile {
    fn write(&mut self, record: &str) -> io::Result<()> {
        if !self.is_in_place() {
            *self = Self::open(&self.path)?;
        }
        let end_of_partial_line = if self.has_partial_line { "\n" } else { "" };
        // One call for one line, so that lines of several servers do not mix.
        let line = format!("{end_of_partial_line}{record}\n");
        let written = self.file.write_all(line.as_bytes());
        self.has_partial_line = written.is_err();
        written
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn an_existing_file_may_be_open_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        fs::write(&path, "0\n").unwrap();
        for (mode, is_open) in [(0o600, false), (0o640, true), (0o644, true), (0o602, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let metadata = append(&path).unwrap().metadata().unwrap();
            assert_eq!(is_open_to_others(&metadata), is_open, "{mode:o}");
            // An administrator may have chosen the mode.
            assert_eq!(metadata.mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_pipe_without_a_reader_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let error = append(&path).unwrap_err().to_string();
        assert!(error.contains("nobody reads"), "{error}");
        let mut reader = OpenOptions::new();
        let _reader = reader.read(true).write(true).open(&path).unwrap();
        LogFile::open(&path).unwrap().write("1").unwrap();
    }

    #[test]
    fn a_partial_line_stays_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        fs::write(&path, "1\npart").unwrap();
        let mut file = LogFile::open(&path).unwrap();
        file.write("2").unwrap();
        file.write("3").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\npart\n2\n3\n");
        // Nothing can be written to a full disk.
        let mut full = LogFile::open(Path::new("/dev/full")).unwrap();
        full.write("4").unwrap_err();
        assert!(full.has_partial_line);
    }

    #[test]
    fn a_file_is_private_and_can_be_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let mut file = LogFile::open(&path).unwrap();
        file.write("1").unwrap();
        file.write("2").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let moved = folder.path().join("audit.1");
        fs::rename(&path, &moved).unwrap();
        file.write("3").unwrap();
        assert_eq!(fs::read_to_string(&moved).unwrap(), "1\n2\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
        // Another process appends to what is there.
        LogFile::open(&path).unwrap().write("4").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "3\n4\n");
    }
}
