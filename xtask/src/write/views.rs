//! `views.rs`: borrowed forms of the messages of the Read, Write and Call services, the hot path of a server.

use std::fmt::Write as _;

use super::names::{owned, snake_case};
use crate::error::Error;
use crate::model::{Field, FieldType, Model};
use crate::output::GeneratedFile;

/// Structures with a borrowed form: these messages and everything they contain.
const VIEWS: [&str; 12] = [
    "CallMethodRequest",
    "CallMethodResult",
    "CallRequest",
    "CallResponse",
    "ReadRequest",
    "ReadResponse",
    "ReadValueId",
    "RequestHeader",
    "ResponseHeader",
    "WriteRequest",
    "WriteResponse",
    "WriteValue",
];

pub(super) fn views(model: &Model) -> Result<GeneratedFile, Error> {
    let mut views = String::new();
    let mut conversions = String::new();
    for name in VIEWS {
        let structure = model.structures.get(name).ok_or_else(|| {
            Error::content(
                "NodeSet and type files",
                format!("there is no structure {name}"),
            )
        })?;
        let _ = writeln!(views, "\n    /// Borrowed form of [`{name}`].");
        let _ = writeln!(views, "    {name}Ref = {name} {{");
        for field in &structure.fields {
            let _ = writeln!(
                views,
                "        \"{}\" {}: {},",
                field.name,
                snake_case(&field.name),
                rust_type(field)
            );
        }
        views.push_str("    }\n");

        let _ = writeln!(conversions, "\nimpl {name}Ref<'_> {{");
        let _ = writeln!(
            conversions,
            "/// The owned form.\npub fn to_owned(&self) -> {name} {{\n{name} {{"
        );
        for field in &structure.fields {
            let field_name = snake_case(&field.name);
            let _ = writeln!(
                conversions,
                "{field_name}: {},",
                conversion(field, &field_name)
            );
        }
        conversions.push_str("}\n}\n}\n");
    }
    let structures = VIEWS.join(", ");
    let code = format!(
        "use crate::binary::{{Encoded, ListRef}};
        use crate::generated::enumerations::TimestampsToReturn;
        use crate::generated::structures::{{{structures}}};
        use crate::generated_support::view;
        use crate::{{DataValueRef, DateTime, DiagnosticInfo, ExtensionObjectRef, NodeIdRef, \
         QualifiedNameRef, StatusCode, UaString, VariantRef}};

        view! {{{views}}}\n{conversions}"
    );
    let what =
        "Borrowed forms of the messages of Read, Write and Call: decoding allocates nothing.";
    Ok(super::file::file("generated/views.rs", what, &code))
}

fn rust_type(field: &Field) -> String {
    let element = match &field.field_type {
        FieldType::Structure(name) => format!("{name}Ref<'a>"),
        FieldType::BuiltIn(12) => "Option<&'a str>".to_owned(),
        // DiagnosticInfo is rarely present, so it is checked and skipped, and decoded only on access.
        FieldType::BuiltIn(25) => "Encoded<'a, DiagnosticInfo>".to_owned(),
        FieldType::BuiltIn(17 | 20 | 22..=24) => format!("{}Ref<'a>", owned(&field.field_type)),
        other => owned(other).to_owned(),
    };
    if field.is_array {
        format!("ListRef<'a, {element}>")
    } else {
        element
    }
}

/// Returns the expression that creates the owned form of a field.
fn conversion(field: &Field, name: &str) -> String {
    let element = |value: &str| match &field.field_type {
        FieldType::BuiltIn(12) => format!("UaString::from({value})"),
        FieldType::BuiltIn(25) => format!("{value}.get().unwrap_or_default()"),
        FieldType::BuiltIn(17 | 20 | 22..=24) | FieldType::Structure(_) => {
            format!("{value}.to_owned()")
        }
        _ => value.to_owned(),
    };
    let value = format!("self.{name}");
    if field.is_array {
        let owned = match (&field.field_type, element("element")) {
            (FieldType::BuiltIn(12), _) => ".map(UaString::from)".to_owned(),
            (_, same) if same == "element" => String::new(),
            (_, owned) => format!(".map(|element| {owned})"),
        };
        return format!("{value}.iter(){owned}.collect()");
    }
    element(&value)
}
