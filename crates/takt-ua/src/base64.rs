//! Base64 with padding (RFC 4648, 4): the text form of ByteStrings and opaque identifiers.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        // Three bytes are the low 24 bits: four digits of six bits.
        for (target, byte) in group.iter_mut().skip(1).zip(chunk) {
            *target = *byte;
        }
        let group = u32::from_be_bytes(group);
        for position in 0..4 {
            let index = (group >> (18 - 6 * position)) as usize & 63;
            let digit = ALPHABET.get(index).copied().unwrap_or_default();
            text.push(if position <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

/// Decodes a text; `None` if it is malformed. Padding may be left out.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    // One digit of the last group would be less than a byte.
    if digits.len() % 4 == 1 || padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.as_bytes().chunks(4) {
        let mut group = 0_u32;
        for digit in chunk {
            let value = ALPHABET.iter().position(|candidate| candidate == digit)?;
            group = group << 6 | u32::try_from(value).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        bytes.extend(
            group
                .to_be_bytes()
                .into_iter()
                .skip(1)
                // The last group may be shorter: n digits have n - 1 whole bytes.
                .take(chunk.len() - 1),
        );
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_rfc() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in vectors {
            assert_eq!(encode(plain.as_bytes()), encoded);
            assert_eq!(decode(encoded).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in ["Z", "Zg=", "Zg===", "Z!==", "====", "Zm9v="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
