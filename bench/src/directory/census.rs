//! Connections and memory of processes, from the kernel (proc(5)).

use std::collections::HashSet;
use std::path::Path;

use crate::error::BenchError;

/// Number of connection ends that processes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ends {
    /// Ends of TCP connections.
    pub(super) tcp: usize,
    /// Ends of connections over shared memory. Each of them has a Unix socket beside it.
    pub(super) shared_memory: usize,
}

impl Ends {
    /// Returns the number of connections, if both ends of each were counted.
    pub(super) fn connections(self) -> usize {
        (self.tcp + self.shared_memory) / 2
    }

    /// Returns the number of ends of both kinds.
    pub(super) fn all(self) -> usize {
        self.tcp + self.shared_memory
    }
}

/// Counts the ends that these processes hold.
pub(super) fn ends(processes: &[u32]) -> Result<Ends, BenchError> {
    let mut sockets = HashSet::new();
    for process in processes {
        let directory = format!("/proc/{process}/fd");
        let entries = std::fs::read_dir(&directory)
            .map_err(BenchError::system(&format!("read {directory}")))?;
        // A descriptor that is closed meanwhile does not count.
        let links = entries
            .flatten()
            .filter_map(|entry| std::fs::read_link(entry.path()).ok());
        sockets.extend(links.filter_map(|link| socket(&link)));
    }
    let count = |path: &str, inode: usize, is_connection: fn(&[&str]) -> bool| {
        let mut found = HashSet::new();
        // The kernel gives the table in pieces. While other sockets come and go, a line may appear twice or not at all.
        for _ in 0..2 {
            let table = std::fs::read_to_string(path);
            let table = table.map_err(BenchError::system(&format!("read {path}")))?;
            found.extend(table.lines().skip(1).filter_map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let inode: u64 = fields.get(inode)?.parse().ok()?;
                (is_connection(&fields) && sockets.contains(&inode)).then_some(inode)
            }));
        }
        Ok::<_, BenchError>(found.len())
    };
    Ok(Ends {
        // ESTABLISHED.
        tcp: count("/proc/net/tcp", 9, |fields| fields.get(3) == Some(&"01"))?,
        // SS_CONNECTED without datagram sockets, which are wake-ups of iceoryx2.
        shared_memory: count("/proc/net/unix", 6, |fields| {
            fields.get(5) == Some(&"03") && fields.get(4) != Some(&"0002")
        })?,
    })
}

/// Returns the inode of a socket: `socket:[12345]`.
fn socket(link: &Path) -> Option<u64> {
    let text = link.to_str()?.strip_prefix("socket:[")?;
    text.strip_suffix(']')?.parse().ok()
}

/// Memory of processes, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Memory {
    /// Proportional set size: shared memory is divided among the processes that share it.
    pub(super) pss: u64,
    /// Resident set size.
    pub(super) rss: u64,
}

/// Returns the memory of these processes together.
pub(super) fn memory(processes: &[u32]) -> Result<Memory, BenchError> {
    let mut sum = Memory::default();
    for process in processes {
        let path = format!("/proc/{process}/smaps_rollup");
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(BenchError::system(&format!("read {path}")))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        sum.pss += field("Pss:");
        sum.rss += field("Rss:");
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn connections_and_memory_of_this_process() {
        let this = [std::process::id()];
        let before = ends(&this).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let accepted = listener.accept().unwrap();
        let unix = UnixStream::pair().unwrap();
        let now = ends(&this).unwrap();
        // Other tests connect and disconnect at the same time.
        assert!(now.tcp >= 2 && now.shared_memory >= 2, "{before:?} {now:?}");
        drop((tcp, accepted, unix));
        let memory = memory(&this).unwrap();
        assert!(memory.pss > 100 && memory.rss >= memory.pss, "{memory:?}");
    }

    #[test]
    fn only_sockets_are_counted() {
        assert_eq!(socket(Path::new("socket:[77]")), Some(77));
        for other in [
            "pipe:[77]",
            "/dev/null",
            "socket:[]",
            "anon_inode:[eventfd]",
        ] {
            assert_eq!(socket(Path::new(other)), None, "{other}");
        }
    }
}
