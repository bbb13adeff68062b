//! Resolution of a DataType to the built-in type of its values (OPC 10000-6, 5.1.2).

use takt_ua::enumerations::BrowseDirection;
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant, ids};

use super::{Attribute, Client, Follow};
use crate::error::ClientError;

/// Largest depth of a DataType tree. Real trees are shallow; a deeper one contains a loop.
const DEEPEST: usize = 50;

/// Type of a Variable's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueType {
    /// DataType of the Variable.
    pub data_type: NodeId,
    /// Built-in type of the values; `None` if several are possible (BaseDataType, Number, …).
    pub built_in_type: Option<BuiltInType>,
    /// ValueRank (OPC 10000-3, 5.6.2).
    pub value_rank: i32,
}

impl Client {
    /// Returns the DataType and ValueRank of the Variable `node`.
    pub fn value_type(&mut self, node: &NodeId) -> Result<ValueType, ClientError> {
        let declared = self.value_type_as_declared(node)?;
        Ok(ValueType {
            built_in_type: self.built_in_type(&declared.data_type)?,
            ..declared
        })
    }

    /// Returns the DataType and ValueRank of the Variable `node`, without a search for the built-in type.
    pub fn value_type_as_declared(&mut self, node: &NodeId) -> Result<ValueType, ClientError> {
        let attributes = self.read_attributes(&[
            (node.clone(), Attribute::DataType),
            (node.clone(), Attribute::ValueRank),
        ])?;
        let status = attributes[0].status_code();
        if status.is_bad() {
            return Err(ClientError::operation(node, status));
        }
        let Some(Variant::NodeId(data_type)) = &attributes[0].value else {
            return Err(self.protocol(format!("the DataType of {node} is not a NodeId")));
        };
        let value_rank = match attributes[1].value {
            Some(Variant::Int32(rank)) => rank,
            _ => -1,
        };
        let data_type = NodeId::clone(data_type);
        Ok(ValueType {
            built_in_type: None,
            data_type,
            value_rank,
        })
    }

    /// Returns the built-in type at the root of `data_type`; `None` where values of several built-in types are allowed.
    pub fn built_in_type(
        &mut self,
        data_type: &NodeId,
    ) -> Result<Option<BuiltInType>, ClientError> {
        let mut current = data_type.clone();
        let supertype = Follow {
            reference_type: NodeId::numeric(0, ids::HAS_SUBTYPE),
            direction: BrowseDirection::Inverse,
        };
        for _ in 0..DEEPEST {
            match current.standard_id() {
                Some(ids::BASE_DATA_TYPE | ids::NUMBER | ids::INTEGER | ids::UINTEGER) => {
                    return Ok(None);
                }
                Some(ids::ENUMERATION) => return Ok(Some(BuiltInType::Int32)),
                Some(id) => {
                    // The identifier of a built-in type is its number (OPC 10000-6, 5.1.2).
                    if let Some(built_in) = u8::try_from(id).ok().and_then(BuiltInType::from_u8) {
                        return Ok(Some(built_in));
                    }
                }
                None => {}
            }
            current = match self.browse(&current, &supertype)?.into_iter().next() {
                Some(reference) => reference.node_id.node_id,
                None => {
                    return Err(ClientError::operation(
                        format!("DataType {data_type}"),
                        StatusCode::BadDataTypeIdUnknown,
                    ));
                }
            };
        }
        Err(self.protocol(format!(
            "the chain of supertypes of DataType {data_type} does not end"
        )))
    }
}
