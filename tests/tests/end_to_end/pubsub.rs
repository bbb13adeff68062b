//! End-to-end tests of `takt publish` and `takt subscribe`, over UDP on loopback.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use takt_tests::{Process, Provider, Registry, Sandbox};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns matching configurations of a publisher and a subscriber.
struct Files {
    publisher: PathBuf,
    subscriber: PathBuf,
    url: String,
}

impl Files {
    /// `fields` are rows of TOML with a `{}` for the entries of each side besides name and type; `groups` are the
    /// entries of both groups.
    fn write(sandbox: &Sandbox, fields: &[(&str, &str, &str)], group: &str) -> Self {
        let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
        let row = |(name, data_type, node): &(&str, &str, &str), key: &str| {
            format!("{{ name = \"{name}\", data_type = \"{data_type}\", {key} = '{node}' }},\n")
        };
        let rows = |key: &str| {
            fields
                .iter()
                .map(|field| row(field, key))
                .collect::<String>()
        };
        let publisher = format!(
            r#"
            [[published_data_sets]]
            name = "Data"
            fields = [{}]

            [[connections]]
            name = "UDP"
            publisher_id = 5
            address = "{url}"

            [[connections.writer_groups]]
            name = "Group"
            writer_group_id = 1
            publishing_interval = "20ms"
            header_layout = "UADP-Dynamic"
            {group}

            [[connections.writer_groups.data_set_writers]]
            name = "Writer"
            data_set_writer_id = 1
            data_set_name = "Data"
            "#,
            rows("published_variable"),
        );
        let subscriber = format!(
            r#"
            [[connections]]
            name = "UDP"
            address = "{url}"

            [[connections.reader_groups]]
            name = "Group"
            {group}

            [[connections.reader_groups.data_set_readers]]
            name = "Reader"
            publisher_id = 5
            data_set_writer_id = 1
            header_layout = "UADP-Dynamic"
            fields = [{}]
            "#,
            rows("target_node_id"),
        );
        let path = |name: &str, text: String| {
            let path = sandbox.data_directory().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        Self {
            publisher: path("publisher.toml", publisher),
            subscriber: path("subscriber.toml", subscriber),
            url,
        }
    }

    fn publish(&self, sandbox: &Sandbox, arguments: &[&str]) -> Process {
        let file = self.publisher.to_str().unwrap();
        let mut command = sandbox.takt(&[&["publish", file], arguments].concat());
        Process::spawn("takt publish", &mut command)
    }

    fn subscribe(&self, sandbox: &Sandbox, arguments: &[&str]) -> Process {
        let file = self.subscriber.to_str().unwrap();
        let mut command = sandbox.takt(&[&["subscribe", file, "--json"], arguments].concat());
        Process::spawn("takt subscribe", &mut command)
    }
}

/// Waits for a DataSetMessage with a field of this name that `wanted` accepts.
fn wait_for_field(subscriber: &mut Process, name: &str, wanted: impl Fn(&Value) -> bool) {
    subscriber.wait_for(name, PATIENCE, |line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let fields = row["fields"].as_array().cloned().unwrap_or_default();
        fields
            .iter()
            .any(|field| field["name"] == name && wanted(&field["value"]))
    });
}

#[test]
fn given_and_simulated_values_are_received_with_their_names() {
    let sandbox = Sandbox::new();
    let fields = [
        ("Speed", "Double", "ns=1;s=Speed"),
        ("Count", "UInt32", "ns=1;s=Count"),
    ];
    let files = Files::write(&sandbox, &fields, "");
    let mut subscriber = files.subscribe(&sandbox, &[]);
    let publisher = files.publish(
        &sandbox,
        &["--set", "Speed=1500.5", "--simulate", "--for", "5s"],
    );
    wait_for_field(&mut subscriber, "Speed", |value| value == 1500.5);
    wait_for_field(&mut subscriber, "Count", |value| {
        value.as_u64().is_some_and(|it| it > 0)
    });
    subscriber.signal(rustix::process::Signal::TERM);
    assert!(subscriber.wait(PATIENCE).success());
    let finished = publisher.finish(PATIENCE);
    let summary = finished.expect_success();
    assert!(summary.starts_with("UDP/Group  Operational  "), "{summary}");
    assert!(summary.contains("  0 errors  "), "{summary}");
}

