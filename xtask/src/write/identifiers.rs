//! `identifiers.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::names::upper_snake_case;
use crate::model::Model;
use crate::output::GeneratedFile;

/// Numeric NodeIds by symbolic name, ordered by number.
pub(crate) fn identifiers(model: &Model) -> GeneratedFile {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (_, name) in model.identifiers.values() {
        *uses.entry(upper_snake_case(name)).or_default() += 1;
    }
    let mut code = String::from(
        "#![allow(missing_docs)] // The name is all there is to say about a number.\n\n",
    );
    for (id, (class, name)) in &model.identifiers {
        let mut constant = upper_snake_case(name);
        // `FileType` and `File_Type` would be one name: the NodeClass tells them apart.
        if uses.get(&constant).is_some_and(|count| *count > 1) {
            constant = format!("{constant}_{}", upper_snake_case(class));
        }
        let _ = writeln!(code, "pub const {constant}: u32 = {id};");
    }
    let what = format!(
        "NodeIds of namespace 0, version {}, named as in the standard's `NodeIds.csv`.\n//!\n\
         //! Left away: the deprecated type dictionaries, and declarations more than one level below a type.",
        model.version
    );
    super::file("identifiers.rs", &what, &code)
}
