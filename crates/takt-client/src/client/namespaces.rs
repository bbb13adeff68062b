//! Namespaces by URI: an index is valid at one server and for one session, a URI everywhere.

use takt_ua::{Elements, NodeId, StatusCode, Variant, ids};

use super::Client;
use super::namespace_array::NamespaceArray;
use crate::error::ClientError;

impl Client {
    /// Returns the server's NamespaceArray (OPC 10000-5, 6.3.1), read from the server.
    pub fn namespace_array(&mut self) -> Result<Vec<String>, ClientError> {
        let node = NodeId::numeric(0, ids::SERVER_NAMESPACE_ARRAY);
        let Variant::Array(array) = self.read_good(&node)? else {
            return Err(self.protocol("the NamespaceArray is not an array"));
        };
        let Elements::String(uris) = array.elements else {
            return Err(self.protocol("the NamespaceArray holds no strings"));
        };
        let uris: Vec<String> = uris.iter().map(|uri| uri.as_str().to_owned()).collect();
        self.namespaces = NamespaceArray {
            uris: uris.clone(),
            epoch: self.link.epoch,
        };
        Ok(uris)
    }

    /// Returns the NamespaceArray as it was last read in this session; it is read if it was not.
    pub fn known_namespaces(&mut self) -> Result<&[String], ClientError> {
        if !self.is_connected() || self.namespaces.epoch != self.link.epoch {
            self.namespace_array()?;
        }
        Ok(&self.namespaces.uris)
    }

    /// Returns the index of `uri` at this server, if it has one. The NamespaceArray is read once per session, and
    /// again if it does not contain the URI, because it only grows.
    pub fn namespace_index(&mut self, uri: &str) -> Result<Option<u16>, ClientError> {
        if self.is_connected()
            && self.namespaces.epoch == self.link.epoch
            && let Some(index) = self.namespaces.index(uri)
        {
            return Ok(Some(index));
        }
        self.namespace_array()?;
        Ok(self.namespaces.index(uri))
    }

    /// Returns the URI of the namespace with this index at this server.
    pub fn namespace_uri(&mut self, index: u16) -> Result<String, ClientError> {
        let position = usize::from(index);
        let known = self.is_connected() && self.namespaces.epoch == self.link.epoch;
        if !known || position >= self.namespaces.uris.len() {
            self.namespace_array()?;
        }
        self.namespaces.uris.get(position).cloned().ok_or_else(|| {
            self.protocol(format!(
                "a NodeId has namespace {index}, which the NamespaceArray lacks"
            ))
        })
    }

    /// Returns `node` with its namespace index replaced by that of the namespace that has this URI at this server.
    pub fn local_node(
        &mut self,
        namespace_uri: &str,
        node: &NodeId,
    ) -> Result<NodeId, ClientError> {
        let namespace = self.namespace_index(namespace_uri)?.ok_or_else(|| {
            ClientError::operation(
                format!("namespace {namespace_uri} at {}", self.endpoint),
                StatusCode::BadNodeIdUnknown,
            )
        })?;
        Ok(NodeId {
            namespace,
            identifier: node.identifier.clone(),
        })
    }
}
