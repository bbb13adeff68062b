//! The null value of a Variable: that of its DataType and ValueRank.

use takt_ua::BuiltInType;

use super::node::VariableRef;
use super::types::Expected;
use super::view::View;

/// Encoded arrays without elements (OPC 10000-6, 5.2.2.16), by their built-in type.
static EMPTY_ARRAYS: [[u8; 5]; 26] = {
    let mut arrays = [[0; 5]; 26];
    let mut built_in_type = 0;
    while built_in_type < arrays.len() {
        // All built-in types are below 26.
        arrays[built_in_type][0] = 0x80 | built_in_type as u8;
        built_in_type += 1;
    }
    arrays
};

impl View<'_> {
    /// Returns the encoded Variant with the null value of a Variable: false, 0, or nothing; for an array, no elements.
    pub fn null_value(&self, variable: &VariableRef<'_>) -> &'static [u8] {
        match Expected::of(self, variable.data_type) {
            Expected::Exact(built_in_type) if variable.value_rank >= 0 => EMPTY_ARRAYS
                .get(built_in_type as usize)
                .map_or(&[0], |array| array.as_slice()),
            Expected::Exact(built_in_type) => scalar(built_in_type),
            _ => &[0],
        }
    }
}

/// Returns the encoded null value of a built-in type (OPC 10000-6, 5.2.2).
fn scalar(built_in_type: BuiltInType) -> &'static [u8] {
    match built_in_type {
        BuiltInType::Boolean => &[1, 0],
        BuiltInType::SByte => &[2, 0],
        BuiltInType::Byte => &[3, 0],
        BuiltInType::Int16 => &[4, 0, 0],
        BuiltInType::UInt16 => &[5, 0, 0],
        BuiltInType::Int32 => &[6, 0, 0, 0, 0],
        BuiltInType::UInt32 => &[7, 0, 0, 0, 0],
        BuiltInType::Int64 => &[8, 0, 0, 0, 0, 0, 0, 0, 0],
        BuiltInType::UInt64 => &[9, 0, 0, 0, 0, 0, 0, 0, 0],
        BuiltInType::Float => &[10, 0, 0, 0, 0],
        BuiltInType::Double => &[11, 0, 0, 0, 0, 0, 0, 0, 0],
        BuiltInType::String => &[12, 0xFF, 0xFF, 0xFF, 0xFF],
        BuiltInType::DateTime => &[13, 0, 0, 0, 0, 0, 0, 0, 0],
        BuiltInType::Guid => &[14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        BuiltInType::ByteString => &[15, 0xFF, 0xFF, 0xFF, 0xFF],
        BuiltInType::XmlElement => &[16, 0xFF, 0xFF, 0xFF, 0xFF],
        BuiltInType::NodeId => &[17, 0, 0],
        BuiltInType::ExpandedNodeId => &[18, 0, 0],
        BuiltInType::StatusCode => &[19, 0, 0, 0, 0],
        BuiltInType::QualifiedName => &[20, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
        BuiltInType::LocalizedText => &[21, 0],
        BuiltInType::ExtensionObject => &[22, 0, 0, 0],
        BuiltInType::DataValue => &[23, 0],
        _ => &[0],
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::Variant;
    use takt_ua::binary::{Decode, Decoder};

    use super::*;

    #[test]
    fn null_values_are_of_their_type() {
        for built_in_type in (1..=23).filter_map(BuiltInType::from_u8) {
            let decode = |encoded: &'static [u8]| {
                let mut decoder = Decoder::new(encoded);
                let value = Variant::decode(&mut decoder).unwrap();
                assert_eq!(decoder.remaining(), 0, "{built_in_type:?}");
                value
            };
            let value = decode(scalar(built_in_type));
            assert_eq!(value.built_in_type(), Some(built_in_type));
            assert!(!value.is_array());
            let empty = decode(&EMPTY_ARRAYS[built_in_type as usize]);
            assert_eq!(empty.built_in_type(), Some(built_in_type));
            assert_eq!(empty.array_dimensions(), Some(vec![0]));
        }
    }
}
