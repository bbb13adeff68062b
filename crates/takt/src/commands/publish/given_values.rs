//! Values of `takt publish --set NAME=VALUE`, checked before anything is published.

use std::collections::{BTreeSet, HashMap};

use takt_pubsub::publisher::PublishedField;
use takt_ua::structures::{
    DataSetMetaDataType, FieldMetaData, PubSubConfiguration2DataType, PublishedDataSetDataType,
};
use takt_ua::{BuiltInType, DescribedTypes, Variant};

use crate::commands::write::parse_as;
use crate::{explain, output};

/// Values of fields, by the names of DataSet and field.
#[derive(Default)]
pub(super) struct GivenValues(HashMap<(String, String), Variant>);

impl GivenValues {
    /// Returns the value of a field.
    pub(super) fn of(&self, field: &PublishedField<'_>) -> Option<&Variant> {
        self.0.get(&key(field.data_set, field.meta_data))
    }
}

fn key(data_set: &PublishedDataSetDataType, field: &FieldMetaData) -> (String, String) {
    (data_set.name.to_string(), field.name.to_string())
}

/// Returns the values of the options. Each has to be a value of all fields with its name.
pub(super) fn of(
    options: &[String],
    configuration: &PubSubConfiguration2DataType,
) -> miette::Result<GivenValues> {
    let data_sets = published(configuration);
    let mut values = HashMap::new();
    let mut names = BTreeSet::new();
    for option in options {
        let (name, text) = split(option)?;
        if !names.insert(name) {
            return Err(explain::with_help(
                format!("--set gives {} twice", output::printable(name)),
                "A field has one value: leave one of the two away.",
            ));
        }
        let mut is_known = false;
        for data_set in &data_sets {
            let meta_data = &data_set.data_set_meta_data;
            let fields = meta_data.fields.iter();
            for field in fields.filter(|field| field.name.as_str() == name) {
                is_known = true;
                let value = parsed(text, field, meta_data);
                let value = value.and_then(|value| check_length(&value, field).map(|()| value));
                let value = value.map_err(|error| {
                    error.wrap_err(format!(
                        "--set {} has a wrong value",
                        output::printable(name)
                    ))
                })?;
                values.insert(key(data_set, field), value);
            }
        }
        if !is_known {
            return Err(unknown(name, &data_sets));
        }
    }
    Ok(GivenValues(values))
}

fn split(option: &str) -> miette::Result<(&str, &str)> {
    let given = option.split_once('=').filter(|(name, _)| !name.is_empty());
    given.ok_or_else(|| {
        explain::with_help(
            format!("--set {} is not a value", output::printable(option)),
            "Write --set NAME=VALUE, for example --set Speed=1500.",
        )
    })
}

/// Returns the DataSets that DataSetWriters of the configuration publish.
fn published(configuration: &PubSubConfiguration2DataType) -> Vec<&PublishedDataSetDataType> {
    let groups = configuration.connections.iter();
    let groups = groups.flat_map(|connection| &connection.writer_groups);
    let writers = groups.flat_map(|group| &group.data_set_writers);
    let names: BTreeSet<&str> = writers
        .map(|writer| writer.data_set_name.as_str())
        .collect();
    let data_sets = configuration.published_data_sets.iter();
    data_sets
        .filter(|data_set| names.contains(data_set.name.as_str()))
        .collect()
}

/// Parses a value of a field: enumerations and structures by the description in its DataSet.
fn parsed(
    text: &str,
    field: &FieldMetaData,
    meta_data: &DataSetMetaDataType,
) -> miette::Result<Variant> {
    let types = DescribedTypes::from(meta_data);
    let rank = field.value_rank;
    let is_structure = types.built_in_type(&field.data_type) == Some(BuiltInType::ExtensionObject);
    if is_structure || types.is_enumeration(&field.data_type) {
        let value = takt_ua::json::parse_described(text, &types, &field.data_type, rank);
        return value.map_err(|error| {
            let name = types.name(&field.data_type);
            miette::miette!("`{}` is not {name}: {error}", output::printable(text))
        });
    }
    let built_in_type = BuiltInType::from_u8(field.built_in_type);
    // For any type, the form decides.
    let built_in_type = built_in_type.filter(|it| *it != BuiltInType::Variant);
    parse_as(text, built_in_type, rank)
}

/// Refuses an array that is longer than the field says: ArrayDimensions are greatest lengths, and 0 is an unknown one (OPC 10000-3,
/// 5.6.2).
fn check_length(value: &Variant, field: &FieldMetaData) -> miette::Result<()> {
    let (Variant::Array(array), &[most]) = (value, field.array_dimensions.as_slice()) else {
        return Ok(());
    };
    let fits = u32::try_from(array.len()).is_ok_and(|length| length <= most);
    match most == 0 || fits {
        true => Ok(()),
        false => Err(explain::with_help(
            format!(
                "the value has {} elements, the field at most {most}",
                array.len()
            ),
            "array_dimensions of the field in the configuration is its greatest length.",
        )),
    }
}

/// Explains that no field has a name.
fn unknown(name: &str, data_sets: &[&PublishedDataSetDataType]) -> miette::Report {
    /// Number of names that an advice shows.
    const SHOWN: usize = 12;

    let fields = data_sets
        .iter()
        .flat_map(|it| &it.data_set_meta_data.fields);
    let fields: BTreeSet<String> = fields
        .map(|field| output::printable(field.name.as_str()))
        .collect();
    let mut names: Vec<String> = fields.into_iter().collect();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    explain::with_help(
        format!(
            "--set {}: the configuration publishes no field of this name",
            output::printable(name)
        ),
        format!("Its fields are {}{more}.", names.join(", ")),
    )
}
