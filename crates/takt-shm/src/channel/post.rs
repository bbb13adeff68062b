//! One end of a connection's socket, and the memory for large messages that has come through it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::channel::mail::{Mail, Received};
use crate::channel::socket::{self, Post};
use crate::error::ShmError;

/// Post box of a socket; see the [module](self).
#[derive(Debug)]
pub(crate) struct PostBox {
    socket: OwnedFd,
    large: Option<(u32, OwnedFd)>,
    /// Memory with current values that was not fetched yet.
    values: Vec<(u32, OwnedFd)>,
    max_values: usize,
}

/// Maximum number of pieces of memory with current values that wait to be fetched: each is sent because it was requested.
const MAX_VALUES: usize = 8;
/// Maximum number of mails that can wait in a socket's buffer: a sender of more mails sends without end.
const MAX_MAILS: usize = 512;

impl PostBox {
    /// Creates the post box of a client.
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            large: None,
            values: Vec::new(),
            max_values: MAX_VALUES,
        }
    }

    /// Creates the post box of a server: a client has no values to pass on.
    pub(crate) fn of_server(socket: OwnedFd) -> Self {
        Self {
            max_values: 0,
            ..Self::new(socket)
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Takes one mail. Memory is kept, and a ring needs no handling.
    pub(crate) fn next(&mut self) -> Post {
        let Received {
            mail,
            mut descriptors,
        } = match socket::receive(&self.socket) {
            Post::Mail(received) => received,
            post => return post,
        };
        match mail {
            Mail::Ring => Post::Kept,
            Mail::Large { generation } => match descriptors.pop() {
                Some(fd) if descriptors.is_empty() => {
                    // A sender has one large segment at a time, so this one replaces an older one.
                    self.large = Some((generation, fd));
                    Post::Kept
                }
                _ => Post::Garbage("the memory of a large message is missing"),
            },
            Mail::Values { number } => match descriptors.pop() {
                Some(fd) if descriptors.is_empty() && self.values.len() < self.max_values => {
                    self.values.push((number, fd));
                    Post::Kept
                }
                _ => Post::Garbage("the memory with current values is missing"),
            },
            mail => Post::Mail(Received { mail, descriptors }),
        }
    }

    /// Takes the received mails, up to one that is for the caller.
    pub(crate) fn receive(&mut self) -> Post {
        for _ in 0..MAX_MAILS {
            match self.next() {
                Post::Kept => {}
                post => return post,
            }
        }
        Post::Garbage("it sends too many mails at once")
    }

    /// Returns the memory with current values of that number, which was sent before the message that names it.
    pub(crate) fn fetch_values(&mut self, number: u32) -> Result<OwnedFd, ShmError> {
        self.receive_memory()?;
        let at = self.values.iter().position(|(ours, _)| *ours == number);
        let at = at.ok_or(ShmError::Protocol(
            "the memory with current values is missing",
        ))?;
        Ok(self.values.swap_remove(at).1)
    }

    /// Takes the received mails, which may contain only memory.
    fn receive_memory(&mut self) -> Result<(), ShmError> {
        match self.receive() {
            Post::Nothing => Ok(()),
            Post::Closed => Err(ShmError::ConnectionClosed),
            Post::Garbage(reason) => Err(ShmError::Protocol(reason)),
            Post::Mail(_) | Post::Kept => Err(ShmError::Protocol(
                "a mail that is not allowed in this state",
            )),
        }
    }

    /// Returns the memory of a generation, which was sent before the message that is in it.
    pub(crate) fn fetch(&mut self, generation: u32) -> Result<OwnedFd, ShmError> {
        if self
            .large
            .as_ref()
            .is_none_or(|(ours, _)| *ours != generation)
        {
            self.receive_memory()?;
        }
        match self.large.take() {
            Some((ours, fd)) if ours == generation => Ok(fd),
            _ => Err(ShmError::Protocol(
                "the memory of a large message is missing",
            )),
        }
    }

    /// Wakes the other side. If there is no room for the mail, the waiting mails wake it.
    pub(crate) fn ring(&self) {
        let _ = socket::send(&self.socket, Mail::Ring, &[]);
    }

    /// Passes memory with current values on.
    pub(crate) fn pass_values(&self, number: u32, fd: BorrowedFd<'_>) -> Result<(), ShmError> {
        socket::send(&self.socket, Mail::Values { number }, &[fd])
            .map_err(|e| ShmError::io("pass memory with values on", e))
    }

    /// Passes the memory of a generation on.
    pub(crate) fn pass_on(&self, generation: u32, fd: BorrowedFd<'_>) -> Result<(), ShmError> {
        socket::send(&self.socket, Mail::Large { generation }, &[fd])
            .map_err(|e| ShmError::io("pass memory for a large message on", e))
    }
}

impl AsFd for PostBox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
