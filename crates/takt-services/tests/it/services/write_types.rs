//! Write: values that a Variable accepts (OPC 10000-4, 5.11.4; OPC 10000-3, 5.6.2).

use std::sync::Arc;

use crate::common::{Client, server};
use crate::services::write::{good, refused, variable, wrong};
use takt_space::{Value, value_rank};
use takt_ua::structures::{Argument, Range};
use takt_ua::{Array, ByteString, ExtensionObject, NodeId, StatusCode, Variant, XmlElement, ids};

#[test]
fn types_must_match() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let double = variable(&space, "double", ids::DOUBLE, 1.0_f64);
    good(&mut client, &double, 2.5_f64);
    wrong(&mut client, &double, 1_i32);
    wrong(&mut client, &double, "1.0");
    wrong(&mut client, &double, vec![1.0_f64]);
    wrong(&mut client, &double, Variant::Empty);

    // Duration is a Double, an enumeration an Int32 (OPC 10000-3, 8).
    let duration = variable(&space, "duration", ids::DURATION, 1.0_f64);
    good(&mut client, &duration, 500.0_f64);
    let state = variable(&space, "state", ids::SERVER_STATE, 0_i32);
    good(&mut client, &state, 3_i32);
    wrong(&mut client, &state, 3_u32);

    let number = variable(&space, "number", ids::NUMBER, 0_u8);
    good(&mut client, &number, 1_i64);
    good(&mut client, &number, 1.5_f32);
    wrong(&mut client, &number, "one");
    let unsigned = variable(&space, "unsigned", ids::UINTEGER, 0_u8);
    good(&mut client, &unsigned, 1_u64);
    wrong(&mut client, &unsigned, 1_i8);
    let signed = variable(&space, "signed", ids::INTEGER, 0_i8);
    good(&mut client, &signed, -1_i16);
    wrong(&mut client, &signed, 1.0_f64);
    let anything = variable(&space, "anything", ids::BASE_DATA_TYPE, 0_i8);
    good(&mut client, &anything, "text");
    good(&mut client, &anything, XmlElement::from("<a/>"));
    assert_eq!(
        client.write_value(anything, Variant::Empty),
        StatusCode::Good
    );
    let nowhere = variable(&space, "unknown DataType", 999_999, 0_i8);
    wrong(&mut client, &nowhere, 1_i8);
}

#[test]
fn structures_must_be_of_the_data_type() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let range = ExtensionObject::from_structure(&Range {
        low: 0.0,
        high: 1.0,
    });
    let argument = ExtensionObject::from_structure(&Argument::default());
    let node = variable(&space, "range", ids::RANGE, range.clone());
    good(&mut client, &node, range.clone());
    wrong(&mut client, &node, argument.clone());
    let unknown = ExtensionObject {
        type_id: NodeId::numeric(1, 5),
        ..range.clone()
    };
    wrong(&mut client, &node, unknown);
    let any = variable(&space, "any", ids::STRUCTURE, range.clone());
    good(&mut client, &any, argument.clone());
    let several = space
        .add_variable("ranges")
        .data_type(ids::RANGE)
        .array(0)
        .value(Value::stored(vec![range.clone()]))
        .writable()
        .add()
        .unwrap();
    good(&mut client, &several, vec![range.clone(), range.clone()]);
    wrong(&mut client, &several, vec![range, argument]);
}

#[test]
fn ranks_and_dimensions_must_match() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let matrix = || Variant::from(Array::matrix(vec![1_u32, 2, 3, 4], &[2, 2]).unwrap());
    let with_rank = |rank: i32, dimensions: &[u32], value: Variant| {
        space
            .add_variable(format!("rank {rank} {dimensions:?}").as_str())
            .data_type(ids::UINT32)
            .value(Value::stored(value))
            .value_rank(rank, dimensions)
            .writable()
            .add()
            .unwrap()
    };
    let any = with_rank(value_rank::ANY, &[], 1_u32.into());
    good(&mut client, &any, vec![1_u32]);
    good(&mut client, &any, matrix());
    let list = with_rank(value_rank::ONE_DIMENSION, &[3], vec![1_u32].into());
    good(&mut client, &list, vec![1_u32, 2, 3]);
    refused(
        &mut client,
        &list,
        vec![1_u32, 2, 3, 4],
        StatusCode::BadOutOfRange,
    );
    wrong(&mut client, &list, 1_u32);
    wrong(&mut client, &list, matrix());
    let either = with_rank(value_rank::SCALAR_OR_ONE_DIMENSION, &[], 1_u32.into());
    good(&mut client, &either, vec![7_u32]);
    good(&mut client, &either, 7_u32);
    wrong(&mut client, &either, matrix());
    let arrays = with_rank(value_rank::ONE_OR_MORE_DIMENSIONS, &[], vec![1_u32].into());
    good(&mut client, &arrays, matrix());
    wrong(&mut client, &arrays, 7_u32);
    let two = with_rank(2, &[2, 0], matrix());
    good(&mut client, &two, matrix());
    let tall = Array::matrix(vec![1_u32, 2, 3], &[3, 1]).unwrap();
    refused(&mut client, &two, tall, StatusCode::BadOutOfRange);
    wrong(&mut client, &two, vec![1_u32]);
}

#[test]
fn byte_strings_and_byte_arrays_are_interchangeable() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let bytes = space
        .add_variable("bytes")
        .data_type(ids::BYTE)
        .array(0)
        .value(Value::stored(vec![1_u8]))
        .writable()
        .add()
        .unwrap();
    let string = Variant::ByteString(ByteString::from(&[1, 2, 3]));
    assert_eq!(
        client.write_value(bytes.clone(), string.clone()),
        StatusCode::Good
    );
    assert_eq!(
        client.read_value(bytes).value,
        Some(Variant::from(vec![1_u8, 2, 3]))
    );
    let text = variable(&space, "byte string", ids::BYTE_STRING, string.clone());
    assert_eq!(
        client.write_value(text.clone(), vec![9_u8, 8]),
        StatusCode::Good
    );
    assert_eq!(
        client.read_value(text).value,
        Some(Variant::ByteString(ByteString::from(&[9, 8])))
    );
}
