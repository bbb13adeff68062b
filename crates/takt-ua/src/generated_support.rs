//! Support of the generated modules: macros that turn one line per field into a structure with its binary encoding,
//! and types of the tables that describe structures and enumerations at run time (for JSON and for tools).
//!
//! Written by hand; `cargo xtask generate` writes only invocations of these macros. Follows OPC 10000-6, 5.2.6
//! (structures), 5.2.7 (structures with optional fields) and 5.2.4 (enumerations).

use crate::BuiltInType;

/// Type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// A built-in type. Simple types (`Duration`, `UtcTime`) and option sets appear as the type they derive from.
    BuiltIn(BuiltInType),
    /// A structure, named by the NodeId of its DataType; encoded in place, without an ExtensionObject around it.
    Structure(u32),
    /// An enumeration, named by the NodeId of its DataType; encoded as Int32.
    Enumeration(u32),
}

/// One field of a structure, in the order of the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDescription {
    /// Name as in the standard.
    pub name: &'static str,
    /// Type of the value, or of an element if it is an array.
    pub field_type: FieldType,
    /// True if the field is a one-dimensional array.
    pub is_array: bool,
    /// True if the field may be absent, as its bit in the encoding mask tells (in order of the optional fields).
    pub is_optional: bool,
}

/// A structure of the standard. Fields of base types come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructureDescription {
    /// BrowseName of the DataType.
    pub name: &'static str,
    /// NodeId of the DataType.
    pub type_id: u32,
    /// NodeId of the `Default Binary` encoding.
    pub binary_encoding_id: u32,
    /// NodeId of the `Default XML` encoding, 0 if there is none.
    pub xml_encoding_id: u32,
    /// Fields in the order of the encoding.
    pub fields: &'static [FieldDescription],
}

impl StructureDescription {
    /// Returns whether the encoding starts with a mask of the optional fields (OPC 10000-6, 5.2.7).
    pub fn has_optional_fields(&self) -> bool {
        self.fields.iter().any(|field| field.is_optional)
    }
}

/// An enumeration of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumerationDescription {
    /// BrowseName of the DataType.
    pub name: &'static str,
    /// NodeId of the DataType.
    pub type_id: u32,
    /// Values and their names, ascending by value.
    pub values: &'static [(i32, &'static str)],
}

impl EnumerationDescription {
    /// Returns the name of a value.
    pub fn name_of(&self, value: i32) -> Option<&'static str> {
        let index = self
            .values
            .binary_search_by_key(&value, |(value, _)| *value)
            .ok()?;
        self.values.get(index).map(|(_, name)| *name)
    }

    /// Returns the value with this name.
    pub fn value_of(&self, name: &str) -> Option<i32> {
        self.values
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(value, _)| *value)
    }
}

