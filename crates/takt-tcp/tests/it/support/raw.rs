//! Client steps by hand on a socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{NONE, hello, open_request};

/// Reads everything that the server still sends.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Reads one message.
pub(crate) fn message(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    stream.read_exact(&mut bytes).unwrap();
    let size = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
    bytes.resize(size as usize, 0);
    stream.read_exact(&mut bytes[8..]).unwrap();
    bytes
}

/// Opens a channel by hand; SequenceNumbers go on at 52. Returns the SecureChannelId.
pub(crate) fn open(stream: &mut TcpStream) -> u32 {
    stream.write_all(&hello(65536, 65536, 0, 0)).unwrap();
    stream
        .write_all(&open_request(0, NONE, 51, 0, 1, 0))
        .unwrap();
    assert_eq!(&message(stream)[..4], b"ACKF");
    let opened = message(stream);
    assert_eq!(&opened[..4], b"OPNF");
    u32::from_le_bytes(opened[8..12].try_into().unwrap())
}
