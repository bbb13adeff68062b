//! The Unix socket beside the shared memory.
//!
//! It carries one message: after accepting, the server sends a [`Hello`](crate::open::Hello) with two eventfds. From then on
//! it is there for what the kernel does with it: it vouches for the peer's process and user (`SO_PEERCRED`), and closes when
//! a process ends, however it ends. A client that leaves in good order says so with one byte, [`GOODBYE`].

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::error::ShmError;

/// What a client sends before it closes the socket.
pub(crate) const GOODBYE: u8 = b'B';

/// More connections than this wait for `accept` only if the server hangs.
const BACKLOG: i32 = 64;

/// Who is at the other end of a socket, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Unix user id.
    pub user: u32,
    /// Process id.
    pub process: u32,
}

fn new_socket() -> Result<OwnedFd, ShmError> {
    rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .map_err(|e| ShmError::io("create a socket", e))
}

fn address(path: &Path) -> Result<SocketAddrUnix, ShmError> {
    SocketAddrUnix::new(path).map_err(|_| ShmError::RuntimeDirectory {
        path: path.to_path_buf(),
        reason: "has too long a name for a socket".to_owned(),
    })
}

/// Listens at `path`, where nothing may be. Only the same user can connect.
pub(crate) fn listen(path: &Path) -> Result<OwnedFd, ShmError> {
    let socket = new_socket()?;
    let operation = "listen on the socket";
    rustix::net::bind(&socket, &address(path)?).map_err(|e| ShmError::io(operation, e))?;
    // Between these two calls nobody can connect: the socket does not listen yet.
    rustix::fs::chmod(path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .map_err(|e| ShmError::io(operation, e))?;
    rustix::net::listen(&socket, BACKLOG).map_err(|e| ShmError::io(operation, e))?;
    Ok(socket)
}

/// Takes the next connection; `None` when there is none.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::accept_with(listener, flags) {
            Ok(socket) => return Ok(Some(socket)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(e) => return Err(e),
        }
    }
}

/// Connects; `None` when nobody listens there.
pub(crate) fn connect(path: &Path) -> Result<Option<OwnedFd>, ShmError> {
    let socket = new_socket()?;
    match rustix::net::connect(&socket, &address(path)?) {
        Ok(()) => Ok(Some(socket)),
        Err(Errno::NOENT | Errno::CONNREFUSED) => Ok(None),
        // The backlog is full.
        Err(Errno::AGAIN) => Err(ShmError::Busy("connecting")),
        Err(e) => Err(ShmError::io("connect to the socket", e)),
    }
}

/// Who connected.
pub(crate) fn peer(socket: &OwnedFd) -> Result<PeerCredentials, Errno> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(PeerCredentials {
        user: credentials.uid.as_raw(),
        process: credentials.pid.as_raw_nonzero().get().cast_unsigned(),
    })
}

/// Sends a message with two descriptors. The socket's buffer is empty: this never has to wait.
pub(crate) fn send_with_descriptors(
    socket: &OwnedFd,
    message: &[u8],
    descriptors: [BorrowedFd<'_>; 2],
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Errno::NOBUFS);
    }
    rustix::net::sendmsg(
        socket,
        &[IoSlice::new(message)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives a message and the descriptors that come with it: length of the message (0 is the end), descriptors.
pub(crate) fn receive_with_descriptors(
    socket: &OwnedFd,
    buffer: &mut [u8],
) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(buffer)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(list) = message {
            descriptors.extend(list);
        }
    }
    Ok((received.bytes, descriptors))
}

/// What a readable socket of a connection has to say, once its hello has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing: still connected.
    None,
    /// The peer said goodbye.
    Goodbye,
    /// The peer's process ended, or it sent something that it must not.
    Abrupt,
}

/// Looks whether the peer has gone.
pub(crate) fn ending(socket: impl AsFd) -> Ending {
    let mut byte = [0; 1];
    match rustix::net::recv(&socket, &mut byte[..], RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ending::None,
        Ok((1, _)) if byte == [GOODBYE] => Ending::Goodbye,
        _ => Ending::Abrupt,
    }
}

/// Tells the server that the client leaves in good order.
pub(crate) fn say_goodbye(socket: &OwnedFd) {
    // If it cannot be sent the server cleans up more thoroughly than it has to.
    let _ = rustix::net::send(
        socket,
        &[GOODBYE],
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    );
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    fn pair(directory: &Path) -> (OwnedFd, OwnedFd) {
        let path = directory.join("socket");
        let listener = listen(&path).unwrap();
        let client = connect(&path).unwrap().unwrap();
        (accept(&listener).unwrap().unwrap(), client)
    }

    #[test]
    fn descriptors_and_credentials_pass() {
        let directory = tempfile::tempdir().unwrap();
        let (server, client) = pair(directory.path());
        assert_eq!(
            peer(&server).unwrap(),
            PeerCredentials {
                user: rustix::process::getuid().as_raw(),
                process: std::process::id(),
            }
        );
        let (end, other) = rustix::pipe::pipe().unwrap();
        send_with_descriptors(&server, b"hello", [end.as_fd(), end.as_fd()]).unwrap();
        let mut buffer = [0; 16];
        let (length, mut descriptors) = receive_with_descriptors(&client, &mut buffer).unwrap();
        assert_eq!((&buffer[..length], descriptors.len()), (&b"hello"[..], 2));
        rustix::io::write(&other, b"x").unwrap();
        let mut byte = [0];
        File::from(descriptors.remove(0))
            .read_exact(&mut byte)
            .unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn endings_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let (server, client) = pair(directory.path());
        assert_eq!(ending(&server), Ending::None);
        say_goodbye(&client);
        assert_eq!(ending(&server), Ending::Goodbye);
        drop(client);
        assert_eq!(ending(&server), Ending::Abrupt);
    }

    #[test]
    fn nobody_listening_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        assert!(connect(&path).unwrap().is_none());
        drop(listen(&path).unwrap());
        assert!(connect(&path).unwrap().is_none());
    }
}
