//! WriterGroups, which send DataSetMessages together at each publishing interval (OPC 10000-14, 6.2.6 and 6.3.1.1).

use std::time::Duration;

use takt_ua::Variant;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    JsonWriterGroupMessageDataType, PubSubConnectionDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};
use takt_wire::PublisherId;

use super::data_set_writer::{DataSetWriter, Sample};
use super::fixed_message::FixedNetworkMessage;
use super::json::JsonMapping;
use super::mapping::{GroupParameters, MessageMapping, Sent, SharedSamples};
use super::output::Output;
use super::plan::Plan;
use super::protection::{ProtectingSink, Protection, check_length, send};
use super::source::DataSource;
use super::uadp::UadpMapping;
use crate::error::{ConfigurationError, ConfigurationProblem, PublishError};
use crate::security::KeyRing;
use crate::settings::milliseconds;
use crate::state::Condition;
use crate::time::Now;

/// Numbers of messages that one call of [`WriterGroup::publish`] has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublishedMessages {
    /// NetworkMessages, chunks included.
    pub network_messages: usize,
    /// Number of those that were made on the fast path.
    pub fixed: usize,
    /// Number of messages that were not made, or not sent.
    pub failed: usize,
}

/// Group of DataSetWriters, which makes their NetworkMessages in each publishing interval.
///
/// It has no clock and no socket: [`publish`](Self::publish) is called every [`publishing_interval`](Self::publishing_interval),
/// with the time and an [`Output`] for the messages. A message is built once, and each interval only stores its values, if all its
/// fields come from cells and keep their size, and every interval has a key frame; this allocates nothing. After three messages of
/// another length it is built anew.
#[derive(Debug)]
pub struct WriterGroup {
    name: String,
    enabled: bool,
    condition: Condition,
    pub(super) parameters: GroupParameters,
    pub(super) mapping: Box<dyn MessageMapping>,
    pub(super) writers: Vec<DataSetWriter>,
    /// NetworkMessages of an interval.
    pub(super) plans: Vec<Plan>,
    pub(super) protection: Option<Protection>,
    /// Length of the longest message of its flow, in bytes; `None` if messages of any length are sent.
    longest: Option<usize>,
}

impl WriterGroup {
    /// Creates a WriterGroup of a connection, with the DataSets that its writers name.
    ///
    /// # Errors
    /// A parameter has a value that the standard forbids, or `source` has no source for a field.
    pub fn new(
        connection: &PubSubConnectionDataType,
        configuration: &WriterGroupDataType,
        data_sets: &[PublishedDataSetDataType],
        source: &mut dyn DataSource,
    ) -> Result<Self, ConfigurationError> {
        let name = configuration.name.to_string();
        let at = |problem: ConfigurationProblem| problem.at(&name);
        let parameter = |name, what| at(ConfigurationProblem::parameter(name, what));
        let publisher_id =
            PublisherId::from_variant(&connection.publisher_id).ok_or_else(|| {
                let what =
                    "neither Byte, UInt16, UInt32, UInt64 nor String (OPC 10000-14, 6.2.7.1)";
                parameter("PublisherId", what)
            })?;
        if configuration.writer_group_id == 0 {
            return Err(parameter("WriterGroupId", "0 is not a valid identifier"));
        }
        let interval = configuration.publishing_interval;
        if !(interval.is_finite() && interval > 0.0) {
            let what = "not a positive number of milliseconds";
            return Err(parameter("PublishingInterval", what));
        }
        let keep_alive = configuration.keep_alive_time;
        if !keep_alive.is_finite() || keep_alive < 0.0 {
            return Err(parameter("KeepAliveTime", "not a number of milliseconds"));
        }
        let mapping = mapping(configuration)?;
        let writers = configuration.data_set_writers.iter();
        let has_raw_data_layout = mapping.has_raw_data_layout();
        let writers: Vec<_> = writers
            .map(|writer| DataSetWriter::new(writer, has_raw_data_layout, data_sets, source))
            .collect::<Result<_, _>>()
            .map_err(|error| error.within(&name))?;
        let mut group = Self {
            enabled: configuration.enabled,
            condition: Condition::Ready,
            parameters: GroupParameters {
                publisher_id,
                configuration: WriterGroupDataType {
                    data_set_writers: Vec::new(),
                    ..configuration.clone()
                },
                sequence_number: 0,
                last_message_number: 0,
            },
            plans: mapping.plans(&writers),
            mapping,
            protection: Protection::new(configuration).map_err(at)?,
            longest: None,
            writers,
            name,
        };
        group.build_fixed();
        Ok(group)
    }

    /// Returns the name of the group.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the interval at which [`publish`](Self::publish) is to be called.
    pub fn publishing_interval(&self) -> Duration {
        milliseconds(self.parameters.configuration.publishing_interval)
    }

    /// Returns the parameters of the group, without its writers.
    pub fn configuration(&self) -> &WriterGroupDataType {
        &self.parameters.configuration
    }

    /// Returns true if its messages are JSON.
    pub fn is_json(&self) -> bool {
        is_json(&self.parameters.configuration)
    }

