// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-17.

use crate::generated::structures::PortableNodeId;
use crate::generated_support::structure;
use crate::{ExpandedNodeId, NodeId, QualifiedName, UaString};

structure! {
    /// DataType `AliasCategoryUpdateDataType`, `i=24052`, OPC 10000-17, D.2.1.
    AliasCategoryUpdateDataType = 24052, 24338 {
        "Category" category: PortableNodeId,
        "LastChange" last_change: u32,
    }

    /// DataType `AliasNameDataType`, `i=23468`, OPC 10000-17, 7.2.
    AliasNameDataType = 23468, 23499 {
        "AliasName" alias_name: QualifiedName,
        "ReferencedNodes" referenced_nodes: Vec<ExpandedNodeId>,
    }

    /// DataType `AliasNameVerboseDataType`, `i=24051`, OPC 10000-17, 7.3.
    AliasNameVerboseDataType = 24051, 24262 {
        "AliasName" alias_name: QualifiedName,
        "ReferencedNodes" referenced_nodes: Vec<ExpandedNodeId>,
        "ServerUris" server_uris: Vec<UaString>,
        "AliasNameCategoryId" alias_name_category_id: NodeId,
    }

    /// DataType `AliasUpdateDataType`, `i=24053`, OPC 10000-17, D.2.2.
    AliasUpdateDataType = 24053, 24339 {
        "ApplicationUri" application_uri: UaString,
        "Categories" categories: Vec<AliasCategoryUpdateDataType>,
    }
}
