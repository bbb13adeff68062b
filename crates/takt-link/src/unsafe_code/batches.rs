//! `sendmmsg` and `recvmmsg`: many messages in one system call.

use std::ffi::c_int;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::{last_error, result};
use crate::control::Item;

/// Arguments of `sendmmsg`, kept so that sending allocates nothing.
pub(crate) struct SendHeaders {
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
}

impl SendHeaders {
    pub(crate) fn new(batch: usize) -> Self {
        Self {
            headers: vec![EMPTY_HEADER; batch],
            vectors: vec![EMPTY_VECTOR; batch],
        }
    }

    /// Sends messages, each with its control message if there is one, in one system call, at most a batch, without waiting. Returns
    /// the number of messages that the kernel has taken. Without `WITH_CONTROL` control messages are not looked at.
    #[inline]
    pub(crate) fn send<'a, const WITH_CONTROL: bool>(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: impl Iterator<Item = (&'a [u8], Option<&'a Item>)>,
    ) -> Result<usize, Errno> {
        let mut count: libc::c_uint = 0;
        let places = self.headers.iter_mut().zip(&mut self.vectors);
        for ((header, vector), (message, control)) in places.zip(messages) {
            vector.iov_base = message.as_ptr().cast_mut().cast();
            vector.iov_len = message.len();
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            if WITH_CONTROL {
                let control = control.map_or(&[][..], Item::as_bytes);
                header.msg_hdr.msg_control = control.as_ptr().cast_mut().cast();
                header.msg_hdr.msg_controllen = control.len() as _;
            }
            count += 1;
        }
        // A message that comes alone takes the kernel less time without a header to copy in.
        if let (1, false, Some(vector)) = (count, WITH_CONTROL, self.vectors.first()) {
            // SAFETY: the vector points to a message, which is borrowed until after the call, and the kernel only reads it.
            let sent = unsafe {
                libc::send(
                    socket.as_raw_fd(),
                    vector.iov_base,
                    vector.iov_len,
                    libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
                )
            };
            return match sent {
                ..0 => Err(last_error()),
                _ => Ok(1),
            };
        }
        // SAFETY: the first `count` headers each point to one vector of ours, which points to a message, and to nothing or a
        // control message of the told length. Messages and control messages are borrowed until after the call, and the kernel only reads them.
        result(unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            )
        })
    }
}

/// Bytes of a socket address: `struct sockaddr_storage`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Name(pub(crate) [u8; 128]);

/// Bytes of control messages.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Control(pub(crate) [u8; 128]);

/// Number of messages for which a call of `recvmmsg` has room when few messages come. Preparing room takes time, and the
/// call is over when the socket is empty: it needs room for one message more than there are.
const FEW: usize = 2;

/// Parts of a received message besides its bytes. The kernel takes time for each, so a link asks for those that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Address of the sender.
    pub(crate) name: bool,
    /// Control messages.
    pub(crate) control: bool,
}

/// Room for a batch of messages from `recvmmsg`.
pub(crate) struct ReceiveBatch {
    slot: usize,
    parts: Parts,
    /// Number of messages for which the next call has room.
    room: usize,
    buffers: Vec<u8>,
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
    names: Vec<Name>,
    controls: Vec<Control>,
}

/// Message of a [`ReceiveBatch`].
pub(crate) struct Datagram<'a> {
    pub(crate) bytes: &'a mut [u8],
    /// True if the message was longer than the room for it.
    pub(crate) is_truncated: bool,
    pub(crate) name: &'a [u8],
    pub(crate) control: &'a [u8],
}

impl ReceiveBatch {
    /// Creates room for `batch` messages of at most `slot` bytes, with these parts.
    pub(crate) fn new(batch: usize, slot: usize, parts: Parts) -> Self {
        Self {
            slot,
            parts,
            room: FEW.min(batch),
            buffers: vec![0; batch * slot],
            headers: vec![EMPTY_HEADER; batch],
            vectors: vec![EMPTY_VECTOR; batch],
            names: vec![Name([0; 128]); batch],
            controls: vec![Control([0; 128]); batch],
        }
    }

