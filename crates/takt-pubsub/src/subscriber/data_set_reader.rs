//! DataSetReaders: whose messages they want, and what they do with them (OPC 10000-14, 6.2.9 and 6.3.1.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::enumerations::{OverrideValueHandling, PubSubState};
use takt_ua::structures::{
    DataSetMetaDataType, DataSetReaderDataType, JsonDataSetReaderMessageDataType,
    StandaloneSubscribedDataSetDataType, StandaloneSubscribedDataSetRefDataType,
    TargetVariablesDataType, UadpDataSetReaderMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, Variant};
use takt_wire::json::JsonLayout;
use takt_wire::{PublisherId, RawDataLayout};

use super::memory::{meta_data_size, text_size};
use super::received::{DataSetKind, Observer};
use super::target::{DataTarget, ReaderTarget, SubscribedField};
use crate::error::{ConfigurationError, ConfigurationProblem, ReceiveError};
use crate::sequence::{Order, SequenceNumbers};
use crate::settings::{decode_settings, milliseconds};
use crate::state::Condition;

/// After how long sequence numbers are forgotten if there is no MessageReceiveTimeout.
const FORGET_AFTER: Duration = Duration::from_secs(10);

/// What a reader has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderStatistics {
    /// DataSetMessages that were accepted.
    pub received: u64,
    /// DataSetMessages that never came, as sequence numbers say.
    pub missing: u64,
    /// DataSetMessages that came twice, or after newer ones, and were discarded.
    pub discarded: u64,
    /// How often MessageReceiveTimeout has passed without a message.
    pub timeouts: u64,
}

/// Says that some reader's state may be another one; all readers of a Subscriber share it, so that nobody needs to ask each of them
/// after each message.
#[derive(Debug, Clone, Default)]
pub(super) struct StateChanges(Arc<AtomicBool>);

