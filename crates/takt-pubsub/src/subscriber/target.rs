//! Targets of received fields (OPC 10000-14, 6.2.10 and 6.2.11).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use takt_cell::{Cell, CellError};
use takt_ua::enumerations::{OverrideValueHandling, PubSubState};
use takt_ua::structures::{DataSetReaderDataType, FieldMetaData, FieldTargetDataType};
use takt_ua::{DataValue, DateTime, NodeId, NumericRange, StatusCode, Variant};

use crate::error::ConfigurationProblem;

/// Function that writes a value, and returns the StatusCode of an error.
pub type WriteCallback = Box<dyn Fn(&DataValue) -> Result<(), StatusCode> + Send>;

/// Target of the value of a field.
pub enum FieldTarget {
    /// Cell, which a Provider may serve and a real-time thread may read. Only cells are set without allocation.
    Cell(Arc<Cell>),
    /// Function, called on the receiving thread.
    Callback(WriteCallback),
}

impl fmt::Debug for FieldTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell(cell) => formatter.debug_tuple("Cell").field(cell).finish(),
            Self::Callback(_) => formatter.write_str("Callback"),
        }
    }
}

/// Field that needs a target.
#[derive(Debug, Clone, Copy)]
pub struct SubscribedField<'a> {
    /// Reader of the field.
    pub reader: &'a DataSetReaderDataType,
    /// Name and type of the field.
    pub meta_data: &'a FieldMetaData,
    /// Target Variable, if the configuration names one.
    pub target: Option<&'a FieldTargetDataType>,
}

/// Set of targets of fields.
pub trait DataTarget {
    /// Returns the target of a field. `None` is an error if the configuration names a target Variable; otherwise the value is not
    /// written.
    fn target(&mut self, field: SubscribedField<'_>) -> Option<FieldTarget>;
}

impl<F: FnMut(SubscribedField<'_>) -> Option<FieldTarget>> DataTarget for F {
    fn target(&mut self, field: SubscribedField<'_>) -> Option<FieldTarget> {
        self(field)
    }
}

/// Cells by the NodeIds of the target Variables.
impl DataTarget for HashMap<NodeId, Arc<Cell>> {
    fn target(&mut self, field: SubscribedField<'_>) -> Option<FieldTarget> {
        let cell = self.get(&field.target?.target_node_id)?;
        Some(FieldTarget::Cell(cell.clone()))
    }
}

/// Target, and the values to write when there is no good value.
#[derive(Debug)]
pub(super) struct ReaderTarget {
    /// Index of the field in the metadata.
    pub(super) field: usize,
    pub(super) target: FieldTarget,
    receiver_index_range: Option<NumericRange>,
    write_index_range: Option<NumericRange>,
    handling: OverrideValueHandling,
    override_value: Variant,
    default_value: Variant,
    /// Last usable value of a callback; a cell keeps it itself.
    last_usable: Option<Variant>,
}

impl ReaderTarget {
    pub(super) fn new(
        field: usize,
        meta_data: &FieldMetaData,
        target: FieldTarget,
        configuration: Option<&FieldTargetDataType>,
    ) -> Result<Self, ConfigurationProblem> {
        let range = |name, text: &str| {
            NumericRange::of_request(Some(text).filter(|text| !text.is_empty()))
                .map_err(|_| ConfigurationProblem::parameter(name, "no NumericRange"))
        };
        let text = |text: Option<&takt_ua::UaString>| text.map_or("", |it| it.as_str()).to_owned();
        let receiver = text(configuration.map(|it| &it.receiver_index_range));
        let write = text(configuration.map(|it| &it.write_index_range));
        Ok(Self {
            field,
            target,
            receiver_index_range: range("ReceiverIndexRange", &receiver)?,
            write_index_range: range("WriteIndexRange", &write)?,
            handling: configuration.map_or(OverrideValueHandling::Disabled, |configuration| {
                configuration.override_value_handling
            }),
            override_value: configuration
                .map(|configuration| configuration.override_value.clone())
                .unwrap_or_default(),
            default_value: default_value(meta_data),
            last_usable: None,
        })
    }

