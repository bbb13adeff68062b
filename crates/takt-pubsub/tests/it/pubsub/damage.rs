//! Fields and messages that cannot be decoded: one bad field is one bad value, and a lost message is counted and named.

use takt_cell::Cell;
use takt_pubsub::subscriber::*;
use takt_pubsub::{LossCause, ReceiveError};
use takt_ua::enumerations::{DataSetFieldContentMask as FieldMask, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::pubsub::json::{DATA_SET_HEADER, HEADERS};
use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

/// A text whose encoding as a Variant is as long as that of an Int64 in two Variants.
const TEXT: &str = "abcde";

/// A Variant in a Variant, which OPC 10000-6 forbids.
const NESTED: &[u8] = b"\x18\x08\x01\x02\x03\x04\x05\x06\x07\x08";

/// Observer that keeps values and reports.
#[derive(Default)]
struct Log {
    fields: Vec<(usize, Variant, StatusCode)>,
    refused: Vec<String>,
    states: Vec<PubSubState>,
}

impl SubscriberObserver for Log {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields().map(|(index, value)| {
            let status = value.status_code();
            (index, value.value.unwrap_or_default(), status)
        });
        self.fields = fields.collect();
    }

    fn state_changed(&mut self, _: &str, state: PubSubState) {
        self.states.push(state);
    }

    fn refused(&mut self, error: &ReceiveError) {
        self.refused.push(error.to_string());
    }
}

/// A Publisher of UInt32, String and Double, and a Subscriber with cells for them.
struct Pair {
    setup: Setup,
    group: takt_pubsub::publisher::WriterGroup,
    subscriber: Subscriber,
    count: u32,
    log: Log,
}

impl Pair {
    fn new(field_mask: u32) -> Self {
        let mut setup = Setup::new(&[Variant::UInt32(0), TEXT.into(), Variant::Double(0.0)]);
        setup.writer().data_set_field_content_mask = field_mask;
        for meta_data in [
            &mut setup.data_set.data_set_meta_data,
            &mut setup.reader.data_set_meta_data,
        ] {
            for (field, letter) in meta_data.fields.iter_mut().zip('A'..) {
                field.name = letter.to_string().as_str().into();
                field.max_string_length = if letter == 'B' { 8 } else { 0 };
            }
        }
        Self::of(setup)
    }

    fn of(mut setup: Setup) -> Self {
        Self {
            group: setup.build(),
            subscriber: setup.build_subscriber(),
            setup,
            count: 0,
            log: Log::default(),
        }
    }

    /// Publishes new values, changes the message, and receives it.
    fn pass(&mut self, change: impl FnOnce(&mut Vec<u8>)) -> Result<Reception, ReceiveError> {
        self.count += 1;
        set(&self.setup.cell(0), self.count);
        set(&self.setup.cell(1), TEXT);
        set(&self.setup.cell(2), f64::from(self.count));
        let mut output: Vec<Vec<u8>> = Vec::new();
        self.group.publish(now(), UP, &mut output).unwrap();
        let [message] = &mut output[..] else {
            panic!("one message");
        };
        change(message);
        self.subscriber.receive(now(), UP, message, &mut self.log)
    }

    /// Returns values and StatusCodes of the cells.
    fn targets(&self) -> Vec<(Variant, StatusCode)> {
        let target = |index| {
            let value = self.setup.target(index).get().unwrap();
            let status = value.status_code();
            (value.value.unwrap_or_default(), status)
        };
        (0..3).map(target).collect()
    }

    /// Checks the cells, and the fields that the observer has.
    #[track_caller]
    fn check(&self, text: (Variant, StatusCode)) {
        let expected = [
            (Variant::UInt32(self.count), StatusCode::Good),
            text,
            (f64::from(self.count).into(), StatusCode::Good),
        ];
        assert_eq!(self.targets(), expected);
        let fields = self.log.fields.iter().cloned();
        let told: Vec<_> = fields.map(|(_, value, status)| (value, status)).collect();
        assert_eq!(told, expected);
    }

    fn undecodable(&self) -> u64 {
        self.subscriber.losses().of(LossCause::Encoding)
    }
}

fn set(cell: &Cell, value: impl Into<Variant>) {
    cell.set(&value.into(), StatusCode::Good, DateTime::now())
        .unwrap();
}

/// Replaces the only occurrence of `old`, which is as long as `new`.
fn replace(message: &mut [u8], old: &[u8], new: &[u8]) {
    let mut places = message
        .windows(old.len())
        .enumerate()
        .filter(|it| it.1 == old);
    let (at, None) = (places.next().unwrap().0, places.next()) else {
        panic!("two places");
    };
    message[at..at + new.len()].copy_from_slice(new);
}

