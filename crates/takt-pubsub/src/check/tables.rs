//! Names of the tables of a configuration file.

pub(super) const CONNECTIONS: &str = "connections";
pub(super) const WRITER_GROUPS: &str = "connections.writer_groups";
pub(super) const WRITERS: &str = "connections.writer_groups.data_set_writers";
pub(super) const READER_GROUPS: &str = "connections.reader_groups";
pub(super) const READERS: &str = "connections.reader_groups.data_set_readers";
pub(super) const TARGETS: &str = "connections.reader_groups.data_set_readers.fields";
