//! `takt subscribe SOURCE`: shows DataSets as they are received.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use miette::miette;
use serde_json::{Value, json};
use takt_link::{Address, ReceiveClock, ReceiveTime};
use takt_pubsub::ReceiveError;
use takt_pubsub::runtime::{LinkPlan, PubSub, StartError};
use takt_pubsub::subscriber::{DataSetKind, ReceivedDataSet, SubscribedField, SubscriberObserver};
use takt_terminal::Screen;
use takt_ua::enumerations::PubSubState;
use takt_ua::json::{DescribedValues, EnumerationForm};
use takt_ua::structures::{
    ConfigurationVersionDataType, DataSetMetaDataType, PubSubConfiguration2DataType,
    PubSubConnectionDataType,
};
use takt_ua::{DataValue, DateTime, DescribedTypes, NodeId, StatusCode, Variant};

use super::pubsub::keys::PushTarget;
use super::pubsub::reports::component_json;
use super::pubsub::running::{
    Refusal, Running, STEP, explain_start, refuse_stray_user, runtime_options,
};
use super::pubsub::watchdog::Watchdog;
use super::pubsub::{advice, config};
use crate::arguments::{Given, SubscribeArguments};
use crate::server_interrupt;
use crate::{explain, output};

/// Largest number of events that wait to be shown. With more, the links are not read. Messages that arrive too fast are then lost
/// there, as PubSub allows, and counted as missing.
const MAX_EVENTS: usize = 64;

/// Largest number of DataSetReaders, and of fields of each, that a terminal shows. Any terminal has fewer lines.
const MAX_SHOWN: usize = 200;

/// Largest number of characters of a name or a value that a terminal shows.
const MAX_WIDTH: usize = 500;

/// Report that a reader made room for another one.
const FORGOTTEN: &str = "more DataSetWriters send than can be read; the one that was silent for longest makes room for a new one";

pub fn run(arguments: &SubscribeArguments, given: &Given) -> miette::Result<()> {
    refuse_stray_user(&arguments.run, false)?;
    let interrupt = server_interrupt::install()?;
    let (events, received) = sync_channel(MAX_EVENTS);
    let (running, configuration, watchdog) = match arguments.source.contains("://") {
        true => (listen(arguments, given, &events)?, None, None),
        false => {
            let Configured {
                running,
                configuration,
                watchdog,
            } = configured(arguments, given, &events)?;
            (running, Some(configuration), watchdog)
        }
    };
    // `received` then ends when the last thread of the Subscriber does.
    drop(events);
    let target = PushTarget::new("subscriber", configuration.as_ref());
    let running = Running::new(running, &arguments.run, interrupt, target)?;
    let mut running = running.with_watchdog(watchdog);
    let mut shown = Shown {
        arguments,
        live: std::io::stdout().is_terminal() && !arguments.json,
        readers: BTreeMap::new(),
        count: 0,
    };
    let mut next = Instant::now();
    while running.goes_on() && !shown.is_enough() {
        shown.take(&received, &mut running);
        if shown.live && Instant::now() >= next {
            shown.table(&running.screen);
            next = Instant::now() + STEP;
        }
    }
    shown.table(&running.screen);
    // Threads that wait to send an event continue and can end.
    drop(received);
    running.stop();
    if arguments.json {
        let connections = running.pub_sub.connections();
        connections.for_each(|it| output::line(component_json("connection", &it)));
    }
    if let Some(watchdog) = running.watchdog() {
        // After the table, which ends here.
        running.screen.finish();
        match arguments.json {
            true => watchdog.objects().iter().for_each(output::line),
            false => watchdog.rows().iter().for_each(output::line),
        }
    }
    running.finish()
}

