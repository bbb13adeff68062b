//! `enumerations.rs`.

use std::fmt::Write as _;

use super::names::owned;
use crate::model::{Enumeration, FieldType, Model};
use crate::output::GeneratedFile;

pub(super) fn enumerations(model: &Model) -> GeneratedFile {
    let mut enumerations = String::new();
    let mut option_sets = String::new();
    for (name, enumeration) in &model.enumerations {
        match enumeration.option_set {
            None => one(&mut enumerations, name, "Enumeration", "", enumeration),
            Some(built_in) => {
                let bits = FieldType::BuiltIn(built_in);
                one(
                    &mut option_sets,
                    name,
                    "Option set",
                    &format!(": {}", owned(&bits)),
                    enumeration,
                );
            }
        }
    }
    let code = format!(
        "#![allow(non_upper_case_globals)] // The constants have the standard's names.\n\n\
         use crate::generated_support::{{enumeration, option_set}};\n\n\
         enumeration! {{{enumerations}}}\n\noption_set! {{{option_sets}}}\n"
    );
    super::file::file(
        "generated/enumerations.rs",
        "Enumerations and option sets of namespace 0.",
        &code,
    )
}

fn one(code: &mut String, name: &str, kind: &str, bits: &str, enumeration: &Enumeration) {
    let id = enumeration.type_id;
    let clause = enumeration
        .clause
        .as_deref()
        .map(|clause| format!(", {clause}"))
        .unwrap_or_default();
    let _ = writeln!(code, "\n    /// {kind} `{name}`, `i={id}`{clause}.");
    let _ = writeln!(code, "    {name}{bits} = {id} {{");
    for (value_name, value) in &enumeration.values {
        let _ = writeln!(code, "        {value_name} = {value},");
    }
    code.push_str("    }\n");
}
