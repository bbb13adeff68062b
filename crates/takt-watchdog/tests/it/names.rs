//! The flow of each component.

use takt_pubsub::monitor::FlowDirection;
use takt_watchdog::{WatchError, WatchOptions, watched_flows};

use crate::support::{configuration, flows, scenario};

/// Returns the names of the flows, with their components.
fn named(of_configuration: &[(&str, &str)], of_scenario: &[(&str, &str)]) -> Vec<String> {
    let flows = flows(of_configuration, of_scenario).unwrap();
    let names = flows.iter().map(|flow| {
        let description = flow.description();
        format!("{} = {}", description.component, description.name)
    });
    names.collect()
}

#[test]
fn a_flow_has_the_name_of_a_group_a_writer_or_a_reader() {
    assert_eq!(
        named(&[], &[]),
        ["Out/Spindle = Spindle", "In/Spindle = Spindle"]
    );
    let flows = flows(&[], &[]).unwrap();
    assert!(flows.of(FlowDirection::Sending, "Out/Spindle").is_some());
    assert!(flows.of(FlowDirection::Receiving, "In/Spindle").is_some());
    assert!(flows.of(FlowDirection::Sending, "In/Spindle").is_none());
    // The only DataSetWriter, and the ReaderGroup.
    let renamed = [
        ("name = \"Writer\"", "name = \"Drive\""),
        ("name = \"Readers\"", "name = \"Drive\""),
    ];
    let drive = [("name = \"Spindle\"", "name = \"Drive\"")];
    assert_eq!(
        named(&renamed, &drive),
        ["Out/Spindle = Drive", "In/Spindle = Drive"]
    );
}

#[test]
fn a_flow_has_the_name_of_node_and_group() {
    let without_reader = [(
        "[[connections.reader_groups]]\nname = \"Readers\"",
        "[[connections.reader_groups]]\nenabled = false",
    )];
    for name in ["press/Spindle", "press/Spindle to robot"] {
        let replaced = format!("name = \"{name}\"");
        let of_scenario = [("name = \"Spindle\"", replaced.as_str())];
        let expected = format!("Out/Spindle = {name}");
        assert_eq!(named(&without_reader, &of_scenario), [expected]);
    }
    // Both have it if no other node has such a flow.
    let of_press = [("name = \"Spindle\"", "name = \"press/Spindle\"")];
    assert_eq!(
        named(&[], &of_press),
        ["Out/Spindle = press/Spindle", "In/Spindle = press/Spindle"]
    );
    let two = "[[applications]]\nname = \"robot/Spindle\"\npublisher = \"robot\"\nsubscriber = \"press\"\ncycle = \"10 ms\"\n\
               payload = \"46 B\"\npcp = 3\n\n[[applications]]\nname = \"press/Spindle\"";
    let error = flows(&[], &[("[[applications]]\nname = \"Spindle\"", two)]).unwrap_err();
    assert!(
        matches!(&error, WatchError::NoFlow { component, .. } if component == "Out/Spindle"),
        "{error}"
    );
    for name in ["robot/Spindle", "press/Spindle2"] {
        let replaced = format!("name = \"{name}\"");
        assert!(
            flows(
                &without_reader,
                &[("name = \"Spindle\"", replaced.as_str())]
            )
            .is_err()
        );
    }
}

#[test]
fn a_flow_has_the_identity_of_the_lab() {
    let unnamed = [
        ("name = \"Spindle\"", "name = \"Fast\""),
        ("publisher_id = 5", "publisher_id = 1"),
        ("ADDRESS", "opc.eth://01-00-5E-00-54-01:7.3"),
    ];
    assert_eq!(
        named(&unnamed, &[]),
        ["Out/Fast = Spindle", "In/Fast = Spindle"]
    );
    // Many Publishers have the PublisherId 1.
    let elsewhere = [unnamed[0], unnamed[1]];
    assert!(matches!(
        flows(&elsewhere, &[]),
        Err(WatchError::NoFlow { .. })
    ));
    // The second PublisherId is that of the loopback.
    let back = [
        ("name = \"Spindle\"", "name = \"Fast\""),
        ("publisher_id = 5", "publisher_id = 2"),
        ("ADDRESS", "opc.eth://01-00-5E-00-54-02:7.3"),
    ];
    let loopback = [("subscriber = ", "loopback = ")];
    assert_eq!(
        named(&back, &loopback),
        ["Out/Fast = Spindle (return)", "In/Fast = Spindle (return)"]
    );
    let other_group = [
        ("name = \"Spindle\"", "name = \"Fast\""),
        ("publisher_id = 5", "publisher_id = 1"),
        ("writer_group_id = 1", "writer_group_id = 2"),
    ];
    let error = flows(&other_group, &[]).unwrap_err();
    let text = "Out/Fast: the scenario has no flow with this name, nor with PublisherId 1 and WriterGroupId 2; it has Spindle";
    assert_eq!(error.to_string(), text);
}

