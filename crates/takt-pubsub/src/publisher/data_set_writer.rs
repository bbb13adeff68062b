//! DataSetWriters, which select the part of a DataSet that is sent in a publishing interval (OPC 10000-14, 6.2.4 and 6.3.1.3).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use takt_ua::enumerations::{DataSetFieldContentMask, PubSubState};
use takt_ua::structures::{
    ConfigurationVersionDataType, DataSetMetaDataType, DataSetWriterDataType, FieldMetaData,
    PublishedDataItemsDataType, PublishedDataSetDataType,
};
use takt_ua::{DataValue, StatusCode, Variant};
use takt_wire::RawDataLayout;

use super::change::Deadband;
use super::source::{DataSource, FieldSource, PublishedField, substituted};
use crate::error::{ConfigurationError, ConfigurationProblem};
use crate::state::Condition;
use crate::time::Now;

/// Maximum number of events that wait to be sent; more are refused.
const MAX_EVENTS: usize = 1000;

/// Representation of the fields of a DataSetMessage (OPC 10000-14, 6.2.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldEncoding {
    Variant,
    RawData,
    /// DataValue with these members: bits of a DataSetFieldContentMask.
    DataValue(u32),
}

impl FieldEncoding {
    pub(crate) fn of_mask(mask: u32) -> Self {
        // StatusCode, timestamps and picoseconds.
        const MEMBERS: u32 = 0x1F;
        if mask & DataSetFieldContentMask::RawData != 0 {
            Self::RawData
        } else if mask & MEMBERS != 0 {
            Self::DataValue(mask & MEMBERS)
        } else {
            Self::Variant
        }
    }
}

/// Field, and its source.
#[derive(Debug)]
pub(crate) struct WriterField {
    pub(crate) meta_data: FieldMetaData,
    pub(crate) source: FieldSource,
    pub(crate) substitute: Variant,
    deadband: Deadband,
}

/// Content of a DataSetMessage of one interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Sequence number; UADP has its lower 16 bits.
    pub(crate) sequence_number: u32,
    pub(crate) kind: SampleKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SampleKind {
    /// All values of the writer.
    KeyFrame,
    /// Values with these indexes.
    DeltaFrame(Vec<u16>),
    Event(Vec<Variant>),
    KeepAlive,
}

/// Writer of DataSetMessages of one PublishedDataSet. Without a DataSet, it sends heartbeats: key frames without fields.
#[derive(Debug)]
pub struct DataSetWriter {
    name: String,
    pub(crate) enabled: bool,
    pub(crate) condition: Condition,
    pub(crate) data_set_writer_id: u16,
    pub(crate) encoding: FieldEncoding,
    pub(crate) meta_data: Option<Box<DataSetMetaDataType>>,
    pub(crate) version: ConfigurationVersionDataType,
    pub(crate) data_set_class_id: takt_ua::Guid,
    pub(crate) fields: Vec<WriterField>,
    pub(crate) raw_data: Option<RawDataLayout>,
    /// Values of RawData fields without a value.
    pub(crate) raw_defaults: Vec<Variant>,
    key_frame_count: u32,
    intervals_since_key_frame: u32,
    sequence_number: u32,
    last_sent: Option<Instant>,
    /// Current values.
    pub(crate) values: Vec<DataValue>,
    /// Values that were sent last.
    sent: Vec<DataValue>,
    events: VecDeque<Vec<Variant>>,
}

