//! Bytes in hex.

/// Parses hex digits, with or without spaces, colons, dashes, commas and newlines between bytes, and with or without `0x` before
/// them.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    let separator = |c: char| c.is_whitespace() || matches!(c, ':' | '-' | ',');
    let mut bytes = Vec::new();
    for group in text.split(separator).filter(|group| !group.is_empty()) {
        let digits = group.strip_prefix("0x").or(group.strip_prefix("0X"));
        let digits = digits.unwrap_or(group);
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        if pairs.is_empty() || !rest.is_empty() {
            return None;
        }
        for [high, low] in pairs {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = digit(*high)? * 16 + digit(*low)?;
            bytes.push(u8::try_from(byte).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn bytes_may_be_separated_in_many_ways() {
        for text in [
            "01abFF",
            "01 ab ff",
            "01:AB:ff\n",
            "0x01, 0xab, 0xff",
            "0x01abff",
        ] {
            assert_eq!(parse(text), Some(vec![1, 0xAB, 0xFF]), "{text}");
        }
        for text in ["0", "01 a", "xy", "0x", "01.02"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
