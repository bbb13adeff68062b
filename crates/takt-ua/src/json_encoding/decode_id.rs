//! NodeIds, ExpandedNodeIds and QualifiedNames: texts in version 1.05, objects in version 1.04.

use serde_json::{Map, Value};

use super::integer::integer;
use super::{JsonDecodeError, JsonDecodeErrorKind, JsonDecoder};
use crate::{ExpandedNodeId, Identifier, NodeId, QualifiedName, UaString, base64};

/// A namespace in the form of version 1.04.
enum Namespace {
    Index(u16),
    Uri(String),
}

impl JsonDecoder<'_> {
    /// Decodes a NodeId (OPC 10000-6, 5.4.2.10, H.2).
    pub(super) fn node_id(&self, value: &Value) -> Result<NodeId, JsonDecodeError> {
        match value {
            Value::String(text) => Ok(self.without_uri(parsed(text, value)?, text)),
            Value::Object(object) => {
                let identifier = identifier(object)?;
                match namespace(object, "Namespace")? {
                    Namespace::Index(namespace) => Ok(NodeId {
                        namespace,
                        identifier,
                    }),
                    Namespace::Uri(uri) => {
                        let id = with_uri(uri, identifier);
                        let text = id.to_string();
                        Ok(self.without_uri(id, &text))
                    }
                }
            }
            other => Err(JsonDecodeError::expected("a NodeId such as i=2258", other)),
        }
    }

    /// Decodes the NodeId with the index of its namespace. If the namespace is not known, the text becomes the
    /// identifier, as the standard requires.
    fn without_uri(&self, id: ExpandedNodeId, text: &str) -> NodeId {
        let namespace = match id.namespace_uri.as_option() {
            // A node of another server is in none of this server's namespaces.
            _ if id.server_index != 0 => None,
            Some(uri) => self.context.namespace_index(uri),
            None => return id.node_id,
        };
        match namespace {
            Some(namespace) => NodeId {
                namespace,
                identifier: id.node_id.identifier,
            },
            None => NodeId {
                namespace: 0,
                identifier: Identifier::String(text.into()),
            },
        }
    }

    /// Decodes an ExpandedNodeId (OPC 10000-6, 5.4.2.11, H.3). A NamespaceUri is kept.
    pub(super) fn expanded_node_id(
        &self,
        value: &Value,
    ) -> Result<ExpandedNodeId, JsonDecodeError> {
        match value {
            Value::String(text) => parsed(text, value),
            Value::Object(object) => {
                let identifier = identifier(object)?;
                let server_index = match object.get("ServerUri") {
                    None | Some(Value::Null) => 0,
                    Some(Value::String(_)) => {
                        let kind = JsonDecodeErrorKind::Unsupported("a server named by its URI");
                        return Err(JsonDecodeError::new(kind).in_field("ServerUri"));
                    }
                    Some(index) => integer(index).ok_or_else(|| {
                        JsonDecodeError::expected("a ServerIndex", index).in_field("ServerUri")
                    })?,
                };
                let id = match namespace(object, "Namespace")? {
                    Namespace::Uri(uri) => with_uri(uri, identifier),
                    Namespace::Index(namespace) => ExpandedNodeId::from(NodeId {
                        namespace,
                        identifier,
                    }),
                };
                Ok(ExpandedNodeId { server_index, ..id })
            }
            other => Err(JsonDecodeError::expected(
                "a NodeId such as nsu=http://example.org/;i=7",
                other,
            )),
        }
    }

    /// Decodes a QualifiedName (OPC 10000-6, 5.4.2.14, H.5). With an unknown NamespaceUri it is in namespace 0, with
    /// the whole text as its name.
    pub(super) fn qualified_name(&self, value: &Value) -> Result<QualifiedName, JsonDecodeError> {
        let of_uri = |uri: &str, name: &str, whole: &str| match self.context.namespace_index(uri) {
            Some(namespace) => QualifiedName::new(namespace, name),
            None => QualifiedName::new(0, whole),
        };
        match value {
            Value::String(text) => {
                let uri = text
                    .strip_prefix("nsu=")
                    .and_then(|rest| rest.split_once(';'));
                match uri {
                    Some((uri, name)) => Ok(of_uri(&unescaped(uri), name, text)),
                    None => text.parse().map_err(|_| {
                        JsonDecodeError::expected("a QualifiedName such as 2:Speed", value)
                    }),
                }
            }
            Value::Object(object) => {
                let name = match object.get("Name") {
                    None | Some(Value::Null) => UaString::null(),
                    Some(Value::String(name)) => name.into(),
                    Some(other) => {
                        return Err(JsonDecodeError::expected("a text", other).in_field("Name"));
                    }
                };
                match namespace(object, "Uri")? {
                    Namespace::Index(namespace) => Ok(QualifiedName { namespace, name }),
                    Namespace::Uri(uri) => {
                        Ok(of_uri(&uri, name.as_str(), &format!("nsu={uri};{name}")))
                    }
                }
            }
            other => Err(JsonDecodeError::expected(
                "a QualifiedName such as 2:Speed",
                other,
            )),
        }
    }
}

