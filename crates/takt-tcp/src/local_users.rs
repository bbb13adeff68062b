//! The Unix users of clients on this host, from the kernel.

use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, getsockname, recv, send,
    socket_with,
};

use crate::sock_diag::{SocketAnswer, SocketQuestion};
use crate::socket_table::find_user;

/// Bytes for an answer: it has 124, and attributes that later kernels add.
const ANSWER_SIZE: usize = 1024;

/// Largest number of received messages per question: answers to earlier questions that nobody took.
const MESSAGES: usize = 8;

/// Files with the TCP sockets of the network namespace of the thread that opens them.
const TABLES: [&str; 2] = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];

/// Largest size of a table in bytes: 28 000 sockets. The sockets of a larger one are unknown, because a search would take too long.
const LARGEST_TABLE: usize = 4 << 20;

/// User that stands for all users whom the user namespace of this process does not have, unless the kernel names another one.
const OVERFLOW_USER: u32 = 65_534;

/// Questions to the kernel for the Unix users of clients on this host.
///
/// A socket in another network namespace is not found. Each question takes two system calls, 3 µs on the machine of
/// docs/performance.md, and does not wait. A kernel without sock_diag, and a container that may not use it, have tables of all sockets,
/// whose search takes longer.
pub(crate) struct LocalUsers {
    kernel: Kernel,
    overflow_user: u32,
}

/// Way to ask the kernel.
enum Kernel {
    /// sock_diag(7).
    Netlink {
        socket: OwnedFd,
        last_sequence: AtomicU32,
    },
    /// The tables of `/proc`, for IPv4 and IPv6.
    Tables(Vec<File>),
    /// The kernel gives no answers.
    Silent,
}

impl LocalUsers {
    /// Prepares questions about the clients of `listener`, which listens at `address`. Without an answer about the listener itself, a
    /// warning is logged, and all users are unknown.
    pub(crate) fn open(address: SocketAddr) -> Self {
        let overflow_user = std::fs::read_to_string("/proc/sys/kernel/overflowuid");
        let overflow_user = overflow_user.ok().and_then(|text| text.trim().parse().ok());
        let overflow_user = overflow_user.unwrap_or(OVERFLOW_USER);
        let listener = SocketQuestion::listening(address);
        let mut ways = [Kernel::netlink, Kernel::tables].into_iter();
        let kernel = ways.find_map(|way| way().filter(|kernel| kernel.ask(&listener).is_some()));
        if kernel.is_none() {
            tracing::warn!(
                %address,
                "the kernel does not name the Unix users of clients on this host (sock_diag, /proc/net/tcp), so they count as unknown"
            );
        }
        Self {
            kernel: kernel.unwrap_or(Kernel::Silent),
            overflow_user,
        }
    }

    /// Returns the Unix user of the client at the other end of a socket, if it is a process of this network namespace.
    pub(crate) fn client_of(&self, socket: impl AsFd, client: SocketAddr) -> Option<u32> {
        let own = getsockname(socket).ok()?;
        let own = SocketAddr::try_from(own).ok()?;
        let user = self.kernel.ask(&SocketQuestion::connected(client, own)?)?;
        // The overflow user stands for many users, so it identifies nobody.
        (user != self.overflow_user).then_some(user)
    }
}

impl Kernel {
    fn netlink() -> Option<Self> {
        let socket = netlink_socket().ok()?;
        Some(Self::Netlink {
            socket,
            last_sequence: AtomicU32::new(0),
        })
    }

    fn tables() -> Option<Self> {
        // A host may be without IPv6.
        let tables: Vec<File> = TABLES.iter().flat_map(File::open).collect();
        (!tables.is_empty()).then_some(Self::Tables(tables))
    }

    /// Returns the user of a socket.
    fn ask(&self, question: &SocketQuestion) -> Option<u32> {
        match self {
            Self::Netlink {
                socket,
                last_sequence,
            } => Self::ask_netlink(socket, last_sequence, question),
            Self::Tables(tables) => {
                // A socket of IPv6 may have an address of IPv4, so it can be in either table.
                let mut found = tables
                    .iter()
                    .map(|table| find_user(&contents(table)?, question));
                found.find_map(|user| user)
            }
            Self::Silent => None,
        }
    }

