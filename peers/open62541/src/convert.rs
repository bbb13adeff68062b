//! The JSON of `peers/README.md` and the JSON of OPC 10000-6 that open62541 reads and writes.

use serde_json::{Map, Value, json};

use crate::data::type_name;
use crate::status::status_name;

/// The built-in types by their ids, OPC 10000-6, Table 1; 0 is what a Variant without a value has.
const BUILT_IN_TYPES: [&str; 26] = [
    "Null",
    "Boolean",
    "SByte",
    "Byte",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Float",
    "Double",
    "String",
    "DateTime",
    "Guid",
    "ByteString",
    "XmlElement",
    "NodeId",
    "ExpandedNodeId",
    "StatusCode",
    "QualifiedName",
    "LocalizedText",
    "ExtensionObject",
    "DataValue",
    "Variant",
    "DiagnosticInfo",
];

/// The attributes by their ids, OPC 10000-6, A.1.
const ATTRIBUTES: [&str; 23] = [
    "",
    "NodeId",
    "NodeClass",
    "BrowseName",
    "DisplayName",
    "Description",
    "WriteMask",
    "UserWriteMask",
    "IsAbstract",
    "Symmetric",
    "InverseName",
    "ContainsNoLoops",
    "EventNotifier",
    "Value",
    "DataType",
    "ValueRank",
    "ArrayDimensions",
    "AccessLevel",
    "UserAccessLevel",
    "MinimumSamplingInterval",
    "Historizing",
    "Executable",
    "UserExecutable",
];

/// The NodeClasses by the number of their bit, OPC 10000-3, 5.2.3.
const NODE_CLASSES: [&str; 8] = [
    "Object",
    "Variable",
    "Method",
    "ObjectType",
    "VariableType",
    "ReferenceType",
    "DataType",
    "View",
];

/// The id of an attribute; 0 for a name that is none.
#[must_use]
pub fn attribute_id(name: &str) -> usize {
    ATTRIBUTES
        .iter()
        .position(|known| *known == name)
        .unwrap_or(0)
}

/// The name of a NodeClass.
#[must_use]
pub fn node_class(value: &Value) -> &'static str {
    let bits = value.as_u64().unwrap_or(0);
    NODE_CLASSES
        .get(bits.trailing_zeros() as usize)
        .unwrap_or(&"Unspecified")
}

/// The name of a StatusCode: `{}` or `{"Code":…,"Symbol":…}`.
#[must_use]
pub fn status(value: &Value) -> String {
    let code = value
        .as_u64()
        .or_else(|| value["Code"].as_u64())
        .unwrap_or(0);
    status_name(u32::try_from(code).unwrap_or(u32::MAX))
}

/// A LocalizedText.
#[must_use]
pub fn localized_text(value: &Value) -> Value {
    json!({"locale": value["Locale"], "text": value["Text"]})
}

/// A Variant, or the Variant in a DataValue, as `{"type","value","dimensions"?}`.
#[must_use]
pub fn from_variant(variant: &Value) -> Value {
    let id = variant["UaType"].as_u64().unwrap_or(0);
    let kind = usize::try_from(id)
        .ok()
        .and_then(|id| BUILT_IN_TYPES.get(id))
        .unwrap_or(&"Null");
    let value = match &variant["Value"] {
        Value::Array(elements) => elements
            .iter()
            .map(|element| from_element(kind, element))
            .collect(),
        scalar => from_element(kind, scalar),
    };
    let mut answer = json!({"type": kind, "value": value});
    if let dimensions @ Value::Array(_) = &variant["Dimensions"] {
        answer["dimensions"] = dimensions.clone();
    }
    answer
}

fn from_element(kind: &str, element: &Value) -> Value {
    match kind {
        "LocalizedText" => localized_text(element),
        "StatusCode" => status(element).into(),
        "Variant" => from_variant(element),
        "ExtensionObject" => from_structure(element),
        _ => element.clone(),
    }
}

/// A structure: its type by name, its fields as they are but for LocalizedTexts.
fn from_structure(structure: &Value) -> Value {
    let Value::Object(fields) = structure else {
        return structure.clone();
    };
    let mut answer = Map::new();
    for (name, field) in fields {
        match name.as_str() {
            "UaTypeId" => {
                let id = field.as_str().unwrap_or_default();
                let name = type_name(id).unwrap_or_else(|| id.to_owned());
                answer.insert("structure".to_owned(), name.into());
            }
            _ if field.get("Text").is_some() => {
                answer.insert(name.clone(), localized_text(field));
            }
            _ => {
                answer.insert(name.clone(), from_structure(field));
            }
        }
    }
    Value::Object(answer)
}

/// A DataValue as `{"status","type","value",…}`.
#[must_use]
pub fn from_data_value(data_value: &Value) -> Value {
    let mut answer = from_variant(data_value);
    answer["status"] = status(&data_value["Status"]).into();
    for (name, from) in [
        ("sourceTimestamp", "SourceTimestamp"),
        ("serverTimestamp", "ServerTimestamp"),
    ] {
        if data_value[from].is_string() {
            answer[name] = data_value[from].clone();
        }
    }
    answer
}

/// The reverse of [`from_variant`].
///
/// # Errors
/// The name that is no built-in type's.
pub fn to_variant(data: &Value) -> Result<Value, String> {
    let kind = data["type"].as_str().unwrap_or_default();
    let id = BUILT_IN_TYPES
        .iter()
        .position(|known| *known == kind)
        .ok_or_else(|| format!("`{kind}` is not a built-in type"))?;
    let value = match &data["value"] {
        Value::Array(elements) => elements
            .iter()
            .map(|element| to_element(kind, element))
            .collect(),
        scalar => to_element(kind, scalar),
    };
    let mut variant = json!({"UaType": id, "Value": value});
    if let dimensions @ Value::Array(_) = &data["dimensions"] {
        variant["Dimensions"] = dimensions.clone();
    }
    Ok(variant)
}

fn to_element(kind: &str, element: &Value) -> Value {
    match kind {
        "LocalizedText" => json!({"Locale": element["locale"], "Text": element["text"]}),
        _ => element.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_there_and_back() {
        for value in [
            json!({"type": "UInt32", "value": 7}),
            json!({"type": "Double", "value": [1.0, "NaN"], "dimensions": [1, 2]}),
            json!({"type": "LocalizedText", "value": {"locale": "en", "text": "Speed"}}),
            json!({"type": "Int64", "value": "-9007199254740993"}),
        ] {
            assert_eq!(from_variant(&to_variant(&value).unwrap()), value);
        }
        assert!(to_variant(&json!({"type": "Integer", "value": 7})).is_err());
    }

    #[test]
    fn structures_have_names() {
        let range = json!({"UaType": 22, "Value": {"UaTypeId": "i=884", "Low": 0.0, "High": 1.0}});
        assert_eq!(
            from_variant(&range),
            json!({"type": "ExtensionObject", "value": {"structure": "Range", "Low": 0.0, "High": 1.0}})
        );
    }
}