fn listen(
    arguments: &SubscribeArguments,
    given: &Given,
    events: &SyncSender<Event>,
) -> miette::Result<PubSub> {
    if given.has("scenario") {
        return Err(explain::with_help(
            format!(
                "--scenario is for a configuration, whose DataSetReaders are compared with it, and {} is an address",
                arguments.source
            ),
            "docs/pubsub.md shows a configuration that subscribes.",
        ));
    }
    let of_configuration = [
        ("--keys", "keys"),
        ("--key", "key"),
        ("--key-endpoint", "key_endpoint"),
    ];
    if let Some((option, _)) = of_configuration.iter().find(|(_, field)| given.has(field)) {
        return Err(explain::with_help(
            format!(
                "{option} is for a configuration, which names the SecurityGroups of its DataSetReaders"
            ),
            "Protected messages at an address alone are not read; docs/pubsub.md shows a configuration that reads them.",
        ));
    }
    let options = runtime_options(&arguments.run)?;
    let plan = |address: &str| -> miette::Result<LinkPlan> {
        let address: Address = address.parse().map_err(|error| {
            explain::with_help(
                error,
                "For example opc.udp://239.0.0.1:4840, opc.eth://01-00-5E-00-00-01, opc.iox2://NAME, mqtt://localhost.",
            )
        })?;
        let mut link = LinkPlan {
            address,
            options: options.link.clone(),
        };
        link.options.interface.clone_from(&arguments.interface);
        link.options.mqtt.topic.clone_from(&arguments.topic);
        Ok(link)
    };
    let link = plan(&arguments.source)?;
    let is_broker = matches!(link.address, Address::Mqtt { .. });
    if given.has("topic") && !is_broker {
        return Err(explain::with_help(
            format!("--topic is for a broker, and {} is none", arguments.source),
            "For example `takt subscribe mqtt://localhost --topic \"opcua/json/#\"`.",
        ));
    }
    let has_interface = matches!(link.address, Address::Udp { .. } | Address::Ethernet { .. });
    if given.has("interface") && !has_interface {
        return Err(explain::with_help(
            format!(
                "--interface is for opc.udp:// and opc.eth://, and {} is neither",
                arguments.source
            ),
            "Leave --interface away.",
        ));
    }
    let discovery = arguments.discovery.as_deref().map(plan).transpose()?;
    let observer = Box::new(Told {
        connection: arguments.source.clone(),
        asks_publishers: arguments.discovery.is_some(),
        events: events.clone(),
        schemas: SchemaCache::default(),
        link_time: None,
    });
    PubSub::listen_and_ask(link, discovery, options.subscribing.clone(), observer)
        .map_err(|error| explain_start(&error))
}

/// A running configuration.
struct Configured {
    running: PubSub,
    configuration: PubSubConfiguration2DataType,
    watchdog: Option<Watchdog>,
}

fn configured(
    arguments: &SubscribeArguments,
    given: &Given,
    events: &SyncSender<Event>,
) -> miette::Result<Configured> {
    let path = Path::new(&arguments.source);
    let of_address = [
        ("--interface", given.has("interface")),
        ("--discovery", given.has("discovery")),
        ("--topic", given.has("topic")),
    ];
    if let Some((option, _)) = of_address.into_iter().find(|(_, is_given)| *is_given) {
        return Err(explain::with_help(
            format!(
                "{option} is for an address, and {} is a file",
                path.display()
            ),
            "A configuration has network_interface, DiscoveryAddress and the topics itself; docs/pubsub.md describes them.",
        ));
    }
    let (mut file, _) = config::read(path, None)?;
    for connection in &mut file.configuration.connections {
        // This command does not publish.
        connection.writer_groups.clear();
    }
    file.configuration
        .connections
        .retain(|connection| connection.enabled && !connection.reader_groups.is_empty());
    file.configuration.published_data_sets.clear();
    config::check_before_start(path, &file)?;
    let configuration = file.configuration;
    let mut nothing = |_: takt_pubsub::publisher::PublishedField<'_>| None;
    // The target Variables do not exist here: their values are shown, not written.
    let mut shown = |field: SubscribedField<'_>| {
        field
            .target
            .map(|_| takt_pubsub::subscriber::FieldTarget::Callback(Box::new(|_| Ok(()))))
    };
    let mut observers =
        |connection: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
            Box::new(Told {
                connection: connection.name.to_string(),
                asks_publishers: false,
                events: events.clone(),
                schemas: SchemaCache::default(),
                link_time: None,
            })
        };
    let mut options = runtime_options(&arguments.run)?;
    let watchdog = Watchdog::of(
        &arguments.watchdog,
        &arguments.settings,
        &configuration,
        arguments.run.share.group.as_deref(),
    )?;
    if let Some(watchdog) = &watchdog {
        options.watched = watchdog.flows().clone();
    }
    let running = PubSub::start(
        &configuration,
        &mut nothing,
        &mut shown,
        &mut observers,
        &options,
    );
    let running = running.map_err(|error: StartError| explain_start(&error))?;
    if running.connections().next().is_none() {
        let error = miette!(
            help = "docs/pubsub.md shows a configuration that subscribes.",
            "{} has no DataSetReader of a connection that is enabled",
            arguments.source
        );
        return Err(error);
    }
    Ok(Configured {
        running,
        configuration,
        watchdog,
    })
}

