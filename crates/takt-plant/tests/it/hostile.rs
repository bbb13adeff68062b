//! Input that a stranger wrote.

use proptest::prelude::*;
use takt_plant::{PlantConfiguration, scenario_of_plant};
use takt_pubsub::configuration::from_toml;
use takt_scenario::toml_text::quoted;
use takt_scenario::{PlantFile, Scenario};
use takt_ua::UaString;

use crate::support::{PLANT, READER, WRITER, made, made_of};

#[test]
fn ten_thousand_writers_become_ten_thousand_flows() {
    let head = WRITER
        .split_once("[[connections.writer_groups]]")
        .unwrap()
        .0;
    let groups = (1..=10_000).map(|id| {
        format!(
            "[[connections.writer_groups]]\nname = \"G{id}\"\nwriter_group_id = {id}\npublishing_interval = \"1s\"\n\
             [[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = {id}\ndata_set_name = \"Data\"\n"
        )
    });
    let writers = head.to_owned() + &groups.collect::<String>();
    let readers = (1..=10_000).map(|id| {
        format!(
            "[[connections.reader_groups.data_set_readers]]\nname = \"R{id}\"\npublisher_id = 5\nwriter_group_id = {id}\n\
             data_set_writer_id = {id}\nmessage_receive_timeout = \"3s\"\n"
        )
    });
    let head = READER
        .split_once("[[connections.reader_groups.data_set_readers]]")
        .unwrap()
        .0;
    let readers = head.to_owned() + &readers.collect::<String>();
    let made = made_of(&writers, &readers).unwrap();
    assert_eq!(made.flows.len(), 10_000);
    assert!(made.warnings.is_empty());
    assert_eq!(made.flows[9_999].readers, ["In/Fast/R10000"]);
    // All groups share one assumption.
    let offsets = made
        .assumptions
        .iter()
        .find(|it| it.field == "offset")
        .unwrap();
    assert_eq!(offsets.subjects.len(), 10_000);
    assert!(offsets.to_string().contains("a/G1, a/G2, "), "{offsets}");
    assert!(
        offsets.to_string().contains(" and 9994 more = "),
        "{offsets}"
    );
}

#[test]
fn one_message_of_many_writers_is_too_long() {
    let writers = (2..=10_000).map(|id| {
        format!("[[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = {id}\ndata_set_name = \"Data\"\n")
    });
    let text = WRITER.to_owned() + &writers.collect::<String>();
    let error = made_of(&text, READER).unwrap_err().to_string();
    assert!(error.contains("a frame has room for 1500 B"), "{error}");
}

#[test]
fn values_of_gigabytes_are_refused_before_they_are_made() {
    let fields = (0..3000).map(|index| {
        format!("    {{ name = \"F{index}\", data_type = \"String\", max_string_length = 4000000000 }},\n")
    });
    let fields = format!("fields = [\n{}]\n", fields.collect::<String>());
    let text = WRITER.replace(
        "fields = [{ name = \"Value\", data_type = \"Double\", published_variable = \"ns=1;s=Value\" }]\n",
        &fields,
    );
    assert_ne!(text, WRITER);
    let error = made_of(&text, READER).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "a.toml: [[connections.writer_groups]] Out/Fast: max_network_message_size: the values of an interval have more than 16 MiB."
        ),
        "{error}"
    );
}

#[test]
fn names_stay_in_their_line() {
    // A binary file may have any name; that of a group with a line break is refused as `takt pubsub config check` does.
    let mut file = from_toml(WRITER).unwrap();
    file.configuration.connections[0].writer_groups[0].name =
        UaString::from("x\"\n[[applications]]\nname = \"evil");
    let configurations = [
        PlantConfiguration::new("a.toml", file, None),
        PlantConfiguration::new("b.toml", from_toml(READER).unwrap(), None),
    ];
    let plant = PlantFile::parse(PLANT, "plant.toml").unwrap();
    let error = scenario_of_plant(&plant, &configurations)
        .unwrap_err()
        .to_string();
    assert!(error.contains("has control characters"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn a_name_that_occurs_twice_is_told_apart() {
    let twice = WRITER.to_owned()
        + "[[connections]]
name = \"Other\"
publisher_id = 6
address = \"opc.eth://01-00-5E-00-00-01:10.6\"
network_interface = \"eth0\"
[[connections.writer_groups]]
name = \"Fast\"
writer_group_id = 1
publishing_interval = \"1ms\"
[[connections.writer_groups.data_set_writers]]
data_set_writer_id = 1
data_set_name = \"Data\"
";
    let made = made_of(&twice, READER).unwrap();
    let names: Vec<&str> = made
        .flows
        .iter()
        .map(|it| it.application.as_str())
        .collect();
    assert_eq!(names, ["a/Fast", "a/Fast (2)"]);
}

#[test]
fn more_traffic_than_a_link_has_is_shown_in_the_scenario() {
    let plant = format!(
        "{}[disciplines.tsn]
scheduler = \"mqprio\"
classes = [{{ name = \"motion\", priorities = [6], queue = \"cbs\" }}, {{ name = \"rest\" }}]
",
        PLANT
            .replace("version = 1\n", "version = 1\ndiscipline = \"tsn\"\n")
            .replace(
                "ends = [\"a\", \"x\"]",
                "ends = [\"a\", \"x\"], rate = \"100 kbit/s\""
            )
    );
    match made(&plant, &[("a.toml", WRITER), ("b.toml", READER)]) {
        Err(takt_plant::PlantError::Scenario { text, error }) => {
            assert!(text.contains("[[applications]] # a.toml:9"), "{text}");
            assert!(error.to_string().contains("idleSlope"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Names of any characters that the checks let pass are those of the scenario, and no line of the text comes from them.
    #[test]
    fn any_name_is_escaped(group in "\\PC{1,12}", node in "\\PC{1,12}", file in any::<String>()) {
        prop_assume!(!node.trim().is_empty() && node != "b" && node != "x");
        let writer = WRITER.replace("name = \"Fast\"", &format!("name = {}", quoted(&group)));
        let plant = PLANT
            .replace("name = \"a\"", &format!("name = {}", quoted(&node)))
            .replace("node = \"a\"", &format!("node = {}", quoted(&node)))
            .replace("ends = [\"a\"", &format!("ends = [{}", quoted(&node)));
        let Ok(plant) = PlantFile::parse(&plant, &format!("{file}.toml")) else {
            return Ok(());
        };
        let (Ok(writer), Ok(reader)) = (from_toml(&writer), from_toml(READER)) else {
            return Ok(());
        };
        let configurations = [
            PlantConfiguration::new("a.toml", writer, Some(WRITER)),
            PlantConfiguration::new("b.toml", reader, Some(READER)),
        ];
        if let Ok(made) = scenario_of_plant(&plant, &configurations) {
            let scenario = Scenario::parse(&made.text, "scenario.toml").unwrap();
            prop_assert_eq!(scenario.applications.len(), 1);
            prop_assert_eq!(&scenario.applications[0].name, &made.flows[0].application);
            prop_assert_eq!(&scenario.nodes[0].name, &node);
        }
    }
}
