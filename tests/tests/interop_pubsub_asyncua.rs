//! asyncua's PubSub module: Takt publishes and it subscribes, and the other way round.

use std::fs;

use serde_json::json;
use takt_pubsub::configuration::{from_binary_file, from_toml, to_binary_file};
use takt_tests::Peer;
use takt_tests::binary::repository;
use takt_tests::peer::asyncua_converts_configuration;
use takt_tests::pubsub::{Encoding, Exchange, peer_publishes, peer_receives};

const PEER: Peer = Peer::Asyncua;

#[test]
fn it_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_receives(PEER, &Exchange::plain(encoding), false);
    }
}

#[test]
fn it_receives_delta_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue] {
        let exchange = Exchange {
            key_frame_count: 5,
            ..Exchange::plain(encoding)
        };
        peer_receives(PEER, &exchange, false);
    }
}

#[test]
fn we_receive_its_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_publishes(PEER, &Exchange::plain(encoding));
    }
}

#[test]
fn it_loads_our_configuration_file_and_we_load_its() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, its) = (
        folder.path().join("ours.bin"),
        folder.path().join("its.bin"),
    );
    let text = fs::read_to_string(repository().join("examples/pubsub/publisher.toml"));
    let file = from_toml(&text.expect("the example")).expect("a configuration");
    let bytes = to_binary_file(&file).expect("a short file");
    fs::write(&ours, bytes).expect("the folder can be written to");
    assert_eq!(
        asyncua_converts_configuration(&ours, &its),
        json!({"dataSets": ["Spindle"], "writers": ["Spindle"]})
    );
    let bytes = fs::read(&its).expect("it has written a file");
    let read = from_binary_file(&bytes).expect("a configuration");
    let (expected, found) = (file.configuration, read.configuration);
    assert_eq!(found.published_data_sets, expected.published_data_sets);
    assert_eq!(found.connections, expected.connections);
    assert_eq!(found.enabled, expected.enabled);
}
