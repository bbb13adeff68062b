//! Capture files, pcapng and pcap, and the packets in them: a stream has those of the whole file.

use takt_capture::{CaptureReader, carried, is_capture, packets};

pub(crate) fn run(data: &[u8]) {
    if let Some((linktype, packet)) = data.split_first() {
        drop(carried(i32::from(*linktype), packet));
    }
    if !is_capture(data) {
        return;
    }
    let (packets, error) = packets(data);
    // Longer blocks are refused by the stream only.
    if data.len() < 1 << 20 {
        let (mut numbers, mut damage) = (Vec::new(), None);
        match CaptureReader::new(data) {
            Ok(reader) => reader.for_each(|packet| match packet {
                Ok(packet) => numbers.push((packet.number, packet.bytes)),
                Err(error) => damage = Some(error),
            }),
            Err(error) => damage = Some(error),
        }
        let whole = packets
            .iter()
            .map(|packet| (packet.number, packet.bytes.clone()));
        assert_eq!(numbers, whole.collect::<Vec<_>>());
        assert_eq!(damage.is_some(), error.is_some());
    }
    let held: usize = packets.iter().map(|packet| packet.bytes.len()).sum();
    assert!(
        held <= data.len(),
        "{held} bytes of packets in {} of a file",
        data.len()
    );
    for packet in &packets {
        if let Some(carried) = carried(packet.linktype, &packet.bytes) {
            assert!(carried.bytes.len() <= packet.bytes.len());
        }
    }
    drop(error);
}
