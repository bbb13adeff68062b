//! The floor of opc.tcp: bytes over a TCP connection within this host, without Nagle's delay.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{HEADER, LOOKS_PER_QUESTION, PATIENCE, Patience, request_bytes, sizes_of};
use crate::error::BenchError;
use crate::round_trip::{Operation, RoundTrip, Wait};

/// Bytes in front of a message body over opc.tcp: MessageHeader, SecurityTokenId, SequenceHeader (OPC 10000-6, 6.7.2).
const OPC_TCP_HEADER: usize = 24;

/// Answers the requests of one client, none longer than `longest`.
pub(crate) fn serve(
    listener: &TcpListener,
    longest: usize,
    wait: Wait,
    stop: &AtomicBool,
) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(wait == Wait::Spin)?;
    let mut buffer = vec![0; longest.max(HEADER)];
    let answer = vec![2; longest];
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
            // The answer always fits, because the client has taken the previous one.
            stream.write_all(answer.get(..sizes.response).unwrap_or_default())?;
        }
    }
    Ok(())
}

/// Client side.
pub(crate) struct EchoClient {
    stream: TcpStream,
    spins: bool,
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
            request: Vec::new(),
            answer: Vec::new(),
        })
    }

    #[inline]
    fn exchange(&mut self) -> io::Result<()> {
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
        Ok(())
    }
}

impl RoundTrip for EchoClient {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        let sizes = operation.sizes.with_header(OPC_TCP_HEADER);
        self.request = request_bytes(sizes);
        self.answer = vec![0; sizes.response];
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
                let server = scope.spawn(|| serve(&listener, 5000, wait, &AtomicBool::new(false)));
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
}
