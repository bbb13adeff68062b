//! Choice of the protocol.

use super::super::message::{Part, Purpose};
use super::divide::{Next, divide};
use super::{http2, mqtt, nats, ros, rtps, tls, uacp, zenoh};
use crate::table::PeerGroup;

/// Divides a stream into messages.
pub(in super::super) fn stream(group: PeerGroup, bytes: &[u8]) -> Vec<Part> {
    let next: Next = match group {
        _ if tls::begins(bytes) => tls::next,
        PeerGroup::OpcUa if uacp::begins(bytes) => return uacp::parts(bytes),
        PeerGroup::OpcUa | PeerGroup::Mqtt => mqtt::next,
        PeerGroup::Nats => nats::next,
        PeerGroup::Rpc => http2::next,
        PeerGroup::Zenoh => zenoh::next,
        PeerGroup::Ros if ros::is_http(bytes) => ros::http,
        PeerGroup::Ros => ros::topic,
        PeerGroup::Floor => raw,
        _ => |_, _| None,
    };
    divide(bytes, next)
}

/// Message of raw TCP: its length in 31 bits, little-endian, and a flag in the highest bit.
fn raw(rest: &[u8], _: usize) -> Option<Part> {
    let length = u32::from_le_bytes(*rest.first_chunk()?) & (u32::MAX >> 1);
    let bytes = usize::try_from(length).ok()?.checked_add(4)?;
    (bytes <= rest.len()).then(|| Part::new("message", Purpose::Data, bytes))
}

/// Divides a datagram into messages.
pub(in super::super) fn datagram(group: PeerGroup, bytes: &[u8]) -> Vec<Part> {
    match group {
        _ if bytes.is_empty() => Vec::new(),
        _ if rtps::begins(bytes) => rtps::parts(bytes),
        PeerGroup::OpcUa => vec![Part::new("NetworkMessage", Purpose::Data, bytes.len())],
        _ => vec![Part::new("datagram", Purpose::Data, bytes.len())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_belongs_to_a_message() {
        let stream_bytes = [
            &[3, 0, 0, 0x80, 1, 2, 3][..],
            &[1, 0, 0, 0, 9],
            &[4, 0, 0, 0, 1],
        ]
        .concat();
        let parts = stream(PeerGroup::Floor, &stream_bytes);
        let found: Vec<(&str, usize)> = parts.iter().map(|it| (&it.name[..], it.bytes)).collect();
        assert_eq!(
            found,
            [("message", 7), ("message", 5), ("not recognised", 5)]
        );
    }
}
