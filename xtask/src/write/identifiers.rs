//! `ids.rs`.

use std::fmt::Write as _;

use super::names::upper_snake_case;
use crate::model::Model;
use crate::output::GeneratedFile;

/// Numeric NodeIds by symbolic name, ordered by number.
pub(crate) fn identifiers(model: &Model) -> GeneratedFile {
    let mut code = String::from(
        "#![allow(missing_docs)] // The name is all there is to say about a number.\n\n",
    );
    for (id, name) in &model.identifiers {
        let _ = writeln!(code, "pub const {}: u32 = {id};", upper_snake_case(name));
    }
    let what = format!(
        "NodeIds of namespace 0, version {}, named as in the standard's `NodeIds.csv`.\n//!\n\
         //! Left away: the deprecated type dictionaries, and declarations more than one level below a type.",
        model.version
    );
    super::file::file("ids.rs", &what, &code)
}
