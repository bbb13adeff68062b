//! Ends of the bare echo: a socket, and bytes of the same length.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::error::BenchError;
use crate::floors::packet_socket;

/// EtherType of OPC UA PubSub (OPC 10000-14, 7.3.3).
const ETHERTYPE: u16 = 0xB62C;

/// One end.
pub(super) struct BareEnd {
    socket: OwnedFd,
    frame: Vec<u8>,
    received: Vec<u8>,
    /// Position of the number in the frame.
    number: usize,
}

impl BareEnd {
    /// Opens both ends of a UDP echo on loopback.
    pub(super) fn udp(length: usize) -> Result<(Self, Self), BenchError> {
        let open = || -> io::Result<(UdpSocket, UdpSocket)> {
            let (first, second) = (
                UdpSocket::bind("127.0.0.1:0")?,
                UdpSocket::bind("127.0.0.1:0")?,
            );
            first.connect(second.local_addr()?)?;
            second.connect(first.local_addr()?)?;
            Ok((first, second))
        };
        let (first, second) = open().map_err(BenchError::system("open UDP sockets"))?;
        let end = |socket: UdpSocket| Self::new(socket.into(), &[], length);
        Ok((end(first)?, end(second)?))
    }

    /// Opens an end on an interface; `to` and `from` are MAC addresses.
    pub(super) fn ethernet(
        interface: &str,
        [to, from]: [[u8; 6]; 2],
        length: usize,
    ) -> Result<Self, BenchError> {
        let socket = packet_socket::open(interface, ETHERTYPE);
        let socket = socket.map_err(BenchError::system(&format!(
            "open a packet socket at {interface}"
        )))?;
        let header = [&to, &from, ETHERTYPE.to_be_bytes().as_slice()].concat();
        Self::new(socket, &header, length)
    }

    fn new(socket: OwnedFd, header: &[u8], length: usize) -> Result<Self, BenchError> {
        // A lost frame ends a wait.
        let timeout = Some(Duration::from_millis(200));
        set_socket_timeout(&socket, Timeout::Recv, timeout)
            .map_err(BenchError::system("set SO_RCVTIMEO"))?;
        let mut frame = header.to_vec();
        frame.resize(header.len() + length, 0);
        Ok(Self {
            received: vec![0; 2048],
            number: header.len(),
            socket,
            frame,
        })
    }

    /// Sends a frame with a number.
    pub(super) fn send(&mut self, number: u64) -> Result<(), BenchError> {
        let place = self.frame.get_mut(self.number..self.number + 8);
        if let Some(place) = place {
            place.copy_from_slice(&number.to_le_bytes());
        }
        send(self.socket.as_fd(), &self.frame, SendFlags::empty())
            .map_err(BenchError::system("send"))?;
        Ok(())
    }

    /// Waits for a frame and returns its number; `None` after the timeout.
    pub(super) fn receive(&mut self) -> Result<Option<u64>, BenchError> {
        match recv(self.socket.as_fd(), &mut self.received, RecvFlags::empty()) {
            Ok((_, count)) if count >= self.number + 8 => {
                let bytes = self.received.get(self.number..).unwrap_or_default();
                Ok(bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)))
            }
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            Err(errno) => Err(BenchError::system("receive")(errno)),
        }
    }
}
