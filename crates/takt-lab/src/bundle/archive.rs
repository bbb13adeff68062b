//! Archives in the format ustar (IEEE 1003.1, pax, "ustar Interchange Format"), without times, owners and groups.

use super::error::BundleError;

/// Length of a block, in bytes.
const BLOCK: usize = 512;

/// Longest name of a file, in bytes.
const LONGEST_NAME: usize = 100;

/// Returns an archive of files: name and content of each.
pub(super) fn archive<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<Vec<u8>, BundleError> {
    let mut archive = Vec::new();
    for (name, content) in files {
        archive.extend(header(name, content.len())?);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    // Two blocks of zeros are the end.
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(name: &str, length: usize) -> Result<Vec<u8>, BundleError> {
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
        let path = folder.path().join("x.tar");
        std::fs::write(&path, archive(files).unwrap()).unwrap();
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
        let refused = archive([(name.as_str(), &b""[..])]).unwrap_err();
        assert!(refused.to_string().contains("more than 100 bytes"));
    }
}
