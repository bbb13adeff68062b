//! asyncua's PubSub module: Takt publishes and it subscribes, and the other way round.

use takt_tests::Peer;
use takt_tests::pubsub::{
    Encoding, Exchange, Shown, peer_publishes, peer_receives, peer_receives_scenario,
};

const PEER: Peer = Peer::Asyncua;

#[test]
fn foreign_subscriber_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_receives(PEER, &Exchange::plain(encoding), false);
    }
}

#[test]
fn foreign_subscriber_receives_delta_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue] {
        let exchange = Exchange {
            key_frame_count: 5,
            ..Exchange::plain(encoding)
        };
        peer_receives(PEER, &exchange, false);
    }
}

#[test]
fn takt_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_publishes(PEER, &Exchange::plain(encoding));
    }
}

#[test]
fn foreign_subscriber_receives_the_counters_of_a_scenario() {
    peer_receives_scenario(PEER, Shown::EachMessage);
}
