// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-22.

use crate::generated::enumerations::ManAddrIfSubtype;
use crate::generated_support::structure;
use crate::{ByteString, UaString};

structure! {
    /// DataType `LldpManagementAddressTxPortType`, `i=18953`, OPC 10000-22, 5.3.2.2.
    LldpManagementAddressTxPortType = 18953, 19079 {
        "AddressSubtype" address_subtype: u32,
        "ManAddress" man_address: UaString,
        "TxEnable" tx_enable: bool,
        "AddrLen" addr_len: u32,
        "IfSubtype" if_subtype: ManAddrIfSubtype,
        "IfId" if_id: u32,
    }

    /// DataType `LldpManagementAddressType`, `i=18954`, OPC 10000-22, 5.3.2.3.
    LldpManagementAddressType = 18954, 19080 {
        "AddressSubtype" address_subtype: u32,
        "Address" address: UaString,
        "IfSubtype" if_subtype: ManAddrIfSubtype,
        "IfId" if_id: u32,
    }

    /// DataType `LldpTlvType`, `i=18955`, OPC 10000-22, 5.3.2.4.
    LldpTlvType = 18955, 19081 {
        "TlvType" tlv_type: u32,
        "TlvInfo" tlv_info: ByteString,
    }

    /// DataType `PriorityMappingEntryType`, `i=25220`, OPC 10000-22, 5.3.2.1.
    PriorityMappingEntryType = 25220, 25239 {
        "MappingUri" mapping_uri: UaString,
        "PriorityLabel" priority_label: UaString,
        "PriorityValue_PCP" priority_value_pcp: u8,
        "PriorityValue_DSCP" priority_value_dscp: u32,
    }
}
