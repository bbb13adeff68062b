//! Raw UDP: the floor of all peers over UDP. A byte with the kind of the request precedes the payload.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::client::{Messages, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, sum};
use super::server::until_input_ends;
use super::setting::PeerSetting;

/// Bytes of the longest datagram.
const LONGEST: usize = 65_507;

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    let given = setting.given(&["poll"])?;
    let address = setting.socket(0);
    let socket = UdpSocket::bind(address).map_err(OwnPeerError::system("bind"))?;
    let blocking = socket.set_nonblocking(given.poll);
    blocking.map_err(OwnPeerError::system("set O_NONBLOCK"))?;
    let waker = UdpSocket::bind((setting.address, 0)).map_err(OwnPeerError::system("bind"))?;
    until_input_ends(
        move |ready, stop| {
            ready();
            let mut buffer = vec![0; LONGEST];
            while !stop.load(Ordering::Relaxed) {
                let (length, client) = match socket.recv_from(&mut buffer) {
                    Ok(received) => received,
                    Err(error) if is_passing(&error) => continue,
                    Err(error) => return Err(OwnPeerError::system("receive")(error)),
                };
                let Some((code, request)) = buffer.get(..length).and_then(<[u8]>::split_first)
                else {
                    continue;
                };
                // A client that is gone is no fault of the server.
                let _ = match Mode::of_code(*code) {
                    Mode::Echo => socket.send_to(request, client),
                    Mode::Ack => socket.send_to(&[sum(request)], client),
                };
            }
            Ok(())
        },
        move || drop(waker.send_to(&[], address)),
    )
}

fn is_passing(error: &io::Error) -> bool {
    let passing = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
        ErrorKind::ConnectionRefused,
    ];
    passing.contains(&error.kind())
}

struct UdpExchange {
    socket: UdpSocket,
    message: Vec<u8>,
    /// Received datagram.
    buffer: Vec<u8>,
    poll: bool,
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    let given = setting.given(&["poll"])?;
    let open = || -> io::Result<UdpSocket> {
        // The route to the server chooses the address.
        let any = match setting.address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(setting.socket(0))?;
        socket.set_nonblocking(given.poll)?;
        socket.set_read_timeout(Some(Duration::from_secs(2)))?;
        Ok(socket)
    };
    serve_commands(&mut UdpExchange {
        socket: open().map_err(OwnPeerError::system("open a socket"))?,
        message: Vec::new(),
        buffer: vec![0; LONGEST],
        poll: given.poll,
    })
}

impl Messages for UdpExchange {
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError> {
        self.message.clear();
        self.message.push(mode.code());
        self.message.extend_from_slice(request);
        let sent = self.socket.send(&self.message);
        sent.map_err(OwnPeerError::system("send"))?;
        Ok(())
    }

    fn receive(&mut self, timeout: Duration) -> Result<Option<&[u8]>, OwnPeerError> {
        let begin = self.poll.then(Instant::now);
        loop {
            match self.socket.recv(&mut self.buffer) {
                Ok(length) => return Ok(self.buffer.get(..length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.poll => {
                    if begin.is_some_and(|begin| begin.elapsed() > timeout) {
                        return Ok(None);
                    }
                    std::hint::spin_loop();
                }
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) => return Err(OwnPeerError::system("receive")(error)),
            }
        }
    }
}
