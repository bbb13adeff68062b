// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-3.

use crate::generated::enumerations::StructureType;
use crate::generated_support::structure;
use crate::{ByteString, LocalizedText, NodeId, UaString};

structure! {
    /// DataType `Argument`, `i=296`, OPC 10000-3, 8.6.
    Argument = 296, 298 {
        "Name" name: UaString,
        "DataType" data_type: NodeId,
        "ValueRank" value_rank: i32,
        "ArrayDimensions" array_dimensions: Vec<u32>,
        "Description" description: LocalizedText,
    }

    /// DataType `CurrencyUnitType`, `i=23498`, OPC 10000-3, 8.61.
    CurrencyUnitType = 23498, 23507 {
        "NumericCode" numeric_code: i16,
        "Exponent" exponent: i8,
        "AlphabeticCode" alphabetic_code: UaString,
        "Currency" currency: LocalizedText,
    }

    /// DataType `EnumDefinition`, `i=100`, OPC 10000-3, 8.50.
    EnumDefinition = 100, 123 {
        "Fields" fields: Vec<EnumField>,
    }

    /// DataType `EnumField`, `i=102`, OPC 10000-3, 8.52.
    EnumField = 102, 14845 {
        "Value" value: i64,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
        "Name" name: UaString,
    }

    /// DataType `EnumValueType`, `i=7594`, OPC 10000-3, 8.39.
    EnumValueType = 7594, 8251 {
        "Value" value: i64,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
    }

    /// Abstract DataType `OptionSet`, `i=12755`, OPC 10000-3, 8.40.
    OptionSet = 12755, 12765 {
        "Value" value: ByteString,
        "ValidBits" valid_bits: ByteString,
    }

    /// DataType `RolePermissionType`, `i=96`, OPC 10000-3, 5.2.9.
    RolePermissionType = 96, 128 {
        "RoleId" role_id: NodeId,
        "Permissions" permissions: u32,
    }

    /// DataType `StructureDefinition`, `i=99`, OPC 10000-3, 8.48.
    StructureDefinition = 99, 122 {
        "DefaultEncodingId" default_encoding_id: NodeId,
        "BaseDataType" base_data_type: NodeId,
        "StructureType" structure_type: StructureType,
        "Fields" fields: Vec<StructureField>,
    }

    /// DataType `StructureField`, `i=101`, OPC 10000-3, 8.51.
    StructureField = 101, 14844 {
        "Name" name: UaString,
        "Description" description: LocalizedText,
        "DataType" data_type: NodeId,
        "ValueRank" value_rank: i32,
        "ArrayDimensions" array_dimensions: Vec<u32>,
        "MaxStringLength" max_string_length: u32,
        "IsOptional" is_optional: bool,
    }

    /// DataType `TimeZoneDataType`, `i=8912`, OPC 10000-3, 8.28.
    TimeZoneDataType = 8912, 8917 {
        "Offset" offset: i16,
        "DaylightSavingInOffset" daylight_saving_in_offset: bool,
    }
}