    /// Returns the cell, if a value can be stored in it in its encoding.
    pub(super) fn plain_cell(&self) -> Option<&Arc<Cell>> {
        let ranges = self.receiver_index_range.is_some() || self.write_index_range.is_some();
        match &self.target {
            FieldTarget::Cell(cell) if !ranges => Some(cell),
            _ => None,
        }
    }

    /// Writes a received value; a Bad value is replaced as configured (OPC 10000-14, Table 80).
    pub(super) fn write(&mut self, value: DataValue, now: DateTime) -> Result<(), StatusCode> {
        if value.status_code().is_bad() {
            let status = value.status_code();
            return self.write_instead(status, now);
        }
        let mut value = value;
        if let (Some(range), Some(whole)) = (&self.receiver_index_range, &value.value) {
            match range.read(whole) {
                Ok(part) => value.value = Some(part),
                Err(status) => {
                    self.write_instead(status, now)?;
                    return Err(status);
                }
            }
        }
        self.store(value, now)
    }

    /// Writes the replacement of the value while the reader is not Operational.
    pub(super) fn write_state(
        &mut self,
        state: PubSubState,
        now: DateTime,
    ) -> Result<(), StatusCode> {
        let status = match state {
            PubSubState::Operational => return Ok(()),
            PubSubState::Disabled | PubSubState::Paused => StatusCode::BadOutOfService,
            PubSubState::PreOperational => StatusCode::BadWaitingForInitialData,
            _ => StatusCode::BadNoCommunication,
        };
        self.write_instead(status, now)
    }

    fn write_instead(&mut self, status: StatusCode, now: DateTime) -> Result<(), StatusCode> {
        let instead = match self.handling {
            OverrideValueHandling::OverrideValue => {
                let value = DataValue::good(self.override_value.clone());
                value.with_status(StatusCode::GoodLocalOverride)
            }
            OverrideValueHandling::LastUsableValue => {
                let value = self
                    .last_usable()
                    .unwrap_or_else(|| self.default_value.clone());
                DataValue::good(value).with_status(StatusCode::UncertainLastUsableValue)
            }
            _ => DataValue::status(status),
        };
        let outcome = self.store(instead.with_source_timestamp(now), now);
        match outcome {
            // The cell holds no value, so no part of it can be replaced.
            Err(_) if self.write_index_range.is_some() => Ok(()),
            outcome => outcome,
        }
    }

    fn last_usable(&self) -> Option<Variant> {
        match &self.target {
            FieldTarget::Cell(cell) => cell.get().ok()?.value,
            FieldTarget::Callback(_) => self.last_usable.clone(),
        }
    }

