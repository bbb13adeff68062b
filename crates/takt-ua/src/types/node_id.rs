//! NodeId (OPC 10000-3, 8.2; OPC 10000-6, 5.2.2.9).

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{ByteString, Guid, UaString};

/// The identifier part of a [`NodeId`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identifier {
    /// `i=`: a number.
    Numeric(u32),
    /// `s=`: a text.
    String(Box<str>),
    /// `g=`: a Guid.
    Guid(Guid),
    /// `b=`: bytes, shown as base64.
    Opaque(Box<[u8]>),
}

/// The identifier of a Node within a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeId {
    /// Index into the server's NamespaceArray.
    pub namespace: u16,
    /// Identifier within the namespace.
    pub identifier: Identifier,
}

/// A borrowed [`Identifier`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifierRef<'a> {
    /// `i=`: a number.
    Numeric(u32),
    /// `s=`: a text.
    String(&'a str),
    /// `g=`: a Guid.
    Guid(Guid),
    /// `b=`: bytes.
    Opaque(&'a [u8]),
}

/// A borrowed [`NodeId`]: decoders return it, and maps with `NodeId` keys are searched with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeIdRef<'a> {
    /// Index into the server's NamespaceArray.
    pub namespace: u16,
    /// Identifier within the namespace.
    pub identifier: IdentifierRef<'a>,
}

impl NodeId {
    /// The null NodeId, `i=0`.
    pub const NULL: NodeId = NodeId::numeric(0, 0);

    /// Returns a NodeId with a numeric identifier.
    #[inline]
    pub const fn numeric(namespace: u16, identifier: u32) -> Self {
        Self {
            namespace,
            identifier: Identifier::Numeric(identifier),
        }
    }

    /// Returns a NodeId with a text as identifier.
    pub fn string(namespace: u16, identifier: &str) -> Self {
        Self {
            namespace,
            identifier: Identifier::String(identifier.into()),
        }
    }

    /// Returns a NodeId with a Guid as identifier.
    #[inline]
    pub const fn guid(namespace: u16, identifier: Guid) -> Self {
        Self {
            namespace,
            identifier: Identifier::Guid(identifier),
        }
    }

    /// Returns a NodeId with bytes as identifier.
    pub fn opaque(namespace: u16, identifier: &[u8]) -> Self {
        Self {
            namespace,
            identifier: Identifier::Opaque(identifier.into()),
        }
    }

    /// Returns the same NodeId, borrowed.
    #[inline]
    pub fn as_ref(&self) -> NodeIdRef<'_> {
        let identifier = match &self.identifier {
            Identifier::Numeric(id) => IdentifierRef::Numeric(*id),
            Identifier::String(id) => IdentifierRef::String(id),
            Identifier::Guid(id) => IdentifierRef::Guid(*id),
            Identifier::Opaque(id) => IdentifierRef::Opaque(id),
        };
        NodeIdRef {
            namespace: self.namespace,
            identifier,
        }
    }

    /// Returns whether this is a null NodeId: namespace 0 and an empty identifier of any kind (OPC 10000-3, 8.2.4).
    #[inline]
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// Returns the identifier, if it is numeric and of namespace 0.
    #[inline]
    pub fn standard_id(&self) -> Option<u32> {
        self.as_ref().standard_id()
    }
}

impl<'a> NodeIdRef<'a> {
    /// The null NodeId, `i=0`.
    pub const NULL: NodeIdRef<'static> = NodeIdRef::numeric(0, 0);

    /// Returns a NodeId with a numeric identifier.
    #[inline]
    pub const fn numeric(namespace: u16, identifier: u32) -> Self {
        Self {
            namespace,
            identifier: IdentifierRef::Numeric(identifier),
        }
    }

    /// Returns a NodeId with a text as identifier.
    #[inline]
    pub const fn string(namespace: u16, identifier: &'a str) -> Self {
        Self {
            namespace,
            identifier: IdentifierRef::String(identifier),
        }
    }