impl DataSetWriter {
    /// Creates a writer; `has_raw_data_layout`: its RawData fields have a layout, because they have no names.
    pub(super) fn new(
        configuration: &DataSetWriterDataType,
        has_raw_data_layout: bool,
        data_sets: &[PublishedDataSetDataType],
        source: &mut dyn DataSource,
    ) -> Result<Self, ConfigurationError> {
        let name = configuration.name.to_string();
        let data_set_name = configuration.data_set_name.as_option().unwrap_or("");
        let at = |problem: ConfigurationProblem| problem.at(&name);
        if configuration.data_set_writer_id == 0 {
            let what = "0 is not a valid identifier";
            return Err(at(ConfigurationProblem::parameter("DataSetWriterId", what)));
        }
        let data_set = data_sets
            .iter()
            .find(|data_set| data_set.name.as_option() == Some(data_set_name));
        // A writer without a DataSet sends messages without fields, as a heartbeat.
        if data_set.is_none() && !data_set_name.is_empty() {
            let unknown = ConfigurationProblem::UnknownDataSet(data_set_name.to_owned());
            return Err(at(unknown));
        }
        let fields = match data_set {
            Some(data_set) => fields_of(data_set, source).map_err(|error| error.within(&name))?,
            None => Vec::new(),
        };
        let encoding = FieldEncoding::of_mask(configuration.data_set_field_content_mask);
        let meta_data = data_set.map(|data_set| &data_set.data_set_meta_data);
        let is_raw = encoding == FieldEncoding::RawData && has_raw_data_layout;
        let raw_data = match meta_data {
            Some(meta_data) if is_raw => {
                Some(RawDataLayout::new(meta_data).map_err(|error| at(error.into()))?)
            }
            _ => None,
        };
        if is_raw && configuration.key_frame_count > 1 {
            let what =
                "more than 1 with RawData fields, which delta frames cannot have (7.2.4.5.11)";
            return Err(at(ConfigurationProblem::parameter("KeyFrameCount", what)));
        }
        let version = meta_data.map(|meta_data| meta_data.configuration_version.clone());
        Ok(Self {
            enabled: configuration.enabled,
            condition: Condition::Ready,
            data_set_writer_id: configuration.data_set_writer_id,
            encoding,
            meta_data: meta_data.cloned().map(Box::new),
            version: version.unwrap_or_default(),
            data_set_class_id: meta_data.map(|it| it.data_set_class_id).unwrap_or_default(),
            raw_defaults: raw_data.as_ref().map(raw_defaults).unwrap_or_default(),
            raw_data,
            key_frame_count: configuration.key_frame_count,
            intervals_since_key_frame: 0,
            sequence_number: 0,
            last_sent: None,
            values: Vec::with_capacity(fields.len()),
            sent: Vec::new(),
            events: VecDeque::new(),
            fields,
            name,
        })
    }

    /// Returns the name of the writer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the identifier of the writer, unique within the Publisher.
    pub fn data_set_writer_id(&self) -> u16 {
        self.data_set_writer_id
    }

    /// Returns true if the writer takes part, given the state of its WriterGroup.
    pub(super) fn is_operational(&self, group: PubSubState) -> bool {
        self.state(group) == PubSubState::Operational
    }

    pub(super) fn state(&self, group: PubSubState) -> PubSubState {
        crate::state::state(self.enabled, group, self.condition)
    }

    /// Returns true if every interval has a key frame.
    pub(super) fn only_key_frames(&self) -> bool {
        self.key_frame_count == 1
    }

    /// Puts an event into the queue; returns `false` if that is full, or if the event has another number of fields.
    pub(super) fn queue_event(&mut self, fields: Vec<Variant>) -> bool {
        let fits = fields.len() == self.fields.len() && self.events.len() < MAX_EVENTS;
        if fits {
            self.events.push_back(fields);
        }
        fits
    }

    /// Returns the sample to be sent now, if any. May be called again in the same interval as long as it returns events.
    pub(super) fn sample(&mut self, now: Now, keep_alive_time: Duration) -> Option<Sample> {
        let kind = match self.key_frame_count {
            0 => self.events.pop_front().map(SampleKind::Event),
            _ => self.sample_cyclic(),
        };
        let kind = kind.or_else(|| {
            let due = self.last_sent.is_none_or(|sent| {
                let quiet = now.instant.saturating_duration_since(sent);
                quiet >= keep_alive_time
            });
            (due && !keep_alive_time.is_zero()).then_some(SampleKind::KeepAlive)
        })?;
        let keep_alive = kind == SampleKind::KeepAlive;
        self.last_sent = Some(now.instant);
        Some(Sample {
            // A keep-alive has the number of the next message, which it does not use.
            sequence_number: if keep_alive {
                self.sequence_number
            } else {
                self.next_sequence_number()
            },
            kind,
        })
    }

    /// Returns true if more events wait.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the number of the message that is being sent, and counts it.
    pub(super) fn next_sequence_number(&mut self) -> u32 {
        let number = self.sequence_number;
        self.sequence_number = number.wrapping_add(1);
        number
    }

    /// Notes that a key frame was sent without [`sample`](Self::sample).
    pub(super) fn note_sent(&mut self, now: Now) {
        self.last_sent = Some(now.instant);
    }

