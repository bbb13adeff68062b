//! Messages in packets: UADP in Ethernet frames, or in UDP datagrams (OPC 10000-14, 7.3.2 and 7.3.3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// EtherType of UADP.
const UADP: u16 = 0xB62C;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// EtherTypes of VLAN tags: IEEE 802.1Q, 802.1ad, and its predecessor.
const VLAN_TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
const UDP: u8 = 17;

/// Payload of a packet, with its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried<'p> {
    /// Address of the sender.
    pub source: String,
    /// Address of the receiver.
    pub destination: String,
    /// UDP destination port; `None` for Ethernet frames.
    pub port: Option<u16>,
    /// Bytes that may be a message.
    pub bytes: &'p [u8],
}

/// Finds the payload of a packet of this LINKTYPE (see tcpdump.org/linktypes.html). Fragments of IP datagrams are not
/// reassembled.
pub fn carried(linktype: i32, packet: &[u8]) -> Option<Carried<'_>> {
    match linktype {
        // BSD loopback: the address family, in the machine's byte order.
        0 | 108 => ip(packet.get(4..)?),
        1 => ethernet(packet),
        // IP without a frame: three numbers of different systems, and those of IPv4 and IPv6 alone.
        12 | 14 | 101 | 228 | 229 => ip(packet),
        // Linux cooked, versions 1 and 2.
        113 => protocol(u16_at(packet, 14)?, "", "", packet.get(16..)?),
        276 => protocol(u16_at(packet, 0)?, "", "", packet.get(20..)?),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let bytes = bytes.get(offset..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

fn ethernet(frame: &[u8]) -> Option<Carried<'_>> {
    let mac = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.join(":")
    };
    let (destination, source) = (mac(frame.get(..6)?), mac(frame.get(6..12)?));
    protocol(u16_at(frame, 12)?, &source, &destination, frame.get(14..)?)
}

fn protocol<'p>(
    mut ether_type: u16,
    source: &str,
    destination: &str,
    mut bytes: &'p [u8],
) -> Option<Carried<'p>> {
    while VLAN_TAGS.contains(&ether_type) {
        ether_type = u16_at(bytes, 2)?;
        bytes = bytes.get(4..)?;
    }
    match ether_type {
        UADP => Some(Carried {
            source: source.to_owned(),
            destination: destination.to_owned(),
            port: None,
            bytes,
        }),
        IPV4 | IPV6 => ip(bytes),
        _ => None,
    }
}

fn ip(packet: &[u8]) -> Option<Carried<'_>> {
    match packet.first()? >> 4 {
        4 => ipv4(packet),
        6 => ipv6(packet),
        _ => None,
    }
}

fn ipv4(packet: &[u8]) -> Option<Carried<'_>> {
    let header = usize::from(packet.first()? & 0x0F) * 4;
    let length = usize::from(u16_at(packet, 2)?);
    // Each fragment has the flag "more fragments", or an offset.
    let fragment = u16_at(packet, 6)? & 0x3FFF != 0;
    if *packet.get(9)? != UDP || fragment || header < 20 {
        return None;
    }
    let address = |offset: usize| {
        let bytes: [u8; 4] = *packet.get(offset..)?.first_chunk()?;
        Some(IpAddr::from(Ipv4Addr::from(bytes)))
    };
    // The capture may be truncated, or the network card sets the length.
    let end = if length < header {
        packet.len()
    } else {
        length.min(packet.len())
    };
    udp(address(12)?, address(16)?, packet.get(header..end)?)
}

fn ipv6(packet: &[u8]) -> Option<Carried<'_>> {
    let address = |offset: usize| {
        let bytes: [u8; 16] = *packet.get(offset..)?.first_chunk()?;
        Some(IpAddr::from(Ipv6Addr::from(bytes)))
    };
    let (source, destination) = (address(8)?, address(24)?);
    let mut next = *packet.get(6)?;
    let mut rest = packet.get(40..)?;
    // Hop-by-hop options, routing, destination options.
    while matches!(next, 0 | 43 | 60) {
        next = *rest.first()?;
        // The length of an extension header counts units of 8 bytes beyond the first one (RFC 8200, 4.3).
        rest = rest.get(8 + usize::from(*rest.get(1)?) * 8..)?;
    }
    match next {
        UDP => udp(source, destination, rest),
        _ => None,
    }
}

