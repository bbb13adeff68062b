//! node-opcua's decoder of UADP: Takt publishes. Its encoder writes no GroupHeader.

use takt_tests::Peer;
use takt_tests::pubsub::{Encoding, Exchange, configuration_files_agree, peer_receives};

const PEER: Peer = Peer::NodeOpcua;

#[test]
fn foreign_subscriber_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue] {
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
fn both_stacks_load_configuration_files_of_the_other() {
    configuration_files_agree();
}
