//! Conversion of single values to JSON (OPC 10000-6, 5.4.2).

use serde_json::{Map, Value};

use super::JsonEncoder;
use crate::json_nesting::MAX_DEPTH;
use crate::json_number::{double, single};
use crate::{
    DiagnosticInfo, ExpandedNodeId, LocalizedText, NodeId, QualifiedName, StatusCode, Variant,
    base64,
};

impl JsonEncoder<'_> {
    /// Encodes a single value that is not null. Values nested too deeply are null.
    pub(super) fn scalar(&self, value: &Variant, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Null;
        }
        match value {
            Variant::Empty => Value::Null,
            Variant::Boolean(value) => (*value).into(),
            Variant::SByte(value) => (*value).into(),
            Variant::Byte(value) => (*value).into(),
            Variant::Int16(value) => (*value).into(),
            Variant::UInt16(value) => (*value).into(),
            Variant::Int32(value) => (*value).into(),
            Variant::UInt32(value) => (*value).into(),
            // Not every JSON reader supports integers of 64 bits.
            Variant::Int64(value) => value.to_string().into(),
            Variant::UInt64(value) => value.to_string().into(),
            Variant::Float(value) => single(*value),
            Variant::Double(value) => double(*value),
            Variant::String(value) => value.as_option().into(),
            Variant::DateTime(value) => value.to_iso8601().into(),
            Variant::Guid(value) => value.to_string().into(),
            Variant::ByteString(value) => value.as_option().map(base64::encode).into(),
            Variant::XmlElement(value) => value.0.as_option().into(),
            Variant::NodeId(value) => self.node_id(value).into(),
            Variant::ExpandedNodeId(value) => self.expanded_node_id(value).into(),
            Variant::StatusCode(value) => self.code(*value),
            Variant::QualifiedName(value) => self.qualified_name(value).into(),
            Variant::LocalizedText(value) => localized_text(value),
            Variant::ExtensionObject(value) => self.extension_object(value, depth + 1),
            Variant::DataValue(value) => self.timed(value, depth + 1),
            Variant::DiagnosticInfo(value) => self.diagnostic_info(value, depth + 1),
            Variant::Array(_) => self.untyped(value, depth + 1),
        }
    }

    pub(super) fn code(&self, value: StatusCode) -> Value {
        let mut object = Map::new();
        if value.0 != 0 {
            object.insert("Code".into(), value.0.into());
            if let Some(name) = value.name().filter(|_| !self.is_compact()) {
                object.insert("Symbol".into(), name.into());
            }
        }
        object.into()
    }

    pub(super) fn node_id(&self, value: &NodeId) -> String {
        match self.context.namespace_uri(value.namespace) {
            Some(uri) => ExpandedNodeId {
                node_id: NodeId {
                    namespace: 0,
                    identifier: value.identifier.clone(),
                },
                namespace_uri: uri.into(),
                server_index: 0,
            }
            .to_string(),
            None => value.to_string(),
        }
    }

    fn expanded_node_id(&self, value: &ExpandedNodeId) -> String {
        let uri = self.context.namespace_uri(value.node_id.namespace);
        match uri.filter(|_| value.namespace_uri.is_null()) {
            Some(uri) => ExpandedNodeId {
                namespace_uri: uri.into(),
                ..value.clone()
            }
            .to_string(),
            None => value.to_string(),
        }
    }

    fn qualified_name(&self, value: &QualifiedName) -> String {
        match self.context.namespace_uri(value.namespace) {
            Some(uri) => format!(
                "nsu={};{}",
                uri.replace('%', "%25").replace(';', "%3B"),
                value.name
            ),
            // A name that looks like a NamespaceUri is written with its namespace.
            None if value.namespace == 0 && value.name.as_str().starts_with("nsu=") => {
                format!("0:{}", value.name)
            }
            None => value.to_string(),
        }
    }

    fn diagnostic_info(&self, value: &DiagnosticInfo, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Null;
        }
        let mut object = Map::new();
        let mut insert = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(name.into(), value);
            }
        };
        insert("SymbolicId", value.symbolic_id.map(Value::from));
        insert("NamespaceUri", value.namespace_uri.map(Value::from));
        insert("Locale", value.locale.map(Value::from));
        insert("LocalizedText", value.localized_text.map(Value::from));
        let information = value.additional_info.as_ref();
        insert(
            "AdditionalInfo",
            information.map(|text| text.as_option().into()),
        );
        insert(
            "InnerStatusCode",
            value.inner_status_code.map(|code| self.code(code)),
        );
        let inner = value.inner_diagnostic_info.as_deref();
        insert(
            "InnerDiagnosticInfo",
            inner.map(|inner| self.diagnostic_info(inner, depth + 1)),
        );
        object.into()
    }
}

/// Encodes a LocalizedText. Empty fields are left out (OPC 10000-6, 5.4.2.15).
fn localized_text(value: &LocalizedText) -> Value {
    let mut object = Map::new();
    for (name, text) in [("Locale", &value.locale), ("Text", &value.text)] {
        if !text.is_empty() {
            object.insert(name.into(), text.as_str().into());
        }
    }
    object.into()
}
