//! The floor of opc.tcp: bytes over a TCP connection of this host, without Nagle's delay.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{LOOKS_PER_QUESTION, MessageSizes, PATIENCE, Patience, request_bytes};
use crate::transport::error::BenchError;
use crate::transport::payload::Payload;
use crate::transport::round_trip::{RoundTrip, Wait};

/// Answers the requests of one client.
pub(crate) fn serve(
    listener: &TcpListener,
    sizes: &MessageSizes,
    wait: Wait,
    stop: &AtomicBool,
) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(wait == Wait::Spin)?;
    let mut buffer = vec![0; sizes.longest_request()];
    let answers = Payload::ALL.map(|payload| vec![2; sizes.response(payload)]);
    let [scalar, array] = &answers;
    let mut received = 0;
    while !stop.load(Ordering::Relaxed) {
        match stream.read(buffer.get_mut(received..).unwrap_or_default()) {
            Ok(0) => return Ok(()),
            Ok(count) => received += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let payload = Payload::from_code(buffer.first().copied().unwrap_or_default());
        if received >= sizes.request(payload) {
            received = 0;
            // The answer always fits: nothing is sent before the client has taken the one before.
            stream.write_all(match payload {
                Payload::Scalar => scalar,
                Payload::Array => array,
            })?;
        }
    }
    Ok(())
}

/// The client.
pub(crate) struct EchoClient {
    stream: TcpStream,
    spins: bool,
    requests: [Vec<u8>; 2],
    sizes: MessageSizes,
    answer: Vec<u8>,
}

impl EchoClient {
    pub(crate) fn connect(
        address: SocketAddr,
        sizes: MessageSizes,
        wait: Wait,
    ) -> Result<Self, BenchError> {
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
            requests: Payload::ALL.map(|payload| request_bytes(payload, &sizes)),
            sizes,
            answer: vec![0; sizes.longest_response()],
        })
    }

    #[inline]
    fn exchange(&mut self, payload: Payload) -> io::Result<()> {
        let [scalar, array] = &self.requests;
        self.stream.write_all(match payload {
            Payload::Scalar => scalar,
            Payload::Array => array,
        })?;
        let size = self.sizes.response(payload);
        let mut patience = Patience::default();
        let (mut received, mut looks) = (0, 0_u32);
        while received < size {
            let space = self.answer.get_mut(received..size).unwrap_or_default();
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
    #[inline]
    fn round_trip(&mut self, payload: Payload) -> Result<(), BenchError> {
        self.exchange(payload)
            .map_err(BenchError::round_trip("TCP echo"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_sizes_asked_for() {
        for wait in [Wait::Sleep, Wait::Spin] {
            let sizes = MessageSizes::new(|payload| (10 + payload.bytes() % 7, payload.bytes()));
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let address = listener.local_addr().unwrap();
            std::thread::scope(|scope| {
                let server =
                    scope.spawn(|| serve(&listener, &sizes, wait, &AtomicBool::new(false)));
                let mut client = EchoClient::connect(address, sizes, wait).unwrap();
                for payload in [Payload::Scalar, Payload::Array, Payload::Scalar] {
                    client.answer.fill(0);
                    client.round_trip(payload).unwrap();
                    let answered = client.answer.iter().filter(|&&byte| byte == 2).count();
                    assert_eq!(answered, payload.bytes());
                }
                drop(client);
                server.join().unwrap().unwrap();
            });
        }
    }
}
