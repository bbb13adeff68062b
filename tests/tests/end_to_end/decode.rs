//! `takt pubsub decode`: messages in hex, in captures, in chunks and encrypted.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_pubsub::security::{
    KeyRing, MessageProtector, PubSubSecurityPolicy, SIGNATURE_LENGTH, SecurityKeyUpdate,
};
use takt_tests::binary::takt;
use takt_tests::capture::{frame, pcapng, udp_frame};
use takt_ua::Variant;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::{
    AnnouncementContent, ChunkWriter, DataSetContent, DataSetMessage, DiscoveryAnnouncement,
    Fields, GroupHeader, NetworkMessage, Payload, PublisherId,
};

fn decode(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(takt())
        .args(["pubsub", "decode"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn text(arguments: &[&str], input: &[u8]) -> String {
    let output = decode(arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of `--json` for a capture.
fn rows(frames: &[Vec<u8>], arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["--json", "-"], arguments].concat();
    let rows = text(&arguments, &pcapng(frames));
    rows.lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn message(value: impl Into<Variant>) -> NetworkMessage {
    NetworkMessage::data(
        Some(PublisherId::UInt16(1)),
        vec![DataSetMessage {
            data_set_writer_id: Some(7),
            ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
                value.into(),
            ])))
        }],
    )
}

/// Returns all fields of this name, including nested ones.
fn named<'v>(fields: &'v Value, name: &str, found: &mut Vec<&'v Value>) {
    for field in fields.as_array().unwrap() {
        if field["name"] == name {
            found.push(field);
        }
        if let Some(parts) = field.get("fields") {
            named(parts, name, found);
        }
    }
}

fn values(row: &Value, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    named(&row["fields"], name, &mut found);
    found.iter().map(|field| field["value"].clone()).collect()
}

#[test]
fn a_message_in_hex_is_shown_with_every_field() {
    let expected = "\
26 bytes
     0     1  UADPFlags: 0xD1
                .... 0001 UADPVersion: 1
                ...1 .... PublisherIdEnabled: true
                ..0. .... GroupHeaderEnabled: false
                .1.. .... PayloadHeaderEnabled: true
                1... .... ExtendedFlags1Enabled: true
     1     1  ExtendedFlags1: 0x01
                .... .001 PublisherIdType: UInt16 (1)
                .... 0... DataSetClassIdEnabled: false
                ...0 .... SecurityEnabled: false
                ..0. .... TimestampEnabled: false
                .0.. .... PicoSecondsEnabled: false
                0... .... ExtendedFlags2Enabled: false
     2     2  PublisherId: 1
     4     3  PayloadHeader
     4     1    Count: 1
     5     2    DataSetWriterIds
     5     2      DataSetWriterId[0]: 7
     7    19  DataSetMessages
     7    19    DataSetMessage[0]
     7     1      DataSetFlags1: 0x01
                    .... ...1 Valid: true
                    .... .00. FieldEncoding: Variant (0)
                    .... 0... DataSetMessageSequenceNumberEnabled: false
                    ...0 .... StatusEnabled: false
                    ..0. .... ConfigurationVersionMajorVersionEnabled: false
                    .0.. .... ConfigurationVersionMinorVersionEnabled: false
                    0... .... DataSetFlags2Enabled: false
     8     2      FieldCount: 1
    10    10      Fields
    10    10        Field[0]
    10     1          EncodingMask: 0x0C
                        ..00 1100 BuiltInType: String (12)
                        .0.. .... HasArrayDimensions: false
                        0... .... IsArray: false
    11     9          Value: \"hello\"
    20     6      Padding: 000000000000

";
    let mut message = message("hello");
    if let Payload::DataSetMessages(messages) = &mut message.payload {
        messages[0].configured_size = 19;
    }
    let bytes = message.encode_to_vec().unwrap();
    let digits = hex(&bytes);
    assert_eq!(text(&[&digits], b""), expected);
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    for written in [
        pairs.join(" "),
        pairs.join(":"),
        format!("0x{}\n", pairs.join(",0x")),
    ] {
        assert_eq!(text(&[&written], b""), expected);
        assert_eq!(text(&["-"], written.as_bytes()), expected);
    }
    assert_eq!(text(&["-"], &bytes), expected);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(text(&[file.path().to_str().unwrap()], b""), expected);
}

