//! Connections, channels and Sessions that are opened and then left alone.

use std::io::Write;
use std::net::TcpStream;

use crate::channel::{Channel, Lost, SESSION_MILLIS, Session, Way, create};
use crate::messages::connect;
use crate::target::Attacker;

/// Connections at a time: more than any server accepts. The process has as many descriptors as the system permits.
const MANY: usize = 900;

/// Opens one after the other until `count` are held, and then one more for each one that the server closes.
fn hold<T>(
    attacker: &mut Attacker<'_>,
    count: usize,
    mut open: impl FnMut(&mut Attacker<'_>) -> Result<T, Lost>,
    mut is_alive: impl FnMut(&mut T) -> bool,
) {
    let mut held: Vec<T> = Vec::new();
    let mut looked_at = 0;
    while attacker.goes_on() {
        if held.len() < count {
            match open(attacker) {
                Ok(opened) => held.push(opened),
                Err(lost) => attacker.refused(lost),
            }
        } else {
            attacker.wait(std::time::Duration::from_millis(10));
        }
        // Only a few are checked each time, so that a round stays short.
        for _ in 0..4 {
            looked_at = if looked_at < held.len() { looked_at } else { 0 };
            let Some(one) = held.get_mut(looked_at) else {
                break;
            };
            if is_alive(one) {
                looked_at += 1;
            } else {
                drop(held.swap_remove(looked_at));
            }
        }
    }
}

/// Returns true if the server has not closed the connection.
fn is_open(socket: &mut TcpStream) -> bool {
    let mut byte = [0];
    if socket.set_nonblocking(true).is_err() {
        return false;
    }
    match socket.peek(&mut byte) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Opens connections and sends nothing, or only a Hello message.
pub(crate) fn half_open(attacker: &mut Attacker<'_>, says_hello: bool) {
    let count = attacker.count(MANY);
    let url = attacker.endpoints.tcp.to_string();
    let hello = hello(&url);
    let open = |attacker: &mut Attacker<'_>| {
        let mut socket = connect(attacker)?;
        if says_hello {
            socket.write_all(&hello)?;
            attacker.tally.messages += 1;
        }
        Ok(socket)
    };
    hold(attacker, count, open, |socket| {
        // An Acknowledge message that stays unread does not end the connection.
        is_open(socket)
    });
}

/// Returns the Hello message of a client (OPC 10000-6, 7.1.2.3).
fn hello(url: &str) -> Vec<u8> {
    takt_tcp::ClientConnection::new(takt_tcp::ClientConnectionConfig::default(), url)
        .transmit()
        .to_vec()
}

/// Opens and closes connections as fast as possible.
pub(crate) fn flood(attacker: &mut Attacker<'_>) {
    while attacker.goes_on() {
        match connect(attacker) {
            Ok(socket) => drop(socket),
            Err(lost) => attacker.refused(lost),
        }
    }
}

/// Opens SecureChannels without a Session.
pub(crate) fn channels(attacker: &mut Attacker<'_>) {
    let count = attacker.count(MANY);
    let open = |attacker: &mut Attacker<'_>| Channel::open(attacker, Way::Tcp);
    hold(attacker, count, open, is_usable);
}

fn is_usable(channel: &mut Channel) -> bool {
    match channel {
        Channel::Tcp(client) => client.maintain(std::time::Duration::from_millis(1)).is_ok(),
        Channel::SharedMemory(_) => true,
    }
}

/// Opens Sessions that are never activated, each on a channel of its own, and one more for each one that the server closes.
pub(crate) fn not_activated(attacker: &mut Attacker<'_>) {
    let count = attacker.count(MANY);
    let open = |attacker: &mut Attacker<'_>| {
        let mut channel = Channel::open(attacker, Way::Tcp)?;
        create(
            attacker,
            &mut channel,
            "urn:takt:bench:attack",
            SESSION_MILLIS,
        )?;
        Ok(channel)
    };
    hold(attacker, count, open, is_usable);
}

/// Opens Sessions and closes their connections at once, without CloseSession.
pub(crate) fn abandoned(attacker: &mut Attacker<'_>) {
    while attacker.goes_on() {
        match Session::open(attacker, Way::Tcp) {
            Ok(session) => drop(session),
            Err(lost) => attacker.refused(lost),
        }
    }
}