#[test]
fn listening_to_an_address_shows_values_by_index() {
    let sandbox = Sandbox::new();
    let files = Files::write(&sandbox, &[("Speed", "Double", "ns=1;s=Speed")], "");
    let mut command = sandbox.takt(&["subscribe", &files.url, "--json", "--count", "3"]);
    let mut listener = Process::spawn("takt subscribe", &mut command);
    let mut publisher = files.publish(&sandbox, &["--set", "Speed=2.5"]);
    wait_for_field(&mut listener, "[0]", |value| value == 2.5);
    assert!(listener.wait(PATIENCE).success());
    publisher.signal(rustix::process::Signal::TERM);
    assert!(publisher.wait(PATIENCE).success());
}

#[test]
fn the_variables_of_a_provider_are_published() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let files = Files::write(
        &sandbox,
        &[("Override", "Double", "ns=1;s=Spindle/Override")],
        "",
    );
    let from = machine.shared_memory();
    let _publisher = files.publish(&sandbox, &["--from", &from]);
    let mut subscriber = files.subscribe(&sandbox, &[]);
    wait_for_field(&mut subscriber, "Override", |value| value.is_number());
    let written = sandbox.run(&["write", &from, "Spindle/Override", "73"]);
    let _ = written.expect_success();
    wait_for_field(&mut subscriber, "Override", |value| value == 73.0);
}

#[test]
fn keys_come_from_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--security-group", "Plant"]);
    let group = "security_mode = \"SignAndEncrypt\"\nsecurity_group_id = \"Plant\"";
    let files = Files::write(&sandbox, &[("Speed", "Double", "ns=1;s=Speed")], group);
    let service = registry.shared_memory();
    let mut publisher = files.publish(&sandbox, &["--set", "Speed=7", "--keys", &service]);
    let mut subscriber = files.subscribe(&sandbox, &["--keys", &service]);
    wait_for_field(&mut subscriber, "Speed", |value| value == 7.0);
    for process in [&mut publisher, &mut subscriber] {
        process.signal(rustix::process::Signal::TERM);
        assert!(process.wait(PATIENCE).success());
    }
    // The same with a key from the command line; another key is not accepted.
    let key = |digit: &str| {
        format!(
            "Plant=3:{}:{}:{}",
            digit.repeat(64),
            digit.repeat(64),
            digit.repeat(8)
        )
    };
    let mut subscriber = files.subscribe(&sandbox, &["--key", &key("a")]);
    let _wrong = files.publish(&sandbox, &["--set", "Speed=8", "--key", &key("b")]);
    let _right = files.publish(&sandbox, &["--set", "Speed=9", "--key", &key("a")]);
    let first = subscriber.wait_for("a value", PATIENCE, |line| line.contains("fields"));
    assert!(first.contains("9.0"), "{first}");
}

#[test]
fn missing_parts_are_reported() {
    let sandbox = Sandbox::new();
    let group = "security_mode = \"Sign\"\nsecurity_group_id = \"Plant\"";
    let files = Files::write(&sandbox, &[("Speed", "Double", "ns=1;s=Speed")], group);
    let run = |arguments: &[&str]| sandbox.run(arguments).expect_failure();
    let publisher = files.publisher.to_str().unwrap();
    let subscriber = files.subscriber.to_str().unwrap();
    let nobody = run(&["publish", publisher]);
    assert!(
        nobody.contains("the field has no source") && nobody.contains("--simulate"),
        "{nobody}"
    );
    let no_keys = run(&["subscribe", subscriber]);
    assert!(
        no_keys.contains("SecurityGroup Plant") && no_keys.contains("--keys"),
        "{no_keys}"
    );
    let wrong = run(&["subscribe", "opc.tcp://localhost"]);
    assert!(wrong.contains("opc.udp://"), "{wrong}");
    let nothing = run(&["subscribe", publisher]);
    assert!(nothing.contains("no DataSetReader"), "{nothing}");
}
