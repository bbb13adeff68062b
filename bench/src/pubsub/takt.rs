//! Ends of a round trip through Takt: cells, a WriterGroup, a link, a Subscriber, cells.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use takt_cell::Cell;
use takt_link::{LinkOptions, Receiver, Sender, open_receiver, open_sender};
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_pubsub::runtime::{LinkOutput, reader_links, writer_group_link};
use takt_pubsub::subscriber::{FieldTarget, SubscribedField, Subscriber};
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_ua::{DateTime, StatusCode, Variant};

use crate::error::BenchError;

/// Subject of errors.
const FAILED: &str = "PubSub over Takt";

/// Addresses of an end, and its interface.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) own_id: u16,
    pub(super) peer_id: u16,
    pub(super) sends_to: String,
    pub(super) receives_at: String,
    pub(super) interface: Option<String>,
}

/// One end.
pub(super) struct TaktEnd {
    group: WriterGroup,
    sender: Box<dyn Sender>,
    subscriber: Subscriber,
    receiver: Box<dyn Receiver>,
    input: Vec<Arc<Cell>>,
    output: Vec<Arc<Cell>>,
}

fn configuration(place: &Place, fields: u32) -> Result<PubSubConfiguration2DataType, BenchError> {
    let Place {
        own_id,
        peer_id,
        sends_to,
        receives_at,
        ..
    } = place;
    let mut published = String::new();
    let mut received = String::new();
    for field in 0..fields {
        // Writing to a String cannot fail.
        let _ = write!(
            published,
            r#"{{ name = "{field}", data_type = "UInt64", published_variable = "ns=1;i={field}" }}, "#
        );
        let _ = write!(
            received,
            r#"{{ name = "{field}", data_type = "UInt64", target_node_id = "ns=1;i={field}" }}, "#
        );
    }
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Fields"
        fields = [{published}]

        [[connections]]
        publisher_id = {own_id}
        address = "{receives_at}"

        [[connections.writer_groups]]
        writer_group_id = 1
        publishing_interval = 1
        transport_settings = {{ "$type" = "DatagramWriterGroupTransport2DataType", Address = {{ "$type" = "NetworkAddressUrlDataType", Url = "{sends_to}" }} }}

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Fields"
        field_encoding = "Variant"

        [[connections.reader_groups]]
        [[connections.reader_groups.data_set_readers]]
        publisher_id = {peer_id}
        writer_group_id = 1
        data_set_writer_id = 1
        field_encoding = "Variant"
        fields = [{received}]
        "#
    );
    let file = from_toml(&text).map_err(BenchError::round_trip(FAILED))?;
    Ok(file.configuration)
}

impl TaktEnd {
    /// Opens an end. Links cannot move to another thread.
    pub(super) fn open(place: &Place, fields: u32) -> Result<Self, BenchError> {
        let configuration = configuration(place, fields)?;
        let broken = || BenchError::RoundTrip {
            what: FAILED.to_owned(),
            reason: "the configuration lacks a part".to_owned(),
        };
        let connection = configuration.connections.first().ok_or_else(broken)?;
        let group = connection.writer_groups.first().ok_or_else(broken)?;
        let options = LinkOptions {
            interface: place.interface.clone(),
            ..LinkOptions::default()
        };
        let failed = BenchError::round_trip::<takt_pubsub::ConfigurationError>;
        let to = writer_group_link(connection, group, &options).map_err(failed(FAILED))?;
        let at = reader_links(connection, &options).map_err(failed(FAILED))?;
        let at = at.first().ok_or_else(broken)?;
        let cells = || -> Vec<Arc<Cell>> {
            let cell = |_| Arc::new(Cell::of(&Variant::UInt64(0)));
            (0..fields).map(cell).collect()
        };
        let (input, output) = (cells(), cells());
        let index = |name: &str| name.parse::<usize>().unwrap_or_default();
        let mut source = |field: PublishedField<'_>| {
            let cell = output.get(index(field.meta_data.name.as_str()))?;
            Some(FieldSource::Cell(cell.clone()))
        };
        let mut target = |field: SubscribedField<'_>| {
            let cell = input.get(index(field.meta_data.name.as_str()))?;
            Some(FieldTarget::Cell(cell.clone()))
        };
        let data_sets = &configuration.published_data_sets;
        let group = WriterGroup::new(connection, group, data_sets, &mut source);
        let subscriber = Subscriber::new(connection, &[], &mut target);
        let link = BenchError::round_trip::<takt_link::LinkError>;
        Ok(Self {
            group: group.map_err(failed(FAILED))?,
            subscriber: subscriber.map_err(failed(FAILED))?,
            sender: open_sender(&to.address, &to.options).map_err(link(FAILED))?,
            receiver: open_receiver(&at.address, &at.options).map_err(link(FAILED))?,
            input,
            output,
        })
    }

    /// Sets all fields to a number and sends them.
    pub(super) fn send(&mut self, number: u64) -> Result<(), BenchError> {
        let now = Now::read();
        for cell in &self.output {
            cell.set_u64(number, StatusCode::Good, now.date_time)
                .map_err(BenchError::round_trip(FAILED))?;
        }
        let mut output = LinkOutput::new(self.sender.as_mut());
        self.group
            .publish(now, PubSubState::Operational, &mut output)
            .map_err(BenchError::round_trip(FAILED))?;
        self.sender
            .flush()
            .map_err(BenchError::round_trip(FAILED))?;
        Ok(())
    }

    /// Waits for a message and returns the number in all of its fields; `None` after the timeout.
    pub(super) fn receive(&mut self, timeout: Duration) -> Result<Option<u64>, BenchError> {
        let subscriber = &mut self.subscriber;
        let mut accepted = 0;
        self.receiver
            .receive(timeout, &mut |received| {
                let operational = PubSubState::Operational;
                let outcome = subscriber.receive(Now::read(), operational, received.bytes, &mut ());
                accepted += outcome.map_or(0, |reception| reception.accepted);
            })
            .map_err(BenchError::round_trip(FAILED))?;
        if accepted == 0 {
            return Ok(None);
        }
        let mut number = None;
        for cell in &self.input {
            let (value, _) = cell
                .read_scalar::<u64>()
                .map_err(BenchError::round_trip(FAILED))?;
            if number.is_some_and(|number| Some(number) != value) {
                return Err(BenchError::RoundTrip {
                    what: FAILED.to_owned(),
                    reason: "the fields of one message differ".to_owned(),
                });
            }
            number = value;
        }
        Ok(number)
    }

    /// Returns the bytes of a message, for the bare echo.
    pub(super) fn message(&mut self) -> Result<Vec<u8>, BenchError> {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        let now = Now {
            instant: std::time::Instant::now(),
            date_time: DateTime::now(),
        };
        self.group
            .publish(now, PubSubState::Operational, &mut messages)
            .map_err(BenchError::round_trip(FAILED))?;
        Ok(messages.pop().unwrap_or_default())
    }
}
