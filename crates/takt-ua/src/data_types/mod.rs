//! DataTypes that the standard does not define, as servers and metadata describe them (OPC 10000-3, 8.47 to 8.52).
//!
//! [`DescribedTypes`] is plain data: it says how values are encoded and named. The JSON form for people writes and reads values by
//! it ([`json::DescribedValues`](crate::json::DescribedValues), [`json::described_from_value`](crate::json::described_from_value)).
//! The standard's own DataTypes are always known.

mod described_types;
mod description;
mod shape;

pub use described_types::DescribedTypes;
pub(crate) use description::StructureKind;
pub(crate) use shape::{EnumerationShape, FieldShape, StructureShape, ValueShape};
