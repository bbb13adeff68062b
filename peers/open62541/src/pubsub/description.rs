//! Fields of a description, and small things that components are made of.

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::Status;
use crate::convert::to_variant;
use crate::data::{Described, Owned, description as type_description};

pub(super) fn name(field: &Value) -> &str {
    field["name"].as_str().unwrap_or_default()
}

pub(super) fn built_in_type(field: &Value) -> u64 {
    let variant = to_variant(field).unwrap_or_default();
    variant["UaType"].as_u64().unwrap_or(0)
}

/// The NodeId of its DataType, which for a built-in type is its number.
pub(super) fn data_type(field: &Value) -> String {
    format!("i={}", built_in_type(field))
}

pub(super) fn rank(field: &Value) -> i32 {
    if field["array"] == true { 1 } else { -1 }
}

/// The length of an array.
pub(super) fn dimensions(field: &Value) -> Value {
    field["value"]
        .as_array()
        .map_or(json!([]), |elements| json!([elements.len()]))
}

/// Returns the value of a Variable before a message is received.
pub(super) fn zero(field: &Value) -> Value {
    if let Some(elements) = field["value"].as_array() {
        return json!(vec![0; elements.len()]);
    }
    match field["type"].as_str() {
        Some("Boolean") => false.into(),
        Some("String") => "".into(),
        Some("Int64" | "UInt64") => "0".into(),
        Some("DateTime") => "1970-01-01T00:00:00Z".into(),
        Some("Float" | "Double") => json!(0.0),
        _ => 0.into(),
    }
}

pub(super) fn node(name: &str) -> Result<Owned<sys::UA_NodeId>, Status> {
    Owned::from_json(&format!("ns=1;s={name}").into())
}

pub(super) fn standard(id: &str) -> Result<Owned<sys::UA_NodeId>, Status> {
    Owned::from_json(&id.into())
}

pub(super) fn string(text: &str) -> Result<Owned<sys::UA_String>, Status> {
    Owned::from_json(&text.into())
}

/// A structure as settings of a component, to be copied while it lives.
pub(super) fn borrowed_object<T: Described>(settings: &Owned<T>) -> sys::UA_ExtensionObject {
    let mut object = sys::UA_ExtensionObject::default();
    let structure = std::ptr::from_ref(settings.get()).cast_mut().cast();
    // SAFETY: the object only points to the structure, whose type this is, and does not own it. Nobody writes to it.
    unsafe {
        sys::UA_ExtensionObject_setValueNoDelete(
            &raw mut object,
            structure,
            type_description::<T>(),
        );
    }
    object
}

pub(super) fn null_id() -> sys::UA_NodeId {
    sys::UA_NodeId::default()
}

/// Bytes for a function that copies them.
pub(super) fn borrowed(bytes: &mut [u8]) -> sys::UA_ByteString {
    sys::UA_ByteString {
        length: bytes.len(),
        data: bytes.as_mut_ptr(),
    }
}

pub(super) fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
