//! Options that belong to one kind of input are refused with another one, and values that are given are checked.

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::mistakes::fails;

fn file(name: &str) -> String {
    repository().join(name).to_str().unwrap().to_owned()
}

#[test]
fn options_without_effect_are_refused() {
    let sandbox = Sandbox::new();
    let publisher = file("examples/pubsub/publisher.toml");
    let subscriber = file("examples/pubsub/subscriber.toml");
    let scenario = file("scenarios/e3.toml");
    let udp = "opc.udp://127.0.0.1:4840";
    let (publisher, subscriber, scenario) = (&*publisher, &*subscriber, &*scenario);
    let digits = |count| "a".repeat(count);
    let key = format!("Plant=1:{}:{}:{}", digits(64), digits(64), digits(8));
    // Its bounds are of the model of the paper.
    let line = file("scenarios/line.toml");
    let line = &*line;
    let cases: [(&[&str], &[&str]); 20] = [
        (
            &["publish", publisher, "--cycles", "3"],
            &["--cycles", "scenario"],
        ),
        // One with a default value.
        (
            &["publish", publisher, "--misses", "1"],
            &["--misses", "scenario"],
        ),
        (
            &["publish", scenario, "--set", "A=1"],
            &["--set", "--field"],
        ),
        (&["publish", scenario, "--simulate"], &["--simulate"]),
        (
            &["publish", scenario, "--mqtt-user", "anna"],
            &["--mqtt-user"],
        ),
        (
            &["publish", publisher, "--simulate", "--key", &key],
            &["Plant", "not protected"],
        ),
        (
            &["publish", publisher, "--simulate", "--user", "anna"],
            &["user", "--from"],
        ),
        (
            &["subscribe", subscriber, "--topic", "x"],
            &["--topic", "is a file"],
        ),
        (&["subscribe", udp, "--topic", "x"], &["--topic", "broker"]),
        (
            &["subscribe", "opc.iox2://X", "--interface", "lo"],
            &["--interface"],
        ),
        (
            &["subscribe", udp, "--keys", "opc.iox2://X"],
            &["--keys", "configuration"],
        ),
        (
            &["pubsub", "decode", "5101", "--port", "4840"],
            &["--port", "capture"],
        ),
        (&["discover", "--network", "--user", "anna"], &["--network"]),
        (&["trust", "list", "--timeout", "1s"], &["--server"]),
        (&["trust", "renew", "Machine", "--days", "9"], &["NAME"]),
        (&["bounds", scenario, "--theme", "dark"], &["--plot"]),
        (
            &["bounds", line, "--software"],
            &["--software", "Add --model sound"],
        ),
        (
            &["bounds", line, "--driver-queue", "1"],
            &["--driver-queue", "Add --model sound"],
        ),
        (
            &["browse", "opc.iox2://X", "--references", "--depth", "2"],
            &["--references"],
        ),
        (
            &["analyze", scenario, "--application", "a"],
            &["--application", "lab run"],
        ),
    ];
    for (arguments, parts) in cases {
        fails(&sandbox, arguments, parts);
    }
    let requirements = sandbox.rows(&["report", "--requirements"]);
    assert_eq!(requirements[0]["name"], "motion-control");
}

/// One syntax for other values of fields, in each command that reads a scenario.
#[test]
fn a_field_is_given_once() {
    let sandbox = Sandbox::new();
    let line = file("scenarios/line.toml");
    let commands: [&[&str]; 8] = [
        &["bounds", &line],
        &["simulate", &line],
        &["scenario", "check", &line],
        &["lab", "run", &line],
        &["tsn", "plan", &line],
        &[
            "tsn",
            "verify",
            &line,
            "--node",
            "host1",
            "--interface",
            "lo",
        ],
        &["publish", &line],
        &["loopback", &line],
    ];
    for command in commands {
        let twice = ["--field", "topology.hops=2", "--field", "topology.hops=3"];
        let parts = ["`topology.hops` is given twice", "give it one value"];
        fails(&sandbox, &[command, &twice].concat(), &parts);
        let misspelt = [command, &["--field", "topology.hop=2"]].concat();
        fails(&sandbox, &misspelt, &["did you mean `hops`?"]);
    }
    let fields = [
        "--field",
        "topology.hops=2",
        "--field",
        "applications.control.repeated_node_count=160",
    ];
    let rows = sandbox.rows(&[&["bounds", &line][..], &fields].concat());
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!(row["settings"]["topology.hops"], "2");
    let simulate = ["simulate", &line, "--messages", "10"];
    let rows = sandbox.rows(&[&simulate[..], &fields].concat());
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["settings"]["topology.hops"], "2");
    // The name that `takt tsn` had before.
    let planned = |option| {
        let plan = ["tsn", "plan", &line, option, "topology.hops=1"];
        sandbox.run(&plan).expect_success()
    };
    assert_eq!(planned("--set"), planned("--field"));
}

