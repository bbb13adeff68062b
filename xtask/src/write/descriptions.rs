//! `descriptions.rs`: the fields of every structure and the values of every enumeration as tables.

use std::fmt::Write as _;

use super::names::built_in_name;
use crate::model::{Field, FieldType, Model};
use crate::output::GeneratedFile;

pub(super) fn descriptions(model: &Model) -> GeneratedFile {
    let mut structures: Vec<_> = model.structures.iter().collect();
    structures.sort_by_key(|(_, structure)| structure.type_id);
    let mut enumerations: Vec<_> = model
        .enumerations
        .iter()
        .filter(|(_, enumeration)| enumeration.option_set.is_none())
        .collect();
    enumerations.sort_by_key(|(_, enumeration)| enumeration.type_id);

    let mut code = String::from(
        "use crate::generated_support::{EnumerationDescription, FieldDescription, FieldType, StructureDescription};
        use crate::BuiltInType::{self, *};

        const fn field(name: &'static str, field_type: FieldType, is_array: bool) -> FieldDescription {
            FieldDescription { name, field_type, is_array, is_optional: false }
        }

        /// A built-in type.
        const fn b(name: &'static str, built_in: BuiltInType) -> FieldDescription {
            field(name, FieldType::BuiltIn(built_in), false)
        }

        /// A structure.
        const fn s(name: &'static str, type_id: u32) -> FieldDescription {
            field(name, FieldType::Structure(type_id), false)
        }

        /// An enumeration.
        const fn e(name: &'static str, type_id: u32) -> FieldDescription {
            field(name, FieldType::Enumeration(type_id), false)
        }

        /// An array of what `field` describes.
        const fn array(mut field: FieldDescription) -> FieldDescription {
            field.is_array = true;
            field
        }

        /// An optional field.
        const fn optional(mut field: FieldDescription) -> FieldDescription {
            field.is_optional = true;
            field
        }

        const fn structure(name: &'static str, ids: [u32; 3], fields: &'static [FieldDescription]) -> StructureDescription {
            let [type_id, binary_encoding_id, xml_encoding_id] = ids;
            StructureDescription { name, type_id, binary_encoding_id, xml_encoding_id, fields }
        }

        const fn enumeration(name: &'static str, type_id: u32, values: &'static [(i32, &'static str)]) -> EnumerationDescription {
            EnumerationDescription { name, type_id, values }
        }

        /// Structures, ascending by the NodeId of the DataType.
        pub static STRUCTURES: &[StructureDescription] = &[\n",
    );
    for (name, structure) in &structures {
        let (id, binary, xml) = (
            structure.type_id,
            structure.binary_encoding_id,
            structure.xml_encoding_id.unwrap_or_default(),
        );
        let fields: Vec<String> = structure
            .fields
            .iter()
            .map(|field| field_description(model, field))
            .collect();
        let _ = writeln!(
            code,
            "structure(\"{name}\", [{id}, {binary}, {xml}], &[{}]),",
            fields.join(", ")
        );
    }
    code.push_str("];\n\n/// Enumerations, ascending by the NodeId of the DataType.\n");
    code.push_str("pub static ENUMERATIONS: &[EnumerationDescription] = &[\n");
    for (name, enumeration) in &enumerations {
        let mut values = enumeration.values.clone();
        values.sort_by_key(|(_, value)| *value);
        let values: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("({value}, \"{name}\")"))
            .collect();
        let _ = writeln!(
            code,
            "enumeration(\"{name}\", {}, &[{}]),",
            enumeration.type_id,
            values.join(", ")
        );
    }
    code.push_str("];\n\n");
    code.push_str(
        "/// NodeIds of the binary and XML encodings, ascending, each with the NodeId of the DataType.\n\
         pub static ENCODINGS: &[(u32, u32)] = &[\n",
    );
    let mut encodings: Vec<(u32, u32)> = Vec::new();
    for (_, structure) in &structures {
        encodings.push((structure.binary_encoding_id, structure.type_id));
        encodings.extend(structure.xml_encoding_id.map(|id| (id, structure.type_id)));
    }
    encodings.sort_unstable();
    for (encoding, type_id) in encodings {
        let _ = writeln!(code, "({encoding}, {type_id}),");
    }
    code.push_str("];\n");
    super::file::file(
        "generated/descriptions.rs",
        "Tables that describe the structures and enumerations of namespace 0.",
        &code,
    )
}

fn field_description(model: &Model, field: &Field) -> String {
    let name = &field.name;
    let mut text = match &field.field_type {
        FieldType::BuiltIn(built_in) => format!("b(\"{name}\", {})", built_in_name(*built_in)),
        FieldType::Structure(structure) => {
            let id = model
                .structures
                .get(structure)
                .map(|structure| structure.type_id)
                .unwrap_or_default();
            format!("s(\"{name}\", {id})")
        }
        FieldType::Enumeration(enumeration) => {
            let id = model
                .enumerations
                .get(enumeration)
                .map(|enumeration| enumeration.type_id)
                .unwrap_or_default();
            format!("e(\"{name}\", {id})")
        }
    };
    if field.is_array {
        text = format!("array({text})");
    }
    if field.is_optional {
        text = format!("optional({text})");
    }
    text
}