fn unescaped(uri: &str) -> String {
    // `%25` last, because the percent sign that it becomes begins no escape.
    uri.replace("%3B", ";")
        .replace("%3b", ";")
        .replace("%25", "%")
}

fn with_uri(uri: String, identifier: Identifier) -> ExpandedNodeId {
    ExpandedNodeId {
        node_id: NodeId {
            namespace: 0,
            identifier,
        },
        namespace_uri: uri.into(),
        server_index: 0,
    }
}

fn parsed(text: &str, value: &Value) -> Result<ExpandedNodeId, JsonDecodeError> {
    if text.is_empty() {
        return Ok(ExpandedNodeId::NULL);
    }
    // Server URIs cannot be resolved: the text becomes the identifier.
    if text.starts_with("svu=") {
        let identifier = Identifier::String(text.into());
        return Ok(NodeId {
            namespace: 0,
            identifier,
        }
        .into());
    }
    text.parse()
        .map_err(|_| JsonDecodeError::expected("a NodeId such as i=2258 or ns=2;s=Speed", value))
}

/// Decodes the identifier of 1.04: `IdType`, which may be left out for numbers, and `Id`.
fn identifier(object: &Map<String, Value>) -> Result<Identifier, JsonDecodeError> {
    let id = match object.get("Id") {
        None if object.is_empty() => return Ok(Identifier::Numeric(0)),
        None => {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::MissingField(
                "Id",
            )));
        }
        Some(id) => id,
    };
    let kind = match object.get("IdType") {
        None | Some(Value::Null) => Some(0),
        Some(kind) => integer::<u8>(kind),
    };
    let text = id.as_str();
    let identifier = match kind {
        Some(0) => integer(id).map(Identifier::Numeric),
        Some(1) => text.map(|text| Identifier::String(text.into())),
        Some(2) => text
            .and_then(|text| text.parse().ok())
            .map(Identifier::Guid),
        Some(3) => text
            .and_then(base64::decode)
            .map(|bytes| Identifier::Opaque(bytes.into())),
        _ => {
            let found = object.get("IdType").unwrap_or(&Value::Null);
            return Err(JsonDecodeError::expected("an IdType, 0 to 3", found).in_field("IdType"));
        }
    };
    identifier.ok_or_else(|| {
        JsonDecodeError::expected("an identifier of the type that IdType says", id).in_field("Id")
    })
}

fn namespace(object: &Map<String, Value>, name: &str) -> Result<Namespace, JsonDecodeError> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(Namespace::Index(0)),
        Some(Value::String(uri)) => Ok(Namespace::Uri(uri.clone())),
        Some(index) => integer(index).map(Namespace::Index).ok_or_else(|| {
            JsonDecodeError::expected("a NamespaceIndex or NamespaceUri", index).in_field(name)
        }),
    }
}