/// Declares structures: the NodeIds of DataType and `Default Binary` encoding; of each field its name in the standard,
/// its name in Rust, and its type.
macro_rules! structure {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $type_id:literal, $binary:literal {
            $($standard:literal $field:ident: $field_type:ty,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $(#[doc = concat!("`", $standard, "`")] pub $field: $field_type,)*
        }

        $crate::generated_support::structure_ids!($name, $type_id, $binary);

        impl $crate::binary::Encode for $name {
            fn encode(&self, encoder: &mut $crate::binary::Encoder<'_>) -> Result<(), $crate::binary::EncodeError> {
                $($crate::binary::Encode::encode(&self.$field, encoder)?;)*
                Ok(())
            }
        }

        impl<'a> $crate::binary::Decode<'a> for $name {
            const MIN_SIZE: usize = 0 $(+ <$field_type as $crate::binary::Decode<'a>>::MIN_SIZE)*;

            fn decode(decoder: &mut $crate::binary::Decoder<'a>) -> Result<Self, $crate::binary::DecodeError> {
                Ok(Self { $($field: $crate::binary::Decode::decode_field(decoder)?,)* })
            }

            fn skip(decoder: &mut $crate::binary::Decoder<'a>) -> Result<(), $crate::binary::DecodeError> {
                $(<$field_type as $crate::binary::Decode<'a>>::skip(decoder)?;)*
                Ok(())
            }
        }
    )*};
}

/// Declares a structure with optional fields: mandatory ones as in `structure!`, optional ones with the number of
/// their bit in the encoding mask (OPC 10000-6, 5.2.7).
macro_rules! structure_with_optional_fields {
    (
        $(#[doc = $doc:literal])*
        $name:ident = $type_id:literal, $binary:literal {
            $($standard:literal $field:ident: $field_type:ty $(= $bit:literal)?,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $(
                #[doc = concat!("`", $standard, "`")]
                pub $field: $crate::generated_support::optional!(@type $field_type $(, $bit)?),
            )*
        }

        $crate::generated_support::structure_ids!($name, $type_id, $binary);

        impl $crate::binary::Encode for $name {
            fn encode(&self, encoder: &mut $crate::binary::Encoder<'_>) -> Result<(), $crate::binary::EncodeError> {
                let mut mask = 0u32;
                $($crate::generated_support::optional!(@mark self.$field, mask $(, $bit)?);)*
                encoder.u32(mask)?;
                $($crate::generated_support::optional!(@encode self.$field, encoder $(, $bit)?);)*
                Ok(())
            }
        }

        impl<'a> $crate::binary::Decode<'a> for $name {
            const MIN_SIZE: usize = 4;

            fn decode(decoder: &mut $crate::binary::Decoder<'a>) -> Result<Self, $crate::binary::DecodeError> {
                let mask = decoder.u32()?;
                Ok(Self { $($field: $crate::generated_support::optional!(@decode decoder, mask $(, $bit)?),)* })
            }
        }
    };
}

/// The parts of `structure_with_optional_fields!` that differ between a mandatory and an optional field.
macro_rules! optional {
    (@type $field_type:ty) => { $field_type };
    (@type $field_type:ty, $bit:literal) => { Option<$field_type> };
    (@mark $field:expr, $mask:ident) => {};
    (@mark $field:expr, $mask:ident, $bit:literal) => { $mask |= u32::from($field.is_some()) << $bit };
    (@encode $field:expr, $encoder:ident) => { $crate::binary::Encode::encode(&$field, $encoder)? };
    (@encode $field:expr, $encoder:ident, $bit:literal) => {
        if let Some(value) = &$field {
            $crate::binary::Encode::encode(value, $encoder)?;
        }
    };
    (@decode $decoder:ident, $mask:ident) => { $crate::binary::Decode::decode_field($decoder)? };
    (@decode $decoder:ident, $mask:ident, $bit:literal) => {
        if $mask & (1 << $bit) != 0 { Some($crate::binary::Decode::decode_field($decoder)?) } else { None }
    };
}

/// Implements [`Structure`](crate::Structure).
macro_rules! structure_ids {
    ($name:ident, $type_id:literal, $binary:literal) => {
        impl $crate::Structure for $name {
            const TYPE_ID: u32 = $type_id;
            const BINARY_ENCODING_ID: u32 = $binary;
            const NAME: &'static str = stringify!($name);
        }
    };
}

/// Declares borrowed forms of structures: the same encoding, decoded without an allocation.
macro_rules! view {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $owned:ident {
            $($standard:literal $field:ident: $field_type:ty,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name<'a> {
            $(#[doc = concat!("`", $standard, "`")] pub $field: $field_type,)*
        }

        impl $name<'_> {
            /// NodeId of the DataType.
            pub const TYPE_ID: u32 = <$owned as $crate::Structure>::TYPE_ID;
            /// NodeId of the `Default Binary` encoding.
            pub const BINARY_ENCODING_ID: u32 = <$owned as $crate::Structure>::BINARY_ENCODING_ID;
        }

        impl $crate::binary::Encode for $name<'_> {
            #[inline]
            fn encode(&self, encoder: &mut $crate::binary::Encoder<'_>) -> Result<(), $crate::binary::EncodeError> {
                $($crate::binary::Encode::encode(&self.$field, encoder)?;)*
                Ok(())
            }
        }

        impl<'a> $crate::binary::Decode<'a> for $name<'a> {
            const MIN_SIZE: usize = <$owned as $crate::binary::Decode<'a>>::MIN_SIZE;

            #[inline]
            fn decode(decoder: &mut $crate::binary::Decoder<'a>) -> Result<Self, $crate::binary::DecodeError> {
                Ok(Self { $($field: $crate::binary::Decode::decode(decoder)?,)* })
            }

            #[inline]
            fn skip(decoder: &mut $crate::binary::Decoder<'a>) -> Result<(), $crate::binary::DecodeError> {
                $(<$field_type as $crate::binary::Decode<'a>>::skip(decoder)?;)*
                Ok(())
            }
        }
    )*};
}

/// Declares enumerations: open to values that the standard does not know (a later version's, or a foreign peer's).
macro_rules! enumeration {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $type_id:literal {
            $($value_name:ident = $value:literal,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub i32);

        impl $name {
            /// NodeId of the DataType.
            pub const TYPE_ID: u32 = $type_id;
            $(#[doc = concat!("`", stringify!($value_name), "`")] pub const $value_name: Self = Self($value);)*

            /// Name of the value in the standard, `None` if it has none.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($value_name)),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => formatter.write_str(name),
                    None => write!(formatter, "{}({})", stringify!($name), self.0),
                }
            }
        }

        impl From<$name> for i32 {
            fn from(value: $name) -> i32 {
                value.0
            }
        }

        impl $crate::binary::Encode for $name {
            fn encode(&self, encoder: &mut $crate::binary::Encoder<'_>) -> Result<(), $crate::binary::EncodeError> {
                encoder.i32(self.0)
            }
        }

        impl<'a> $crate::binary::Decode<'a> for $name {
            const MIN_SIZE: usize = 4;

            fn decode(decoder: &mut $crate::binary::Decoder<'a>) -> Result<Self, $crate::binary::DecodeError> {
                decoder.i32().map(Self)
            }
        }
    )*};
}

/// Declares option sets: the bits of an unsigned integer, as constants of that integer's type.
macro_rules! option_set {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $integer:ty = $type_id:literal {
            $($bit_name:ident = $value:literal,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {}

        impl $name {
            /// NodeId of the DataType.
            pub const TYPE_ID: u32 = $type_id;
            $(#[doc = concat!("`", stringify!($bit_name), "`")] pub const $bit_name: $integer = $value;)*
        }
    )*};
}

pub(crate) use {
    enumeration, option_set, optional, structure, structure_ids, structure_with_optional_fields,
    view,
};