    /// Returns the same NodeId, owned. Allocates for text and opaque identifiers.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> NodeId {
        let identifier = match self.identifier {
            IdentifierRef::Numeric(id) => Identifier::Numeric(id),
            IdentifierRef::String(id) => Identifier::String(id.into()),
            IdentifierRef::Guid(id) => Identifier::Guid(id),
            IdentifierRef::Opaque(id) => Identifier::Opaque(id.into()),
        };
        NodeId {
            namespace: self.namespace,
            identifier,
        }
    }

    /// Returns whether this is a null NodeId; see [`NodeId::is_null`].
    #[inline]
    pub fn is_null(&self) -> bool {
        self.namespace == 0
            && match self.identifier {
                IdentifierRef::Numeric(id) => id == 0,
                IdentifierRef::String(id) => id.is_empty(),
                IdentifierRef::Guid(id) => id == Guid::NULL,
                IdentifierRef::Opaque(id) => id.is_empty(),
            }
    }

    /// Returns the identifier, if it is numeric and of namespace 0.
    #[inline]
    pub const fn standard_id(&self) -> Option<u32> {
        match (self.namespace, self.identifier) {
            (0, IdentifierRef::Numeric(id)) => Some(id),
            _ => None,
        }
    }
}

impl Default for NodeId {
    fn default() -> Self {
        Self::NULL
    }
}

impl Default for NodeIdRef<'_> {
    fn default() -> Self {
        Self::NULL
    }
}

impl From<(u16, u32)> for NodeId {
    fn from((namespace, identifier): (u16, u32)) -> Self {
        Self::numeric(namespace, identifier)
    }
}

impl From<(u16, &str)> for NodeId {
    fn from((namespace, identifier): (u16, &str)) -> Self {
        Self::string(namespace, identifier)
    }
}

impl From<u32> for NodeId {
    /// Returns a NodeId of namespace 0, such as those in [`ids`](crate::ids).
    fn from(identifier: u32) -> Self {
        Self::numeric(0, identifier)
    }
}

impl From<u32> for NodeIdRef<'_> {
    fn from(identifier: u32) -> Self {
        Self::numeric(0, identifier)
    }
}

impl From<NodeIdRef<'_>> for NodeId {
    fn from(node_id: NodeIdRef<'_>) -> Self {
        node_id.to_owned()
    }
}

impl<'a> From<&'a NodeId> for NodeIdRef<'a> {
    #[inline]
    fn from(node_id: &'a NodeId) -> Self {
        node_id.as_ref()
    }
}

impl PartialEq<NodeId> for NodeIdRef<'_> {
    #[inline]
    fn eq(&self, other: &NodeId) -> bool {
        *self == other.as_ref()
    }
}

impl PartialEq<NodeIdRef<'_>> for NodeId {
    #[inline]
    fn eq(&self, other: &NodeIdRef<'_>) -> bool {
        self.as_ref() == *other
    }
}

impl equivalent::Equivalent<NodeId> for NodeIdRef<'_> {
    #[inline]
    fn equivalent(&self, key: &NodeId) -> bool {
        *self == key.as_ref()
    }
}

impl Hash for NodeIdRef<'_> {
    /// Hashes both forms equally, so that a map with `NodeId` keys can be searched with a `NodeIdRef`.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let namespace = u64::from(self.namespace) << 32;
        match self.identifier {
            // Most NodeIds are numeric, and this is a single word for the hasher.
            IdentifierRef::Numeric(id) => state.write_u64(namespace | u64::from(id)),
            IdentifierRef::String(id) => {
                state.write_u64(1 << 56 | namespace);
                id.hash(state);
            }
            IdentifierRef::Guid(id) => {
                state.write_u64(2 << 56 | namespace);
                id.hash(state);
            }
            IdentifierRef::Opaque(id) => {
                state.write_u64(3 << 56 | namespace);
                id.hash(state);
            }
        }
    }
}

impl Hash for NodeId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl Ord for NodeIdRef<'_> {
    /// Orders by namespace, then kind of identifier, then identifier.
    fn cmp(&self, other: &Self) -> Ordering {
        use IdentifierRef::{Guid, Numeric, Opaque, String};
        let kind = |id: &IdentifierRef<'_>| match id {
            Numeric(_) => 0,
            String(_) => 1,
            Guid(_) => 2,
            Opaque(_) => 3,
        };
        self.namespace.cmp(&other.namespace).then_with(|| {
            match (&self.identifier, &other.identifier) {
                (Numeric(a), Numeric(b)) => a.cmp(b),
                (String(a), String(b)) => a.cmp(b),
                (Guid(a), Guid(b)) => a.cmp(b),
                (Opaque(a), Opaque(b)) => a.cmp(b),
                (a, b) => kind(a).cmp(&kind(b)),
            }
        })
    }
}

impl PartialOrd for NodeIdRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NodeId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl PartialOrd for NodeId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<UaString> for Identifier {
    fn from(text: UaString) -> Self {
        Self::String(text.into_string().into())
    }
}

impl From<ByteString> for Identifier {
    fn from(bytes: ByteString) -> Self {
        Self::Opaque(bytes.into_vec().into())
    }
}
