//! Doorbell, with which a client wakes a server that sleeps.
//!
//! Ringing must not block. An eventfd belongs to all processes that have it: one that clears its O_NONBLOCK and fills its counter
//! blocks the next writer, and Linux cannot write it without waiting if the flag is cleared. So servers never write to an eventfd
//! that a client has, and clients do so only where the server is a process of the same user, which could stop them anyway. In a
//! group they send a mail instead: each call on a socket can demand not to wait (MSG_DONTWAIT). That takes 0.25 µs more to send
//! and 0.6 µs to receive, so it is not done everywhere.

use std::os::fd::OwnedFd;

use takt_rt::readiness::Waker;

use crate::channel::post::PostBox;
use crate::error::ShmError;

/// Doorbell of a server; see the [module](self).
#[derive(Debug)]
pub(crate) enum Doorbell {
    /// An eventfd, for which the server waits.
    Eventfd(Waker),
    /// A mail over the socket.
    Mail,
}

impl Doorbell {
    /// Creates a doorbell from the descriptor of a Hello: an eventfd from a server of the same user, none in a group.
    pub(crate) fn new(eventfd: Option<OwnedFd>, is_group: bool) -> Result<Self, ShmError> {
        match eventfd {
            Some(fd) if !is_group => Waker::from_eventfd(fd)
                .map(Self::Eventfd)
                .map_err(|e| ShmError::io("use a doorbell", e)),
            None if is_group => Ok(Self::Mail),
            _ => Err(ShmError::Protocol("a doorbell that is not expected")),
        }
    }

    /// Wakes the server at the other end of the socket. It never waits.
    #[inline]
    pub(crate) fn ring(&self, post: &PostBox) {
        match self {
            Self::Eventfd(eventfd) => eventfd.wake(),
            Self::Mail => post.ring(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    fn post() -> (PostBox, OwnedFd) {
        let kind = SocketType::SEQPACKET;
        // A member of a group may create such a socket: its flags have no effect.
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap();
        (PostBox::new(ours), theirs)
    }

    fn eventfd() -> OwnedFd {
        Waker::new().unwrap().as_fd().try_clone_to_owned().unwrap()
    }

    #[test]
    fn in_a_group_no_eventfd_is_taken() {
        assert!(Doorbell::new(Some(eventfd()), true).is_err());
        assert!(Doorbell::new(None, false).is_err());
        assert!(matches!(
            Doorbell::new(Some(eventfd()), false),
            Ok(Doorbell::Eventfd(_))
        ));
    }

    #[test]
    fn a_server_that_does_not_read_does_not_block_rings() {
        let (mut post, theirs) = post();
        let doorbell = Doorbell::new(None, true).unwrap();
        // These are more rings than the buffer holds.
        for _ in 0..10_000 {
            doorbell.ring(&post);
        }
        let mut other = PostBox::new(theirs);
        let rings = std::iter::from_fn(|| {
            matches!(other.next(), crate::channel::socket::Post::Kept).then_some(())
        });
        assert!((1..10_000).contains(&rings.count()));
        // The other direction is the same.
        other.ring();
        assert!(matches!(
            post.receive(),
            crate::channel::socket::Post::Nothing
        ));
    }
}
