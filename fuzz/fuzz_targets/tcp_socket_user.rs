//! An answer of the kernel about the user of a socket: arbitrary bytes, and the question that asks for a socket at these addresses.

use std::net::SocketAddr;

use takt_tcp::{SocketAnswer, SocketQuestion};

/// The question of the seed.
const QUESTION: ([u8; 4], u16, u16) = ([127, 0, 0, 1], 35_962, 38_045);

const SEQUENCE: u32 = 7;

pub(crate) fn run(data: &[u8]) {
    let (address, client, server) = QUESTION;
    let at = |port: u16| SocketAddr::from((address, port));
    let question = SocketQuestion::connected(at(client), at(server)).expect("one family");
    let answer = question.read(SEQUENCE, data);
    // It answers one question at most.
    assert!(answer.is_none() || question.read(SEQUENCE + 1, data).is_none());
    if let Some(SocketAnswer::User(_)) = answer {
        // Each byte of both addresses counts.
        let other = SocketQuestion::connected(at(client + 1), at(server)).expect("one family");
        assert_eq!(other.read(SEQUENCE, data), Some(SocketAnswer::Unknown));
        // No shorter message has the user and the inode.
        assert_eq!(question.read(SEQUENCE, &data[..87]), None);
    }
}
