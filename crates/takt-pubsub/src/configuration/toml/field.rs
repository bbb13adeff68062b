//! Fields of DataSets: their metadata (OPC 10000-14, 6.2.3.2), their sources in a Publisher (OPC 10000-14, 6.2.3.7), and their
//! targets in a Subscriber (OPC 10000-14, 6.2.10.2).

use serde::{Deserialize, Serialize};
use takt_ua::enumerations::OverrideValueHandling;
use takt_ua::structures::{FieldMetaData, FieldTargetDataType, PublishedVariableDataType};
use takt_ua::{BuiltInType, Guid, NodeId, QualifiedName, Variant};
use toml::{Spanned, Value};

use super::data_type::{Attribute, BuiltIn, DataType, VALUE};
use super::mask::{DataSetFieldFlags, Mask};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{
    Enumeration, Localized, Milliseconds, Text, is_default, read_string, write_string,
};
use super::value::{read_variant, write_variant};

/// Field of a DataSet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Field {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_type: Option<Spanned<DataType>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    built_in_type: Option<BuiltIn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_rank: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array_dimensions: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "is_default")]
    max_string_length: u32,
    #[serde(skip_serializing_if = "is_default")]
    description: Localized,
    #[serde(skip_serializing_if = "Option::is_none")]
    field_flags: Option<Mask<DataSetFieldFlags>>,
    #[serde(skip_serializing_if = "is_default")]
    data_set_field_id: Text<Guid>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<Property>,

    // PublishedVariableDataType
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) published_variable: Option<Text<NodeId>>,
    #[serde(skip_serializing_if = "is_default")]
    sampling_interval_hint: Milliseconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadband_type: Option<Enumeration<{ takt_ua::enumerations::DeadbandType::TYPE_ID }>>,
    #[serde(skip_serializing_if = "is_default")]
    deadband_value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_range: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    substitute_value: Option<Spanned<Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    meta_data_properties: Vec<Text<QualifiedName>>,

    // FieldTargetDataType
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target_node_id: Option<Text<NodeId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receiver_index_range: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_index_range: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_value_handling: Option<Enumeration<{ OverrideValueHandling::TYPE_ID }>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_value: Option<Spanned<Value>>,

    // Keys of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    attribute_id: Option<Attribute>,
}

fn spanned<T>(value: T) -> Spanned<T> {
    // Only what was read has a place in a text.
    Spanned::new(0..0, value)
}

impl Field {
    pub(super) fn meta_data(&self) -> Result<FieldMetaData, Problem> {
        let (built_in, id, dimensions) = match &self.data_type {
            None => (0, NodeId::NULL, &[][..]),
            Some(data_type) => match data_type.get_ref() {
                DataType::BuiltIn(built_in, dimensions) => {
                    let id = NodeId::numeric(0, *built_in as u32);
                    (*built_in as u8, id, dimensions.as_slice())
                }
                DataType::Node(id) if self.built_in_type.is_some() => (0, id.clone(), &[][..]),
                DataType::Node(_) => {
                    let message = "a DataType that is not a built-in type needs a built_in_type for its encoding";
                    return Err(Problem::new(message, data_type.span()));
                }
            },
        };
        let rank = if dimensions.is_empty() {
            -1
        } else {
            dimensions.len() as i32
        };
        // Dimensions of unknown length are not listed.
        let known = dimensions.iter().any(|length| *length != 0);
        let dimensions = if known {
            dimensions.to_vec()
        } else {
            Vec::new()
        };
        Ok(FieldMetaData {
            name: read_string(self.name.clone()),
            description: self.description.0.clone(),
            field_flags: self.field_flags.map_or(0, |mask| mask.0 as u16),
            built_in_type: self.built_in_type.map_or(built_in, |said| said.0),
            data_type: id,
            value_rank: self.value_rank.unwrap_or(rank),
            array_dimensions: self.array_dimensions.clone().unwrap_or(dimensions),
            max_string_length: self.max_string_length,
            data_set_field_id: self.data_set_field_id.0,
            properties: read_properties(self.properties.clone()),
        })
    }

    pub(super) fn of_meta_data(field: &FieldMetaData) -> Self {
        let mut written = Self {
            name: write_string(&field.name),
            max_string_length: field.max_string_length,
            description: Localized(field.description.clone()),
            field_flags: Mask::unless(field.field_flags.into(), 0),
            data_set_field_id: Text(field.data_set_field_id),
            properties: write_properties(&field.properties),
            ..Self::default()
        };
        let rank = usize::try_from(field.value_rank).unwrap_or(0);
        let mut dimensions = field.array_dimensions.clone();
        // A file may have any ValueRank, and must not cause a list of millions of dimensions.
        if dimensions.is_empty() && rank < 16 {
            dimensions = vec![0; rank];
        }
        let built_in = BuiltInType::from_u8(field.built_in_type);
        written.data_type =
            built_in.map(|built_in| spanned(DataType::BuiltIn(built_in, dimensions)));
        // The short form, if the same field is read from it.
        if written.meta_data().is_ok_and(|read| read == *field) {
            return written;
        }
        let node = DataType::Node(field.data_type.clone());
        Self {
            data_type: Some(spanned(node)),
            built_in_type: Some(BuiltIn(field.built_in_type)),
            value_rank: (field.value_rank != -1).then_some(field.value_rank),
            array_dimensions: (!field.array_dimensions.is_empty())
                .then(|| field.array_dimensions.clone()),
            ..written
        }
    }

