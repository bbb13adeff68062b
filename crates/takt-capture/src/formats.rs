//! Formats of files, by their first bytes: captures, and what is given in their place.

/// Format of a file of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignFormat {
    /// Name, with its article: `a gzip archive`.
    pub name: &'static str,
    /// Way to what is in the file.
    pub advice: &'static str,
}

impl ForeignFormat {
    /// A capture of frames, where another file is needed.
    pub const CAPTURE: Self = Self {
        name: "a capture",
        advice: "Captures are read where messages are decoded, and where delays are measured.",
    };
}

/// Beginnings of files, and their formats.
const KNOWN: [(&[u8], &str, &str); 18] = [
    (
        b"\x1F\x8B",
        "a gzip archive",
        "Unpack it first: gunzip FILE.",
    ),
    (
        b"\x28\xB5\x2F\xFD",
        "a Zstandard archive",
        "Unpack it first: unzstd FILE.",
    ),
    (
        b"\xFD7zXZ\0",
        "an xz archive",
        "Unpack it first: unxz FILE.",
    ),
    (b"BZh", "a bzip2 archive", "Unpack it first: bunzip2 FILE."),
    (
        b"\x04\x22\x4D\x18",
        "an LZ4 archive",
        "Unpack it first: unlz4 FILE.",
    ),
    (
        b"PK\x03\x04",
        "a ZIP archive",
        "Unpack it first: unzip FILE.",
    ),
    (
        b"7z\xBC\xAF\x27\x1C",
        "a 7-Zip archive",
        "Unpack it first: 7z x FILE.",
    ),
    (
        b"snoop\0\0\0",
        "a capture in snoop format",
        "Convert it first: editcap -F pcapng FILE NEW.",
    ),
    (
        b"GMBU",
        "a capture of Network Monitor",
        "Convert it first: editcap -F pcapng FILE NEW.",
    ),
    (b"\x7FELF", "a program", "Is the name right?"),
    (b"\x89PNG", "a picture (PNG)", "Is the name right?"),
    (b"%PDF", "a PDF document", "Is the name right?"),
    (b"PAR1", "a Parquet file", "Is the name right?"),
    (
        b"redb\x1A\x0A\xA9\x0D\x0A",
        "a database of a registry or a history",
        "Is the name right?",
    ),
    (
        b"SQLite format 3\0",
        "a SQLite database",
        "Is the name right?",
    ),
    (
        b"-----BEGIN ",
        "a PEM file (a certificate or a key)",
        "Is the name right?",
    ),
    (
        b"\xFF\xFE",
        "text in UTF-16",
        "Save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE.",
    ),
    (
        b"\xFE\xFF",
        "text in UTF-16",
        "Save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE.",
    ),
];

/// Returns whether bytes begin like a capture file.
pub fn is_capture(bytes: &[u8]) -> bool {
    const MAGIC: [[u8; 4]; 5] = [
        [0x0A, 0x0D, 0x0D, 0x0A],
        [0xD4, 0xC3, 0xB2, 0xA1],
        [0xA1, 0xB2, 0xC3, 0xD4],
        [0x4D, 0x3C, 0xB2, 0xA1],
        [0xA1, 0xB2, 0x3C, 0x4D],
    ];
    bytes
        .first_chunk()
        .is_some_and(|first| MAGIC.contains(first))
}

/// Recognises a file of another kind by its first bytes.
#[must_use]
pub fn foreign_format(bytes: &[u8]) -> Option<ForeignFormat> {
    let known = KNOWN.iter().find(|(start, ..)| bytes.starts_with(start));
    if let Some((_, name, advice)) = known {
        return Some(ForeignFormat { name, advice });
    }
    if is_capture(bytes) {
        return Some(ForeignFormat::CAPTURE);
    }
    let text = bytes.trim_ascii_start();
    let is_html = |start: &[u8]| {
        text.get(..start.len())
            .is_some_and(|first| first.eq_ignore_ascii_case(start))
    };
    let (name, advice) = match () {
        () if is_html(b"<!DOCTYPE html") || is_html(b"<html") => (
            "a web page (HTML)",
            "Download the file itself, for example the raw one.",
        ),
        () if text.starts_with(b"<?xml") || text.starts_with(b"<UANodeSet") => (
            "an XML document",
            "A NodeSet is loaded by a registry or a Provider.",
        ),
        () if bytes.get(257..262) == Some(b"ustar".as_slice()) => {
            ("a tar archive", "Unpack it first: tar xf FILE.")
        }
        () => return None,
    };
    Some(ForeignFormat { name, advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_first_bytes() {
        let name = |bytes: &[u8]| foreign_format(bytes).map(|found| found.name);
        assert_eq!(name(b"\x1F\x8B\x08\0"), Some("a gzip archive"));
        assert_eq!(name(b"PK\x03\x04\x14"), Some("a ZIP archive"));
        assert_eq!(name(b"\x0A\x0D\x0D\x0A\0\0"), Some("a capture"));
        assert_eq!(name(b"\xA1\xB2\x3C\x4D\0\0"), Some("a capture"));
        assert_eq!(name(b"\n<!doctype HTML><html>"), Some("a web page (HTML)"));
        assert_eq!(name(b"<?xml version='1.0'?>"), Some("an XML document"));
        let tar = [&[0; 257][..], b"ustar\0"].concat();
        assert_eq!(name(&tar), Some("a tar archive"));
        assert_eq!(name(b"\xFF\xFEn\0o\0"), Some("text in UTF-16"));
        for other in [
            &b""[..],
            b"\x1F",
            b"[[nodes]]",
            b"{}",
            b"\xD1\x01\x07",
            b"<h",
        ] {
            assert_eq!(name(other), None, "{other:?}");
        }
    }
}
