//! Queues of a broker: topics to which groups send, and topic filters of readers (OPC 10000-14, 6.4.2).

use takt_link::NOT_IN_LEVELS;
use takt_ua::ExtensionObject;
use takt_ua::structures::{
    BrokerDataSetReaderTransportDataType, BrokerDataSetWriterTransportDataType,
    BrokerWriterGroupTransportDataType, PubSubConnectionDataType, WriterGroupDataType,
};
use takt_wire::PublisherId;

use super::authentication;
use super::mistake::Place;
use super::tables::WRITERS;

/// Longest topic of MQTT, in bytes.
const LONGEST: usize = 65_535;

/// Returns the topic of a WriterGroup, as far as the configuration names one: that of the group, or else of its first writer.
pub(super) fn topic_of(group: &WriterGroupDataType) -> Option<String> {
    let own: Option<BrokerWriterGroupTransportDataType> = group.transport_settings.decode_as().ok();
    let own = own.map(|it| it.queue_name.to_string());
    let first = group.data_set_writers.first();
    let first: Option<BrokerDataSetWriterTransportDataType> =
        first.and_then(|writer| writer.transport_settings.decode_as().ok());
    let named = |name: &String| !name.is_empty();
    own.filter(named)
        .or(first.map(|it| it.queue_name.to_string()).filter(named))
}

/// Checks the queues of a WriterGroup at a broker.
pub(super) fn check_group(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    is_secure: bool,
) {
    let settings = &group.transport_settings;
    authentication::check(place, settings, is_secure);
    let first = group.data_set_writers.first();
    let first = first.map_or(ExtensionObject::NULL, |writer| {
        writer.transport_settings.clone()
    });
    if !settings.is_null() && !settings.is::<BrokerWriterGroupTransportDataType>() {
        only_broker(place);
    }
    let topic = topic_of(group);
    let publisher_id = PublisherId::from_variant(&connection.publisher_id);
    match &topic {
        Some(topic) => check_topic(place, "queue_name", topic),
        // The name is a level of the topic.
        None if group.name.as_str().is_empty() => place.warning(
            "name",
            "is missing: it is the last level of the topic",
            "Write name, or broker = { queue_name = \"…\" }",
        ),
        None if group.name.as_str().contains(NOT_IN_LEVELS) => place.error(
            "name",
            format!("'{}' cannot be a level of the topic", group.name),
            "Use a name without / + #, or write broker = { queue_name = \"…\" }",
        ),
        None => {}
    }
    if let (None, Some(PublisherId::String(id))) = (&topic, publisher_id)
        && id.as_str().contains(NOT_IN_LEVELS)
    {
        place.error(
            "queue_name",
            format!("is missing: the PublisherId '{id}' cannot be a level of the topic"),
            "Write broker = { queue_name = \"…\" }, or use a PublisherId without / + #",
        );
    }
    for (index, writer) in group.data_set_writers.iter().enumerate() {
        let mut place = place.entry(WRITERS, writer.name.as_str(), index);
        let settings = &writer.transport_settings;
        authentication::check(&mut place, settings, is_secure);
        let of_group = &group.transport_settings;
        let of_connection = &connection.transport_settings;
        authentication::check_writer(&mut place, of_connection, of_group, &first, settings);
        let Ok(settings) = settings.decode_as::<BrokerDataSetWriterTransportDataType>() else {
            if !settings.is_null() {
                only_broker(&mut place);
            }
            continue;
        };
        let queue = settings.queue_name.as_str();
        if !queue.is_empty() && topic.as_deref() != Some(queue) {
            place.error(
                "queue_name",
                format!("'{queue}' is not the queue of the WriterGroup, to which Takt sends all its messages"),
                "Give the writer a WriterGroup of its own",
            );
        }
        let meta_data = settings.meta_data_queue_name.as_str();
        if !meta_data.is_empty() {
            check_topic(&mut place, "meta_data_queue_name", meta_data);
            if topic.as_deref() == Some(meta_data) {
                place.error(
                    "meta_data_queue_name",
                    "is the queue of the data: the broker would keep one of both as the other",
                    "Use another topic",
                );
            }
        }
        super::values::time(
            &mut place,
            "meta_data_update_time",
            settings.meta_data_update_time,
        );
        if settings.meta_data_update_time > 0.0 && meta_data.is_empty() {
            place.warning(
                "meta_data_update_time",
                "has no effect without a meta_data_queue_name",
                "Add the topic of the metadata",
            );
        }
    }
}

fn only_broker(place: &mut Place<'_>) {
    place.error(
        "transport_settings",
        "are not those of a broker",
        "Write broker = { queue_name = \"…\" } instead",
    );
}

fn check_topic(place: &mut Place<'_>, key: &'static str, topic: &str) {
    if topic.contains(['+', '#']) {
        place.error(
            key,
            format!("'{topic}' has a wildcard, which is for receivers"),
            "Name one topic",
        );
    } else if topic.contains('\0') || topic.len() > LONGEST {
        place.error(
            key,
            "is no topic of MQTT",
            "Use at most 65535 bytes, and no null character",
        );
    } else if topic.starts_with('$') {
        place.warning(
            key,
            "topics with $ belong to the broker",
            "Begin with another character",
        );
    }
}

/// Checks the queues of a reader at a broker.
pub(super) fn check_reader(place: &mut Place<'_>, settings: &ExtensionObject, is_secure: bool) {
    authentication::check(place, settings, is_secure);
    let Ok(settings) = settings.decode_as::<BrokerDataSetReaderTransportDataType>() else {
        if settings.is_null() {
            missing(place);
        } else {
            only_broker(place);
        }
        return;
    };
    match settings.queue_name.as_str() {
        "" => missing(place),
        filter => check_filter(place, "queue_name", filter),
    }
    match settings.meta_data_queue_name.as_str() {
        "" => {}
        filter => check_filter(place, "meta_data_queue_name", filter),
    }
}

fn missing(place: &mut Place<'_>) {
    place.error(
        "queue_name",
        "is missing: the topic from which messages are received",
        "Write broker = { queue_name = \"…\" }",
    );
}

fn check_filter(place: &mut Place<'_>, key: &'static str, filter: &str) {
    let levels: Vec<&str> = filter.split('/').collect();
    let is_last = |index: usize| index + 1 == levels.len();
    let is_usable = |(index, level): (usize, &&str)| match *level {
        "+" => true,
        "#" => is_last(index),
        level => !level.contains(['+', '#', '\0']),
    };
    if !levels.iter().enumerate().all(is_usable) || filter.len() > LONGEST {
        place.error(
            key,
            format!("'{filter}' is no topic filter"),
            "+ stands for one level, and # for all levels at the end",
        );
    }
}
