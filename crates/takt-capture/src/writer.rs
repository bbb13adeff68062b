//! Writer of capture files in the format pcapng (draft-ietf-opsawg-pcapng).

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// LINKTYPE of Ethernet frames.
const ETHERNET: u16 = 1;
/// Type of a Section Header Block (4.1).
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
/// Byte order of a section (4.1).
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// Type of an Interface Description Block (4.2).
const INTERFACE_DESCRIPTION: u32 = 1;
/// Type of an Enhanced Packet Block (4.3).
const ENHANCED_PACKET: u32 = 6;

/// Resolution of times (if_tsresol, 4.2): nanoseconds.
const NANOSECONDS: u8 = 9;
/// Bit of if_tsresol: the resolution is a negative power of two, not of ten.
const POWER_OF_TWO: u8 = 0x80;
/// Power of two whose step is a nanosecond, rounded up.
const SHORTEST_POWER: u8 = 30;
/// End of options (3.5).
const END_OF_OPTIONS: [u8; 4] = [0; 4];

/// Writer of a capture file of one Ethernet interface, with times in nanoseconds.
#[derive(Debug)]
pub struct CaptureWriter<W> {
    file: W,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(mut file: W) -> io::Result<Self> {
        // Version 1.0, and a section of unknown length.
        let section = [&BYTE_ORDER.to_le_bytes()[..], &[1, 0, 0, 0], &[0xFF; 8]].concat();
        write_block(&mut file, SECTION_HEADER, &section)?;
        write_interface(&mut file, NANOSECONDS)?;
        Ok(Self { file })
    }

    /// Writes an Ethernet frame that was captured at `time`.
    ///
    /// # Errors
    /// The file cannot be written, the frame is longer than 4 GiB, or the time is before 1970 or after 2554.
    pub fn write(&mut self, time: SystemTime, frame: &[u8]) -> io::Result<()> {
        self.write_beginning(time, frame, frame.len())
    }

    /// Writes the beginning of an Ethernet frame of `length` bytes that was captured at `time`. `length` is not less than that of
    /// `frame`.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_beginning(
        &mut self,
        time: SystemTime,
        frame: &[u8],
        length: usize,
    ) -> io::Result<()> {
        let captured = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let original = u32::try_from(length.max(frame.len())).map_err(io::Error::other)?;
        let time = time.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        let time = u64::try_from(time.as_nanos()).map_err(io::Error::other)?;
        let time = time.to_le_bytes();
        let (low, high) = time.split_at(4);
        let [captured, original] = [captured, original].map(u32::to_le_bytes);
        let interface = [0; 4];
        // The upper half of the time comes first, in either byte order (4.3).
        let packet = [&interface, high, low, &captured, &original, frame].concat();
        write_block(&mut self.file, ENHANCED_PACKET, &packet)
    }

    /// Notes that the times of the packets had a longer step, in nanoseconds, when they were captured: 1000 for microseconds. A further
    /// interface without packets has it, so that readers of the file know it
    /// ([`CaptureReader::step_nanos`](crate::CaptureReader::step_nanos)). The format has fractions of a second by powers of ten and of
    /// two: of another step, readers get the next longer one of these.
    ///
    /// # Errors
    /// The file cannot be written, or the step is longer than a second, which the format does not have.
    pub fn note_step(&mut self, nanos: u64) -> io::Result<()> {
        match resolution(nanos) {
            Some(NANOSECONDS) => Ok(()),
            Some(resolution) => write_interface(&mut self.file, resolution),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a capture has times with steps of a second at most",
            )),
        }
    }

    /// Passes everything to the file, and returns it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.file.flush()?;
        Ok(self.file)
    }
}

/// Returns the resolution (if_tsresol, 4.2) with the shortest step that has at least this length in nanoseconds; a power of ten, if there is
/// one as short.
fn resolution(step: u64) -> Option<u8> {
    let tens = (0..=NANOSECONDS).map(|power| (10_u64.pow(u32::from(NANOSECONDS - power)), power));
    let twos = (0..=SHORTEST_POWER).map(|power| {
        let steps = 1_u64 << power;
        (1_000_000_000_u64.div_ceil(steps), POWER_OF_TWO | power)
    });
    let long_enough = tens.chain(twos).filter(|(length, _)| *length >= step);
    long_enough.min().map(|(_, resolution)| resolution)
}

/// Writes the description of an interface of Ethernet with packets of any length, whose times have this resolution.
fn write_interface(file: &mut impl Write, resolution: u8) -> io::Result<()> {
    let interface = [
        &ETHERNET.to_le_bytes()[..],
        &[0; 6],
        &[9, 0, 1, 0, resolution, 0, 0, 0],
        &END_OF_OPTIONS,
    ]
    .concat();
    write_block(file, INTERFACE_DESCRIPTION, &interface)
}

