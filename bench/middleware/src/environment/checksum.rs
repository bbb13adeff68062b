//! Checksums of TCP and UDP over IPv4, which a veth device leaves unfinished.
//!
//! A sender leaves the checksum to its device, and a veth device passes the frame without. A packet socket shows the unfinished one.

/// EtherType of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Writes the checksum of a TCP segment (RFC 9293, 3.1) or UDP datagram (RFC 768) in an Ethernet frame. Other frames, and fragments of
/// IP packets, whose checksums are always finished, stay as they are.
pub(super) fn finish(frame: &mut [u8]) {
    let _ = try_finish(frame);
}

fn try_finish(frame: &mut [u8]) -> Option<()> {
    if frame.get(12..ETHERNET)? != IPV4 {
        return None;
    }
    let packet = frame.get_mut(ETHERNET..)?;
    let header = usize::from(packet.first()? & 0x0F) * 4;
    let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
    // More fragments, or an offset (RFC 791, 3.1).
    let is_fragment = packet.get(6)? & 0x3F != 0 || *packet.get(7)? != 0;
    let protocol = *packet.get(9)?;
    let place = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    let addresses: [u8; 8] = packet.get(12..20)?.try_into().ok()?;
    let body = packet.get_mut(header..total)?;
    let field = body.get_mut(place..place + 2)?;
    // A datagram with 0 has no checksum.
    if is_fragment || (protocol == UDP && field == [0, 0]) {
        return None;
    }
    field.fill(0);
    let length = u32::try_from(body.len()).ok()?;
    let folded = fold(sum(&addresses) + sum(body) + u32::from(protocol) + length);
    let checksum = match !folded {
        0 if protocol == UDP => 0xFFFF,
        checksum => checksum,
    };
    body.get_mut(place..place + 2)?
        .copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

/// Returns the sum of all words. At most 64 KiB, so that it does not overflow.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], low]))
    });
    words.sum()
}

/// Returns the sum in one's complement of 16 bits (RFC 1071).
fn fold(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet frame with an IPv4 packet from 192.0.2.1 to 192.0.2.2.
    fn frame(protocol: u8, fragment: [u8; 2], body: &[u8]) -> Vec<u8> {
        let total = (20 + body.len()) as u16;
        let mut frame = [
            &[0; 12][..],
            &IPV4,
            &[0x45, 0],
            &total.to_be_bytes(),
            &[0, 0],
        ]
        .concat();
        frame.extend(fragment);
        frame.extend([64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        frame.extend(body);
        frame
    }

    /// Sum over the pseudo header and the body, which is 0xFFFF if the checksum is right.
    fn verified(frame: &[u8]) -> u16 {
        let body = &frame[34..];
        let protocol = u32::from(frame[23]);
        fold(sum(&frame[26..34]) + sum(body) + protocol + body.len() as u32)
    }

    #[test]
    fn checksums_of_tcp_and_udp_are_finished() {
        let mut udp = frame(UDP, [0x40, 0], &[0, 1, 0, 2, 0, 11, 0xAB, 0xCD, 1, 2, 3]);
        let mut tcp = frame(TCP, [0x40, 0], &[7; 20]);
        for frame in [&mut udp, &mut tcp] {
            assert_ne!(verified(frame), 0xFFFF);
            finish(frame);
            assert_eq!(verified(frame), 0xFFFF);
        }
        // The padding of a short frame belongs to no datagram.
        let mut padded = [&udp[..], &[9; 9]].concat();
        finish(&mut padded);
        assert_eq!(padded[..udp.len()], udp);
    }

    #[test]
    fn other_frames_stay_as_they_are() {
        let udp = [0, 1, 0, 2, 0, 9, 0xAB, 0xCD, 1];
        let without = [0, 1, 0, 2, 0, 9, 0, 0, 1];
        let mut cut = frame(UDP, [0, 0], &udp);
        cut.truncate(40);
        for frame in [
            frame(UDP, [0x20, 0], &udp),
            frame(UDP, [0, 1], &udp),
            frame(UDP, [0, 0], &without),
            frame(1, [0, 0], &udp),
            cut,
            vec![0; 10],
        ] {
            let mut same = frame.clone();
            finish(&mut same);
            assert_eq!(same, frame);
        }
    }
}
