//! Targets of received fields (OPC 10000-14, 6.2.10 and 6.2.11).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::enumerations::{OverrideValueHandling, PubSubState};
use takt_ua::structures::{DataSetReaderDataType, FieldMetaData, FieldTargetDataType};
use takt_ua::{DataValue, DateTime, NodeId, NumericRange, StatusCode, Variant};

use super::cell_parts::CellPart;
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
    /// Part of the target's value that is written.
    part: Option<CellPart>,
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
            part: range("WriteIndexRange", &write)?.map(CellPart::new),
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
        let ranges = self.receiver_index_range.is_some() || self.part.is_some();
        match &self.target {
            FieldTarget::Cell(cell) if !ranges => Some(cell),
            _ => None,
        }
    }

    /// Returns the part of a cell that is written, if it is one.
    pub(super) fn part_mut(&mut self) -> Option<(&Arc<Cell>, &mut CellPart)> {
        match &self.target {
            FieldTarget::Cell(cell) => Some((cell, self.part.as_mut()?)),
            FieldTarget::Callback(_) => None,
        }
    }

    /// Writes a received value; a Bad value is replaced as configured (OPC 10000-14, Table 80), and so is a value that
    /// cannot be written.
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
                    self.fail(status, now);
                    return Err(status);
                }
            }
        }
        let stored = self.store(value, now);
        // A callback that refuses a value knows of the error itself.
        if let (Err(status), FieldTarget::Cell(_)) = (stored, &self.target) {
            self.fail(status, now);
        }
        stored
    }

    /// Replaces the value after an error: an older one would look current.
    #[cold]
    pub(super) fn fail(&mut self, status: StatusCode, now: DateTime) {
        // The first error is reported.
        let _ = self.write_instead(status, now);
    }

    /// Marks a good value as uncertain. It may have changed: a message was lost.
    #[cold]
    pub(super) fn doubt(&mut self) {
        let uncertain = StatusCode::UncertainLastUsableValue;
        // The value itself stays, so that nothing can fail but setting a cell that others set all the time.
        let _ = match (&self.target, &self.part) {
            (FieldTarget::Cell(cell), Some(part)) => part.doubt(cell),
            (FieldTarget::Cell(cell), None) => match cell.reading() {
                Ok(reading) if reading.status.is_good() => cell
                    .change_status(uncertain)
                    .map_err(|error| error.status_code()),
                _ => Ok(()),
            },
            (FieldTarget::Callback(callback), _) => match &self.last_usable {
                Some(last) => callback(&DataValue::good(last.clone()).with_status(uncertain)),
                None => Ok(()),
            },
        };
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
        let bad = DataValue::status(status);
        let instead = match self.handling {
            OverrideValueHandling::OverrideValue => {
                let value = DataValue::good(self.override_value.clone());
                value.with_status(StatusCode::GoodLocalOverride)
            }
            OverrideValueHandling::LastUsableValue => {
                let last = match (&self.part, &self.target) {
                    // The cell keeps the part.
                    (Some(_), FieldTarget::Cell(_)) => DataValue::default(),
                    _ => DataValue::good(
                        self.last_usable()
                            .unwrap_or_else(|| self.default_value.clone()),
                    ),
                };
                last.with_status(StatusCode::UncertainLastUsableValue)
            }
            _ => bad.clone(),
        };
        let outcome = self.store(instead.with_source_timestamp(now), now);
        if let (Err(_), FieldTarget::Cell(_)) = (outcome, &self.target) {
            self.store(bad.with_source_timestamp(now), now)?;
        }
        outcome
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
                let stored = match (&self.part, value.value) {
                    (Some(part), value) => return part.store(cell, value.as_ref(), status, time),
                    (None, None) => cell.set_status(status, time),
                    (None, Some(value)) => cell.set(&value, status, time),
                };
                stored.map_err(|error| error.status_code())
            }
        }
    }
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
mod tests;