fn encoded_text() -> Vec<u8> {
    takt_ua::binary::Encode::encode_to_vec(&Variant::from(TEXT))
}

#[test]
fn a_text_that_is_not_utf_8_is_read_and_reported() {
    for mask in [0, FieldMask::RawData, FieldMask::StatusCode] {
        // The first message, and one that takes the fast path.
        for good in [0, 3] {
            let mut pair = Pair::new(mask);
            for _ in 0..good {
                pair.pass(|_| ()).unwrap();
                pair.check((TEXT.into(), StatusCode::Good));
            }
            let reception = pair.pass(|message| replace(message, b"abcde", b"ab\xE9de"));
            assert_eq!(reception.unwrap().accepted, 1, "mask {mask}");
            pair.check(("ab\u{FFFD}de".into(), StatusCode::Good));
            let [reason] = &pair.log.refused[..] else {
                panic!("{:?}", pair.log.refused);
            };
            assert!(reason.contains("'Reader': the field 'B'"), "{reason}");
            assert_eq!(pair.undecodable(), 0);
            let reception = pair.pass(|_| ()).unwrap();
            assert!(reception.fixed || good == 0);
            pair.check((TEXT.into(), StatusCode::Good));
            assert_eq!(pair.log.refused.len(), 1);
        }
    }
}

#[test]
fn a_field_that_cannot_be_decoded_is_one_bad_value() {
    let bad = (Variant::Empty, StatusCode::BadDecodingError);
    for good in [0, 3] {
        let mut pair = Pair::new(0);
        for _ in 0..good {
            pair.pass(|_| ()).unwrap();
        }
        let reception = pair.pass(|message| replace(message, &encoded_text(), NESTED));
        assert_eq!(reception.unwrap().accepted, 1);
        pair.check(bad.clone());
        let [reason] = &pair.log.refused[..] else {
            panic!("{:?}", pair.log.refused);
        };
        assert!(
            reason.contains("'Reader': the field 'B' cannot be decoded"),
            "{reason}"
        );
        assert_eq!(pair.undecodable(), 1);
        assert_eq!(pair.log.states.last(), Some(&PubSubState::Operational));
        pair.pass(|_| ()).unwrap();
        pair.check((TEXT.into(), StatusCode::Good));
    }
    // RawData with a length beyond MaxStringLength.
    let mut pair = Pair::new(FieldMask::RawData);
    pair.pass(|_| ()).unwrap();
    pair.pass(|_| ()).unwrap();
    let reception = pair.pass(|message| replace(message, b"\x05\0\0\0abcde", b"\x09\0\0\0abcde"));
    assert_eq!(reception.unwrap().accepted, 1);
    pair.check(bad);
    assert_eq!(pair.undecodable(), 1);
}

#[test]
fn a_lost_message_is_named_and_its_values_are_not_good_any_more() {
    let mut pair = Pair::new(0);
    let lost = |pair: &mut Pair, change: &dyn Fn(&mut Vec<u8>)| {
        pair.pass(|_| ()).unwrap();
        pair.check((TEXT.into(), StatusCode::Good));
        let before = pair.undecodable();
        let error = pair.pass(|message| change(message)).unwrap_err();
        assert_eq!(pair.undecodable(), before + 1);
        assert_eq!(pair.log.states.last(), Some(&PubSubState::Error));
        let status = (Variant::Empty, StatusCode::BadNoCommunication);
        assert_eq!(pair.targets(), vec![status; 3]);
        pair.pass(|_| ()).unwrap();
        pair.check((TEXT.into(), StatusCode::Good));
        assert_eq!(pair.log.states.last(), Some(&PubSubState::Operational));
        error.to_string()
    };
    let unknown = lost(&mut pair, &|message| {
        replace(message, &encoded_text(), b"\x16\x09\0\0\0\0\0\0\0\0");
    });
    assert!(
        unknown.contains("the field 'B' cannot be decoded"),
        "{unknown}"
    );
    let cut = lost(&mut pair, &|message| message.truncate(message.len() - 1));
    assert!(cut.contains("the field 'C' cannot be decoded"), "{cut}");
    let oversized = lost(&mut pair, &|message| message.extend([7; 20]));
    assert!(
        oversized.contains("because it cannot be decoded"),
        "{oversized}"
    );

    let mut raw = Pair::new(FieldMask::RawData);
    let cut = lost(&mut raw, &|message| message.truncate(message.len() - 1));
    assert!(cut.contains("the field 'C' cannot be decoded"), "{cut}");
}

