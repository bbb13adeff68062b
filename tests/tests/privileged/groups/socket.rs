//! Use of the Unix socket without the library.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType};

fn new() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

pub fn connect(path: &Path) -> io::Result<OwnedFd> {
    let socket = new()?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

pub fn listen(path: &Path) -> io::Result<OwnedFd> {
    let socket = new()?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, 4)?;
    Ok(socket)
}

/// Returns the next packet; empty at the end. Descriptors that come with it are closed.
pub fn receive(socket: &OwnedFd) -> Vec<u8> {
    set_socket_timeout(socket, Timeout::Recv, Some(Duration::from_secs(10))).unwrap();
    let mut buffer = [0; 64];
    let (_, length) = rustix::net::recv(socket, &mut buffer, RecvFlags::empty()).unwrap();
    buffer[..length].to_vec()
}
