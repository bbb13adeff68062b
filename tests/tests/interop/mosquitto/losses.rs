//! Losses between Publishers, a broker and Subscribers: none is silent, and no message is taken for that of another topic.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_link::{LinkOptions, LinkState, MqttOptions, MqttVersion};
use takt_pubsub::LossCause;
use takt_pubsub::runtime::{LinkPlan, PubSub, RealTime};
use takt_pubsub::subscriber::{ReceivedDataSet, SubscriberObserver};
use takt_tests::{Process, Sandbox};

use crate::mosquitto::common::PATIENCE;
use crate::mosquitto::{Broker, options, wait_for, with};

const PUBLISHER: &str = r#"
    [[published_data_sets]]
    name = "Data"
    fields = [{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Speed" }]

    [[connections]]
    name = "Out"
    publisher_id = 5
    address = "ADDRESS"

    [[connections.writer_groups]]
    name = "Group"
    writer_group_id = 1
    publishing_interval = "50ms"
    broker = { queue_name = "plant/speed", requested_delivery_guarantee = "AtLeastOnce" }

    [[connections.writer_groups.data_set_writers]]
    data_set_writer_id = 1
    data_set_name = "Data"
"#;

const TWO_TOPICS: &str = r#"
    [[connections]]
    name = "In"
    address = "ADDRESS"
    json = true

    [[connections.reader_groups]]

    [[connections.reader_groups.data_set_readers]]
    name = "Boiler"
    publisher_id = 5
    data_set_writer_id = 1
    header_layout = "JSON-Minimal"
    broker = { queue_name = "plant/boiler" }
    fields = [{ name = "temperature", data_type = "Double", target_node_id = "ns=1;s=A" }]

    [[connections.reader_groups.data_set_readers]]
    name = "Freezer"
    publisher_id = 5
    data_set_writer_id = 2
    header_layout = "JSON-Minimal"
    broker = { queue_name = "plant/freezer" }
    fields = [{ name = "temperature", data_type = "Double", target_node_id = "ns=1;s=B" }]
"#;

fn write(sandbox: &Sandbox, broker: &Broker, text: &str) -> String {
    let address = format!("mqtt://127.0.0.1:{}", broker.port);
    let path = sandbox.data_directory().join("configuration.toml");
    std::fs::write(&path, text.replace("ADDRESS", &address)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn topic(topic: &str) -> LinkOptions {
    with(MqttOptions {
        topic: topic.to_owned(),
        ..options(MqttVersion::V5, 1)
    })
}

#[test]
fn publishing_that_the_broker_refuses_fails() {
    let mut broker = Broker::prepare("allow_anonymous true\nacl_file {}/rights");
    std::fs::write(broker.path("rights"), "topic read #\n").unwrap();
    broker.run();
    let sandbox = Sandbox::new();
    let file = write(&sandbox, &broker, PUBLISHER);
    let run = sandbox.run(&[
        "publish", &file, "--set", "Speed=1", "--for", "2s", "--json",
    ]);
    let row: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    let sent = row["networkMessages"].as_u64().unwrap();
    assert!(sent > 0, "{row}");
    assert_eq!(row["losses"]["refused"].as_u64(), Some(sent), "{row}");
    let errors = run.expect_failure();
    let words: Vec<_> = errors
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect();
    let errors = words.join(" ");
    let reason = "the broker does not allow this client to publish to the topic";
    assert_eq!(errors.matches(reason).count(), 1, "{errors}");
    assert!(errors.contains("messages was delivered"), "{errors}");
}

#[test]
fn readers_of_two_topics_are_apart() {
    let broker = Broker::start("allow_anonymous true");
    let sandbox = Sandbox::new();
    let file = write(&sandbox, &broker, TWO_TOPICS);
    let mut command = sandbox.takt(&["subscribe", &file, "--json"]);
    let mut subscriber = Process::spawn("takt subscribe", &mut command);
    let mut senders = ["plant/boiler", "plant/freezer"].map(|it| broker.sender("mqtt", &topic(it)));
    for sender in &senders {
        wait_for(|| sender.state(), LinkState::is_up);
    }
    let mut seen = [0, 0];
    let begin = Instant::now();
    while seen.contains(&0) {
        assert!(begin.elapsed() < PATIENCE, "{}", subscriber.report());
        // The Subscriber may not be connected yet.
        senders[0].send(br#"{"temperature":180.5}"#).unwrap();
        senders[1].send(br#"{"temperature":-18.0}"#).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        while let Some(line) = subscriber.try_line() {
            let row: Value = serde_json::from_str(&line).unwrap();
            let value = row["fields"][0]["value"].as_f64();
            match (row["reader"].as_str(), value) {
                (_, None) => {}
                (Some("Boiler"), Some(180.5)) => seen[0] += 1,
                (Some("Freezer"), Some(-18.0)) => seen[1] += 1,
                _ => panic!("{line}"),
            }
        }
    }
    subscriber.signal(Signal::TERM);
    let last = subscriber.finish(PATIENCE).expect_success();
    let row: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&row["connection"], &row["losses"]["unclaimed"]),
        (&"In".into(), &0.into())
    );
}

/// Observer that takes one message for each permission.
struct Slow {
    permissions: Receiver<()>,
    received: SyncSender<()>,
}

impl SubscriberObserver for Slow {
    fn data_set(&mut self, _: &ReceivedDataSet<'_>) {
        // Without further permissions, it takes all messages.
        let _ = self.permissions.recv();
        let _ = self.received.send(());
    }
}

#[test]
fn messages_for_a_subscriber_that_stalls_are_counted() {
    const COUNT: u64 = 100;
    let broker = Broker::start("allow_anonymous true");
    let mut options = topic("plant/#");
    options.mqtt.queue = 5;
    options.batch = 1;
    let address = format!("mqtt://127.0.0.1:{}", broker.port);
    let link = LinkPlan {
        address: address.parse().unwrap(),
        options,
    };
    let (permit, permissions) = sync_channel(1);
    let (received, messages) = sync_channel(COUNT as usize);
    let observer = Box::new(Slow {
        permissions,
        received,
    });
    let mut running = PubSub::listen(link, RealTime::default(), observer).unwrap();
    let mut sender = broker.sender("mqtt", &topic("plant/speed"));
    wait_for(|| sender.state(), LinkState::is_up);
    wait_for(
        || running.connections().next().unwrap().link,
        LinkState::is_up,
    );
    for number in 0..COUNT {
        sender
            .send(format!(r#"{{"Number":{number}}}"#).as_bytes())
            .unwrap();
    }
    // The broker has all of them, and passes them on within a short time. The Subscriber waits in the first one.
    let counters = sender.close();
    assert_eq!((counters.messages, counters.discarded), (COUNT, 0));
    std::thread::sleep(Duration::from_secs(1));
    drop(permit);
    let mut taken = 0;
    while messages.recv_timeout(Duration::from_secs(1)).is_ok() {
        taken += 1;
    }
    running.stop();
    let statistics = running.connections().next().unwrap().statistics;
    let lost = statistics.losses.of(LossCause::Overflow);
    assert!(lost > 0 && taken > 0, "{statistics:?}");
    assert_eq!(taken + lost, COUNT, "{statistics:?}");
}
