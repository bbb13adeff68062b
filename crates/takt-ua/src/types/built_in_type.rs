//! The identifiers of the built-in types (OPC 10000-6, 5.1.2, Table 1).

use crate::ids;

/// Declares the type, the list of all of its values, and their names.
macro_rules! built_in_types {
    ($($name:ident = $id:literal,)*) => {
        /// A built-in type. The discriminants are the standard's identifiers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are the standard's own")]
        pub enum BuiltInType {
            $($name = $id,)*
        }

        const ALL: [BuiltInType; 25] = [$(BuiltInType::$name,)*];

        const NAMES: [&str; 25] = [$(stringify!($name),)*];
    };
}

built_in_types! {
    Boolean = 1,
    SByte = 2,
    Byte = 3,
    Int16 = 4,
    UInt16 = 5,
    Int32 = 6,
    UInt32 = 7,
    Int64 = 8,
    UInt64 = 9,
    Float = 10,
    Double = 11,
    String = 12,
    DateTime = 13,
    Guid = 14,
    ByteString = 15,
    XmlElement = 16,
    NodeId = 17,
    ExpandedNodeId = 18,
    StatusCode = 19,
    QualifiedName = 20,
    LocalizedText = 21,
    ExtensionObject = 22,
    DataValue = 23,
    Variant = 24,
    DiagnosticInfo = 25,
}

use BuiltInType as B;

/// DataTypes of namespace 0 that are encoded like a built-in type.
const SIMPLE_TYPES: [(u32, BuiltInType); 20] = [
    (ids::NUMBER, B::Variant),
    (ids::INTEGER, B::Variant),
    (ids::UINTEGER, B::Variant),
    (ids::ENUMERATION, B::Int32),
    (ids::IMAGE, B::ByteString),
    (ids::IMAGE_BMP, B::ByteString),
    (ids::IMAGE_GIF, B::ByteString),
    (ids::IMAGE_JPG, B::ByteString),
    (ids::IMAGE_PNG, B::ByteString),
    (ids::COUNTER, B::UInt32),
    (ids::INTEGER_ID, B::UInt32),
    (ids::NUMERIC_RANGE, B::String),
    (ids::DURATION, B::Double),
    (ids::UTC_TIME, B::DateTime),
    (ids::LOCALE_ID, B::String),
    (ids::VERSION_TIME, B::UInt32),
    (ids::NORMALIZED_STRING, B::String),
    (ids::DECIMAL_STRING, B::String),
    (ids::URI_STRING, B::String),
    (ids::BIT_FIELD_MASK_DATA_TYPE, B::UInt64),
];

impl BuiltInType {
    /// Returns the type with this identifier, 1 to 25.
    #[inline]
    pub const fn from_u8(id: u8) -> Option<Self> {
        if id == 0 || id > 25 {
            None
        } else {
            Some(ALL[id as usize - 1])
        }
    }

    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|candidate| candidate.name() == name)
    }

    /// Returns the built-in type that encodes a DataType of namespace 0 which is neither a structure nor an
    /// enumeration: the built-in types themselves, their abstract supertypes, and other names for them
    /// (OPC 10000-5, 12.2).
    pub fn of_simple_type(data_type: u32) -> Option<Self> {
        if let Some(built_in_type) = u8::try_from(data_type).ok().and_then(Self::from_u8) {
            return Some(built_in_type);
        }
        let (_, built_in_type) = SIMPLE_TYPES.iter().find(|(known, _)| *known == data_type)?;
        Some(*built_in_type)
    }

    /// Returns all of them, by identifier.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// Returns the standard's name.
    #[inline]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize - 1]
    }

    /// Returns whether the type is a number: SByte to Double.
    #[inline]
    pub const fn is_numeric(self) -> bool {
        matches!(self as u8, 2..=11)
    }

    /// Returns whether the type is an integer: SByte to UInt64.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self as u8, 2..=9)
    }

    /// Returns the number of bytes that each value takes, for the types whose encoding always has the same size.
    #[inline]
    pub const fn encoded_size(self) -> Option<usize> {
        match self {
            B::Boolean | B::SByte | B::Byte => Some(1),
            B::Int16 | B::UInt16 => Some(2),
            B::Int32 | B::UInt32 | B::Float | B::StatusCode => Some(4),
            B::Int64 | B::UInt64 | B::Double | B::DateTime => Some(8),
            B::Guid => Some(16),
            _ => None,
        }
    }
}

impl std::fmt::Display for BuiltInType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // `pad` lets tables align the name.
        f.pad(self.name())
    }
}
