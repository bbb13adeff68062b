//! Applications with several subscribers on the command line: bounds, simulation, plans and mistakes, beside values computed by hand.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::process;

/// All frames have 125 B on the wire: 10 us. `state` takes 10 + 5 + 10 us to `near`, and 10 + 5 + 10 + 7 + 10 us to `robot` and `panel`.
/// `picture` meets it on the link between the bridges.
const PLANT: &str = r#"
version = 1
discipline = "priority"
nodes = [
    { name = "press" }, { name = "camera" }, { name = "near" }, { name = "robot" }, { name = "panel" },
    { name = "b1", kind = "bridge", forwarding_delay = "5 us" },
    { name = "b2", kind = "bridge", forwarding_delay = "7 us" },
]
links = [
    { ends = ["press", "b1"], rate = "100 Mbit/s" },
    { ends = ["camera", "b1"], rate = "100 Mbit/s" },
    { ends = ["near", "b1"], rate = "100 Mbit/s" },
    { ends = ["b1", "b2"], rate = "100 Mbit/s" },
    { ends = ["robot", "b2"], rate = "100 Mbit/s" },
    { ends = ["panel", "b2"], rate = "100 Mbit/s" },
]
[disciplines.priority]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3] }, { name = "rest" }]
[[applications]]
name = "state"
publisher = "press"
subscribers = ["robot", "panel", "near"]
cycle = "1 ms"
payload = "37 B"
security = "SignAndEncrypt"
[[applications]]
name = "picture"
publisher = "camera"
subscriber = "panel"
cycle = "1 ms"
payload = "83 B"
"#;

const ARROW: char = '\u{2192}';

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let text = sandbox.run(arguments).expect_success();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn file(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("plant.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn bounds_and_simulation_have_a_row_for_each_way() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let plant = file(&folder, PLANT);
    let ways = ["robot", "panel", "near"].map(|node| format!("state {ARROW} {node}"));
    let expected = [52.0, 52.0, 25.0];
    let found = json(&sandbox, &["bounds", &plant, "--json"]);
    let flows = found[0]["flows"].as_array().unwrap();
    for (name, us) in ways.iter().zip(expected) {
        let flow = flows.iter().find(|flow| flow["flow"] == **name).unwrap();
        assert_eq!(flow["delay_us"].as_f64(), Some(us), "{flow}");
    }
    let table = sandbox.run(&["bounds", &plant]).expect_success();
    assert!(ways.iter().all(|name| table.contains(name)), "{table}");
    let simulated = json(
        &sandbox,
        &["simulate", &plant, "--messages", "50", "--json"],
    );
    let state = &simulated[0]["applications"][0];
    let subscribers = state["subscribers"].as_array().unwrap();
    let nodes = subscribers.iter().map(|it| it["node"].as_str().unwrap());
    assert_eq!(nodes.collect::<Vec<_>>(), ["robot", "panel", "near"]);
    let flows = simulated[0]["flows"].as_array().unwrap();
    for name in &ways {
        let flow = flows.iter().find(|flow| flow["name"] == **name).unwrap();
        assert_eq!((&flow["sent"], &flow["received"]), (&50.into(), &50.into()));
    }
    let table = sandbox.run(&["simulate", &plant]).expect_success();
    for node in ["robot", "panel", "near"] {
        assert!(table.contains(&format!("one way to {node}")), "{table}");
    }
    for model in ["ieee", "linux"] {
        let arguments = [
            "simulate",
            &plant,
            "--adversarial",
            "--tries",
            "200",
            "--model",
            model,
        ];
        let worst = json(&sandbox, &[&arguments[..], &["--json"]].concat());
        for row in worst[0]["worst"].as_array().unwrap() {
            assert_eq!(row["above_bound"], false, "{row}");
            assert!(row["found_ns"].as_f64() > Some(24_000.0), "{row}");
        }
    }
}

/// The port between the bridges forwards both applications, and the group of `state` has an entry there.
#[test]
fn plans_forward_a_group_where_it_has_subscribers() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let plant = file(&folder, PLANT);
    let all = sandbox
        .run(&["tsn", "plan", &plant, "--bridge", "br0"])
        .expect_success();
    let entries = all
        .lines()
        .filter(|line| line.starts_with("bridge mdb add"));
    let entry =
        |port: &str| format!("bridge mdb add dev br0 port {port} grp 01:00:5e:00:54:01 permanent");
    // b1: eth2 is the port to near, eth3 that to b2. b2: eth1 and eth2 are those to robot and panel.
    let expected = [entry("eth2"), entry("eth3"), entry("eth1"), entry("eth2")];
    assert_eq!(entries.collect::<Vec<_>>(), expected, "{all}");
    assert!(all.contains("# group 01-00-5E-00-54-01: state"), "{all}");
    let ports = json(
        &sandbox,
        &[
            "tsn", "plan", &plant, "--node", "b1", "--port", "near", "--json",
        ],
    );
    let commands = ports[0]["group_commands"].as_array().unwrap();
    assert_eq!(commands.len(), 1, "{ports:?}");
    let one = PLANT.replace("[\"robot\", \"panel\", \"near\"]", "[\"robot\"]");
    let one = file(&folder, &one);
    let plan = sandbox.run(&["tsn", "plan", &one]).expect_success();
    assert!(!plan.contains("mdb"), "{plan}");
    let refused = sandbox
        .run(&["tsn", "plan", &one, "--bridge", "br0"])
        .expect_failure();
    assert!(refused.contains("several subscribers"), "{refused}");
}

