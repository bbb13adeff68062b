//! Packets of capture files in the formats pcapng and pcap.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

/// A captured packet.
pub struct CapturedPacket {
    /// Number in the file, from 1.
    pub number: usize,
    /// Time of the capture, if the file contains it.
    pub time: Option<SystemTime>,
    /// LINKTYPE of its interface, which is the protocol of its first bytes.
    pub linktype: i32,
    /// Captured bytes of the packet.
    pub bytes: Vec<u8>,
}

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

/// An interface of a pcapng file.
struct Interface {
    linktype: i32,
    offset: i64,
    /// Ticks per second.
    resolution: u64,
}

/// Returns all packets, and the error of the file behind them if there is one.
pub fn packets(file: &[u8]) -> (Vec<CapturedPacket>, Option<String>) {
    let mut packets = Vec::new();
    let error = read(file, &mut packets).err();
    (packets, error)
}

fn read(file: &[u8], packets: &mut Vec<CapturedPacket>) -> Result<(), String> {
    // The whole file fits into the buffer, so that no block is too large for it.
    let mut reader = create_reader(file.len() + 65_536, file).map_err(|error| text(&error))?;
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut linktype = 0;
    let mut nanoseconds = false;
    let mut number = 0;
    let is_pcapng = file.starts_with(&SECTION);
    let mut big_endian = false;
    loop {
        let exhausted = reader.reader_exhausted();
        if is_pcapng {
            check_length(reader.data(), big_endian)?;
        }
        let (length, block) = match reader.next() {
            Ok(block) => block,
            Err(PcapError::Eof) => return Ok(()),
            Err(PcapError::Incomplete(_)) if !exhausted => {
                reader.refill().map_err(|error| text(&error))?;
                continue;
            }
            Err(error) => return Err(text(&error)),
        };
        let mut add = |time, linktype, bytes: &[u8]| {
            number += 1;
            packets.push(CapturedPacket {
                number,
                time,
                linktype,
                bytes: bytes.to_vec(),
            });
        };
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                linktype = header.network.0;
                nanoseconds = header.is_nanosecond_precision();
            }
            PcapBlockOwned::Legacy(packet) => {
                let nanos = u64::from(packet.ts_usec) * if nanoseconds { 1 } else { 1000 };
                let time = Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(nanos);
                add(UNIX_EPOCH.checked_add(time), linktype, packet.data);
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                big_endian = section.big_endian();
                interfaces.clear();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                interfaces.push(Interface {
                    linktype: interface.linktype.0,
                    offset: interface.if_tsoffset,
                    resolution: interface.ts_resolution().unwrap_or(1_000_000),
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                if let Some(interface) = interfaces.get(packet.if_id as usize) {
                    let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                    add(
                        interface.time(ticks),
                        interface.linktype,
                        packet.packet_data(),
                    );
                }
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                if let Some(interface) = interfaces.first() {
                    add(None, interface.linktype, packet.packet_data());
                }
            }
            PcapBlockOwned::NG(_) => {}
        }
        reader.consume(length);
    }
}

/// Type of the block with which a section of a pcapng file begins. It reads the same in both byte orders.
const SECTION: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];

/// Smallest length in bytes of a block: its type, and its length twice.
const SHORTEST_BLOCK: u32 = 12;

/// Fails if the next block is shorter than a block can be. The library subtracts from the length before it checks it.
fn check_length(block: &[u8], big_endian: bool) -> Result<(), String> {
    let Some((kind, rest)) = block.split_first_chunk::<4>() else {
        return Ok(());
    };
    let Some(length) = rest.first_chunk::<4>() else {
        return Ok(());
    };
    let length = match big_endian {
        true => u32::from_be_bytes(*length),
        false => u32::from_le_bytes(*length),
    };
    // A section has a byte order of its own, and the library checks its length.
    if *kind != SECTION && length < SHORTEST_BLOCK {
        return Err(format!("it is damaged: a block of {length} bytes"));
    }
    Ok(())
}

impl Interface {
    fn time(&self, ticks: u64) -> Option<SystemTime> {
        let resolution = self.resolution.max(1);
        let nanos = u128::from(ticks % resolution) * 1_000_000_000 / u128::from(resolution);
        let time = Duration::from_secs(ticks / resolution)
            .checked_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))?;
        let offset = Duration::from_secs(self.offset.unsigned_abs());
        let time = match self.offset < 0 {
            true => time.checked_sub(offset),
            false => time.checked_add(offset),
        };
        UNIX_EPOCH.checked_add(time?)
    }
}

fn text<I: std::fmt::Debug>(error: &PcapError<I>) -> String {
    match error {
        PcapError::Incomplete(_) | PcapError::UnexpectedEof => "it ends within a packet".to_owned(),
        error => format!("it is damaged: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_room_for_its_length_is_an_error() {
        // A section, and a process information block of four bytes.
        let little = [
            0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 28, 0, 0, 0, 1, 0, 0, 0x80, 4, 0, 0, 0, 76,
        ];
        let big = [
            0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28, 0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 28, 0x80, 0, 0, 1, 0, 0, 0, 4, 76,
        ];
        for file in [little, big] {
            let (packets, error) = packets(&file);
            assert!(packets.is_empty());
            assert_eq!(error.as_deref(), Some("it is damaged: a block of 4 bytes"));
        }
    }
}
