//! Unix socket beside the shared memory.
//!
//! It carries the [mails](crate::channel::mail) with the descriptors of doorbells and memory. The kernel also identifies the
//! peer's process and user with it (`SO_PEERCRED`), and closes it when a process ends, in whatever way.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::channel::mail::{MAX_DESCRIPTORS, Mail, Received};
use crate::error::ShmError;
use crate::system;

/// Maximum number of connections that wait for `accept`; more wait only if the server hangs.
const BACKLOG: i32 = 64;

/// Process, user and groups at the other end of a socket, from the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Unix user id.
    pub user: u32,
    /// Process id; 0 if it is in a PID namespace that cannot be seen from this one, as in another container.
    pub process: u32,
    /// Unix group ids: the effective group, and the supplementary groups.
    pub groups: Vec<u32>,
}

fn new_socket() -> Result<OwnedFd, ShmError> {
    // Packets keep the mails apart, each with its descriptors.
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

/// Listens at `path`, which must not exist. `mode` determines the users that can connect.
pub(crate) fn listen(path: &Path, mode: Mode) -> Result<OwnedFd, ShmError> {
    let socket = new_socket()?;
    let failed = |e: Errno| ShmError::io("listen on the socket", e);
    rustix::net::bind(&socket, &address(path)?).map_err(failed)?;
    // Between these two calls, no process can connect: the socket does not listen yet.
    set_mode(path, mode).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    Ok(socket)
}

/// Sets the mode of a socket of this process, and of nothing else: a member of a group could have put a link in its place.
fn set_mode(path: &Path, mode: Mode) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let is_socket = FileType::from_raw_mode(stat.st_mode) == FileType::Socket;
    if !is_socket || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    // A descriptor with O_PATH cannot be given to `fchmod`.
    rustix::fs::chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode)
}

/// Accepts the next connection; `None` when there is none.
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

/// Returns true if a connection waits at a listener.
pub(crate) fn is_readable(listener: &OwnedFd) -> bool {
    let mut descriptors = [PollFd::new(listener, PollFlags::IN)];
    poll(&mut descriptors, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Connects; `None` when no process listens there.
pub(crate) fn connect(path: &Path) -> Result<Option<OwnedFd>, ShmError> {
    let socket = new_socket()?;
    match rustix::net::connect(&socket, &address(path)?) {
        Ok(()) => Ok(Some(socket)),
        Err(Errno::NOENT | Errno::CONNREFUSED) => Ok(None),
        // The backlog is full.
        Err(Errno::AGAIN) => Err(ShmError::Busy("connecting")),
        Err(Errno::ACCESS) => Err(ShmError::AccessDenied(format!(
            "access to {} denied",
            path.display()
        ))),
        Err(e) => Err(ShmError::io("connect to the socket", e)),
    }
}

/// Returns the credentials of the peer.
pub(crate) fn peer(socket: &OwnedFd) -> std::io::Result<PeerCredentials> {
    let credentials = system::peer(socket.as_fd())?;
    let mut groups = system::peer_groups(socket.as_fd())?;
    groups.push(credentials.gid);
    Ok(PeerCredentials {
        user: credentials.uid,
        process: credentials.pid.cast_unsigned(),
        groups,
    })
}

/// Sends a mail with descriptors. The socket's buffer has room for all mails that one side sends unasked: this never has to wait.
pub(crate) fn send(
    socket: &OwnedFd,
    mail: Mail,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::NOBUFS);
    }
    rustix::net::sendmsg(
        socket,
        &[IoSlice::new(&mail.to_bytes())],
        &mut control,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    )?;
    Ok(())
}

