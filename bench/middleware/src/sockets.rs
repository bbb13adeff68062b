//! Sockets of processes, as `/proc` shows them: also of processes in another network namespace (proc(5), proc_pid_net(5)).

use std::collections::{BTreeSet, HashSet};
use std::fs;

/// State of a socket that waits for connections (`TCP_LISTEN`).
const LISTEN: &str = "0A";
/// State of a socket whose connection has ended (`TCP_TIME_WAIT`): its port can be bound.
const TIME_WAIT: &str = "06";
/// Tables of `/proc/PID/net`.
const TABLES: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];

/// Socket in a table of `/proc/PID/net`.
struct Entry {
    port: u16,
    is_listening: bool,
    has_ended: bool,
    inode: u64,
}

/// Reads a table of sockets: `tcp`, `tcp6`, `udp` or `udp6`.
fn table(process: u32, protocol: &str) -> Vec<Entry> {
    let text = fs::read_to_string(format!("/proc/{process}/net/{protocol}")).unwrap_or_default();
    text.lines().filter_map(entry).collect()
}

/// Reads a line: number, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    // The heading has no port.
    let (_, port) = words.nth(1)?.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let state = words.nth(1)?;
    Some(Entry {
        port,
        is_listening: state == LISTEN,
        has_ended: state == TIME_WAIT,
        inode: words.nth(5)?.parse().ok()?,
    })
}

/// Returns true if a TCP socket in the network namespace of a process waits for connections at this port.
pub(crate) fn is_listening(process: u32, port: u16) -> bool {
    let tables = ["tcp", "tcp6"].map(|protocol| table(process, protocol));
    let mut sockets = tables.iter().flatten();
    sockets.any(|entry| entry.is_listening && entry.port == port)
}

/// Returns the ports that are in use, of the text of tables.
pub(crate) fn in_use(tables: &str) -> BTreeSet<u16> {
    let entries = tables.lines().filter_map(entry);
    let open = entries.filter(|entry| !entry.has_ended);
    open.map(|entry| entry.port).collect()
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
    let tables = TABLES.map(|protocol| table(process, protocol));
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

    #[test]
    fn ports_of_ended_connections_are_free() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 5123 1\n   \
            1: 0100007F:1F91 0100007F:C350 06 00000000:00000000 03:00000B1A 00000000     0        0 0 3\n";
        assert_eq!(in_use(text), BTreeSet::from([8080]));
    }
}