/// Event of a DataSetReader.
enum Event {
    DataSet(DataSet),
    State(String, PubSubState),
    /// A reader was removed, because its room was needed for another one.
    Forgotten(String),
    /// The first message that no reader takes.
    Unclaimed(String),
    Refused(Refusal),
}

struct DataSet {
    reader: String,
    kind: DataSetKind,
    sequence_number: Option<u32>,
    missing: u32,
    timestamp: Option<DateTime>,
    status: StatusCode,
    fields: Vec<Field>,
    /// Fields that the message does not have, with the new StatusCodes of their last values.
    absent: Vec<(usize, StatusCode)>,
    /// DataTypes of the metadata.
    types: Arc<DescribedTypes>,
    /// Time of reception, if the connection has such times.
    link_time: Option<ReceiveTime>,
}

struct Field {
    index: usize,
    name: String,
    /// DataType of the metadata.
    data_type: Option<NodeId>,
    value: DataValue,
}

/// DataTypes of the metadata of DataSetReaders, by their names.
#[derive(Default)]
struct SchemaCache {
    readers: BTreeMap<String, (ConfigurationVersionDataType, Arc<DescribedTypes>)>,
}

impl SchemaCache {
    fn of(&mut self, reader: &str, meta_data: &DataSetMetaDataType) -> Arc<DescribedTypes> {
        let version = &meta_data.configuration_version;
        match self.readers.get(reader) {
            Some((known, types)) if known == version => return Arc::clone(types),
            _ => {}
        }
        let types = Arc::new(DescribedTypes::from(meta_data));
        let is_empty = meta_data.structure_data_types.is_empty()
            && meta_data.enum_data_types.is_empty()
            && meta_data.simple_data_types.is_empty();
        if is_empty {
            self.readers.remove(reader);
            return types;
        }
        if self.readers.len() >= MAX_SHOWN {
            // Strangers can send any number of names. Those in use fill the cache again.
            self.readers.clear();
        }
        let entry = (version.clone(), Arc::clone(&types));
        self.readers.insert(reader.to_owned(), entry);
        types
    }
}

/// Observer that passes events on to the thread that shows them.
struct Told {
    connection: String,
    /// True if Publishers are asked for metadata.
    asks_publishers: bool,
    events: SyncSender<Event>,
    schemas: SchemaCache,
    /// Time of reception of the message whose DataSetMessages come next.
    link_time: Option<ReceiveTime>,
}

impl SubscriberObserver for Told {
    fn link_time(&mut self, time: Option<ReceiveTime>) {
        // Also if there is none: the time of the message before is not that of this one.
        self.link_time = time;
    }

    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let types = self
            .schemas
            .of(received.reader.name(), received.reader.meta_data());
        let meta_data = &received.reader.meta_data().fields;
        let name = |index: usize| match meta_data.get(index) {
            Some(field) if !field.name.as_str().is_empty() => field.name.to_string(),
            _ => format!("[{index}]"),
        };
        let fields = received.fields().map(|(index, value)| Field {
            index,
            name: name(index),
            data_type: meta_data.get(index).map(|field| field.data_type.clone()),
            value,
        });
        let event = DataSet {
            reader: received.reader.name().to_owned(),
            kind: received.kind,
            sequence_number: received.sequence_number,
            missing: received.missing,
            timestamp: received.timestamp,
            status: received.status,
            fields: fields.collect(),
            absent: received.absent().collect(),
            types,
            link_time: self.link_time,
        };
        // The thread that shows events may have ended.
        let _ = self.events.send(Event::DataSet(event));
    }

    fn state_changed(&mut self, reader: &str, state: PubSubState) {
        let _ = self.events.send(Event::State(reader.to_owned(), state));
    }

    fn refused(&mut self, error: &ReceiveError) {
        let _ = self
            .events
            .send(Event::Refused(Refusal::new(error, self.asks_publishers)));
    }

    fn unclaimed(&mut self, message: &dyn std::fmt::Display) {
        let connection = &self.connection;
        // A stranger chooses the names.
        let message = shortened(&message.to_string());
        let text = format!("{connection}: a message of {message} is for no DataSetReader");
        let _ = self.events.send(Event::Unclaimed(text));
    }

    fn forgotten(&mut self, reader: &str) {
        let _ = self.events.send(Event::Forgotten(reader.to_owned()));
    }
}