#[test]
fn readable_fields_are_shown_before_the_error() {
    let mut bytes = message("hello").encode_to_vec().unwrap();
    bytes.truncate(15);
    let output = decode(&[&hex(&bytes)], b"");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("DataSetWriterId[0]: 7\n"), "{text}");
    assert!(
        text.contains("    11     4      Undecoded: 05000000\n"),
        "{text}"
    );
    assert!(
        text.contains("\n  error: the data ends too early (at byte 15)\n"),
        "{text}"
    );
}

#[test]
fn garbage_and_files_of_another_kind_are_errors() {
    for (input, expected) in [
        (&b"\xFF\xFF\xFF\xFF\xFF"[..], "the message is not valid"),
        (b"no message at all", "the message is not valid"),
        (b"00\nff\n", "valid"),
        (b"\x1F\x8B\x08\0\0\0\0\0", "a gzip archive"),
        (b"PK\x03\x04\x14\0", "unzip"),
    ] {
        let output = decode(&["-"], input);
        assert_eq!(output.status.code(), Some(1), "{expected}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_text_has_one_message_in_each_line_or_in_all_lines() {
    let messages: Vec<String> = (0..3_u16)
        .map(|value| hex(&message(value).encode_to_vec().unwrap()))
        .collect();
    let rows = |input: &str| text(&["--json", "-"], input.as_bytes()).lines().count();
    assert_eq!(rows(&messages.join("\n")), 3);
    // One long message, broken into lines of 16 bytes.
    let long = hex(&message("a text that is longer than a line of a dump")
        .encode_to_vec()
        .unwrap());
    let broken: Vec<&str> = long
        .as_bytes()
        .chunks(32)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    assert!(broken.len() > 2);
    assert_eq!(rows(&broken.join("\n")), 1);
}

#[test]
fn messages_are_found_in_captures() {
    let bytes = message(1.5).encode_to_vec().unwrap();
    let other = [0xFF; 20];
    let frames = [
        frame(0xB62C, &bytes),
        frame(0x0806, &bytes),
        frame(0x8100, &[&[0, 5, 0xB6, 0x2C][..], &bytes].concat()),
        udp_frame(4840, &bytes),
        udp_frame(5555, &bytes),
        udp_frame(5555, &other),
        udp_frame(4840, &other),
    ];
    let found = rows(&frames, &[]);
    let packets: Vec<&Value> = found.iter().map(|row| &row["packet"]).collect();
    assert_eq!(packets, [1, 3, 4, 5, 7]);
    for row in &found[..4] {
        assert_eq!(
            (&row["errors"], values(row, "Value")),
            (&json!([]), vec![json!(1.5)])
        );
    }
    assert_eq!(found[4]["errors"][0]["offset"], 0);
    assert_eq!(found[0]["source"], "02:00:00:00:00:01");
    assert_eq!(found[2]["destination"], "224.0.0.22:4840");
    assert_eq!(found[2]["time"], "1970-01-01T00:00:00.003Z");
    let found = rows(&frames, &["--port", "5555"]);
    assert_eq!(found.len(), 2);

    let nothing = decode(&["-"], &pcapng(&frames[1..2]));
    assert!(!nothing.status.success());
    let cut = decode(&["-"], &pcapng(&frames)[..400]);
    assert!(!cut.status.success() && !cut.stdout.is_empty());
    assert!(String::from_utf8_lossy(&cut.stderr).contains("ends within a packet"));
}

#[test]
fn chunks_are_put_together() {
    let long: Vec<u8> = (0..=255).cycle().take(2000).collect();
    let message = message(long.clone());
    let mut frames: Vec<Vec<u8>> = ChunkWriter::new(&message, 500, 3)
        .unwrap()
        .map(|chunk| NetworkMessage {
            payload: Payload::Chunk(chunk),
            ..message.clone()
        })
        .map(|chunk| udp_frame(4840, &chunk.encode_to_vec().unwrap()))
        .collect();
    frames.swap(0, 2);
    let found = rows(&frames, &[]);
    assert!(found.len() > 4);
    let (last, others) = found.split_last().unwrap();
    assert!(others.iter().all(|row| row.get("reassembled").is_none()));
    assert_eq!(last["reassembled"]["errors"], json!([]));
    let read: Vec<Value> = long.into_iter().map(Value::from).collect();
    assert_eq!(values(&last["reassembled"], "Value"), read);
}

/// Returns a message protected with `key_data` as token 1.
fn protected(policy: PubSubSecurityPolicy, mode: MessageSecurityMode, key_data: &[u8]) -> Vec<u8> {
    let now = Instant::now();
    let mut keys = KeyRing::new();
    keys.update(
        &SecurityKeyUpdate {
            security_policy_uri: policy.uri().to_owned(),
            first_token_id: 1,
            keys: vec![key_data.to_vec().into()],
            time_to_next_key: Duration::from_secs(60),
            key_lifetime: Duration::from_secs(60),
        },
        now,
    )
    .unwrap();
    let message = NetworkMessage {
        security_header: Some(policy.security_header(mode).unwrap()),
        signature: vec![0; SIGNATURE_LENGTH],
        ..message(21.5)
    };
    let mut bytes = Vec::new();
    let layout = message
        .encode(&mut Encoder::growing(&mut bytes, 1000))
        .unwrap();
    let mut protector = MessageProtector::new(mode).unwrap();
    protector.protect(&keys, &mut bytes, &layout, now).unwrap();
    bytes
}

#[test]
fn keys_verify_and_decrypt() {
    for policy in PubSubSecurityPolicy::ALL {
        let data: Vec<u8> = (1..).take(policy.key_data_length()).collect();
        let (signing, rest) = data.split_at(32);
        let (encrypting, nonce) = rest.split_at(policy.encrypting_key_length());
        let key = |signing: &[u8]| {
            format!(
                "--key=1:{}:{}:{}",
                hex(signing),
                hex(encrypting),
                hex(nonce)
            )
        };
        let (right, wrong) = (key(signing), key(&[9; 32]));
        let encrypted = protected(policy, MessageSecurityMode::SignAndEncrypt, &data);
        let signed = protected(policy, MessageSecurityMode::Sign, &data);
        let frames = [frame(0xB62C, &encrypted), frame(0xB62C, &signed)];
        let seen = |arguments: &[&str]| -> Vec<(Value, Value, Vec<Value>)> {
            let rows = rows(&frames, arguments);
            let part = |row: &Value| {
                let security = &row["security"];
                (
                    security["signature"].clone(),
                    security["decrypted"].clone(),
                    values(row, "Value"),
                )
            };
            rows.iter().map(part).collect()
        };
        let value = vec![json!(21.5)];
        let expected = |signature: &str, decrypted: bool, value: &Vec<Value>| {
            (json!(signature), json!(decrypted), value.clone())
        };
        assert_eq!(
            seen(&[&wrong, &right]),
            [
                expected("verified", true, &value),
                expected("verified", false, &value)
            ]
        );
        assert_eq!(
            seen(&[&wrong]),
            [
                expected("wrong", true, &value),
                expected("wrong", false, &value)
            ]
        );
        assert_eq!(
            seen(&[]),
            [
                expected("not verified", false, &vec![]),
                expected("not verified", false, &value)
            ]
        );
        let shown = text(&[&hex(&encrypted)], b"");
        let headline = "encrypted, signed, not verified: no --key for SecurityTokenId 1";
        assert!(
            shown.contains(headline) && shown.contains("EncryptedPayload: "),
            "{shown}"
        );
        let shown = text(&[&hex(&encrypted), &wrong], b"");
        assert!(
            shown.contains("SIGNATURE WRONG for key 1, decrypted"),
            "{shown}"
        );
    }
}

/// Two DataSetMessages of one group, without a PayloadHeader.
const PERIODIC: &str = r#"
[[published_data_sets]]
name = "Spindle"
fields = [
    { name = "Speed", data_type = "Float" },
    { name = "Program", data_type = "String", max_string_length = 6 },
    { name = "Axes", data_type = "UInt16[3]" },
]
[[published_data_sets]]
name = "Door"
fields = [{ name = "Open", data_type = "Boolean" }]
[[connections]]
name = "C"
publisher_id = 9
address = "opc.udp://224.0.0.22:4840"
[[connections.writer_groups]]
name = "G"
writer_group_id = 5
publishing_interval = "10ms"
header_layout = "UADP-Periodic-Fixed"
[[connections.writer_groups.data_set_writers]]
name = "S"
data_set_writer_id = 1
data_set_name = "Spindle"
uadp = { configured_size = 27 }
[[connections.writer_groups.data_set_writers]]
name = "D"
data_set_writer_id = 2
data_set_name = "Door"
uadp = { configured_size = 2 }
"#;

/// Speed, Program and Axes as RawData.
fn spindle() -> Vec<u8> {
    let mut raw = 21.5_f32.to_le_bytes().to_vec();
    raw.extend([2, 0, 0, 0, b'g', b'o', 0, 0, 0, 0]);
    raw.extend([2, 0, 0, 0, 7, 0, 8, 0, 0, 0]);
    raw
}

fn raw(configured_size: u16, raw: &[u8]) -> DataSetMessage {
    DataSetMessage {
        configured_size,
        ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::RawData(raw.to_vec())))
    }
}