    fn store(&mut self, value: DataValue, now: DateTime) -> Result<(), StatusCode> {
        let status = value.status_code();
        match &self.target {
            FieldTarget::Callback(callback) => {
                // The copy is only made where it is used.
                if self.handling == OverrideValueHandling::LastUsableValue {
                    self.last_usable.clone_from(&value.value);
                }
                callback(&value)
            }
            FieldTarget::Cell(cell) => {
                let time = value.source_timestamp.unwrap_or(now);
                match &self.write_index_range {
                    Some(range) => store_part(cell, range, value.value, status, time),
                    None => {
                        let stored = match &value.value {
                            None => cell.set_status(status, time),
                            Some(value) => cell.set(value, status, time),
                        };
                        stored.map_err(|error| not_stored(cell, &error, time))
                    }
                }
            }
        }
    }
}

/// Stores a part of the value of a cell. The rest of it stays, even if the part is Bad.
fn store_part(
    cell: &Cell,
    range: &NumericRange,
    part: Option<Variant>,
    status: StatusCode,
    time: DateTime,
) -> Result<(), StatusCode> {
    let code = |error: CellError| error.status_code();
    match (cell.get().map_err(code)?.value, part) {
        (None, None) => cell.set_status(status, time).map_err(code),
        (None, Some(_)) => Err(StatusCode::BadIndexRangeNoData),
        (Some(whole), None) => cell.set(&whole, status, time).map_err(code),
        (Some(mut whole), Some(part)) => {
            let written = range.write(&mut whole, &part);
            let status = written.err().unwrap_or(status);
            cell.set(&whole, status, time).map_err(code)?;
            written
        }
    }
}

/// Returns the StatusCode of a value that a cell has refused, and sets it: its earlier value is not the current one any more.
#[cold]
pub(super) fn not_stored(cell: &Cell, error: &CellError, time: DateTime) -> StatusCode {
    let status = error.status_code();
    // A cell that does not take a status either has too many threads that set it.
    let _ = cell.set_status(status, time);
    status
}

/// Returns the default value of the field's type, for a field without a last usable value: zero or empty.
fn default_value(meta_data: &FieldMetaData) -> Variant {
    let Some(built_in_type) = takt_ua::BuiltInType::from_u8(meta_data.built_in_type) else {
        return Variant::Empty;
    };
    if meta_data.value_rank >= 0 {
        return takt_ua::Array::new(takt_ua::Elements::empty(built_in_type)).into();
    }
    Variant::default_of(built_in_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(handling: OverrideValueHandling) -> (ReaderTarget, Arc<Cell>) {
        let cell = Arc::new(Cell::of(&Variant::Int32(1)));
        let configuration = FieldTargetDataType {
            override_value_handling: handling,
            override_value: Variant::Int32(99),
            ..FieldTargetDataType::default()
        };
        let meta_data = FieldMetaData {
            built_in_type: 6,
            value_rank: -1,
            ..FieldMetaData::default()
        };
        let target = FieldTarget::Cell(cell.clone());
        (
            ReaderTarget::new(0, &meta_data, target, Some(&configuration)).unwrap(),
            cell,
        )
    }

    #[test]
    fn bad_values_are_replaced_as_in_table_80() {
        use OverrideValueHandling as Handling;
        let now = DateTime::now();
        let bad = DataValue::status(StatusCode::BadSensorFailure);
        for (handling, value, status) in [
            (Handling::Disabled, None, StatusCode::BadSensorFailure),
            (
                Handling::LastUsableValue,
                Some(5),
                StatusCode::UncertainLastUsableValue,
            ),
            (
                Handling::OverrideValue,
                Some(99),
                StatusCode::GoodLocalOverride,
            ),
        ] {
            let (mut target, cell) = target(handling);
            target.write(DataValue::good(5_i32), now).unwrap();
            assert_eq!(cell.get().unwrap().value, Some(Variant::Int32(5)));
            target.write(bad.clone(), now).unwrap();
            let found = cell.get().unwrap();
            assert_eq!(found.value, value.map(Variant::Int32));
            assert_eq!(found.status_code(), status);
        }
    }

    #[test]
    fn a_reader_that_is_not_operational_sets_a_bad_status() {
        use OverrideValueHandling as Handling;
        let now = DateTime::now();
        for (state, status) in [
            (PubSubState::Error, StatusCode::BadNoCommunication),
            (PubSubState::Paused, StatusCode::BadOutOfService),
            (
                PubSubState::PreOperational,
                StatusCode::BadWaitingForInitialData,
            ),
        ] {
            let (mut target, cell) = target(Handling::Disabled);
            target.write_state(state, now).unwrap();
            assert_eq!(cell.get().unwrap().status_code(), status);
        }
        let (mut target, cell) = target(Handling::LastUsableValue);
        target.write_state(PubSubState::Error, now).unwrap();
        target.write_state(PubSubState::Paused, now).unwrap();
        assert_eq!(cell.get().unwrap().value, Some(Variant::Int32(1)));
        target.write_state(PubSubState::Operational, now).unwrap();
        assert_eq!(
            cell.get().unwrap().status_code(),
            StatusCode::UncertainLastUsableValue
        );
    }

    #[test]
    fn parts_of_arrays_are_taken_and_put() {
        let cell = Arc::new(Cell::of(&Variant::from(vec![0_i32; 4])));
        let configuration = FieldTargetDataType {
            receiver_index_range: "1:2".into(),
            write_index_range: "2:3".into(),
            ..FieldTargetDataType::default()
        };
        let field = FieldTarget::Cell(cell.clone());
        let meta_data = FieldMetaData::default();
        let mut target = ReaderTarget::new(0, &meta_data, field, Some(&configuration)).unwrap();
        target
            .write(DataValue::good(vec![1_i32, 2, 3]), DateTime::now())
            .unwrap();
        assert_eq!(
            cell.get().unwrap().value,
            Some(Variant::from(vec![0_i32, 0, 2, 3]))
        );
        assert!(target.plain_cell().is_none());
    }
}