/// State of a DataSetReader.
#[derive(Default)]
struct Reader {
    state: Option<PubSubState>,
    count: u64,
    /// Number of DataSetMessages of all readers up to its last one.
    last: u64,
    missing: u64,
    sequence_number: Option<u32>,
    fields: BTreeMap<usize, ShownField>,
}

/// Last value of a field.
struct ShownField {
    name: String,
    /// Text of the value.
    text: String,
    /// Status and time, without the value.
    quality: DataValue,
}

impl ShownField {
    fn line(&self) -> String {
        let quality = output::data_value(&self.quality, |_| String::new());
        match (self.text.as_str(), quality.as_str()) {
            ("", quality) => quality.to_owned(),
            (text, "") => text.to_owned(),
            (text, quality) => format!("{text}  {quality}"),
        }
    }

    /// Changes the status of the value, because a message does not have it.
    fn mark(&mut self, status: StatusCode) {
        if status.is_bad() {
            self.text.clear();
            self.quality.status = Some(status);
        } else if self.quality.status_code().is_good() {
            self.quality.status = Some(status);
        }
    }
}

struct Shown<'a> {
    arguments: &'a SubscribeArguments,
    live: bool,
    readers: BTreeMap<String, Reader>,
    /// Number of DataSetMessages.
    count: u64,
}

