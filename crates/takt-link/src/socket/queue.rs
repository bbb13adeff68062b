//! Messages that wait for one system call.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::error::LinkError;
use crate::unsafe_code::SendHeaders;

/// Messages in order, each in a place of its own with the link's header already in front of it.
pub(crate) struct SendQueue {
    places: Vec<u8>,
    /// The size of a place, header included.
    place: usize,
    header: usize,
    /// Of the queued messages, header included.
    lengths: Vec<usize>,
    /// Those before it are sent.
    first: usize,
    reserved: Option<usize>,
    batch: usize,
    headers: SendHeaders,
}

impl SendQueue {
    pub(crate) fn new(batch: usize, max_message_size: usize, header: &[u8]) -> Self {
        let place = header.len() + max_message_size;
        let mut places = vec![0; batch * place];
        for place in places.chunks_exact_mut(place) {
            place[..header.len()].copy_from_slice(header);
        }
        Self {
            places,
            place,
            header: header.len(),
            lengths: Vec::with_capacity(batch),
            first: 0,
            reserved: None,
            batch,
            headers: SendHeaders::new(batch),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lengths.len() == self.batch
    }

    pub(crate) fn reserve(&mut self, length: usize) -> Result<&mut [u8], LinkError> {
        let maximum = self.place - self.header;
        if length > maximum {
            return Err(LinkError::TooLarge { length, maximum });
        }
        if self.is_full() {
            return Err(LinkError::Full);
        }
        let start = self.lengths.len() * self.place + self.header;
        self.reserved = Some(self.header + length);
        Ok(&mut self.places[start..start + length])
    }

    pub(crate) fn commit(&mut self) -> Result<(), LinkError> {
        let length = self.reserved.take().ok_or(LinkError::NothingReserved)?;
        self.lengths.push(length);
        Ok(())
    }

    /// Forgets what is queued, and says how much that was.
    pub(crate) fn clear(&mut self) -> u64 {
        let count = self.lengths.len() - self.first;
        self.lengths.clear();
        self.first = 0;
        count as u64
    }

    /// Sends what is queued, as much as there is room for, and calls `sent` with the length of each message without its header.
    pub(crate) fn flush(
        &mut self,
        socket: BorrowedFd<'_>,
        mut sent: impl FnMut(usize),
    ) -> Result<usize, Errno> {
        self.reserved = None;
        let mut total = 0;
        // Each message can be told once that an earlier one was not wanted.
        let mut refusals = self.lengths.len() - self.first;
        while self.first < self.lengths.len() {
            let waiting = &self.lengths[self.first..];
            let places = self.places[self.first * self.place..].chunks_exact(self.place);
            let mut messages = places.zip(waiting).map(|(place, &length)| &place[..length]);
            let taken = match (waiting.len(), messages.next()) {
                // A single message is the usual case of a cyclic publisher, and this the shorter way.
                (1, Some(message)) => {
                    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                    rustix::net::send(socket, message, flags).map(|_| 1)
                }
                (_, first) => self.headers.send(socket, first.into_iter().chain(messages)),
            };
            match taken {
                Ok(taken) => {
                    for length in &self.lengths[self.first..self.first + taken] {
                        sent(length - self.header);
                    }
                    self.first += taken;
                    total += taken;
                }
                // The answer to an earlier message, over UDP, of a host on which nobody listens now. That is nobody's business here.
                Err(Errno::CONNREFUSED) if refusals > 0 => refusals -= 1,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => break,
                Err(errno) => return Err(errno),
            }
        }
        if self.first == self.lengths.len() {
            self.clear();
        }
        Ok(total)
    }
}
