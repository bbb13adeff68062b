//! Wireshark: the generated dissector shows the same as `takt pubsub decode`.

use std::path::Path;
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use takt_tests::binary::takt;
use takt_tests::capture::{frame, pcapng, udp_frame};
use takt_wire::{
    ChunkWriter, DataSetContent, DataSetMessage, Fields, NetworkMessage, Payload, PublisherId,
};

#[path = "../../../crates/takt-wire/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "sizes are not needed here")]
mod common;

const MESSAGES: usize = 400;
const SIGNATURE_LENGTH: usize = 32;
/// Length of a text that the dissector always shows.
const SHOWN: usize = 80;

/// A field as both show it.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    name: String,
    offset: usize,
    length: usize,
    text: String,
}

fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", program.display());
    // Strings of damaged messages may be anything.
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Messages of all kinds that a receiver can decode without their configuration.
fn messages() -> Vec<NetworkMessage> {
    let mut runner = TestRunner::deterministic();
    let strategy = common::network_message();
    let all = std::iter::repeat_with(|| strategy.new_tree(&mut runner).unwrap().current());
    let readable = all.filter_map(|mut message| {
        if !message.signature.is_empty() {
            message.signature = (0..SIGNATURE_LENGTH as u8).collect();
        }
        match &message.payload {
            Payload::DataSetMessages(messages) => {
                let [first, rest @ ..] = &messages[..] else {
                    return None;
                };
                (rest.is_empty() || first.data_set_writer_id.is_some()).then_some(message)
            }
            _ => Some(message),
        }
    });
    readable.take(MESSAGES).collect()
}

/// Writes dissector and capture; returns the output of both tools.
fn decoded(frames: &[Vec<u8>]) -> (Vec<Value>, String) {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("capture.pcapng");
    let script = directory.path().join("uadp.lua");
    std::fs::write(&capture, pcapng(frames)).unwrap();
    std::fs::write(&script, run(takt(), &["pubsub", "dissector"])).unwrap();
    let capture = capture.to_str().unwrap();
    let rows = run(takt(), &["pubsub", "decode", "--json", capture]);
    let rows = rows.lines().map(|row| serde_json::from_str(row).unwrap());
    let option = format!("lua_script:{}", script.display());
    let pdml = run(
        Path::new("tshark"),
        &["-X", &option, "-r", capture, "-T", "pdml"],
    );
    assert!(!pdml.contains("Lua Error"), "{pdml}");
    (rows.collect(), pdml)
}

/// The fields of `takt pubsub decode --json`, each before its parts; flags with their value.
fn takt_fields(fields: &Value, shown: &mut Vec<Shown>) {
    for field in fields.as_array().unwrap() {
        let name = field["name"].as_str().unwrap();
        let number = |key: &str| field[key].as_u64().unwrap() as usize;
        let (offset, length) = (number("offset"), number("length"));
        shown.push(Shown {
            name: match field.get("index") {
                Some(index) => format!("{name}[{index}]"),
                None => name.to_owned(),
            },
            offset,
            length,
            text: text_of(field),
        });
        for bits in field["bits"].as_array().into_iter().flatten() {
            shown.push(Shown {
                name: bits["name"].as_str().unwrap().to_owned(),
                offset,
                length,
                text: bits["value"].to_string(),
            });
        }
        if let Some(parts) = field.get("fields") {
            takt_fields(parts, shown);
        }
    }
}

/// Returns a value in the form of the dissector.
fn text_of(field: &Value) -> String {
    let data_type = field["type"].as_str().unwrap_or_default();
    let text = match &field["value"] {
        Value::String(text) if !matches!(data_type, "String" | "XmlElement") => text.clone(),
        Value::Null if data_type.is_empty() => String::new(),
        Value::Number(flags) if field.get("bits").is_some() => {
            format!("0x{:02X}", flags.as_u64().unwrap())
        }
        value => value.to_string(),
    };
    match field["meaning"].as_str() {
        Some(meaning) => format!("{meaning} ({text})"),
        None => text,
    }
}

