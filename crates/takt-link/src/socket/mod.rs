//! Links over sockets: batches, states, launch times, times of reception, and opening again after a failure.

mod launch;
mod queue;
mod receiver;
mod reception;
mod reports;
mod room;
mod sender;

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};

pub(crate) use receiver::{Incoming, open_receiver};
pub(crate) use sender::{Outgoing, open_sender};

use crate::error::{DownReason, LinkError, LinkState};
use crate::interface::Interface;
use crate::options::LinkOptions;
use crate::unsafe_code::sockets::{drops, set_option};

/// Pause before a socket is opened again.
const RETRY: Duration = Duration::from_millis(100);

/// Longest wait of one system call that waits and receives. The kernel measures it with its coarse clock (SO_RCVTIMEO), which
/// needs no timer of its own and so costs less than a wait with an exact end.
const SLICE: Duration = Duration::from_millis(100);

/// Open socket, and the interface that it depends on.
pub(crate) struct Opened {
    pub(crate) socket: OwnedFd,
    pub(crate) interface: Option<Interface>,
}

/// Socket that is opened again when its interface or its route had gone.
struct Socket {
    opened: Option<Opened>,
    down: Option<DownReason>,
    tried: Instant,
    /// Number of times that the socket was opened.
    openings: u64,
    /// Number of messages for which sockets that are closed now had no room.
    lost_before: u64,
}

impl Socket {
    /// Opens the socket; a link that is down is no error.
    fn new(open: impl FnOnce() -> Result<Opened, LinkError>) -> Result<Self, LinkError> {
        let (opened, down) = match open() {
            Ok(opened) => (Some(opened), None),
            Err(LinkError::Down(reason)) => (None, Some(reason)),
            Err(error) => return Err(error),
        };
        Ok(Self {
            opened,
            down,
            tried: Instant::now(),
            openings: 1,
            lost_before: 0,
        })
    }

    /// Returns the socket, unless the link is known to be down.
    fn get(
        &mut self,
        open: impl FnOnce() -> Result<Opened, LinkError>,
    ) -> Result<&OwnedFd, DownReason> {
        if let Some(reason) = self.down {
            self.repair(reason, open);
        }
        match &self.opened {
            Some(opened) => Ok(&opened.socket),
            None => Err(self.down.unwrap_or(DownReason::InterfaceGone)),
        }
    }

    #[cold]
    fn repair(&mut self, reason: DownReason, open: impl FnOnce() -> Result<Opened, LinkError>) {
        if let Some(opened) = &self.opened
            && reason == DownReason::InterfaceDown
        {
            // The same socket works again, unless its interface was removed meanwhile.
            match opened.state() {
                LinkState::Down(DownReason::InterfaceGone) => {}
                LinkState::Down(_) => return,
                LinkState::Up => {
                    self.down = None;
                    return;
                }
            }
        }
        // A sender comes here with each flush, and opening takes several system calls.
        if self.tried.elapsed() < RETRY {
            return;
        }
        self.tried = Instant::now();
        // The kernel's count ends with the socket.
        self.lost_before = self.lost();
        // The new socket needs the port of the old one.
        self.opened = None;
        match open() {
            Ok(opened) => {
                self.opened = Some(opened);
                self.openings += 1;
                self.down = None;
            }
            Err(LinkError::Down(reason)) => self.down = Some(reason),
            Err(LinkError::NoSuchInterface { .. }) => self.down = Some(DownReason::InterfaceGone),
            // A caller cannot mend other errors either: the first reason stays, and the next attempt is tried later.
            Err(_) => self.down = Some(reason),
        }
    }

    /// Returns the error of the link for an error of the operating system.
    #[cold]
    fn failed(&mut self, errno: Errno) -> LinkError {
        let Some(mut reason) = DownReason::of(errno) else {
            return LinkError::System(errno);
        };
        // The kernel has one error for an interface that is down and one that is gone.
        if let LinkState::Down(found) = self.interface_state()
            && found == DownReason::InterfaceGone
        {
            reason = found;
        }
        self.down = Some(reason);
        LinkError::Down(reason)
    }

    /// Returns the number of received messages for which there was no room. The kernel counts them; asking it takes a system call,
    /// and costs nothing while messages are received.
    fn lost(&self) -> u64 {
        let opened = self.opened.as_ref();
        let lost = opened.map_or(0, |opened| drops(opened.socket.as_fd()));
        self.lost_before + u64::from(lost)
    }

    fn interface_state(&self) -> LinkState {
        self.opened.as_ref().map_or(LinkState::Up, Opened::state)
    }

    fn state(&self) -> LinkState {
        match self.down {
            Some(reason) => LinkState::Down(reason),
            None => self.interface_state(),
        }
    }
}

impl Opened {
    fn state(&self) -> LinkState {
        let interface = self.interface.as_ref();
        interface.map_or(LinkState::Up, |interface| {
            interface.state(self.socket.as_fd())
        })
    }
}

/// Sets the options of a socket for sending.
pub(crate) fn set_send_options(socket: &OwnedFd, options: &LinkOptions) -> Result<(), LinkError> {
    set_common_options(socket, options, libc::SO_SNDBUF)?;
    match options.launch_times {
        Some(mode) => launch::enable(socket, mode),
        None => Ok(()),
    }
}

/// Sets the options of a socket for receiving.
pub(crate) fn set_receive_options(
    socket: &OwnedFd,
    options: &LinkOptions,
) -> Result<(), LinkError> {
    set_common_options(socket, options, libc::SO_RCVBUF)?;
    set_socket_timeout(socket, Timeout::Recv, Some(SLICE))
        .map_err(|errno| LinkError::open("set SO_RCVTIMEO", errno))?;
    match options.receive_times {
        Some(clock) => reception::enable(socket, clock),
        None => Ok(()),
    }
}

/// Sets SO_PRIORITY and the size of the kernel's buffer.
fn set_common_options(
    socket: &OwnedFd,
    options: &LinkOptions,
    buffer: libc::c_int,
) -> Result<(), LinkError> {
    let set = |option, value| set_option(socket.as_fd(), libc::SOL_SOCKET, option, value);
    if let Some(priority) = options.priority {
        let value = libc::c_int::try_from(priority)
            .ok()
            .filter(|&value| value <= 15);
        let value = value.ok_or_else(|| LinkError::option("priority", priority, "0 to 15"))?;
        set(libc::SO_PRIORITY, value).map_err(|e| LinkError::open("set SO_PRIORITY", e))?;
    }
    if let Some(size) = options.socket_buffer {
        let value = libc::c_int::try_from(size);
        let value = value
            .map_err(|_| LinkError::option("socket_buffer", size, "at most 2147483647 bytes"))?;
        set(buffer, value)
            .map_err(|e| LinkError::open("set the size of the socket's buffer", e))?;
    }
    Ok(())
}
