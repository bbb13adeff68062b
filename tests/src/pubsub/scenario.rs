//! Messages of `takt publish SCENARIO`, decoded by a peer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::PATIENCE;
use crate::binary::repository;
use crate::peer::{Peer, PeerPubSub};
use crate::{Process, Sandbox};

/// Number of messages.
const MESSAGES: u64 = 100;

/// Counters that a peer may show less often than they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Each message.
    EachMessage,
    /// Values at intervals of its own.
    LastValues,
}

/// Takt runs the Publisher of scenario E3, whose message has a group header and Variants, over UDP; the peer prints the
/// received counters.
///
/// # Panics
/// If one of its counters differs from the published ones.
pub fn peer_receives_scenario(peer: Peer, shown: Shown) {
    for fields in [3, 8] {
        receive(peer, shown, fields);
    }
}

fn receive(peer: Peer, shown: Shown, fields: usize) {
    let [there, back] = [(); 2].map(|()| format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()));
    let mut foreign = PeerPubSub::start(peer, "subscribe", &description(&there, fields));
    let sandbox = Sandbox::new();
    let scenario = repository().join("scenarios/e3.toml");
    let messages = MESSAGES.to_string();
    let mut command = sandbox.takt(&["publish", scenario.to_str().expect("UTF-8")]);
    command.args(["--there", &there, "--back", &back]);
    command.args(["--cycles", &messages, "--json"]);
    for field in ["discipline=mqprio", "applications.control.cycle=20ms"] {
        command.args(["--field", field]);
    }
    command.args(["--field", &format!("applications.control.fields={fields}")]);
    let publisher = Process::spawn("takt publish", &mut command);
    let mut counters = Vec::new();
    let begin = Instant::now();
    while counters.last() != Some(&MESSAGES) {
        assert!(
            begin.elapsed() < PATIENCE,
            "only {counters:?} came{}{}",
            publisher.report(),
            foreign.process.report()
        );
        match foreign.try_data_set() {
            Some(data_set) => counters.push(counter(&data_set, fields)),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    let result = publisher.finish(PATIENCE).expect_success();
    let result: Value = serde_json::from_str(&result).expect("one object");
    assert_eq!(result["sent"], MESSAGES, "{result}");
    match shown {
        Shown::EachMessage => {
            let all: Vec<u64> = (1..=MESSAGES).collect();
            assert_eq!(counters, all);
        }
        Shown::LastValues => {
            assert!(
                counters.is_sorted_by(|one, next| one < next),
                "{counters:?}"
            );
            assert!(counters.len() as u64 > MESSAGES / 4, "{counters:?}");
        }
    }
}

/// Returns the counter of a DataSet, which all fields have.
fn counter(data_set: &Value, count: usize) -> u64 {
    let fields = data_set["fields"].as_object().expect("fields by name");
    assert_eq!(fields.len(), count, "{data_set}");
    let counter = |field: &Value| {
        assert_eq!(field["type"], "UInt64", "{data_set}");
        let counter = field["value"].as_str().and_then(|text| text.parse().ok());
        counter.unwrap_or_else(|| panic!("no counter: {data_set}"))
    };
    let counters: Vec<u64> = fields.values().map(counter).collect();
    assert!(counters.iter().all(|it| *it == counters[0]), "{data_set}");
    counters[0]
}

/// Returns the Publisher's configuration (`takt_lab::ScenarioLoop::configuration`) in the form for peers.
fn description(url: &str, count: usize) -> Value {
    let name = |field: usize| match field {
        0 => "Count".to_owned(),
        _ => format!("Repeated{field}"),
    };
    let field =
        |field| json!({"name": name(field), "type": "UInt64", "value": "0", "array": false});
    json!({
        "url": url,
        "publisherId": 1,
        "writerGroupId": 1,
        "dataSetWriterId": 1,
        "encoding": "Variant",
        "keyFrameCount": 1,
        "interval": 20,
        "fields": (0..count).map(field).collect::<Vec<_>>(),
        "security": null,
    })
}