fn attribute<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn unescaped(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#x27;", "'");
    text.replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

/// Returns the fields of each packet of a PDML document that the dissector shows. In it every field has a line.
fn tshark_fields(pdml: &str) -> Vec<Vec<Shown>> {
    let mut packets = Vec::new();
    let mut start = None;
    for line in pdml.lines() {
        let number = |name: &str| attribute(line, name).unwrap().parse::<usize>().unwrap();
        if line.contains("<proto name=\"uadp\"") {
            start = Some(number("pos"));
            packets.push(Vec::new());
        } else if line.contains("</proto>") {
            start = None;
        }
        let (Some(start), true) = (start, line.contains("<field name=")) else {
            continue;
        };
        assert!(line.contains("name=\"uadp."), "{line}");
        let label = unescaped(attribute(line, "showname").unwrap());
        let (name, text) = label.split_once(": ").unwrap_or((&label, ""));
        let (name, text) = match attribute(line, "unmaskedvalue") {
            None => (name, text.to_owned()),
            Some(_) => {
                let value = attribute(line, "value").unwrap();
                let value = u8::from_str_radix(value, 16).unwrap();
                (name.split_once(" = ").unwrap().1, value.to_string())
            }
        };
        packets.last_mut().unwrap().push(Shown {
            name: name.to_owned(),
            offset: number("pos") - start,
            length: number("size"),
            text,
        });
    }
    packets
}

/// Returns whether two texts are equivalent: StatusCodes have name and number in the dissector, and Wireshark
/// shortens long texts and escapes some characters.
fn same_text(takt: &str, tshark: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && c != '\\' || c == ' ';
    let plain = takt.chars().take_while(|c| plain(*c)).take(SHOWN).count();
    if plain < takt.len() {
        return tshark.get(..plain) == takt.get(..plain);
    }
    takt == tshark
        || tshark
            .strip_prefix(takt)
            .is_some_and(|rest| rest.starts_with(" (0x"))
        || takt.starts_with("0x") && tshark.ends_with(&format!("({takt})"))
        || takt
            .parse()
            .is_ok_and(|takt| tshark.parse().is_ok_and(|tshark| same_number(takt, tshark)))
}

/// The last digit is lost when this test reads JSON.
fn same_number(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= one.abs() * 1e-15
}

#[test]
fn the_dissector_shows_what_decode_shows() {
    let messages = messages();
    let frames: Vec<Vec<u8>> = messages
        .iter()
        .enumerate()
        .map(|(index, message)| {
            let bytes = message.encode_to_vec().unwrap();
            match index % 3 {
                0 => frame(0xB62C, &bytes),
                1 => frame(0x8100, &[&[0, 5, 0xB6, 0x2C][..], &bytes].concat()),
                _ => udp_frame(4840, &bytes),
            }
        })
        .collect();
    let (rows, pdml) = decoded(&frames);
    let packets = tshark_fields(&pdml);
    assert_eq!((rows.len(), packets.len()), (MESSAGES, MESSAGES));
    let mut compared = 0;
    for ((row, packet), message) in rows.iter().zip(&packets).zip(&messages) {
        assert_eq!(row["errors"], Value::Array(Vec::new()), "{message:?}");
        let mut expected = Vec::new();
        takt_fields(&row["fields"], &mut expected);
        for (takt, tshark) in expected.iter().zip(packet) {
            let same = takt.name == tshark.name
                && (takt.offset, takt.length) == (tshark.offset, tshark.length)
                && same_text(&takt.text, &tshark.text);
            assert!(same, "{takt:?}\n{tshark:?}\nof {message:?}");
            compared += 1;
        }
        assert_eq!(expected.len(), packet.len(), "{message:?}");
    }
    assert!(compared > MESSAGES * 20, "{compared} fields");
}

/// Checks that both tools show the same of a capture: of each message, and of each payload reassembled at its last
/// chunk.
#[test]
fn the_dissector_puts_chunks_together() {
    let value: Vec<u32> = (0..500).collect();
    let message = NetworkMessage::data(
        Some(PublisherId::UInt16(1)),
        vec![DataSetMessage {
            data_set_writer_id: Some(7),
            ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![
                value.into(),
            ])))
        }],
    );
    let mut frames: Vec<Vec<u8>> = ChunkWriter::new(&message, 500, 3)
        .unwrap()
        .map(|chunk| NetworkMessage {
            payload: Payload::Chunk(chunk),
            ..message.clone()
        })
        .map(|chunk| udp_frame(4840, &chunk.encode_to_vec().unwrap()))
        .collect();
    frames.swap(0, 1);
    let (rows, pdml) = decoded(&frames);
    let packets = tshark_fields(&pdml);
    assert_eq!(
        (rows.len(), packets.len()),
        (frames.len(), frames.len() + 1)
    );
    let mut expected = Vec::new();
    let reassembled = &rows.last().unwrap()["reassembled"];
    takt_fields(&reassembled["fields"], &mut expected);
    assert!(expected.len() > 500);
    assert_eq!(packets.last(), Some(&expected));
}

#[test]
fn the_dissector_survives_damaged_messages() {
    let mut frames = Vec::new();
    for (index, message) in messages().into_iter().enumerate() {
        let mut bytes = message.encode_to_vec().unwrap();
        let at = (index * 7) % bytes.len();
        bytes[at] ^= 1 << (index % 8);
        bytes.truncate(bytes.len() - index % 5);
        frames.push(udp_frame(4840, &bytes));
    }
    let (rows, pdml) = decoded(&frames);
    let errors = |row: &Value| !row["errors"].as_array().unwrap().is_empty();
    assert!(rows.iter().filter(|row| errors(row)).count() > MESSAGES / 10);
    assert!(pdml.matches("uadp.error").count() > MESSAGES / 10);
}
