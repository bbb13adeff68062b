//! Trial of publishers and subscribers: they are made, without sources and targets.

use takt_link::Address;
use takt_ua::DataValue;
use takt_ua::structures::{PubSubConfiguration2DataType, PubSubConnectionDataType};

use super::mistake::Place;
use super::sizes;
use super::tables::WRITER_GROUPS;
use crate::ConfigurationError;
use crate::action::{Responder, offers_actions};
use crate::publisher::{FieldSource, PublishedField, WriterGroup};
use crate::subscriber::{FieldTarget, SubscribedField, Subscriber};

/// Checks what the engines of a connection refuse: at most one error for each WriterGroup, and one for all readers.
pub(super) fn check(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    address: Option<&Address>,
    configuration: &PubSubConfiguration2DataType,
) {
    let data_sets = &configuration.published_data_sets;
    for (index, group) in connection.writer_groups.iter().enumerate() {
        let mut place = place.entry(WRITER_GROUPS, group.name.as_str(), index);
        if offers_actions(group, data_sets) {
            refused(
                &mut place,
                Responder::new(connection, group, data_sets, 0).err(),
            );
            continue;
        }
        // An engine checks its configuration when it is made. Sources and targets without effect are enough for that.
        let mut source = |_: PublishedField<'_>| Some(FieldSource::Constant(DataValue::default()));
        let error = WriterGroup::new(connection, group, data_sets, &mut source).err();
        match (error, address) {
            (None, Some(address)) => {
                sizes::check(&mut place, connection, group, data_sets, address)
            }
            (error, _) => refused(&mut place, error),
        }
    }
    let mut target = |_: SubscribedField<'_>| Some(FieldTarget::Callback(Box::new(|_| Ok(()))));
    let standalone = &configuration.subscribed_data_sets;
    refused(
        place,
        Subscriber::new(connection, standalone, &mut target).err(),
    );
}

fn refused(place: &mut Place<'_>, error: Option<ConfigurationError>) {
    if let Some(error) = error {
        let fix = "docs/pubsub.md describes the permitted values of each parameter";
        place.error("refused", error.to_string(), fix);
    }
}
