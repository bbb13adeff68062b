//! Packets of capture files in the formats pcapng and pcap.

use std::io::{Cursor, ErrorKind, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader};

use crate::formats::{foreign_format, is_capture};

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

/// Returns the ticks per second of a resolution (if_tsresol, 4.2): a power of ten, or of two with the highest bit. `None` if it is finer
/// than can be counted. `pcap-parser` 0.16 takes each power of two as impossible.
fn ticks_per_second(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7F);
    match resolution & 0x80 {
        0 => 10_u64.checked_pow(power),
        _ => 1_u64.checked_shl(power),
    }
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
    // The whole file fits into the buffer, so that no block is too large for it.
    let mut reader = match CaptureReader::with_buffer(file, file.len() + 65_536) {
        Ok(reader) => reader,
        Err(error) => return (packets, Some(error)),
    };
    for packet in &mut reader {
        match packet {
            Ok(packet) => packets.push(packet),
            Err(error) => return (packets, Some(error)),
        }
    }
    (packets, None)
}

/// Reader of a capture file: an iterator over its packets, which keeps none of them. The error of a damaged file is its
/// last item.
pub struct CaptureReader<'r> {
    reader: Box<dyn PcapReaderIterator + Send + 'r>,
    format: Format,
    number: usize,
    is_finished: bool,
}

/// Input whose reads fill the buffer, except at the end. The library decides about the format after one read.
struct Filling<R>(R);

impl<R: Read> Read for Filling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Facts that the file has told about its packets so far.
#[derive(Default)]
struct Format {
    is_pcapng: bool,
    /// pcap: LINKTYPE of all packets.
    linktype: i32,
    /// pcap: true if times have nanoseconds.
    nanoseconds: bool,
    /// pcapng: byte order of the section.
    big_endian: bool,
    /// pcapng: interfaces of the section.
    interfaces: Vec<Interface>,
    /// Longest step of times of all interfaces so far, in nanoseconds.
    step: Option<u64>,
}

/// Bytes by which formats are told apart.
const FIRST: usize = 512;

/// Largest block that a reader of a stream takes, in bytes.
const LONGEST_BLOCK: usize = 1 << 20;

impl<'r> CaptureReader<'r> {
    /// Reads the beginning of a file, whose blocks have 1 MiB at most.
    ///
    /// # Errors
    /// The reason, as text: `input` cannot be read, or is no capture file.
    pub fn new(input: impl Read + Send + 'r) -> Result<Self, String> {
        Self::with_buffer(input, LONGEST_BLOCK)
    }

    fn with_buffer(mut input: impl Read + Send + 'r, buffer: usize) -> Result<Self, String> {
        let mut magic = Vec::with_capacity(FIRST);
        let length = FIRST as u64;
        let _ = (&mut input)
            .take(length)
            .read_to_end(&mut magic)
            .map_err(|error| error.to_string())?;
        let is_pcapng = magic.starts_with(&SECTION);
        if !is_capture(&magic)
            && let Some(found) = foreign_format(&magic)
        {
            return Err(format!("it is {}. {}", found.name, found.advice));
        }
        // The library's own choice between the two readers gives up `Send`.
        let input = Filling(Cursor::new(magic).chain(input));
        let reader: Box<dyn PcapReaderIterator + Send + 'r> = match is_pcapng {
            true => Box::new(PcapNGReader::new(buffer, input).map_err(|error| text(&error))?),
            false => Box::new(LegacyPcapReader::new(buffer, input).map_err(|error| text(&error))?),
        };
        Ok(Self {
            format: Format {
                is_pcapng,
                ..Format::default()
            },
            reader,
            number: 0,
            is_finished: false,
        })
    }

    /// Returns the longest step of the times that were read so far, in nanoseconds: 1000 for microseconds. `None` before the first
    /// packet.
    #[must_use]
    pub fn step_nanos(&self) -> Option<u64> {
        self.format.step
    }

    fn packet(&mut self) -> Result<Option<CapturedPacket>, String> {
        loop {
            let exhausted = self.reader.reader_exhausted();
            if self.format.is_pcapng {
                check_length(self.reader.data(), self.format.big_endian)?;
            }
            let (length, block) = match self.reader.next() {
                Ok(block) => block,
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::Incomplete(_)) if !exhausted => {
                    self.reader.refill().map_err(|error| text(&error))?;
                    continue;
                }
                Err(error) => return Err(text(&error)),
            };
            let packet = self.format.packet(&block);
            self.reader.consume(length);
            if let Some(packet) = packet {
                self.number += 1;
                return Ok(Some(CapturedPacket {
                    number: self.number,
                    ..packet
                }));
            }
        }
    }
}

impl Iterator for CaptureReader<'_> {
    type Item = Result<CapturedPacket, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let packet = self.packet().transpose();
        self.is_finished = !matches!(packet, Some(Ok(_)));
        packet
    }
}

impl Format {
    fn note_step(&mut self, nanos: u64) {
        self.step = self.step.max(Some(nanos));
    }

