//! Names of servers in mDNS: at most 63 bytes, without control characters.

/// Longest name in bytes (RFC 6763, 4.1.1; OPC 10000-4, 7.13.2).
const LONGEST: usize = 63;

/// Returns a name that mDNS can carry: control characters are left out, and a long name is cut at a character.
pub(super) fn sanitized(name: &str) -> String {
    let mut sanitized = String::new();
    for character in name.chars().filter(|character| !character.is_control()) {
        if sanitized.len() + character.len_utf8() > LONGEST {
            break;
        }
        sanitized.push(character);
    }
    sanitized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_characters() {
        assert_eq!(sanitized("Press 7"), "Press 7");
        assert_eq!(sanitized("a\u{1b}[2Jb\n"), "a[2Jb");
        let long = sanitized(&"ä".repeat(40));
        assert_eq!(long, "ä".repeat(31));
    }
}
