//! Sources of the fields of PublishedDataSets.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use takt_cell::{Cell, CellError};
use takt_ua::structures::{FieldMetaData, PublishedDataSetDataType, PublishedVariableDataType};
use takt_ua::{DataValue, NodeId, StatusCode, Variant};

/// Source of the value of a field.
pub enum FieldSource {
    /// Cell, which a Provider may serve and a real-time thread may set. Only cells are read without allocation.
    Cell(Arc<Cell>),
    /// Function, called once in each publishing interval on the publishing thread.
    Callback(Box<dyn Fn() -> DataValue + Send>),
    /// Value that never changes, such as an extension field.
    Constant(DataValue),
}

impl FieldSource {
    /// Returns the current value.
    pub fn read(&self) -> DataValue {
        match self {
            Self::Cell(cell) => cell.get().unwrap_or_else(failed),
            Self::Callback(callback) => callback(),
            Self::Constant(value) => value.clone(),
        }
    }

    pub(crate) fn cell(&self) -> Option<&Cell> {
        match self {
            Self::Cell(cell) => Some(cell),
            _ => None,
        }
    }
}

fn failed(error: CellError) -> DataValue {
    DataValue::status(error.status_code())
}

impl fmt::Debug for FieldSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell(cell) => formatter.debug_tuple("Cell").field(cell).finish(),
            Self::Callback(_) => formatter.write_str("Callback"),
            Self::Constant(value) => formatter.debug_tuple("Constant").field(value).finish(),
        }
    }
}

/// Field that needs a source.
#[derive(Debug, Clone, Copy)]
pub struct PublishedField<'a> {
    /// DataSet of the field.
    pub data_set: &'a PublishedDataSetDataType,
    /// Name and type of the field.
    pub meta_data: &'a FieldMetaData,
    /// Variable of the field, if the DataSet consists of Variables.
    pub variable: Option<&'a PublishedVariableDataType>,
}

/// Set of sources of fields.
pub trait DataSource {
    /// Returns the source of a field; `None` if there is none here.
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource>;
}

impl<F: FnMut(PublishedField<'_>) -> Option<FieldSource>> DataSource for F {
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource> {
        self(field)
    }
}

/// Cells by the NodeIds of their Variables.
impl DataSource for HashMap<NodeId, Arc<Cell>> {
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource> {
        let cell = self.get(&field.variable?.published_variable)?;
        Some(FieldSource::Cell(cell.clone()))
    }
}

/// Returns the published value: a SubstituteValue replaces a Bad value (OPC 10000-14, 6.2.11.1, Table 79).
pub(crate) fn substituted(value: DataValue, substitute: &Variant) -> DataValue {
    if !value.status_code().is_bad() || substitute.is_empty() {
        return value;
    }
    DataValue {
        value: Some(substitute.clone()),
        status: Some(StatusCode::UncertainSubstituteValue),
        ..value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitute_takes_the_place_of_bad_values_only() {
        let bad = DataValue::status(StatusCode::BadNoCommunication);
        let substitute = Variant::Int32(7);
        let published = substituted(bad.clone(), &substitute);
        assert_eq!(published.value, Some(Variant::Int32(7)));
        assert_eq!(
            published.status_code(),
            StatusCode::UncertainSubstituteValue
        );
        assert_eq!(substituted(bad.clone(), &Variant::Empty), bad);
        let good = DataValue::good(1_i32);
        assert_eq!(substituted(good.clone(), &substitute), good);
    }
}
