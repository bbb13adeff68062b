//! Both sides have a key with the same SecurityTokenId, but not the same key.

use std::time::{Duration, Instant};

use takt_ua::{DateTime, StatusCode, Variant};

use super::exchange::{
    Exchange, INTERVAL, SECURITY_GROUP, description, fields, other_key_ring, publisher_file,
    subscriber_file,
};
use super::{DATA_SETS, PATIENCE, Running, Told, start_without_keys};
use crate::peer::{Peer, PeerPubSub};

/// Time in which no message may be accepted; a hundred messages arrive in it.
const SILENCE: Duration = Duration::from_secs(1);

/// The peer publishes, and Takt refuses each message because of its signature.
///
/// # Panics
/// If it accepts one, or the exchange is not protected.
pub fn peer_publishes_with_another_key(peer: Peer, exchange: &Exchange) {
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let foreign = PeerPubSub::start(peer, "publish", &description(exchange, &url));
    let running = start_with_another_key(&subscriber_file(exchange, &url), exchange);
    let deadline = Instant::now() + PATIENCE;
    let mut refused = 0;
    while refused < DATA_SETS {
        let left = deadline.saturating_duration_since(Instant::now());
        match running.told.recv_timeout(left) {
            Ok(Told::Refused(error)) if error.contains("signature") => refused += 1,
            // Keys are set after the start.
            Ok(Told::Refused(error)) if refused == 0 && error.starts_with("no key ") => {}
            other => panic!("{exchange:?}: {other:?}{}", foreign.process.report()),
        }
    }
    let statistics: Vec<_> = running.pubsub.connections().collect();
    let errors = statistics[0].statistics.errors;
    assert!(errors >= DATA_SETS as u64, "{statistics:?}");
    for field in fields(exchange.encoding).iter().take(1) {
        let cell = running.cells[&field.node_id()].get();
        let good = cell.is_ok_and(|value| value.status_code().is_good());
        assert!(!good, "{}: nothing was written", field.name);
    }
}

/// Takt publishes, and the peer prints no DataSet.
///
/// # Panics
/// If it prints one, or the exchange is not protected.
pub fn peer_receives_with_another_key(peer: Peer, exchange: &Exchange) {
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let mut foreign = PeerPubSub::start(peer, "subscribe", &description(exchange, &url));
    let running = start_with_another_key(&publisher_file(exchange, &url), exchange);
    let count_cell = &running.cells[&fields(exchange.encoding)[0].node_id()];
    let deadline = Instant::now() + PATIENCE;
    let sent = || {
        running
            .pubsub
            .writer_groups()
            .map(|it| it.statistics.network_messages)
    };
    while sent().sum::<u64>() < DATA_SETS as u64 {
        assert!(Instant::now() < deadline, "{exchange:?}: nothing was sent");
        std::thread::sleep(INTERVAL);
    }
    let end = Instant::now() + SILENCE;
    let mut count = 0;
    while Instant::now() < end {
        count += 1;
        let set = count_cell.set(&Variant::UInt32(count), StatusCode::Good, DateTime::now());
        set.expect("the cell holds a UInt32");
        std::thread::sleep(INTERVAL);
        if let Some(data_set) = foreign.try_data_set() {
            panic!("{exchange:?}: {data_set}{}", foreign.process.report());
        }
    }
    assert!(!foreign.process.has_ended(), "{}", foreign.process.report());
}

fn start_with_another_key(text: &str, exchange: &Exchange) -> Running {
    let running = start_without_keys(text, exchange);
    let protection = exchange.protection.expect("a protected exchange");
    let keys = other_key_ring(protection.policy);
    running.pubsub.set_keys(SECURITY_GROUP, &keys);
    running
}
