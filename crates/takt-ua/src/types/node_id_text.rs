//! The text forms of NodeId and ExpandedNodeId (OPC 10000-6, 5.1.12): `ns=2;s=Speed`, `i=85`,
//! `svr=1;nsu=http://example.org/;g=...`.

use std::fmt;
use std::str::FromStr;

use super::{
    ExpandedNodeId, ExpandedNodeIdRef, Identifier, IdentifierRef, NodeId, NodeIdRef, UaString,
};
use crate::base64;

/// Error of a text that is not a NodeId or ExpandedNodeId.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}' is not a NodeId: {reason}; expected for example i=2258, ns=2;s=Speed or nsu=http://example.org/;i=7"
)]
pub struct ParseNodeIdError {
    text: String,
    reason: &'static str,
}

impl fmt::Display for IdentifierRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentifierRef::Numeric(id) => write!(f, "i={id}"),
            IdentifierRef::String(id) => write!(f, "s={id}"),
            IdentifierRef::Guid(id) => write!(f, "g={id}"),
            IdentifierRef::Opaque(id) => write!(f, "b={}", base64::encode(id)),
        }
    }
}

impl fmt::Display for NodeIdRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace != 0 {
            write!(f, "ns={};", self.namespace)?;
        }
        self.identifier.fmt(f)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Display for ExpandedNodeIdRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.server_index != 0 {
            write!(f, "svr={};", self.server_index)?;
        }
        match self.namespace_uri {
            // A semicolon would end the URI early, so it is written as the standard escapes it.
            Some(uri) => {
                write!(
                    f,
                    "nsu={};{}",
                    uri.replace('%', "%25").replace(';', "%3B"),
                    self.node_id.identifier
                )
            }
            None => self.node_id.fmt(f),
        }
    }
}

impl fmt::Display for ExpandedNodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

fn identifier(text: &str) -> Result<Identifier, &'static str> {
    // At the first one only: a text may contain the character itself.
    let (kind, value) = text
        .split_once('=')
        .ok_or("the identifier i=, s=, g= or b= is missing")?;
    match kind {
        "i" => value
            .parse()
            .map(Identifier::Numeric)
            .map_err(|_| "i= takes a number from 0 to 4294967295"),
        "s" => Ok(Identifier::String(value.into())),
        "g" => value
            .parse()
            .map(Identifier::Guid)
            .map_err(|_| "g= takes a Guid"),
        "b" => base64::decode(value)
            .map(|bytes| Identifier::Opaque(bytes.into()))
            .ok_or("b= takes base64"),
        _ => Err("the identifier must begin with i=, s=, g= or b="),
    }
}

fn node_id(text: &str) -> Result<NodeId, &'static str> {
    let (namespace, rest) = match text.strip_prefix("ns=") {
        Some(rest) => {
            let (namespace, rest) = rest.split_once(';').ok_or("';' is missing after ns=")?;
            (
                namespace
                    .parse()
                    .map_err(|_| "ns= takes a number from 0 to 65535")?,
                rest,
            )
        }
        None => (0, text),
    };
    Ok(NodeId {
        namespace,
        identifier: identifier(rest)?,
    })
}

fn expanded_node_id(text: &str) -> Result<ExpandedNodeId, &'static str> {
    let (server_index, rest) = match text.strip_prefix("svr=") {
        Some(rest) => {
            let (server, rest) = rest.split_once(';').ok_or("';' is missing after svr=")?;
            (
                server
                    .parse()
                    .map_err(|_| "svr= takes a number from 0 to 4294967295")?,
                rest,
            )
        }
        None => (0, text),
    };
    let (namespace_uri, node_id) = match rest.strip_prefix("nsu=") {
        Some(rest) => {
            let (uri, rest) = rest.split_once(';').ok_or("';' is missing after nsu=")?;
            // `%25` last, because the percent sign that it becomes begins no escape.
            let uri = uri
                .replace("%3B", ";")
                .replace("%3b", ";")
                .replace("%25", "%");
            (
                UaString::from(uri),
                NodeId {
                    namespace: 0,
                    identifier: identifier(rest)?,
                },
            )
        }
        None => (UaString::null(), node_id(rest)?),
    };
    Ok(ExpandedNodeId {
        node_id,
        namespace_uri,
        server_index,
    })
}

impl FromStr for NodeId {
    type Err = ParseNodeIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        node_id(text).map_err(|reason| ParseNodeIdError {
            text: text.to_owned(),
            reason,
        })
    }
}

impl FromStr for ExpandedNodeId {
    type Err = ParseNodeIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        expanded_node_id(text).map_err(|reason| ParseNodeIdError {
            text: text.to_owned(),
            reason,
        })
    }
}
