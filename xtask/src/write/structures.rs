//! `structures/`: one file per part of the standard.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::names::{owned, snake_case};
use crate::model::{Field, FieldType, Model, Structure};
use crate::output::GeneratedFile;

pub(super) fn structures(model: &Model) -> Vec<GeneratedFile> {
    let mut modules: BTreeMap<String, Vec<(&String, &Structure)>> = BTreeMap::new();
    for (name, structure) in &model.structures {
        modules
            .entry(module(structure))
            .or_default()
            .push((name, structure));
    }
    let mut root = String::new();
    for module in modules.keys() {
        let _ = writeln!(root, "mod {module};");
    }
    root.push('\n');
    for module in modules.keys() {
        let _ = writeln!(root, "pub use {module}::*;");
    }
    let what = format!(
        "Structures of namespace 0, version {}: owned forms. Derived structures have the fields of their bases first.",
        model.version
    );
    let mut files = vec![super::file::file(
        "generated/structures/mod.rs",
        &what,
        &root,
    )];
    for (module, structures) in modules {
        files.push(one_module(&module, &structures));
    }
    files
}

/// Returns the file of a structure, by the part that defines it; service messages have no link to theirs.
fn module(structure: &Structure) -> String {
    let part = structure
        .clause
        .as_deref()
        .and_then(|clause| clause.strip_prefix("OPC 10000-"));
    match part.and_then(|part| part.split(',').next()) {
        Some(part) => format!("part{part:0>2}"),
        None => "services".to_owned(),
    }
}

fn one_module(module: &str, structures: &[(&String, &Structure)]) -> GeneratedFile {
    let mut built_in = BTreeSet::new();
    let mut enumerations = BTreeSet::new();
    let mut siblings = BTreeSet::new();
    for field in structures
        .iter()
        .flat_map(|(_, structure)| &structure.fields)
    {
        match &field.field_type {
            FieldType::BuiltIn(number) if *number >= 12 => {
                built_in.insert(owned(&field.field_type))
            }
            FieldType::BuiltIn(_) => false,
            FieldType::Enumeration(name) => enumerations.insert(name),
            FieldType::Structure(name) if structures.iter().all(|(own, _)| *own != name) => {
                siblings.insert(name)
            }
            FieldType::Structure(_) => false,
        };
    }

    let mut code = String::new();
    let join = |names: Vec<&str>| names.join(", ");
    if !built_in.is_empty() {
        let _ = writeln!(
            code,
            "use crate::{{{}}};",
            join(built_in.into_iter().collect())
        );
    }
    if !enumerations.is_empty() {
        let names = join(enumerations.into_iter().map(String::as_str).collect());
        let _ = writeln!(code, "use crate::generated::enumerations::{{{names}}};");
    }
    if !siblings.is_empty() {
        let names = join(siblings.into_iter().map(String::as_str).collect());
        let _ = writeln!(code, "use crate::generated::structures::{{{names}}};");
    }
    let optional = structures
        .iter()
        .any(|(_, structure)| structure.has_optional_fields());
    let with_optional = if optional {
        ", structure_with_optional_fields"
    } else {
        ""
    };
    let _ = writeln!(
        code,
        "use crate::generated_support::{{structure{with_optional}}};"
    );

    let plain = structures
        .iter()
        .filter(|(_, structure)| !structure.has_optional_fields());
    code.push_str("\nstructure! {");
    for (name, structure) in plain {
        code.push('\n');
        one_structure(&mut code, name, structure);
    }
    code.push_str("}\n");
    for (name, structure) in structures
        .iter()
        .filter(|(_, structure)| structure.has_optional_fields())
    {
        code.push_str("\nstructure_with_optional_fields! {\n");
        one_structure(&mut code, name, structure);
        code.push_str("}\n");
    }

    let what = match module.strip_prefix("part") {
        Some(part) => format!(
            "Structures defined in OPC 10000-{}.",
            part.trim_start_matches('0')
        ),
        None => {
            "Service messages and what they are made of (OPC 10000-4, OPC 10000-11).".to_owned()
        }
    };
    super::file::file(&format!("generated/structures/{module}.rs"), &what, &code)
}

fn one_structure(code: &mut String, name: &str, structure: &Structure) {
    let kind = if structure.is_abstract {
        "Abstract DataType"
    } else {
        "DataType"
    };
    let clause = structure
        .clause
        .as_deref()
        .map(|clause| format!(", {clause}"))
        .unwrap_or_default();
    let id = structure.type_id;
    let _ = writeln!(code, "    /// {kind} `{name}`, `i={id}`{clause}.");
    let _ = writeln!(
        code,
        "    {name} = {id}, {} {{",
        structure.binary_encoding_id
    );
    let mut bit = 0;
    for field in &structure.fields {
        let _ = write!(
            code,
            "        \"{}\" {}: {}",
            field.name,
            snake_case(&field.name),
            rust_type(field)
        );
        if field.is_optional {
            let _ = write!(code, " = {bit}");
            bit += 1;
        }
        code.push_str(",\n");
    }
    code.push_str("    }\n");
}

fn rust_type(field: &Field) -> String {
    let element = owned(&field.field_type);
    if field.is_array {
        format!("Vec<{element}>")
    } else {
        element.to_owned()
    }
}