    fn value(&self, value: Option<&Spanned<Value>>) -> Result<Variant, Problem> {
        let Some(value) = value else {
            return Ok(Variant::Empty);
        };
        let expected = self.expected_type()?;
        read_variant(value.get_ref(), expected)
            .map_err(|message| Problem::new(message, value.span()))
    }

    fn expected_type(&self) -> Result<BuiltInType, Problem> {
        let built_in = self.meta_data()?.built_in_type;
        Ok(BuiltInType::from_u8(built_in).unwrap_or(BuiltInType::Variant))
    }

    fn write_value(&self, value: &Variant) -> Option<Spanned<Value>> {
        let expected = self.expected_type().unwrap_or(BuiltInType::Variant);
        (!value.is_empty()).then(|| spanned(write_variant(value, expected)))
    }

    pub(super) fn variable(&self, id: &NodeId) -> Result<PublishedVariableDataType, Problem> {
        Ok(PublishedVariableDataType {
            published_variable: id.clone(),
            attribute_id: self.attribute_id.unwrap_or(VALUE).0,
            sampling_interval_hint: self.sampling_interval_hint.0,
            deadband_type: self.deadband_type.map_or(0, |it| it.0 as u32),
            deadband_value: self.deadband_value,
            index_range: read_string(self.index_range.clone()),
            substitute_value: self.value(self.substitute_value.as_ref())?,
            meta_data_properties: self
                .meta_data_properties
                .iter()
                .map(|name| name.0.clone())
                .collect(),
        })
    }

    pub(super) fn set_variable(&mut self, variable: &PublishedVariableDataType) {
        let deadband =
            (variable.deadband_type != 0).then_some(Enumeration(variable.deadband_type as i32));
        self.published_variable = Some(Text(variable.published_variable.clone()));
        self.attribute_id = Attribute::unless_value(variable.attribute_id);
        self.sampling_interval_hint = Milliseconds(variable.sampling_interval_hint);
        self.deadband_type = deadband;
        self.deadband_value = variable.deadband_value;
        self.index_range = write_string(&variable.index_range);
        self.substitute_value = self.write_value(&variable.substitute_value);
        let names = variable.meta_data_properties.iter().cloned();
        self.meta_data_properties = names.map(Text).collect();
    }

    pub(super) fn target(&self, id: &NodeId) -> Result<FieldTargetDataType, Problem> {
        Ok(FieldTargetDataType {
            data_set_field_id: self.data_set_field_id.0,
            receiver_index_range: read_string(self.receiver_index_range.clone()),
            target_node_id: id.clone(),
            attribute_id: self.attribute_id.unwrap_or(VALUE).0,
            write_index_range: read_string(self.write_index_range.clone()),
            override_value_handling: OverrideValueHandling(
                self.override_value_handling
                    .map_or(0, |handling| handling.0),
            ),
            override_value: self.value(self.override_value.as_ref())?,
        })
    }

    pub(super) fn set_target(&mut self, target: &FieldTargetDataType) {
        let handling = target.override_value_handling;
        self.target_node_id = Some(Text(target.target_node_id.clone()));
        self.attribute_id = Attribute::unless_value(target.attribute_id);
        self.receiver_index_range = write_string(&target.receiver_index_range);
        self.write_index_range = write_string(&target.write_index_range);
        self.override_value_handling = (handling.0 != 0).then_some(Enumeration(handling.0));
        self.override_value = self.write_value(&target.override_value);
    }

    /// Gives the field an id, by which its target names it.
    pub(super) fn identify(&mut self, index: usize) {
        if self.data_set_field_id.0 == Guid::default() {
            // From 1 on, because the Guid of 0 means that there is no id.
            let number = (index as u64 + 1).to_be_bytes();
            self.data_set_field_id.0 = Guid {
                data4: number,
                ..Guid::default()
            };
        }
    }

    /// Returns an error if a key is set without the key that it needs: some are for published fields only, others for targets.
    pub(super) fn stray_key(&self) -> Option<&'static str> {
        let published = self.published_variable.is_some();
        let target = self.target_node_id.is_some();
        let of_variable = self.substitute_value.is_some()
            || self.deadband_type.is_some()
            || self.deadband_value != 0.0
            || self.index_range.is_some()
            || !self.meta_data_properties.is_empty()
            || self.sampling_interval_hint.0 != 0.0;
        let of_target = self.override_value.is_some()
            || self.override_value_handling.is_some()
            || self.receiver_index_range.is_some()
            || self.write_index_range.is_some();
        if of_variable && !published {
            return Some("parameters of sampling need a published_variable");
        }
        if of_target && !target {
            return Some("parameters of writing need a target_node_id");
        }
        (self.attribute_id.is_some() && !published && !target)
            .then_some("attribute_id needs a published_variable or a target_node_id")
    }
}
