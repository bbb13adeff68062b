//! `takt publish FILE --scenario S` and `takt subscribe FILE --scenario S`: messages that the scenario does not have are refused, and
//! messages near their bounds are reported before any is late.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_tests::{Process, Sandbox};
use takt_ua::enumerations::PubSubState;
use takt_ua::{DataValue, DateTime, Variant};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Latency of each thread in the scenario. A message may so take 100 s, and a loaded machine does not matter.
const LATENCY: &str = "50 s";

/// Returns the configuration of a Publisher of some Doubles.
fn publisher(address: &str, fields: usize) -> String {
    let field = |index| {
        format!(
            "{{ name = \"F{index}\", data_type = \"Double\", published_variable = \"ns=1;s=F{index}\" }}, "
        )
    };
    let fields: String = (0..fields).map(field).collect();
    format!(
        r#"
        [[published_data_sets]]
        name = "Data"
        fields = [{fields}]

        [[connections]]
        name = "Out"
        publisher_id = 5
        address = "{address}"

        [[connections.writer_groups]]
        name = "press"
        writer_group_id = 1
        publishing_interval = "20ms"

        [[connections.writer_groups.data_set_writers]]
        name = "Writer"
        data_set_writer_id = 1
        data_set_name = "Data"
        uadp = {{ data_set_message_content_mask = ["SequenceNumber", "Timestamp"] }}
        "#
    )
}

fn subscriber(address: &str) -> String {
    format!(
        r#"
        [[connections]]
        name = "In"
        address = "{address}"

        [[connections.reader_groups]]
        name = "Readers"

        [[connections.reader_groups.data_set_readers]]
        name = "press"
        publisher_id = 5
        writer_group_id = 1
        data_set_writer_id = 1
        fields = [{{ name = "F0", data_type = "Double" }}]
        "#
    )
}

/// Returns the scenario of a press and a robot at one link.
fn scenario(payload: usize) -> String {
    format!(
        r#"
        version = 1
        discipline = "strict"
        nodes = [
            {{ name = "press", wake_up_latency = "{LATENCY}" }},
            {{ name = "robot", wake_up_latency = "{LATENCY}" }},
        ]
        links = [{{ ends = ["press", "robot"] }}]

        [disciplines.strict]
        scheduler = "mqprio"
        classes = [{{ name = "A", priorities = [3] }}, {{ name = "B" }}]

        [[applications]]
        name = "press"
        publisher = "press"
        subscriber = "robot"
        cycle = "20 ms"
        payload = "{payload} B"
        "#
    )
}

/// A WriterGroup of the test, whose messages have the times that the test chooses.
struct Sender {
    group: WriterGroup,
    socket: UdpSocket,
    to: String,
}

impl Sender {
    fn new(address: &str, fields: usize) -> Self {
        let configuration = from_toml(&publisher(address, fields))
            .unwrap()
            .configuration;
        let connection = &configuration.connections[0];
        let mut source = |_: PublishedField<'_>| {
            Some(FieldSource::Constant(DataValue::good(Variant::Double(1.5))))
        };
        let data_sets = &configuration.published_data_sets;
        let group = &connection.writer_groups[0];
        Self {
            group: WriterGroup::new(connection, group, data_sets, &mut source).unwrap(),
            socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
            to: address.strip_prefix("opc.udp://").unwrap().to_owned(),
        }
    }

    /// Sends a message that was made so many seconds ago, by its Timestamp; returns its length.
    fn send(&mut self, seconds_ago: f64) -> usize {
        let now = Now::read();
        let made = now.date_time.to_unix_nanos() - (seconds_ago * 1e9) as i64;
        let at = Now {
            date_time: DateTime::from_unix_nanos(made),
            ..now
        };
        let mut messages: Vec<Vec<u8>> = Vec::new();
        self.group
            .publish(at, PubSubState::Operational, &mut messages)
            .unwrap();
        self.socket.send_to(&messages[0], &self.to).unwrap();
        messages[0].len()
    }
}

