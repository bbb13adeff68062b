//! The tables that describe structures and enumerations agree with the generated types.

use takt_ua::BuiltInType;
use takt_ua::enumerations::ServerState;
use takt_ua::generated::descriptions::{ENCODINGS, ENUMERATIONS, STRUCTURES};
use takt_ua::generated_support::{EnumerationDescription, FieldType, StructureDescription};
use takt_ua::structures::{Argument, LogRecord, ReadRequest};
use takt_ua::{Structure, ids};

#[test]
fn tables_are_sorted_for_look_up() {
    assert!(STRUCTURES.is_sorted_by_key(|structure| structure.type_id));
    assert!(ENUMERATIONS.is_sorted_by_key(|enumeration| enumeration.type_id));
    assert!(ENCODINGS.is_sorted_by_key(|(encoding, _)| *encoding));
    for enumeration in ENUMERATIONS {
        assert!(
            enumeration.values.is_sorted_by_key(|(value, _)| *value),
            "{}",
            enumeration.name
        );
    }
}

#[test]
fn every_type_that_a_field_names_is_described() {
    for structure in STRUCTURES {
        for field in structure.fields {
            let known = match field.field_type {
                FieldType::BuiltIn(_) => true,
                FieldType::Structure(id) => StructureDescription::of_type(id).is_some(),
                FieldType::Enumeration(id) => EnumerationDescription::of_type(id).is_some(),
            };
            assert!(known, "{} of {}", field.name, structure.name);
        }
    }
    for (encoding, type_id) in ENCODINGS {
        let structure = StructureDescription::of_encoding(*encoding).unwrap();
        assert_eq!(structure.type_id, *type_id);
    }
}

#[test]
fn descriptions_are_found_by_type_and_encoding() {
    let read = StructureDescription::of_encoding(ReadRequest::BINARY_ENCODING_ID).unwrap();
    assert_eq!(
        (read.name, read.type_id),
        (ReadRequest::NAME, ReadRequest::TYPE_ID)
    );
    let names: Vec<_> = read.fields.iter().map(|field| field.name).collect();
    assert_eq!(
        names,
        [
            "RequestHeader",
            "MaxAge",
            "TimestampsToReturn",
            "NodesToRead"
        ]
    );
    assert_eq!(
        read.fields[3].field_type,
        FieldType::Structure(ids::READ_VALUE_ID)
    );
    assert!(read.fields[3].is_array && !read.has_optional_fields());

    let argument = StructureDescription::of_encoding(ids::ARGUMENT_ENCODING_DEFAULT_XML).unwrap();
    assert_eq!(argument.type_id, Argument::TYPE_ID);
    assert_eq!(
        argument.fields[3].field_type,
        FieldType::BuiltIn(BuiltInType::UInt32)
    );

    let record = StructureDescription::of_type(LogRecord::TYPE_ID).unwrap();
    assert!(record.has_optional_fields());
    assert_eq!(StructureDescription::of_type(ids::READ_REQUEST + 1), None);
}

#[test]
fn enumerations_name_their_values() {
    let state = EnumerationDescription::of_type(ServerState::TYPE_ID).unwrap();
    assert_eq!(state.name_of(ServerState::Running.0), Some("Running"));
    assert_eq!(state.value_of("Suspended"), Some(ServerState::Suspended.0));
    assert_eq!((state.name_of(99), state.value_of("Asleep")), (None, None));
}