/// A message to 999 hosts, each with its own bound.
#[test]
fn a_thousand_subscribers_have_bounds() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let names: Vec<String> = (2..=1000).map(|host| format!("\"host{host}\"")).collect();
    let text = format!(
        "version = 1\ntopology = {{ kind = \"star\", hosts = 1000 }}\n[[applications]]\nname = \"state\"\n\
         publisher = \"host1\"\nsubscribers = [{}]\ncycle = \"1 ms\"\npayload = \"83 B\"\n",
        names.join(", ")
    );
    let star = file(&folder, &text);
    let patience = Duration::from_secs(120);
    let mut command = sandbox.takt(&["bounds", &star, "--json"]);
    let found = process::run("takt bounds", &mut command, patience).expect_success();
    let found: Value = serde_json::from_str(&found).unwrap();
    let flows = found["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 999);
    // Two links of 1 us: a port has one frame of the message.
    assert!(
        flows
            .iter()
            .all(|flow| flow["delay_us"].as_f64() == Some(2.0))
    );
    let mut command = sandbox.takt(&["simulate", &star, "--messages", "20", "--json"]);
    let found = process::run("takt simulate", &mut command, patience).expect_success();
    let found: Value = serde_json::from_str(&found).unwrap();
    let flows = found["flows"].as_array().unwrap();
    assert!(flows.iter().all(|flow| flow["received"] == 20));
}

/// Overload of a shared link has no effect on a branch that leaves before it.
#[test]
fn overload_of_a_shared_link_names_the_port() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let text = PLANT.replace("cycle = \"1 ms\"", "cycle = \"15 us\"");
    let plant = file(&folder, &text);
    let text = sandbox.run(&["bounds", &plant]).expect_success();
    assert!(text.contains(&format!("b1 {ARROW} b2")), "{text}");
    // The port to `near` has `state` alone.
    let found = json(&sandbox, &["bounds", &plant, "--json"]);
    let flows = found[0]["flows"].as_array().unwrap();
    let of = |name: &str| flows.iter().find(|flow| flow["flow"] == *name).unwrap();
    assert!(
        of(&format!("state {ARROW} robot"))["infinite"].is_object(),
        "{flows:?}"
    );
    assert_eq!(
        of(&format!("state {ARROW} near"))["delay_us"].as_f64(),
        Some(25.0)
    );
}

#[test]
fn mistakes_have_their_line() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let list = "[\"robot\", \"panel\", \"near\"]";
    for (receivers, message) in [
        ("[]", "an application needs a subscriber"),
        (
            "[\"robot\", \"press\"]",
            "source and destination are the same node",
        ),
        ("[\"robot\", \"robot\"]", "`robot` is a subscriber already"),
    ] {
        let plant = file(&folder, &PLANT.replace(list, receivers));
        let error = sandbox.run(&["scenario", "check", &plant]).expect_failure();
        assert!(error.contains(message), "{error}");
        assert!(error.contains("plant.toml:23:"), "{error}");
    }
}
