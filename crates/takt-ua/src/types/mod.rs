//! The built-in types (OPC 10000-6, 5.1.2), owned and borrowed.

mod array;
mod array_ref;
mod array_ref_codec;
mod as_variant;
mod built_in_type;
mod data_value;
mod date_time;
mod diagnostic_info;
mod elements;
mod encoding_mask;
mod expanded_node_id;
mod extension_object;
pub(crate) mod extent;
mod guid;
mod localized_text;
mod node_id;
mod node_id_codec;
mod node_id_text;
mod numeric_range;
mod qualified_name;
mod structure;
mod text;
#[cfg(test)]
mod text_tests;
mod value;
mod variant;
mod variant_convert;
mod variant_ref;

pub use array_ref::{ArrayRef, Scalars};
pub use as_variant::AsVariant;
pub use built_in_type::BuiltInType;
pub use data_value::DataValue as DataValueOf;
pub use date_time::{DateTime, ParseDateTimeError};
pub use diagnostic_info::DiagnosticInfo;
pub use expanded_node_id::{ExpandedNodeId, ExpandedNodeIdRef};
pub use extension_object::{
    ExtensionObject, ExtensionObjectBody, ExtensionObjectBodyRef, ExtensionObjectRef,
};
pub use guid::{Guid, ParseGuidError};
pub use localized_text::{LocalizedText, LocalizedTextRef};
pub use node_id::{Identifier, IdentifierRef, NodeId, NodeIdRef};
pub use node_id_text::ParseNodeIdError;
pub use numeric_range::{NumericRange, ParseNumericRangeError};
pub use qualified_name::{ParseQualifiedNameError, QualifiedName, QualifiedNameRef};
pub use structure::Structure;
pub use text::{ByteString, UaString, XmlElement};
pub use value::{Array, DataValue, Elements, Variant};
pub use variant_convert::WrongType;
pub use variant_ref::{DataValueRef, VariantRef};
