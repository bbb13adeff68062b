//! JSON messages: layouts, metadata, and errors.

use takt_ua::enumerations::JsonNetworkMessageContentMask;
use takt_ua::{NodeId, StatusCode};
use takt_wire::json::{
    JsonDataSetMessage, JsonDataSetMessageType, JsonDiscoveryContent, JsonDiscoveryMessage,
    JsonField, JsonFieldEncoding, JsonLayout, JsonMessage, JsonMessageErrorKind,
    JsonNetworkMessage, JsonPayload,
};

fn data(text: &str) -> JsonNetworkMessage {
    match JsonMessage::decode(text.as_bytes()).unwrap() {
        JsonMessage::Data(message) => message,
        other => unreachable!("{other:?}"),
    }
}

fn network_message(layout: JsonLayout) -> JsonNetworkMessage {
    let message = JsonDataSetMessage {
        data_set_writer_id: Some(101),
        sequence_number: Some(68468),
        minor_version: Some(672_341_762),
        timestamp: Some("2021-09-27T18:45:19.555Z".parse().unwrap()),
        payload: Some(JsonPayload::new(
            &[JsonField::new("Active", true)],
            JsonFieldEncoding::default(),
            None,
        )),
        ..JsonDataSetMessage::default()
    };
    JsonNetworkMessage {
        layout,
        message_id: "1".into(),
        publisher_id: "MyPublisher".into(),
        messages: vec![message],
        ..JsonNetworkMessage::default()
    }
}

#[test]
fn every_layout_is_written_and_recognized() {
    let header =
        r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"MyPublisher","Messages":"#;
    let message = r#"{"DataSetWriterId":101,"SequenceNumber":68468,"MinorVersion":672341762,"Timestamp":"2021-09-27T18:45:19.555Z","Payload":{"Active":{"UaType":1,"Value":true}}}"#;
    let payload = r#"{"Active":{"UaType":1,"Value":true}}"#;
    let cases = [
        (0b011, format!("{header}[{message}]}}")),
        (0b111, format!("{header}{message}}}")),
        (0b010, format!("[{message}]")),
        (0b110, message.to_owned()),
        (0b001, format!("{header}[{payload}]}}")),
        (0b101, format!("{header}{payload}}}")),
        (0b000, format!("[{payload}]")),
        (0b100, payload.to_owned()),
    ];
    for (mask, expected) in cases {
        let layout = JsonLayout::from_mask(mask);
        let text = JsonMessage::Data(network_message(layout)).encode().unwrap();
        assert_eq!(text, expected);
        let guessed = data(&text);
        assert_eq!(guessed.layout, layout, "{text}");
        let told = JsonMessage::decode_with(text.as_bytes(), Some(layout), 1000).unwrap();
        assert_eq!(told, JsonMessage::Data(guessed.clone()));
        assert_eq!(JsonMessage::Data(guessed).encode().unwrap(), text);
    }
    assert_eq!(
        JsonLayout::from_mask(JsonNetworkMessageContentMask::SingleDataSetMessage),
        JsonLayout::MINIMAL
    );
    // A field with the name of a header field is only recognized with the layout.
    let tricky = r#"{"Payload":{"A":1}}"#;
    let guessed = data(tricky);
    assert!(guessed.layout.data_set_message_header);
    let told = JsonMessage::decode_with(tricky.as_bytes(), Some(JsonLayout::MINIMAL), 100).unwrap();
    let JsonMessage::Data(told) = told else {
        unreachable!()
    };
    assert_eq!(
        told.messages[0].payload.as_ref().unwrap().as_object().len(),
        1
    );
    assert!(
        told.messages[0]
            .payload
            .as_ref()
            .unwrap()
            .as_object()
            .contains_key("Payload")
    );

    let mut keep_alive = network_message(JsonLayout::DATA_SET_MESSAGE);
    keep_alive.messages[0].payload = None;
    let text = JsonMessage::Data(keep_alive.clone()).encode().unwrap();
    assert_eq!(
        data(&text).messages[0].message_type(),
        JsonDataSetMessageType::KeepAlive
    );
    keep_alive.layout = JsonLayout::MINIMAL;
    let error = JsonMessage::Data(keep_alive).encode().unwrap_err();
    assert!(matches!(error.kind(), JsonMessageErrorKind::Forbidden(_)));
}

