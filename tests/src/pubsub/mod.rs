//! PubSub between Takt and foreign products: the same DataSet in every encoding, both ways (`peers/README.md`).

mod exchange;
mod files;
mod protected_line;
mod scenario;
mod wrong_key;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_pubsub::ReceiveError;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::subscriber::{DataSetKind, ReceivedDataSet, SubscriberObserver};
use takt_ua::structures::PubSubConnectionDataType;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

use crate::peer::{Peer, PeerPubSub};
pub use exchange::{Encoding, Exchange, Protection};
use exchange::{
    Field, INTERVAL, SECURITY_GROUP, description, fields, key_ring, publisher_file, subscriber_file,
};
pub use files::configuration_files_agree;
pub use protected_line::ProtectedLine;
pub use scenario::{Shown, peer_receives_scenario};
pub use wrong_key::{peer_publishes_with_another_key, peer_receives_with_another_key};

/// Number of DataSets that must arrive.
const DATA_SETS: usize = 20;

/// Time limit for that, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Notifications of a subscriber of Takt.
#[derive(Debug)]
enum Told {
    DataSet(DataSetKind, Vec<(usize, Variant)>),
    Refused(String),
}

struct Listener(Sender<Told>);

impl SubscriberObserver for Listener {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        let fields = fields.map(|(index, value)| {
            assert_eq!(value.status_code(), StatusCode::Good, "field {index}");
            (index, value.value.unwrap_or_default())
        });
        // The receiver may have ended.
        let _ = self.0.send(Told::DataSet(received.kind, fields.collect()));
    }

    fn refused(&mut self, error: &ReceiveError) {
        let _ = self.0.send(Told::Refused(error.to_string()));
    }
}

struct Running {
    pubsub: PubSub,
    told: Receiver<Told>,
    cells: HashMap<NodeId, Arc<Cell>>,
}

/// Starts Takt with the keys of the exchange.
fn start(text: &str, exchange: &Exchange) -> Running {
    let running = start_without_keys(text, exchange);
    if let Some(protection) = exchange.protection {
        let keys = key_ring(protection.policy);
        running.pubsub.set_keys(SECURITY_GROUP, &keys);
    }
    running
}

fn start_without_keys(text: &str, exchange: &Exchange) -> Running {
    let file = from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let fields = fields(exchange.encoding);
    let cell = |field: &Field| (field.node_id(), Arc::new(Cell::of(&field.value)));
    let mut cells: HashMap<_, _> = fields.iter().map(cell).collect();
    let mut targets = cells.clone();
    let (sender, told) = channel();
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
        Box::new(Listener(sender.clone()))
    };
    let options = RuntimeOptions::default();
    let pubsub = PubSub::start(
        &file.configuration,
        &mut cells,
        &mut targets,
        &mut observers,
        &options,
    )
    .unwrap_or_else(|error| panic!("{error}\n{text}"));
    Running {
        pubsub,
        told,
        cells,
    }
}

