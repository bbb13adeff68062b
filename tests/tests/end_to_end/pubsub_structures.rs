//! Structures and enumerations of `takt publish --set` as `takt subscribe` shows them, by the descriptions in the metadata.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use takt_tests::{Process, Sandbox};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMESPACES: &str =
    r#"namespaces = ["http://opcfoundation.org/UA/", "http://plant.example/"]"#;

/// The fields of both sides.
const FIELDS: &str = r#"fields = [
    { name = "Point", data_type = "ns=1;i=2", built_in_type = 22 },
    { name = "Optional", data_type = "ns=1;i=4", built_in_type = 22 },
    { name = "Color", data_type = "ns=1;i=1", built_in_type = 6 },
    { name = "Points", data_type = "ns=1;i=2", built_in_type = 22, value_rank = 1 },
]"#;

/// Descriptions of an enumeration, of a structure with it, and of one with an optional field and an array.
const TYPES: &str = concat!(
    r#"
namespaces = ["http://plant.example/"]
enum_data_types = [{ DataTypeId = "ns=1;i=1", Name = "1:Color", BuiltInType = 6, EnumDefinition = { Fields = [
    { Value = 0, Name = "Red" },
    { Value = 1, Name = "Green" },
] } }]
structure_data_types = [
    { DataTypeId = "ns=1;i=2", Name = "1:Point", StructureDefinition = { DefaultEncodingId = "ns=1;i=3", "#,
    r#"BaseDataType = "i=22", StructureType = "Structure", Fields = [
        { Name = "x", DataType = "i=11", ValueRank = -1 },
        { Name = "name", DataType = "i=12", ValueRank = -1 },
        { Name = "color", DataType = "ns=1;i=1", ValueRank = -1 },
    ] } },
    { DataTypeId = "ns=1;i=4", Name = "1:Optional", StructureDefinition = { DefaultEncodingId = "ns=1;i=5", "#,
    r#"BaseDataType = "i=22", StructureType = "StructureWithOptionalFields", Fields = [
        { Name = "a", DataType = "i=6", ValueRank = -1 },
        { Name = "b", DataType = "i=12", ValueRank = -1, IsOptional = true },
        { Name = "points", DataType = "ns=1;i=2", ValueRank = 1 },
    ] } },
]
"#
);

fn publisher(url: &str) -> String {
    format!(
        r#"
{NAMESPACES}
[[published_data_sets]]
name = "Data"
{FIELDS}
[published_data_sets.data_set_meta_data]
{TYPES}
[[connections]]
name = "UDP"
publisher_id = 5
address = "{url}"
[[connections.writer_groups]]
name = "Group"
writer_group_id = 1
publishing_interval = "20ms"
header_layout = "UADP-Dynamic"
[[connections.writer_groups.data_set_writers]]
name = "Writer"
data_set_writer_id = 1
data_set_name = "Data"
"#
    )
}

fn subscriber(url: &str) -> String {
    format!(
        r#"
{NAMESPACES}
[[connections]]
name = "UDP"
address = "{url}"
[[connections.reader_groups]]
name = "Group"
[[connections.reader_groups.data_set_readers]]
name = "Reader"
publisher_id = 5
data_set_writer_id = 1
header_layout = "UADP-Dynamic"
{FIELDS}
[connections.reader_groups.data_set_readers.data_set_meta_data]
{TYPES}
"#
    )
}

#[test]
fn subscribe_shows_structures_and_enumerations_by_their_descriptions() {
    let sandbox = Sandbox::new();
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let file = |name: &str, text: String| -> PathBuf {
        let path = sandbox.data_directory().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let publisher = file("publisher.toml", publisher(&url));
    let subscriber = file("subscriber.toml", subscriber(&url));
    let subscriber = subscriber.to_str().unwrap();
    let mut publishing = sandbox.takt(&[
        "publish",
        publisher.to_str().unwrap(),
        "--set",
        r#"Point={"x": 1.5, "name": "größe", "color": "Green"}"#,
        "--set",
        r#"Optional={"a": 7, "points": [{"x": 1, "name": "n", "color": 0}]}"#,
        "--set",
        "Color=Green",
        "--set",
        r#"Points=[{"x": 1, "name": "n", "color": "Red"}]"#,
    ]);
    let _publishing = Process::spawn("takt publish", &mut publishing);
    let line = |options: &[&str]| {
        let arguments = [&["subscribe", subscriber], options].concat();
        let mut process = Process::spawn("takt subscribe", &mut sandbox.takt(&arguments));
        let line = process.next_line(PATIENCE);
        process.kill();
        line
    };
    let text = line(&[]);
    let point = r#"{"$type":"1:Point","x":1.5,"name":"größe","color":"Green (1)"}"#;
    for part in [
        format!("Point = {point}"),
        r#""points":[{"x":1.0,"name":"n","color":"Red (0)"}]"#.to_owned(),
        "Color = Green (1)".to_owned(),
    ] {
        assert!(text.contains(&part), "{part} in {text}");
    }
    let row: Value = serde_json::from_str(&line(&["--json"])).unwrap();
    let values = row["fields"].as_array().unwrap().iter();
    let values: Vec<&Value> = values.map(|field| &field["value"]).collect();
    let small = json!({"x": 1.0, "name": "n", "color": "Red_0"});
    let mut typed = small.clone();
    typed["$type"] = json!("1:Point");
    assert_eq!(
        values,
        [
            &json!({"$type": "1:Point", "x": 1.5, "name": "größe", "color": "Green_1"}),
            &json!({"$type": "1:Optional", "a": 7, "points": [small]}),
            &json!("Green_1"),
            &json!([typed]),
        ]
    );
    // Without metadata, the bodies are base64, and nothing is guessed.
    let arguments = ["subscribe", &url, "--json"];
    let mut process = Process::spawn("takt subscribe", &mut sandbox.takt(&arguments));
    let row: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
    process.kill();
    let value = &row["fields"][0]["value"];
    assert_eq!(value["$type"], json!("ns=1;i=3"));
    assert!(value["$body"].is_string(), "{value}");
}