#[test]
fn metadata_of_both_versions_is_read() {
    let new = r#"{"MessageId":"66D65CA4","MessageType":"ua-metadata","PublisherId":"MyPublisher","DataSetWriterId":101,"WriterGroupName":"G","DataSetWriterName":"W","Timestamp":"2021-09-27T18:45:19Z","MetaData":{"Namespaces":["http://a.org/"],"Name":"DataSet1","Fields":[{"Name":"Active","BuiltInType":1,"DataType":"i=1","ValueRank":-1,"DataSetFieldId":"f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"},{"Name":"At","BuiltInType":22,"DataType":"nsu=http://a.org/;i=5","ValueRank":-1}],"ConfigurationVersion":{"MajorVersion":3,"MinorVersion":4}}}"#;
    let old = r#"{"MessageId":"66D65CA4","MessageType":"ua-metadata","PublisherId":"MyPublisher","DataSetWriterId":101,"MetaData":{"Namespaces":["http://a.org/"],"Name":"DataSet1","Fields":[{"Name":"Active","FieldFlags":0,"BuiltInType":1,"DataType":{"Id":1},"ValueRank":-1,"MaxStringLength":0,"DataSetFieldId":"f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"},{"Name":"At","BuiltInType":22,"DataType":{"Id":5,"Namespace":1},"ValueRank":-1}],"ConfigurationVersion":{"MajorVersion":3,"MinorVersion":4}}}"#;
    let read = |text: &str| match JsonMessage::decode(text.as_bytes()).unwrap() {
        JsonMessage::Discovery(message) => *message,
        other => unreachable!("{other:?}"),
    };
    let meta_data = |message: &JsonDiscoveryMessage| match &message.content {
        JsonDiscoveryContent::DataSetMetaData { meta_data, .. } => meta_data.clone(),
        other => unreachable!("{other:?}"),
    };
    let message = read(new);
    assert_eq!(meta_data(&message), meta_data(&read(old)));
    let fields = meta_data(&message).fields;
    assert_eq!(fields[1].data_type, NodeId::numeric(1, 5));
    assert_eq!(
        fields[0].data_set_field_id.to_string(),
        "f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"
    );
    let text = JsonMessage::Discovery(Box::new(message.clone()))
        .encode()
        .unwrap();
    assert_eq!(read(&text), message);
    // A property that cannot be decoded does not take the type of its field away.
    let property =
        r#""Properties":[{"Key":"Limit","Value":{"UaType":6,"Value":"high"}}],"BuiltInType":1"#;
    let damaged = new.replacen(r#""BuiltInType":1"#, property, 1);
    assert_eq!(read(&damaged), message);
}

#[test]
fn an_error_names_problem_and_position() {
    let error = |text: &str| JsonMessage::decode(text.as_bytes()).unwrap_err();
    let header = r#"{"MessageId":"1","MessageType":"ua-data","Messages":"#;
    let wrong = error(&format!(
        r#"{header}[{{"DataSetWriterId":70000,"Payload":{{}}}}]}}"#
    ));
    assert_eq!(wrong.path(), "Messages[0].DataSetWriterId");
    let message = data(&format!(
        r#"{header}[{{"DataSetWriterId":1,"Payload":{{"Speed":{{"UaType":11,"Value":"fast"}}}}}}]}}"#
    ));
    let wrong = message.messages[0]
        .payload
        .as_ref()
        .unwrap()
        .fields(None)
        .unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "Speed.Value: expected a number, NaN, Infinity or -Infinity, found \"fast\""
    );
    let wrong = error(r#"{"MessageId":"1","MessageType":"ua-what","Messages":[]}"#);
    assert_eq!(
        wrong.kind(),
        &JsonMessageErrorKind::UnknownMessageType("ua-what".into())
    );
    let wrong = error(r#"{"MessageId":"1","MessageType":"ua-metadata","DataSetWriterId":1}"#);
    assert_eq!(
        wrong.kind(),
        &JsonMessageErrorKind::MissingField("MetaData")
    );
    for text in ["", "7", "[7]", "\"ua-data\"", "{\"a\":1,\"a\":2}"] {
        assert!(JsonMessage::decode(text.as_bytes()).is_err(), "{text}");
    }
    let long = JsonMessage::decode_with(&[b' '; 100], None, 99).unwrap_err();
    assert_eq!(long.status_code(), StatusCode::BadEncodingLimitsExceeded);
}

#[test]
fn a_null_timestamp_is_none() {
    // The years before 1601 are the null DateTime, which is written as null.
    for time in [
        "null",
        "\"1010-01-01T00:00:00Z\"",
        "\"1601-01-01T00:00:00Z\"",
    ] {
        let text = format!(
            r#"{{"MessageId":"1","MessageType":"ua-data","Messages":[{{"DataSetWriterId":1,"Timestamp":{time},"Payload":{{}}}}]}}"#
        );
        assert_eq!(data(&text).messages[0].timestamp, None, "{time}");
    }
}