/// Takt publishes, and the peer prints the received DataSets. With `whole`, the peer always prints all fields,
/// including those missing in a delta frame.
///
/// # Panics
/// If that differs from the published DataSets.
pub fn peer_receives(peer: Peer, exchange: &Exchange, whole: bool) {
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let mut foreign = PeerPubSub::start(peer, "subscribe", &description(exchange, &url));
    let running = start(&publisher_file(exchange, &url), exchange);
    let fields = fields(exchange.encoding);
    let count_cell = &running.cells[&fields[0].node_id()];
    let deadline = Instant::now() + PATIENCE;
    let (mut count, mut last, mut keys, mut deltas) = (0_u32, 0, 0, 0);
    let mut smallest_step = u64::MAX;
    while keys + deltas < DATA_SETS || (exchange.key_frame_count > 1 && !whole && deltas == 0) {
        assert!(
            Instant::now() < deadline,
            "{keys} key frames and {deltas} delta frames came within {PATIENCE:?}; sent: {:?}{}",
            running.pubsub.writer_groups().collect::<Vec<_>>(),
            foreign.process.report()
        );
        count += 1;
        let set = count_cell.set(&Variant::UInt32(count), StatusCode::Good, DateTime::now());
        set.expect("the cell holds a UInt32");
        std::thread::sleep(INTERVAL);
        while let Some(data_set) = foreign.try_data_set() {
            let context = || format!("{exchange:?}: {data_set}{}", foreign.process.report());
            let printed = data_set["fields"].as_object().expect("fields by name");
            if let Some(number) = printed.get("Count") {
                let number = number["value"].as_u64().unwrap_or(u64::MAX);
                assert!(
                    (last..=u64::from(count)).contains(&number),
                    "{last} to {count}: {}",
                    context()
                );
                if number > last {
                    smallest_step = smallest_step.min(number - last);
                }
                last = number;
            }
            if printed.len() < fields.len() {
                assert!(
                    exchange.key_frame_count > 1
                        && !whole
                        && printed.keys().all(|name| name == "Count"),
                    "{}",
                    context()
                );
                deltas += 1;
                continue;
            }
            keys += 1;
            for field in fields.iter().skip(1) {
                let found = &printed[field.name];
                assert_eq!(found["type"], field.kind, "{}", context());
                if field.kind == "DateTime" {
                    // Peers print different numbers of decimals.
                    let text = found["value"].as_str().unwrap_or_default();
                    assert!(text.starts_with("2024-02-29T12:34:56.789"), "{}", context());
                } else {
                    assert_eq!(found["value"], field.json, "{}", context());
                }
                let status = found["status"].as_str();
                assert!(matches!(status, None | Some("Good")), "{}", context());
            }
        }
    }
    // With key frames only, the steps would be larger.
    assert!(
        smallest_step < u64::from(exchange.key_frame_count.max(2)),
        "{exchange:?}: Count changed by {smallest_step} or more each time"
    );
}

/// The peer publishes, Takt receives.
///
/// # Panics
/// If that differs from the published DataSets.
pub fn peer_publishes(peer: Peer, exchange: &Exchange) {
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    // The peer starts first: open62541 checks at its start that it can listen at the address that it sends to.
    let foreign = PeerPubSub::start(peer, "publish", &description(exchange, &url));
    let running = start(&subscriber_file(exchange, &url), exchange);
    let fields = fields(exchange.encoding);
    let deadline = Instant::now() + PATIENCE;
    let (mut last, mut keys, mut deltas) = (0, 0, 0);
    while keys + deltas < DATA_SETS || (exchange.key_frame_count > 1 && deltas == 0) {
        let left = deadline.saturating_duration_since(Instant::now());
        let told = running.told.recv_timeout(left).unwrap_or_else(|_| {
            panic!(
                "{exchange:?}: {keys} key frames and {deltas} delta frames came within {PATIENCE:?}: {:?}{}",
                running.pubsub.connections().collect::<Vec<_>>(),
                foreign.process.report()
            )
        });
        let context = format!("{exchange:?}: {told:?}");
        let (kind, values) = match told {
            Told::DataSet(kind, values) => (kind, values),
            // Keys are set after the start.
            Told::Refused(error) if keys + deltas == 0 && error.starts_with("no key ") => continue,
            Told::Refused(_) => panic!("{context}{}", foreign.process.report()),
        };
        match kind {
            DataSetKind::KeyFrame => {
                assert_eq!(values.len(), fields.len(), "{context}");
                keys += 1;
            }
            DataSetKind::DeltaFrame => deltas += 1,
            DataSetKind::KeepAlive => continue,
            DataSetKind::Event => panic!("{context}"),
        }
        for (index, value) in values {
            match value {
                Variant::UInt32(count) if index == 0 => {
                    assert!(count >= last, "{last}: {context}");
                    last = count;
                }
                value => assert_eq!(value, fields[index].value, "{context}"),
            }
        }
    }
    assert!(last > 0, "Count never changed");
    for field in fields.iter().skip(1) {
        let cell = running.cells[&field.node_id()].get().expect("a value");
        assert_eq!(cell.value.as_ref(), Some(&field.value), "{}", field.name);
    }
}