    /// Takes available messages, without waiting, and returns their number. If they fill the [`room`](Self::room), there may be
    /// more, and the next call has more room.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let room = self.room;
        let count = self.receive_with(socket, libc::MSG_DONTWAIT, room)?;
        let batch = self.headers.len();
        self.room = match count {
            count if count >= room => (room * 2).min(batch),
            // Far below half, so that the room does not change with each call.
            count if count < room / 4 => (room / 2).max(FEW.min(batch)),
            _ => room,
        };
        Ok(count)
    }

    /// Returns the number of messages for which the next call of [`receive`](Self::receive) has room.
    pub(crate) const fn room(&self) -> usize {
        self.room
    }

    /// Returns the largest number of messages of a call.
    pub(crate) fn most(&self) -> usize {
        self.headers.len()
    }

    /// Takes the available messages of the socket's error queue, without waiting, and returns their number.
    pub(crate) fn receive_errors(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        let room = self.headers.len();
        self.receive_with(socket, libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE, room)
    }

    /// Waits for one message, at most as long as SO_RCVTIMEO of the socket says. A call for one message takes less time than one
    /// for a batch, and still less without control messages.
    pub(crate) fn wait_for_one(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        self.receive_one(socket, RecvFlags::empty())
    }

    /// Takes one message if there is one, without waiting.
    pub(crate) fn take_one(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        self.receive_one(socket, RecvFlags::DONTWAIT)
    }

    #[inline]
    fn receive_one(&mut self, socket: BorrowedFd<'_>, flags: RecvFlags) -> Result<(), Errno> {
        if !self.parts.control {
            return self.receive_plain(socket, flags);
        }
        self.prepare(1);
        let Some(header) = self.headers.first_mut() else {
            return Err(Errno::INVAL);
        };
        // SAFETY: the header points to a vector, a name and room for control messages of ours with their true sizes, and the vector
        // to a buffer of ours. All of them are borrowed mutably by this call, and any bytes may be written to them.
        let length =
            unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header.msg_hdr, number(flags)) };
        header.msg_len = libc::c_uint::try_from(length).map_err(|_| last_error())?;
        Ok(())
    }

    /// Receives one message without control messages: `recvfrom` has no header to copy in and out.
    #[inline]
    fn receive_plain(&mut self, socket: BorrowedFd<'_>, flags: RecvFlags) -> Result<(), Errno> {
        let Some(header) = self.headers.first_mut() else {
            return Err(Errno::INVAL);
        };
        let buffer = self.buffers.get_mut(..self.slot).unwrap_or_default();
        let room = buffer.len();
        let (length, name_length) = match (self.parts.name, self.names.first_mut()) {
            (true, Some(name)) => receive_from(socket, buffer, name, flags)?,
            _ => {
                // MSG_TRUNC only changes the returned length.
                let (_, length) = rustix::net::recv(socket, buffer, flags | RecvFlags::TRUNC)?;
                (length, 0)
            }
        };
        // The length is that of the whole message, of which the buffer has the start.
        header.msg_len = length.min(room) as libc::c_uint;
        header.msg_hdr.msg_flags = if length > room { libc::MSG_TRUNC } else { 0 };
        header.msg_hdr.msg_namelen = name_length;
        header.msg_hdr.msg_controllen = 0;
        Ok(())
    }

    fn receive_with(
        &mut self,
        socket: BorrowedFd<'_>,
        flags: c_int,
        room: usize,
    ) -> Result<usize, Errno> {
        let room = room.min(self.headers.len());
        self.prepare(room);
        // SAFETY: each of the first `room` headers points to a vector of ours, to a name and room for control messages of ours or to
        // nothing, with their true sizes, and the vector to a buffer of ours. All of them are borrowed mutably by this call, and any bytes may be written to
        // them.
        result(unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                room as libc::c_uint,
                flags as _,
                ptr::null_mut(),
            )
        })
    }

    /// Prepares the first `room` headers for a call.
    fn prepare(&mut self, room: usize) {
        let parts = self.parts;
        let places = self.headers.iter_mut().zip(&mut self.vectors).take(room);
        let others = self.names.iter_mut().zip(&mut self.controls);
        let buffers = self.buffers.chunks_exact_mut(self.slot);
        for (((header, vector), (name, control)), buffer) in places.zip(others).zip(buffers) {
            vector.iov_base = buffer.as_mut_ptr().cast();
            vector.iov_len = buffer.len();
            let header = &mut header.msg_hdr;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            if parts.name {
                header.msg_name = ptr::from_mut(name).cast();
                // The kernel has written the lengths of the last message here.
                header.msg_namelen = size_of::<Name>() as libc::socklen_t;
            }
            if parts.control {
                header.msg_control = ptr::from_mut(control).cast();
                header.msg_controllen = size_of::<Control>() as _;
            }
            header.msg_flags = 0;
        }
    }

    /// Returns the first `count` messages of the last call of [`receive`](Self::receive).
    pub(crate) fn messages(&mut self, count: usize) -> impl Iterator<Item = Datagram<'_>> {
        let others = self.names.iter().zip(&self.controls);
        let buffers = self.buffers.chunks_exact_mut(self.slot);
        let messages = self.headers.iter().zip(others).zip(buffers).take(count);
        messages.map(|((header, (name, control)), buffer)| datagram(header, name, control, buffer))
    }

    /// Returns the message of the last call of [`wait_for_one`](Self::wait_for_one) or [`take_one`](Self::take_one).
    #[inline]
    pub(crate) fn first(&mut self) -> Option<Datagram<'_>> {
        let (header, name) = (self.headers.first()?, self.names.first()?);
        let buffer = self.buffers.get_mut(..self.slot)?;
        Some(datagram(header, name, self.controls.first()?, buffer))
    }
}

