//! Sizes of the measured values.

use crate::payload::Payload;

/// Payloads in the user's notation: `4,4096`, or `4..1MiB` for a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(Vec<Payload>);

impl Sizes {
    /// Returns the payloads in ascending order.
    pub(crate) fn payloads(&self) -> &[Payload] {
        &self.0
    }

    /// Returns true if there are too many sizes for a table each.
    pub(crate) fn is_sweep(&self) -> bool {
        self.0.len() > 2
    }
}

impl std::str::FromStr for Sizes {
    type Err = String;

    /// Parses sizes in bytes, with `KiB` or `MiB`, divided by commas; or `FIRST..LAST` for every power of 4 from the first on; or
    /// `FIRST..LAST:2` for every power of 2.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut payloads = Vec::new();
        for part in text.split(',') {
            let Some((first, last)) = part.split_once("..") else {
                payloads.push(size(part)?);
                continue;
            };
            let (last, factor) = match last.split_once(':') {
                Some((last, "2")) => (last, 2),
                Some((last, "4")) => (last, 4),
                Some((_, factor)) => {
                    return Err(format!("sizes grow by 2 or by 4, not by `{factor}`"));
                }
                None => (last, 4),
            };
            let (first, last) = (size(first)?, size(last)?);
            let mut bytes = first.bytes() as u64;
            while bytes <= last.bytes() as u64 {
                payloads.extend(Payload::of_bytes(bytes));
                bytes *= factor;
            }
            if first > last {
                return Err(format!("`{part}` has its larger size first"));
            }
        }
        payloads.sort_unstable();
        payloads.dedup();
        Ok(Self(payloads))
    }
}

/// Parses a size: `4`, `64KiB`, `1 MiB`.
fn size(text: &str) -> Result<Payload, String> {
    let fault = || {
        format!(
            "`{text}` is not a size: write for example 4, 64KiB or 1MiB, a multiple of 4 up to 16MiB"
        )
    };
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        _ => return Err(fault()),
    };
    let number: u64 = number.trim().parse().map_err(|_| fault())?;
    let bytes = number.checked_mul(factor).ok_or_else(fault)?;
    Payload::of_bytes(bytes).ok_or_else(fault)
}

/// Returns a size as text for people.
pub(super) fn text(bytes: usize) -> String {
    if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else if bytes > 4096 && bytes.is_multiple_of(1 << 10) {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{bytes} B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<usize> {
        let sizes: Sizes = text.parse().unwrap();
        sizes
            .payloads()
            .iter()
            .map(|payload| payload.bytes())
            .collect()
    }

    #[test]
    fn sizes_are_listed_or_swept() {
        assert_eq!(bytes("4096,4"), [4, 4096]);
        assert_eq!(bytes("4..1KiB"), [4, 16, 64, 256, 1024]);
        assert_eq!(bytes("4..32:2"), [4, 8, 16, 32]);
        assert_eq!(bytes("4,1 KiB..4KiB"), [4, 1024, 4096]);
        assert_eq!(bytes("4..1MiB").len(), 10);
        for wrong in [
            "", "5", "4..", "8..4", "1GiB", "4..64:3", "4 MB", "-4", "64MiB",
        ] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_as_they_are_written() {
        let texts = [4, 4096, 16384, 1 << 20].map(text);
        assert_eq!(texts, ["4 B", "4096 B", "16 KiB", "1 MiB"]);
    }
}
