//! A node of the standard, in the form that the services use.

use takt_ua::enumerations::NodeClass;

use super::bytes::TABLE;
use super::table::Entry;

/// A node of namespace 0: a position in the table.
///
/// Attributes that the NodeClass of the node does not have are 0, empty, false or `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StandardNode {
    position: u16,
}

/// A reference of a node, as seen from that node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StandardReference {
    /// Identifier of the ReferenceType.
    pub reference_type: u32,
    /// True if the node is the source, false if it is the target.
    pub is_forward: bool,
    /// Identifier of the node at the other end.
    pub target: u32,
}

impl StandardReference {
    #[inline]
    fn at(entry: Entry) -> Self {
        Self {
            reference_type: entry.reference_type,
            is_forward: entry.is_forward,
            target: TABLE.u32(entry.other, 0),
        }
    }
}

impl StandardNode {
    pub(super) const fn at(position: u16) -> Self {
        Self { position }
    }

    /// Returns the numeric identifier of the NodeId.
    #[inline]
    pub fn id(self) -> u32 {
        TABLE.u32(self.position, 0)
    }

    /// Returns the NodeClass.
    #[inline]
    pub fn node_class(self) -> NodeClass {
        NodeClass(i32::from(TABLE.u8(self.position, 18)))
    }

    /// Returns the name of the BrowseName, whose namespace is 0 as well.
    #[inline]
    pub fn browse_name(self) -> &'static str {
        TABLE.string(self.position, 4).unwrap_or_default()
    }

    /// Returns the text of the DisplayName, in no particular locale.
    #[inline]
    pub fn display_name(self) -> &'static str {
        TABLE.string(self.position, 8).unwrap_or_default()
    }

    /// Returns the references of the node, in both directions: first those that the standard's NodeSet lists at this node, in
    /// its order.
    #[inline]
    pub fn references(self) -> impl ExactSizeIterator<Item = StandardReference> + 'static {
        TABLE.references(self.position).map(StandardReference::at)
    }

    /// Returns one of the references, by its position, without iterating over those before it.
    #[inline]
    pub(crate) fn reference(self, index: usize) -> Option<StandardReference> {
        TABLE
            .reference(self.position, index)
            .map(StandardReference::at)
    }

    /// Returns the references away from the node.
    #[inline]
    pub(crate) fn forward_references(self) -> impl Iterator<Item = StandardReference> + 'static {
        let entries = TABLE.forward_references(self.position);
        entries.map(StandardReference::at)
    }

    /// Returns the type that this type is derived from.
    #[inline]
    pub fn supertype(self) -> Option<StandardNode> {
        TABLE.supertype(self.position).map(Self::at)
    }

    // ---- Variables and VariableTypes

    /// Returns the identifier of the DataType.
    #[inline]
    pub fn data_type(self) -> u32 {
        // The field of the record has another meaning for a ReferenceType: the offset of its InverseName.
        if self.has_value() {
            TABLE.u32(self.position, 20)
        } else {
            0
        }
    }

    /// Returns the ValueRank (OPC 10000-3, 5.6.2).
    #[inline]
    pub fn value_rank(self) -> i32 {
        i32::from(TABLE.u8(self.position, 32).cast_signed())
    }

    /// Returns the ArrayDimensions; empty if the attribute does not exist.
    #[inline]
    pub fn array_dimensions(self) -> &'static [u32] {
        // On a big-endian machine the numbers would have to be converted; the attribute is optional.
        if cfg!(target_endian = "big") || !self.has_value() {
            return &[];
        }
        let bytes = TABLE.blob(self.position, 28).unwrap_or_default();
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }

    /// Returns the Value of the standard's NodeSet: an encoded Variant (OPC 10000-6, 5.2.2.16).
    #[inline]
    pub fn value(self) -> Option<&'static [u8]> {
        if self.has_value() {
            TABLE.blob(self.position, 24)
        } else {
            None
        }
    }

    /// Returns AccessLevel and UserAccessLevel of a Variable, which are the same.
    #[inline]
    pub fn access_level(self) -> u8 {
        // The byte is the EventNotifier of an Object.
        if self.node_class() == NodeClass::Variable {
            TABLE.u8(self.position, 33)
        } else {
            0
        }
    }

    // ---- Objects, Methods and types

    /// Returns the EventNotifier of an Object.
    #[inline]
    pub fn event_notifier(self) -> u8 {
        if self.node_class() == NodeClass::Object {
            TABLE.u8(self.position, 33)
        } else {
            0
        }
    }

    /// Returns IsAbstract of a type.
    #[inline]
    pub fn is_abstract(self) -> bool {
        self.flag(0)
    }

    /// Returns Symmetric of a ReferenceType.
    #[inline]
    pub fn symmetric(self) -> bool {
        self.flag(1)
    }

    /// Returns Executable and UserExecutable of a Method, which are the same.
    #[inline]
    pub fn executable(self) -> bool {
        self.flag(2)
    }

    /// Returns the InverseName of a ReferenceType that is not symmetric, in no particular locale.
    #[inline]
    pub fn inverse_name(self) -> Option<&'static str> {
        if self.node_class() == NodeClass::ReferenceType {
            TABLE.string(self.position, 20)
        } else {
            None
        }
    }

    /// Returns the DataTypeDefinition of a DataType: an encoded ExtensionObject (OPC 10000-6, 5.2.2.15) with a
    /// StructureDefinition or an EnumDefinition.
    #[inline]
    pub fn data_type_definition(self) -> Option<&'static [u8]> {
        if self.node_class() == NodeClass::DataType {
            TABLE.blob(self.position, 24)
        } else {
            None
        }
    }

    #[inline]
    fn has_value(self) -> bool {
        matches!(
            self.node_class(),
            NodeClass::Variable | NodeClass::VariableType
        )
    }

    #[inline]
    fn flag(self, bit: u8) -> bool {
        TABLE.u8(self.position, 19) >> bit & 1 == 1
    }
}
