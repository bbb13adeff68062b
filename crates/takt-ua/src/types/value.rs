//! Owned values that contain each other: Variant, array, elements and DataValue (OPC 10000-6, 5.2.2.16 and 5.2.2.17). Their functions
//! are in the modules that have their names.

use super::{
    ByteString, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject, Guid, LocalizedText,
    NodeId, QualifiedName, UaString, XmlElement, data_value,
};
use crate::StatusCode;

/// A value of any built-in type, or an array of them.
///
/// A Variant never directly contains a Variant; an array of Variants is an [`Array`] of them.
#[derive(Clone, PartialEq, Default)]
#[allow(missing_docs, reason = "the names are those of the built-in types")]
pub enum Variant {
    /// No value: null.
    #[default]
    Empty,
    Boolean(bool),
    SByte(i8),
    Byte(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float(f32),
    Double(f64),
    String(UaString),
    DateTime(DateTime),
    Guid(Guid),
    ByteString(ByteString),
    XmlElement(XmlElement),
    NodeId(Box<NodeId>),
    ExpandedNodeId(Box<ExpandedNodeId>),
    StatusCode(StatusCode),
    QualifiedName(Box<QualifiedName>),
    LocalizedText(Box<LocalizedText>),
    ExtensionObject(Box<ExtensionObject>),
    DataValue(Box<DataValue>),
    DiagnosticInfo(Box<DiagnosticInfo>),
    /// An array, or a matrix, of any of the types.
    Array(Box<Array>),
}

/// An array, or a matrix in row-major order (the last index runs fastest).
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The elements.
    pub elements: Elements,
    /// The length of each dimension, whose product is the number of elements; empty for one dimension.
    pub dimensions: Vec<u32>,
}

/// The elements of an array, all of one built-in type: typed and contiguous.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are those of the built-in types")]
pub enum Elements {
    Boolean(Vec<bool>),
    SByte(Vec<i8>),
    Byte(Vec<u8>),
    Int16(Vec<i16>),
    UInt16(Vec<u16>),
    Int32(Vec<i32>),
    UInt32(Vec<u32>),
    Int64(Vec<i64>),
    UInt64(Vec<u64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    String(Vec<UaString>),
    DateTime(Vec<DateTime>),
    Guid(Vec<Guid>),
    ByteString(Vec<ByteString>),
    XmlElement(Vec<XmlElement>),
    NodeId(Vec<NodeId>),
    ExpandedNodeId(Vec<ExpandedNodeId>),
    StatusCode(Vec<StatusCode>),
    QualifiedName(Vec<QualifiedName>),
    LocalizedText(Vec<LocalizedText>),
    ExtensionObject(Vec<ExtensionObject>),
    DataValue(Vec<DataValue>),
    Variant(Vec<Variant>),
    DiagnosticInfo(Vec<DiagnosticInfo>),
}

/// A value with its quality and its timestamps.
pub type DataValue = data_value::DataValue<Variant>;