    /// Returns the writers of the group.
    pub fn writers(&self) -> &[DataSetWriter] {
        &self.writers
    }

    /// Returns the state of the group, given that of the connection.
    pub fn state(&self, connection: PubSubState) -> PubSubState {
        crate::state::state(self.enabled, connection, self.condition)
    }

    /// Returns the state of one of its writers, given that of the connection.
    pub fn writer_state(&self, index: usize, connection: PubSubState) -> Option<PubSubState> {
        let group = self.state(connection);
        Some(self.writers.get(index)?.state(group))
    }

    /// Enables or disables the group (OPC 10000-14, 6.2.1).
    pub fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// Enables or disables a writer; returns `false` if there is none with this DataSetWriterId.
    pub fn set_writer_enabled(&mut self, data_set_writer_id: u16, enabled: bool) -> bool {
        let mut writers = self.writers.iter_mut();
        let found = writers.find(|writer| writer.data_set_writer_id == data_set_writer_id);
        match found {
            Some(writer) => {
                writer.enabled = enabled;
                self.build_fixed();
                true
            }
            None => false,
        }
    }

    /// Returns the SecurityGroup whose keys the group needs; `None` if its messages are not protected.
    pub fn security_group_id(&self) -> Option<&str> {
        self.protection.as_ref()?;
        Some(self.parameters.configuration.security_group_id.as_str())
    }

    /// Sets the length in bytes of the longest message for which a delay is proven: a NetworkMessage or a chunk, with headers and
    /// signature. A longer one is not sent: [`PublishError::Length`]. It is not divided, because its parts would be more messages than
    /// the proof has.
    pub fn set_longest_message(&mut self, longest: Option<usize>) {
        self.longest = longest;
    }

    /// Sets the keys that protect messages. A group without keys is PreOperational and sends nothing.
    pub fn set_keys(&mut self, keys: &KeyRing) {
        if let Some(protection) = &mut self.protection {
            protection.keys = keys.clone();
        }
    }

    /// Puts an event into the queue of a writer whose KeyFrameCount is 0; it is sent in the next interval. Returns `false` if
    /// there is no such writer, if the number of fields differs from the metadata, or if 1000 events wait already.
    pub fn queue_event(&mut self, data_set_writer_id: u16, fields: Vec<Variant>) -> bool {
        let mut writers = self.writers.iter_mut();
        let found = writers.find(|writer| writer.data_set_writer_id == data_set_writer_id);
        found.is_some_and(|writer| writer.queue_event(fields))
    }

    /// Sends the messages of one publishing interval; `connection` is the state of the connection.
    ///
    /// # Errors
    /// The first error; the other messages are sent nevertheless. The DataSetWriters of a message that cannot be encoded are in
    /// state Error until one can.
    pub fn publish<O: Output>(
        &mut self,
        now: Now,
        connection: PubSubState,
        output: &mut O,
    ) -> Result<PublishedMessages, PublishError> {
        match self.publish_all(now, connection, output) {
            (published, None) => Ok(published),
            (_, Some(error)) => Err(error),
        }
    }

    /// Sends the messages of one publishing interval, as [`publish`](Self::publish) does. Returns the numbers of messages also
    /// after an error, with the first error.
    pub fn publish_all<O: Output>(
        &mut self,
        now: Now,
        connection: PubSubState,
        output: &mut O,
    ) -> (PublishedMessages, Option<PublishError>) {
        let mut published = PublishedMessages::default();
        if let Some(protection) = &self.protection {
            self.condition = protection.condition(now);
        }
        let state = self.state(connection);
        if state != PubSubState::Operational {
            return (published, None);
        }
        let mut all = Sent::default();
        self.parameters.last_message_number = 0;
        for index in 0..self.plans.len() {
            let sent = match self.publish_fixed(index, now, output) {
                Ok(true) => {
                    published.network_messages += 1;
                    published.fixed += 1;
                    continue;
                }
                Ok(false) => self.publish_general(index, now, state, output),
                Err(error) => {
                    all.fail(error);
                    continue;
                }
            };
            all.add(sent);
        }
        published.network_messages += all.count;
        published.failed = all.failed;
        (published, all.error)
    }

