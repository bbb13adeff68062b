//! Capture files (pcapng) that tests write.

/// Returns a file with these Ethernet frames, one per millisecond.
#[must_use]
pub fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let section = [
        0x1A2B_3C4D_u32.to_le_bytes(),
        [1, 0, 0, 0],
        [0xFF; 4],
        [0xFF; 4],
    ];
    block(0x0A0D_0D0A, &section.concat(), &mut file);
    // Ethernet, packets of any length.
    block(1, &[1, 0, 0, 0, 0, 0, 0, 0], &mut file);
    for (index, frame) in frames.iter().enumerate() {
        let length = (frame.len() as u32).to_le_bytes();
        let time = (index as u32 * 1000).to_le_bytes();
        let header = [[0; 4], [0; 4], time, length, length].concat();
        block(6, &[&header[..], frame].concat(), &mut file);
    }
    file
}

fn block(block_type: u32, body: &[u8], file: &mut Vec<u8>) {
    let padded = body.len().next_multiple_of(4);
    let length = (padded as u32 + 12).to_le_bytes();
    file.extend(block_type.to_le_bytes());
    file.extend(length);
    file.extend(body);
    file.resize(file.len() + padded - body.len(), 0);
    file.extend(length);
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
