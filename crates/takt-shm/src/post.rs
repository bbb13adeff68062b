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
    /// Memory with current values that nobody has fetched yet.
    values: Vec<(u32, OwnedFd)>,
}

/// More memory with current values than this never waits to be fetched: the one is sent because the other was asked for.
const MAX_VALUES: usize = 8;

impl PostBox {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            large: None,
            values: Vec::new(),
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
                Post::Mail(Received {
                    mail: Mail::Values { number },
                    mut descriptors,
                }) => match descriptors.pop() {
                    Some(fd) if descriptors.is_empty() && self.values.len() < MAX_VALUES => {
                        self.values.push((number, fd));
                    }
                    _ => return Post::Garbage("memory with values has not come with it"),
                },
                post => return post,
            }
        }
    }

    /// The memory with current values of that number, which came before the message that speaks of it.
    pub(crate) fn fetch_values(&mut self, number: u32) -> Result<OwnedFd, ShmError> {
        self.receive_memory()?;
        let at = self.values.iter().position(|(ours, _)| *ours == number);
        let at = at.ok_or(ShmError::Protocol("memory with values has not come"))?;
        Ok(self.values.swap_remove(at).1)
    }

    /// Takes what has come, and there must be nothing but memory.
    fn receive_memory(&mut self) -> Result<(), ShmError> {
        match self.receive() {
            Post::Nothing => Ok(()),
            Post::Closed => Err(ShmError::ConnectionClosed),
            Post::Garbage(reason) => Err(ShmError::Protocol(reason)),
            Post::Mail(_) => Err(ShmError::Protocol("a mail that makes no sense here")),
        }
    }

    /// The memory of a generation, which came before the message that is in it.
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
            _ => Err(ShmError::Protocol("a large message is nowhere")),
        }
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