#[test]
fn a_configuration_tells_raw_data_fields_apart() {
    let config = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(&config, PERIODIC).unwrap();
    let config = config.path().to_str().unwrap();
    let message = NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(5),
            network_message_number: Some(1),
            ..GroupHeader::default()
        }),
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(9)),
            vec![raw(27, &spindle()), raw(2, &[1])],
        )
    };
    let digits = hex(&message.encode_to_vec().unwrap());
    let shown = text(&[&digits, "--config", config], b"");
    for line in [
        "    10     4        Field[0] Speed: 21.5\n",
        "    14     6        Field[1] Program: \"go\"\n",
        "    20     4        Padding: 00000000\n",
        "    24    10        Field[2] Axes\n",
        "    24     4          ArrayLength: 2\n",
        "    30     2          Value[1]: 8\n",
        "    32     2          Padding: 0000\n",
        "     1        Field[0] Open: true\n",
    ] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    assert!(!shown.contains("error"), "{shown}");
    let shown: Value =
        serde_json::from_str(&text(&[&digits, "--config", config, "--json"], b"")).unwrap();
    let mut fields = Vec::new();
    named(&shown["fields"], "Field", &mut fields);
    let fields: Vec<_> = fields
        .iter()
        .map(|field| (&field["fieldName"], &field["value"]))
        .collect();
    assert_eq!(fields[0], (&json!("Speed"), &json!(21.5)));
    assert_eq!(fields.last(), Some(&(&json!("Open"), &json!(true))));
    // The other Publisher is unknown.
    let other = NetworkMessage {
        publisher_id: Some(PublisherId::UInt16(8)),
        ..message
    };
    let shown = text(
        &[&hex(&other.encode_to_vec().unwrap()), "--config", config],
        b"",
    );
    assert!(shown.contains("RawData: "), "{shown}");
}

