//! Generated files of `takt-ua`.

use std::path::PathBuf;

use crate::output::GeneratedFile;

/// Returns a Rust file below the sources of `takt-ua`, with a header that describes it.
pub(super) fn file(path: &str, what: &str, code: &str) -> GeneratedFile {
    let text =
        format!("// Written by `cargo xtask generate`. Do not edit.\n\n//! {what}\n\n{code}");
    GeneratedFile::new(PathBuf::from("crates/takt-ua/src").join(path), text)
}