fn udp(source: IpAddr, destination: IpAddr, datagram: &[u8]) -> Option<Carried<'_>> {
    let port = u16_at(datagram, 2)?;
    let length = usize::from(u16_at(datagram, 4)?);
    // As in the header of IPv4, the network card may set the length later.
    let end = if length < 8 {
        datagram.len()
    } else {
        length.min(datagram.len())
    };
    Some(Carried {
        source: SocketAddr::new(source, u16_at(datagram, 0)?).to_string(),
        destination: SocketAddr::new(destination, port).to_string(),
        port: Some(port),
        bytes: datagram.get(8..end)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const MESSAGE: [u8; 3] = [0x11, 7, 9];

    fn datagram() -> Vec<u8> {
        [&[0x13, 0x88, 0x12, 0xE8, 0, 11, 0, 0][..], &MESSAGE].concat()
    }

    fn ipv4_packet() -> Vec<u8> {
        let header = [
            0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 224, 0, 0, 22,
        ];
        [&header[..], &datagram()].concat()
    }

    fn frame(types: &[u8], rest: &[u8]) -> Vec<u8> {
        [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..], types, rest].concat()
    }

    #[test]
    fn messages_are_found_in_every_kind_of_packet() {
        let ip = ipv4_packet();
        let mut ipv6 = vec![0x60, 0, 0, 0, 0, 19, 0, 64];
        ipv6.extend([0; 31]);
        ipv6.push(1);
        // Destination options before UDP.
        ipv6.extend([UDP, 0, 1, 4, 0, 0, 0, 0]);
        ipv6[6] = 60;
        ipv6.extend(datagram());
        let tagged = [0x81, 0, 0, 5, 0xB6, 0x2C];
        let cooked = [&[0; 14][..], &[0x08, 0], &ip].concat();
        let cooked2 = [&[0x08, 0][..], &[0; 18], &ip].concat();
        let cases: [(i32, Vec<u8>, Option<u16>); 8] = [
            (1, frame(&[0xB6, 0x2C], &MESSAGE), None),
            (1, frame(&tagged, &MESSAGE), None),
            (
                1,
                frame(&[0x08, 0], &[&ip[..], &[0; 9]].concat()),
                Some(4840),
            ),
            (1, frame(&[0x86, 0xDD], &ipv6), Some(4840)),
            (101, ip.clone(), Some(4840)),
            (113, cooked, Some(4840)),
            (276, cooked2, Some(4840)),
            (0, [&[2, 0, 0, 0][..], &ip].concat(), Some(4840)),
        ];
        for (linktype, packet, port) in cases {
            let found = carried(linktype, &packet).unwrap();
            assert_eq!(
                (found.port, found.bytes),
                (port, &MESSAGE[..]),
                "{packet:02x?}"
            );
            for length in 0..packet.len() {
                let cut = carried(linktype, &packet[..length]);
                assert!(cut.is_none_or(|cut| cut.bytes.len() <= MESSAGE.len()));
            }
        }
        let found = carried(101, &ip).unwrap();
        assert_eq!(
            (&found.source[..], &found.destination[..]),
            ("10.0.0.1:5000", "224.0.0.22:4840")
        );
    }

    #[test]
    fn other_packets_are_skipped() {
        let mut fragment = ipv4_packet();
        fragment[6] = 0x20;
        let mut tcp = ipv4_packet();
        tcp[9] = 6;
        for packet in [fragment, tcp, vec![0x75; 40], Vec::new()] {
            assert_eq!(carried(101, &packet), None);
        }
        assert_eq!(carried(1, &frame(&[0x08, 6], &MESSAGE)), None);
        assert_eq!(carried(147, &ipv4_packet()), None);
    }
}