#[inline]
fn datagram<'a>(
    header: &'a libc::mmsghdr,
    name: &'a Name,
    control: &'a Control,
    buffer: &'a mut [u8],
) -> Datagram<'a> {
    let length = (header.msg_len as usize).min(buffer.len());
    let name_length = (header.msg_hdr.msg_namelen as usize).min(name.0.len());
    let control_length = header.msg_hdr.msg_controllen.min(control.0.len());
    Datagram {
        bytes: &mut buffer[..length],
        is_truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
        name: &name.0[..name_length],
        control: &control.0[..control_length],
    }
}

/// Returns flags as the C library takes them.
fn number(flags: RecvFlags) -> c_int {
    flags.bits() as c_int
}

/// Receives a message, and returns its whole length and that of the name of its sender.
fn receive_from(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    name: &mut Name,
    flags: RecvFlags,
) -> Result<(usize, libc::socklen_t), Errno> {
    let mut name_length = size_of::<Name>() as libc::socklen_t;
    // SAFETY: the buffer and the name have the told sizes, and are borrowed mutably by this call; any bytes may be written to them.
    // MSG_TRUNC only changes the returned length.
    let length = unsafe {
        libc::recvfrom(
            socket.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            number(flags | RecvFlags::TRUNC),
            ptr::from_mut(name).cast(),
            &raw mut name_length,
        )
    };
    let length = usize::try_from(length).map_err(|_| last_error())?;
    Ok((length, name_length))
}

const EMPTY_VECTOR: libc::iovec = libc::iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

// SAFETY: a `struct mmsghdr` is numbers and pointers, for which zeros are valid. (Not all of its fields can be named portably.)
const EMPTY_HEADER: libc::mmsghdr = unsafe { std::mem::zeroed() };
