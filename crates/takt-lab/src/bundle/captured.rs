//! Captures with messages of the run only, and without hardware addresses.

use std::io::{BufReader, Read, Write};

use takt_analysis::publisher_of;
use takt_capture::{CaptureReader, CaptureWriter, carried};

/// LINKTYPE of Ethernet frames.
const ETHERNET: i32 = 1;
/// EtherTypes of VLAN tags.
const VLAN_TAGS: [[u8; 2]; 3] = [[0x81, 0x00], [0x88, 0xA8], [0x91, 0x00]];
const UADP: [u8; 2] = [0xB6, 0x2C];
const IPV4: [u8; 2] = [0x08, 0x00];

/// Addresses of a run, each with its substitute.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    hardware: Vec<[u8; 6]>,
    internet: Vec<[u8; 4]>,
}

impl Addresses {
    /// Returns the substitute of a hardware address: a locally administered one. Groups stay.
    fn hardware(&mut self, address: [u8; 6]) -> [u8; 6] {
        if address[0] & 1 == 1 {
            return address;
        }
        let number = place(&mut self.hardware, address) + 1;
        let [.., high, low] = number.to_be_bytes();
        [0x02, 0, 0, 0, high, low]
    }

    /// Returns the substitute of an IPv4 address: one for documentation (RFC 5737). Groups stay.
    fn internet(&mut self, address: [u8; 4]) -> [u8; 4] {
        if address[0] & 0xF0 == 0xE0 {
            return address;
        }
        let number = place(&mut self.internet, address) + 1;
        let [.., low] = number.to_be_bytes();
        [192, 0, 2, low]
    }
}

/// Returns the place of an address, which is added if it is new.
fn place<A: PartialEq>(addresses: &mut Vec<A>, address: A) -> usize {
    let found = addresses.iter().position(|it| *it == address);
    found.unwrap_or_else(|| {
        addresses.push(address);
        addresses.len() - 1
    })
}

/// Writes a capture with the messages of these PublisherIds only, and returns the number of packets that were left out. Comments and
/// descriptions of the file are lost.
pub(super) fn rewritten(
    input: impl Read + Send,
    output: impl Write,
    ids: &[String],
    addresses: &mut Addresses,
) -> Result<u64, String> {
    let mut left_out = 0;
    let mut writer = CaptureWriter::new(output).map_err(|error| error.to_string())?;
    let mut reader = CaptureReader::new(BufReader::new(input))?;
    for packet in reader.by_ref() {
        let packet = packet?;
        let payload = carried(packet.linktype, &packet.bytes);
        let publisher = payload.and_then(|it| publisher_of(it.bytes));
        let is_own = publisher.is_some_and(|id| ids.contains(&id));
        let frame = match packet.linktype {
            ETHERNET if is_own => anonymous(packet.bytes, addresses),
            _ => None,
        };
        if is_own && frame.is_none() {
            return Err(format!(
                "a message of the run has addresses that cannot be replaced: only UADP and IPv4 in Ethernet frames are packed, not \
                 IPv6 nor link type {}",
                packet.linktype
            ));
        }
        match (packet.time, frame) {
            (Some(time), Some(frame)) => {
                writer
                    .write(time, &frame)
                    .map_err(|error| error.to_string())?;
            }
            _ => left_out += 1,
        }
    }
    // Verdicts have the resolution of the times.
    let step = reader.step_nanos().unwrap_or(1);
    writer.note_step(step).map_err(|error| error.to_string())?;
    let _ = writer.finish().map_err(|error| error.to_string())?;
    Ok(left_out)
}

/// Replaces the addresses of an Ethernet frame; `None` for protocols other than UADP and IPv4.
fn anonymous(mut frame: Vec<u8>, addresses: &mut Addresses) -> Option<Vec<u8>> {
    for at in [0, 6] {
        let address: &mut [u8; 6] = frame.get_mut(at..)?.first_chunk_mut()?;
        *address = addresses.hardware(*address);
    }
    let mut at = 12;
    while VLAN_TAGS.contains(frame.get(at..)?.first_chunk()?) {
        at += 4;
    }
    let protocol: [u8; 2] = *frame.get(at..)?.first_chunk()?;
    match protocol {
        UADP => Some(frame),
        IPV4 => {
            let header = at + 2;
            for at in [header + 12, header + 16] {
                let address: &mut [u8; 4] = frame.get_mut(at..)?.first_chunk_mut()?;
                *address = addresses.internet(*address);
            }
            let length = usize::from(frame.get(header)? & 0x0F) * 4;
            // Checksums of the header and of UDP would tell the addresses. 0 means none (RFC 768).
            for at in [header + 10, header + length + 6] {
                frame.get_mut(at..at + 2)?.fill(0);
            }
            Some(frame)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_replaced_and_stay_different() {
        let mut addresses = Addresses::default();
        let one = addresses.hardware([0x00, 0x1B, 0x21, 1, 2, 3]);
        let two = addresses.hardware([0x00, 0x1B, 0x21, 1, 2, 4]);
        assert_eq!([one, two], [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]]);
        assert_eq!(addresses.hardware([0x00, 0x1B, 0x21, 1, 2, 3]), one);
        let group = [0x01, 0, 0x5E, 0, 0x54, 1];
        assert_eq!(addresses.hardware(group), group);
        assert_eq!(addresses.internet([10, 1, 2, 3]), [192, 0, 2, 1]);
        assert_eq!(addresses.internet([239, 0, 0, 1]), [239, 0, 0, 1]);
    }

    #[test]
    fn frames_of_ip_lose_their_addresses_and_checksums() {
        let mut frame = vec![2; 12];
        frame.extend([0x81, 0, 0, 5, 0x08, 0x00]);
        frame.extend([
            0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0xAA, 0xBB, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        frame.extend([0x12, 0xEA, 0x12, 0xEA, 0, 12, 0xCC, 0xDD, 1, 2, 3, 4]);
        let frame = anonymous(frame, &mut Addresses::default());
        let frame = frame.unwrap_or_default();
        assert_eq!(
            frame.get(28..38),
            Some(&[0, 0, 192, 0, 2, 1, 192, 0, 2, 2][..])
        );
        assert_eq!(frame.get(44..), Some(&[0, 0, 1, 2, 3, 4][..]));
        // Anything that ends too early is left out, and so are other protocols.
        for length in 0..46 {
            let cut = frame.get(..length).unwrap_or_default().to_vec();
            assert_eq!(anonymous(cut, &mut Addresses::default()), None, "{length}");
        }
    }
}
