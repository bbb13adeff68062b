//! Packets of a capture: TCP segments, UDP datagrams, and UADP in Ethernet frames.

use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime};

use takt_capture::CapturedPacket;

const IPV4: u16 = 0x0800;
/// EtherType of UADP (OPC 10000-14, 7.3.3).
const UADP: u16 = 0xB62C;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// Sender or receiver: an IPv4 address with its port, or a MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    pub(super) host: [u8; 6],
    pub(super) port: u16,
}

impl Address {
    fn ip(bytes: [u8; 4], port: u16) -> Self {
        let [a, b, c, d] = bytes;
        let host = [0, 0, a, b, c, d];
        Self { host, port }
    }

    /// Returns the address of this host's loopback interface with a port.
    #[cfg(test)]
    pub(super) fn loopback(port: u16) -> Self {
        Self::ip(Ipv4Addr::LOCALHOST.octets(), port)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.host;
        match self.port {
            0 => write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}"),
            port => write!(f, "{}:{port}", Ipv4Addr::new(c, d, e, g)),
        }
    }
}

/// Protocol that carries a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    Tcp {
        sequence: u32,
        is_first: bool,
        /// True if the segment asks for a connection: its sender is the client of TCP.
        opens: bool,
    },
    Udp,
    Ethernet,
}

/// Payload with its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packet {
    /// Time since the beginning of the epoch.
    pub(super) time: Duration,
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) carrier: Carrier,
    pub(super) payload: Vec<u8>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl Packet {
    /// Reads a captured Ethernet frame; `None` if it is of another protocol.
    pub(super) fn read(captured: &CapturedPacket) -> Option<Self> {
        let time = captured.time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let frame = captured.bytes.as_slice();
        match u16_at(frame, 12)? {
            UADP => Some(Self {
                time,
                from: Address {
                    host: *frame.get(6..)?.first_chunk()?,
                    port: 0,
                },
                to: Address {
                    host: *frame.first_chunk()?,
                    port: 0,
                },
                carrier: Carrier::Ethernet,
                payload: frame.get(14..)?.to_vec(),
            }),
            IPV4 => Self::ip(time, frame.get(14..)?),
            _ => None,
        }
    }

    fn ip(time: Duration, packet: &[u8]) -> Option<Self> {
        let header = usize::from(packet.first()? & 0x0F) * 4;
        let length = usize::from(u16_at(packet, 2)?);
        let rest = packet.get(header..length)?;
        let host = |at: usize| packet.get(at..)?.first_chunk::<4>().copied();
        let (from, to) = (host(12)?, host(16)?);
        let (from, to) = (
            Address::ip(from, u16_at(rest, 0)?),
            Address::ip(to, u16_at(rest, 2)?),
        );
        let (carrier, payload) = match *packet.get(9)? {
            UDP => (Carrier::Udp, rest.get(8..usize::from(u16_at(rest, 4)?))?),
            TCP => {
                let flags = *rest.get(13)?;
                let carrier = Carrier::Tcp {
                    sequence: u32_at(rest, 4)?,
                    is_first: flags & SYN != 0,
                    opens: flags & (SYN | ACK) == SYN,
                };
                (carrier, rest.get(usize::from(*rest.get(12)? >> 4) * 4..)?)
            }
            _ => return None,
        };
        Some(Self {
            time,
            from,
            to,
            carrier,
            payload: payload.to_vec(),
        })
    }
}
