//! Journal of systemd: its native protocol, one datagram for each entry.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use super::writer::LineWriter;

/// Longest time that the journal may take for an entry.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Socket of the journal.
pub(super) struct Journal(UnixDatagram);

impl Journal {
    /// Connects to the socket.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        // A journal that hangs must not keep the process from ending.
        socket.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self(socket))
    }
}

impl LineWriter for Journal {
    fn write(&mut self, record: &str) -> io::Result<()> {
        // A field is NAME=VALUE and ends with a line feed; JSON in one line has none. 5 is the priority `notice`.
        let entry = format!("MESSAGE={record}\nPRIORITY=5\nSYSLOG_IDENTIFIER=takt\nTAKT_AUDIT=1\n");
        self.0.send(entry.as_bytes()).map(drop)
    }
}
