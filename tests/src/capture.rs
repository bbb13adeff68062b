//! Capture files (pcapng) that tests write.

use std::time::{Duration, UNIX_EPOCH};

use takt_capture::CaptureWriter;

/// Returns a file with these Ethernet frames, one per millisecond.
///
/// # Panics
/// If a frame is too long.
#[must_use]
pub fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = CaptureWriter::new(&mut file).expect("memory");
    let mut time = UNIX_EPOCH;
    for frame in frames {
        writer.write(time, frame).expect("memory");
        time += Duration::from_millis(1);
    }
    file
}

/// Returns an Ethernet frame with a payload of this EtherType.
#[must_use]
pub fn frame(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x01, 0, 0x5E, 0, 0, 22, 2, 0, 0, 0, 0, 1];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Returns an Ethernet frame with a UDP datagram in IPv4.
///
/// # Panics
/// If the payload is too long.
#[must_use]
pub fn udp_frame(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = |header: usize| {
        u16::try_from(payload.len() + header)
            .expect("a datagram")
            .to_be_bytes()
    };
    let mut packet = vec![0x45, 0];
    packet.extend(length(28));
    packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 224, 0, 0, 22]);
    packet.extend(5000_u16.to_be_bytes());
    packet.extend(port.to_be_bytes());
    packet.extend(length(8));
    packet.extend([0, 0]);
    packet.extend(payload);
    frame(0x0800, &packet)
}