/// Writes a block (3.1): type, length, body in words of 32 bits, length again.
fn write_block(file: &mut impl Write, block_type: u32, body: &[u8]) -> io::Result<()> {
    let padded = body.len().next_multiple_of(4);
    let length = u32::try_from(padded + 12).map_err(io::Error::other)?;
    file.write_all(&block_type.to_le_bytes())?;
    file.write_all(&length.to_le_bytes())?;
    file.write_all(body)?;
    file.write_all([0; 3].get(..padded - body.len()).unwrap_or_default())?;
    file.write_all(&length.to_le_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;
    use crate::{CaptureReader, is_capture, packets};

    #[test]
    fn frames_are_read_as_they_were_written() {
        let time = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
        let frames = [
            (time(0), vec![1; 60]),
            (time(1_700_000_000_000_000_001), vec![2; 61]),
            (time(5), vec![]),
            (time(u64::MAX / 2), vec![3; 1522]),
        ];
        let mut file = Vec::new();
        let mut writer = CaptureWriter::new(&mut file).unwrap();
        for (time, frame) in &frames {
            writer.write(*time, frame).unwrap();
        }
        assert!(is_capture(&file));
        let (read, error) = packets(&file);
        assert_eq!(error, None);
        assert_eq!(read.len(), frames.len());
        for ((packet, (time, frame)), number) in read.iter().zip(&frames).zip(1..) {
            assert_eq!((packet.number, packet.linktype), (number, 1));
            assert_eq!(packet.time, Some(*time));
            assert_eq!(&packet.bytes, frame);
        }
        let (read, error) = packets(&file[..file.len() - 20]);
        assert_eq!(read.len(), frames.len() - 1);
        assert_eq!(error.as_deref(), Some("it ends within a packet"));
    }

    #[test]
    fn the_step_of_the_times_can_be_noted() {
        for (step, expected) in [
            (0, 1),
            (1, 1),
            (1_000, 1_000),
            (1_000_000, 1_000_000),
            (1_000_000_000, 1_000_000_000),
            // Captures of 2^-20 and 2^-10 seconds, rounded up.
            (954, 954),
            (976_563, 976_563),
            // No power of ten or two: the next longer one.
            (7, 8),
            (1_001, 1_908),
            (8_000, 10_000),
        ] {
            let mut writer = CaptureWriter::new(Vec::new()).unwrap();
            let time = UNIX_EPOCH + Duration::from_nanos(1_234_567);
            writer.write(time, &[7; 60]).unwrap();
            writer.note_step(step).unwrap();
            let file = writer.finish().unwrap();
            let mut reader = CaptureReader::new(file.as_slice()).unwrap();
            let packets: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
            assert_eq!((packets.len(), packets[0].time), (1, Some(time)));
            assert_eq!(reader.step_nanos(), Some(expected), "{step}");
        }
        let mut writer = CaptureWriter::new(Vec::new()).unwrap();
        let refused = writer.note_step(1_000_000_001).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }

    /// Each packet has the resolution of its interface.
    #[test]
    fn times_by_powers_of_two_are_read() {
        for (power, step) in [(20_u8, 954), (0, 1_000_000_000), (63, 1)] {
            let mut writer = CaptureWriter::new(Vec::new()).unwrap();
            write_interface(&mut writer.file, POWER_OF_TWO | power).unwrap();
            let ticks = (1_u64 << power) + (1_u64 << power) / 2;
            let (high, low) = ((ticks >> 32) as u32, ticks as u32);
            let words = [1, high, low, 60, 60].map(u32::to_le_bytes);
            let packet = [words.as_flattened(), &[7; 60]].concat();
            write_block(&mut writer.file, ENHANCED_PACKET, &packet).unwrap();
            let file = writer.finish().unwrap();
            let mut reader = CaptureReader::new(file.as_slice()).unwrap();
            let read = reader.by_ref().next().unwrap().unwrap();
            let millis = if power == 0 { 1_000 } else { 1_500 };
            let time = UNIX_EPOCH + Duration::from_millis(millis);
            assert_eq!(read.time, Some(time), "2^-{power} s");
            assert_eq!(reader.step_nanos(), Some(step));
        }
    }

    #[test]
    fn the_beginning_of_a_frame_has_the_length_of_the_whole() {
        let mut writer = CaptureWriter::new(Vec::new()).unwrap();
        writer.write_beginning(UNIX_EPOCH, &[7; 64], 1518).unwrap();
        let file = writer.finish().unwrap();
        let (read, error) = packets(&file);
        assert_eq!((read.len(), error), (1, None));
        assert_eq!(read[0].bytes, [7; 64]);
        // Block of the packet: type, length, interface, two words of time, captured and original length.
        let packet = &file[file.len() - (32 + 64)..];
        assert_eq!(packet[20..24], 64_u32.to_le_bytes());
        assert_eq!(packet[24..28], 1518_u32.to_le_bytes());
    }

    #[test]
    fn times_before_1970_and_full_disks_are_errors() {
        let mut file = Vec::new();
        let mut writer = CaptureWriter::new(&mut file).unwrap();
        let early = UNIX_EPOCH - Duration::from_secs(1);
        assert!(writer.write(early, &[0; 60]).is_err());
        let mut disk = [0; 100];
        let mut writer = CaptureWriter::new(&mut disk[..]).unwrap();
        assert!(writer.write(UNIX_EPOCH, &[0; 60]).is_err());
    }
}
