//! Message mapping of a WriterGroup: UADP (OPC 10000-14, 6.3.1) or JSON (OPC 10000-14, 6.3.2).

use std::fmt::Debug;

use takt_ua::Structure;
use takt_ua::structures::{DataSetMetaDataType, WriterGroupDataType};
use takt_wire::{PublisherId, SecurityLayout};

use super::data_set_writer::{DataSetWriter, Sample};
use super::fixed_message::FixedNetworkMessage;
use super::plan::Plan;
use crate::error::{ConfigurationError, PublishError};
use crate::settings::decode_settings;
use crate::state::Condition;
use crate::time::Now;

/// Parameters of a WriterGroup that its messages contain.
#[derive(Debug)]
pub(super) struct GroupParameters {
    pub(super) publisher_id: PublisherId,
    /// Parameters of the WriterGroup, without its writers.
    pub(super) configuration: WriterGroupDataType,
    /// SequenceNumber of the next NetworkMessage.
    pub(super) sequence_number: u16,
    /// NetworkMessageNumber of the message before, in this publishing interval; 0 for the first one.
    pub(super) last_message_number: u16,
}

impl GroupParameters {
    /// Returns the NetworkMessageNumber of the next message of a plan. Numbers count from 1 in each interval (OPC 10000-14,
    /// 6.3.1.3.4).
    pub(super) fn message_number(&self, planned: Option<u16>) -> u16 {
        planned.unwrap_or(self.last_message_number.saturating_add(1))
    }
}

/// Samples of a publishing interval that share a NetworkMessage.
#[derive(Debug)]
pub(super) struct SharedSamples {
    /// NetworkMessageNumber of the plan, if it has a fixed one.
    pub(super) network_message_number: Option<u16>,
    pub(super) now: Now,
    /// Samples, with the indexes of their writers.
    pub(super) samples: Vec<(usize, Sample)>,
}

/// Numbers of messages, and the first error.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Number of NetworkMessages that were sent.
    pub(super) count: usize,
    /// Number of messages that were not made, or not sent.
    pub(super) failed: usize,
    pub(super) error: Option<PublishError>,
}

impl Sent {
    /// Notes a message that was sent, or not.
    pub(super) fn note(&mut self, outcome: Result<(), PublishError>) {
        match outcome {
            Ok(()) => self.count += 1,
            Err(error) => self.fail(error),
        }
    }

    /// Notes a message that was not made, or not sent.
    pub(super) fn fail(&mut self, error: PublishError) {
        self.failed += 1;
        self.error.get_or_insert(error);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.error = self.error.take().or(other.error);
    }
}

/// Destination of encoded messages.
pub(super) trait Sink {
    /// Returns the length of the longest NetworkMessage, in bytes.
    fn limit(&self) -> usize;

    /// Sends a message; it is protected if it has a layout of its security.
    fn send(&mut self, message: &[u8], layout: Option<&SecurityLayout>)
    -> Result<(), PublishError>;
}

/// Mapping of the DataSetMessages of a WriterGroup to NetworkMessages.
pub(super) trait MessageMapping: Debug + Send {
    /// Returns true if RawData fields need a layout, because they have no names.
    fn has_raw_data_layout(&self) -> bool;

    /// Returns the plans of the NetworkMessages: the writers whose DataSetMessages share one.
    fn plans(&self, writers: &[DataSetWriter]) -> Vec<Plan>;

    /// Returns the NetworkMessage of a plan that is built once and then only stored into; `None` if its layout is not fixed.
    fn fixed(
        &self,
        group: &GroupParameters,
        writers: &mut [DataSetWriter],
        plan: &Plan,
        now: Now,
    ) -> Option<FixedNetworkMessage>;

    /// Sends samples in one message, or in several if that is too long or one of them cannot be encoded: it does not hold back
    /// the others.
    fn send(
        &mut self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        shared: SharedSamples,
        sink: &mut dyn Sink,
    ) -> Sent;

    /// Returns a message with the metadata of a writer.
    fn meta_data_message(
        &mut self,
        group: &GroupParameters,
        writer: &DataSetWriter,
        meta_data: &DataSetMetaDataType,
        now: Now,
    ) -> Result<Vec<u8>, PublishError>;
}

/// Returns the MessageSettings of the writers of a group.
pub(super) fn writer_settings<T: Structure + Default>(
    group: &WriterGroupDataType,
) -> Result<Vec<T>, ConfigurationError> {
    let writers = group.data_set_writers.iter();
    writers
        .map(|writer| {
            decode_settings(&writer.message_settings).map_err(|problem| {
                let error = problem.at(writer.name.as_str());
                error.within(group.name.as_str())
            })
        })
        .collect()
}

/// Sets the condition of the writers with these indexes.
pub(super) fn set_condition(
    writers: &mut [DataSetWriter],
    indexes: &[usize],
    condition: Condition,
) {
    for index in indexes {
        if let Some(writer) = writers.get_mut(*index) {
            writer.condition = condition;
        }
    }
}
