//! The field tables as Lua code, and the dissector that reads messages by them.

use std::fmt::{self, Write};

use takt_ua::STATUS_CODES;
use takt_ua::generated::descriptions::{ENUMERATIONS, STRUCTURES};
use takt_ua::generated_support::{FieldDescription, FieldType};

use super::grammar::{Bits, Field, Kind, Names, Test};
use super::uadp::{NETWORK_MESSAGE, PAYLOAD};
use super::values::COMPOSED;

/// Returns a dissector of UADP for Wireshark, a Lua script generated from the tables with which
/// [`MessageTree`](super::MessageTree) reads messages. It has no keys: an encrypted payload is shown as bytes.
pub fn lua_dissector() -> String {
    let mut script = String::from(HEAD);
    // Writing to a String cannot fail.
    let _ = tables(&mut script);
    script.push_str(&PARTS.join("\n"));
    script
}

const HEAD: &str = "\
-- UADP, the message mapping of OPC UA PubSub (OPC 10000-14, 7.2.4), for Wireshark.
-- Generated from Takt's field tables. Do not edit: write it anew.

";

/// Lua functions that read messages by the tables; each part uses the previous ones.
const PARTS: [&str; 7] = [
    include_str!("dissector/fields.lua"),
    include_str!("dissector/text.lua"),
    include_str!("dissector/reader.lua"),
    include_str!("dissector/values.lua"),
    include_str!("dissector/kinds.lua"),
    include_str!("dissector/chunks.lua"),
    include_str!("dissector/show.lua"),
];

fn tables(out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "-- Built-in types that have parts.\nlocal COMPOSED = {{"
    )?;
    for (built_in_type, fields) in COMPOSED {
        write!(out, "{} = ", built_in_type.name())?;
        list(out, fields, field)?;
        writeln!(out, ",")?;
    }
    writeln!(
        out,
        "}}\n\n-- Structures by the NodeIds of their DataTypes.\nlocal STRUCTURES = {{"
    )?;
    for structure in STRUCTURES {
        write!(
            out,
            "[{}] = {{name = {:?}, ",
            structure.type_id, structure.name
        )?;
        if structure.has_optional_fields() {
            write!(out, "optional = true, ")?;
        }
        write!(out, "fields = ")?;
        list(out, structure.fields, described)?;
        writeln!(out, "}},")?;
    }
    writeln!(
        out,
        "}}\n\n-- DataTypes of structures by the NodeIds of their binary encodings.\nlocal ENCODINGS = {{"
    )?;
    for structure in STRUCTURES
        .iter()
        .filter(|known| known.binary_encoding_id != 0)
    {
        writeln!(
            out,
            "[{}] = {},",
            structure.binary_encoding_id, structure.type_id
        )?;
    }
    writeln!(
        out,
        "}}\n\n-- Enumerations by the NodeIds of their DataTypes.\nlocal ENUMERATIONS = {{"
    )?;
    for enumeration in ENUMERATIONS {
        write!(out, "[{}] = {{", enumeration.type_id)?;
        for (value, name) in enumeration.values {
            write!(out, "[{value}] = {name:?}, ")?;
        }
        writeln!(out, "}},")?;
    }
    writeln!(out, "}}\n\nlocal STATUS_CODES = {{")?;
    for (code, name) in STATUS_CODES {
        writeln!(out, "[{code}] = {name:?},")?;
    }
    write!(out, "}}\n\nlocal NETWORK_MESSAGE = ")?;
    field(out, &NETWORK_MESSAGE)?;
    write!(out, "\n\n-- What is in chunks.\nlocal PAYLOAD = ")?;
    field(out, &PAYLOAD)?;
    writeln!(out, "\n")
}

fn list<T>(
    out: &mut String,
    items: &[T],
    item: impl Fn(&mut String, &T) -> fmt::Result,
) -> fmt::Result {
    write!(out, "{{")?;
    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            write!(out, ", ")?;
        }
        item(out, value)?;
    }
    write!(out, "}}")
}