    /// Sends a message on the fast path; returns `false` if the general encoder has to make it this time.
    #[inline]
    fn publish_fixed<O: Output>(
        &mut self,
        plan: usize,
        now: Now,
        output: &mut O,
    ) -> Result<bool, PublishError> {
        let limit = self.limit(output);
        let Some(plan) = self.plans.get_mut(plan) else {
            return Ok(false);
        };
        let Some(fixed) = &mut plan.fixed else {
            return Ok(false);
        };
        // The general encoder divides a message that is too long into chunks.
        if fixed.message.bytes().len() > limit || !fixed.store(now) {
            return Ok(false);
        }
        let number = self.parameters.message_number(plan.network_message_number);
        self.parameters.last_message_number = number;
        let message = &mut fixed.message;
        message.set_network_message_number(number);
        message.set_timestamp(now.date_time);
        let sequence_number = &mut self.parameters.sequence_number;
        message.set_sequence_number(*sequence_number);
        // The number is used up even if the message is not sent: Subscribers see the gap.
        *sequence_number = sequence_number.wrapping_add(1);
        for (data_set_message, index) in plan.writers.iter().enumerate() {
            if let Some(writer) = self.writers.get_mut(*index) {
                // UADP has the low 16 bits of the number; JSON has 32 bits.
                let number = writer.next_sequence_number() as u16;
                message.set_data_set_sequence_number(data_set_message, number);
                message.set_data_set_timestamp(data_set_message, now.date_time);
                writer.note_sent(now);
                writer.condition = Condition::Ready;
            }
        }
        check_length(self.longest, message.bytes().len())?;
        let layout = message.security_layout();
        send(&mut self.protection, now, message.bytes(), layout, output)?;
        Ok(true)
    }

    fn publish_general<O: Output>(
        &mut self,
        plan: usize,
        now: Now,
        state: PubSubState,
        output: &mut O,
    ) -> Sent {
        let mut all = Sent::default();
        let Some(planned) = self.plans.get(plan) else {
            return all;
        };
        let (number, members) = (planned.network_message_number, planned.writers.clone());
        let mut length = 0;
        loop {
            let before = all.count;
            let (samples, more) = self.sample(&members, now, state);
            if !samples.is_empty() {
                let mut sink = ProtectingSink {
                    limit: self.limit(output),
                    protection: &mut self.protection,
                    now,
                    output: &mut *output,
                    length: 0,
                    longest: self.longest,
                };
                let sent = self.mapping.send(
                    &mut self.parameters,
                    &mut self.writers,
                    SharedSamples {
                        network_message_number: number,
                        now,
                        samples,
                    },
                    &mut sink,
                );
                all.add(sent);
                length = sink.length;
            }
            // Events wait for the next interval if nothing can be sent.
            if !more || (all.failed > 0 && all.count == before) {
                break;
            }
        }
        // Chunks, and messages that were divided, have no fixed layout.
        if all.count == 1 {
            self.note_length(plan, length, now);
        }
        all
    }

    /// Builds a fixed layout if messages of the general encoder have become alike.
    fn note_length(&mut self, plan: usize, length: usize, now: Now) {
        let Some(plan) = self.plans.get_mut(plan) else {
            return;
        };
        if !plan.alike.note(length) {
            return;
        }
        let built = self
            .mapping
            .fixed(&self.parameters, &mut self.writers, plan, now);
        let length_of = |fixed: &FixedNetworkMessage| fixed.message.bytes().len();
        // A layout like the one before did not fit for another reason, such as a status.
        let before = plan.fixed.as_ref().map(length_of);
        let is_useful = built.is_some() && built.as_ref().map(length_of) != before;
        plan.alike.attempted(is_useful);
        if is_useful {
            plan.fixed = built;
        }
    }

    /// Returns samples of these writers, with their indexes, and true if one of them has more.
    fn sample(
        &mut self,
        members: &[usize],
        now: Now,
        state: PubSubState,
    ) -> (Vec<(usize, Sample)>, bool) {
        let keep_alive_time = milliseconds(self.parameters.configuration.keep_alive_time);
        let mut samples = Vec::with_capacity(members.len());
        let mut more = false;
        for index in members {
            let Some(writer) = self.writers.get_mut(*index) else {
                continue;
            };
            // A writer in state Error tries again in each interval.
            let tries = writer.condition == Condition::Failed && writer.enabled;
            if !tries && !writer.is_operational(state) {
                continue;
            }
            if let Some(sample) = writer.sample(now, keep_alive_time) {
                more |= writer.has_events();
                samples.push((*index, sample));
            }
        }
        (samples, more)
    }

    /// Returns the length of the longest NetworkMessage, in bytes.
    pub(super) fn limit<O: Output>(&self, output: &O) -> usize {
        match self.parameters.configuration.max_network_message_size {
            0 => output.max_message_size(),
            configured => output.max_message_size().min(configured as usize),
        }
    }

    /// Builds the messages with a fixed layout.
    fn build_fixed(&mut self) {
        // This time only takes up its place. Each interval stores its own.
        let now = Now::read();
        for plan in &mut self.plans {
            plan.fixed = self
                .mapping
                .fixed(&self.parameters, &mut self.writers, plan, now);
        }
    }
}

/// Returns true if the MessageSettings of a WriterGroup are those of JSON; otherwise they are those of UADP.
fn is_json(group: &WriterGroupDataType) -> bool {
    group
        .message_settings
        .is::<JsonWriterGroupMessageDataType>()
}

/// Returns the mapping of the MessageSettings of a WriterGroup and its writers.
fn mapping(group: &WriterGroupDataType) -> Result<Box<dyn MessageMapping>, ConfigurationError> {
    Ok(match is_json(group) {
        true => Box::new(JsonMapping::new(group)?),
        false => Box::new(UadpMapping::new(group)?),
    })
}
