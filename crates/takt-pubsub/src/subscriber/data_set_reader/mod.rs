//! DataSetReaders: filters for messages, and targets of their fields (OPC 10000-14, 6.2.9 and 6.3.1.4).

mod changes;
mod state;
mod targets;

use std::time::{Duration, Instant};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    DataSetMetaDataType, DataSetReaderDataType, JsonDataSetReaderMessageDataType,
    StandaloneSubscribedDataSetDataType, StandaloneSubscribedDataSetRefDataType,
    UadpDataSetReaderMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, StatusCode, Variant};
use takt_wire::json::JsonLayout;
use takt_wire::{PublisherId, RawDataLayout};

pub use changes::ReaderStatistics;
pub(super) use changes::StateChanges;
use targets::targets_of;

use super::expected::{NeededParts, ReaderLinks};
use super::identity::Identity;
use super::memory::{ALLOCATION, meta_data_size, text_size};
use super::target::{DataTarget, ReaderTarget};
use crate::error::{ConfigurationError, ConfigurationProblem, ReceiveError};
use crate::sequence::SequenceNumbers;
use crate::settings::{decode_settings, milliseconds};
use crate::state::Condition;

/// Reader of the DataSetMessages of one DataSetWriter.
#[derive(Debug)]
pub struct DataSetReader {
    pub(super) name: String,
    enabled: bool,
    condition: Condition,
    pub(super) changes: StateChanges,
    pub(super) publisher_id: Option<PublisherId>,
    pub(super) writer_group_id: u16,
    pub(super) data_set_writer_id: u16,
    /// Identity of a discovered DataSetWriter; configured readers have their filter.
    pub(super) identity: Option<Identity>,
    /// True if a discovered DataSetWriter was announced, but has not sent yet.
    pub(super) is_announced: bool,
    pub(super) needs: NeededParts,
    pub(super) links: ReaderLinks,
    pub(super) takes_uadp: bool,
    pub(super) takes_json: bool,
    /// Headers of its messages, if its mask has any.
    pub(super) json_layout: Option<JsonLayout>,
    pub(super) settings: UadpDataSetReaderMessageDataType,
    pub(super) meta_data: DataSetMetaDataType,
    /// True if the metadata has only the names in messages.
    pub(super) is_learned: bool,
    pub(super) raw_data: Option<RawDataLayout>,
    message_receive_timeout: Duration,
    pub(super) targets: Vec<ReaderTarget>,
    sequence_numbers: SequenceNumbers,
    last_received: Option<Instant>,
    /// Memory for names and metadata from Publishers.
    pub(super) memory: Charge,
    has_key_frame: bool,
    /// True after the first key frame or event.
    has_data: bool,
    pub(super) key_frame_count: u32,
    /// Length of the longest NetworkMessage of its flow, in bytes; `None` if messages of any length are accepted.
    pub(super) longest: Option<usize>,
    /// Number of the last messages without each field, if messages do not tell whether they are key frames.
    pub(super) silences: Vec<u32>,
    /// True after lost messages, until their fields are marked or come again.
    has_gap: bool,
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
        let uadp = match is_json {
            true => UadpDataSetReaderMessageDataType::default(),
            false => decode_settings(settings).map_err(at)?,
        };
        Ok(Self {
            enabled: configuration.enabled,
            condition: Condition::Preparing,
            changes: StateChanges::default(),
            publisher_id,
            writer_group_id: configuration.writer_group_id,
            data_set_writer_id: configuration.data_set_writer_id,
            identity: None,
            is_announced: false,
            needs: match settings.decode_as().as_ref() {
                Ok(json) => NeededParts::of_json(json),
                Err(_) => NeededParts::of_uadp(&uadp),
            },
            links: ReaderLinks::default(),
            takes_uadp: !is_json,
            // Without settings, the mapping of the messages is not known: the reader takes both.
            takes_json: is_json || settings.is_null(),
            json_layout: json_layout(settings),
            settings: uadp,
            is_learned: false,
            // Only messages with RawData fields need a layout; without one they are refused.
            raw_data: RawDataLayout::new(meta_data).ok(),
            meta_data: meta_data.clone(),
            message_receive_timeout: milliseconds(timeout),
            targets,
            sequence_numbers: SequenceNumbers::default(),
            last_received: None,
            memory: memory.empty_charge(),
            has_key_frame: false,
            has_data: false,
            key_frame_count: configuration.key_frame_count,
            longest: None,
            silences: Vec::new(),
            has_gap: false,
            told: PubSubState::Disabled,
            statistics: ReaderStatistics::default(),
            name,
        })
    }

    /// Returns the name of the reader.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the metadata of the fields, as far as it is known.
    pub fn meta_data(&self) -> &DataSetMetaDataType {
        &self.meta_data
    }

    /// Returns the numbers of messages so far.
    pub fn statistics(&self) -> ReaderStatistics {
        self.statistics
    }

    pub(super) fn raw_data(&self) -> Option<&RawDataLayout> {
        self.raw_data.as_ref()
    }

    /// Returns the offset of its DataSetMessage in messages without a PayloadHeader; 0 if not configured.
    pub(super) fn data_set_offset(&self) -> u16 {
        self.settings.data_set_offset
    }

    /// Takes metadata that the Publisher has announced, if the reader has none, or another version (OPC 10000-14, 6.2.9.4).
    ///
    /// # Errors
    /// The memory budget has no room for it; the reader keeps its metadata.
    pub(super) fn take_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
        now: DateTime,
    ) -> Result<bool, ReceiveError> {
        if !self.meta_data.fields.is_empty()
            && !self.is_learned
            && self.meta_data.configuration_version == meta_data.configuration_version
        {
            return Ok(false);
        }
        self.keep(meta_data_size(meta_data), "the metadata")?;
        // Targets name fields by index; each stays with the field of the same name. Without that field no value comes again.
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
                None => {
                    target.fail(StatusCode::BadConfigurationError, now);
                    false
                }
            }
        });
        self.raw_data = RawDataLayout::new(meta_data).ok();
        self.meta_data = meta_data.clone();
        self.is_learned = false;
        self.silences.clear();
        // Delta frames of the new version need a key frame of that version.
        self.has_key_frame = false;
        Ok(true)
    }

    /// Replaces the value of a target after an error.
    #[cold]
    pub(super) fn fail_target(&mut self, target: usize, status: StatusCode, now: DateTime) {
        if let Some(target) = self.targets.get_mut(target) {
            target.fail(status, now);
        }
    }

    /// Charges `bytes` of metadata to the memory budget, instead of those charged before.
    pub(super) fn keep(&mut self, bytes: usize, what: &str) -> Result<(), ReceiveError> {
        let kept = self.memory.resize(self.own_size() + bytes);
        kept.map_err(|source| ReceiveError::Memory {
            what: format!("{what} of DataSetReader '{}'", short(&self.name)),
            source,
        })
    }

    /// Returns the bytes of memory without metadata.
    fn own_size(&self) -> usize {
        // The name contains all parts of the identity, and its PublisherId once more.
        const PARTS: usize = 4;
        let parts = self.identity.as_ref().map_or(0, |_| PARTS * ALLOCATION);
        size_of::<Self>() + 3 * text_size(&self.name) + parts
    }
}

/// Returns the first characters of a name that a Publisher has chosen.
fn short(name: &str) -> &str {
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