    /// Returns the packet of a block, without its number; `None` for other blocks, which may say something about
    /// packets.
    fn packet(&mut self, block: &PcapBlockOwned<'_>) -> Option<CapturedPacket> {
        let packet = |time, linktype, bytes: &[u8]| CapturedPacket {
            number: 0,
            time,
            linktype,
            bytes: bytes.to_vec(),
        };
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.linktype = header.network.0;
                self.nanoseconds = header.is_nanosecond_precision();
                self.note_step(if self.nanoseconds { 1 } else { 1000 });
                None
            }
            PcapBlockOwned::Legacy(legacy) => {
                let nanos = u64::from(legacy.ts_usec) * if self.nanoseconds { 1 } else { 1000 };
                let time = Duration::from_secs(legacy.ts_sec.into()) + Duration::from_nanos(nanos);
                let time = UNIX_EPOCH.checked_add(time);
                Some(packet(time, self.linktype, legacy.data))
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.big_endian = section.big_endian();
                // Each section numbers its interfaces anew.
                self.interfaces.clear();
                None
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                // An impossible resolution counts as the default of the format, microseconds (4.2).
                let resolution = ticks_per_second(interface.if_tsresol).unwrap_or(1_000_000);
                self.note_step(1_000_000_000_u64.div_ceil(resolution.max(1)));
                self.interfaces.push(Interface {
                    linktype: interface.linktype.0,
                    offset: interface.if_tsoffset,
                    resolution,
                });
                None
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(enhanced)) => {
                // Without its interface, the LINKTYPE of a packet is not known.
                let interface = self.interfaces.get(enhanced.if_id as usize)?;
                let ticks = u64::from(enhanced.ts_high) << 32 | u64::from(enhanced.ts_low);
                let time = interface.time(ticks);
                Some(packet(time, interface.linktype, enhanced.packet_data()))
            }
            PcapBlockOwned::NG(Block::SimplePacket(simple)) => {
                // A simple packet names no interface: it belongs to the first one (4.4).
                let interface = self.interfaces.first()?;
                Some(packet(None, interface.linktype, simple.packet_data()))
            }
            PcapBlockOwned::NG(_) => None,
        }
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
        // A damaged file may have 0, and this is a divisor.
        let resolution = self.resolution.max(1);
        // With a fine resolution, the product does not fit 64 bits.
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
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Input that gives a few bytes at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(7);
            self.0.read(&mut buffer[..length])
        }
    }

    /// A block of 2 MiB: its type is unknown.
    fn long_block() -> Vec<u8> {
        let length = 2_u32 << 20;
        let mut block = 0x0BAD_u32.to_le_bytes().to_vec();
        block.extend(length.to_le_bytes());
        block.resize(length as usize - 4, 0);
        block.extend(length.to_le_bytes());
        block
    }

    #[test]
    fn a_stream_has_the_packets_of_the_file() {
        let mut file = Vec::new();
        let mut writer = crate::CaptureWriter::new(&mut file).unwrap();
        for (length, micros) in (0..500).zip(0..) {
            let time = UNIX_EPOCH + Duration::from_micros(micros);
            writer.write(time, &vec![9; length]).unwrap();
        }
        for length in [file.len(), file.len() - 1] {
            let (expected, damage) = packets(&file[..length]);
            let mut found = CaptureReader::new(Slow(&file[..length])).unwrap();
            for expected in expected {
                let found = found.next().unwrap().unwrap();
                assert_eq!((found.number, found.time), (expected.number, expected.time));
                assert_eq!(found.bytes, expected.bytes);
            }
            assert_eq!(found.next().map(|it| it.err()), damage.map(Some));
            assert!(found.next().is_none());
        }
    }

    #[test]
    fn a_capture_tells_the_step_of_its_times() {
        let mut file = Vec::new();
        let mut writer = crate::CaptureWriter::new(&mut file).unwrap();
        writer.write(UNIX_EPOCH, &[9; 60]).unwrap();
        let step = |file: &[u8]| {
            let mut reader = CaptureReader::new(file).unwrap();
            assert!(reader.by_ref().all(|packet| packet.is_ok()));
            reader.step_nanos()
        };
        assert_eq!(step(&file), Some(1));
        // pcap as tcpdump writes it by default, and with --time-stamp-precision=nano: magic, version, zone, accuracy, length, LINKTYPE.
        let pcap = |magic: u32| {
            let words = [magic, 0x0004_0002, 0, 0, 65_535, 1];
            let header: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
            let packet = [5_u32, 7, 4, 4].into_iter().flat_map(u32::to_le_bytes);
            header
                .into_iter()
                .chain(packet)
                .chain([9; 4])
                .collect::<Vec<u8>>()
        };
        assert_eq!(step(&pcap(0xA1B2_C3D4)), Some(1000));
        assert_eq!(step(&pcap(0xA1B2_3C4D)), Some(1));
    }

    #[test]
    fn a_stream_of_damaged_bytes_has_the_packets_of_the_file() {
        let mut valid = Vec::new();
        let mut writer = crate::CaptureWriter::new(&mut valid).unwrap();
        for length in 0..20 {
            writer.write(UNIX_EPOCH, &vec![9; length]).unwrap();
        }
        let mut state = 1_u64;
        let mut random = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % limit
        };
        for _ in 0..200 {
            let mut file = valid.clone();
            for _ in 0..=random(3) {
                let place = random(file.len());
                file[place] = random(256) as u8;
            }
            let (expected, damage) = packets(&file);
            let (mut found, mut refused) = (Vec::new(), false);
            match CaptureReader::new(Slow(&file)) {
                Ok(reader) => reader.for_each(|packet| match packet {
                    Ok(packet) => found.push((packet.number, packet.time, packet.bytes)),
                    Err(_) => refused = true,
                }),
                Err(_) => refused = true,
            }
            let expected = expected.into_iter();
            let expected: Vec<_> = expected.map(|it| (it.number, it.time, it.bytes)).collect();
            assert_eq!(
                (found, refused),
                (expected, damage.is_some()),
                "{file:02x?}"
            );
        }
    }

    #[test]
    fn a_stream_refuses_a_block_that_is_longer_than_its_buffer() {
        let mut file = Vec::new();
        crate::CaptureWriter::new(&mut file).unwrap();
        file.extend(long_block());
        assert!(packets(&file).1.is_none());
        let mut reader = CaptureReader::new(file.as_slice()).unwrap();
        assert!(reader.next().unwrap().is_err());
        assert!(reader.next().is_none());
    }

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