impl StateChanges {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether there was one since this was asked the last time.
    #[inline]
    pub(super) fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

/// Receives the DataSetMessages of one DataSetWriter.
#[derive(Debug)]
pub struct DataSetReader {
    pub(super) name: String,
    enabled: bool,
    condition: Condition,
    pub(super) changes: StateChanges,
    pub(super) publisher_id: Option<PublisherId>,
    pub(super) writer_group_id: u16,
    pub(super) data_set_writer_id: u16,
    /// Only of readers that are discovered by it, because there is no DataSetWriterId.
    pub(super) data_set_writer_name: String,
    pub(super) takes_uadp: bool,
    pub(super) takes_json: bool,
    /// Which headers its messages have, if its mask says some.
    pub(super) json_layout: Option<JsonLayout>,
    pub(super) settings: UadpDataSetReaderMessageDataType,
    pub(super) meta_data: DataSetMetaDataType,
    /// Whether the metadata is no more than the names in messages.
    pub(super) is_learned: bool,
    pub(super) raw_data: Option<RawDataLayout>,
    message_receive_timeout: Duration,
    pub(super) targets: Vec<ReaderTarget>,
    sequence_numbers: SequenceNumbers,
    last_received: Option<Instant>,
    /// What Publishers have told it: names and metadata.
    pub(super) memory: Charge,
    has_key_frame: bool,
    told: PubSubState,
    statistics: ReaderStatistics,
}

impl DataSetReader {
    pub(super) fn new(
        configuration: &DataSetReaderDataType,
        standalone: &[StandaloneSubscribedDataSetDataType],
        target: &mut dyn DataTarget,
        memory: &MemoryBudget,
    ) -> Result<Self, ConfigurationError> {
        let name = configuration.name.to_string();
        let at = |problem: ConfigurationProblem| problem.at(&name);
        let timeout = configuration.message_receive_timeout;
        if !timeout.is_finite() || timeout < 0.0 {
            let what = "not a number of milliseconds";
            return Err(at(ConfigurationProblem::parameter(
                "MessageReceiveTimeout",
                what,
            )));
        }
        let publisher_id = match &configuration.publisher_id {
            Variant::Empty => None,
            id => Some(PublisherId::from_variant(id).ok_or_else(|| {
                let what = "neither null, Byte, UInt16, UInt32, UInt64 nor String";
                at(ConfigurationProblem::parameter("PublisherId", what))
            })?),
        };
        let reference: Option<StandaloneSubscribedDataSetRefDataType> =
            configuration.subscribed_data_set.decode_as().ok();
        let (meta_data, subscribed) = match reference {
            None => (
                &configuration.data_set_meta_data,
                &configuration.subscribed_data_set,
            ),
            Some(reference) => {
                let found = standalone
                    .iter()
                    .find(|it| it.name == reference.data_set_name);
                let found = found.ok_or_else(|| {
                    let name = reference.data_set_name.to_string();
                    at(ConfigurationProblem::UnknownDataSet(name))
                })?;
                (&found.data_set_meta_data, &found.subscribed_data_set)
            }
        };
        let targets = targets_of(configuration, meta_data, subscribed, target)
            .map_err(|error| error.within(&name))?;
        let settings = &configuration.message_settings;
        let is_json = settings.is::<JsonDataSetReaderMessageDataType>();
        Ok(Self {
            enabled: configuration.enabled,
            condition: Condition::Preparing,
            changes: StateChanges::default(),
            publisher_id,
            writer_group_id: configuration.writer_group_id,
            data_set_writer_id: configuration.data_set_writer_id,
            data_set_writer_name: String::new(),
            takes_uadp: !is_json,
            takes_json: is_json || settings.is_null(),
            json_layout: json_layout(settings),
            settings: match is_json {
                true => UadpDataSetReaderMessageDataType::default(),
                false => decode_settings(settings).map_err(at)?,
            },
            is_learned: false,
            // Only messages with RawData fields need it; if it cannot be, they are refused.
            raw_data: RawDataLayout::new(meta_data).ok(),
            meta_data: meta_data.clone(),
            message_receive_timeout: milliseconds(timeout),
            targets,
            sequence_numbers: SequenceNumbers::default(),
            last_received: None,
            memory: memory.empty_charge(),
            has_key_frame: false,
            told: PubSubState::Disabled,
            statistics: ReaderStatistics::default(),
            name,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it knows of the fields.
    pub fn meta_data(&self) -> &DataSetMetaDataType {
        &self.meta_data
    }

    /// What it has counted.
    pub fn statistics(&self) -> ReaderStatistics {
        self.statistics
    }

    /// Its state, given that of the ReaderGroup.
    pub fn state(&self, group: PubSubState) -> PubSubState {
        crate::state::state(self.enabled, group, self.condition)
    }

    pub(super) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        // It starts anew.
        self.condition = Condition::Preparing;
        self.changes.note();
        self.last_received = None;
        self.has_key_frame = false;
    }

    /// Whether it listens.
    pub(super) fn listens(&self, group: PubSubState) -> bool {
        let state = self.state(group);
        !matches!(state, PubSubState::Disabled | PubSubState::Paused)
            && group == PubSubState::Operational
    }

    pub(super) fn raw_data(&self) -> Option<&RawDataLayout> {
        self.raw_data.as_ref()
    }

    /// Offset of its DataSetMessage in messages without a PayloadHeader; 0 if not configured.
    pub(super) fn data_set_offset(&self) -> u16 {
        self.settings.data_set_offset
    }

    /// Takes metadata that the Publisher has announced, if it knew none, or another version (6.2.9.4).
    ///
    /// # Errors
    /// The budget has no room for it; the metadata that it knew stays.
    pub(super) fn take_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
    ) -> Result<bool, ReceiveError> {
        if !self.meta_data.fields.is_empty()
            && !self.is_learned
            && self.meta_data.configuration_version == meta_data.configuration_version
        {
            return Ok(false);
        }
        self.keep(meta_data_size(meta_data), "the metadata")?;
        // Targets belong to fields by index; they stay with the fields that have the same names.
        let index_of = |name: &takt_ua::UaString| {
            meta_data
                .fields
                .iter()
                .position(|field| field.name == *name)
        };
        let old = &self.meta_data.fields;
        self.targets.retain_mut(|target| {
            let name = old.get(target.field).map(|field| &field.name);
            match name.and_then(index_of) {
                Some(index) => {
                    target.field = index;
                    true
                }
                None => false,
            }
        });
        self.raw_data = RawDataLayout::new(meta_data).ok();
        self.meta_data = meta_data.clone();
        self.is_learned = false;
        self.has_key_frame = false;
        Ok(true)
    }

    /// Charges so many bytes of metadata to the budget, in place of those that it held before.
    pub(super) fn keep(&mut self, bytes: usize, what: &str) -> Result<(), ReceiveError> {
        let kept = self.memory.resize(self.own_size() + bytes);
        kept.map_err(|source| ReceiveError::Memory {
            what: format!("{what} of DataSetReader '{}'", short(&self.name)),
            source,
        })
    }

    /// Bytes that it takes without metadata.
    fn own_size(&self) -> usize {
        // The name has the PublisherId in it.
        size_of::<Self>() + 2 * text_size(&self.name) + text_size(&self.data_set_writer_name)
    }

    /// When it has received something last.
    pub(super) fn last_received(&self) -> Option<Instant> {
        self.last_received
    }

    pub(super) fn begins_at(&mut self, now: Instant) {
        self.last_received = Some(now);
    }

    /// Takes the sequence number of a message; `None` if the message is to be discarded, else how many are missing before it.
    #[inline]
    pub(super) fn accept(
        &mut self,
        number: Option<u16>,
        kind: DataSetKind,
        now: Instant,
    ) -> Option<u16> {
        let forget_after = match self.message_receive_timeout {
            Duration::ZERO => FORGET_AFTER,
            // Two times the KeepAliveTime, which the timeout is not shorter than.
            timeout => timeout * 2,
        };
        let order = match (number, kind) {
            (None, _) => Order::New { missing: 0 },
            (Some(next), DataSetKind::KeepAlive) => self.sequence_numbers.check_next(next, now),
            (Some(number), _) => self.sequence_numbers.check(number, now, forget_after),
        };
        let missing = match order {
            Order::New { missing } => missing,
            Order::Restarted => 0,
            Order::Old => {
                self.statistics.discarded += 1;
                return None;
            }
        };
        self.statistics.received += 1;
        self.statistics.missing += u64::from(missing);
        self.last_received = Some(now);
        Some(missing)
    }

    /// A message of this kind has come: whether it changes the state, as the first key frame or event does (6.2.1).
    #[inline]
    pub(super) fn note(&mut self, kind: DataSetKind) {
        if matches!(kind, DataSetKind::KeyFrame) {
            self.has_key_frame = true;
        }
        let begins = matches!(kind, DataSetKind::KeyFrame | DataSetKind::Event);
        if begins || self.condition == Condition::Failed {
            self.set_condition(Condition::Ready);
        }
    }

    #[inline]
    fn set_condition(&mut self, condition: Condition) {
        if self.condition != condition {
            self.condition = condition;
            self.changes.note();
        }
    }

    pub(super) fn has_key_frame(&self) -> bool {
        self.has_key_frame
    }

    /// When MessageReceiveTimeout will have passed.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        if self.message_receive_timeout.is_zero() || self.condition != Condition::Ready {
            return None;
        }
        self.last_received?
            .checked_add(self.message_receive_timeout)
    }

