//! Writer of an audit log to one place.

use std::io;

/// Writer of one place.
pub(super) trait LineWriter: Send {
    /// Writes one record, a line without its end.
    fn write(&mut self, record: &str) -> io::Result<()>;
}