/// Publishes a DataSet for a moment, which must fail with a message that has these parts.
fn refused(set: &[&str], parts: &[&str]) {
    let sandbox = Sandbox::new();
    let publisher = file("examples/pubsub/publisher.toml");
    let options = set.iter().flat_map(|set| ["--set", set]);
    let mut arguments = vec!["publish", &publisher, "--simulate", "--for", "100ms"];
    arguments.extend(options);
    fails(&sandbox, &arguments, parts);
}

#[test]
fn given_values_are_checked_before_anything_is_published() {
    refused(&["Sped=1"], &["Sped", "Load, Speed, State"]);
    refused(&["Speed=fast"], &["Speed", "`fast` is not Double"]);
    refused(&["Speed=[1, 2]"], &["Speed", "is not Double"]);
    refused(&["State=-1"], &["State", "UInt32", "-1"]);
    refused(&["State=1", "Speed=2", "State=1"], &["State twice"]);
    for wrong in ["Speed", "=1"] {
        refused(&[wrong], &["is not a value", "NAME=VALUE"]);
    }
}

#[test]
fn given_arrays_are_not_longer_than_their_fields() {
    let sandbox = Sandbox::new();
    let text = std::fs::read_to_string(file("examples/pubsub/publisher.toml")).unwrap();
    let scalar = "name = \"Speed\", data_type = \"Double\"";
    assert!(text.contains(scalar));
    let array = format!("{scalar}, value_rank = 1, array_dimensions = [2]");
    let path = sandbox.data_directory().join("publisher.toml");
    std::fs::write(&path, text.replace(scalar, &array)).unwrap();
    let publish = [
        "publish",
        path.to_str().unwrap(),
        "--simulate",
        "--for",
        "100ms",
        "--set",
    ];
    let longest = sandbox.run(&[&publish[..], &["Speed=[1, 2]"]].concat());
    let _ = longest.expect_success();
    let longer = [&publish[..], &["Speed=[1, 2, 3]"]].concat();
    fails(
        &sandbox,
        &longer,
        &["Speed", "3 elements", "array_dimensions"],
    );
}

/// The same name in two DataSets has the type of each.
#[test]
fn given_values_have_the_types_of_their_fields() {
    let sandbox = Sandbox::new();
    let data_sets = [("One", "Double"), ("Two", "String")].map(|(name, data_type)| {
        format!(
            "[[published_data_sets]]\nname = \"{name}\"\n[[published_data_sets.fields]]\nname = \"Value\"\n\
             data_type = \"{data_type}\"\npublished_variable = \"ns=1;s={name}\"\n"
        )
    });
    let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let writers = ["One", "Two"].map(|name| {
        let id = name.len() + usize::from(name == "Two");
        format!(
            "[[connections.writer_groups.data_set_writers]]\nname = \"{name}\"\ndata_set_writer_id = {id}\n\
             data_set_name = \"{name}\"\n"
        )
    });
    let text = format!(
        "{}[[connections]]\nname = \"Out\"\npublisher_id = 5\naddress = \"{address}\"\n[[connections.writer_groups]]\n\
         name = \"Group\"\nwriter_group_id = 1\npublishing_interval = \"20ms\"\n{}",
        data_sets.concat(),
        writers.concat()
    );
    let path = sandbox.data_directory().join("publisher.toml");
    std::fs::write(&path, text).unwrap();
    let subscribe = ["subscribe", &address, "--json", "--count", "2"];
    let mut subscriber =
        takt_tests::Process::spawn("takt subscribe", &mut sandbox.takt(&subscribe));
    let publish = ["publish", path.to_str().unwrap(), "--set", "Value=7"];
    let publisher = takt_tests::Process::spawn("takt publish", &mut sandbox.takt(&publish));
    let mut types = std::collections::BTreeSet::new();
    while types.len() < 2 {
        let row: Value =
            serde_json::from_str(&subscriber.next_line(crate::command_line::PATIENCE)).unwrap();
        if let Some(field) = row["fields"].get(0) {
            types.insert((field["type"].to_string(), field["value"].to_string()));
        }
    }
    drop(publisher);
    let expected = [("\"Double\"", "7.0"), ("\"String\"", "\"7\"")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(types, expected.into());
}
