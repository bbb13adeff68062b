//! PublishedDataSets, standalone SubscribedDataSets and SecurityGroups.

use takt_ua::UaString;
use takt_ua::structures::{
    PubSubConfiguration2DataType, PublishedDataItemsDataType, PublishedDataSetDataType,
    SecurityGroupDataType,
};

use super::fields;
use super::mistake::Place;
use super::readers::check_targets;
use super::values::{time, unique};
use crate::security::PubSubSecurityPolicy;

/// Checks the parts of a configuration that are not connections.
pub(super) fn check(file: &mut Place<'_>, configuration: &PubSubConfiguration2DataType) {
    let data_sets = &configuration.published_data_sets;
    let names = data_sets.iter().map(|data_set| data_set.name.as_str());
    unique(file, "published_data_sets", "name", names);
    for (index, data_set) in data_sets.iter().enumerate() {
        let mut place = file.entry("published_data_sets", data_set.name.as_str(), index);
        check_data_set(&mut place, data_set, configuration);
    }
    let standalone = &configuration.subscribed_data_sets;
    let names = standalone.iter().map(|data_set| data_set.name.as_str());
    unique(file, "subscribed_data_sets", "name", names);
    for (index, data_set) in standalone.iter().enumerate() {
        let mut place = file.entry("subscribed_data_sets", data_set.name.as_str(), index);
        let meta_data = &data_set.data_set_meta_data;
        let table = "subscribed_data_sets.fields";
        fields::check(&mut place, table, meta_data);
        check_targets(&mut place, table, meta_data, &data_set.subscribed_data_set);
    }
    let groups = &configuration.security_groups;
    let ids = groups.iter().map(|group| group.security_group_id.as_str());
    unique(file, "security_groups", "security_group_id", ids);
    for (index, group) in groups.iter().enumerate() {
        check_security_group(
            &mut file.entry("security_groups", group.name.as_str(), index),
            group,
        );
    }
}

fn check_data_set(
    place: &mut Place<'_>,
    data_set: &PublishedDataSetDataType,
    configuration: &PubSubConfiguration2DataType,
) {
    let name = &data_set.name;
    if name.as_str().is_empty() {
        place.error(
            "name",
            "is missing",
            "Give it the name that data_set_name refers to",
        );
    }
    let meta_data = &data_set.data_set_meta_data;
    if meta_data.fields.is_empty() {
        place.warning(
            "fields",
            "there are none",
            "Add fields with name, data_type and published_variable",
        );
    }
    let table = "published_data_sets.fields";
    fields::check(place, table, meta_data);
    let items: Option<PublishedDataItemsDataType> = data_set.data_set_source.decode_as().ok();
    let variables = items.map(|items| items.published_data).unwrap_or_default();
    for (index, (field, variable)) in meta_data.fields.iter().zip(&variables).enumerate() {
        let mut place = place.entry(table, field.name.as_str(), index);
        fields::check_variable(&mut place, field, variable);
    }
    for extension in &data_set.extension_fields {
        let named = extension.key.name.as_str();
        match meta_data
            .fields
            .iter()
            .position(|field| field.name.as_str() == named)
        {
            None => place.warning(
                "extension_fields",
                format!("there is no field '{named}', so the value is not sent"),
                "Add a field of this name, or remove it",
            ),
            Some(index) => {
                if let Some(field) = meta_data.fields.get(index) {
                    let mut place = place.entry(table, named, index);
                    fields::check_value(&mut place, "extension_fields", field, &extension.value);
                }
            }
        }
    }
    if !name.as_str().is_empty() && !is_published(name, configuration) {
        place.warning(
            "name",
            "no DataSetWriter publishes it",
            "Name it as data_set_name of a writer",
        );
    }
}

fn is_published(name: &UaString, configuration: &PubSubConfiguration2DataType) -> bool {
    let groups = configuration.connections.iter();
    let groups = groups.flat_map(|connection| &connection.writer_groups);
    groups
        .flat_map(|group| &group.data_set_writers)
        .any(|writer| writer.data_set_name == *name)
}

fn check_security_group(place: &mut Place<'_>, group: &SecurityGroupDataType) {
    if group.security_group_id.as_str().is_empty() {
        place.error(
            "security_group_id",
            "is missing",
            "Write the id that groups and readers name",
        );
    }
    let policy = group.security_policy_uri.as_str();
    if !policy.is_empty()
        && !PubSubSecurityPolicy::ALL
            .iter()
            .any(|known| known.uri() == policy)
    {
        let known = PubSubSecurityPolicy::ALL.map(PubSubSecurityPolicy::uri);
        place.error(
            "security_policy_uri",
            format!("'{policy}' is not supported"),
            format!("Use one of {}", known.join(" and ")),
        );
    }
    time(place, "key_lifetime", group.key_lifetime);
}