    /// Nothing has come for too long: Error until something does (6.2.9.6).
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.next_timeout().is_some_and(|timeout| now >= timeout) {
            self.set_condition(Condition::Failed);
            self.statistics.timeouts += 1;
        }
    }

    /// The message cannot be used: Error until one can.
    pub(super) fn fail(&mut self) {
        self.set_condition(Condition::Failed);
    }

    /// Tells of another state than before, and writes what takes the place of values in it.
    pub(super) fn tell_state(
        &mut self,
        group: PubSubState,
        now: DateTime,
        observer: &mut dyn Observer,
    ) {
        let state = self.state(group);
        if state == self.told {
            return;
        }
        self.told = state;
        for target in &mut self.targets {
            // The next value says whether the target works.
            let _ = target.write_state(state, now);
        }
        observer.state_changed(&self.name, state);
    }
}

/// The beginning of a name that a Publisher has chosen.
pub(super) fn short(name: &str) -> &str {
    const SHOWN: usize = 100;
    name.char_indices()
        .nth(SHOWN)
        .map_or(name, |(end, _)| name.get(..end).unwrap_or(name))
}

fn json_layout(settings: &ExtensionObject) -> Option<JsonLayout> {
    let settings: JsonDataSetReaderMessageDataType = settings.decode_as().ok()?;
    let mask = settings.network_message_content_mask;
    (mask != 0).then(|| JsonLayout::from_mask(mask))
}

fn targets_of(
    configuration: &DataSetReaderDataType,
    meta_data: &DataSetMetaDataType,
    subscribed: &ExtensionObject,
    target: &mut dyn DataTarget,
) -> Result<Vec<ReaderTarget>, ConfigurationError> {
    let variables: Option<TargetVariablesDataType> = subscribed.decode_as().ok();
    let mut targets = Vec::new();
    let Some(variables) = variables else {
        for (index, meta_data) in meta_data.fields.iter().enumerate() {
            let field = SubscribedField {
                reader: configuration,
                meta_data,
                target: None,
            };
            if let Some(found) = target.target(field) {
                let made = ReaderTarget::new(index, meta_data, found, None);
                targets.push(made.map_err(|problem| problem.at(meta_data.name.as_str()))?);
            }
        }
        return Ok(targets);
    };
    for (position, variable) in variables.target_variables.iter().enumerate() {
        let id = variable.data_set_field_id;
        let by_id = meta_data
            .fields
            .iter()
            .position(|field| field.data_set_field_id == id);
        let index = match id == takt_ua::Guid::default() {
            true => position,
            false => by_id.unwrap_or(usize::MAX),
        };
        let place = format!("target {position}");
        let Some(field) = meta_data.fields.get(index) else {
            let what = format!("{id} is no field of the metadata");
            return Err(ConfigurationProblem::parameter("DataSetFieldId", what).at(&place));
        };
        let wanted = SubscribedField {
            reader: configuration,
            meta_data: field,
            target: Some(variable),
        };
        let at = |problem: ConfigurationProblem| problem.at(field.name.as_str());
        let found = target.target(wanted);
        let found = found.ok_or_else(|| at(ConfigurationProblem::Unbound("target")))?;
        let handling = variable.override_value_handling;
        if handling == OverrideValueHandling::OverrideValue && variable.override_value.is_empty() {
            let problem = ConfigurationProblem::parameter("OverrideValue", "is null");
            return Err(at(problem));
        }
        targets.push(ReaderTarget::new(index, field, found, Some(variable)).map_err(at)?);
    }
    Ok(targets)
}