    fn ask_netlink(
        socket: &OwnedFd,
        last_sequence: &AtomicU32,
        question: &SocketQuestion,
    ) -> Option<u32> {
        let sequence = last_sequence.fetch_add(1, Ordering::Relaxed) + 1;
        send(socket, &question.emit(sequence), SendFlags::DONTWAIT).ok()?;
        let mut buffer = [0; ANSWER_SIZE];
        for _ in 0..MESSAGES {
            // The kernel answers before `send` returns.
            let (_, size) = match recv(socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok(received) => received,
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            match question.read(sequence, buffer.get(..size)?) {
                Some(SocketAnswer::User(user)) => return Some(user),
                Some(SocketAnswer::Unknown) => return None,
                None => {}
            }
        }
        None
    }
}

/// Returns the contents of a table as of now; `None` if it is too large.
fn contents(table: &File) -> Option<Vec<u8>> {
    let (mut contents, mut size) = (vec![0; 1 << 14], 0);
    loop {
        if size == contents.len() {
            contents.resize(2 * size, 0);
        }
        match table.read_at(contents.get_mut(size..)?, size as u64).ok()? {
            0 => break,
            read => size += read,
        }
        if size > LARGEST_TABLE {
            return None;
        }
    }
    contents.truncate(size);
    Some(contents)
}

/// Returns a socket that only the kernel answers.
fn netlink_socket() -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(netlink::SOCK_DIAG),
    )?;
    // A connected netlink socket refuses messages of other processes, which could forge an answer.
    connect(&socket, &SocketAddrNetlink::new(0, 0))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener, TcpStream};

    use super::*;

    fn own() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Returns questions that the tables of /proc answer.
    fn from_tables() -> LocalUsers {
        LocalUsers {
            kernel: Kernel::tables().unwrap(),
            overflow_user: OVERFLOW_USER,
        }
    }

    /// Connects to `host` at a listener, and returns both ends.
    fn pair(listener: &TcpListener, host: &str) -> (TcpStream, TcpStream, SocketAddr) {
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect((host, port)).unwrap();
        let (server, address) = listener.accept().unwrap();
        (client, server, address)
    }

    #[test]
    fn clients_of_this_host_have_a_user_over_each_kind_of_address() {
        for (listening, hosts) in [
            ("127.0.0.1:0", &["127.0.0.1"][..]),
            ("0.0.0.0:0", &["127.0.0.1", "127.0.0.2"]),
            ("[::1]:0", &["::1"]),
            ("[::]:0", &["::1", "127.0.0.1", "::ffff:127.0.0.1"]),
        ] {
            // A host may be without IPv6.
            let Ok(listener) = TcpListener::bind(listening) else {
                continue;
            };
            let users = LocalUsers::open(listener.local_addr().unwrap());
            for users in [users, from_tables()] {
                for host in hosts {
                    let (client, server, address) = pair(&listener, host);
                    let context = format!("{host} at {listening}");
                    assert_eq!(users.client_of(&server, address), Some(own()), "{context}");
                    drop(client);
                    assert_eq!(users.client_of(&server, address), None, "{context}");
                }
            }
        }
    }

    /// The kernel would find the listener at the address of the client, which belongs to somebody else.
    #[test]
    fn a_listener_at_the_address_of_a_client_that_left_is_not_the_client() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let users = LocalUsers::open(listener.local_addr().unwrap());
        let (client, server, address) = pair(&listener, "127.0.0.1");
        client.shutdown(Shutdown::Both).unwrap();
        drop(client);
        assert_eq!(users.client_of(&server, address), None);
        drop(server);
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let at_other = other.local_addr().unwrap();
        let (_client, server, _) = pair(&listener, "127.0.0.1");
        assert_eq!(users.client_of(&server, at_other), None);
    }

    #[test]
    fn without_the_kernel_users_are_unknown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // Nobody listens there, so there is no answer.
        let users = LocalUsers::open(([127, 0, 0, 1], 0).into());
        let (_client, server, address) = pair(&listener, "127.0.0.1");
        assert_eq!(users.client_of(&server, address), None);
    }

    /// Users that the user namespace of the server does not have look like one user, which could be that of the server.
    #[test]
    fn the_user_that_stands_for_unmapped_ones_is_unknown() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let users = LocalUsers {
            overflow_user: own(),
            ..LocalUsers::open(listener.local_addr().unwrap())
        };
        let (_client, server, address) = pair(&listener, "127.0.0.1");
        assert_eq!(users.client_of(&server, address), None);
    }

    #[test]
    fn each_question_gets_its_own_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let users = LocalUsers::open(listener.local_addr().unwrap());
        let (_client, server, address) = pair(&listener, "127.0.0.1");
        let Kernel::Netlink { socket, .. } = &users.kernel else {
            println!("left out: the kernel has no sock_diag");
            return;
        };
        // An answer that nobody has taken.
        let own_address = server.local_addr().unwrap();
        let question = SocketQuestion::connected(own_address, own_address).unwrap();
        send(socket, &question.emit(4_000_000_000), SendFlags::empty()).unwrap();
        for _ in 0..100 {
            assert_eq!(users.client_of(&server, address), Some(own()));
        }
    }
}
