//! Frames that several devices receive.

use takt_plant::PlantScenario;
use takt_scenario::{Application, Scenario, SecurityMode};

use crate::support::{READER, WRITER, made};

/// Two bridges: host1 and host2 are at bridge1, host3 and host4 at bridge2.
const PLANT: &str = "version = 1
nodes = [
    { name = \"host1\" }, { name = \"host2\" }, { name = \"host3\" }, { name = \"host4\" },
    { name = \"bridge1\", kind = \"bridge\" }, { name = \"bridge2\", kind = \"bridge\" },
]
links = [
    { ends = [\"host1\", \"bridge1\"] }, { ends = [\"host2\", \"bridge1\"] }, { ends = [\"bridge1\", \"bridge2\"] },
    { ends = [\"host3\", \"bridge2\"] }, { ends = [\"host4\", \"bridge2\"] },
]
devices = [
    { node = \"host1\", configurations = [\"a.toml\"] },
    { node = \"host2\", configurations = [\"b.toml\"] },
    { node = \"host3\", configurations = [\"b.toml\"] },
]
";

fn scenario(made: &PlantScenario) -> Scenario {
    Scenario::parse(&made.text, "scenario.toml")
        .unwrap_or_else(|error| panic!("{error}\n{}", made.text))
}

/// Returns the names of the nodes that receive the messages of an application.
fn receivers(scenario: &Scenario, application: &Application) -> Vec<String> {
    let nodes = application.receiver.nodes().iter();
    nodes
        .map(|node| scenario.nodes[node.0].name.clone())
        .collect()
}

#[test]
fn one_frame_goes_to_several_devices() {
    let made = made(PLANT, &[("a.toml", WRITER), ("b.toml", READER)]).unwrap();
    let scenario = scenario(&made);
    let flows = made
        .flows
        .iter()
        .map(|it| (it.application.as_str(), it.subscriber.as_str()));
    assert_eq!(
        flows.collect::<Vec<_>>(),
        [("host1/Fast", "host2"), ("host1/Fast", "host3")]
    );
    let [application] = scenario.applications.as_slice() else {
        panic!("{}", made.text);
    };
    assert_eq!(receivers(&scenario, application), ["host2", "host3"]);
    // A frame is on the first link once.
    let own: usize = scenario
        .flows()
        .iter()
        .map(|flow| flow.own_ports().len())
        .sum();
    assert_eq!(own, 4);
    assert_eq!(application.group, [1, 0, 0x5E, 0, 0, 1]);
    let lines = "subscribers = [
    \"host2\", # b.toml:7: In/Fast/Data
    \"host3\", # b.toml:7: In/Fast/Data
]
";
    assert!(made.text.contains(lines), "{}", made.text);
    assert!(
        made.text
            .contains("\ngroup = \"01-00-5E-00-00-01\" # a.toml:7\n"),
        "{}",
        made.text
    );
}

#[test]
fn paths_of_the_network_file_belong_to_the_receiver() {
    let paths = "[[paths]]\nfrom = \"host1\"\nto = \"host3\"\npath = [\"host1\", \"bridge1\", \"bridge2\", \"host3\"]\n";
    let made = made(
        &format!("{PLANT}{paths}"),
        &[("a.toml", WRITER), ("b.toml", READER)],
    )
    .unwrap();
    let line = "    { node = \"host3\", path = [\"host1\", \"bridge1\", \"bridge2\", \"host3\"] }, # b.toml:7: In/Fast/Data\n";
    assert!(made.text.contains(line), "{}", made.text);
    assert_eq!(scenario(&made).flows().len(), 2);
}

/// Bridges forward by group and VLAN: not by ports of UDP, and to the same devices whoever sends.
#[test]
fn senders_to_one_group_have_the_same_receivers() {
    let udp = |text: &str, port: u16| {
        text.replace(
            "opc.eth://01-00-5E-00-00-01:10.6",
            &format!("opc.udp://239.0.0.1:{port}"),
        )
    };
    // host4 sends to another port, at which nobody listens; host2 and host3 listen at the first one.
    let other = udp(WRITER, 4841).replace("publisher_id = 5", "publisher_id = 6");
    let plant = PLANT.replace(
        "devices = [\n",
        "devices = [\n    { node = \"host4\", configurations = [\"c.toml\"] },\n",
    );
    let files = [
        ("a.toml", udp(WRITER, 4840)),
        ("b.toml", udp(READER, 4840)),
        ("c.toml", other),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let made = made(&plant, &files).unwrap();
    let scenario = scenario(&made);
    let found = scenario
        .applications
        .iter()
        .map(|it| (it.name.as_str(), receivers(&scenario, it)));
    let both = vec!["host2".to_owned(), "host3".to_owned()];
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("host4/Fast", both.clone()), ("host1/Fast", both)]
    );
    assert!(
        made.text.contains("\ngroup = \"239.0.0.1\" # a.toml:7\n"),
        "{}",
        made.text
    );
    let plans = takt_scenario::GroupAddress::parse("239.0.0.1");
    assert!(
        scenario
            .applications
            .iter()
            .all(|it| it.written_group == plans)
    );
}

/// Bridges forward 224.0.0.0/24 to all ports (RFC 4541, 2.1.2).
#[test]
fn a_group_that_is_always_flooded_comes_to_all_hosts() {
    let local = |text: &str| {
        text.replace(
            "opc.eth://01-00-5E-00-00-01:10.6",
            "opc.udp://224.0.0.107:4840",
        )
    };
    let (writer, reader) = (local(WRITER), local(READER));
    let made = made(PLANT, &[("a.toml", &writer), ("b.toml", &reader)]).unwrap();
    let scenario = scenario(&made);
    assert_eq!(
        receivers(&scenario, &scenario.applications[0]),
        ["host2", "host3", "host4"]
    );
    assert!(!made.text.contains("\ngroup = "), "{}", made.text);
    let reason = "\"host4\", # gets the frames because bridges forward this address to all ports";
    assert!(made.text.contains(reason), "{}", made.text);
}

/// A frame leaves by one port, and nobody knows by which.
#[test]
fn a_device_with_several_ports_has_an_application_for_each() {
    let plant = PLANT.replace(
        "links = [",
        "links = [ { ends = [\"host1\", \"bridge2\"] },",
    );
    let made = made(&plant, &[("a.toml", WRITER), ("b.toml", READER)]).unwrap();
    let names: Vec<&str> = made
        .flows
        .iter()
        .map(|it| it.application.as_str())
        .collect();
    assert_eq!(names, ["host1/Fast via bridge1", "host1/Fast via bridge2"]);
    let warnings: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings[0].contains("its frames leave the device by several ports"),
        "{warnings:?}"
    );
    assert_eq!(scenario(&made).applications.len(), 2);
}

/// Security is that of the configuration, and the frame has the same length as before.
#[test]
fn security_of_messages_is_written() {
    let signed = WRITER.replace(
        "name = \"Fast\"\n",
        "name = \"Fast\"\nsecurity_mode = \"SignAndEncrypt\"\nsecurity_group_id = \"G\"\n",
    );
    let files = [("a.toml", signed.as_str()), ("b.toml", READER)];
    let of_metadata = made(PLANT, &files).unwrap();
    let stated = "writer_groups = [{ device = \"host1\", name = \"Fast\", payload = \"90 B\" }]\n";
    let stated = PLANT.replace("devices = [", &format!("{stated}devices = ["));
    let of_file = made(&stated, &files).unwrap();
    for (made, payload) in [(&of_metadata, 34 + 46), (&of_file, 90)] {
        let scenario = scenario(made);
        let application = &scenario.applications[0];
        assert_eq!(application.security.mode, SecurityMode::SignAndEncrypt);
        assert_eq!(application.frame.payload(), payload);
        assert_eq!(made.flows[0].payload, payload);
        let line =
            "\nsecurity = \"SignAndEncrypt\" # a.toml:11; processing_time has its processor time\n";
        assert!(made.text.contains(line), "{}", made.text);
    }
    let short = stated.replace("90 B", "46 B");
    let error = made(&short, &files).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.toml:9: Out/Fast: has a payload of 46 B, and security alone has 46 B. Write the payload with all headers at \
         plant.toml:10"
    );
}

/// Results find a flow by its name, which a group may be given that is that of another flow.
#[test]
fn names_of_flows_are_told_apart() {
    let twice = WRITER.to_owned()
        + "[[connections.writer_groups]]
name = \"Fast \u{2192} host2\"
writer_group_id = 2
publishing_interval = \"1ms\"
[[connections.writer_groups.data_set_writers]]
data_set_writer_id = 2
data_set_name = \"Data\"
";
    let made = made(PLANT, &[("a.toml", &twice), ("b.toml", READER)]).unwrap();
    let scenario = scenario(&made);
    let names: Vec<&str> = scenario
        .applications
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["host1/Fast", "host1/Fast \u{2192} host2 (2)"]);
}

/// Messages to all of very many devices are refused before their text is made.
#[test]
fn too_many_receivers_are_refused() {
    let hosts = 1000;
    let devices = (2..=hosts)
        .map(|host| format!("    {{ node = \"host{host}\", configurations = [\"b.toml\"] }},\n"));
    let plant = format!(
        "version = 1\ntopology = {{ kind = \"star\", hosts = {hosts} }}\ndevices = [\n    {{ node = \"host1\", configurations = \
         [\"a.toml\"] }},\n{}]\n",
        devices.collect::<String>()
    );
    let groups = (2..=300).map(|id| {
        format!(
            "[[connections.writer_groups]]\nname = \"G{id}\"\nwriter_group_id = {id}\npublishing_interval = \"1s\"\n\
             [[connections.writer_groups.data_set_writers]]\ndata_set_writer_id = {id}\ndata_set_name = \"Data\"\n"
        )
    });
    let writers = WRITER.to_owned() + &groups.collect::<String>();
    let error = made(&plant, &[("a.toml", &writers), ("b.toml", READER)]).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("the messages have more than 200000 receivers together"),
        "{error}"
    );
}
