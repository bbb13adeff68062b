//! ExpandedNodeId (OPC 10000-6, 5.2.2.10).

use super::{NodeId, NodeIdRef, UaString};
use crate::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

const NAMESPACE_URI: u8 = 0x80;
const SERVER_INDEX: u8 = 0x40;

/// A NodeId that may name its namespace by URI, and may belong to another server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ExpandedNodeId {
    /// The NodeId; its namespace index is 0 and without meaning if there is a URI.
    pub node_id: NodeId,
    /// The namespace's URI; null if the index is used.
    pub namespace_uri: UaString,
    /// Index into the ServerArray; 0 is the server itself.
    pub server_index: u32,
}

/// A borrowed [`ExpandedNodeId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ExpandedNodeIdRef<'a> {
    /// The NodeId.
    pub node_id: NodeIdRef<'a>,
    /// The namespace's URI, if it is used.
    pub namespace_uri: Option<&'a str>,
    /// Index into the ServerArray; 0 is the server itself.
    pub server_index: u32,
}

impl ExpandedNodeId {
    /// The null ExpandedNodeId.
    pub const NULL: ExpandedNodeId = ExpandedNodeId {
        node_id: NodeId::NULL,
        namespace_uri: UaString::null(),
        server_index: 0,
    };

    /// Returns the same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> ExpandedNodeIdRef<'_> {
        ExpandedNodeIdRef {
            node_id: self.node_id.as_ref(),
            namespace_uri: self.namespace_uri.as_option(),
            server_index: self.server_index,
        }
    }

    /// Returns whether the NodeId is null.
    pub fn is_null(&self) -> bool {
        self.node_id.is_null()
    }

    /// Returns whether this names a Node of the server itself, by namespace index.
    pub fn is_local(&self) -> bool {
        self.server_index == 0 && self.namespace_uri.is_empty()
    }
}

impl ExpandedNodeIdRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> ExpandedNodeId {
        ExpandedNodeId {
            node_id: self.node_id.to_owned(),
            namespace_uri: self.namespace_uri.into(),
            server_index: self.server_index,
        }
    }
}

impl From<NodeId> for ExpandedNodeId {
    fn from(node_id: NodeId) -> Self {
        Self {
            node_id,
            ..Self::NULL
        }
    }
}

impl From<u32> for ExpandedNodeId {
    /// Returns a NodeId of namespace 0.
    fn from(identifier: u32) -> Self {
        Self::from(NodeId::from(identifier))
    }
}

impl Encode for ExpandedNodeIdRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let mut flags = 0;
        if self.namespace_uri.is_some() {
            flags |= NAMESPACE_URI;
        }
        if self.server_index != 0 {
            flags |= SERVER_INDEX;
        }
        self.node_id.encode_with_flags(flags, encoder)?;
        if self.namespace_uri.is_some() {
            encoder.string(self.namespace_uri)?;
        }
        if self.server_index != 0 {
            encoder.u32(self.server_index)?;
        }
        Ok(())
    }
}

impl<'a> Decode<'a> for ExpandedNodeIdRef<'a> {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let encoding = decoder.u8()?;
        let node_id = NodeIdRef::decode_kind(encoding & !(NAMESPACE_URI | SERVER_INDEX), decoder)?;
        let namespace_uri = if encoding & NAMESPACE_URI != 0 {
            decoder.string()?
        } else {
            None
        };
        let server_index = if encoding & SERVER_INDEX != 0 {
            decoder.u32()?
        } else {
            0
        };
        Ok(Self {
            node_id,
            namespace_uri,
            server_index,
        })
    }
}

impl Encode for ExpandedNodeId {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(encoder)
    }
}

impl<'a> Decode<'a> for ExpandedNodeId {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let encoding = decoder.u8()?;
        let node_id = NodeId::decode_kind(encoding & !(NAMESPACE_URI | SERVER_INDEX), decoder)?;
        let namespace_uri = match encoding & NAMESPACE_URI {
            0 => UaString::null(),
            _ => decoder.value()?,
        };
        let server_index = match encoding & SERVER_INDEX {
            0 => 0,
            _ => decoder.u32()?,
        };
        Ok(Self {
            node_id,
            namespace_uri,
            server_index,
        })
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        ExpandedNodeIdRef::decode(decoder).map(|_| ())
    }
}
