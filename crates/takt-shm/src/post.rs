//! One end of a connection's socket, and the memory for large messages that has come through it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::error::ShmError;
use crate::mail::{Mail, Received};
use crate::socket::{self, Post};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct PostBox {
    socket: OwnedFd,
    large: Option<(u32, OwnedFd)>,
}

impl PostBox {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            large: None,
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Takes what has come. Memory for large messages is kept.
    pub(crate) fn receive(&mut self) -> Post {
        loop {
            match socket::receive(&self.socket) {
                Post::Mail(Received {
                    mail: Mail::Large { generation },
                    mut descriptors,
                }) => match descriptors.pop() {
                    Some(fd) if descriptors.is_empty() => self.large = Some((generation, fd)),
                    _ => return Post::Garbage("memory for a large message has not come with it"),
                },
                post => return post,
            }
        }
    }

    /// The memory of a generation, which came before the message that is in it.
    pub(crate) fn fetch(&mut self, generation: u32) -> Result<OwnedFd, ShmError> {
        if self
            .large
            .as_ref()
            .is_none_or(|(ours, _)| *ours != generation)
        {
            match self.receive() {
                Post::Nothing => {}
                Post::Closed => return Err(ShmError::ConnectionClosed),
                Post::Garbage(reason) => return Err(ShmError::Protocol(reason)),
                Post::Mail(_) => return Err(ShmError::Protocol("a mail that makes no sense here")),
            }
        }
        match self.large.take() {
            Some((ours, fd)) if ours == generation => Ok(fd),
            _ => Err(ShmError::Protocol("a large message is nowhere")),
        }
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
