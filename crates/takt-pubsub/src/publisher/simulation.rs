//! Simulated values for experiments.

use std::time::Instant;

use takt_ua::structures::FieldMetaData;
use takt_ua::{
    Array, BuiltInType, DataValue, DateTime, Elements, ExpandedNodeId, Guid, LocalizedText, NodeId,
    QualifiedName, StatusCode, Variant,
};

use super::source::{DataSource, FieldSource, PublishedField};

/// Greatest number of elements of a simulated array.
const MAX_ELEMENTS: usize = 1 << 20;

/// Greatest number of dimensions of a simulated matrix.
const MAX_RANK: usize = 8;

/// Source of simulated values: numbers follow a sine of 10 s between 0 and 100, integers count tenths of seconds, Booleans change
/// every second, texts, names and identifiers contain the elapsed seconds. Each element of an array or matrix has the same value.
/// Structures and DiagnosticInfos are not simulated.
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
        let meta_data = field.meta_data;
        let built_in_type = BuiltInType::from_u8(meta_data.built_in_type)?;
        let dimensions = dimensions(meta_data)?;
        let longest = meta_data.max_string_length as usize;
        let start = self.start;
        value_at(built_in_type, 0.0, longest)?;
        Some(FieldSource::Callback(Box::new(move || {
            let seconds = start.elapsed().as_secs_f64();
            let value = value_at(built_in_type, seconds, longest).unwrap_or_default();
            let value = match &dimensions {
                None => value,
                Some(dimensions) => {
                    let count = dimensions.iter().product::<u32>();
                    let mut elements = Elements::empty(built_in_type);
                    // The elements have the type of the array.
                    let pushed = (0..count).all(|_| elements.push(value.clone()).is_ok());
                    debug_assert!(pushed);
                    let array = match dimensions.len() {
                        1 => Array::new(elements),
                        _ => Array {
                            elements,
                            dimensions: dimensions.clone(),
                        },
                    };
                    array.into()
                }
            };
            DataValue::good(value).with_source_timestamp(DateTime::now())
        })))
    }
}

/// Returns the lengths of the dimensions, without any for a scalar; `None` if there are too many elements. A length that is not known
/// is 1, in a matrix 2.
fn dimensions(meta_data: &FieldMetaData) -> Option<Option<Vec<u32>>> {
    // ScalarOrOneDimension and Any are scalars, too.
    let rank = match meta_data.value_rank {
        ..0 => return Some(None),
        rank => usize::try_from(rank).ok()?.max(1),
    };
    let unknown = if rank == 1 { 1 } else { 2 };
    let mut lengths: Vec<u32> = meta_data.array_dimensions.clone();
    if rank > MAX_RANK {
        return None;
    }
    lengths.resize(rank, 0);
    for length in lengths.iter_mut().filter(|length| **length == 0) {
        *length = unknown;
    }
    let count = lengths.iter().try_fold(1_usize, |product, length| {
        product.checked_mul(*length as usize)
    });
    count.filter(|count| *count <= MAX_ELEMENTS)?;
    Some(Some(lengths))
}

