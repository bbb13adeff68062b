//! Files that commands read once, whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Returns true for the name of the standard input.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file; `-` is the standard input. A pipe is empty afterwards, so the content is passed on, and not read again.
///
/// # Errors
/// The file cannot be read, or has more than 64 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    match is_standard(path) {
        true => whole(io::stdin().lock()),
        false => whole(File::open(path)?),
    }
}

fn whole(file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a long file from one that fits; a pipe has no length.
    let read = file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    match u64::try_from(read).is_ok_and(|read| read <= MAX_FILE) {
        true => Ok(bytes),
        false => Err(io::Error::other("it has more than 64 MiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_files_are_refused() {
        let error = read(Path::new("/dev/zero")).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("more than 64 MiB")));
        assert_eq!(read(Path::new("/dev/null")).ok(), Some(Vec::new()));
    }
}
