//! Groups of receivers, to which messages are sent once.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Address of a group of receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupAddress {
    /// Ethernet group: the lowest bit of its first byte is set (IEEE 802, 8.2.2).
    Ethernet([u8; 6]),
    /// IP multicast address. Bridges of Linux forward its packets by this address, not by the Ethernet group.
    Ip(IpAddr),
}

impl GroupAddress {
    /// Reads a group such as `01-00-5E-00-54-01`, `239.0.0.1` or `ff15::1`.
    ///
    /// `None` for a text that is no group, and for a group that each bridge forwards to all ports or to none: broadcast, the reserved
    /// addresses of IEEE 802.1Q (Table 8-1), 224.0.0.0/24 (RFC 4541, 2.1.2), `ff02::1`, and IPv6 groups inside a host.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            let is_usable = match address {
                IpAddr::V4(address) => {
                    address.is_multicast() && !matches!(address.octets(), [224, 0, 0, _])
                }
                IpAddr::V6(address) => {
                    let scope = address.segments()[0] & 0xF;
                    let all_nodes = Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1);
                    address.is_multicast() && scope > 1 && address != all_nodes
                }
            };
            return is_usable.then_some(Self::Ip(address));
        }
        let bytes = text.split(['-', ':']).map(|byte| {
            let is_hex = byte.len() == 2 && byte.chars().all(|c| c.is_ascii_hexdigit());
            u8::from_str_radix(byte, 16).ok().filter(|_| is_hex)
        });
        let bytes: [u8; 6] = bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()?;
        let is_reserved = matches!(bytes, [0x01, 0x80, 0xC2, 0, 0, 0..=0x0F]);
        let is_usable = bytes[0] & 1 == 1 && bytes != [0xFF; 6] && !is_reserved;
        is_usable.then_some(Self::Ethernet(bytes))
    }

    /// Returns the Ethernet group of the frames: for IPv4 with the lower 23 bits of the address (RFC 1112, 6.4), for IPv6 with the
    /// lower 32 bits (RFC 2464, 7).
    #[must_use]
    pub fn ethernet(self) -> [u8; 6] {
        match self {
            Self::Ethernet(bytes) => bytes,
            Self::Ip(IpAddr::V4(address)) => of_ipv4(address),
            Self::Ip(IpAddr::V6(address)) => {
                let [.., a, b, c, d] = address.octets();
                [0x33, 0x33, a, b, c, d]
            }
        }
    }
}

fn of_ipv4(address: Ipv4Addr) -> [u8; 6] {
    let [_, a, b, c] = address.octets();
    [0x01, 0x00, 0x5E, a & 0x7F, b, c]
}

/// Writes the group as [`GroupAddress::parse`] reads it.
impl fmt::Display for GroupAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ethernet(bytes) => {
                let bytes = bytes.map(|byte| format!("{byte:02X}"));
                formatter.write_str(&bytes.join("-"))
            }
            Self::Ip(address) => address.fmt(formatter),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_and_written() {
        for (text, written, ethernet) in [
            (
                "01-00-5E-00-54-01",
                "01-00-5E-00-54-01",
                [1, 0, 0x5E, 0, 0x54, 1],
            ),
            (
                "03:00:00:00:00:0a",
                "03-00-00-00-00-0A",
                [3, 0, 0, 0, 0, 10],
            ),
            ("239.129.2.3", "239.129.2.3", [1, 0, 0x5E, 1, 2, 3]),
            ("ff15::1:2", "ff15::1:2", [0x33, 0x33, 0, 1, 0, 2]),
        ] {
            let group = GroupAddress::parse(text).unwrap();
            assert_eq!(
                (group.to_string().as_str(), group.ethernet()),
                (written, ethernet)
            );
        }
    }

    #[test]
    fn addresses_that_bridges_do_not_tell_apart_are_no_groups() {
        for text in [
            "",
            "01-00-5E-00-54",
            "01-00-5E-00-54-01-02",
            "1-0-5E-0-54-1",
            "+1-00-5E-00-54-01",
            "02-00-00-00-00-01",
            "FF-FF-FF-FF-FF-FF",
            "01-80-C2-00-00-0E",
            "192.0.2.1",
            "224.0.0.22",
            "fe80::1",
            "ff01::7",
            "ff02::1",
        ] {
            assert_eq!(GroupAddress::parse(text), None, "{text}");
        }
    }
}
