//! Archives in the format ustar (IEEE 1003.1, pax, "ustar Interchange Format"), without times, owners and groups.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::error::BundleError;

/// Length of a block, in bytes.
const BLOCK: usize = 512;

/// Longest name of a file, in bytes.
const LONGEST_NAME: usize = 100;

/// File of an archive: its name there, and its place.
pub(super) type ArchivedFile<'a> = (&'a str, &'a Path);

/// Writes an archive of files, and returns its length in bytes.
pub(super) fn archive<'a>(
    files: impl IntoIterator<Item = ArchivedFile<'a>>,
    output: &mut impl Write,
) -> Result<u64, BundleError> {
    let mut written = 0_u64;
    for (name, path) in files {
        let failed = |error| BundleError::Io {
            path: path.to_owned(),
            error,
        };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        output
            .write_all(&header(name, length)?)
            .map_err(unwritten)?;
        let copied = io::copy(&mut file.take(length), output).map_err(unwritten)?;
        if copied < length {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let padded = length.next_multiple_of(BLOCK as u64);
        pad(output, padded - length)?;
        written += BLOCK as u64 + padded;
    }
    // Two blocks of zeros are the end.
    pad(output, 2 * BLOCK as u64)?;
    output.flush().map_err(unwritten)?;
    Ok(written + 2 * BLOCK as u64)
}

/// Writes zeros.
fn pad(output: &mut impl Write, count: u64) -> Result<(), BundleError> {
    let zeros = io::copy(&mut io::repeat(0).take(count), output);
    zeros.map(drop).map_err(unwritten)
}

fn unwritten(error: io::Error) -> BundleError {
    BundleError::Write(error)
}

fn header(name: &str, length: u64) -> Result<Vec<u8>, BundleError> {
    let refused = |reason| BundleError::Archive {
        file: name.to_owned(),
        reason,
    };
    if name.len() > LONGEST_NAME {
        return Err(refused("its name has more than 100 bytes"));
    }
    // Eleven octal digits.
    if length >= 1 << 33 {
        return Err(refused("it is longer than 8 GiB"));
    }
    let mut header = Vec::with_capacity(BLOCK);
    header.extend_from_slice(name.as_bytes());
    header.resize(LONGEST_NAME, 0);
    // Mode, uid, gid, size, mtime; the checksum counts as spaces; an ordinary file; no link.
    header.extend_from_slice(b"0000644\0");
    header.extend_from_slice(b"0000000\0");
    header.extend_from_slice(b"0000000\0");
    header.extend_from_slice(format!("{length:011o}\0").as_bytes());
    header.extend_from_slice(b"00000000000\0");
    header.extend_from_slice(b"        ");
    header.push(b'0');
    header.resize(257, 0);
    header.extend_from_slice(b"ustar\x0000");
    header.resize(BLOCK, 0);
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    let sum = format!("{sum:06o}\0 ");
    for (to, from) in header.iter_mut().skip(148).zip(sum.bytes()) {
        *to = from;
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    #[test]
    fn tar_reads_the_archive() {
        let long = vec![7; 1025];
        let files: [(&str, &[u8]); 3] = [
            ("run/a", b"one"),
            ("run/001/empty", b""),
            ("run/001/long", &long),
        ];
        let folder = tempfile::tempdir().unwrap();
        let places = files.iter().enumerate().map(|(number, (name, content))| {
            let place = folder.path().join(number.to_string());
            std::fs::write(&place, content).unwrap();
            (*name, place)
        });
        let places: Vec<(&str, PathBuf)> = places.collect();
        let path = folder.path().join("x.tar");
        let mut file = File::create(&path).unwrap();
        let places = places.iter().map(|(name, place)| (*name, place.as_path()));
        let length = archive(places, &mut file).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
        let tar = |options: &str| {
            let output = Command::new("tar")
                .arg(options)
                .arg(&path)
                .arg("--numeric-owner")
                .current_dir(folder.path())
                .env("TZ", "UTC")
                .output();
            let output = output.unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let listed = tar("-tvf");
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!(lines.len(), 3, "{listed}");
        for line in lines {
            assert!(line.starts_with("-rw-r--r-- 0/0"), "{line}");
            assert!(line.contains("1970-01-01 00:00"), "{line}");
        }
        tar("-xf");
        for (name, content) in files {
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), content);
        }
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let name = "x".repeat(101);
        let refused = header(&name, 0).unwrap_err();
        assert!(refused.to_string().contains("more than 100 bytes"));
        let refused = header("long", 1 << 33).unwrap_err();
        assert!(refused.to_string().contains("8 GiB"));
        let missing = archive([("a", Path::new("/nothing"))], &mut Vec::new());
        assert!(matches!(missing, Err(BundleError::Io { .. })));
    }
}
