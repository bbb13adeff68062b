//! open62541's PubSub: Takt publishes and it subscribes, and the other way round; plain, signed, and encrypted.

use takt_pubsub::security::PubSubSecurityPolicy;
use takt_tests::Peer;
use takt_tests::pubsub::{
    Encoding, Exchange, Protection, Shown, peer_publishes, peer_publishes_with_another_key,
    peer_receives, peer_receives_scenario, peer_receives_with_another_key,
};

const PEER: Peer = Peer::Open62541;

fn protected(encrypted: bool, policy: PubSubSecurityPolicy) -> Exchange {
    Exchange {
        protection: Some(Protection { encrypted, policy }),
        ..Exchange::plain(Encoding::Variant)
    }
}

#[test]
fn foreign_subscriber_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_receives(PEER, &Exchange::plain(encoding), true);
    }
}

#[test]
fn foreign_subscriber_receives_delta_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue] {
        let exchange = Exchange {
            key_frame_count: 5,
            ..Exchange::plain(encoding)
        };
        peer_receives(PEER, &exchange, true);
    }
}

#[test]
fn foreign_subscriber_receives_protected_messages() {
    for policy in PubSubSecurityPolicy::ALL {
        for encrypted in [false, true] {
            peer_receives(PEER, &protected(encrypted, policy), true);
        }
    }
}

#[test]
fn foreign_subscriber_receives_the_counters_of_a_scenario() {
    peer_receives_scenario(PEER, Shown::LastValues);
}

#[test]
fn takt_receives_key_frames() {
    for encoding in [Encoding::Variant, Encoding::DataValue, Encoding::RawData] {
        peer_publishes(PEER, &Exchange::plain(encoding));
    }
}

#[test]
fn takt_receives_protected_messages() {
    for policy in PubSubSecurityPolicy::ALL {
        for encrypted in [false, true] {
            peer_publishes(PEER, &protected(encrypted, policy));
        }
    }
}

#[test]
fn neither_side_accepts_messages_of_another_key() {
    let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
    for encrypted in [false, true] {
        peer_publishes_with_another_key(PEER, &protected(encrypted, policy));
        peer_receives_with_another_key(PEER, &protected(encrypted, policy));
    }
}
