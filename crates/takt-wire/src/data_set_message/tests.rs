//! DataSetMessages as bytes.

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::enumerations::ActionState;
use takt_ua::{DataValue, StatusCode, Variant};

use super::*;
use crate::error::{WireEncodeError, WireErrorKind};

fn encode(message: &DataSetMessage) -> Result<Vec<u8>, WireEncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::growing(&mut bytes, 1 << 20);
    message.encode(&mut encoder, 0, &mut |_, _| {})?;
    Ok(bytes)
}

fn refusal(bytes: &[u8]) -> WireErrorKind {
    let mut decoder = Decoder::new(bytes);
    DataSetMessageRef::decode(None, &mut decoder)
        .unwrap_err()
        .kind
}

#[track_caller]
fn check(content: DataSetContent, expected: &[u8]) {
    let message = DataSetMessage::new(content);
    assert_eq!(encode(&message).unwrap(), expected);
    let decoded = DataSetMessageRef::decode(None, &mut Decoder::new(expected)).unwrap();
    assert_eq!(decoded.to_owned(), message);
}

#[test]
fn every_kind_as_bytes() {
    let variants = || vec![Variant::Byte(7), Variant::Empty];
    let good = || DataValue::good(7_u8).with_status(StatusCode::Good);
    let raw = || ActionFields::RawData {
        field_count: 2,
        bytes: vec![8, 9],
    };
    let action = |fields| Action {
        action_target_id: 1,
        request_id: 2,
        action_state: ActionState::Done,
        fields,
    };
    check(
        DataSetContent::KeyFrame(Fields::Variant(variants())),
        &[0x01, 2, 0, 3, 7, 0],
    );
    check(
        DataSetContent::KeyFrame(Fields::DataValue(vec![good()])),
        &[0x05, 1, 0, 3, 3, 7, 0, 0, 0, 0],
    );
    check(
        DataSetContent::KeyFrame(Fields::RawData(vec![1, 2, 3])),
        &[0x03, 1, 2, 3],
    );
    check(
        DataSetContent::DeltaFrame(DeltaFields::DataValue(vec![DeltaField::new(5, good())])),
        &[0x85, 0x01, 1, 0, 5, 0, 3, 3, 7, 0, 0, 0, 0],
    );
    check(
        DataSetContent::Event(variants()),
        &[0x81, 0x02, 2, 0, 3, 7, 0],
    );
    check(DataSetContent::KeepAlive, &[0x81, 0x03]);
    check(
        DataSetContent::ActionRequest(action(ActionFields::Variant(variants()))),
        &[0x81, 0x04, 1, 0, 2, 0, 2, 2, 0, 3, 7, 0],
    );
    check(
        DataSetContent::ActionResponse(action(raw())),
        &[0x83, 0x05, 1, 0, 2, 0, 2, 2, 0, 8, 9],
    );
    check(DataSetContent::Invalid, &[0x00]);
}

#[test]
fn forbidden_combinations_are_not_read() {
    let cases: [(&[u8], &str); 5] = [
        (&[0x83, 0x01, 0, 0], rules::DELTA_RAW_DATA),
        (&[0x85, 0x02, 0, 0], rules::EVENT_ENCODING),
        (&[0x83, 0x02, 0, 0], rules::EVENT_ENCODING),
        (&[0x85, 0x04, 0, 0], rules::ACTION_ENCODING),
        (&[0x81, 0x20], rules::PICO_SECONDS),
    ];
    for (bytes, rule) in cases {
        assert_eq!(refusal(bytes), WireErrorKind::Forbidden(rule));
    }
    for (bytes, value) in [
        ([0x81, 0x06], 0x06),
        ([0x81, 0x40], 0x40),
        ([0x07, 0], 0x07),
    ] {
        let WireErrorKind::Reserved { value: found, .. } = refusal(&bytes) else {
            panic!("{bytes:02X?}")
        };
        assert_eq!(found, value);
    }
}

#[test]
fn a_field_index_is_used_once() {
    let field = |index| DeltaField::new(index, Variant::Byte(index as u8));
    for (indexes, unique) in [
        (vec![0, 3, 9], true),
        (vec![9, 3, 0], true),
        (vec![3, 9, 3], false),
        (vec![65_535, 65_535], false),
    ] {
        let fields = DeltaFields::Variant(indexes.into_iter().map(field).collect());
        let message = DataSetMessage::new(DataSetContent::DeltaFrame(fields));
        assert_eq!(encode(&message).is_ok(), unique);
    }
    let twice = [0x81, 0x01, 2, 0, 1, 0, 3, 7, 1, 0, 3, 8];
    assert_eq!(
        refusal(&twice),
        WireErrorKind::Forbidden(rules::DELTA_TWICE)
    );
}

#[test]
fn padding_is_zeros() {
    let mut decoder = Decoder::new(&[0x01, 1, 0, 3, 7, 0, 0]);
    let message = DataSetMessageRef::decode(Some(4), &mut decoder).unwrap();
    assert_eq!(message.configured_size, 7);
    assert_eq!(message.data_set_writer_id, Some(4));
    let kind = refusal(&[0x01, 1, 0, 3, 7, 0, 8]);
    assert_eq!(kind, WireErrorKind::TrailingBytes(1));
}

#[test]
fn the_content_of_an_invalid_message_is_ignored() {
    let mut decoder = Decoder::new(&[0xFE, 0xFF, 0xFF]);
    let message = DataSetMessageRef::decode(None, &mut decoder).unwrap();
    assert_eq!(message.content, DataSetContentRef::Invalid);
}

#[test]
fn a_count_that_claims_too_much_is_refused() {
    assert!(matches!(
        refusal(&[0x01, 0xFF, 0xFF, 3, 7]),
        WireErrorKind::Encoding(_)
    ));
}

#[test]
fn a_view_gives_fields_without_decoding_all() {
    let mut decoder = Decoder::new(&[0x01, 2, 0, 3, 7, 1, 1]);
    let message = DataSetMessageRef::decode(None, &mut decoder).unwrap();
    let DataSetContentRef::KeyFrame(FieldsRef::Variant(fields)) = message.content else {
        panic!()
    };
    assert_eq!(fields.len(), 2);
    assert_eq!(fields.get(1).unwrap().to_owned(), Variant::Boolean(true));
}
