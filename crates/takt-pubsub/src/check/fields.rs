//! Fields of DataSets: names, types and dimensions (OPC 10000-14, 6.2.3.2.4), and the parameters of their Variables.

use std::collections::HashSet;

use takt_ua::structures::{DataSetMetaDataType, FieldMetaData, PublishedVariableDataType};
use takt_ua::{BuiltInType, Guid, Variant};

use super::mistake::Place;
use super::values::{optional_time, range};

/// Greatest number of elements of an array: more do not fit a message.
const MAX_ELEMENTS: u64 = 16 << 20;

/// Checks the metadata of a DataSet; `table` is the one of its fields.
pub(super) fn check(place: &mut Place<'_>, table: &'static str, meta_data: &DataSetMetaDataType) {
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    for (index, field) in meta_data.fields.iter().enumerate() {
        let mut place = place.entry(table, field.name.as_str(), index);
        if field.name.as_str().is_empty() {
            place.error("name", "is missing", "Give the field a name");
        } else if !names.insert(field.name.as_str()) {
            let what = format!("field #{} has the name of an earlier one", index + 1);
            place.error("name", what, "Give each field a name of its own");
        }
        let id = field.data_set_field_id;
        if id != Guid::default() && !ids.insert(id) {
            place.error(
                "data_set_field_id",
                format!("{id} is the id of an earlier field, too"),
                "Leave it out, or give each field one of its own",
            );
        }
        check_type(&mut place, field);
        check_dimensions(&mut place, field);
    }
}

fn check_type(place: &mut Place<'_>, field: &FieldMetaData) {
    let Some(built_in) = BuiltInType::from_u8(field.built_in_type) else {
        match field.built_in_type {
            0 => place.error("data_type", "is missing", "Write data_type = \"Double\""),
            other => place.error(
                "built_in_type",
                format!("{other} is no built-in type"),
                "Use the name of one, such as \"Double\"",
            ),
        }
        return;
    };
    let id = &field.data_type;
    // The DataTypes with these NodeIds are the built-in types: their numbers are the same.
    let named = (id.namespace == 0)
        .then(|| (1..=25).find(|number| *id == takt_ua::NodeId::numeric(0, u32::from(*number))));
    if let Some(Some(number)) = named
        && number != field.built_in_type
        && let Some(named) = BuiltInType::from_u8(number)
    {
        place.error(
            "built_in_type",
            format!(
                "{} is not the encoding of {}",
                built_in.name(),
                named.name()
            ),
            format!("Write data_type = \"{}\" alone", named.name()),
        );
    }
    let is_text = matches!(
        built_in,
        BuiltInType::String | BuiltInType::ByteString | BuiltInType::XmlElement
    );
    let is_structure = built_in == BuiltInType::ExtensionObject;
    if field.max_string_length != 0 && !is_text && !is_structure {
        let what = format!("has no meaning for {}", built_in.name());
        place.warning("max_string_length", what, "It is for texts: remove it");
    }
}

fn check_dimensions(place: &mut Place<'_>, field: &FieldMetaData) {
    let (rank, dimensions) = (field.value_rank, &field.array_dimensions);
    if rank < -3 {
        place.error(
            "value_rank",
            format!("{rank} is no ValueRank"),
            "Use -1 for a scalar, 1 for an array, 2 or more for a matrix",
        );
    } else if !dimensions.is_empty() && usize::try_from(rank) != Ok(dimensions.len()) {
        place.error(
            "array_dimensions",
            format!(
                "{} dimensions do not fit the value_rank {rank}",
                dimensions.len()
            ),
            "Write the lengths with the type instead, such as data_type = \"Byte[3][4]\"",
        );
    }
    // 0 stands for any length.
    let elements = dimensions
        .iter()
        .try_fold(1_u64, |product, length| {
            product.checked_mul(u64::from(*length).max(1))
        })
        .unwrap_or(u64::MAX);
    if elements > MAX_ELEMENTS {
        place.error(
            "data_type",
            format!("{elements} elements do not fit a message"),
            "Write the length that the array has",
        );
    }
}

/// Checks the parameters of a published Variable.
pub(super) fn check_variable(
    place: &mut Place<'_>,
    field: &FieldMetaData,
    variable: &PublishedVariableDataType,
) {
    check_attribute(place, variable.attribute_id);
    range(place, "index_range", variable.index_range.as_str());
    // A negative number stands for the publishing interval (OPC 10000-14, 6.2.3.7.1).
    optional_time(
        place,
        "sampling_interval_hint",
        variable.sampling_interval_hint,
    );
    check_value(place, "substitute_value", field, &variable.substitute_value);
    check_deadband(place, field, variable);
}

fn check_deadband(
    place: &mut Place<'_>,
    field: &FieldMetaData,
    variable: &PublishedVariableDataType,
) {
    let value = variable.deadband_value;
    // 26 to 28 are Number, Integer and UInteger.
    let is_number = matches!(field.built_in_type, 2..=11 | 26..=28);
    match variable.deadband_type {
        0 if value != 0.0 => place.warning(
            "deadband_value",
            "has no effect without a deadband_type",
            "Write deadband_type = \"Absolute\"",
        ),
        0 => {}
        1 | 2 if !is_number => place.error(
            "deadband_type",
            "the field is not a number, and has no deadband",
            "Remove it",
        ),
        1 | 2 if !value.is_finite() || value < 0.0 => place.error(
            "deadband_value",
            format!("{value} is negative or no number"),
            "Write the smallest change that is sent",
        ),
        1 => {}
        2 => place.warning(
            "deadband_type",
            "a Publisher does not have the EURange of Percent, and sends each change",
            "Use \"Absolute\", with a value in the unit of the field",
        ),
        other => place.error(
            "deadband_type",
            format!("{other} is no DeadbandType"),
            "Use \"None\" or \"Absolute\"",
        ),
    }
}

/// Checks the number of an attribute; only values are published and written.
pub(super) fn check_attribute(place: &mut Place<'_>, attribute_id: u32) {
    const VALUE: u32 = 13;
    if attribute_id != VALUE {
        place.warning(
            "attribute_id",
            format!("{attribute_id} is ignored: Takt publishes and writes the Value, 13"),
            "Leave it out",
        );
    }
}

/// Checks a value that replaces one of the field: it has the type and the rank of the field.
pub(super) fn check_value(
    place: &mut Place<'_>,
    key: &'static str,
    field: &FieldMetaData,
    value: &Variant,
) {
    let Some(wanted) = BuiltInType::from_u8(field.built_in_type) else {
        return;
    };
    let fix = "Write a value like those of the field";
    match value.built_in_type() {
        None => return,
        Some(found) if found != wanted && wanted != BuiltInType::Variant => {
            let what = format!("is {}, and the field is {}", found.name(), wanted.name());
            return place.error(key, what, fix);
        }
        Some(_) => {}
    }
    match (field.value_rank, value.as_array()) {
        (-1, Some(_)) => place.error(key, "is an array, and the field is a scalar", fix),
        (0.., None) => place.error(key, "is a scalar, and the field is an array", fix),
        (_, Some(array)) => {
            let (found, wanted) = (array.lengths(), &field.array_dimensions);
            let differs = found.len() != wanted.len()
                || found
                    .iter()
                    .zip(wanted)
                    .any(|(found, wanted)| *wanted != 0 && found > wanted);
            if !wanted.is_empty() && differs {
                let what = format!("has the lengths {found:?}, and the field {wanted:?}");
                place.error(key, what, fix);
            }
        }
        _ => {}
    }
}