#[test]
fn given_names_come_first() {
    let options = |component: &str, flow: &str| WatchOptions {
        names: vec![(component.to_owned(), flow.to_owned())],
        ..WatchOptions::default()
    };
    let other = [("name = \"Spindle\"", "name = \"Drive\"")];
    let scenario = scenario(&other);
    let configuration = configuration(&[]);
    // One name stands for both: the group and the reader have it.
    let flows = watched_flows(&configuration, &scenario, &options("Spindle", "Drive")).unwrap();
    assert!(flows.iter().all(|it| it.description().name == "Drive"));
    let error = watched_flows(&configuration, &scenario, &options("In/Spindle", "Drive"));
    assert!(
        matches!(error, Err(WatchError::NoFlow { component, .. }) if component == "Out/Spindle")
    );
    for (component, flow, what) in [("Fast", "Drive", "component"), ("Spindle", "Fast", "flow")] {
        let error = watched_flows(&configuration, &scenario, &options(component, flow));
        let Err(WatchError::UnknownName {
            what: found, name, ..
        }) = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((found, name.as_str()), (what, "Fast"));
    }
}

#[test]
fn two_readers_of_one_name_are_refused() {
    let second = "data_set_writer_id = 1\nheader_layout = \"UADP-Periodic-Fixed\"\nuadp = { network_message_number = 1 }\n\
                  fields = [{ name = \"Speed\", data_type = \"Double\" }]\n\n[[connections.reader_groups]]\nname = \"More\"\n\n\
                  [[connections.reader_groups.data_set_readers]]\nname = \"Spindle\"\ndata_set_writer_id = 2\n\
                  header_layout = \"UADP-Periodic-Fixed\"\nuadp = { network_message_number = 1 }";
    let first = "data_set_writer_id = 1\nheader_layout = \"UADP-Periodic-Fixed\"\nuadp = { network_message_number = 1 }";
    let error = flows(&[(first, second)], &[]).unwrap_err();
    assert_eq!(error.to_string(), "In/Spindle: two have this name");
}

#[test]
fn a_plant_of_many_flows_is_named_in_one_line() {
    let more = |index| {
        format!(
            "[[applications]]\nname = \"a{index}\"\npublisher = \"press\"\nsubscriber = \"robot\"\ncycle = \"10 ms\"\n\
             payload = \"46 B\"\npcp = 3\n\n"
        )
    };
    let all: String = (1..=20).map(more).collect::<String>() + "[[applications]]\nname = \"last\"";
    let error = flows(&[], &[("[[applications]]\nname = \"Spindle\"", &all)]).unwrap_err();
    let end = "it has a1, a2, a3, a4, a5, a6, a7, a8 and 13 more";
    assert!(error.to_string().ends_with(end), "{error}");
}

#[test]
fn two_groups_are_not_one_publisher() {
    let second = "\n[[connections.writer_groups]]\nname = \"More\"\nwriter_group_id = 2\npublishing_interval = \"10ms\"\n\
                  header_layout = \"UADP-Periodic-Fixed\"\n[[connections.writer_groups.data_set_writers]]\nname = \"Spindle\"\n\
                  data_set_writer_id = 2\ndata_set_name = \"Data\"\n\n[[connections]]\nname = \"In\"";
    let error = flows(&[("[[connections]]\nname = \"In\"", second)], &[]).unwrap_err();
    let text = "flow Spindle has one Publisher in the scenario, and here Out/Spindle and Out/More";
    assert_eq!(error.to_string(), text);
}

#[test]
fn disabled_components_have_no_flow() {
    let disabled = [(
        "writer_group_id = 1\npublishing_interval",
        "enabled = false\nwriter_group_id = 1\npublishing_interval",
    )];
    assert_eq!(named(&disabled, &[]), ["In/Spindle = Spindle"]);
}