/// Returns a value; texts have at most `longest` bytes, unless that is 0.
fn value_at(built_in_type: BuiltInType, seconds: f64, longest: usize) -> Option<Variant> {
    let tenths = (seconds * 10.0) as u64;
    let whole = seconds as u32;
    let sine = 50.0 + 50.0 * (seconds * std::f64::consts::TAU / 10.0).sin();
    let text = || {
        let mut text = format!("{whole} s");
        // The text is ASCII, so it can be cut anywhere.
        text.truncate(if longest == 0 { text.len() } else { longest });
        text
    };
    let node_id = || NodeId::numeric(0, whole);
    Some(match built_in_type {
        BuiltInType::Boolean => Variant::Boolean(whole % 2 == 1),
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
        BuiltInType::String => Variant::from(text()),
        BuiltInType::DateTime => Variant::DateTime(DateTime::now()),
        BuiltInType::Guid => Variant::Guid(Guid {
            data1: tenths as u32,
            ..Guid::NULL
        }),
        BuiltInType::ByteString => Variant::ByteString(text().into_bytes().into()),
        BuiltInType::XmlElement => Variant::XmlElement(format!("<S>{whole}</S>").as_str().into()),
        BuiltInType::NodeId => Variant::from(node_id()),
        BuiltInType::ExpandedNodeId => Variant::from(ExpandedNodeId::from(node_id())),
        // Another one would say that there is no value (OPC 10000-14, Table 162).
        BuiltInType::StatusCode => Variant::StatusCode(StatusCode::Good),
        BuiltInType::QualifiedName => Variant::from(QualifiedName::new(0, text())),
        BuiltInType::LocalizedText => Variant::from(LocalizedText::new("en", text())),
        BuiltInType::DataValue => Variant::from(DataValue::good(sine)),
        BuiltInType::Variant => Variant::Double(sine),
        BuiltInType::ExtensionObject | BuiltInType::DiagnosticInfo => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::structures::PublishedDataSetDataType;

    fn read(meta_data: &FieldMetaData) -> Option<Variant> {
        let data_set = PublishedDataSetDataType::default();
        let field = PublishedField {
            data_set: &data_set,
            meta_data,
            variable: None,
        };
        SimulatedValues::new().source(field)?.read().value
    }

    #[test]
    fn values_have_the_type_and_the_dimensions_of_the_field() {
        for built_in_type in BuiltInType::all() {
            for dimensions in [vec![], vec![3], vec![2, 3], vec![2, 3, 4]] {
                let meta_data = FieldMetaData {
                    built_in_type: built_in_type as u8,
                    value_rank: if dimensions.is_empty() {
                        -1
                    } else {
                        dimensions.len() as i32
                    },
                    array_dimensions: dimensions.clone(),
                    ..FieldMetaData::default()
                };
                let Some(value) = read(&meta_data) else {
                    let without = [BuiltInType::ExtensionObject, BuiltInType::DiagnosticInfo];
                    assert!(without.contains(&built_in_type), "{built_in_type}");
                    continue;
                };
                let any = built_in_type == BuiltInType::Variant && dimensions.is_empty();
                assert!(
                    any || value.built_in_type() == Some(built_in_type),
                    "{built_in_type}"
                );
                let lengths = value.as_array().map(Array::lengths);
                assert_eq!(lengths.unwrap_or_default(), dimensions, "{built_in_type}");
            }
        }
    }

    #[test]
    fn unknown_lengths_are_chosen_and_too_many_elements_are_not() {
        let with = |value_rank, array_dimensions: &[u32]| FieldMetaData {
            built_in_type: BuiltInType::Guid as u8,
            value_rank,
            array_dimensions: array_dimensions.to_vec(),
            ..FieldMetaData::default()
        };
        let lengths = |meta_data| read(&meta_data).map(|it| it.as_array().map(Array::lengths));
        assert_eq!(lengths(with(-2, &[])), Some(None));
        assert_eq!(lengths(with(0, &[])), Some(Some(vec![1])));
        assert_eq!(lengths(with(1, &[])), Some(Some(vec![1])));
        assert_eq!(lengths(with(2, &[])), Some(Some(vec![2, 2])));
        assert_eq!(lengths(with(2, &[3, 0])), Some(Some(vec![3, 2])));
        assert_eq!(lengths(with(2, &[65_535, 65_535])), None);
        assert_eq!(lengths(with(i32::MAX, &[])), None);
    }

    #[test]
    fn texts_keep_their_greatest_length() {
        for built_in_type in [BuiltInType::String, BuiltInType::ByteString] {
            let value = value_at(built_in_type, 12_345.0, 3).unwrap_or_default();
            let shown = format!("{value:?}");
            assert!(!shown.contains("1234"), "{shown}");
        }
        assert_eq!(
            value_at(BuiltInType::String, 12_345.0, 0),
            Some("12345 s".into())
        );
    }
}