    fn sample_cyclic(&mut self) -> Option<SampleKind> {
        self.values.clear();
        for field in &self.fields {
            let value = substituted(field.source.read(), &field.substitute);
            self.values.push(value);
        }
        // Before the first key frame, there is nothing that a delta frame could refer to.
        let key_frame = self.sent.len() != self.values.len()
            || self.intervals_since_key_frame + 1 >= self.key_frame_count;
        if key_frame {
            self.intervals_since_key_frame = 0;
            // Only delta frames are compared with the values before.
            if !self.only_key_frames() {
                self.sent.clone_from(&self.values);
            }
            return Some(SampleKind::KeyFrame);
        }
        self.intervals_since_key_frame += 1;
        let mut changed = Vec::new();
        for (index, (field, (value, sent))) in self
            .fields
            .iter()
            .zip(self.values.iter().zip(&mut self.sent))
            .enumerate()
        {
            if field.deadband.is_change(sent, value) {
                // Only sent values are remembered, so that a slow drift passes the deadband in the end.
                sent.clone_from(value);
                // `fields_of` has limited the number of fields.
                changed.push(index as u16);
            }
        }
        (!changed.is_empty()).then_some(SampleKind::DeltaFrame(changed))
    }

    /// Returns the quality of the DataSet as a whole: that of its worst field.
    pub(super) fn status(&self) -> StatusCode {
        let worst = |worst: StatusCode, value: &DataValue| {
            let status = value.status_code();
            if severity(status) > severity(worst) {
                status
            } else {
                worst
            }
        };
        match self.values.iter().fold(StatusCode::Good, worst) {
            status if status.is_bad() => StatusCode::Bad,
            status if status.is_uncertain() => StatusCode::Uncertain,
            _ => StatusCode::Good,
        }
    }
}

/// Returns decoded zeros: numbers that are 0, strings and arrays that are empty (OPC 10000-6, 5.1.2).
fn raw_defaults(layout: &RawDataLayout) -> Vec<Variant> {
    // Without a fixed size, every string and array is only a length.
    const LENGTHS: usize = 64 << 10;
    let zeros = vec![0; layout.fixed_size().unwrap_or(LENGTHS)];
    let decoded = layout.decode_start(&zeros);
    decoded.map(|(values, _)| values).unwrap_or_default()
}

fn severity(status: StatusCode) -> u32 {
    // The two highest bits of a StatusCode are its severity, in rising order.
    status.0 >> 30
}

/// Returns the fields of a DataSet: its Variables, then its extension fields, or the fields that the source has by name.
fn fields_of(
    data_set: &PublishedDataSetDataType,
    source: &mut dyn DataSource,
) -> Result<Vec<WriterField>, ConfigurationError> {
    let items: Option<PublishedDataItemsDataType> = data_set.data_set_source.decode_as().ok();
    let variables = items.map(|items| items.published_data).unwrap_or_default();
    let meta_data = &data_set.data_set_meta_data.fields;
    if variables.len() > meta_data.len() || meta_data.len() > usize::from(u16::MAX) {
        let what = format!(
            "{} fields for {} Variables",
            meta_data.len(),
            variables.len()
        );
        let problem = ConfigurationProblem::parameter("DataSetMetaData", what);
        return Err(problem.at(data_set.name.as_option().unwrap_or("")));
    }
    let mut fields = Vec::with_capacity(meta_data.len());
    for (index, meta_data) in meta_data.iter().enumerate() {
        let variable = variables.get(index);
        let field = PublishedField {
            data_set,
            meta_data,
            variable,
        };
        // A field without a source may be one of the constant extension fields.
        let found = source.source(field).or_else(|| extension_field(field));
        let Some(source) = found else {
            let name = meta_data.name.as_option().unwrap_or("");
            return Err(ConfigurationProblem::Unbound("source").at(name));
        };
        fields.push(WriterField {
            meta_data: meta_data.clone(),
            source,
            substitute: variable
                .map(|it| it.substitute_value.clone())
                .unwrap_or_default(),
            deadband: variable.map(Deadband::of_variable).unwrap_or_default(),
        });
    }
    Ok(fields)
}

fn extension_field(field: PublishedField<'_>) -> Option<FieldSource> {
    let name = field.meta_data.name.as_option()?;
    let mut extensions = field.data_set.extension_fields.iter();
    let found = extensions.find(|extension| extension.key.name.as_option() == Some(name))?;
    Some(FieldSource::Constant(DataValue::good(found.value.clone())))
}