impl Shown<'_> {
    fn is_enough(&self) -> bool {
        self.arguments
            .count
            .is_some_and(|wanted| self.count >= wanted)
    }

    /// Takes events until the next update.
    fn take(&mut self, events: &Receiver<Event>, running: &mut Running) {
        let end = Instant::now() + running.step();
        while !self.is_enough() {
            match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Event::DataSet(data_set)) => self.data_set(data_set),
                Ok(Event::State(reader, state)) => self.state(&reader, state),
                Ok(Event::Refused(refusal)) => running.refused(refusal),
                Ok(Event::Unclaimed(text)) => running.report(text, advice::UNCLAIMED),
                Ok(Event::Forgotten(reader)) => {
                    self.readers.remove(&reader);
                    running.report(FORGOTTEN.to_owned(), advice::NEEDED_READERS);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn data_set(&mut self, data_set: DataSet) {
        self.count += 1;
        if self.arguments.json {
            output::line(data_set.to_json());
            return;
        }
        if !self.live {
            output::line(data_set.to_line());
            return;
        }
        let count = self.count;
        let reader = self.reader(&data_set.reader);
        reader.last = count;
        reader.count += 1;
        reader.missing += u64::from(data_set.missing);
        reader.sequence_number = data_set.sequence_number;
        let values = DescribedValues::new(&data_set.types, EnumerationForm::Text);
        for field in &data_set.fields {
            let index = field.index;
            // A stranger's message can have any number of fields.
            if reader.fields.len() < MAX_SHOWN || reader.fields.contains_key(&index) {
                let value = field.value.value.as_ref();
                let text = value.map(|value| values.text(value, field.data_type.as_ref()));
                let shown = ShownField {
                    name: shortened(&field.name),
                    text: shortened(&text.unwrap_or_default()),
                    quality: DataValue {
                        value: None,
                        ..field.value.clone()
                    },
                };
                reader.fields.insert(index, shown);
            }
        }
        for (index, status) in &data_set.absent {
            if let Some(field) = reader.fields.get_mut(index) {
                field.mark(*status);
            }
        }
    }

    /// Returns a DataSetReader that is shown. The least important one makes room for a new one: one with one message at most, or
    /// else the one that was silent for longest.
    fn reader(&mut self, name: &str) -> &mut Reader {
        if self.readers.len() >= MAX_SHOWN && !self.readers.contains_key(name) {
            let importance = |reader: &Reader| (reader.count > 1, reader.last);
            let least = self.readers.iter().min_by_key(|(_, it)| importance(it));
            if let Some(least) = least.map(|(name, _)| name.clone()) {
                self.readers.remove(&least);
            }
        }
        self.readers.entry(name.to_owned()).or_default()
    }

    fn state(&mut self, name: &str, state: PubSubState) {
        if self.live {
            self.reader(name).state = Some(state);
        } else if !self.arguments.json {
            output::line(format_args!("{name}: {state:?}"));
        } else {
            output::line(json!({"reader": name, "state": format!("{state:?}")}));
        }
    }

    /// Shows all readers with their fields, in place of the earlier table.
    fn table(&self, screen: &Screen) {
        if !self.live {
            return;
        }
        let mut lines = Vec::new();
        for (name, reader) in &self.readers {
            let state = reader
                .state
                .map(|state| format!("{state:?}"))
                .unwrap_or_default();
            let number = reader
                .sequence_number
                .map(|number| format!("  number {number}"))
                .unwrap_or_default();
            let name = shortened(name);
            lines.push(format!(
                "{name}  {state}{number}  {} received  {} missing",
                reader.count, reader.missing
            ));
            let width = reader
                .fields
                .values()
                .map(|field| field.name.chars().count())
                .max()
                .unwrap_or(0);
            for field in reader.fields.values() {
                lines.push(format!("  {:width$}  {}", field.name, field.line()));
            }
        }
        if lines.is_empty() {
            lines.push("nothing received yet".to_owned());
        }
        output::written(screen.show(&lines));
    }
}

/// Returns the beginning of a text of a sender as it is shown.
fn shortened(text: &str) -> String {
    let beginning: String = text.chars().take(MAX_WIDTH).collect();
    output::escaped(&beginning)
}

impl DataSet {
    fn kind(&self) -> &'static str {
        match self.kind {
            DataSetKind::KeyFrame => "key frame",
            DataSetKind::DeltaFrame => "delta frame",
            DataSetKind::Event => "event",
            DataSetKind::KeepAlive => "keep-alive",
        }
    }

    fn to_line(&self) -> String {
        let mut line = format!("{} {}", self.reader, self.kind());
        if let Some(number) = self.sequence_number {
            line.push_str(&format!(" {number}"));
        }
        if self.missing > 0 {
            line.push_str(&format!(" ({} missing)", self.missing));
        }
        if !self.status.is_good() {
            line.push_str(&format!(" {}", self.status));
        }
        let values = DescribedValues::new(&self.types, EnumerationForm::Text);
        for Field {
            name,
            data_type,
            value,
            ..
        } in &self.fields
        {
            let text = value.value.as_ref();
            let text = text.map(|value| values.text(value, data_type.as_ref()));
            let text = text.unwrap_or_default();
            line.push_str(&format!("  {name} = {text}"));
            if !value.status_code().is_good() {
                line.push_str(&format!(" {}", value.status_code()));
            }
        }
        line
    }

    fn to_json(&self) -> Value {
        let values = DescribedValues::new(&self.types, EnumerationForm::NameAndNumber);
        let fields = self.fields.iter().map(|field| {
            let Field {
                index,
                name,
                data_type,
                value,
            } = field;
            let json = |value: &Variant| values.value(value, data_type.as_ref());
            let mut row = output::data_value_json(name, value, json);
            if let Some(row) = row.as_object_mut() {
                let name = row.shift_remove("node");
                row.shift_insert(0, "name".to_owned(), name.unwrap_or_default());
                row.shift_insert(0, "index".to_owned(), json!(index));
            }
            row
        });
        let clock = self.link_time.map(|time| match time.clock() {
            ReceiveClock::Software => "software",
            ReceiveClock::Hardware => "hardware",
        });
        json!({
            "reader": self.reader,
            "kind": self.kind(),
            "sequenceNumber": self.sequence_number,
            "missing": self.missing,
            "timestamp": self.timestamp.map(DateTime::to_iso8601),
            "status": self.status.to_string(),
            "linkTimeNs": self.link_time.map(ReceiveTime::nanos),
            "linkClock": clock,
            "fields": fields.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_a_message_does_not_have_is_marked() {
        let mut field = ShownField {
            name: "Speed".to_owned(),
            text: "7".to_owned(),
            quality: DataValue::default(),
        };
        assert_eq!(field.line(), "7");
        field.mark(StatusCode::UncertainLastUsableValue);
        assert_eq!(
            field.line(),
            format!("7  {}", StatusCode::UncertainLastUsableValue)
        );
        field.mark(StatusCode::BadConfigurationError);
        let bad = StatusCode::BadConfigurationError.to_string();
        assert_eq!(field.line(), bad);
        field.mark(StatusCode::UncertainLastUsableValue);
        assert_eq!(field.line(), bad);
    }
}
