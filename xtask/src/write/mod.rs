//! Writers of the generated files of `takt-ua`.

mod descriptions;
mod enumerations;
mod file;
mod identifiers;
mod names;
mod status_codes;
mod structures;
mod views;

use crate::error::Error;
use crate::model::Model;
use crate::output::GeneratedFile;
use file::file;

pub(crate) use identifiers::identifiers;
pub(crate) use status_codes::status_codes;

/// Folder of the structures, which contains no other files.
pub(crate) const STRUCTURES: &str = "crates/takt-ua/src/generated/structures";

/// Writes structures, views, enumerations, descriptions, and the module that holds all generated ones.
pub(crate) fn types(model: &Model) -> Result<Vec<GeneratedFile>, Error> {
    let mut files = structures::structures(model);
    files.push(views::views(model)?);
    files.push(enumerations::enumerations(model));
    files.push(descriptions::descriptions(model));
    files.push(root());
    Ok(files)
}

fn root() -> GeneratedFile {
    file(
        "generated/mod.rs",
        "Types of namespace 0.\n//!\n//! \
         Everything in this folder is written by `cargo xtask generate`.",
        "pub mod descriptions;\npub mod enumerations;\npub mod structures;\npub mod views;\n",
    )
}
