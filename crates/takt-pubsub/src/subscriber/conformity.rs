//! Types of received values: they are those of the metadata, or the values are Bad (OPC 10000-14, 6.2.3.2.4).

use takt_ua::structures::FieldMetaData;
use takt_ua::{BuiltInType, Variant};

/// ValueRanks beside numbers of dimensions (OPC 10000-3, 8.6).
const SCALAR_OR_ONE_DIMENSION: i32 = -3;
const ANY: i32 = -2;
const SCALAR: i32 = -1;

/// Returns true if a value has the type and the dimensions that the metadata has for its field. A null has any.
pub(super) fn conforms(field: &FieldMetaData, value: &Variant) -> bool {
    let Some(found) = value.built_in_type() else {
        return true;
    };
    let same_type = match BuiltInType::from_u8(field.built_in_type) {
        // Metadata without a type, with an abstract one, or with one whose value is any Variant.
        None | Some(BuiltInType::Variant | BuiltInType::DataValue) => true,
        Some(expected) => expected == found,
    };
    same_type && conforms_in_shape(field, value)
}

fn conforms_in_shape(field: &FieldMetaData, value: &Variant) -> bool {
    let Some(array) = value.as_array() else {
        // Software that leaves the ValueRank out sends 0 for its scalars, too.
        return field.value_rank <= 0;
    };
    let lengths = array.lengths();
    let same_rank = match field.value_rank {
        SCALAR => false,
        SCALAR_OR_ONE_DIMENSION => lengths.len() == 1,
        ANY | 0 => true,
        rank => usize::try_from(rank) == Ok(lengths.len()),
    };
    // A length of 0 in the metadata is any.
    let fits = |(found, longest): (&u32, &u32)| *longest == 0 || found <= longest;
    same_rank && lengths.iter().zip(&field.array_dimensions).all(fits)
}

/// Returns the type and the lengths of a value as text, such as `Byte[3][4]`.
pub(super) fn described(value: &Variant) -> String {
    let name = value.built_in_type().map_or("null", BuiltInType::name);
    let lengths = value.as_array().map(|array| array.lengths());
    let lengths = lengths.iter().flatten().map(|length| format!("[{length}]"));
    format!("{name}{}", lengths.collect::<String>())
}

/// Returns the type and the dimensions of a field as text.
pub(super) fn expected(field: &FieldMetaData) -> String {
    let name = BuiltInType::from_u8(field.built_in_type).map_or("any type", BuiltInType::name);
    let rank = usize::try_from(field.value_rank).unwrap_or(0);
    let lengths = (0..rank).map(|index| match field.array_dimensions.get(index) {
        None | Some(0) => "[]".to_owned(),
        Some(length) => format!("[{length}]"),
    });
    format!("{name}{}", lengths.collect::<String>())
}

#[cfg(test)]
mod tests {
    use takt_ua::Array;

    use super::*;

    fn field(built_in_type: u8, value_rank: i32, array_dimensions: &[u32]) -> FieldMetaData {
        FieldMetaData {
            built_in_type,
            value_rank,
            array_dimensions: array_dimensions.to_vec(),
            ..FieldMetaData::default()
        }
    }

    #[test]
    fn values_have_type_rank_and_lengths_of_the_metadata() {
        let number = Variant::UInt32(1);
        let list = Variant::from(vec![1_u32, 2]);
        let matrix = Array {
            dimensions: vec![2, 1],
            ..Array::new(vec![1_u32, 2])
        };
        let matrix = Variant::from(matrix);
        let (uint32, double, any) = (7, 11, 24);
        // The field, and whether scalar, list and matrix conform to it.
        for (field, expected) in [
            (field(uint32, -1, &[]), [true, false, false]),
            (field(double, -1, &[]), [false; 3]),
            (field(double, 1, &[]), [false; 3]),
            (field(any, -1, &[]), [true, false, false]),
            (field(any, -2, &[]), [true; 3]),
            (field(0, -2, &[]), [true; 3]),
            (field(uint32, -3, &[]), [true, true, false]),
            (field(uint32, 1, &[]), [false, true, false]),
            (field(uint32, 1, &[2]), [false, true, false]),
            (field(uint32, 1, &[1]), [false; 3]),
            (field(uint32, 1, &[0]), [false, true, false]),
            (field(uint32, 2, &[2, 1]), [false, false, true]),
            (field(uint32, 2, &[1, 2]), [false; 3]),
        ] {
            let found = [&number, &list, &matrix].map(|value| conforms(&field, value));
            assert_eq!(found, expected, "{field:?}");
            assert!(conforms(&field, &Variant::Empty));
        }
    }

    #[test]
    fn types_are_named_with_their_lengths() {
        assert_eq!(described(&Variant::from(vec![1_u8, 2])), "Byte[2]");
        assert_eq!(described(&Variant::Empty), "null");
        assert_eq!(expected(&field(11, 2, &[3])), "Double[3][]");
        assert_eq!(expected(&field(24, -2, &[])), "Variant");
    }
}
