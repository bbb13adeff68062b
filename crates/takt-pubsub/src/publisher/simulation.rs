//! Simulated values for experiments.

use std::time::Instant;

use takt_ua::{Array, BuiltInType, DataValue, DateTime, Elements, Variant};

use super::source::{DataSource, FieldSource, PublishedField};

/// Source of simulated values for all fields: numbers follow a sine of 10 s between 0 and 100, integers count tenths of seconds,
/// Booleans change every second, texts contain the elapsed seconds.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedValues {
    start: Instant,
}

impl SimulatedValues {
    /// Creates a simulation that begins now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SimulatedValues {
    fn default() -> Self {
        Self::new()
    }
}

impl DataSource for SimulatedValues {
    /// Returns a source; `None` for types that are not simulated, such as structures.
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource> {
        let built_in_type = BuiltInType::from_u8(field.meta_data.built_in_type)?;
        let count = match (
            field.meta_data.value_rank,
            field.meta_data.array_dimensions.as_slice(),
        ) {
            (..0, _) => None,
            (_, []) => Some(1),
            (_, [count, ..]) => Some(*count as usize),
        };
        let start = self.start;
        value_at(built_in_type, 0.0)?;
        Some(FieldSource::Callback(Box::new(move || {
            let seconds = start.elapsed().as_secs_f64();
            let value = value_at(built_in_type, seconds).unwrap_or_default();
            let value = match count {
                None => value,
                Some(count) => {
                    let mut elements = Elements::empty(built_in_type);
                    // The elements have the type of the array.
                    let pushed = (0..count).all(|_| elements.push(value.clone()).is_ok());
                    debug_assert!(pushed);
                    Variant::from(Array::new(elements))
                }
            };
            DataValue::good(value).with_source_timestamp(DateTime::now())
        })))
    }
}

fn value_at(built_in_type: BuiltInType, seconds: f64) -> Option<Variant> {
    let tenths = (seconds * 10.0) as u64;
    let sine = 50.0 + 50.0 * (seconds * std::f64::consts::TAU / 10.0).sin();
    Some(match built_in_type {
        BuiltInType::Boolean => Variant::Boolean(seconds as u64 % 2 == 1),
        BuiltInType::SByte => Variant::SByte((tenths % 100) as i8),
        BuiltInType::Byte => Variant::Byte((tenths % 256) as u8),
        BuiltInType::Int16 => Variant::Int16((tenths % 10_000) as i16),
        BuiltInType::UInt16 => Variant::UInt16((tenths % 10_000) as u16),
        BuiltInType::Int32 => Variant::Int32((tenths % 1_000_000) as i32),
        BuiltInType::UInt32 => Variant::UInt32(tenths as u32),
        BuiltInType::Int64 => Variant::Int64(tenths as i64),
        BuiltInType::UInt64 => Variant::UInt64(tenths),
        BuiltInType::Float => Variant::Float(sine as f32),
        BuiltInType::Double => Variant::Double(sine),
        BuiltInType::String => Variant::from(format!("{:.0} s", seconds.floor())),
        BuiltInType::DateTime => Variant::DateTime(DateTime::now()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::structures::{FieldMetaData, PublishedDataSetDataType};

    #[test]
    fn values_have_the_type_of_the_field() {
        for built_in_type in BuiltInType::all() {
            for dimensions in [vec![], vec![3]] {
                let meta_data = FieldMetaData {
                    built_in_type: built_in_type as u8,
                    value_rank: if dimensions.is_empty() { -1 } else { 1 },
                    array_dimensions: dimensions.clone(),
                    ..FieldMetaData::default()
                };
                let data_set = PublishedDataSetDataType::default();
                let field = PublishedField {
                    data_set: &data_set,
                    meta_data: &meta_data,
                    variable: None,
                };
                let Some(source) = SimulatedValues::new().source(field) else {
                    assert!(built_in_type as u8 > 13, "{built_in_type}");
                    continue;
                };
                let value = source.read().value.unwrap();
                assert_eq!(value.built_in_type(), Some(built_in_type));
                assert_eq!(
                    value.as_array().map(|array| array.len()),
                    dimensions.first().map(|it| *it as usize)
                );
            }
        }
    }
}
