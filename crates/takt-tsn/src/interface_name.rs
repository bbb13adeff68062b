//! Names of network interfaces.

/// Longest name in bytes (`IFNAMSIZ` without the zero at the end).
pub const LONGEST_INTERFACE_NAME: usize = 15;

/// Returns true if Linux accepts the name for an interface, and commands cannot mistake it for an option.
pub fn is_interface_name(name: &str) -> bool {
    let is_length = (1..=LONGEST_INTERFACE_NAME).contains(&name.len());
    let is_text = name
        .chars()
        .all(|c| !c.is_whitespace() && !c.is_control() && c != '/' && c != ':');
    is_length && is_text && !matches!(name, "." | "..") && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_interface() {
        for name in ["eth0", "enp3s0f1", "br-lan", "eth0.100", "veth0@x"] {
            assert!(is_interface_name(name), "{name}");
        }
        for name in [
            "",
            "eth 0",
            "-h",
            "a/b",
            "..",
            "abcdefghijklmnop",
            "eth0\n",
            "eth0:1",
        ] {
            assert!(!is_interface_name(name), "{name}");
        }
    }
}
