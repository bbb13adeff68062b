//! DataTypes of older servers, which have no DataTypeDefinition, and of OptionSets.

use takt_ua::enumerations::StructureType;
use takt_ua::structures::{
    EnumDefinition, EnumDescription, EnumField, EnumValueType, StructureDefinition,
    StructureDescription, StructureField,
};
use takt_ua::{BuiltInType, Elements, LocalizedText, NodeId, QualifiedName, Variant, ids};

use super::cache::DataTypeCache;
use crate::client::answer_budget::AnswerBudget;
use crate::client::attributes::AttributeServices;
use crate::client::requests::Requests;
use crate::client::views::{Follow, ViewServices};
use crate::error::ClientError;

/// Learns DataTypes without DataTypeDefinition.
pub(super) trait OlderDefinitions: Requests + Sized {
    /// Learns an enumeration from its Property EnumStrings or EnumValues (OPC 10000-3, 5.8.3).
    async fn learn_older_enumeration(
        &mut self,
        cache: &mut DataTypeCache,
        data_type: &NodeId,
        name: QualifiedName,
        budget: &mut AnswerBudget,
    ) -> Result<(), ClientError> {
        let follow = Follow::forward(ids::HAS_PROPERTY);
        let node = std::slice::from_ref(data_type);
        let mut found = self.browse_many_within(node, &follow, budget).await?;
        let properties = found.pop().and_then(Result::ok).unwrap_or_default();
        let is_named = |name: &str| ["EnumStrings", "EnumValues"].contains(&name);
        let mut properties = properties.iter();
        let property = properties.find(|it| is_named(it.browse_name.name.as_str()));
        let fields = match property {
            Some(property) => {
                let value = AttributeServices::read(self, &property.node_id.node_id).await?;
                fields(value.value.unwrap_or_default())
            }
            None => Vec::new(),
        };
        if fields.is_empty() {
            // Its values are numbers.
            cache.insert_simple(data_type, BuiltInType::Int32);
            return Ok(());
        }
        let description = EnumDescription {
            data_type_id: data_type.clone(),
            name,
            enum_definition: EnumDefinition { fields },
            built_in_type: BuiltInType::Int32 as u8,
        };
        cache.insert_enumeration(self.endpoint(), &description);
        Ok(())
    }

    /// Learns a structure that only a dictionary describes (OPC 10000-5, Annex D).
    async fn learn_older_structure(
        &mut self,
        cache: &mut DataTypeCache,
        data_type: &NodeId,
        reason: String,
    ) -> Result<(), ClientError> {
        cache.refuse(data_type, reason);
        Ok(())
    }
}

impl<C: Requests> OlderDefinitions for C {}

/// Returns the values of EnumStrings or EnumValues.
fn fields(value: Variant) -> Vec<EnumField> {
    let field = |value: i64, name: LocalizedText| EnumField {
        value,
        name: name.text.clone(),
        display_name: name,
        ..EnumField::default()
    };
    let Variant::Array(array) = value else {
        return Vec::new();
    };
    match array.elements {
        Elements::LocalizedText(names) => {
            let names = (0_i64..).zip(names);
            names.map(|(value, name)| field(value, name)).collect()
        }
        Elements::ExtensionObject(objects) => {
            let values = objects.iter().filter_map(|it| it.decode_as().ok());
            let field = |it: EnumValueType| field(it.value, it.display_name);
            values.map(field).collect()
        }
        _ => Vec::new(),
    }
}

/// Describes a subtype of the structure OptionSet (OPC 10000-3, 8.40): its DataTypeDefinition has only the names of the bits.
pub(super) fn option_set_structure(
    data_type: &NodeId,
    name: &QualifiedName,
) -> StructureDescription {
    let bytes = |name: &str| StructureField {
        name: name.into(),
        data_type: NodeId::numeric(0, BuiltInType::ByteString as u32),
        value_rank: -1,
        ..StructureField::default()
    };
    StructureDescription {
        data_type_id: data_type.clone(),
        name: name.clone(),
        structure_definition: StructureDefinition {
            structure_type: StructureType::Structure,
            fields: vec![bytes("Value"), bytes("ValidBits")],
            ..StructureDefinition::default()
        },
    }
}
