//! Readers by their identity, and receivers by their address.

use crate::support::{PLANT, READER, WRITER, configuration, made, made_of};

fn warnings(writer: &str, reader: &str) -> Vec<String> {
    let made = made_of(writer, reader).unwrap();
    made.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_reader_that_matches_has_no_warning() {
    assert_eq!(warnings(WRITER, READER), Vec::<String>::new());
    let any = READER
        .replace("publisher_id = 5\n", "")
        .replace("writer_group_id = 1\n", "")
        .replace("data_set_writer_id = 1\n", "");
    assert_eq!(warnings(WRITER, &any), Vec::<String>::new());
}

#[test]
fn readers_and_writers_that_find_nothing_are_named() {
    for (from, to) in [
        ("publisher_id = 5", "publisher_id = 6"),
        ("publisher_id = 5", "publisher_id = \"5\""),
        ("writer_group_id = 1", "writer_group_id = 2"),
        ("data_set_writer_id = 1", "data_set_writer_id = 2"),
    ] {
        let found = warnings(WRITER, &READER.replace(from, to));
        let [unread, nothing] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            unread,
            "a.toml:14: Out/Fast/Data: no reader of these configurations reads it"
        );
        assert!(
            nothing
                .starts_with("b.toml:7: In/Fast/Data: matches nothing: no writer has publisher_id"),
            "{nothing}"
        );
    }
    let elsewhere = READER.replace("00-01:10.6", "00-02:10.6");
    assert_eq!(
        warnings(WRITER, &elsewhere)[1],
        "b.toml:7: In/Fast/Data: matches nothing at opc.eth://01-00-5E-00-00-02:10.6: 'Out/Fast' of a.toml has this identity, at \
         opc.eth://01-00-5E-00-00-01:10.6"
    );
}

#[test]
fn a_device_that_only_listens_gets_the_frames() {
    let other = READER.replace("writer_group_id = 1", "writer_group_id = 2");
    let made = made_of(WRITER, &other).unwrap();
    assert_eq!(made.flows[0].subscriber, "b");
    assert!(made.flows[0].readers.is_empty());
    assert!(
        made.text
            .contains("# listens at the address, and reads none of these messages"),
        "{}",
        made.text
    );
}

#[test]
fn a_group_without_a_receiver_comes_to_all_hosts() {
    let elsewhere = READER.replace("00-01:10.6", "00-02:10.6");
    let flooded = PLANT.replace("version = 1\n", "version = 1\nmulticast = \"flooded\"\n");
    let files = [("a.toml", WRITER), ("b.toml", &elsewhere)];
    for (plant, reason) in [
        (PLANT, "because no device listens"),
        (&flooded, "because multicast is flooded"),
    ] {
        // A host that is not joined to the others gets nothing.
        let plant = plant.replace("{ name = \"b\" }", "{ name = \"b\" }, { name = \"apart\" }");
        let made = made(&plant, &files).unwrap();
        let receivers: Vec<&str> = made.flows.iter().map(|it| it.subscriber.as_str()).collect();
        assert_eq!(receivers, ["b"]);
        assert!(made.text.contains(reason), "{}", made.text);
    }
}

#[test]
fn frames_without_a_receiver_are_on_the_first_link() {
    let one = WRITER.replace("01-00-5E-00-00-01:10.6", "02-00-5E-00-00-01:10.6");
    let elsewhere = READER.replace("00-01:10.6", "00-02:10.6");
    let made = made_of(&one, &elsewhere).unwrap();
    let receivers: Vec<&str> = made.flows.iter().map(|it| it.subscriber.as_str()).collect();
    assert_eq!(receivers, ["x"]);
}

#[test]
fn differences_are_named() {
    let typed = |fields: &str| READER.to_owned() + fields;
    for (writer, reader, expected) in [
        (
            WRITER.to_owned(),
            typed("fields = [{ name = \"Value\", data_type = \"Float\" }]\n"),
            "expects field 'Value' as Float, not as the Double of DataSet 'Data' of a.toml",
        ),
        (
            WRITER.to_owned(),
            typed(
                "fields = [{ name = \"A\", data_type = \"Double\" }, { name = \"B\", data_type = \"Double\" }]\n",
            ),
            "expects 2 fields, not the 1 of DataSet 'Data' of a.toml",
        ),
        (
            WRITER.replace("uadp = { ", "uadp = { group_version = 1, "),
            typed("uadp = { group_version = 2 }\n"),
            "has group_version 2, and 'Out/Fast' of a.toml 1: it takes none of its messages",
        ),
        (
            WRITER.to_owned(),
            typed("uadp = { publishing_interval = \"2ms\" }\n"),
            "expects a publishing_interval of 2 ms, and 'Out/Fast' of a.toml has 1 ms",
        ),
        (
            WRITER.replace(
                "name = \"Fast\"\n",
                "name = \"Fast\"\nsecurity_mode = \"Sign\"\nsecurity_group_id = \"G\"\n",
            ),
            READER.to_owned(),
            "has security_mode None, and 'Out/Fast' of a.toml Sign",
        ),
    ] {
        let found = warnings(&writer, &reader);
        assert_eq!(
            found,
            [format!("b.toml:7: In/Fast/Data: {expected}")],
            "{writer}{reader}"
        );
    }
}

#[test]
fn other_formats_have_no_lines() {
    let file = takt_pubsub::configuration::from_toml(WRITER).unwrap();
    let binary = takt_plant::PlantConfiguration::new("a.toml", file, None);
    let plant = takt_scenario::PlantFile::parse(PLANT, "plant.toml").unwrap();
    let files = [binary, configuration("b.toml", READER)];
    let made = takt_plant::scenario_of_plant(&plant, &files).unwrap();
    assert_eq!(made.flows[0].origin.line, None);
    assert!(
        made.text
            .contains("[[applications]] # a.toml: WriterGroup Out/Fast\n")
    );
}
