//! Check of a configuration before it runs: mistakes with table, entry and correction.
//!
//! [`check`] returns all of them. [`PubSub::start`](crate::runtime::PubSub::start) refuses a configuration with the first error
//! that needs no sources and targets; what those lack, it finds itself.

mod addresses;
mod authentication;
mod data_sets;
mod engines;
mod fields;
mod identities;
mod link_times;
mod mistake;
mod namespaces;
mod queues;
mod readers;
mod security;
mod sizes;
mod tables;
#[cfg(test)]
#[cfg(feature = "toml")]
mod tests;
mod values;
mod writers;

use takt_ua::structures::{
    PubSubConfiguration2DataType, PubSubConnectionDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};

pub use mistake::{ConfigurationMistake, MistakeSeverity};
pub(crate) use sizes::SECURITY;

use crate::configuration::ConfigurationFile;
use crate::link_times::RECEIVE_TIMES;
use mistake::Place;
use tables::CONNECTIONS;

/// Returns all mistakes in a file, in the order of its tables.
pub fn check(file: &ConfigurationFile) -> Vec<ConfigurationMistake> {
    let mut found = Vec::new();
    let mut place = Place::file(&mut found);
    namespaces::check(&mut place, file);
    check_parts(&mut place, &file.configuration, true);
    let mut once: Vec<ConfigurationMistake> = Vec::with_capacity(found.len());
    for mistake in found {
        if !once.contains(&mistake) {
            once.push(mistake);
        }
    }
    once
}

/// Returns the lengths in bytes of the NetworkMessages that a WriterGroup sends in one publishing interval: with headers and
/// signature, not divided into chunks, with the longest values that the metadata allows. `None` if the group cannot be made.
#[must_use]
pub fn message_lengths(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Option<Vec<usize>> {
    sizes::message_lengths(connection, group, data_sets)
}

/// Returns the first error of a configuration that need not be tried with sources and targets.
pub(crate) fn refuse(
    configuration: &PubSubConfiguration2DataType,
) -> Result<(), ConfigurationMistake> {
    let mut found = Vec::new();
    check_parts(&mut Place::file(&mut found), configuration, false);
    let error = |mistake: &ConfigurationMistake| mistake.severity == MistakeSeverity::Error;
    found.into_iter().find(error).map_or(Ok(()), Err)
}

/// Checks all tables; `tried`: also by making the writers and readers, and their messages.
fn check_parts(file: &mut Place<'_>, configuration: &PubSubConfiguration2DataType, tried: bool) {
    data_sets::check(file, configuration);
    let connections = &configuration.connections;
    let names = connections
        .iter()
        .map(|connection| connection.name.as_str());
    values::unique(file, CONNECTIONS, "name", names);
    for (index, connection) in connections.iter().enumerate() {
        let before = file.errors();
        let mut place = file.entry(CONNECTIONS, connection.name.as_str(), index);
        let address = addresses::check_connection(&mut place, connection);
        let properties = &connection.connection_properties;
        let known = [RECEIVE_TIMES];
        values::properties(&mut place, "connection_properties", properties, &known);
        link_times::check_receive_times(&mut place, connection, address.as_ref());
        writers::check(&mut place, connection, address.as_ref(), configuration);
        readers::check(&mut place, connection, address.as_ref(), configuration);
        if connection.writer_groups.is_empty() && connection.reader_groups.is_empty() {
            let what = "has neither writer_groups nor reader_groups";
            place.warning("writer_groups", what, "Add one, or remove the connection");
        }
        // What an engine refuses is a consequence of mistakes that are known.
        if tried && place.errors() == before {
            engines::check(&mut place, connection, address.as_ref(), configuration);
        }
    }
    identities::check(file, configuration);
}
