//! `takt publish` and `takt subscribe` say why nothing is sent or shown: each reason once, with advice.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::{Process, Sandbox};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn udp() -> String {
    format!("opc.udp://127.0.0.1:{}", takt_ports::reserve())
}

/// Writes the configuration of a Publisher with one text, `Text`, of at most four characters, and returns the path of the file.
/// `group` and `writer` are further keys of WriterGroup and DataSetWriter.
fn publisher(sandbox: &Sandbox, address: &str, group: &str, writer: &str) -> String {
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Data"

        [[published_data_sets.fields]]
        name = "Text"
        data_type = "String"
        max_string_length = 4
        published_variable = "ns=1;s=Text"

        [[connections]]
        name = "Out"
        publisher_id = 5
        address = "{address}"

        [[connections.writer_groups]]
        name = "Group"
        writer_group_id = 1
        publishing_interval = "20ms"
        {group}

        [[connections.writer_groups.data_set_writers]]
        name = "Writer"
        data_set_writer_id = 1
        data_set_name = "Data"
        {writer}
        "#
    );
    let path = sandbox.data_directory().join("publisher.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the error output as one line, without the frames that wrap it.
fn plain(errors: &str) -> String {
    let words = errors.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Returns an unused port of a broker that does not run.
fn no_broker() -> String {
    format!("mqtt://127.0.0.1:{}", takt_ports::reserve())
}

#[test]
fn a_value_that_cannot_be_sent_is_reported_once() {
    let sandbox = Sandbox::new();
    let file = publisher(&sandbox, &udp(), "", "field_encoding = \"RawData\"");
    let long = "Text=more than four characters";
    let run = sandbox.run(&["publish", &file, "--set", long, "--for", "2s"]);
    let errors = plain(&run.expect_failure());
    let reason = "Out/Group: field 0: longer than MaxStringLength";
    assert_eq!(errors.matches(reason).count(), 1, "{errors}");
    for part in ["field_encoding", "Out/Group: no message was sent"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

#[test]
fn a_broker_that_does_not_run_is_an_error() {
    let sandbox = Sandbox::new();
    let broker = no_broker();
    let file = publisher(&sandbox, &broker, "", "");
    for (arguments, name) in [
        (["publish", &file, "--simulate"].as_slice(), "Out/Group"),
        (["subscribe", &broker].as_slice(), broker.as_str()),
    ] {
        let run = sandbox.run(&[arguments, &["--for", "2s"]].concat());
        let errors = plain(&run.expect_failure());
        let reason = format!(
            "{name}: the link is down: not connected to the broker: the connection is refused"
        );
        // Once while it runs, and once as the error of the command.
        assert_eq!(errors.matches(&reason).count(), 2, "{errors}");
        assert!(errors.contains("Is the broker running"), "{errors}");
    }
}

/// Runs a Publisher and `takt subscribe ADDRESS`, until the latter has reported the reason; returns its error output.
fn listen(sandbox: &Sandbox, address: &str, publish: &[&str], reason: &str) -> String {
    let mut command = sandbox.takt(&["subscribe", address]);
    let mut listener = Process::spawn("takt subscribe", &mut command);
    let mut command = sandbox.takt(&[&["publish"], publish].concat());
    let mut publisher = Process::spawn("takt publish", &mut command);
    let deadline = Instant::now() + PATIENCE;
    while !listener.report().contains(reason) {
        let report = listener.report();
        assert!(Instant::now() < deadline, "{reason} is missing: {report}");
        std::thread::sleep(Duration::from_millis(10));
    }
    listener.signal(Signal::TERM);
    let finished = listener.finish(PATIENCE);
    // Nothing of what came was accepted.
    assert_eq!(finished.status.code(), Some(1), "{}", finished.stderr);
    assert!(
        !finished.stdout.contains("key frame"),
        "{}",
        finished.stdout
    );
    publisher.signal(Signal::TERM);
    assert!(publisher.wait(PATIENCE).success());
    let errors = plain(&finished.stderr);
    assert_eq!(errors.matches(reason).count(), 1, "{errors}");
    errors
}

#[test]
fn raw_data_without_metadata_is_reported() {
    let sandbox = Sandbox::new();
    let address = udp();
    let file = publisher(&sandbox, &address, "", "field_encoding = \"RawData\"");
    let publish = [file.as_str(), "--set", "Text=text"];
    let errors = listen(&sandbox, &address, &publish, "the fields are RawData");
    assert!(errors.contains("--discovery"), "{errors}");
}

#[test]
fn a_message_without_a_key_is_reported() {
    let sandbox = Sandbox::new();
    let address = udp();
    let group = "security_mode = \"SignAndEncrypt\"\nsecurity_group_id = \"Plant\"";
    let file = publisher(&sandbox, &address, group, "");
    let key = format!(
        "Plant=3:{}:{}:{}",
        "a".repeat(64),
        "a".repeat(64),
        "a".repeat(8)
    );
    let publish = [file.as_str(), "--set", "Text=text", "--key", &key];
    let errors = listen(&sandbox, &address, &publish, "is signed or encrypted");
    assert!(errors.contains("--key"), "{errors}");
}