#[test]
fn announced_metadata_tells_the_fields_of_later_messages_apart() {
    let file = takt_pubsub::configuration::from_toml(PERIODIC).unwrap();
    let mut meta_data = file.configuration.published_data_sets[0]
        .data_set_meta_data
        .clone();
    meta_data.configuration_version.major_version = 3;
    let announcement = DiscoveryAnnouncement {
        sequence_number: 1,
        content: AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 7,
            meta_data: Box::new(meta_data),
            status_code: takt_ua::StatusCode::Good,
        },
    };
    let publisher_id = PublisherId::UInt16(9);
    let announcement = NetworkMessage::discovery(
        publisher_id.clone(),
        Payload::DiscoveryAnnouncement(Box::new(announcement)),
    );
    let message = |version| {
        let message = DataSetMessage {
            data_set_writer_id: Some(7),
            major_version: version,
            ..raw(0, &spindle())
        };
        NetworkMessage::data(Some(publisher_id.clone()), vec![message])
    };
    let frames = [
        message(None),
        announcement,
        message(None),
        message(Some(3)),
        message(Some(4)),
    ]
    .map(|message| udp_frame(4840, &message.encode_to_vec().unwrap()));
    let rows = rows(&frames, &[]);
    let named: Vec<bool> = rows
        .iter()
        .map(|row| values(row, "Field").first() == Some(&json!(21.5)))
        .collect();
    assert_eq!(named, [false, false, true, true, false]);
    assert!(rows.iter().all(|row| row["errors"] == json!([])));
}

#[test]
fn mistakes_are_explained() {
    for (arguments, expected) in [
        (
            vec!["no-such-file.pcapng"],
            "cannot read no-such-file.pcapng",
        ),
        (
            vec!["01", "--key", "1:2:3"],
            "TOKEN:SIGNING:ENCRYPTING:NONCE",
        ),
        (vec!["-"], "no message was found"),
    ] {
        let output = decode(&arguments, b"");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(expected),
            "{errors}"
        );
    }
}
