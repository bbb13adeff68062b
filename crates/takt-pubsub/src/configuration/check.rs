//! Check of a configuration by its publishers and subscribers, without sources and targets.

use takt_ua::DataValue;
use takt_ua::structures::{
    JsonDataSetReaderMessageDataType, JsonWriterGroupMessageDataType, PubSubConfiguration2DataType,
    PubSubConnectionDataType,
};

use crate::ConfigurationError;
use crate::action::{Responder, offers_actions};
use crate::publisher::{FieldSource, PublishedField, WriterGroup};
use crate::subscriber::{FieldTarget, SubscribedField, Subscriber};

/// Returns all errors that are found: at most one for each WriterGroup, and one for the readers of each connection. Components
/// with settings of the JSON mapping are not checked.
pub fn check(configuration: &PubSubConfiguration2DataType) -> Vec<ConfigurationError> {
    let connections = configuration.connections.iter();
    let found = connections.flat_map(|connection| {
        let errors = check_connection(configuration, connection);
        errors
            .into_iter()
            .map(|error| error.within(connection.name.as_str()))
    });
    found.collect()
}

fn check_connection(
    configuration: &PubSubConfiguration2DataType,
    connection: &PubSubConnectionDataType,
) -> Vec<ConfigurationError> {
    let mut source = |_: PublishedField<'_>| Some(FieldSource::Constant(DataValue::default()));
    let mut errors = Vec::new();
    let data_sets = &configuration.published_data_sets;
    for group in &connection.writer_groups {
        if offers_actions(group, data_sets) {
            errors.extend(Responder::new(connection, group, data_sets, 0).err());
            continue;
        }
        if group
            .message_settings
            .is::<JsonWriterGroupMessageDataType>()
        {
            continue;
        }
        errors.extend(WriterGroup::new(connection, group, data_sets, &mut source).err());
    }
    let mut connection = connection.clone();
    for group in &mut connection.reader_groups {
        let readers = &mut group.data_set_readers;
        readers.retain(|reader| {
            !reader
                .message_settings
                .is::<JsonDataSetReaderMessageDataType>()
        });
    }
    let mut target = |_: SubscribedField<'_>| Some(FieldTarget::Callback(Box::new(|_| Ok(()))));
    let standalone = &configuration.subscribed_data_sets;
    errors.extend(Subscriber::new(&connection, standalone, &mut target).err());
    errors
}
