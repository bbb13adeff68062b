//! Files of the folder of generated modules.

use std::path::PathBuf;

use crate::output::GeneratedFile;

/// Returns a Rust file of the folder of generated modules, with a header that describes it.
pub(super) fn file(name: &str, what: &str, code: &str) -> GeneratedFile {
    let text =
        format!("// Written by `cargo xtask generate`. Do not edit.\n\n//! {what}\n\n{code}");
    GeneratedFile::new(
        PathBuf::from("crates/takt-ua/src/generated").join(name),
        text,
    )
}
