//! Programs that the build needs.

use std::path::Path;

use takt_tsn::search_path;

use super::error::UmlError;

/// Programs of the build.
const WANTED: [&str; 7] = ["make", "gcc", "ld", "flex", "bison", "bc", "perl"];

/// Programs that unpack a source package.
const UNPACKING: [&str; 2] = ["tar", "xz"];

/// Fails if a program is missing. `unpacks` tells whether a package must be unpacked.
pub(crate) fn check(unpacks: bool) -> Result<(), UmlError> {
    let path = search_path();
    let unpacking = UNPACKING.iter().filter(|_| unpacks);
    let wanted = WANTED.iter().chain(unpacking).copied();
    let missing: Vec<&'static str> = wanted.filter(|name| !exists(name, &path)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(UmlError::NoPrograms(missing)),
    }
}

fn exists(name: &str, path: &std::ffi::OsStr) -> bool {
    std::env::split_paths(path).any(|folder| Path::new(&folder).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_in_the_path() {
        let path = search_path();
        assert!(exists("sh", path.as_ref()));
        assert!(!exists("a-program-that-does-not-exist", path.as_ref()));
    }
}