#[test]
fn a_value_of_another_type_is_not_the_earlier_one() {
    let mut pair = Pair::new(0);
    pair.pass(|_| ()).unwrap();
    for _ in 0..3 {
        // The Publisher has another type or rank now: a ByteString, or an array of Byte.
        for new in [b"\x0F\x05\0\0\0abcde", b"\x83\x05\0\0\0abcde"] {
            let old = encoded_text();
            let outcome = pair.pass(|message| replace(message, &old, new));
            assert_eq!(outcome.unwrap().accepted, 1);
            let refused = pair.log.refused.last().unwrap();
            assert!(
                refused.contains("the field 'B' does not have the type"),
                "{refused}"
            );
            let targets = pair.targets();
            assert_eq!(targets[1], (Variant::Empty, StatusCode::BadTypeMismatch));
            assert_eq!(targets[0], (pair.count.into(), StatusCode::Good));
            assert_eq!(targets[2].0, f64::from(pair.count).into());
        }
    }
}

#[test]
fn a_bad_field_is_bad_on_the_fast_path_too() {
    let mut setup = Setup::new(&[Variant::UInt32(0), Variant::Double(0.0)]);
    let mut group = setup.build();
    let mut subscriber = setup.build_subscriber();
    let mut log = Log::default();
    let bad = StatusCode::BadSensorFailure;
    for step in 1..6_u32 {
        set(&setup.cell(0), step);
        setup.cell(1).set_status(bad, DateTime::now()).unwrap();
        let mut output: Vec<Vec<u8>> = Vec::new();
        group.publish(now(), UP, &mut output).unwrap();
        let mut message = output.pop().unwrap();
        let reception = subscriber.receive(now(), UP, &mut message, &mut log);
        assert_eq!(reception.unwrap().accepted, 1);
        let expected = [(0, step.into(), StatusCode::Good), (1, Variant::Empty, bad)];
        assert_eq!(log.fields, expected, "message {step}");
        assert_eq!(setup.target(1).get().unwrap().status_code(), bad);
    }
}

#[test]
fn one_field_of_json_that_cannot_be_decoded_is_one_bad_value() {
    for (text, value, status, count) in [
        (
            r#"{"UaType":12,"Value":7}"#,
            Variant::Empty,
            StatusCode::BadDecodingError,
            1,
        ),
        ("NaN", "NaN".into(), StatusCode::Good, 0),
    ] {
        let values = [Variant::UInt32(0), TEXT.into(), Variant::Double(0.0)];
        let setup = crate::pubsub::json::setup(&values, HEADERS, DATA_SET_HEADER);
        let mut pair = Pair::of(setup);
        pair.pass(|_| ()).unwrap();
        pair.check((TEXT.into(), StatusCode::Good));
        let change = |message: &mut Vec<u8>| {
            let old = String::from_utf8(message.clone()).unwrap();
            let new = old.replace(r#"{"UaType":12,"Value":"abcde"}"#, text);
            assert_ne!(old, new);
            *message = new.into_bytes();
        };
        assert_eq!(pair.pass(change).unwrap().accepted, 1);
        pair.check((value, status));
        assert_eq!(pair.undecodable(), count);
        assert_eq!(pair.log.refused.len() as u64, count);
    }
}

#[test]
fn one_data_set_message_of_json_does_not_spoil_the_others() {
    let values = [Variant::UInt32(0), TEXT.into(), Variant::Double(0.0)];
    for broken in [
        r#"{"DataSetWriterId":7,"SequenceNumber":"x","Payload":{"A":1}}"#,
        r#"{"DataSetWriterId":7,"Payload":5}"#,
        "17",
    ] {
        let mut pair = Pair::of(crate::pubsub::json::setup(
            &values,
            HEADERS,
            DATA_SET_HEADER,
        ));
        let add = |message: &mut Vec<u8>| {
            let text = String::from_utf8(message.clone()).unwrap();
            let at = text.find(r#""Messages":["#).unwrap() + 12;
            *message = format!("{}{broken},{}", &text[..at], &text[at..]).into_bytes();
        };
        let reception = pair.pass(add).unwrap();
        assert_eq!((reception.accepted, reception.refused), (1, 1), "{broken}");
        pair.check((TEXT.into(), StatusCode::Good));
        assert_eq!(pair.undecodable(), 1);
        assert_eq!(pair.log.refused.len(), 1);
    }
}
