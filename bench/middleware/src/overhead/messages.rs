//! Messages of a capture: packets, put together to streams, divided by the protocol.

use takt_capture::packets;

use super::message::Message;
use super::packet::{Carrier, Packet};
use super::protocol;
use super::stream::streams;
use crate::table::PeerGroup;

/// Reads the messages of a capture file, in the order of their times.
///
/// # Errors
/// Text: the file is damaged, or bytes are missing in it.
pub(super) fn messages(group: PeerGroup, file: &[u8]) -> Result<Vec<Message>, String> {
    let (captured, error) = packets(file);
    if let Some(error) = error {
        return Err(format!("the capture is damaged: {error}"));
    }
    let packets: Vec<Packet> = captured.iter().filter_map(Packet::read).collect();
    let mut messages = Vec::new();
    for stream in streams(&packets)? {
        let mut offset = 0;
        for part in protocol::stream(group, &stream.bytes) {
            let bytes = part.bytes;
            messages.push(Message {
                time: stream.time(offset),
                from: stream.from,
                to: stream.to,
                is_connected: true,
                opened: stream.opened,
                opened_at: stream.begin,
                part,
            });
            offset += bytes;
        }
    }
    for packet in &packets {
        if matches!(packet.carrier, Carrier::Tcp { .. }) {
            continue;
        }
        for part in protocol::datagram(group, &packet.payload) {
            messages.push(Message {
                time: packet.time,
                from: packet.from,
                to: packet.to,
                is_connected: false,
                opened: false,
                opened_at: packet.time,
                part,
            });
        }
    }
    messages.sort_by_key(|message| message.time);
    Ok(messages)
}