/// Writes files of a test, and returns their paths.
fn files<const N: usize>(sandbox: &Sandbox, texts: [(&str, String); N]) -> [String; N] {
    texts.map(|(name, text)| {
        let path = sandbox.data_directory().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

fn udp() -> String {
    format!("opc.udp://127.0.0.1:{}", takt_ports::reserve())
}

/// Returns the payload of frames with a message of a Publisher: the message, and the headers of IP and UDP.
fn payload(address: &str, fields: usize) -> usize {
    Sender::new(address, fields).send(0.0) + 28
}

/// Returns the error output as one line, without the frames that wrap it.
fn plain(errors: &str) -> String {
    let words = errors.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Waits until the error output of a process has a text.
fn wait_for(process: &Process, text: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !plain(&process.report()).contains(text) {
        let report = process.report();
        assert!(Instant::now() < deadline, "{text} is missing: {report}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until `takt ps --json` shows an application with flows for which `is_it` is true.
fn wait_for_flows(sandbox: &Sandbox, endpoint: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let rows = sandbox.rows(&["ps"]);
        let row = rows.iter().find(|row| row["endpoint"] == *endpoint);
        if let Some(flows) = row.map(|row| &row["flows"]).filter(|flows| is_it(flows)) {
            return flows.clone();
        }
        assert!(Instant::now() < deadline, "{rows:?}");
    }
}

#[test]
fn a_message_near_its_bound_is_reported_once_and_a_late_one_too() {
    let sandbox = Sandbox::new();
    let address = udp();
    let [file, plant] = files(
        &sandbox,
        [
            ("subscriber.toml", subscriber(&address)),
            ("plant.toml", scenario(payload(&address, 1))),
        ],
    );
    let name = sandbox.application("Watch");
    let mut command = sandbox.takt(&[
        "subscribe",
        &file,
        "--scenario",
        &plant,
        "--json",
        "--serve",
        &name,
    ]);
    let mut listener = Process::spawn("takt subscribe", &mut command);
    let mut sender = Sender::new(&address, 1);
    let deadline = Instant::now() + PATIENCE;
    // Until the link is open.
    while listener
        .try_line()
        .is_none_or(|line| !line.contains("\"F0\""))
    {
        assert!(Instant::now() < deadline, "{}", listener.report());
        sender.send(0.0);
        std::thread::sleep(Duration::from_millis(20));
    }
    let endpoint = format!("opc.iox2://{name}");
    let flows = wait_for_flows(&sandbox, &endpoint, |it| it["greatestShare"].is_number());
    assert!(flows["greatestShare"].as_f64().unwrap() < 0.5, "{flows}");
    assert_eq!((&flows["count"], &flows["late"]), (&1.into(), &0.into()));
    assert!(
        !listener.report().contains("of its bound"),
        "{}",
        listener.report()
    );

    // 79 s of 100 s are not worth a report; 85 s are, once.
    let reported = Instant::now();
    sender.send(79.0);
    sender.send(85.0);
    wait_for(&listener, "press (In/press): the greatest delay is 0.8");
    sender.send(85.0);
    let flows = wait_for_flows(&sandbox, &endpoint, |it| {
        it["greatestShare"].as_f64() > Some(0.84)
    });
    assert!(flows["greatestShare"].as_f64().unwrap() < 0.95, "{flows}");
    assert_eq!(flows["late"], 0);

    // 101 s are above the bound.
    sender.send(101.0);
    wait_for(
        &listener,
        "1 message above the bound: the greatest delay is 1.0",
    );
    let flows = wait_for_flows(&sandbox, &endpoint, |it| it["late"] == 1);
    assert!(flows["greatestShare"].as_f64().unwrap() > 1.0, "{flows}");

    // A message with two fields is longer than those of the scenario.
    let mut longer = Sender::new(&address, 2);
    let (length, found) = (sender.send(0.0), longer.send(0.0));
    let text = format!("a message has {found} bytes, and those of its flow have at most {length}");
    wait_for(&listener, &text);

    let read = |path: &str| {
        let read = sandbox.run(&["read", &endpoint, path]).expect_success();
        let word = read.split_whitespace().next().unwrap();
        word.trim_matches('"').to_owned()
    };
    assert_eq!(read("Flows/press/Delay/Late"), "1");
    assert_eq!(read("Flows/press/Delay/Near"), "3");
    assert_eq!(read("Flows/press/Refused"), "1");
    assert_eq!(read("Flows/press/Component"), "In/press");
    assert_eq!(read("Flows/GreatestFlow"), "press");
    let table = sandbox.run(&["ps"]).expect_success();
    assert!(table.contains(", 1 late"), "{table}");

    listener.signal(Signal::TERM);
    let finished = listener.finish(PATIENCE);
    let errors = plain(&finished.stderr);
    // Three messages were near the bound. Ten seconds after the first report, the others would be told, too.
    if reported.elapsed() < Duration::from_secs(9) {
        assert_eq!(errors.matches("of its bound,").count(), 1, "{errors}");
    }
    assert_eq!(errors.matches("above the bound").count(), 1, "{errors}");
    let rows = finished.stdout.lines();
    let mut rows = rows.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let row = rows.find(|row| row["flow"] == "press").unwrap();
    assert_eq!(row["component"], "In/press");
    assert_eq!(
        (&row["clocks"], &row["refused"]),
        (&"sameHost".into(), &1.into())
    );
    let delay = &row["times"]["delay"];
    // Two threads, a frame on one link, and the resolution of a Timestamp.
    let proven = delay["provenNs"].as_u64().unwrap();
    assert!(
        (100_000_000_100..100_001_000_000).contains(&proven),
        "{row}"
    );
    assert_eq!((&delay["late"], &delay["near"]), (&1.into(), &3.into()));
    assert_eq!(row["times"]["interval"]["late"], 0);
}

#[test]
fn both_ends_count_the_same_flow() {
    let sandbox = Sandbox::new();
    let address = udp();
    let [to_publish, to_subscribe, plant] = files(
        &sandbox,
        [
            ("publisher.toml", publisher(&address, 1)),
            ("subscriber.toml", subscriber(&address)),
            ("plant.toml", scenario(payload(&address, 1))),
        ],
    );
    let name = sandbox.application("Press");
    let watch = ["--scenario", &plant, "--json", "--for", "60s"];
    let mut command = sandbox.takt(
        &[
            &["publish", &to_publish, "--simulate", "--serve", &name],
            &watch[..],
        ]
        .concat(),
    );
    let mut publisher = Process::spawn("takt publish", &mut command);
    let count = ["--count", "20"];
    let received = [&["subscribe", &to_subscribe], &count[..], &watch[..]].concat();
    let received = sandbox.run(&received);
    let errors = plain(&received.stderr);
    assert!(!errors.contains("bound"), "{errors}");
    let rows = received.expect_success();
    let row = |rows: &str| {
        let mut rows = rows
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.find(|row| row["flow"] == "press").unwrap()
    };
    let end = row(&rows);
    assert_eq!(end["direction"], "receiving");
    assert!(end["messages"].as_u64().unwrap() >= 20, "{end}");
    assert!(
        end["times"]["delay"]["count"].as_u64().unwrap() >= 20,
        "{end}"
    );
    assert!(
        end["times"]["interval"]["count"].as_u64().unwrap() >= 19,
        "{end}"
    );
    assert!(end["greatestShare"].as_f64().unwrap() < 0.8, "{end}");

    let endpoint = format!("opc.iox2://{name}");
    let flows = wait_for_flows(&sandbox, &endpoint, |it| it["greatestShare"].is_number());
    assert_eq!((&flows["count"], &flows["late"]), (&1.into(), &0.into()));
    publisher.signal(Signal::TERM);
    let start = row(&publisher.finish(PATIENCE).expect_success());
    assert_eq!(
        (&start["direction"], &start["clocks"]),
        (&"sending".into(), &Value::Null)
    );
    assert!(
        start["messages"].as_u64() >= end["messages"].as_u64(),
        "{start} {end}"
    );
    assert_eq!(start["times"]["sending"]["provenNs"], 50_000_000_000_u64);
}

#[test]
fn a_message_that_the_scenario_does_not_have_is_refused() {
    let sandbox = Sandbox::new();
    let address = udp();
    let right = payload(&address, 1);
    let [to_publish, to_subscribe, plant] = files(
        &sandbox,
        [
            ("publisher.toml", publisher(&address, 1)),
            ("subscriber.toml", subscriber(&address)),
            ("plant.toml", scenario(right)),
        ],
    );
    let refused = |file: &str, more: &[&str]| {
        let values: &[&str] = match file == to_publish {
            true => &["publish", file, "--simulate"],
            false => &["subscribe", file],
        };
        let common = ["--scenario", &plant, "--for", "1s"];
        let run = sandbox.run(&[values, &common, more].concat());
        plain(&run.expect_failure())
    };
    let payload = format!("applications.press.payload={} B", right - 1);
    for (setting, texts) in [
        (
            payload.as_str(),
            [
                format!("Out/press: messages have {right} bytes of payload in their frames, and those of flow press at most {}", right - 1),
                format!("payload = \"{right} B\""),
            ],
        ),
        (
            "applications.press.cycle=5 ms",
            [
                "Out/press: the publishing interval is 20000 µs, and the cycle of flow press is 5000 µs".to_owned(),
                "publishing_interval = \"5000us\"".to_owned(),
            ],
        ),
        (
            "applications.0.name=drill",
            [
                "Out/press: the scenario has no flow with this name, nor with PublisherId 5 and WriterGroupId 1; it has drill".to_owned(),
                "or name the flow: --flow".to_owned(),
            ],
        ),
        (
            "nodes.press.wake_up_latency=0 us",
            [
                "threads on press are never late (wake_up_latency is 0)".to_owned(),
                "--unproven".to_owned(),
            ],
        ),
    ] {
        let errors = refused(&to_publish, &["--field", setting]);
        for text in texts {
            assert!(errors.contains(&text), "{text}: {errors}");
        }
    }
    let errors = refused(&to_subscribe, &["--field", "applications.0.name=drill"]);
    assert!(
        errors.contains("In/press: the scenario has no flow"),
        "{errors}"
    );
    // The name of the flow can be given, and times that are not proven can be wanted: both are said.
    let run = sandbox.run(&[
        "publish",
        &to_publish,
        "--simulate",
        "--scenario",
        &plant,
        "--for",
        "1s",
        "--field",
        "applications.0.name=drill",
        "--flow",
        "press=drill",
        "--field",
        "nodes.press.wake_up_latency=0 us",
        "--unproven",
    ]);
    let errors = plain(&run.stderr);
    assert!(
        errors.contains("drill (Out/press): the times are not proven: the scenario says"),
        "{errors}"
    );
    let output = run.expect_success();
    assert!(output.contains("drill (Out/press)"), "{output}");
    // Options without a scenario are mistakes, and so is a scenario for an address.
    let errors = sandbox
        .run(&["publish", &to_publish, "--warn-at", "0.5"])
        .expect_failure();
    assert!(errors.contains("--scenario"), "{errors}");
    let errors = sandbox
        .run(&["subscribe", &address, "--scenario", &plant])
        .expect_failure();
    assert!(plain(&errors).contains("is an address"), "{errors}");
}
