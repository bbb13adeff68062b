//! The floor of opc.tcp: bytes over a TCP connection within this host, without Nagle's delay. With a [`Protection`], both sides
//! also secure and check the bytes as a channel does.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use super::protection::{HEADER as OPC_TCP_HEADER, Protection};
use super::{HEADER, LOOKS_PER_QUESTION, PATIENCE, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{MessageSizes, Operation, RoundTrip, Wait};

/// Answers the requests of one client, none longer than `longest`.
pub(crate) fn serve(
    listener: &TcpListener,
    longest: usize,
    wait: Wait,
    protection: Option<&Protection>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(wait == Wait::Spin)?;
    let mut buffer = vec![0; longest.max(HEADER)];
    let mut answer = vec![2; longest];
    let mut received = 0;
    while !stop.load(Ordering::Relaxed) {
        match stream.read(buffer.get_mut(received..).unwrap_or_default()) {
            Ok(0) => return Ok(()),
            Ok(count) => received += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let Some(sizes) = sizes_of(buffer.get(..received).unwrap_or_default(), longest) else {
            continue;
        };
        if received >= sizes.request {
            received = 0;
            let answer = answer.get_mut(..sizes.response).unwrap_or_default();
            if let Some(protection) = protection {
                protection.check(buffer.get_mut(..sizes.request).unwrap_or_default())?;
                protection.secure(answer)?;
            }
            // The answer always fits, because the client has taken the previous one.
            stream.write_all(answer)?;
        }
    }
    Ok(())
}

/// Client side.
pub(crate) struct EchoClient {
    stream: TcpStream,
    spins: bool,
    protection: Option<Protection>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl EchoClient {
    pub(crate) fn connect(address: SocketAddr, wait: Wait) -> Result<Self, BenchError> {
        let open = || {
            let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nonblocking(wait == Wait::Spin)?;
            io::Result::Ok(stream)
        };
        Ok(Self {
            stream: open().map_err(BenchError::system("connect to the TCP echo"))?,
            spins: wait == Wait::Spin,
            protection: None,
            request: Vec::new(),
            answer: Vec::new(),
        })
    }

    /// Secures and checks the bytes of each exchange.
    pub(crate) fn protected(mut self, protection: Option<Protection>) -> Self {
        self.protection = protection;
        self
    }

    /// Sets the sizes of the message bodies of each exchange.
    pub(crate) fn set_sizes(&mut self, bodies: MessageSizes) {
        let sizes = match &self.protection {
            None => bodies.with_header(OPC_TCP_HEADER),
            Some(protection) => MessageSizes {
                request: protection.length(bodies.request),
                response: protection.length(bodies.response),
            },
        };
        self.request = request_bytes(sizes);
        self.answer = vec![0; sizes.response];
    }

    #[inline]
    fn exchange(&mut self) -> io::Result<()> {
        if let Some(protection) = &self.protection {
            protection.secure(&mut self.request)?;
        }
        self.stream.write_all(&self.request)?;
        let mut patience = Patience::default();
        let (mut received, mut looks) = (0, 0_u32);
        while received < self.answer.len() {
            let space = self.answer.get_mut(received..).unwrap_or_default();
            match self.stream.read(space) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => received += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.spins => {
                    looks = looks.wrapping_add(1);
                    if looks.is_multiple_of(LOOKS_PER_QUESTION) && patience.is_over() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match &self.protection {
            Some(protection) => protection.check(&mut self.answer),
            None => Ok(()),
        }
    }
}

impl RoundTrip for EchoClient {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        self.set_sizes(operation.sizes);
        self.round_trip()
    }

    #[inline]
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.exchange().map_err(BenchError::round_trip("TCP echo"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::tests::OPERATIONS;

    #[test]
    fn answers_have_the_sizes_asked_for() {
        for wait in [Wait::Sleep, Wait::Spin] {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let address = listener.local_addr().unwrap();
            std::thread::scope(|scope| {
                let server =
                    scope.spawn(|| serve(&listener, 5000, wait, None, &AtomicBool::new(false)));
                let mut client = EchoClient::connect(address, wait).unwrap();
                for operation in OPERATIONS {
                    client.prepare(&operation).unwrap();
                    client.answer.fill(0);
                    client.round_trip().unwrap();
                    assert!(client.answer.iter().all(|&byte| byte == 2));
                    assert_eq!(client.answer.len(), operation.sizes.response + 24);
                }
                drop(client);
                server.join().unwrap().unwrap();
            });
        }
    }

    #[test]
    fn protected_bytes_are_secured_and_checked_on_both_sides() {
        let profile = takt_crypto::PolicyProfile::by_name("Basic256Sha256").unwrap();
        let protection = || Protection::of(profile).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            let own = protection();
            let server = scope.spawn(move || {
                let stop = AtomicBool::new(false);
                serve(&listener, 5000, Wait::Sleep, Some(&own), &stop)
            });
            let client = EchoClient::connect(address, Wait::Sleep).unwrap();
            let mut client = client.protected(Some(protection()));
            for operation in OPERATIONS {
                client.prepare(&operation).unwrap();
                client.round_trip().unwrap();
                assert!(client.answer.len() >= operation.sizes.response + 24 + 32);
            }
            // A request that was changed on its way ends the connection.
            client.protection = None;
            client.request[HEADER + HEADER] ^= 1;
            client.round_trip().unwrap_err();
            drop(client);
            server.join().unwrap().unwrap_err();
        });
    }
}
