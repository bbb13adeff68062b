//! Namespaces of a file, and the indexes that refer to them.

use std::collections::HashSet;

use takt_ua::NodeId;
use takt_ua::structures::{
    DataSetMetaDataType, PublishedDataItemsDataType, TargetVariablesDataType,
};

use super::mistake::Place;
use super::tables::{CONNECTIONS, READER_GROUPS, READERS};
use crate::configuration::ConfigurationFile;

/// Namespace of OPC UA itself, with index 0.
const STANDARD: &str = "http://opcfoundation.org/UA/";

/// Checks the namespaces, and all indexes of NodeIds. A file without namespaces has those of its server.
pub(super) fn check(file: &mut Place<'_>, content: &ConfigurationFile) {
    let namespaces = &content.namespaces;
    let Some(first) = namespaces.first() else {
        return;
    };
    if first.as_str() != STANDARD {
        let what = format!("'{first}' has index 0, which is that of OPC UA itself");
        file.error(
            "namespaces",
            what,
            format!("Begin the list with \"{STANDARD}\""),
        );
    }
    let mut known = HashSet::new();
    for uri in namespaces {
        if uri.as_str().is_empty() {
            file.error("namespaces", "one is empty", "Write its URI");
        } else if !known.insert(uri.as_str()) {
            file.warning(
                "namespaces",
                format!("'{uri}' is there twice"),
                "Remove one",
            );
        }
    }
    let count = namespaces.len();
    let configuration = &content.configuration;
    for (index, data_set) in configuration.published_data_sets.iter().enumerate() {
        let mut place = file.entry("published_data_sets", data_set.name.as_str(), index);
        check_types(&mut place, count, &data_set.data_set_meta_data);
        let items: Option<PublishedDataItemsDataType> = data_set.data_set_source.decode_as().ok();
        for variable in items.iter().flat_map(|items| &items.published_data) {
            check_id(
                &mut place,
                "published_variable",
                count,
                &variable.published_variable,
            );
        }
    }
    for (index, connection) in configuration.connections.iter().enumerate() {
        let mut place = file.entry(CONNECTIONS, connection.name.as_str(), index);
        for (index, group) in connection.reader_groups.iter().enumerate() {
            let mut place = place.entry(READER_GROUPS, group.name.as_str(), index);
            for (index, reader) in group.data_set_readers.iter().enumerate() {
                let mut place = place.entry(READERS, reader.name.as_str(), index);
                check_types(&mut place, count, &reader.data_set_meta_data);
                let targets = reader.subscribed_data_set.decode_as();
                check_targets(&mut place, count, targets.ok());
            }
        }
    }
    for (index, data_set) in configuration.subscribed_data_sets.iter().enumerate() {
        let mut place = file.entry("subscribed_data_sets", data_set.name.as_str(), index);
        check_types(&mut place, count, &data_set.data_set_meta_data);
        check_targets(
            &mut place,
            count,
            data_set.subscribed_data_set.decode_as().ok(),
        );
    }
}

fn check_types(place: &mut Place<'_>, count: usize, meta_data: &DataSetMetaDataType) {
    // Metadata may have namespaces of its own.
    if meta_data.namespaces.is_empty() {
        for field in &meta_data.fields {
            check_id(place, "data_type", count, &field.data_type);
        }
    }
}

fn check_targets(place: &mut Place<'_>, count: usize, targets: Option<TargetVariablesDataType>) {
    for target in targets.iter().flat_map(|it| &it.target_variables) {
        check_id(place, "target_node_id", count, &target.target_node_id);
    }
}

fn check_id(place: &mut Place<'_>, key: &'static str, count: usize, id: &NodeId) {
    if usize::from(id.namespace) >= count {
        place.error(
            key,
            format!(
                "{id} has a namespace index that is not in `namespaces`, which ends with {}",
                count - 1
            ),
            "Add its URI to `namespaces`, or correct the index",
        );
    }
}
