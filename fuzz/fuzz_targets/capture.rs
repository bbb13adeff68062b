//! Capture files, pcapng and pcap, and the packets in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use takt_capture::{carried, is_capture, packets};

fuzz_target!(|data: &[u8]| {
    if let Some((linktype, packet)) = data.split_first() {
        drop(carried(i32::from(*linktype), packet));
    }
    if !is_capture(data) {
        return;
    }
    let (packets, error) = packets(data);
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
});
