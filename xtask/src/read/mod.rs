//! Readers of the source files, each into a form that keeps only what the generator needs.

pub(crate) mod bsd;
pub(crate) mod nodeset;
pub(crate) mod typescript;
