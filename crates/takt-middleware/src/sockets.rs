//! Sockets of processes, as `/proc` shows them: also of processes in another network namespace (proc(5), proc_pid_net(5)).

use std::collections::{BTreeSet, HashSet};
use std::fs;

/// State of a socket that waits for connections (`TCP_LISTEN`).
const LISTEN: &str = "0A";

/// Socket in a table of `/proc/PID/net`.
struct Entry {
    port: u16,
    is_listening: bool,
    inode: u64,
}

/// Reads a table of sockets: `tcp`, `tcp6`, `udp` or `udp6`.
fn table(process: u32, protocol: &str) -> Vec<Entry> {
    let text = fs::read_to_string(format!("/proc/{process}/net/{protocol}")).unwrap_or_default();
    text.lines().skip(1).filter_map(entry).collect()
}

/// Reads a line: number, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let (_, port) = words.nth(1)?.rsplit_once(':')?;
    Some(Entry {
        port: u16::from_str_radix(port, 16).ok()?,
        is_listening: words.nth(1)? == LISTEN,
        inode: words.nth(5)?.parse().ok()?,
    })
}

/// Returns true if a TCP socket in the network namespace of a process waits for connections at this port.
pub(crate) fn is_listening(process: u32, port: u16) -> bool {
    let tables = ["tcp", "tcp6"].map(|protocol| table(process, protocol));
    let mut sockets = tables.iter().flatten();
    sockets.any(|entry| entry.is_listening && entry.port == port)
}

/// Returns the local ports of all sockets that a process has open.
pub(crate) fn ports(process: u32) -> BTreeSet<u16> {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let inode = |file: fs::DirEntry| {
        let target = fs::read_link(file.path()).ok()?;
        let target = target.to_str()?.strip_prefix("socket:[")?;
        target.strip_suffix(']')?.parse().ok()
    };
    let inodes: HashSet<u64> = open
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(inode)
        .collect();
    let tables = ["tcp", "tcp6", "udp", "udp6"].map(|protocol| table(process, protocol));
    let own = tables.iter().flatten();
    own.filter(|entry| inodes.contains(&entry.inode))
        .map(|entry| entry.port)
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::net::{TcpListener, UdpSocket};

    use super::*;

    #[test]
    fn sockets_of_this_process_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (tcp, udp) = (
            listener.local_addr().unwrap().port(),
            socket.local_addr().unwrap().port(),
        );
        let process = std::process::id();
        assert!(is_listening(process, tcp));
        let found = ports(process);
        assert!(found.contains(&tcp) && found.contains(&udp), "{found:?}");
        drop((listener, socket));
        assert!(!is_listening(process, tcp));
    }
}
