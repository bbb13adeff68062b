//! Mistakes, with line and column, and parts that a scenario cannot have.

use takt_plant::PlantError;

use crate::support::{PLANT, READER, WRITER, made, made_of};

/// Returns the message of the only mistake in a network file.
fn mistake(plant: &str) -> String {
    let files = [("a.toml", WRITER), ("b.toml", READER)];
    match made(plant, &files) {
        Err(PlantError::Network(error)) => {
            assert_eq!(error.mistakes.len(), 1, "{error}");
            error.mistakes[0].to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_in_the_network_file_have_their_place() {
    for (from, to, expected) in [
        (
            "version = 1\n",
            "version = 1\nlink = 3\n",
            "line 2, column 1: `link` is not a field of a network file (did you mean `links`?)",
        ),
        (
            "version = 1\n",
            "version = 1\napplications = []\n",
            "line 2, column 1: `applications` belongs into a scenario, not here (applications come from the configurations)",
        ),
        (
            "{ name = \"b\" }",
            "{ name = \"b\", wake_up_latency = \"3 usec\" }",
            "line 2, column 58: `3 usec` is not a time: did you mean \"3 us\"?",
        ),
        (
            "ends = [\"x\", \"b\"]",
            "ends = [\"x\", \"bb\"]",
            "line 3, column 48: there is no node `bb` (did you mean `b`?)",
        ),
        (
            "node = \"b\"",
            "node = \"y\"",
            "line 6, column 14: there is no node `y` (known: a, b, x)",
        ),
        (
            "node = \"b\"",
            "node = \"a\"",
            "line 6, column 14: there are two devices of this node",
        ),
        (
            "\"b.toml\"",
            "\"c.toml\", \"b.toml\"",
            "line 6, column 37: no configuration `c.toml` is given (given: a.toml, b.toml)",
        ),
        (
            "version = 1\n",
            "version = 1\nwriter_groups = [{ device = \"a\", name = \"Slow\", pcp = 3 }]\n",
            "line 2, column 41: `a` has no WriterGroup `Slow` (write the name that its configuration has, or #1 for the first one of a \
             connection without a name)",
        ),
        (
            "version = 1\n",
            "version = 1\nwriter_groups = [{ device = \"x\", name = \"Fast\", pcp = 3 }]\n",
            "line 2, column 18: `x` runs no configuration: no entry of `devices` has it",
        ),
        (
            "version = 1\n",
            "version = 1\npaths = [{ from = \"a\", to = \"b\", path = [\"a\", \"b\"] }]\n",
            "line 2, column 47: no link joins `a` and `b`",
        ),
        (
            "version = 1\n",
            "version = 1\npaths = [{ from = \"a\", to = \"b\", path = [\"a\", \"x\"] }]\n",
            "line 2, column 41: the path must lead from `from` to `to`",
        ),
        (
            ", { ends = [\"x\", \"b\"] }",
            "",
            "line 5, column 5: no path leads from `a` to `b`, which 'Out/Fast' needs for 'In/Fast/Data' (join them by [[links]]; hosts do not \
             forward)",
        ),
    ] {
        let plant = PLANT.replacen(from, to, 1);
        assert_ne!(plant, PLANT, "{from}");
        assert_eq!(mistake(&plant), expected, "{to}");
    }
}

#[test]
fn configurations_that_no_device_runs_are_named() {
    let files = [("a.toml", WRITER), ("b.toml", READER), ("c.toml", READER)];
    let error = made(PLANT, &files).unwrap_err().to_string();
    assert_eq!(
        error,
        "plant.toml: line 4, column 1: no device runs the configuration `c.toml` (add it to the `configurations` of a device)"
    );
    let files = [
        ("1/a.toml", WRITER),
        ("2/a.toml", WRITER),
        ("b.toml", READER),
    ];
    let error = made(PLANT, &files).unwrap_err().to_string();
    assert!(
        error.contains("line 5, column 37: `a.toml` is the name of several configurations (write more of the path: 1/a.toml, 2/a.toml)"),
        "{error}"
    );
}

#[test]
fn an_ambiguous_path_is_an_error_with_its_fix() {
    let ring = "version = 1
topology = { kind = \"ring\", bridges = 4 }
devices = [
    { node = \"host1\", configurations = [\"a.toml\"] },
    { node = \"host3\", configurations = [\"b.toml\"] },
]
";
    let found = mistake(ring);
    assert!(
        found.starts_with("line 4, column 5: several shortest paths lead from `host1` to `host3`: host1 → bridge1 → "),
        "{found}"
    );
    let (_, fix) = found.split_once("[[paths]] ").unwrap();
    let fix = fix
        .trim_end_matches(')')
        .replace("], ", "]\n")
        .replace("\", ", "\"\n");
    // The fix, as it is written, makes the scenario.
    let fix = fix.replace("\"\n\"", "\", \"");
    let files = [("a.toml", WRITER), ("b.toml", READER)];
    let made = made(&format!("{ring}[[paths]]\n{fix}\n"), &files).unwrap();
    assert!(
        made.text.contains("\npath = [\"host1\", \"bridge1\", "),
        "{}",
        made.text
    );
    assert!(made.warnings.is_empty(), "{:?}", made.warnings);
}

#[test]
fn shortest_paths_in_a_circle_are_a_warning() {
    let ring = "version = 1
topology = { kind = \"ring\", bridges = 3 }
devices = [
    { node = \"host1\", configurations = [\"a.toml\"] },
    { node = \"host2\", configurations = [\"b.toml\"] },
]
";
    let made = made(ring, &[("a.toml", WRITER), ("b.toml", READER)]).unwrap();
    let warnings: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("plant.toml:2: bridges are joined in a circle"),
        "{warnings:?}"
    );
}

/// Returns the message of the only fault of a configuration.
fn fault(writer: &str) -> String {
    match made_of(writer, READER) {
        Err(PlantError::Configurations(faults)) => {
            assert_eq!(faults.len(), 1, "{faults:?}");
            faults[0].to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_that_a_scenario_cannot_have_are_faults() {
    let field = "data_type = \"Double\"";
    for (writer, expected) in [
        (
            WRITER.replace(field, "data_type = \"String\""),
            "a.toml:9: Out/Fast: its messages have no greatest length: field 'Value' of DataSet 'Data' is a String without max_string_length. \
             Limit the field",
        ),
        (
            WRITER.replace(field, "data_type = \"Double[]\""),
            "a.toml:9: Out/Fast: its messages have no greatest length: field 'Value' of DataSet 'Data' is an array without lengths.",
        ),
        (
            WRITER.replace(field, "data_type = \"LocalizedText\""),
            "a.toml:9: Out/Fast: its messages have no greatest length: field 'Value' of DataSet 'Data' is a LocalizedText, which has no \
             greatest length.",
        ),
        (
            WRITER.replace(field, "data_type = \"Double[300]\""),
            "a.toml:9: Out/Fast: a message has 2430 B at most, and a frame has room for 1500 B: it is sent in several frames",
        ),
        (
            WRITER.to_owned() + "key_frame_count = 0\n",
            "a.toml:9: Out/Fast: DataSetWriter 'Data' sends Events, which have no greatest rate. An entry of [[writer_groups]]",
        ),
        (
            WRITER.replace("\"1ms\"", "\"0ms\""),
            "a.toml: [[connections.writer_groups]] Out/Fast: publishing_interval: ",
        ),
        (
            WRITER.replace("data_set_writer_id = 1", "data_set_writer_id = 0"),
            "a.toml: [[connections.writer_groups.data_set_writers]] Out/Fast/Data: data_set_writer_id: ",
        ),
    ] {
        let found = fault(&writer);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn the_network_file_states_what_a_configuration_does_not() {
    let text = WRITER.replace("data_type = \"Double\"", "data_type = \"String\"");
    let files = [("a.toml", text.as_str()), ("b.toml", READER)];
    let with = |entry: &str| {
        format!("{PLANT}[[writer_groups]]\ndevice = \"a\"\nname = \"Fast\"\n{entry}\n")
    };
    let made = made(&with("payload = \"300 B\""), &files).unwrap();
    assert_eq!(made.flows[0].payload, 300);
    assert!(
        made.text.contains("payload = \"300 B\" # plant.toml:8\n"),
        "{}",
        made.text
    );
    let left_out = crate::support::made(&with("left_out = true"), &files).unwrap();
    assert!(left_out.flows.is_empty());
    let warnings: Vec<String> = left_out.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings[0],
        "a.toml:9: Out/Fast: is left out by plant.toml:8: its frames are not counted"
    );
}

/// Returns the network of the tests with an entry of `writer_groups`.
fn with_entry(entry: &str) -> String {
    format!("{PLANT}[[writer_groups]]\ndevice = \"a\"\n{entry}\n")
}

#[test]
fn a_stated_payload_is_that_of_each_message() {
    let second = "[[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = 2\ndata_set_name = \"Data\"\n";
    let writer = format!("{WRITER}{second}");
    let uadp = "uadp = { publishing_offset = [\"200us\"] }";
    let plant = with_entry("name = \"Fast\"\npayload = \"1200 B\"");
    for (settings, data_type, messages) in [
        (
            "json = { network_message_content_mask = [\"NetworkMessageHeader\", \"DataSetMessageHeader\", \"SingleDataSetMessage\"] }",
            "Double",
            2,
        ),
        (
            "json = { network_message_content_mask = [\"NetworkMessageHeader\", \"DataSetMessageHeader\"] }",
            "Double",
            1,
        ),
        (
            "uadp = { data_set_ordering = \"AscendingWriterIdSingle\" }",
            "Double",
            2,
        ),
        (
            "uadp = { data_set_ordering = \"AscendingWriterIdSingle\" }",
            "String",
            2,
        ),
        ("uadp = {}", "String", 1),
    ] {
        let text = writer.replace(uadp, settings).replace(
            "data_type = \"Double\"",
            &format!("data_type = \"{data_type}\""),
        );
        let made = made(&plant, &[("a.toml", &text), ("b.toml", READER)]).unwrap();
        let payloads: Vec<u32> = made.flows.iter().map(|it| it.payload).collect();
        assert_eq!(payloads, vec![1200; messages], "{settings} {data_type}");
    }
}

#[test]
fn a_stated_payload_is_not_shorter_than_the_messages() {
    for (data_type, stated, least) in [
        ("Double", 33, Some(34)),
        ("Double", 34, None),
        ("String", 20, Some(30)),
    ] {
        let text = WRITER.replace("\"Double\"", &format!("\"{data_type}\""));
        let plant = with_entry(&format!("name = \"Fast\"\npayload = \"{stated} B\""));
        let found = made(&plant, &[("a.toml", &text), ("b.toml", READER)]);
        match (found, least) {
            (Ok(made), None) => assert_eq!(made.flows[0].payload, stated),
            (Err(error), Some(least)) => assert_eq!(
                error.to_string(),
                format!(
                    "a.toml:9: Out/Fast: has a payload of {stated} B, and its messages have {least} B and more. Write at least {least} \
                     B, with all headers, at plant.toml:8"
                )
            ),
            (found, _) => panic!("{data_type} {stated}: {found:?}"),
        }
    }
}

#[test]
fn a_stated_payload_is_that_of_one_frame() {
    let text = WRITER.replace(
        "writer_group_id = 1\n",
        "writer_group_id = 1\nmax_network_message_size = 200\n",
    );
    for (stated, fits) in [(200, true), (201, false)] {
        let plant = with_entry(&format!("name = \"Fast\"\npayload = \"{stated} B\""));
        let found = made(&plant, &[("a.toml", &text), ("b.toml", READER)]);
        assert_eq!(found.is_ok(), fits, "{found:?}");
    }
}

#[test]
fn an_entry_changes_one_writer_group() {
    let (_, connection) = WRITER.split_once("[[connections]]").unwrap();
    let other = connection
        .replace("name = \"Out\"", "name = \"Other\"")
        .replace("writer_group_id = 1", "writer_group_id = 2")
        .replace("data_set_writer_id = 1", "data_set_writer_id = 2");
    let text = format!("{WRITER}[[connections]]{other}");
    let files = [("a.toml", text.as_str()), ("b.toml", READER)];
    let error = made(&with_entry("name = \"Fast\"\nleft_out = true"), &files).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`a` has 2 WriterGroups `Fast`"), "{error}");
    assert!(error.contains("\"CONNECTION/Fast\""), "{error}");
    let made = made(
        &with_entry("name = \"Other/Fast\"\nleft_out = true"),
        &files,
    )
    .unwrap();
    let groups: Vec<&str> = made
        .flows
        .iter()
        .map(|it| it.writer_group.as_str())
        .collect();
    assert_eq!(groups, ["Out/Fast"]);
}

#[test]
fn announcements_of_metadata_are_named() {
    let settings = "transport_settings = { \"$type\" = \"DatagramConnectionTransportDataType\", DiscoveryAddress = { \"$type\" = \
                    \"NetworkAddressUrlDataType\", Url = \"opc.udp://224.0.2.14:4840\" } }\n[[connections.writer_groups]]";
    let udp = WRITER.replace(
        "opc.eth://01-00-5E-00-00-01:10.6",
        "opc.udp://239.0.0.1:4840",
    );
    let announcing = udp.replace("[[connections.writer_groups]]", settings);
    for (text, expected) in [(&udp, false), (&announcing, true)] {
        let made = made_of(text, READER).unwrap();
        let mut warnings = made.warnings.iter().map(ToString::to_string);
        let found =
            warnings.any(|it| it.contains("Out: announces metadata at opc.udp://224.0.2.14:4840"));
        assert_eq!(found, expected, "{:?}", made.warnings);
    }
}

#[test]
fn messages_that_do_not_leave_or_are_disabled_are_named() {
    let udp = |host: &str| {
        WRITER.replace(
            "opc.eth://01-00-5E-00-00-01:10.6",
            &format!("opc.udp://{host}:4840"),
        )
    };
    for (writer, expected) in [
        (
            udp("127.0.0.1"),
            "opc.udp://127.0.0.1:4840 does not leave the host",
        ),
        (
            WRITER.replace("name = \"Fast\"\n", "name = \"Fast\"\nenabled = false\n"),
            "is disabled: the scenario has none of its messages",
        ),
    ] {
        let made = made_of(&writer, READER).unwrap();
        assert!(made.flows.is_empty());
        let warnings: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
        assert!(warnings[0].contains(expected), "{warnings:?}");
    }
}

#[test]
fn etf_needs_launch_times() {
    let plant = format!(
        "{PLANT}[disciplines.launch]
scheduler = \"mqprio\"
classes = [{{ name = \"motion\", priorities = [6], queue = \"etf\", delta = \"200 us\" }}, {{ name = \"rest\" }}]
[[ports]]
node = \"a\"
discipline = \"launch\"
"
    );
    let files = [("a.toml", WRITER), ("b.toml", READER)];
    let error = made(&plant, &files).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.toml:9: Out/Fast: its frames have no launch time, and etf at the port drops those of PCP 6. Write launch_times = \"strict\" in the \
         WriterGroup, or give the port another queue"
    );
    let launched = WRITER.replace(
        "name = \"Fast\"\n",
        "name = \"Fast\"\nlaunch_times = \"strict\"\n",
    );
    let files = [("a.toml", launched.as_str()), ("b.toml", READER)];
    let made = made(&plant, &files).unwrap();
    let scenario = made.file.scenario();
    // One interval before the PublishingOffset.
    assert_eq!(
        scenario.applications[0].txtime,
        Some(takt_scenario::Duration(1_000_000_000))
    );
    assert!(made.warnings.is_empty(), "{:?}", made.warnings);
    let late = launched.replace(
        "publishing_offset = [\"200us\"]",
        "publishing_offset = [\"200us\"], sampling_offset = \"100us\"",
    );
    let files = [("a.toml", late.as_str()), ("b.toml", READER)];
    let made = crate::support::made(&plant, &files).unwrap();
    let warnings: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings[0].contains("up to 150 us after the thread should wake up"),
        "{warnings:?}"
    );
}