/// Result of receiving from a socket.
#[derive(Debug)]
pub(crate) enum Post {
    /// There is no mail now.
    Nothing,
    /// There is a mail for the caller.
    Mail(Received),
    /// The [`PostBox`](crate::channel::post::PostBox) has kept a mail.
    Kept,
    /// The bytes are not a mail.
    Garbage(&'static str),
    /// The other side has closed the socket, or its process has ended.
    Closed,
}

/// Takes the next mail, without waiting.
pub(crate) fn receive(socket: &OwnedFd) -> Post {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    // Longer than a mail, because later versions may add to it.
    let mut buffer = [0; 64];
    let received = loop {
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let mut buffers = [IoSliceMut::new(&mut buffer)];
        match rustix::net::recvmsg(socket, &mut buffers, &mut control, flags) {
            Ok(received) => break received,
            Err(Errno::AGAIN) => return Post::Nothing,
            Err(Errno::INTR) => {}
            Err(_) => return Post::Closed,
        }
    };
    if received.bytes == 0 {
        return Post::Closed;
    }
    // All descriptors get an owner, so that they are closed even if the mail is refused.
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(list) = message {
            descriptors.extend(list);
        }
    }
    match Mail::parse(buffer.get(..received.bytes).unwrap_or_default()) {
        Ok(mail) => Post::Mail(Received { mail, descriptors }),
        Err(reason) => Post::Garbage(reason),
    }
}

/// Notifies the server that the client disconnects.
pub(crate) fn say_goodbye(socket: &OwnedFd) {
    // If it cannot be sent, the server learns it from the end of the connection.
    let _ = send(socket, Mail::Goodbye, &[]);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

    fn pair(directory: &Path) -> (OwnedFd, OwnedFd) {
        let path = directory.join("socket");
        let listener = listen(&path, MODE).unwrap();
        let client = connect(&path).unwrap().unwrap();
        (accept(&listener).unwrap().unwrap(), client)
    }

    #[test]
    fn mails_descriptors_and_credentials_pass() {
        let directory = tempfile::tempdir().unwrap();
        let (server, client) = pair(directory.path());
        let credentials = peer(&server).unwrap();
        assert_eq!(credentials.user, rustix::process::getuid().as_raw());
        assert_eq!(credentials.process, std::process::id());
        let group = rustix::process::getegid().as_raw();
        assert!(credentials.groups.contains(&group), "{credentials:?}");
        assert!(matches!(receive(&client), Post::Nothing));
        let (end, other) = rustix::pipe::pipe().unwrap();
        let sent = Mail::Hello { connection: 5 };
        send(&server, sent, &[end.as_fd(), end.as_fd(), end.as_fd()]).unwrap();
        let Post::Mail(Received {
            mail,
            mut descriptors,
        }) = receive(&client)
        else {
            panic!("nothing came");
        };
        assert_eq!((mail, descriptors.len()), (sent, 3));
        rustix::io::write(&other, b"x").unwrap();
        let mut byte = [0];
        File::from(descriptors.remove(0))
            .read_exact(&mut byte)
            .unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn only_the_own_socket_gets_a_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let _listener = listen(&path, MODE.union(Mode::RGRP).union(Mode::WGRP)).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o660);
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let before = mode(&file);
        let link = directory.path().join("link");
        symlink(&file, &link).unwrap();
        for other in [&file, &link] {
            assert_eq!(set_mode(other, Mode::RWXU), Err(Errno::PERM));
        }
        assert_eq!(mode(&file), before);
    }

    #[test]
    fn kinds_of_endings_are_distinct() {
        let directory = tempfile::tempdir().unwrap();
        let (server, client) = pair(directory.path());
        say_goodbye(&client);
        assert!(matches!(
            receive(&server),
            Post::Mail(Received {
                mail: Mail::Goodbye,
                ..
            })
        ));
        rustix::net::send(&client, b"nonsense", SendFlags::NOSIGNAL).unwrap();
        assert!(matches!(receive(&server), Post::Garbage(_)));
        drop(client);
        assert!(matches!(receive(&server), Post::Closed));
    }

    #[test]
    fn connecting_without_a_listener_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        assert!(connect(&path).unwrap().is_none());
        drop(listen(&path, MODE).unwrap());
        assert!(connect(&path).unwrap().is_none());
    }
}
