//! Records of the registry's database.

pub(crate) fn run(data: &[u8]) {
    let _ = takt_registry::fuzzing::record(data);
}
