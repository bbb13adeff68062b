//! Files of a run in a directory.

use std::path::{Path, PathBuf};

use crate::error::AnalysisError;
use crate::source::{CapturePort, RunFileFormat};

/// Returns the trace files and captures of a directory, sorted by name. Other files and directories are left out. A
/// capture whose name begins with `loopback` was made at the port of the loopback.
///
/// # Errors
/// [`AnalysisError::Io`].
pub fn files_of_run(directory: &Path) -> Result<Vec<(PathBuf, CapturePort)>, AnalysisError> {
    let failed = |error| AnalysisError::Io {
        path: directory.to_owned(),
        error,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !path.is_file() || RunFileFormat::of(&path)?.is_none() {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let port = CapturePort {
            is_loopback: name.starts_with("loopback"),
            ..CapturePort::default()
        };
        files.push((path, port));
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(files)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn traces_and_captures_are_found_by_their_first_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(directory.path().join(name), bytes).unwrap();
        };
        write("b.trace", b"TAKTTRC1....");
        write("a.txt", b"text");
        write("empty", b"");
        write("loopback.any", &[0x0A, 0x0D, 0x0D, 0x0A, 0]);
        std::fs::create_dir(directory.path().join("c")).unwrap();
        let found = files_of_run(directory.path()).unwrap();
        let names = found.iter().map(|(path, port)| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (name.to_owned(), port.is_loopback)
        });
        let expected = [
            ("b.trace".to_owned(), false),
            ("loopback.any".to_owned(), true),
        ];
        assert_eq!(names.collect::<Vec<_>>(), expected);
        let missing = files_of_run(&directory.path().join("nothing")).unwrap_err();
        assert!(missing.to_string().contains("nothing"));
    }
}