fn described(out: &mut String, field: &FieldDescription) -> fmt::Result {
    write!(out, "{{name = {:?}, ", field.name)?;
    match field.field_type {
        FieldType::BuiltIn(built_in_type) => {
            write!(out, "kind = \"BuiltIn\", type = {:?}", built_in_type.name())?;
        }
        FieldType::Structure(id) => write!(out, "kind = \"DataType\", id = {id}")?,
        FieldType::Enumeration(id) => write!(out, "kind = \"Enumeration\", id = {id}")?,
    }
    if field.is_array {
        write!(out, ", array = true")?;
    }
    if field.is_optional {
        write!(out, ", optional = true")?;
    }
    write!(out, "}}")
}

fn field(out: &mut String, described: &Field) -> fmt::Result {
    write!(out, "{{name = {:?}, ", described.name)?;
    match &described.when {
        Some((other, Test::Set(bits))) => write!(out, "when = {other:?}, set = {bits}, ")?,
        Some((other, Test::AtLeast(minimum))) => {
            write!(out, "when = {other:?}, at_least = {minimum}, ")?;
        }
        None => {}
    }
    match &described.kind {
        Kind::BuiltIn(built_in_type) => {
            write!(out, "kind = \"BuiltIn\", type = {:?}", built_in_type.name())?;
        }
        Kind::Flags(all) => {
            write!(out, "kind = \"Flags\", bits = ")?;
            list(out, all, bits)?;
        }
        Kind::Named(length, all) => {
            write!(out, "kind = \"Named\", length = {length}, names = ")?;
            names(out, all)?;
        }
        Kind::Status => write!(out, "kind = \"Status\"")?,
        Kind::Bytes(length) => write!(out, "kind = \"Bytes\", length = {length:?}")?,
        // The dissector has no metadata, so RawData is bytes for it.
        Kind::Rest | Kind::RawData => write!(out, "kind = \"Rest\"")?,
        Kind::Group(fields) => {
            write!(out, "kind = \"Group\", fields = ")?;
            list(out, fields, field)?;
        }
        Kind::DataType(id) => write!(out, "kind = \"DataType\", id = {id}")?,
        Kind::Enumeration(id) => write!(out, "kind = \"Enumeration\", id = {id}")?,
        Kind::List(count, element) => {
            write!(out, "kind = \"List\", count = {count:?}, element = ")?;
            field(out, element)?;
        }
        Kind::Array(element) => {
            write!(out, "kind = \"Array\", element = ")?;
            field(out, element)?;
        }
        Kind::Fill(size, element) => {
            write!(out, "kind = \"Fill\", size = {size:?}, element = ")?;
            field(out, element)?;
        }
        Kind::Switch(on, mask, cases) => {
            write!(
                out,
                "kind = \"Switch\", on = {on:?}, mask = {mask}, cases = {{"
            )?;
            for (value, case) in *cases {
                write!(out, "[{}] = ", value >> mask.trailing_zeros())?;
                field(out, case)?;
                write!(out, ", ")?;
            }
            write!(out, "}}")?;
        }
        Kind::TypedBy(on, mask) => write!(out, "kind = \"TypedBy\", on = {on:?}, mask = {mask}")?,
        Kind::Payload(payload) => {
            write!(out, "kind = \"Payload\", payload = ")?;
            field(out, payload)?;
        }
        Kind::DataSetMessages(fields) => {
            write!(out, "kind = \"DataSetMessages\", fields = ")?;
            list(out, fields, field)?;
        }
        Kind::Body => write!(out, "kind = \"Body\"")?,
    }
    write!(out, "}}")
}

fn bits(out: &mut String, bits: &Bits) -> fmt::Result {
    write!(
        out,
        "{{name = {:?}, mask = {}, names = ",
        bits.name, bits.mask
    )?;
    names(out, &bits.names)?;
    write!(out, "}}")
}

fn names(out: &mut String, names: &Names) -> fmt::Result {
    write!(out, "{{")?;
    for (value, name) in *names {
        write!(out, "[{value}] = {name:?}, ")?;
    }
    write!(out, "}}")
}
